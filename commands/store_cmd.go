package commands

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
)

// statsJSON is what `store stats --output json` prints. Sizes are bytes.
type statsJSON struct {
	SchemaVersion int   `json:"schema_version"`
	States        int   `json:"states"`
	Folders       int   `json:"folders"`
	Files         int   `json:"files"`
	Bytes         int64 `json:"bytes"`
	LargeFiles    int   `json:"large_files"`
	LargeBytes    int64 `json:"large_bytes"`
	Unreached     int64 `json:"unreached_bytes"`
	RecordBytes   int64 `json:"record_bytes"`
	// CollectedAt and CollectDue are the last and the next collection; neither is
	// there before anything was kept.
	CollectedAt *time.Time      `json:"collected_at,omitempty"`
	CollectDue  *time.Time      `json:"collect_due_at,omitempty"`
	Dropped     int             `json:"dropped_chats"`
	Chats       []chatStatsJSON `json:"chats"`
}

// chatStatsJSON is what one chat's states take.
type chatStatsJSON struct {
	Chat   int64  `json:"chat,omitempty"` // 0: of a chat that is gone
	ChatID string `json:"chat_id"`
	Title  string `json:"title,omitempty"`
	States int    `json:"states"`
	Bytes  int64  `json:"bytes"`
	Own    int64  `json:"own_bytes"`
}

// verifyJSON is what `store verify --output json` prints.
type verifyJSON struct {
	SchemaVersion int          `json:"schema_version"`
	OK            bool         `json:"ok"`
	States        int          `json:"states"`
	Folders       int          `json:"folders"`
	Files         int          `json:"files"`
	Bytes         int64        `json:"bytes"`
	Problems      []damageJSON `json:"problems"`
}

// damageJSON is something in the store that isn't what was stored.
type damageJSON struct {
	What     string    `json:"what"`
	SHA256   string    `json:"sha256,omitempty"`
	Reason   string    `json:"reason"`
	Uses     []useJSON `json:"uses"`
	MoreUses int       `json:"more_uses,omitempty"`
}

// useJSON is a place in a state that needs what is damaged.
type useJSON struct {
	Chat   int64  `json:"chat,omitempty"`
	ChatID string `json:"chat_id"`
	State  string `json:"state"` // a manifest id
	Path   string `json:"path,omitempty"`
}

// gcJSON is what `store gc --output json` prints.
type gcJSON struct {
	SchemaVersion int   `json:"schema_version"`
	States        int   `json:"states"`
	Folders       int   `json:"folders"`
	Files         int   `json:"files"`
	Bytes         int64 `json:"bytes"`
	Kept          int64 `json:"kept_bytes"`
}

func newStore(rt *runtime) *cli.Command {
	return &cli.Command{
		Name:      "store",
		Usage:     "look after what is kept of chats' files",
		UsageText: "fettle store stats\nfettle store verify",
		Subcommands: []*cli.Command{
			newStoreStats(rt), newStoreVerify(rt), newStoreGC(rt),
			newStoreBackup(rt), newStoreRestore(rt),
		},
	}
}

// storeCommand is a command below store without arguments.
func storeCommand(name, usage, description, examples string, run func(context.Context, string) error) *cli.Command {
	path := "fettle store " + name
	return &cli.Command{
		Name: name, Usage: usage, Description: description, UsageText: examples, Flags: []cli.Flag{outputFlag()},
		Action: func(c *cli.Context) error {
			if err := noArguments(c, path); err != nil {
				return err
			}
			if err := checkOutput(c.String("output"), path); err != nil {
				return err
			}
			return run(c.Context, c.String("output"))
		},
	}
}

func newStoreStats(rt *runtime) *cli.Command {
	return storeCommand("stats", "say what uses the space", `What several chats share is counted once in the sums; the column "own" is what
a chat alone has, and what deleting it gives back.`, "fettle store stats\nfettle store stats -o json",
		func(ctx context.Context, output string) error { return runStoreStats(ctx, rt, output) })
}

func newStoreVerify(rt *runtime) *cli.Command {
	return storeCommand("verify", "read all that is kept and compare it with its digests", `Says of what is damaged or missing which chats and files need it. It changes
nothing. The exit status is 10 if anything is wrong.`, "fettle store verify\nfettle store verify -o json",
		func(ctx context.Context, output string) error { return runStoreVerify(ctx, rt, output) })
}

func newStoreGC(rt *runtime) *cli.Command {
	return storeCommand("gc", "remove what no chat needs any more", `Nothing that a state of a chat has is removed. It waits until no other command
is keeping a state.`, "fettle store gc",
		func(ctx context.Context, output string) error { return runStoreGC(ctx, rt, output) })
}

func runStoreStats(ctx context.Context, rt *runtime, output string) error {
	eng, err := rt.storeEngine()
	if err != nil {
		return err
	}
	w := rt.work("store stats")
	defer w.stop()
	w.stage("adding up what is kept", 0)
	stats, err := eng.StateStats(ctx)
	if err != nil {
		return err
	}
	chats, err := eng.ChatsByID(ctx, chatsOfStats(stats))
	if err != nil {
		return err
	}
	upkeep, err := eng.Upkeep(ctx)
	if err != nil {
		return err
	}
	w.stop()
	if output == "json" {
		out := statsJSON{
			SchemaVersion: outputVersion, States: stats.Manifests, Folders: stats.Trees, Files: stats.Blobs, Bytes: stats.Bytes,
			LargeFiles: stats.Files, LargeBytes: stats.FileBytes, Unreached: stats.Unreached, RecordBytes: stats.RecordBytes,
			Chats: []chatStatsJSON{}, Dropped: upkeep.Dropped,
		}
		if !upkeep.CollectedAt.IsZero() {
			out.CollectedAt = &upkeep.CollectedAt
		}
		if due := upkeep.Due(); !upkeep.Since.IsZero() {
			out.CollectDue = &due
		}
		for _, c := range stats.Chats {
			chat := chats[c.ChatID]
			out.Chats = append(out.Chats, chatStatsJSON{chat.Number, c.ChatID, chat.Title, c.Manifests, c.Bytes, c.Own})
		}
		return printJSON(rt, out)
	}
	printStats(rt.streams.Out, stats, chats, upkeep)
	return nil
}

// upkeepText says when garbage was collected last, and when it will be next.
func upkeepText(out *term.Output, u engine.Upkeep) string {
	if u.Since.IsZero() {
		return ""
	}
	text := "never yet"
	if !u.CollectedAt.IsZero() {
		text = whenText(out, u.CollectedAt)
	}
	due := u.Due()
	switch left := time.Until(due); {
	case left <= 0:
		text += "; due now, and done when there is time: fettle store gc does it at once"
	case out.IsTerminal():
		text += "; the next is due in " + term.Duration(left.Round(time.Minute))
	default:
		text += "; the next is due at " + due.UTC().Format(time.RFC3339)
	}
	if u.Dropped > 0 {
		text += "; " + term.Count(u.Dropped, "chat", "chats") + " removed since"
	}
	return text
}

func chatsOfStats(s *cas.Stats) []string {
	var ids []string
	for _, c := range s.Chats {
		ids = append(ids, c.ChatID)
	}
	return ids
}

// chatsOfProblems are the chats that something damaged belongs to.
func chatsOfProblems(r *cas.VerifyReport) []string {
	var ids []string
	for _, p := range r.Problems {
		for _, u := range p.Uses {
			if !slices.Contains(ids, u.ChatID) {
				ids = append(ids, u.ChatID)
			}
		}
	}
	return ids
}

func printStats(out *term.Output, s *cas.Stats, chats map[string]engine.Chat, u engine.Upkeep) {
	style := out.Style()
	line := func(label, text string) { out.Printf("%s  %s\n", style.Dim(fmt.Sprintf("%-8s", label)), text) }
	line("states", fmt.Sprintf("%s with %s, %s", term.Number(int64(s.Manifests)), term.Count(s.Blobs, "file", "files"), term.Size(s.Bytes)))
	line("on disk", fmt.Sprintf("%s of records and small files, %s of large ones", term.Size(s.RecordBytes), term.Size(s.FileBytes)))
	if s.Unreached > 0 {
		line("unused", term.Size(s.Unreached)+" of large files; fettle store gc gives it back")
	}
	if text := upkeepText(out, u); text != "" {
		line("tidied", text)
	}
	if len(s.Chats) == 0 {
		return
	}
	out.WriteString("\n")
	table := term.NewTable(out, term.Column{Title: "chat", Right: true}, term.Column{Title: "title", Cut: true},
		term.Column{Title: "states", Right: true}, term.Column{Title: "size", Right: true}, term.Column{Title: "own", Right: true})
	for _, c := range s.Chats {
		chat, number := chats[c.ChatID], "gone"
		if c.ChatID == engine.DocumentsID {
			number, chat.Title = "docs", "documents, which fettle docs list shows"
		}
		if chat.Number > 0 {
			number = strconv.FormatInt(chat.Number, 10)
		}
		table.Row(number, chat.Title, strconv.Itoa(c.Manifests), sizeCell(out, c.Bytes), sizeCell(out, c.Own))
	}
	_ = table.Flush() // Main looks at what went wrong with writing
}

// sizeCell is a size for a person, and bytes for a program.
func sizeCell(out *term.Output, n int64) string {
	if out.IsTerminal() {
		return term.Size(n)
	}
	return strconv.FormatInt(n, 10)
}

func runStoreVerify(ctx context.Context, rt *runtime, output string) error {
	eng, err := rt.storeEngine()
	if err != nil {
		return err
	}
	stats, err := eng.StateStats(ctx)
	var total int64
	if err == nil { // a damaged store can't be measured, and is verified all the same
		total = stats.Bytes
	}
	bar := rt.streams.Progress("verify")
	pieces := make(chan int64, 1)
	type result struct {
		report *cas.VerifyReport
		err    error
	}
	done := make(chan result, 1)
	go func() {
		report, err := eng.VerifyStates(ctx, func(n int64) { pieces <- n })
		close(pieces)
		done <- result{report, err}
	}()
	var read int64
	for n := range pieces {
		read += n
		bar.Bytes(read, total)
	}
	bar.Clear()
	r := <-done
	if r.err != nil {
		return r.err
	}
	chats, err := eng.ChatsByID(ctx, chatsOfProblems(r.report))
	if err != nil {
		return err
	}
	if output == "json" {
		if err := printJSON(rt, verifyAsJSON(r.report, chats)); err != nil {
			return err
		}
	} else if len(r.report.Problems) == 0 {
		rt.streams.Out.Printf("all is whole: %s, %s, %s read\n", term.Count(r.report.Manifests, "state", "states"),
			term.Count(r.report.Blobs, "file", "files"), term.Size(r.report.Bytes))
	}
	return damageFault(r.report, chats)
}

func verifyAsJSON(r *cas.VerifyReport, chats map[string]engine.Chat) verifyJSON {
	out := verifyJSON{
		SchemaVersion: outputVersion, OK: len(r.Problems) == 0, States: r.Manifests, Folders: r.Trees, Files: r.Blobs, Bytes: r.Bytes,
		Problems: []damageJSON{},
	}
	for _, p := range r.Problems {
		j := damageJSON{What: p.What, Reason: p.Reason, Uses: []useJSON{}, MoreUses: p.MoreUses}
		if !p.Digest.IsZero() {
			j.SHA256 = p.Digest.String()
		}
		for _, u := range p.Uses {
			j.Uses = append(j.Uses, useJSON{chats[u.ChatID].Number, u.ChatID, u.ManifestID, cas.EscapePath(u.Path)})
		}
		out.Problems = append(out.Problems, j)
	}
	return out
}

// damageFault says what is damaged, and whose it is; nil where nothing is.
func damageFault(r *cas.VerifyReport, chats map[string]engine.Chat) error {
	if len(r.Problems) == 0 {
		return nil
	}
	f := fault.New(fault.Store, term.Count(len(r.Problems), "object", "objects")+" of the store "+isAre(len(r.Problems))+" not what was stored")
	for _, p := range r.Problems {
		line := p.What
		if !p.Digest.IsZero() {
			line += " " + p.Digest.String()[:12]
		}
		f.Detail = append(f.Detail, line+": "+p.Reason)
		for _, place := range places(p, chats) {
			f.Detail = append(f.Detail, "  needed by "+place)
		}
	}
	f.Hints = []string{"fettle store verify -o json   lists every place"}
	return f
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// places are the chats and paths that need something, each once, the first few.
func places(p cas.Problem, chats map[string]engine.Chat) []string {
	const shown = 5
	var out []string
	seen := map[string]bool{}
	for _, u := range p.Uses {
		place := "a chat that is gone"
		if u.ChatID == engine.DocumentsID {
			place = "a document"
		}
		if c := chats[u.ChatID]; c.Number > 0 {
			place = fmt.Sprintf("chat %d", c.Number)
		}
		if u.Path != "" {
			place += ", " + cas.EscapePath(u.Path)
		}
		if !seen[place] {
			seen[place] = true
			out = append(out, place)
		}
	}
	if len(out) > shown {
		out = append(out[:shown], strconv.Itoa(len(out)-shown+p.MoreUses)+" more")
	}
	return out
}

func runStoreGC(ctx context.Context, rt *runtime, output string) error {
	eng, err := rt.storeEngine()
	if err != nil {
		return err
	}
	w := rt.work("store gc")
	w.stage("looking for what no chat needs", 0)
	report, err := eng.CollectStates(ctx, true)
	w.stop()
	if err != nil {
		return err
	}
	if output == "json" {
		return printJSON(rt, gcJSON{outputVersion, report.Manifests, report.Trees, report.Blobs, report.Bytes, report.Kept})
	}
	if report.Manifests+report.Trees+report.Blobs == 0 && report.Kept == 0 {
		rt.streams.Out.Printf("nothing to remove: no files are kept yet\n")
		return nil
	}
	if report.Manifests+report.Trees+report.Blobs == 0 {
		rt.streams.Out.Printf("nothing to remove: all of %s is needed\n", term.Size(report.Kept))
		return nil
	}
	var what []string
	for _, part := range []struct {
		n         int
		one, many string
	}{{report.Manifests, "state", "states"}, {report.Trees, "folder", "folders"}, {report.Blobs, "file", "files"}} {
		if part.n > 0 {
			what = append(what, term.Count(part.n, part.one, part.many))
		}
	}
	rt.streams.Out.Printf("removed %s: %s; %s stays\n", strings.Join(what, ", "), term.Size(report.Bytes), term.Size(report.Kept))
	return nil
}
