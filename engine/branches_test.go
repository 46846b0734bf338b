package engine

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// again asks the question that a message is, or answers, once more.
func (b *bench) again(chat int64, message string) event.ToolComplete {
	b.t.Helper()
	return find[event.ToolComplete](b.run(TurnRequest{
		Chat: store.ChatRef{Number: chat, Instead: message}, Policy: permission.Policy{AllowAll: true},
	}))
}

// askAt asks the question at a place once more.
func (b *bench) askAt(chat int64, place int) {
	b.t.Helper()
	b.run(TurnRequest{Chat: store.ChatRef{Number: chat, At: place}, Policy: permission.Policy{AllowAll: true}})
}

func TestAQuestionIsNamedByItsPlace(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a.txt":"1"}}`)
	b.did(store.ChatRef{Number: 1}, `{"put":{"b.txt":"b"}}`)
	old := b.chat(1).Messages
	for place, kept := range map[int]int{-1: 3, 4: 3, 3: 3, 2: 1, 1: 1} {
		b.switchTo(1, old[3].ID)
		b.askAt(1, place)
		if got := b.chat(1).Messages; len(got) != kept+1 || got[kept-1].ID != old[kept-1].ID || got[kept].ID == old[kept].ID {
			t.Errorf("at %d: the chat has %d messages", place, len(got))
		}
	}
	if _, err := b.Start(t.Context(), TurnRequest{Chat: store.ChatRef{Number: 1, At: 9}}); fault.CodeOf(err) != fault.Usage {
		t.Errorf("at a place that isn't there: %v", err)
	}
}

func (b *bench) switchTo(chat int64, message string) *workspace.Restored {
	b.t.Helper()
	out, err := b.Switch(b.t.Context(), workspace.SwitchRequest{Chat: store.ChatRef{Number: chat}, Message: message})
	if err != nil {
		b.t.Fatalf("switch to %s: %v", message, err)
	}
	return out
}

func (b *bench) branches(chat int64) []store.Branch {
	b.t.Helper()
	_, out, err := b.Branches(b.t.Context(), store.ChatRef{Number: chat})
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

func TestAQuestionIsAskedAgain(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a.txt":"1"}}`)
	b.did(store.ChatRef{Number: 1}, `{"put":{"b.txt":"b"}}`)
	old := b.chat(1).Messages
	b.put(1, "mine.txt", "mine")

	end := b.again(1, old[3].ID)
	if end.Status != event.CallSuccess || len(end.Changes) != 1 {
		t.Errorf("the call of the new answer: %+v", end)
	}
	b.sees(1, map[string]string{"a.txt": "1", "b.txt": "b"})
	conv := b.chat(1)
	if len(conv.Messages) != 4 || conv.Messages[2].ID != old[2].ID || conv.Messages[3].ID == old[3].ID {
		t.Fatalf("the way has %d messages, question %s, answer %s", len(conv.Messages), conv.Messages[2].ID, conv.Messages[3].ID)
	}
	if conv.Chat.Messages != 5 || conv.Messages[2].TurnID != old[2].TurnID {
		t.Errorf("the chat counts %d messages; the question belongs to turn %s", conv.Chat.Messages, conv.Messages[2].TurnID)
	}
	// What was there when the first answer was left comes back with it.
	b.switchTo(1, old[3].ID)
	b.sees(1, map[string]string{"a.txt": "1", "b.txt": "b", "mine.txt": "mine"})
	b.switchTo(1, conv.Messages[3].ID)
	b.sees(1, map[string]string{"a.txt": "1", "b.txt": "b"})
	b.did(store.ChatRef{Number: 1}, `{"put":{"c.txt":"c"}}`)
	if got := b.chat(1).Messages; len(got) != 6 || got[3].ID != conv.Messages[3].ID {
		t.Errorf("the chat goes on from another answer than the one switched to")
	}
}

func TestAQuestionIsChanged(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a.txt":"1"}}`)
	b.did(store.ChatRef{Number: 1}, `{"put":{"b.txt":"b"}}`)
	old := b.chat(1).Messages
	b.undo(1)

	b.did(store.ChatRef{Number: 1, Instead: old[0].ID}, `{"put":{"c.txt":"c"}}`)
	b.sees(1, map[string]string{"c.txt": "c"})
	conv := b.chat(1)
	if len(conv.Messages) != 2 || conv.Messages[0].ParentID != "" || conv.Messages[0].ID == old[0].ID {
		t.Errorf("the way has %d messages and begins with %+v", len(conv.Messages), conv.Messages[0])
	}
	list := b.branches(1)
	if len(list) != 2 || list[0].Active || !list[1].Active || list[0].Leaf != old[3].ID || list[0].Place != 1 || list[1].Place != 1 ||
		list[0].Title != `{"put":{"a.txt":"1"}}` || list[0].Added != 1 || list[0].Removed != 1 {
		t.Errorf("branches: %+v", list)
	}
	// The undo holds in the branch that it was done in, and can be taken back.
	b.switchTo(1, old[0].ID)
	b.sees(1, map[string]string{"a.txt": "1"})
}

func TestABranchBeginsWhereItWasAsked(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a.txt":"1"}}`)
	b.did(store.ChatRef{Number: 1}, `{"put":{"a.txt":"2"}}`)
	b.did(store.ChatRef{Number: 1}, `{"put":{"a.txt":"3"}}`)
	old := b.chat(1).Messages
	b.did(store.ChatRef{Number: 1, Instead: old[2].ID}, `{"put":{"b.txt":"b"}}`)
	b.sees(1, map[string]string{"a.txt": "1", "b.txt": "b"})
	if list := b.branches(1); len(list) != 2 || list[0].Place != 3 || list[1].Place != 3 || list[0].Messages != 6 || list[1].Messages != 4 {
		t.Errorf("branches: %+v", list)
	}
	b.switchTo(1, old[2].ID)
	b.sees(1, map[string]string{"a.txt": "3"})
	if leaf := b.chat(1).Chat.ActiveLeaf; leaf != old[5].ID {
		t.Errorf("the leaf is %s, not the end of the way that the message is on", leaf)
	}
	if out := b.switchTo(1, old[5].ID); out.After != nil {
		t.Errorf("switching to where the chat is did something: %+v", out)
	}
}

// The states of all branches are one tree: each is told after what came out of it.
func TestTheStatesOfAllBranches(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a.txt":"1"}}`)
	left := b.did(store.ChatRef{Number: 1}, `{"put":{"a.txt":"2"}}`).PostManifestID
	b.did(store.ChatRef{Number: 1, Instead: b.chat(1).Messages[2].ID}, `{"put":{"b.txt":"b"}}`)
	b.undo(1)
	chat, all, more, err := b.StateTree(t.Context(), lastChat, 0)
	if err != nil || more {
		t.Fatalf("more is %t, %v", more, err)
	}
	_, way, _, err := b.States(t.Context(), lastChat, 0)
	if err != nil {
		t.Fatal(err)
	}
	place, active, undone := map[string]int{}, 0, 0
	for i, s := range all {
		place[s.ID] = i
		if s.Active {
			active++
		}
		if s.Undone {
			undone++
		}
		if s.Active != (s.ID == chat.ActiveManifest) {
			t.Errorf("state %d is active: %t", i, s.Active)
		}
	}
	for i, s := range all {
		if at, ok := place[s.ParentID]; s.ParentID != "" && (!ok || at <= i) {
			t.Errorf("state %d comes out of %q, which is listed at %d", i, s.ParentID, at)
		}
	}
	for _, s := range way {
		if _, ok := place[s.ID]; !ok {
			t.Errorf("%s is on the way to the active state, and not among all", s.ID)
		}
	}
	if _, ok := place[left]; !ok || len(all) <= len(way) || active != 1 || undone != 1 {
		t.Errorf("%d states, %d on the way, the other branch among them: %t, %d active, %d undone", len(all), len(way), ok, active, undone)
	}
	if all[place[left]].Tool == "" {
		t.Error("the tool of a state on another branch isn't told")
	}
	if _, few, more, err := b.StateTree(t.Context(), lastChat, 2); err != nil || len(few) != 2 || !more || few[0].ID != all[0].ID {
		t.Errorf("the latest 2 are %d, more is %t, %v", len(few), more, err)
	}
}

func TestASwitchSparesOthersWork(t *testing.T) {
	t.Parallel()
	dir := realPath(t, t.TempDir())
	b := changer(t, t.TempDir())
	req := ask(`{"put":{"a.txt":"1"}}`)
	req.Workspace, req.Policy.AllowAll = dir, true
	b.run(req)
	first := b.chat(1).Messages
	b.did(store.ChatRef{Number: 1, Instead: first[0].ID}, `{"put":{"a.txt":"2"}}`)
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	before := b.chat(1).Chat
	_, err := b.Switch(t.Context(), workspace.SwitchRequest{Chat: store.ChatRef{Number: 1}, Message: first[1].ID})
	if err == nil || !strings.Contains(err.Error(), "nothing was changed") {
		t.Fatalf("switch over a changed file: %v", err)
	}
	if got := b.chat(1).Chat; got.ActiveLeaf != before.ActiveLeaf {
		t.Error("a switch that was refused has moved the chat")
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(got) != "mine" {
		t.Errorf("a.txt is %q", got)
	}
	if _, err := b.Switch(t.Context(), workspace.SwitchRequest{Chat: store.ChatRef{Number: 1}, Message: first[1].ID, Overwrite: true}); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(got) != "1" {
		t.Errorf("a.txt is %q", got)
	}
}

// A branch whose question no model took leaves chat and folder as they were.
func TestABranchThatNobodyAnswers(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a.txt":"1"}}`)
	b.did(store.ChatRef{Number: 1}, `{"put":{"b.txt":"b"}}`)
	conv := b.chat(1)
	req := ask("refuse")
	req.Chat, req.DiscardUnanswered = store.ChatRef{Number: 1, Instead: conv.Messages[0].ID}, true
	if got := b.run(req); find[event.Error](got).Code == "" {
		t.Fatalf("the model took it:\n%s", outline(got))
	}
	b.sees(1, map[string]string{"a.txt": "1", "b.txt": "b"})
	if got := b.chat(1).Chat; got.ActiveLeaf != conv.Chat.ActiveLeaf || got.Messages != 4 {
		t.Errorf("the chat is now %+v", got)
	}
}

func TestWhatCantBeAskedInstead(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a.txt":"1"}}`)
	question := b.chat(1).Messages[0].ID
	parts := []provider.Part{{Kind: provider.TextPart, Text: "x"}}
	for what, c := range map[string]struct {
		req  TurnRequest
		code fault.Code
	}{
		"a message that isn't there": {TurnRequest{Chat: store.ChatRef{Number: 1, Instead: "nope"}, Parts: parts}, fault.NotFound},
		"a fork":                     {TurnRequest{Chat: store.ChatRef{Number: 1, Instead: question, Fork: true}, Parts: parts}, fault.Usage},
		"another parent":             {TurnRequest{Chat: store.ChatRef{Number: 1, Instead: question, Parent: question}, Parts: parts}, fault.Usage},
		"no chat":                    {TurnRequest{Chat: store.ChatRef{Instead: question}, Parts: parts}, fault.Usage},
	} {
		if _, err := b.Start(t.Context(), c.req); fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// The first state is found at once, however long the way back is.
func TestTheFirstStateIsFoundAtOnce(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a.txt":"0"}}`)
	for i := range 4 {
		b.did(store.ChatRef{Number: 1}, `{"put":{"a.txt":"`+strconv.Itoa(i+1)+`"}}`)
	}
	b.undo(2)
	b.did(store.ChatRef{Number: 1}, `{"put":{"b.txt":"b"}}`)
	chat := b.chat(1).Chat
	walked := ""
	for id := chat.ActiveManifest; id != ""; {
		m, err := b.Manifest(t.Context(), id)
		if err != nil || m == nil {
			t.Fatal(m, err)
		}
		if m.ParentID != "" && m.GroundID == "" {
			t.Errorf("state %s (%s) doesn't know its ground", m.ID, m.Source)
		}
		walked, id = m.ID, m.ParentID
	}
	if first, err := b.FirstState(t.Context(), chat); err != nil || first != walked {
		t.Errorf("the first state is %s, %v, not %s", first, err, walked)
	}
}
