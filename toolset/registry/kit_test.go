package registry

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/internal/kv"
)

// world is a data directory with its registry.
type world struct {
	*Registry
	t   testing.TB
	dir string
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return openWorld(t, t.TempDir())
}

func openWorld(t testing.TB, dir string) *world {
	t.Helper()
	store := kv.Open(filepath.Join(dir, "store"), kv.Options{})
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return &world{t: t, dir: dir, Registry: New(Options{
		DataDir: dir, Store: store, Builtins: []string{"read_file", "write_file"}, Now: func() time.Time { return at },
	})}
}

// plan looks at a bundle that must be a good one.
func (w *world) plan(ref string) *Plan {
	w.t.Helper()
	p, err := w.Plan(w.t.Context(), ref, PlanOptions{})
	if err != nil {
		w.t.Fatalf("plan %s: %v", filepath.Base(ref), err)
	}
	w.t.Cleanup(func() { _ = p.Close() })
	return p
}

// install imports a bundle that must be a good one, approving all of it.
func (w *world) install(ref string) *Toolset {
	w.t.Helper()
	set, err := w.Apply(w.t.Context(), w.plan(ref), ApplyOptions{Approved: true})
	if err != nil {
		w.t.Fatalf("import %s: %v", filepath.Base(ref), err)
	}
	return set
}

func (w *world) get(id string) *Info {
	w.t.Helper()
	info, err := w.Get(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return info
}

// export gives the ZIP of a toolset.
func (w *world) export(id string) []byte {
	w.t.Helper()
	var buf bytes.Buffer
	if _, err := w.Export(w.t.Context(), id, &buf, ExportOptions{}); err != nil {
		w.t.Fatalf("export %s: %v", id, err)
	}
	return buf.Bytes()
}

// sound holds everything that is there against each other: the mirror against
// the records, each toolset's files against their hashes, and no folder that
// nobody needs.
func (w *world) sound() {
	w.t.Helper()
	ctx := context.Background()
	list, err := w.List(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	m, err := w.Mirror(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	var want, got []string
	for _, info := range list {
		want = append(want, info.Toolset.ID+" "+info.Toolset.Hash+" "+info.Problem)
		if damage, err := w.Verify(ctx, info.Toolset.ID); err != nil || len(damage) > 0 {
			w.t.Errorf("%s is damaged: %v %v", info.Toolset.ID, damage, err)
		}
		if len(info.Pending) > 0 && info.Toolset.Revoked == nil {
			w.t.Errorf("%s was imported, and of it wait for approval %v", info.Toolset.ID, info.Pending)
		}
	}
	for _, t := range m.Toolsets {
		got = append(got, t.ID+" "+t.Hash+" "+t.Problem)
	}
	if !slices.Equal(want, got) {
		w.t.Errorf("the mirror has\n%v\nand the records\n%v", got, want)
	}
	w.asRebuilt()
}

// asRebuilt checks that the mirror, which changes update piece by piece, is the one
// that is built from all records.
func (w *world) asRebuilt() {
	w.t.Helper()
	before, err := os.ReadFile(mirrorFile(w.dir))
	if err != nil {
		if _, err := ReadIndex(w.dir); err == nil {
			return // nothing was ever imported
		}
		w.t.Fatal(err)
	}
	parts := w.partNames()
	if _, err := w.Rebuild(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	after, err := os.ReadFile(mirrorFile(w.dir))
	if err != nil || !bytes.Equal(before, after) {
		w.t.Errorf("the mirror was\n%s\nand the records give\n%s (%v)", before, after, err)
	}
	if now := w.partNames(); !slices.Equal(parts, now) {
		w.t.Errorf("the parts were\n%v\nand the records give\n%v", parts, now)
	}
}

// partNames lists the parts of the mirror.
func (w *world) partNames() []string {
	w.t.Helper()
	entries, err := os.ReadDir(partsDir(w.dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// folders lists the folders of revisions, and anything else that lies there.
func (w *world) folderNames() []string {
	w.t.Helper()
	found, err := filepath.Glob(filepath.Join(w.dir, "toolsets", "*", "*"))
	if err != nil {
		w.t.Fatal(err)
	}
	hidden, err := filepath.Glob(filepath.Join(w.dir, "toolsets", "*", ".*"))
	if err != nil {
		w.t.Fatal(err)
	}
	all := append(found, hidden...)
	slices.Sort(all)
	return slices.Compact(all)
}

const example = `manifest_version: "1"
id: ID
name: Example
version: "VERSION"
description: Something to import
permissions:
  network: [api.example.com]
  env: [EXAMPLE_TOKEN]
  read: [~/data]
tools:
  - id: one
    description: DESCRIPTION
    entrypoint: tools.one:run
    input_schema:
      type: object
      properties:
        a: {type: string, description: "less < more & <b>"}
    renderer:
      type: html
      artifact: artifacts/view.html
      data: "$return"
  - id: two
    name: two
    description: Does the other thing
    entrypoint: one:other
    input_schema: {type: object}
    requires_confirmation: true
mcp_servers:
  - id: SERVER
    command: node
    args: [assets/server.js, --port, "80"]
    env:
      TOKEN: "${EXAMPLE_TOKEN}"
agents:
  - id: helper
    purpose: helps
    prompt: You help.
`

// make writes a bundle folder. edits are pairs of what stands in the example
// and what takes its place.
func makeBundle(t testing.TB, edits ...string) string {
	t.Helper()
	defaults := []string{"ID", "example", "VERSION", "1.0.0", "DESCRIPTION", "Does the one thing", "SERVER", "example-server"}
	text := strings.NewReplacer(append(edits, defaults...)...).Replace(example)
	return writeBundle(t, map[string]string{
		"toolset.yaml": text, "tools/one.py": "def run(workspace, a=''):\n    return {}\n", "artifacts/view.html": "<p>hello</p>",
		"assets/server.js": "// " + strings.Join(edits, " "), "README.md": "# Example\n",
	})
}

func writeBundle(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// zipOf writes files as a ZIP.
func zipOf(t testing.TB, name string, files map[string]string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for _, p := range slices.Sorted(maps.Keys(files)) {
		f, err := z.Create(p)
		if err == nil {
			_, err = fmt.Fprint(f, files[p])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, buf.Bytes())
	return path
}

func writeFile(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
