package engine

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// exportedHistory is a chat of two steps as a file.
func exportedHistory(t *testing.T) []byte {
	t.Helper()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a":"1"}}`)
	b.did(lastChat, `{"put":{"a":"2"}}`)
	var out bytes.Buffer
	if err := b.ExportStates(t.Context(), &out, b.chat(1).Chat); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// all are the ids of all states of a chat, beside the way included.
func (b *bench) all(chat int64) string {
	b.t.Helper()
	_, states, _, err := b.StateTree(b.t.Context(), store.ChatRef{Number: chat}, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	var ids []string
	for _, s := range states {
		ids = append(ids, s.ID)
	}
	return strings.Join(ids, " ")
}

// manifestCount is how many states the store has, whosever they are.
func (b *bench) manifestCount() int {
	b.t.Helper()
	report, err := b.VerifyStates(b.t.Context(), nil)
	if err != nil {
		b.t.Fatal(err)
	}
	if len(report.Problems) > 0 {
		b.t.Errorf("the store is damaged: %+v", report.Problems)
	}
	return report.Manifests
}

// A file that isn't whole changes nothing, wherever it was to go.
func TestATornHistoryLeavesNothing(t *testing.T) {
	t.Parallel()
	file := exportedHistory(t)
	flipped := bytes.Clone(file)
	flipped[len(flipped)/2] ^= 0x40
	for name, bad := range map[string][]byte{
		"empty": nil, "begun": file[:40], "half": file[:len(file)/2], "without its end": file[:len(file)-20],
		"without its sum": file[:len(file)-4], "flipped": flipped, "more": append(bytes.Clone(file), "more"...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := changer(t, t.TempDir())
			b.did(store.ChatRef{}, `{"put":{"own":"1"}}`)
			if _, err := b.NewChat(t.Context(), ""); err != nil { // it has no states
				t.Fatal(err)
			}
			before, states := b.all(1), b.manifestCount()
			for _, how := range []struct {
				ref   store.ChatRef
				fresh bool
			}{{store.ChatRef{Number: 1}, false}, {store.ChatRef{Number: 2}, false}, {store.ChatRef{}, true}} {
				_, err := b.ImportStates(t.Context(), workspace.RestoreRequest{Chat: how.ref}, workspace.History{Name: "f", Content: bytes.NewReader(bad), New: how.fresh})
				if fault.CodeOf(err) != fault.Usage || !strings.HasPrefix(err.Error(), "import f: ") || !strings.HasSuffix(err.Error(), "; nothing was imported") {
					t.Errorf("into %+v: %v", how.ref, err)
				}
			}
			if got := b.all(1); got != before {
				t.Errorf("chat 1 had the states %s and has %s", before, got)
			}
			if got := b.chat(2).Chat.ActiveManifest; got != "" {
				t.Errorf("chat 2 is at %s", got)
			}
			if got := b.manifestCount(); got != states {
				t.Errorf("the store had %d states and has %d", states, got)
			}
			if page, err := b.Chats(t.Context(), store.ListChats{}); err != nil || len(page.Chats) != 2 {
				t.Errorf("there are %d chats, %v", len(page.Chats), err)
			}
		})
	}
}

// An import that is stopped where its chat was to appear is taken back.
func TestAnImportThatCannotMakeItsChatIsTakenBack(t *testing.T) {
	t.Parallel()
	file := exportedHistory(t)
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"own":"1"}}`)
	states := b.manifestCount()
	ctx, cancel := context.WithCancel(t.Context())
	b.Pause = func(step string) {
		if step == "import:states" {
			cancel()
		}
	}
	_, err := b.ImportStates(ctx, workspace.RestoreRequest{}, workspace.History{Name: "f", Content: bytes.NewReader(file), New: true})
	b.Pause = func(string) {}
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("it was stopped with %v", err)
	}
	if got := b.manifestCount(); got != states {
		t.Errorf("the store had %d states and has %d", states, got)
	}
	sum, err := b.StateSummary(t.Context())
	if err != nil || sum.States != states {
		t.Errorf("the account has %d states, %v", sum.States, err)
	}
}

// What was imported is its chat's: the collector leaves it, and each state comes
// back as it was, with the title that the chat had.
func TestImportedStatesStayAndComeBack(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	in, err := b.ImportStates(t.Context(), workspace.RestoreRequest{}, workspace.History{Name: "f", Content: bytes.NewReader(exportedHistory(t)), New: true})
	if err != nil {
		t.Fatal(err)
	}
	if !in.Follows || len(in.States) != 3 || in.Chat.Title != `{"put":{"a":"1"}}` {
		t.Errorf("imported %d states, follows is %t, into %q", len(in.States), in.Follows, in.Chat.Title)
	}
	if _, err := b.CollectStates(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"@-1": "2", "@-2": "1"} {
		m, err := b.State(t.Context(), in.Chat, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.RestoreState(t.Context(), m.ID, workspace.RestoreRequest{Chat: lastChat}); err != nil {
			t.Fatal(err)
		}
		b.sees(1, map[string]string{"a": want})
		b.undo(1)
		b.sees(1, map[string]string{})
	}
	if _, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: lastChat}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("there was something to undo: %v", err)
	}
}

// A folder that is already as the last of the states has it is at that state, so
// that what led there can be undone.
func TestAHistoryMeetsTheFolderThatItWasOf(t *testing.T) {
	t.Parallel()
	file := exportedHistory(t)
	dir := realPath(t, t.TempDir())
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("2"), 0o644); err != nil {
		t.Fatal(err)
	}
	b := changer(t, t.TempDir())
	req := ask(`{}`)
	req.Workspace = dir
	b.run(req)
	in, err := b.ImportStates(t.Context(), workspace.RestoreRequest{Chat: lastChat}, workspace.History{Name: "f", Content: bytes.NewReader(file)})
	if err != nil {
		t.Fatal(err)
	}
	if last := in.States[len(in.States)-1]; in.Chat.ActiveManifest != last.ID {
		t.Errorf("the chat is at %s, not at %s", in.Chat.ActiveManifest, last.ID)
	}
	b.undo(1)
	b.sees(1, map[string]string{"a": "1"})
	b.redo(1)
	b.sees(1, map[string]string{"a": "2"})
}
