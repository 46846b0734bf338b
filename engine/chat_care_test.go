package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
)

// in is a request that goes on with a chat.
func in(number int64, prompt string) TurnRequest {
	req := ask(prompt)
	req.Chat.Number = number
	return req
}

// named are the numbers of the chats that are listed, and for -c the last.
func (b *bench) listed(q store.ListChats) string {
	b.t.Helper()
	page, err := b.Chats(context.Background(), q)
	if err != nil {
		b.t.Fatal(err)
	}
	return numbers(page.Chats)
}

func numbers(chats []chat.Chat) string {
	var out []string
	for _, c := range chats {
		out = append(out, fmt.Sprint(c.Number))
	}
	return strings.Join(out, " ")
}

func (b *bench) del(chats ...int64) {
	b.t.Helper()
	var found []chat.Chat
	for _, n := range chats {
		c, err := b.FindChat(context.Background(), store.ChatRef{Number: n})
		if err != nil {
			b.t.Fatal(err)
		}
		found = append(found, c)
	}
	if err := b.DeleteChats(context.Background(), found...); err != nil {
		b.t.Fatal(err)
	}
}

func TestADeletedChatIsGoneAndComesBack(t *testing.T) {
	t.Parallel()
	b := newBench(t, spentScript)
	b.run(ask("count one"))
	b.run(ask("two"))
	b.run(in(1, "three"))
	before := b.chat(1)
	b.del(1)
	if got := b.listed(store.ListChats{}); got != "2" {
		t.Errorf("listed: %s", got)
	}
	if last, err := b.FindChat(t.Context(), store.ChatRef{Last: true}); err != nil || last.Number != 2 {
		t.Errorf("the last one is %+v, %v", last, err)
	}
	if seen, err := b.Glance(t.Context(), 10); err != nil || numbers(seen) != "2" {
		t.Errorf("offered: %s, %v", numbers(seen), err)
	}
	for what, ref := range map[string]store.ChatRef{
		"number": {Number: 1}, "id": {ID: before.Chat.ID}, "fork": {Number: 1, Fork: true},
	} {
		req := ask("go on")
		req.Chat = ref
		_, err := b.Start(t.Context(), req)
		var f *fault.Fault
		if !errors.As(err, &f) || f.Code != fault.NotFound || f.Msg != "chat 1 is deleted" || f.Remedies[0].Text != "restore chat 1" {
			t.Errorf("by %s: %v", what, err)
		}
	}
	rows := b.byChat(time.Time{})
	if len(rows) != 2 || !rows[0].Gone || rows[0].Tokens.InputTokens != 100 || rows[1].Gone {
		t.Errorf("used: %+v", rows)
	}
	gone, err := b.DeletedChats(t.Context())
	if err != nil || numbers(gone) != "1" || gone[0].DeletedAt == nil {
		t.Errorf("deleted: %+v, %v", gone, err)
	}
	if _, was, err := b.RestoreChat(t.Context(), 1); err != nil || !was {
		t.Fatalf("restore: %v, %v", was, err)
	}
	if diff := cmp.Diff(before, b.chat(1)); diff != "" {
		t.Errorf("it came back changed:\n%s", diff)
	}
	if got := b.listed(store.ListChats{}); got != "1 2" {
		t.Errorf("listed: %s", got)
	}
	if _, was, err := b.RestoreChat(t.Context(), 1); err != nil || was {
		t.Errorf("restored twice: %v, %v", was, err)
	}
	if _, _, err := b.RestoreChat(t.Context(), 7); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("one that never was: %v", err)
	}
}

func TestAChatWithALiveTurnIsNotDeleted(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{responses: [{when: slow, text: Half, hang: true}, {when: "", text: Yes.}]}`)
	b.run(ask("one"))
	b.run(ask("two"))
	one, two := b.chat(1).Chat, b.chat(2).Chat
	id := b.start(in(2, "slow"))
	b.firstText(id)
	err := b.DeleteChats(t.Context(), one, two)
	var f *fault.Fault
	if !errors.As(err, &f) || f.Code != fault.Busy || !strings.Contains(f.Msg, fmt.Sprintf("pid %d", os.Getpid())) ||
		!strings.Contains(f.Remedies[0].Text, fmt.Sprint(os.Getpid())) {
		t.Errorf("%v %+v", err, f)
	}
	if got := b.listed(store.ListChats{}); got != "2 1" {
		t.Errorf("listed: %s", got)
	}
	if err := b.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	b.follow(id)
	b.del(1, 2)
	if got := b.listed(store.ListChats{}); got != "" {
		t.Errorf("listed: %s", got)
	}
}

// A turn that waited for the chat while it was deleted finds that out.
func TestATurnThatWaitedForADeletedChat(t *testing.T) {
	t.Parallel()
	b := newBench(t, yes)
	b.run(ask("one"))
	chat := b.chat(1).Chat
	unlock, err := b.TryChat(t.Context(), chat)
	if err != nil {
		t.Fatal(err)
	}
	waiting := make(chan string, 1)
	req := in(1, "two")
	req.OnWait = func(what string) { waiting <- what }
	failed := make(chan error, 1)
	go func() {
		_, err := b.Start(context.Background(), req)
		failed <- err
	}()
	<-waiting
	err = b.KV.UpdateSync(t.Context(), func(tx *kv.Tx) error { return b.MarkDeleted(tx, chat, b.o.Now()) })
	unlock()
	if err != nil {
		t.Fatal(err)
	}
	if err := <-failed; fault.CodeOf(err) != fault.NotFound {
		t.Errorf("it began: %v", err)
	}
}

// caredFor makes a store with a chat that has everything a chat can have, and a
// fork of it. It gives their ids.
func caredFor(t *testing.T, dir string) (full, fork string) {
	t.Helper()
	b := openBench(t, dir)
	b.run(ask("go"))
	image := in(1, "count this")
	image.Parts = append([]provider.Part{{Kind: provider.ImagePart, Name: "x.png", MIME: "image/png", Data: make([]byte, store.InlineParts)}}, image.Parts...)
	b.run(image)
	forked, err := b.ForkChat(t.Context(), store.ChatRef{Number: 1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	full = b.chat(1).Chat.ID
	for _, rule := range []string{"write_file(path=a*)", "write_file(path=b*)"} {
		if err := b.Grant(t.Context(), event.AllowChat, full, rule); err != nil {
			t.Fatal(err)
		}
	}
	ws := b.ManagedDir(full)
	outside := filepath.Join(dir, "outside.txt")
	for path, text := range map[string]string{outside: "mine", filepath.Join(ws, "deep", "er", "c.txt"): "c"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(dir, filepath.Join(ws, "link")); err != nil {
		t.Logf("no links here: %v", err)
	}
	return full, forked.ID
}

// traces are the records and files that still belong to a chat.
func (b *bench) traces(chatID string) []string {
	b.t.Helper()
	var out []string
	err := b.View(context.Background(), func(tx *kv.Tx) error {
		for name, keys := range map[string]store.Keyed{
			"messages": b.Tables.Messages, "parts": b.Tables.Parts, "grants": b.Tables.Grants,
			"chats": b.Tables.Chats, "deleted": b.Tables.Deleted, "apps": b.Tables.Apps,
		} {
			for _, err := range keys.Keys(tx, kv.Range{Prefix: kv.Str(chatID)}) {
				if err != nil {
					return err
				}
				out = append(out, name)
			}
		}
		for _, err := range b.Tables.Calls.ByIndex(tx, "chat", kv.Str(chatID), kv.Range{}) {
			if err != nil {
				return err
			}
			out = append(out, "call")
		}
		for turn, err := range b.Tables.Turns.Scan(tx, kv.Range{}) {
			if err != nil {
				return err
			}
			if turn.ChatID == chatID {
				out = append(out, "turn")
			}
		}
		for range b.Tables.Events.Keys(tx, kv.Range{}) {
			out = append(out, "events") // the fork has no turn of its own
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if len(files(b.t, filepath.Dir(b.ManagedDir(chatID)))) > 0 {
		out = append(out, "files")
	}
	return out
}

const careScript = `
responses:
  - {when: go, step: 0, text: I write., calls: [{name: write_file, args: {path: a.txt, content: one}}]}
  - {when: go, step: 1, text: Done.}
  - {when: count, text: Counted., usage: {input_tokens: 100, output_tokens: 10}}
`

func newCared(t *testing.T) (dir, full, fork string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "m.yaml"), []byte(careScript), 0o600); err != nil {
		t.Fatal(err)
	}
	full, fork = caredFor(t, dir)
	return dir, full, fork
}

func TestAPurgeLeavesNothingAndTakesNothingElse(t *testing.T) {
	t.Parallel()
	dir, full, fork := newCared(t)
	b := openBench(t, dir)
	forked := b.chat(2)
	if got := b.traces(full); len(got) < 10 {
		t.Fatalf("the chat has only %v", got)
	}
	b.del(1)
	now := time.Now()
	b.o.Now = func() time.Time { return now.Add(store.DeletedKept - time.Minute) }
	if got, err := b.PurgeChats(t.Context(), store.Purge{OlderThan: store.DeletedKept}); err != nil || got != (store.Purged{}) {
		t.Errorf("before its time: %+v, %v", got, err)
	}
	if err := b.Tidy(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	if b.traces(full) == nil {
		t.Error("it was removed before its time")
	}
	b.o.Now = func() time.Time { return now.Add(store.DeletedKept + time.Minute) }
	if err := b.Tidy(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	if got := b.traces(full); got != nil {
		t.Errorf("left: %v", got)
	}
	if c, err := b.ReadCatalog(); err != nil || c.PurgeDue != nil || len(c.Grants) != 0 {
		t.Errorf("the catalogue: %+v, %v", c, err)
	}
	if diff := cmp.Diff(forked, b.chat(2)); diff != "" {
		t.Errorf("the fork %s changed:\n%s", fork, diff)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "outside.txt")); string(text) != "mine" {
		t.Errorf("what a link led to: %q, %v", text, err)
	}
	if rows := b.byChat(time.Time{}); len(rows) != 1 || !rows[0].Gone || rows[0].Number != 1 || rows[0].Tokens.InputTokens != 100 {
		t.Errorf("used: %+v", rows)
	}
	if _, _, err := b.RestoreChat(t.Context(), 1); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("restored from nothing: %v", err)
	}
	b.run(ask("count on"))
	if got := b.listed(store.ListChats{}); got != "3 2" {
		t.Errorf("listed: %s: a number was given twice", got)
	}
}

// Killed at each step of a purge, the next one finishes it, and nothing that is
// half gone is ever shown.
func TestKillInAPurge(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"purge:begun", "purge:events", "purge:messages", "purge:calls", "purge:states", "purge:done"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			dir, full, _ := newCared(t)
			before := openBench(t, dir)
			before.del(1)
			if err := before.Close(); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childEnv+"=purge "+dir+" "+step)
			if out, err := cmd.CombinedOutput(); cmd.ProcessState.Success() || len(out) > 0 {
				t.Fatalf("it was not killed: %v, %s", err, out)
			}
			b := openBench(t, dir)
			if got := b.listed(store.ListChats{}); got != "2" {
				t.Errorf("listed: %s", got)
			}
			if step != "purge:done" {
				if gone, err := b.DeletedChats(t.Context()); err != nil || len(gone) > 0 {
					t.Errorf("still to restore: %+v, %v", gone, err)
				}
				if _, _, err := b.RestoreChat(t.Context(), 1); fault.CodeOf(err) != fault.NotFound {
					t.Errorf("restored half a chat: %v", err)
				}
			}
			if _, err := b.PurgeChats(t.Context(), store.Purge{OlderThan: store.DeletedKept}); err != nil {
				t.Fatal(err)
			}
			if got := b.traces(full); got != nil {
				t.Errorf("left: %v", got)
			}
		})
	}
}

// A chat that is being brought in is there whole or not at all, and what a
// crash leaves is removed.
func TestKillInAFork(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"insert:begun", "insert:written"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			dir, _, _ := newCared(t)
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childEnv+"=fork "+dir+" "+step)
			if out, err := cmd.CombinedOutput(); cmd.ProcessState.Success() || len(out) > 0 {
				t.Fatalf("it was not killed: %v, %s", err, out)
			}
			b := openBench(t, dir)
			if got := b.listed(store.ListChats{}); got != "2 1" {
				t.Errorf("listed: %s", got)
			}
			count := func() (n int) {
				err := b.View(t.Context(), func(tx *kv.Tx) (err error) {
					n, err = b.Tables.Messages.Count(tx, kv.Range{})
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			if n := count(); step == "insert:written" && n != 10 {
				t.Errorf("%d messages before", n)
			}
			if _, err := b.PurgeChats(t.Context(), store.Purge{OlderThan: store.DeletedKept}); err != nil {
				t.Fatal(err)
			}
			if n := count(); n != 6 {
				t.Errorf("%d messages are left of 6", n)
			}
		})
	}
}

func childCare(ctx context.Context, task, dir, step string) error {
	e := childEngine(dir, func(at string) {
		if at == step {
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			select {} // until it is dead
		}
	})
	if task == "fork" {
		_, err := e.ForkChat(ctx, store.ChatRef{Number: 1}, 0)
		return fmt.Errorf("it never came to %s: %w", step, err)
	}
	_, err := e.PurgeChats(ctx, store.Purge{})
	return fmt.Errorf("it never came to %s: %w", step, err)
}

// A fork that is live brings the messages of the chat it began from when it
// ends; until then that one is not purged.
func TestAPurgeWaitsForALiveFork(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{responses: [{when: slow, text: Half, hang: true}, {when: "", text: Yes.}]}`)
	b.run(ask("one"))
	req := in(1, "slow")
	req.Chat.Fork = true
	id := b.start(req)
	b.firstText(id)
	b.del(1)
	if got, err := b.PurgeChats(t.Context(), store.Purge{}); err != nil || got.Busy != 1 || got.Chats != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if err := b.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	b.follow(id)
	if got, err := b.PurgeChats(t.Context(), store.Purge{}); err != nil || got.Chats != 1 || got.Messages != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if conv := b.chat(2); len(conv.Messages) != 4 {
		t.Errorf("the fork has %d messages", len(conv.Messages))
	}
}

func TestAPurgeStopsWithItsTimeAndGoesOn(t *testing.T) {
	t.Parallel()
	dir, full, _ := newCared(t)
	b := openBench(t, dir)
	b.del(1)
	ctx, cancel := context.WithCancel(t.Context())
	b.Pause = func(step string) {
		if step == "purge:events" {
			cancel()
		}
	}
	if _, err := b.PurgeChats(ctx, store.Purge{}); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped with %v", err)
	}
	b.Pause = func(string) {}
	if b.traces(full) == nil {
		t.Error("it went on after it was stopped")
	}
	if _, err := b.PurgeChats(t.Context(), store.Purge{OlderThan: store.DeletedKept}); err != nil {
		t.Fatal(err)
	}
	if got := b.traces(full); got != nil {
		t.Errorf("left: %v", got)
	}
}

func TestRename(t *testing.T) {
	t.Parallel()
	b := newBench(t, yes)
	b.run(ask("one"))
	long := strings.Repeat("w", 200)
	for title, want := range map[string]string{
		"  A better\tname\x1b[31m ": "A better name[31m", long: strings.Repeat("w", 79) + "…", "two\nlines": "two lines",
		"bad \xff byte": "bad byte",
	} {
		if c, err := b.RenameChat(t.Context(), store.ChatRef{Number: 1}, title); err != nil || c.Title != want {
			t.Errorf("%q became %q, %v", title, c.Title, err)
		}
	}
	if _, err := b.RenameChat(t.Context(), store.ChatRef{Number: 1}, " \n\x00"); fault.CodeOf(err) != fault.Usage {
		t.Errorf("an empty one: %v", err)
	}
	id := b.start(in(1, "two")) // accepted under the old title
	if _, err := b.RenameChat(t.Context(), store.ChatRef{Number: 1}, "Kept"); err != nil {
		t.Fatal(err)
	}
	if seen, err := b.Glance(t.Context(), 1); err != nil || seen[0].Title != "Kept" {
		t.Errorf("offered as %+v, %v", seen, err)
	}
	b.follow(id)
	b.run(in(1, "three"))
	if c := b.chat(1).Chat; c.Title != "Kept" || c.Messages != 6 {
		t.Errorf("after more turns: %+v", c)
	}
}

func TestChatByTitle(t *testing.T) {
	t.Parallel()
	b := newBench(t, yes)
	for _, title := range []string{"The first question", "Another one", "another one", "Another one more"} {
		b.run(ask(title))
	}
	for title, want := range map[string]int64{"first": 1, "THE FIRST question ": 1, "more": 4, "another one more": 4} {
		if c, err := b.ChatByTitle(t.Context(), title); err != nil || c.Number != want {
			t.Errorf("%q: %d, %v", title, c.Number, err)
		}
	}
	for title, want := range map[string]fault.Code{"another one": fault.Usage, "nothing": fault.NotFound, " ": fault.NotFound, "o": fault.Usage} {
		if c, err := b.ChatByTitle(t.Context(), title); fault.CodeOf(err) != want {
			t.Errorf("%q: %d, %v", title, c.Number, err)
		}
	}
}

func TestListsGoOnAndFilter(t *testing.T) {
	t.Parallel()
	b := newBench(t, yes)
	for i := range 7 {
		b.at(i + 1)
		b.run(ask(fmt.Sprint(i)))
	}
	b.del(6)
	if got := b.listed(store.ListChats{}); got != "7 5 4 3 2 1" {
		t.Errorf("all: %s", got)
	}
	var seen []string
	for after := []byte(nil); ; {
		page, err := b.Chats(t.Context(), store.ListChats{Limit: 2, After: after})
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, numbers(page.Chats))
		if after = page.Next; after == nil {
			break
		}
	}
	if got := strings.Join(seen, ", "); got != "7 5, 4 3, 2 1" {
		t.Errorf("pages: %s", got)
	}
	day := func(n int) time.Time { return time.Date(2026, 3, n, 0, 0, 0, 0, time.Local) }
	for want, q := range map[string]store.ListChats{
		"4 3": {AfterChat: 5, Limit: 2}, "5 4": {AfterChat: 6, Limit: 2}, "": {AfterChat: 1}, "7 5 4": {Since: day(4)},
		"2 1": {Before: day(3)}, "3": {Since: day(3), Before: day(4)}, "7": {Model: "M.YAML", Limit: 1},
	} {
		if got := b.listed(q); got != want {
			t.Errorf("%+v: %s, want %s", q, got, want)
		}
	}
	if got := b.listed(store.ListChats{Model: "other"}); got != "" {
		t.Errorf("another model: %s", got)
	}
	page, err := b.Chats(t.Context(), store.ListChats{Limit: 1, Before: day(2)})
	if err != nil || page.Next != nil || numbers(page.Chats) != "1" {
		t.Errorf("more than there is: %+v, %v", page, err)
	}
	if _, err := b.Chats(t.Context(), store.ListChats{AfterChat: 99}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("after one that never was: %v", err)
	}
	if between, err := b.NumberedChats(t.Context(), 2, 6); err != nil || numbers(between) != "2 3 4 5" {
		t.Errorf("between: %s, %v", numbers(between), err)
	}
}

func TestForkWithoutAQuestion(t *testing.T) {
	t.Parallel()
	b := newBench(t, yes)
	b.run(ask("one"))
	b.run(in(1, "two"))
	from := b.chat(1)
	whole, err := b.ForkChat(t.Context(), store.ChatRef{Number: 1}, 0)
	if err != nil || whole.Number != 2 || whole.ForkedFrom.Number != 1 || whole.Messages != 4 || whole.Title != "one" {
		t.Fatalf("%+v, %v", whole, err)
	}
	half, err := b.ForkChat(t.Context(), store.ChatRef{Number: 1, Parent: from.Messages[1].ID}, 0)
	if err != nil || half.Messages != 2 {
		t.Fatalf("%+v, %v", half, err)
	}
	if last, err := b.FindChat(t.Context(), store.ChatRef{Last: true}); err != nil || last.Number != 3 {
		t.Errorf("-c goes on with %+v, %v", last, err)
	}
	b.run(in(3, "three"))
	if got := b.chat(3); len(got.Messages) != 4 || got.Messages[1].ID != from.Messages[1].ID || got.Messages[3].ChatID != half.ID {
		t.Errorf("the fork went on as %+v", got.Messages)
	}
	if diff := cmp.Diff(from, b.chat(1)); diff != "" {
		t.Errorf("the first chat changed:\n%s", diff)
	}
	for what, err := range map[string]error{
		"a question": third(b.ForkChat(t.Context(), store.ChatRef{Number: 1}, 3)),
		"by its id":  third(b.ForkChat(t.Context(), store.ChatRef{Number: 1, Parent: from.Messages[2].ID}, 0)),
		"too far":    third(b.ForkChat(t.Context(), store.ChatRef{Number: 1}, 5)),
	} {
		if fault.CodeOf(err) != fault.Usage {
			t.Errorf("%s: %v", what, err)
		}
	}
	if got := b.listed(store.ListChats{}); got != "3 2 1" {
		t.Errorf("listed: %s", got)
	}
}

func third(_ chat.Chat, err error) error { return err }
