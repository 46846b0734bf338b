package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
)

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

// New makes the command store with those below it.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "store",
		Usage:     "look after what is kept of chats' files",
		UsageText: "fettle store stats\nfettle store verify",
		Subcommands: []*cli.Command{
			newStoreStats(rt), newStoreVerify(rt), newStoreGC(rt), newStoreTidy(rt),
			newStoreBackup(rt), newStoreRestore(rt),
		},
	}
}

// storeCommand is a command below store without arguments.
func storeCommand(name, usage, description, examples string, run func(context.Context, string) error) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage, Description: description, UsageText: examples, Flags: []cli.Flag{cmdline.OutputFlag()},
		Before: cmdline.NoArguments,
		Action: func(c *cli.Context) error {
			return run(c.Context, c.String("output"))
		},
	}
}

func newStoreStats(rt *workbench.Runtime) *cli.Command {
	cmd := storeCommand("stats", "say what uses the space", `The column "added" is what a chat's states have brought into the store; what
they share with those of another chat counts for the chat that had it first. The
sizes are those that were noted as the states were kept. --exact reads the folders
of all states instead, which takes longer the more there are, and says the size of
what each chat has and how much of it is its own: what deleting it gives back.`,
		"fettle store stats\nfettle store stats --exact\nfettle store stats -o json", nil)
	cmd.Flags = append(cmd.Flags, &cli.BoolFlag{Name: "exact", Usage: "measure what each chat has, and has alone"})
	cmd.Action = func(c *cli.Context) error {
		if err := cmdline.NoArguments(c); err != nil {
			return err
		}
		return runStoreStats(c.Context, rt, c.Bool("exact"), c.String("output"))
	}
	return cmd
}

func newStoreVerify(rt *workbench.Runtime) *cli.Command {
	return storeCommand("verify", "read all that is kept and compare it with its digests", `Says of what is damaged or missing which chats and files need it. It changes
nothing. The exit status is 10 if anything is wrong.`, "fettle store verify\nfettle store verify -o json",
		func(ctx context.Context, output string) error { return runStoreVerify(ctx, rt, output) })
}

// upkeepText says when garbage was collected last, and when it will be next.
func upkeepText(out *term.Output, u store.Upkeep) string {
	if u.Since.IsZero() {
		return ""
	}
	text := "never yet"
	if !u.CollectedAt.IsZero() {
		text = show.WhenText(out, u.CollectedAt)
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

func runStoreVerify(ctx context.Context, rt *workbench.Runtime, output string) error {
	eng, err := rt.StoreEngine()
	if err != nil {
		return err
	}
	sum, err := eng.StateSummary(ctx)
	var total int64
	if err == nil { // a damaged store can't be measured, and is verified all the same
		total = sum.Added
	}
	bar := rt.Streams.Progress("verify")
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
		if err := workbench.PrintJSON(rt, verifyAsJSON(r.report, chats)); err != nil {
			return err
		}
	} else if len(r.report.Problems) == 0 {
		rt.Streams.Out.Printf("all is whole: %s, %s, %s read\n", term.Count(r.report.Manifests, "state", "states"),
			term.Count(r.report.Blobs, "file", "files"), term.Size(r.report.Bytes))
	}
	if f := damageFault(r.report, chats); f != nil {
		return f
	}
	return nil
}

func verifyAsJSON(r *cas.VerifyReport, chats map[string]chat.Chat) verifyJSON {
	out := verifyJSON{
		SchemaVersion: workbench.OutputVersion, OK: len(r.Problems) == 0, States: r.Manifests, Folders: r.Trees, Files: r.Blobs, Bytes: r.Bytes,
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
func damageFault(r *cas.VerifyReport, chats map[string]chat.Chat) *fault.Fault {
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
	f.Remedies = []fault.Remedy{fault.Run("fettle store verify -o json   lists every place")}
	return f
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// places are the chats and paths that need something, each once, the first few.
func places(p cas.Problem, chats map[string]chat.Chat) []string {
	const shown = 5
	var out []string
	seen := map[string]bool{}
	for _, u := range p.Uses {
		place := "a chat that is gone"
		if u.ChatID == store.DocumentsID {
			place = "a document"
		}
		if u.ChatID == store.ArtifactsID {
			place = "a page that results are shown by"
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
