package engine

import (
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

// lastRequest returns the texts of the user's messages in the last request to the model.
func (r *rogue) lastRequest() (texts []string) {
	all := r.requests()
	for _, m := range all[len(all)-1].Messages {
		if text := partsText(m); m.Role == provider.User && text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// The text that the user makes of a draft is stored with the payload, is told to the model
// with the next question, and what was sent with that question stays as it was.
func TestAnEditedDraftIsKeptAndTold(t *testing.T) {
	t.Parallel()
	b, r := charted(t, `{"type":"draft","title":"Letter","content":"Dear all"}`)
	_, all, err := b.Payloads(t.Context(), store.ChatRef{Number: 1})
	if err != nil || len(all) != 1 || all[0].Edit != nil {
		t.Fatalf("%+v, %v", all, err)
	}
	edit := func(text string) {
		t.Helper()
		p, err := b.EditPayload(t.Context(), store.Deciding{Chat: store.ChatRef{Number: 1}, Payload: all[0].ID}, text)
		if err != nil || p.Edit == nil || p.Edit.Text != text {
			t.Fatalf("edit: %+v, %v", p, err)
		}
	}
	edit("Dear A")
	edit("Dear Ada") // nobody was told of the one before
	question := func(text string) []string {
		t.Helper()
		req := ask(text)
		req.Chat.Number, req.Policy.AllowAll = 1, true
		b.run(req)
		return r.lastRequest()
	}
	told := func(texts []string, place int, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(texts[place], w) {
				t.Errorf("message %d is %q, without %q", place, texts[place], w)
			}
		}
	}
	first := question("better?")
	told(first, 1, `the user edited the draft "Letter"`, "Dear Ada")
	if strings.Contains(first[1], "Dear A\n") {
		t.Errorf("the replaced text was told: %q", first[1])
	}
	edit("Dear Grace")
	second := question("and now?")
	told(second, 2, "Dear Grace")
	if second[1] != first[1] {
		t.Errorf("what was sent before is now %q, was %q", second[1], first[1])
	}
	// The decision is another thing, and both are kept by a fork.
	if _, err := b.Decide(t.Context(), store.Deciding{Chat: store.ChatRef{Number: 1}, Payload: all[0].ID, Accept: true}); err != nil {
		t.Fatal(err)
	}
	fork, err := b.ForkChat(t.Context(), store.ChatRef{Number: 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, kept, err := b.Payloads(t.Context(), store.ChatRef{ID: fork.ID})
	if err != nil || len(kept) == 0 || kept[0].Edit == nil || kept[0].Edit.Text != "Dear Grace" || kept[0].Decision == nil || kept[0].Decision.Decision != chat.Accepted {
		t.Errorf("the fork has %+v, %v", kept, err)
	}
	_, err = b.EditPayload(t.Context(), store.Deciding{Chat: store.ChatRef{Number: 1}, Payload: all[0].ID}, strings.Repeat("x", chat.MaxEdit+1))
	if fault.CodeOf(err) != fault.Usage {
		t.Errorf("a text that is too long: %v", err)
	}
}
