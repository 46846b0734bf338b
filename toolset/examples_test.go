package toolset_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/toolset/bundle"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/render"
)

// examples returns the folders of the toolsets of testdata and of the gallery.
func examples() []string { return []string{"../testdata/toolsets", "gallery"} }

// warned returns what a reading may warn of, by folder: document 004's own example
// names a server without a version.
func warned(dir string) []string {
	if filepath.ToSlash(dir) == "../testdata/toolsets/my-toolset" {
		return []string{manifest.CodeUnpinned}
	}
	return nil
}

// example is one toolset as it lies in its folder.
type example struct {
	bundle   *bundle.Bundle
	manifest *manifest.Manifest
	dir      string
}

func eachExample(t *testing.T, do func(*testing.T, *example)) {
	t.Helper()
	var found []string
	for _, dir := range examples() {
		some, err := filepath.Glob(filepath.Join(dir, "*", manifest.FileName))
		if err != nil || len(some) < 4 {
			t.Fatalf("found %d examples in %s, %v", len(some), dir, err)
		}
		found = append(found, some...)
	}
	for _, file := range found {
		dir := filepath.Dir(file)
		t.Run(filepath.ToSlash(dir), func(t *testing.T) {
			t.Parallel()
			do(t, openExample(t, dir))
		})
	}
}

// openExample reads a folder, and fails on everything that a stranger would
// be warned of.
func openExample(t *testing.T, dir string) *example {
	t.Helper()
	b, err := bundle.OpenFolder(t.Context(), dir, bundle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, n := range b.Notes {
		if !strings.Contains(n.Path, "__pycache__") {
			t.Errorf("note: %s: %s", n.Path, n.Msg)
		}
	}
	raw, err := b.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	d := manifest.Parse(manifest.FileName, raw, manifest.Options{})
	if d.Err() != nil {
		t.Fatal(d.Err())
	}
	for _, p := range d.Problems {
		if !slices.Contains(warned(dir), p.Code) {
			t.Errorf("%s", p)
		}
	}
	return &example{bundle: b, manifest: d.Manifest, dir: dir}
}

func TestExamplesAreWhole(t *testing.T) {
	t.Parallel()
	eachExample(t, func(t *testing.T, e *example) {
		if e.manifest.ID != filepath.Base(e.dir) {
			t.Errorf("the folder %s holds the toolset %s", e.dir, e.manifest.ID)
		}
		if _, ok := e.bundle.Find("README.md"); !ok {
			t.Error("there is no README.md")
		}
		for _, ref := range e.manifest.Files() {
			i := slices.IndexFunc(ref.Paths, func(p string) bool { _, ok := e.bundle.Find(p); return ok })
			if i < 0 {
				t.Errorf("%s: none of %v is there", ref.Pointer, ref.Paths)
				continue
			}
			if ref.Function == "" {
				continue
			}
			source, err := e.bundle.ReadFile(ref.Paths[i])
			if err != nil {
				t.Fatal(err)
			}
			if !regexp.MustCompile(`(?m)^(async )?def ` + ref.Function + `\(`).Match(source) {
				t.Errorf("%s: %s has no function %s", ref.Pointer, ref.Paths[i], ref.Function)
			}
		}
		for _, tool := range e.manifest.Tools {
			tested := slices.ContainsFunc(e.manifest.Tests, func(c manifest.Test) bool { return c.Tool == tool.ID })
			if !tested {
				t.Errorf("no test calls %s", tool.ID)
			}
		}
	})
}

func TestExamplesPackTheSame(t *testing.T) {
	t.Parallel()
	eachExample(t, func(t *testing.T, e *example) {
		var first, second bytes.Buffer
		for _, w := range []*bytes.Buffer{&first, &second} {
			if err := e.bundle.WriteZIP(t.Context(), w, nil); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Error("the same folder makes two different ZIPs")
		}
		again, err := bundle.OpenZIP(t.Context(), bytes.NewReader(first.Bytes()), int64(first.Len()), bundle.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		if again.Hash != e.bundle.Hash {
			t.Error("the ZIP holds something else than the folder")
		}
	})
}

// TestExamplesExport holds that a manifest which is written anew means the
// same.
func TestExamplesExport(t *testing.T) {
	t.Parallel()
	eachExample(t, func(t *testing.T, e *example) {
		text, err := manifest.Marshal(e.manifest)
		if err != nil {
			t.Fatal(err)
		}
		d := manifest.Parse(manifest.FileName, text, manifest.Options{})
		if d.Err() != nil {
			t.Fatal(d.Err())
		}
		if !reflect.DeepEqual(d.Manifest, e.manifest) {
			t.Error("it reads as another manifest")
		}
	})
}

// TestExamplesStandAlone holds the pages that toolsets show to what a browser
// would load for them: nothing.
func TestExamplesStandAlone(t *testing.T) {
	t.Parallel()
	outside := regexp.MustCompile(`(?i)(https?:)?//[a-z0-9-]+\.[a-z]|\bsrc\s*=|@import|url\([^#]|<link\b|<iframe\b|<form\b|` +
		`\bfetch\s*\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts|\bimport\s*\(|localStorage|document\.cookie`)
	// the name of a vocabulary, which no browser fetches
	namespace := regexp.MustCompile(`http://www\.w3\.org/[a-zA-Z0-9/]+`)
	eachExample(t, func(t *testing.T, e *example) {
		for _, f := range e.bundle.Files {
			if f.Kind != "artifact" {
				continue
			}
			page, err := e.bundle.ReadFile(f.Path)
			if err != nil {
				t.Fatal(err)
			}
			if m := outside.Find(namespace.ReplaceAll(page, nil)); m != nil {
				t.Errorf("%s has %q", f.Path, m)
			}
			if !bytes.Contains(page, []byte("__TOOL_DATA__")) {
				t.Errorf("%s doesn't look at its data", f.Path)
			}
			if !bytes.Contains(page, []byte("color-scheme")) {
				t.Errorf("%s is not made for light and dark", f.Path)
			}
			if _, err := render.Inject(page, json.RawMessage(`{"a": "</script>"}`)); err != nil {
				t.Errorf("%s: %v", f.Path, err)
			}
		}
	})
}
