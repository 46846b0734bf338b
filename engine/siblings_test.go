package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

const answersAll = `{responses: [{when: "", text: Done.}]}`

// Where messages stand is read without what they say: that may be large, and a page
// of a chat asks for it each time.
func TestSiblingsReadNoParts(t *testing.T) {
	t.Parallel()
	b := newBench(t, answersAll)
	b.run(ask(strings.Repeat("0123456789abcdef", store.InlineParts/16+1)))
	first := b.chat(1)
	b.askAt(1, 1)
	second := b.chat(1)
	question, answers := first.Messages[0], []string{first.Messages[1].ID, second.Messages[1].ID}
	err := b.KV.Update(t.Context(), func(tx *kv.Tx) error { return b.Tables.Parts.Delete(tx, store.PieceKey(question, 0)) })
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.Siblings(t.Context(), second.Chat)
	if err != nil || len(got) != 2 || !slices.Equal(got[answers[0]], answers) || !slices.Equal(got[answers[1]], answers) {
		t.Errorf("siblings %v, %v; want %v", got, err, answers)
	}
	// The second answer's turn asked nothing itself, so that needs no parts either.
	turn, err := b.AnsweredTurn(t.Context(), store.TurnID(second.Messages[1].TurnID))
	if err != nil || len(turn.Asked) != 0 || turn.Answer.ID != answers[1] || turn.Before != store.TurnID(question.TurnID) {
		t.Errorf("%+v, %v", turn, err)
	}
	if _, err := b.AnsweredTurn(t.Context(), store.TurnID(question.TurnID)); fault.CodeOf(err) != fault.Store {
		t.Errorf("a turn whose question has lost a piece: %v", err)
	}
}

// A turn's own messages are told without those of its chat.
func TestAnAnsweredTurn(t *testing.T) {
	t.Parallel()
	b := newBench(t, answersAll)
	var turns []store.TurnID
	for range 3 {
		req := ask("go on")
		req.Chat.Number = min(int64(len(turns)), 1)
		turns = append(turns, b.start(req))
		b.follow(turns[len(turns)-1])
	}
	conv := b.chat(1)
	before := store.TurnID("")
	for i, id := range turns {
		got, err := b.AnsweredTurn(t.Context(), id)
		if err != nil || got.Chat.ID != conv.Chat.ID || got.Before != before || len(got.Asked) != 1 ||
			got.Asked[0].ID != conv.Messages[2*i].ID || got.Answer.ID != conv.Messages[2*i+1].ID || got.Answer.Text() != "Done." {
			t.Errorf("turn %d: %+v, %v", i, got, err)
		}
		before = id
	}
	b.del(1)
	for _, id := range []store.TurnID{turns[0], "01ARZ3NDEKTSV4RRFFQ69G5FAV"} {
		if _, err := b.AnsweredTurn(t.Context(), id); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%s, deleted or none: %v", id, err)
		}
	}
}

// A chat's preview is its first question, however large its answers are.
func TestPreviews(t *testing.T) {
	t.Parallel()
	b := newBench(t, answersAll)
	b.run(ask("  what is\n the time in Paris, now that the clocks have changed?"))
	b.run(TurnRequest{Chat: store.ChatRef{Number: 1, At: 1}})
	c := b.chat(1).Chat
	got, err := b.Previews(t.Context(), []chat.Chat{c, {ID: "none"}, {ID: "lost", Messages: 2}})
	if want := sanitize.Shorten("what is the time in Paris, now that the clocks have changed?", chat.PreviewLength); err != nil || len(got) != 1 || got[c.ID] != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}
