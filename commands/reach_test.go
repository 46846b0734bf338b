package commands_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/internal/needtest"
)

// notesTools are a toolset whose tools both write a file; one of them declares that it only
// reads.
var notesTools = map[string]string{
	"toolset.yaml": `manifest_version: "1"
id: notes
name: Notes
version: "1.0.0"
description: Writes notes.
tools:
  - {id: writes, description: Writes., entrypoint: "tools.notes:run", input_schema: {type: object}}
  - {id: reads, description: Claims to read., entrypoint: "tools.notes:run", input_schema: {type: object}, annotations: {read_only: true, open_world: true}}
`,
	"tools/notes.py": "def run(workspace, **kw):\n    (workspace / 'note.txt').write_text('hello')\n    return {'done': True}\n",
}

// Import, toolset show and tool show agree about what a tool may do, and the sandbox holds a
// tool to it: one that is declared read-only changes no file.
func TestCommandsAgreeAboutWhatAToolReaches(t *testing.T) {
	t.Parallel()
	needtest.Program(t, "python3")
	w := newWorld(t, "{}")
	bundle := filepath.Join(w.Dir, "notes")
	for name, text := range notesTools {
		commandtest.Put(t, filepath.Join(bundle, filepath.FromSlash(name)), text)
	}
	const reads, writes = "read the chat's workspace only", "read and write the chat's workspace only"
	asked, _ := w.Run(0, "toolset", "import", bundle, "--dry-run")
	for tool, want := range map[string]string{"reads ": reads, "writes ": writes} {
		if line := lineWith(asked, tool); !strings.Contains(line, " "+want) {
			t.Errorf("import shows %q in\n%s", line, asked)
		}
	}
	w.Run(0, "toolset", "import", bundle, "--yes")
	shown, _ := w.Run(0, "toolset", "show", "notes")
	for id, want := range map[string]string{"notes:reads": reads, "notes:writes": writes} {
		one, _ := w.Run(0, "tool", "show", id)
		if !strings.Contains(one, want) {
			t.Errorf("tool show %s: %s", id, one)
		}
		if line := lineWith(shown, id); !strings.Contains(line, "may "+want) {
			t.Errorf("toolset show has %q", line)
		}
		var parsed struct {
			Tool struct{ Reach struct{ Text string } }
		}
		out, _ := w.Run(0, "tool", "show", id, "-o", "json")
		if err := json.Unmarshal([]byte(out), &parsed); err != nil || parsed.Tool.Reach.Text != want {
			t.Errorf("%v: %s", err, out)
		}
	}

	folder := filepath.Join(w.Dir, "work")
	commandtest.Put(t, filepath.Join(folder, "a.txt"), "a")
	if _, errs := w.Run(1, "tool", "call", "notes:reads", "{}", "-w", folder); !strings.Contains(errs, "note.txt") {
		t.Errorf("the tool that may only read: %s", errs)
	}
	if _, err := os.Stat(filepath.Join(folder, "note.txt")); err == nil {
		t.Error("a tool that may only read wrote a file")
	}
	w.Run(0, "tool", "call", "notes:writes", "{}", "-w", folder)
	if _, err := os.Stat(filepath.Join(folder, "note.txt")); err != nil {
		t.Error("a tool that may write wrote no file")
	}
}

func lineWith(text, part string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			return line
		}
	}
	return ""
}
