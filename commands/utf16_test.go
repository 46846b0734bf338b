package commands_test

import (
	"encoding/binary"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// inUTF16 returns a text as UTF-16.
func inUTF16(text string, order binary.AppendByteOrder) string {
	var out []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}

// A text in UTF-16 is read wherever texts are read, with a byte order mark and without one.
// Files that other programs edit are refused with the reason.
func TestTextsInUTF16(t *testing.T) {
	t.Parallel()
	const text = "das Käuzchen: 10 €\r\n"
	for name, encode := range map[string]func(string) string{
		"UTF-16LE":             func(s string) string { return inUTF16(s, binary.LittleEndian) },
		"UTF-16LE with a mark": func(s string) string { return inUTF16("\ufeff"+s, binary.LittleEndian) },
		"UTF-16BE":             func(s string) string { return inUTF16(s, binary.BigEndian) },
		"UTF-16BE with a mark": func(s string) string { return inUTF16("\ufeff"+s, binary.BigEndian) },
		"UTF-8 with a mark":    func(s string) string { return "\ufeff" + s },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var body string
			s := startStrict(t, func(r strictRequest) (int, string) { body = r.Body; return 0, "" },
				func(strictRequest) []string { return []string{`{"content":"{\"a\":1}"}`} })
			w := strictWorld(t, map[string]string{"s": s.URL})
			put := func(name, text string) { commandtest.Put(t, filepath.Join(w.Dir, name), encode(text)) }
			reached := func(how string) {
				t.Helper()
				s.mu.Lock()
				defer s.mu.Unlock()
				if !strings.Contains(body, "das Käuzchen: 10 €") || strings.Contains(body, `\u0000`) || strings.Contains(body, "\ufeff") {
					t.Errorf("%s: the request is %s", how, body)
				}
				body = ""
			}
			put("note.txt", text)
			w.Run(0, "ask", "--no-stdin", "-m", "s/m", "-f", "note.txt", "what is it?")
			reached("a file")
			cmd := w.Command("ask", "-m", "s/m", "what is it?")
			cmd.Stdin = strings.NewReader(encode(text))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("a pipe: %v, %s", err, out)
			}
			reached("a pipe")
			commandtest.Put(t, filepath.Join(w.Dir, "folder", "note.txt"), encode(text))
			w.Run(0, "ask", "--no-stdin", "-m", "s/m", "-f", "folder", "what is it?")
			reached("a folder")
			out, _ := w.Run(0, "docs", "add", "note.txt", "-o", "json")
			id := findDocument(t, out)
			w.Run(0, "ask", "--no-stdin", "-m", "s/m", "what is doc:"+id+"?")
			reached("a document")
			if out, _ := w.Run(0, "tool", "call", "-w", "folder", "read_file", `{"path":"note.txt"}`); !strings.Contains(out, "das Käuzchen: 10 €") {
				t.Errorf("read_file printed %q", out)
			}

			put("schema.json", `{"type": "object", "required": ["a"]}`)
			w.Run(0, "ask", "--no-stdin", "-m", "s/m", "--schema", "schema.json", "a")
			put("config/prompts/owl.md", "Say Käuzchen.\n")
			if out, _ := w.Run(0, "prompts", "show", "owl"); !strings.Contains(out, "Say Käuzchen.") {
				t.Errorf("a prompt: it printed %q", out)
			}
			doc, _ := w.Run(0, "chats", "export", "1", "-o", "json")
			put("chat.json", doc)
			w.Run(0, "chats", "import", "--copy", "chat.json")
			put("servers.json", `{"mcpServers": {"owl": {"command": "true"}}}`)
			if out, _ := w.Run(0, "mcp", "import", "servers.json", "--yes", "-o", "json"); !strings.Contains(out, "owl") {
				t.Errorf("a list of MCP servers: it printed %q", out)
			}
			if !strings.HasPrefix(name, "UTF-16") {
				return
			}
			put("m.yaml", `{responses: [{when: "", text: Käuzchen}]}`)
			put("owls/toolset.yaml", "manifest_version: \"1\"\n")
			_, script := w.Run(1, "ask", "--no-stdin", "-m", "script/m.yaml", "a")
			manifest, _ := w.Run(1, "toolset", "validate", "owls")
			put("config/config.yaml", "model: script/m.yaml\n")
			_, settings := w.Run(3, "config", "get", "model")
			for what, said := range map[string]string{"a script": script, "a manifest": manifest, "the configuration": settings} {
				if !strings.Contains(said, "is UTF-16; save it as UTF-8") {
					t.Errorf("%s: it printed %q", what, said)
				}
			}
		})
	}
}

// findDocument returns the id of the document that `docs add -o json` printed.
func findDocument(t *testing.T, out string) string {
	t.Helper()
	var found struct {
		Documents []struct{ ID string } `json:"documents"`
		ID        string                `json:"id"`
	}
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if len(found.Documents) > 0 {
		return found.Documents[0].ID
	}
	if found.ID == "" {
		t.Fatalf("docs add printed %s", out)
	}
	return found.ID
}
