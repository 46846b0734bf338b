package commands_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/internal/needtest"
)

// csvTools are the files of a small toolset with the id.
func csvTools(id string) map[string]string {
	return map[string]string{
		"toolset.yaml": strings.ReplaceAll(`manifest_version: "1"
id: csv-tools
name: CSV tools
version: "1.2.0"
description: Look into CSV files
permissions:
  network: [api.example.com]
tools:
  - id: columns
    description: Names the columns of a CSV file
    entrypoint: tools.columns:run
    input_schema:
      type: object
      properties:
        path: {type: string, description: The file}
      required: [path]
    renderer: {type: code, file: "$args.path"}
`, "csv-tools", id),
		"tools/columns.py": "def run(workspace, path):\n    return {'columns': (workspace / path).open().readline().strip().split(',')}\n",
	}
}

// bundles puts toolsets into a folder: csv-tools.zip, and the folders my-tools,
// off and gone.
func (w *world) bundles(dir string) {
	w.T.Helper()
	commandtest.Put(w.T, filepath.Join(dir, "csv-tools.zip"), zipped(w.T, csvTools("csv-tools")))
	for _, id := range []string{"my-tools", "off", "gone"} {
		if _, err := os.Stat(filepath.Join(dir, id)); err == nil {
			continue // one that an author has made
		}
		for name, text := range csvTools(id) {
			commandtest.Put(w.T, filepath.Join(dir, id, filepath.FromSlash(name)), text)
		}
	}
}

func zipped(t *testing.T, files map[string]string) string {
	t.Helper()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := z.Create(name)
		if err == nil {
			_, err = f.Write([]byte(files[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// Every kind of hostile bundle is refused by the command, with its reason, and
// leaves nothing behind; the good ones are read.
func TestHostileBundlesAreRefusedByName(t *testing.T) {
	t.Parallel()
	dir, cases := securityFixtures(t, "zip")
	w := newWorld(t, "{}")
	for _, tt := range cases {
		t.Run(filepath.Base(tt.File), func(t *testing.T) {
			t.Parallel()
			w := &world{w.Copy()}
			w.T = t
			file := filepath.Join(dir, filepath.Base(tt.File))
			if tt.Expect != "reject" {
				// what is wrong with these is their manifest, which is for an older form
				_, errs := w.Run(1, "toolset", "import", file, "--dry-run")
				if !strings.Contains(errs, " can't be imported: its toolset.yaml has ") {
					t.Errorf("a good ZIP: %s", errs)
				}
				return
			}
			_, errs := w.Run(1, "toolset", "import", file, "--yes")
			if !strings.Contains(errs, filepath.Base(file)+" is refused: ") || !strings.Contains(errs, "\n  reason: "+tt.Code+"\n") {
				t.Errorf("%s: want the reason %s, got\n%s", tt.Threat, tt.Code, errs)
			}
			harmlessText(t, errs)
			leavesNothing(t, w)
		})
	}
}

// So is every hostile manifest, by its place in the file.
func TestHostileManifestsAreRefusedByName(t *testing.T) {
	t.Parallel()
	dir, cases := securityFixtures(t, "yaml")
	w := newWorld(t, "{}")
	for _, tt := range cases {
		if tt.Expect != "reject" {
			continue
		}
		t.Run(filepath.Base(tt.File), func(t *testing.T) {
			t.Parallel()
			w := &world{w.Copy()}
			w.T = t
			raw, err := os.ReadFile(filepath.Join(dir, filepath.Base(tt.File)))
			if err != nil {
				t.Fatal(err)
			}
			folder := t.TempDir()
			commandtest.Put(t, filepath.Join(folder, "toolset.yaml"), string(raw))
			_, errs := w.Run(1, "toolset", "import", folder, "--yes")
			if !strings.Contains(errs, " can't be imported: its toolset.yaml has ") || !strings.Contains(errs, "\n  toolset.yaml:") {
				t.Errorf("%s: got\n%s", tt.Threat, errs)
			}
			harmlessText(t, errs)
			leavesNothing(t, w)
		})
	}
}

// harmlessText wants nothing in a message that acts on a terminal.
func harmlessText(t *testing.T, text string) {
	t.Helper()
	if strings.ContainsAny(text, "\x1b\u202e\x07\r") {
		t.Errorf("control characters: %q", text)
	}
}

func leavesNothing(t *testing.T, w *world) {
	t.Helper()
	if left, err := filepath.Glob(filepath.Join(w.Dir, "data", "toolset*")); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v %v", left, err)
	}
}

type fixture struct{ File, Threat, Expect, Code string }

// securityFixtures are the fixtures of a kind: all of them where everything is
// asked for, else each fourth, since each is a process here and the rooms of
// bundles and manifests test them all.
func securityFixtures(t *testing.T, kind string) (dir string, cases []fixture) {
	t.Helper()
	dir = needtest.Shared(t, "security", kind)
	raw, err := os.ReadFile(filepath.Join(dir, "MANIFEST.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	if needtest.All() {
		return dir, cases
	}
	var some []fixture
	for i := 0; i < len(cases); i += 4 {
		some = append(some, cases[i])
	}
	return dir, some
}
