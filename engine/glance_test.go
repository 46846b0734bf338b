package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/fettle-cli/fettle/engine/store"
)

func glance(t *testing.T, b *bench, limit int) string {
	t.Helper()
	chats, err := b.Glance(t.Context(), limit)
	if err != nil {
		t.Fatal(err)
	}
	out := ""
	for _, c := range chats {
		out += fmt.Sprintf("%d:%s ", c.Number, c.Title)
	}
	return out
}

func TestGlanceSeesStoreAndJournals(t *testing.T) {
	t.Parallel()
	b := newBench(t, "responses: [{text: Yes.}, {text: Yes.}, {text: Yes.}, {text: Yes.}]")
	if got := glance(t, b, 10); got != "" {
		t.Errorf("of nothing: %q", got)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "data")); !os.IsNotExist(err) {
		t.Errorf("it made a data directory: %v", err)
	}
	b.run(ask("first"))
	b.run(ask("second"))
	if got := glance(t, b, 10); got != "2:second 1:first " {
		t.Errorf("in journals: %q", got)
	}
	journals := filepath.Join(b.dir, "data", "journal")
	before, _ := filepath.Glob(filepath.Join(journals, "*.jsonl"))
	if _, err := b.Fold(t.Context(), store.FoldAll); err != nil {
		t.Fatal(err)
	}
	after, _ := filepath.Glob(filepath.Join(journals, "*.jsonl"))
	if len(before) != 2 || len(after) != 0 {
		t.Errorf("it folded: %d journals, then %d", len(before), len(after))
	}
	if got := glance(t, b, 10); got != "2:second 1:first " {
		t.Errorf("in the store: %q", got)
	}
	again := ask("more")
	again.Chat = store.ChatRef{Number: 1}
	b.run(again)
	b.run(ask("third"))
	if got := glance(t, b, 10); got != "3:third 1:first 2:second " {
		t.Errorf("in both: %q", got)
	}
	if got := glance(t, b, 2); got != "3:third 1:first " {
		t.Errorf("at most two: %q", got)
	}
}

func TestGlanceLeavesOutWhatItCantRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, "responses: [{text: Yes.}]")
	b.run(ask("good"))
	bad := filepath.Join(b.dir, "data", "journal", "01ZZZZZZZZZZZZZZZZZZZZZZZZ.jsonl")
	for _, line := range []string{"", "not json\n", `{"journal":99,"chat":{"id":"x"}}` + "\n", "{}\n"} {
		if err := os.WriteFile(bad, []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := glance(t, b, 10); got != "1:good " {
			t.Errorf("beside %q: %q", line, got)
		}
	}
	if err := os.Remove(bad); err != nil {
		t.Fatal(err)
	}
}

func TestGlanceEndsWithItsContext(t *testing.T) {
	t.Parallel()
	b := newBench(t, "responses: [{text: Yes.}]")
	b.run(ask("good"))
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("no time")
	cancel(why)
	if chats, err := b.Glance(ctx, 10); !errors.Is(err, why) {
		t.Errorf("it gave %v, %v", chats, err)
	}
}
