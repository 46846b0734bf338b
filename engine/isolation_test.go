package engine

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/backup"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/search"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/record/recordtest"
)

// recordsOf are the keys of all records of a table whose key or content names a text.
func (b *bench) recordsOf(table, text string) (keys []kv.Key) {
	b.t.Helper()
	raw := kv.NewRawTable(table)
	err := b.KV.View(b.t.Context(), func(tx *kv.Tx) error {
		for item, err := range raw.Scan(tx, kv.Range{}) {
			if err != nil {
				return err
			}
			if bytes.Contains(item.Key, []byte(text)) || bytes.Contains(item.Value, []byte(text)) {
				keys = append(keys, bytes.Clone(item.Key))
			}
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return keys
}

// spoil makes the records of a table that name a text unreadable; it returns how many.
func (b *bench) spoil(table, text string) int {
	b.t.Helper()
	keys := b.recordsOf(table, text)
	var at kv.Key
	var indexes []kv.Index[string]
	for _, name := range engineTables(b)[table] { // whose entries stay as they are
		indexes = append(indexes, kv.On(name, func(*string) kv.Key { return nil }))
	}
	spoiled := kv.NewTable(table, func(*string) kv.Key { return at }, indexes...)
	err := b.KV.UpdateSync(b.t.Context(), func(tx *kv.Tx) error {
		for _, at = range keys {
			rubbish := "not such a record"
			if err := spoiled.Put(tx, &rubbish); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return len(keys)
}

// engineTables are the tables that this package and the states of workspaces declare,
// with their indexes. They are derived from the declarations, so that a new one is
// among them.
func engineTables(b *bench) map[string][]string {
	out := map[string][]string{}
	collectTables(reflect.ValueOf(b.Tables), out)
	collectTables(reflect.ValueOf(b.Snapshots).Elem().FieldByName("records"), out)
	return out
}

// collectTables adds the tables in the fields of a struct, and in those that it leads to.
func collectTables(v reflect.Value, out map[string][]string) {
	if v.Kind() == reflect.Slice {
		for i := range v.Len() {
			collectTables(v.Index(i), out)
		}
		return
	}
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if table := v.FieldByName("table"); strings.HasPrefix(v.Type().Name(), "Table[") && table.IsValid() {
		v = table.Elem()
	}
	if v.FieldByName("keysOf").IsValid() { // the core of a table
		names, indexes := []string(nil), v.FieldByName("indexes")
		for i := range indexes.Len() {
			names = append(names, indexes.Index(i).FieldByName("name").String())
		}
		out[v.FieldByName("name").String()] = names
		return
	}
	for i := range v.NumField() {
		collectTables(v.Field(i), out)
	}
}

// Whichever record of one chat is damaged, all that is about other chats, and all
// that lists chats, works.
func TestDamageInOneChatStaysAlone(t *testing.T) {
	t.Parallel()
	// elsewhere are the tables whose records belong to no chat alone, with what tests them.
	elsewhere := map[string]string{
		"blobs": "cas verifies contents, see TestDamage of package cas", "trees": "as blobs",
		"workspace_owners": "a path that is shown, of a folder",
		"search_words":     "an index of an older form", "search_pairs": "an index of an older form",
		"vectors":          "they can be asked for again, see TestVectorsAreKept",
		"document_vectors": "as vectors, see TestDamagedVectorsAreEmbeddedAgain", "document_indexes": "as document_vectors",
	}
	for table := range engineTables(newBench(t, yes)) {
		if elsewhere[table] != "" {
			continue
		}
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			b, spoiled := oneDamagedChat(t, table)
			if spoiled == 0 {
				t.Fatal("there is no such record to damage")
			}
			b.othersWork(t)
			if told := b.notices(); slices.Contains([]string{"chats", "messages", "tool_calls", "grants", "documents"}, table) && !strings.Contains(told, table) {
				t.Errorf("the damage is not reported: %q", told)
			}
		})
	}
}

// othersWork runs all that lists chats, and what is about chat 2.
func (b *bench) othersWork(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	two := store.ChatRef{Number: 2}
	check := func(what string, err error) {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	page, err := b.Chats(ctx, store.ListChats{})
	check("list", err)
	if !slices.ContainsFunc(page.Chats, func(c chat.Chat) bool { return c.Number == 2 }) {
		t.Errorf("chat 2 is not listed: %d chats", len(page.Chats))
	}
	one, err := b.Chats(ctx, store.ListChats{Limit: 1})
	check("first page", err)
	_, err = b.Chats(ctx, store.ListChats{Limit: 1, After: one.Next})
	check("next page", err)
	_, err = b.Glance(ctx, 10)
	check("glance", err)
	_, err = b.GlancePayloads(ctx)
	check("glance payloads", err)
	_, err = b.GlanceWorkflows(ctx, 10)
	check("glance workflows", err)
	_, err = b.NumberedChats(ctx, 1, 10)
	check("numbered", err)
	_, err = b.DeletedChats(ctx)
	check("deleted", err)
	_, err = b.Previews(ctx, page.Chats)
	check("previews", err)
	_, err = b.UsageByDay(ctx, time.Time{})
	check("usage by day", err)
	_, err = b.UsageByChat(ctx, time.Time{})
	check("usage by chat", err)
	query, err := search.Parse("words")
	check("parse", err)
	found, err := b.SearchChats(ctx, store.SearchChats{Query: query})
	check("search", err)
	if !slices.ContainsFunc(found.Chats, func(c store.FoundChat) bool { return c.Chat.Number == 2 }) {
		t.Errorf("search finds %d chats, and chat 2 is not among them", len(found.Chats))
	}
	for _, c := range page.Chats { // as export --all does
		if _, _, err := b.ExportChat(ctx, store.ChatRef{ID: c.ID}); err != nil && c.Number == 2 {
			t.Errorf("export: %v", err)
		}
	}
	_, err = b.Documents(ctx, false)
	check("documents", err)
	_, err = b.Upkeep(ctx)
	check("upkeep", err)
	_, err = b.StateSummary(ctx)
	check("summary", err)
	_, err = b.StateStats(ctx)
	check("stats", err)
	_, err = b.CollectStates(ctx, false)
	check("collect", err)
	_, err = b.Chat(ctx, two)
	check("show", err)
	_, _, err = b.Branches(ctx, two)
	check("branches", err)
	_, _, _, err = b.States(ctx, two, 10)
	check("states", err)
	_, _, err = b.Payloads(ctx, two)
	check("payloads", err)
	_, err = backup.Make(ctx, b.Store, io.Discard, backup.Options{Stage: func(string, int64) {}})
	check("backup", err)
	_, err = b.PurgeChats(ctx, store.Purge{})
	check("purge", err)
	check("tidy", b.Tidy(ctx, time.Second))
	b.did(two, `{"put":{"b.txt":"2"}}`)
	b.did(store.ChatRef{}, `{"put":{"b.txt":"2"}}`) // a new chat
	check("fold", onlyErr(b.Fold(ctx, store.FoldAll)))
	if got, err := b.Undo(ctx, workspace.RestoreRequest{Chat: two}); err != nil {
		t.Errorf("undo: %+v, %v", got, err)
	}
	if h := b.Health(ctx); h.Err != nil || h.Store.Err != nil {
		t.Errorf("health: %v, %v", h.Err, h.Store.Err)
	}
}

func onlyErr(_ int, err error) error { return err }

// A journal that can't be stored, for whatever reason, is set aside with a notice that
// names its chat and its file; the others of its group are stored.
func TestOneJournalThatCannotBeStoredHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// spoil makes the next turn of chat 1 one that can't be stored, after it was
		// accepted.
		spoil func(*bench, chat.Chat)
		aside bool
	}{
		"its chat's record is damaged":    {func(b *bench, c chat.Chat) { b.spoil("chats", c.ID) }, true},
		"its chat's messages are damaged": {func(b *bench, c chat.Chat) { b.spoil("messages", c.ID) }, false},
		"the sums of its tokens are damaged": {func(b *bench, c chat.Chat) {
			b.spoil("usage_chats", c.ID)
			b.spoil("usage_days", "rogue")
		}, false},
		"a key is too long": {func(b *bench, c chat.Chat) {
			b.rewriteJournals(func(line []byte) []byte {
				return bytes.ReplaceAll(line, []byte(`"tool_call_id":"`), []byte(`"tool_call_id":"`+strings.Repeat("x", 20<<10)))
			}, c.ID)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := changer(t, t.TempDir())
			b.did(store.ChatRef{}, `{"put":{"a.txt":"1"}}`)
			b.did(store.ChatRef{}, `{"put":{"a.txt":"1"}}`)
			if _, err := b.Fold(t.Context(), store.FoldAll); err != nil {
				t.Fatal(err)
			}
			one := b.chat(1).Chat
			b.did(store.ChatRef{Number: 1}, `{"put":{"a.txt":"2"}}`)
			b.run(ask("a new chat folds nothing"))
			b.run(ask("so three journals wait"))
			c.spoil(b, one)
			if _, err := b.Fold(t.Context(), store.FoldAll); err != nil {
				t.Fatal(err)
			}
			if three, four := b.chat(3), b.chat(4); len(three.Messages) != 2 || len(four.Messages) != 2 {
				t.Errorf("chat 3 has %d messages, chat 4 has %d", len(three.Messages), len(four.Messages))
			}
			state, err := b.Journals.State()
			if err != nil || len(state.Turns) != 0 || (len(state.Damaged) == 1) != c.aside {
				t.Fatalf("journals: %+v, %v", state, err)
			}
			if told := b.notices(); c.aside && (!strings.Contains(told, "chat 1") || !strings.Contains(told, state.Damaged[0])) {
				t.Errorf("the notices name chat and file not: %q", told)
			}
		})
	}
}

// rewriteJournals changes the lines of the journals that name a chat in their first one.
func (b *bench) rewriteJournals(change func([]byte) []byte, chatID string) {
	b.t.Helper()
	for _, name := range files(b.t, filepath.Join(b.o.DataDir, "journal")) {
		path := filepath.Join(b.o.DataDir, "journal", name)
		text, err := os.ReadFile(path)
		if err != nil || !strings.HasSuffix(name, ".jsonl") {
			continue
		}
		if first, _, _ := bytes.Cut(text, []byte{'\n'}); bytes.Contains(first, []byte(chatID)) {
			if err := os.WriteFile(path, change(text), 0o600); err != nil {
				b.t.Fatal(err)
			}
		}
	}
}

// hostile are texts that a record may get from outside, each too long for one: what
// JSON makes longer, and what it can't hold.
func hostile() map[string]string {
	out := map[string]string{}
	for name, one := range map[string]string{
		"plain": "x", "markup": "<", "ampersand": "&", "control": "\x01", "not UTF-8": "\xff", "separator": "\u2028", "quote": `"`,
	} {
		out[name] = strings.Repeat(one, 48<<10/len(one))
	}
	return out
}

// holds stores records of one type with hostile texts in each field, one after the
// other, and reads them back. It returns the table's name.
func holds[T any](t *testing.T, b *bench, table *kv.Table[T]) string {
	n := 0
	var rec T
	recordtest.EachText(&rec, func(name string, set func(string)) {
		n++
		for kind, text := range hostile() {
			if n > 6 && kind != "control" && kind != "markup" { // the first fields get all kinds
				continue
			}
			set(text)
			err := b.KV.Update(t.Context(), func(tx *kv.Tx) error { return store.PutBounded(b.In(tx), table, &rec, "the record") })
			var big *kv.TooBigError
			switch {
			case err == nil:
				err = b.KV.View(t.Context(), func(tx *kv.Tx) error { _, err := table.Get(tx, table.KeyOf(&rec)); return err })
				if err != nil {
					t.Errorf("%s (%s) can't be read back: %.200v", name, kind, err)
				}
			case !errors.As(err, &big) || big.What != "key": // a text where an id was meant is refused, and not cut
				t.Errorf("%s (%s): %.200v", name, kind, err)
			}
		}
	})
	if n == 0 {
		t.Errorf("%T has no text", rec)
	}
	named := map[string][]string{}
	collectTables(reflect.ValueOf(table), named)
	return slices.Collect(maps.Keys(named))[0]
}

// Every record of the engine can be stored regardless of its fields: what is too long
// is cut with a notice, or it is a key, and is refused by name.
func TestEveryRecordIsBoundedAsItIsEncoded(t *testing.T) {
	t.Parallel()
	b := newBench(t, yes)
	b.RecordLimit = 32 << 10 // more than a key may have
	covered := []string{
		holds(t, b, b.Tables.Chats), holds(t, b, b.Tables.Messages), holds(t, b, b.Tables.Turns), holds(t, b, b.Tables.Calls),
		holds(t, b, b.Tables.Payloads), holds(t, b, b.Tables.Grants), holds(t, b, b.Tables.Documents), holds(t, b, b.Tables.Workflows),
		holds(t, b, b.Tables.Threads), holds(t, b, b.Tables.Moves), holds(t, b, b.Tables.Deleted), holds(t, b, b.Tables.Apps),
		holds(t, b, b.Tables.Agents),
	}
	fixed := map[string]string{ // the tables whose records have no text from outside, with the reason
		"upkeep": "numbers and times", "document_indexes": "the name of a model, which maxModelRef bounds, and a time", "usage_state": "a name of the program and a time", "search_state": "as usage_state, and a key",
		"branches": "ids and numbers", "branch_marks": "as branches", "artifacts": "ids and a digest", "usage_days": "a day and the name of a model, which maxModelRef bounds", "usage_chats": "as usage_days",
	}
	raw := map[string]bool{ // pieces of bytes that are cut to a size where they are written
		"events": true, "message_parts": true, "search_words": true, "search_pairs": true, "search_words_2": true, "search_pairs_2": true, "search_chats": true, "vectors": true, "document_vectors": true,
	}
	all := map[string][]string{}
	collectTables(reflect.ValueOf(b.Tables), all)
	for table := range all {
		if fixed[table] == "" && !raw[table] && !slices.Contains(covered, table) {
			t.Errorf("nothing tests that the records of table %s are bounded", table)
		}
	}
	if told := b.notices(); !strings.Contains(told, "too long to be kept whole") {
		t.Errorf("nothing was said of what was cut: %.300q", told)
	}
}
