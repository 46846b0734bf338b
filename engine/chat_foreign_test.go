package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/store"
)

// The exports of other programs become chats: text, reasoning, attached texts
// and branches, with a remark on what is left out.
func TestExportsOfOtherPrograms(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"chatgpt", "claude", "llm"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(filepath.Join("testdata", "exports", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			got := drawExport(t, raw)
			if again := drawExport(t, append([]byte("\xef\xbb\xbf"), raw...)); again != got {
				t.Errorf("with a byte order mark it is\n%s", again)
			}
			golden(t, filepath.Join("testdata", "exports", name+".golden"), []byte(got))
		})
	}
}

func drawExport(t *testing.T, raw []byte) string {
	t.Helper()
	var b strings.Builder
	for r := chat.NewDocumentReader(bytes.NewReader(raw)); ; {
		doc, notes, err := r.Next()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "chat %s %q system %q, %s to %s\n", doc.Chat.ID, doc.Chat.Title, doc.Chat.System,
			doc.Chat.CreatedAt.Format("2006-01-02T15:04:05.000"), doc.Chat.UpdatedAt.Format("2006-01-02T15:04:05.000"))
		for _, m := range doc.Messages {
			mark := ""
			if m.ID == doc.Chat.ActiveLeaf {
				mark = " (active)"
			}
			fmt.Fprintf(&b, "  %s after %q: %s %q%s\n", m.ID, m.ParentID, m.Role, m.Model, mark)
			for _, p := range m.Parts {
				fmt.Fprintf(&b, "    %s %s %q\n", p.Kind, p.Name, p.Text)
			}
		}
		for _, n := range notes {
			fmt.Fprintf(&b, "  note: %s\n", n)
		}
	}
}

// What is imported is a chat like others: it is continued, and the same file is
// known again.
func TestAnImportedExportIsContinued(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"chatgpt", "claude", "llm"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(filepath.Join("testdata", "exports", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			b := newBench(t, "responses: [{text: it goes on}]")
			bring := func(there store.Existing) (n int, err error) {
				err = b.ImportChats(t.Context(), store.ImportRequest{There: there, Each: func(i store.Imported) error {
					if !i.Skipped {
						n++
					}
					return nil
				}, Documents: func(yield func(*chat.Document, error) bool) {
					for r := chat.NewDocumentReader(bytes.NewReader(raw)); ; {
						doc, _, err := r.Next()
						if errors.Is(err, io.EOF) || !yield(doc, err) || err != nil {
							return
						}
					}
				}})
				return n, err
			}
			if n, err := bring(store.RefuseExisting); err != nil || n == 0 {
				t.Fatalf("%d chats: %v", n, err)
			}
			if n, err := bring(store.SkipExisting); err != nil || n != 0 {
				t.Errorf("again %d chats: %v", n, err)
			}
			req := ask("go on")
			req.Chat = store.ChatRef{Number: 1}
			b.run(req)
		})
	}
}

func TestFilesThatAreNoExport(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[]`: "no chat that fettle exported", `[1]`: "no chat that fettle exported", `[{"a":1}]`: "no chat that fettle exported",
		`[{"mapping":{},"title":7}]`: "title can't be a number", `[{"mapping":{}}]`: "no chat with messages",
		`[{"chat_messages":[{"uuid":"x","sender":"human","created_at":"then"}]}]`: "entry 1",
	} {
		if _, _, err := chat.NewDocumentReader(strings.NewReader(text)).Next(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Values of an export without messages are passed over, however many follow each other.
func TestManyEmptyForeignChats(t *testing.T) {
	t.Parallel()
	file := `{"mapping":{"a":{"id":"a","message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["hi"]}},"children":[]}},"current_node":"a"}` +
		strings.Repeat(`{"mapping":{}}`, 200_000)
	r := chat.NewDocumentReader(strings.NewReader(file))
	if doc, _, err := r.Next(); err != nil || doc == nil {
		t.Fatalf("the first chat: %v, %v", doc, err)
	}
	if doc, _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after it: %v, %v", doc, err)
	}
}
