package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
)

// A message may be larger than any value of the store: a question brings files.
// It comes back as it was.
func TestAMessageLargerThanAStoredValue(t *testing.T) {
	t.Parallel()
	b := newBench(t, yes)
	small := chat.Message{ChatID: "c", ID: "small", Role: provider.User, Parts: ask("small").Parts}
	big := chat.Message{ChatID: "c", ID: "big", ParentID: "small", Role: provider.User, Parts: ask("big").Parts}
	big.Parts = append(big.Parts, provider.Part{Kind: provider.FilePart, Name: "a.txt", Text: strings.Repeat("x", kv.MaxValue)})
	short := chat.Message{ChatID: "c", ID: "short", Role: provider.User, Parts: ask(strings.Repeat("x", store.InlineParts)).Parts}
	err := b.KV.Batch(t.Context(), func(batch *kv.Batch) error {
		return errors.Join(b.PutMessage(batch, small), b.PutMessage(batch, big), b.PutMessage(batch, short))
	})
	if err != nil {
		t.Fatal(err)
	}
	var path []chat.Message
	err = b.KV.View(t.Context(), func(tx *kv.Tx) (err error) {
		path, err = b.PathTo(tx, "c", "big")
		return err
	})
	if err != nil || len(path) != 2 {
		t.Fatalf("%d messages, %v", len(path), err)
	}
	if got := path[1]; len(got.Parts) != 2 || got.Parts[1].Text != big.Parts[1].Text || got.Pieces != 0 {
		t.Errorf("%d parts came back", len(got.Parts))
	}
	err = b.KV.Update(t.Context(), func(tx *kv.Tx) error { return b.Tables.Parts.Delete(tx, store.PieceKey(short, 0)) })
	if err != nil {
		t.Fatal(err)
	}
	err = b.View(t.Context(), func(tx *kv.Tx) error { _, err := b.Message(tx, "c", "short"); return err })
	if fault.CodeOf(err) != fault.Store || !strings.Contains(err.Error(), "piece 1 of 1") {
		t.Errorf("with a piece missing: %v", err)
	}
}

// A turn whose question and answer are stored in pieces, and its fork.
func TestATurnInPieces(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789abcdef", store.InlineParts/16+1)
	b, r := newRogue(t, func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
		yield([]provider.Delta{says(long), stops("stop")}, nil)
	})
	b.run(ask(long))
	req := ask("again")
	req.Chat = store.ChatRef{Number: 1, Fork: true}
	b.run(req)
	for number := range int64(2) {
		for i, m := range b.chat(number + 1).Messages[:2] {
			if m.Text() != long || m.Pieces != 0 {
				t.Errorf("message %d of chat %d has %d bytes", i, number+1, len(m.Text()))
			}
		}
	}
	if got := r.requests()[1].Messages; len(got) != 3 || got[0].Parts[0].Text != long || got[1].Parts[0].Text != long {
		t.Errorf("the model was sent %d messages", len(got))
	}
}

// An event longer than a value of the store is cut into pieces, and put
// together again when it is followed.
func TestALongEvent(t *testing.T) {
	t.Parallel()
	b := newBench(t, yes)
	f := &store.Folding{Accept: &chat.Acceptance{TurnID: "01LONG"}}
	texts := []string{"short", strings.Repeat("long ", chat.LargestPiece/5+1), "short again", ""}
	for i, text := range texts {
		raw, err := event.Event{TurnID: "01LONG", Seq: event.Seq(i + 1), Body: event.TextDelta{Text: text}}.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		f.Keep(raw)
	}
	for i, seg := range f.Segments {
		if len(seg) > chat.LargestPiece {
			t.Errorf("segment %d has %d bytes", i, len(seg))
		}
	}
	f.LastSeq = event.Seq(len(texts))
	err := b.KV.Batch(t.Context(), func(batch *kv.Batch) error { return b.PutParts(batch, f) })
	if err == nil {
		err = b.KV.Update(t.Context(), func(tx *kv.Tx) error {
			return b.Tables.Turns.Put(tx, &chat.Turn{ID: "01LONG", LastSeq: f.LastSeq, Segments: len(f.Segments)})
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for e, err := range b.Follow(t.Context(), "01LONG", 0) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Body.(event.TextDelta).Text)
	}
	if !slices.Equal(got, texts) {
		t.Errorf("%d events came back", len(got))
	}
}

// A fork brings along any number of messages.
func TestAForkOfALongChat(t *testing.T) {
	t.Parallel()
	const messages = 1500
	b := newBench(t, yes)
	b.run(ask("root"))
	conv := b.chat(1)
	c := conv.Chat
	err := b.KV.Batch(t.Context(), func(batch *kv.Batch) error {
		for i := range messages {
			m := chat.Message{
				ChatID: c.ID, ID: fmt.Sprintf("m%05d", i), ParentID: c.ActiveLeaf, TurnID: "t", Role: provider.User,
				Parts: ask(strings.Repeat("word ", 130)).Parts, Status: chat.UserMessage,
			}
			c.ActiveLeaf = m.ID
			if err := b.PutMessage(batch, m); err != nil {
				return err
			}
		}
		c.Messages += messages
		return b.Tables.Chats.Put(batch, &c)
	})
	if err != nil {
		t.Fatal(err)
	}
	req := ask("and on")
	req.Chat = store.ChatRef{Number: 1, Fork: true}
	b.run(req)
	if conv = b.chat(2); len(conv.Messages) != messages+4 || conv.Chat.Messages != messages+4 {
		t.Errorf("the fork has %d messages, says %d", len(conv.Messages), conv.Chat.Messages)
	}
}

func TestForksOfForks(t *testing.T) {
	t.Parallel()
	b := newBench(t, yes)
	b.run(ask("root"))
	for number := range int64(3) {
		req := ask("and on")
		req.Chat = store.ChatRef{Number: number + 1, Fork: true}
		b.run(req)
		conv := b.chat(number + 2)
		n := 2 + 2*(int(number)+1)
		if len(conv.Messages) != n || conv.Chat.Messages != n || conv.Chat.ForkedFrom.Number != number+1 {
			t.Errorf("fork %d has %d messages, says %d", number+1, len(conv.Messages), conv.Chat.Messages)
		}
		for _, m := range conv.Messages {
			if m.ChatID != conv.Chat.ID {
				t.Errorf("message %s is of chat %s", m.ID, m.ChatID)
			}
		}
	}
	if got := b.chat(1); len(got.Messages) != 2 {
		t.Errorf("the root has %d messages", len(got.Messages))
	}
}

// A fork whose chat is gone by the time it is folded begins anew, and works.
func TestAForkOfAChatThatIsGone(t *testing.T) {
	t.Parallel()
	b := newBench(t, yes)
	b.run(ask("one"))
	old := b.chat(1)
	req := ask("two")
	req.Chat = store.ChatRef{Number: 1, Fork: true}
	id := b.start(req)
	b.follow(id)
	err := b.KV.Update(t.Context(), func(tx *kv.Tx) error {
		for _, m := range old.Messages {
			if err := b.Tables.Messages.Delete(tx, b.Tables.Messages.KeyOf(&m)); err != nil {
				return err
			}
		}
		return b.Tables.Chats.Delete(tx, kv.Str(old.Chat.ID))
	})
	if err != nil {
		t.Fatal(err)
	}
	if conv := b.chat(2); len(conv.Messages) != 2 || conv.Messages[0].Text() != "two" {
		t.Errorf("the fork has %d messages", len(conv.Messages))
	}
	if told := b.notices(); !strings.Contains(told, "chat 2") {
		t.Errorf("said: %q", told)
	}
	req = ask("three")
	req.Chat.Number = 2
	want(t, b.run(req), `"Yes."`, "meta stop", "complete")
}

func TestAForkWorksInTheSameFolder(t *testing.T) {
	t.Parallel()
	b := newBench(t, yes)
	req := bound(t, b)
	b.run(req)
	fork := ask("go")
	fork.Chat = store.ChatRef{Number: 1, Fork: true}
	b.run(fork)
	if got := b.chat(2).Chat.Workspace; got != req.Workspace {
		t.Errorf("the fork works in %q", got)
	}
}

func TestRequestsThatCantBeKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, c := range map[string]struct {
		change func(*TurnRequest)
		says   string
	}{
		"a system prompt without end": {func(r *TurnRequest) { r.System = strings.Repeat("x", chat.MaxSystem+1) }, "1048577 bytes"},
		"two chats":                   {func(r *TurnRequest) { r.Chat = store.ChatRef{Last: true, Number: 1} }, "more than one chat"},
		"no number":                   {func(r *TurnRequest) { r.Chat.Number = -1 }, "none that can be"},
		"a fork of nothing":           {func(r *TurnRequest) { r.Chat.Fork = true }, "needs the chat"},
		"a branch of nothing":         {func(r *TurnRequest) { r.Chat.Parent = "x" }, "needs the chat"},
		"a relative workspace":        {func(r *TurnRequest) { r.Workspace = "here" }, "no absolute path"},
		"a workspace that is nowhere": {func(r *TurnRequest) { r.Workspace = filepath.Join(dir, "nowhere") }, "no such folder"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, r := newRogue(t, func(context.Context, int, func([]provider.Delta, error) bool) {
				// it is never asked
			})
			req := ask("go")
			c.change(&req)
			_, err := b.Start(t.Context(), req)
			if fault.CodeOf(err) != fault.Usage || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %.300v (%s)", err, fault.CodeOf(err))
			}
			if len(r.requests()) > 0 {
				t.Error("the model was asked")
			}
			for _, name := range files(t, b.o.DataDir) {
				if name != "counter.json" {
					t.Errorf("left behind: %s", name)
				}
			}
		})
	}
}

// A record keeps what fits; the message and the events have the whole.
func TestALongToolCallFitsItsRecord(t *testing.T) {
	t.Parallel()
	long := []byte(`{"html":"` + strings.Repeat("<", 3<<20) + `"}`) // six times as long in the store
	c := chat.ToolCall{ID: "1", Args: long, Result: long}
	for what, c := range map[string]*chat.ToolCall{"args": {Args: long}, "result": {Args: []byte(`{}`), Result: long}, "both": &c} {
		record, err := json.Marshal(c.Bounded())
		if err != nil || len(record) > kv.MaxValue {
			t.Errorf("%s: %d bytes, %v", what, len(record), err)
		}
	}
	if len(c.Args) != len(long) {
		t.Error("the call itself was cut")
	}
	short := chat.ToolCall{Args: []byte(`{"a":1}`), Result: []byte(`{"text":"b"}`)}
	if got := short.Bounded(); string(got.Args) != `{"a":1}` || string(got.Result) != `{"text":"b"}` {
		t.Errorf("a short call is kept as %s %s", got.Args, got.Result)
	}
}

// A live turn's window is bounded in events and in bytes.
func TestTheFeedsWindowIsBounded(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"small events": "x", "large ones": strings.Repeat("x", 1<<20)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFeed(feedWindow)
			const n = 3 * feedWindow
			for i := range n {
				f.show([]event.Event{{Seq: event.Seq(i + 1), Body: event.TextDelta{Text: text}}})
				if len(f.window) > 2*feedWindow || f.size > 2*feedBytes+len(text)+1000 {
					t.Fatalf("%d events, %d bytes", len(f.window), f.size)
				}
			}
			if f.window[len(f.window)-1].Seq != n || f.shown() != n {
				t.Errorf("the last event is %d", f.window[len(f.window)-1].Seq)
			}
			if _, behind, _, _ := f.after(n - 1); behind {
				t.Error("the last event is not there")
			}
			if _, behind, _, _ := f.after(0); !behind {
				t.Error("the first one is")
			}
		})
	}
	all := newFeed(feedAll)
	for i := range 3 * feedWindow {
		all.show([]event.Event{{Seq: event.Seq(i + 1), Body: event.TextDelta{Text: "x"}}})
	}
	if events, behind, _, _ := all.after(0); behind || len(events) != 3*feedWindow {
		t.Errorf("%d events of a turn without a journal", len(events))
	}
}

// An ended turn that is kept for late followers keeps nothing else.
func TestAnEndedTurnHoldsNoHistory(t *testing.T) {
	t.Parallel()
	b := newBench(t, yes)
	req := ask("go")
	req.Parts = append(req.Parts, provider.Part{Kind: provider.ImagePart, Name: "i.png", MIME: "image/png", Data: bytes.Repeat([]byte{1}, 1<<20)})
	req.Uploads = []Upload{{Name: "a.txt", Data: []byte("x")}}
	id := b.start(req)
	b.follow(id)
	held := b.turn(id)
	until(t, "the end of the turn", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return len(b.ended) == 1 })
	if held.path != nil || held.red != nil || held.accept.Parts != nil || held.req.Parts != nil || held.req.Uploads != nil || held.ws == nil {
		t.Errorf("it holds %d messages, %d parts", len(held.path), len(held.req.Parts))
	}
	if chat, ok := b.TurnChat(id); !ok || chat.Number != 1 {
		t.Errorf("its chat is %+v", chat)
	}
}
