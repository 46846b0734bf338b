package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/store"
)

// statsJSON is what `store stats --output json` prints. Sizes are bytes.
type statsJSON struct {
	SchemaVersion int   `json:"schema_version"`
	States        int   `json:"states"`
	Added         int64 `json:"added_bytes"`
	LargeFiles    int   `json:"large_files"`
	LargeBytes    int64 `json:"large_bytes"`
	RecordBytes   int64 `json:"record_bytes"`
	// Exact is there with --exact alone.
	Exact *exactStatsJSON `json:"exact,omitempty"`
	// CollectedAt and CollectDue are the last and the next collection; neither is
	// there before anything was kept.
	CollectedAt *time.Time      `json:"collected_at,omitempty"`
	CollectDue  *time.Time      `json:"collect_due_at,omitempty"`
	Dropped     int             `json:"dropped_chats"`
	Chats       []chatStatsJSON `json:"chats"`
}

// exactStatsJSON is what all states hold, each content once, and what gc would
// remove of the large files.
type exactStatsJSON struct {
	Folders   int   `json:"folders"`
	Files     int   `json:"files"`
	Bytes     int64 `json:"bytes"`
	Unreached int64 `json:"unreached_bytes"`
}

// chatStatsJSON is what one chat's states take.
type chatStatsJSON struct {
	Chat   int64  `json:"chat,omitempty"` // 0: of a chat that is gone
	ChatID string `json:"chat_id"`
	Title  string `json:"title,omitempty"`
	States int    `json:"states"`
	Added  int64  `json:"added_bytes"`
	// Files and Bytes are those of the chat's last state.
	Files int   `json:"last_files"`
	Bytes int64 `json:"last_bytes"`
	// All is what all its states have, Own what no other chat's have; both are
	// there with --exact alone.
	All *int64 `json:"bytes,omitempty"`
	Own *int64 `json:"own_bytes,omitempty"`
}

// storeStats is all that `store stats` says.
type storeStats struct {
	sum    *cas.Summary
	exact  *cas.Stats               // nil without --exact
	byChat map[string]cas.ChatStats // of exact
	chats  map[string]chat.Chat
	upkeep store.Upkeep
}

func runStoreStats(ctx context.Context, rt *workbench.Runtime, exact bool, output string) error {
	eng, err := rt.StoreEngine()
	if err != nil {
		return err
	}
	w := rt.Work("store stats")
	defer w.Stop()
	w.Stage("adding up what is kept", 0)
	var s storeStats
	if s.sum, err = eng.StateSummary(ctx); err == nil && exact {
		s.exact, err = eng.StateStats(ctx)
	}
	if err != nil {
		return err
	}
	if s.exact != nil {
		s.byChat = make(map[string]cas.ChatStats)
		for _, c := range s.exact.Chats {
			s.byChat[c.ChatID] = c
		}
	}
	if s.chats, err = eng.ChatsByID(ctx, s.chatIDs()); err != nil {
		return err
	}
	if s.upkeep, err = eng.Upkeep(ctx); err != nil {
		return err
	}
	w.Stop()
	if output == "json" {
		return workbench.PrintJSON(rt, s.json())
	}
	s.print(rt.Streams.Out)
	return nil
}

func (s *storeStats) chatIDs() []string {
	var ids []string
	for _, c := range s.sum.Chats {
		ids = append(ids, c.ChatID)
	}
	return ids
}

// of is what --exact has found of a chat; nil without it.
func (s *storeStats) of(chatID string) *cas.ChatStats {
	if s.exact == nil {
		return nil
	}
	c := s.byChat[chatID]
	return &c
}

func (s *storeStats) json() statsJSON {
	out := statsJSON{
		SchemaVersion: workbench.OutputVersion, States: s.sum.States, Added: s.sum.Added,
		LargeFiles: s.sum.Files, LargeBytes: s.sum.FileBytes, RecordBytes: s.sum.RecordBytes,
		Chats: []chatStatsJSON{}, Dropped: s.upkeep.Dropped,
	}
	if e := s.exact; e != nil {
		out.Exact = &exactStatsJSON{e.Trees, e.Blobs, e.Bytes, e.Unreached}
	}
	if !s.upkeep.CollectedAt.IsZero() {
		out.CollectedAt = &s.upkeep.CollectedAt
	}
	if due := s.upkeep.Due(); !s.upkeep.Since.IsZero() {
		out.CollectDue = &due
	}
	for _, c := range s.sum.Chats {
		chat := s.chats[c.ChatID]
		j := chatStatsJSON{Chat: chat.Number, ChatID: c.ChatID, Title: chat.Title, States: c.States, Added: c.Added}
		if c.Last != nil {
			j.Files, j.Bytes = c.Last.Files, c.Last.Bytes
		}
		if e := s.of(c.ChatID); e != nil {
			j.All, j.Own = &e.Bytes, &e.Own
		}
		out.Chats = append(out.Chats, j)
	}
	return out
}

func (s *storeStats) print(out *term.Output) {
	style := out.Style()
	line := func(label, text string) { out.Printf("%s  %s\n", style.Dim(fmt.Sprintf("%-8s", label)), text) }
	kept := term.Number(int64(s.sum.States)) + " with " + term.Size(s.sum.Added)
	if e := s.exact; e != nil {
		kept = fmt.Sprintf("%s with %s, %s", term.Number(int64(e.Manifests)), term.Count(e.Blobs, "file", "files"), term.Size(e.Bytes))
	}
	line("states", kept)
	line("on disk", fmt.Sprintf("%s of records and small files, %s of large ones", term.Size(s.sum.RecordBytes), term.Size(s.sum.FileBytes)))
	if s.exact != nil && s.exact.Unreached > 0 {
		line("unused", term.Size(s.exact.Unreached)+" of large files; fettle store gc gives it back")
	}
	if text := upkeepText(out, s.upkeep); text != "" {
		line("tidied", text)
	}
	if len(s.sum.Chats) == 0 {
		return
	}
	out.WriteString("\n")
	s.printChats(out)
}

func (s *storeStats) printChats(out *term.Output) {
	columns := []term.Column{
		{Title: "chat", Right: true}, {Title: "title", Cut: true}, {Title: "states", Right: true}, {Title: "added", Right: true},
		{Title: "files", Right: true},
	}
	if s.exact != nil {
		columns = append(columns, term.Column{Title: "size", Right: true}, term.Column{Title: "own", Right: true})
	}
	table := term.NewTable(out, columns...)
	for _, c := range s.sum.Chats {
		chat, number, files := s.chats[c.ChatID], "gone", 0
		if c.ChatID == store.DocumentsID {
			number, chat.Title = "docs", "documents, which fettle docs list shows"
		}
		if c.ChatID == store.ArtifactsID {
			number, chat.Title = "pages", "pages of toolsets that results in chats are shown by"
		}
		if chat.Number > 0 {
			number = strconv.FormatInt(chat.Number, 10)
		}
		if c.Last != nil {
			files = c.Last.Files
		}
		row := []string{number, chat.Title, strconv.Itoa(c.States), show.SizeCell(out, c.Added), strconv.Itoa(files)}
		if e := s.of(c.ChatID); e != nil {
			row = append(row, show.SizeCell(out, e.Bytes), show.SizeCell(out, e.Own))
		}
		table.Row(row...)
	}
	_ = table.Flush() // Main looks at what went wrong with writing
}
