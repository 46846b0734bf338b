package bundle

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/needtest"
)

func TestZIPFixtures(t *testing.T) {
	t.Parallel()
	dir := needtest.Shared(t, "security")
	raw, err := os.ReadFile(filepath.Join(dir, "zip", "MANIFEST.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ File, Threat, Expect, Code, Note string }
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 60 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, tt := range cases {
		t.Run(filepath.Base(tt.File), func(t *testing.T) {
			t.Parallel()
			b, err := Open(t.Context(), filepath.Join(dir, filepath.FromSlash(tt.File)), Options{TempDir: t.TempDir()})
			if tt.Expect == "reject" {
				if err == nil {
					b.Close()
				}
				if CodeOf(err) != Code(tt.Code) {
					t.Errorf("%s: got %q (%v), want %q", tt.Threat, CodeOf(err), err, tt.Code)
				}
				if err != nil && strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r == '\u202e' }) {
					t.Errorf("the message holds control characters: %q", err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tt.Threat, err)
			}
			defer b.Close()
			if sanitised := tt.Expect == "accept-sanitised"; sanitised != (len(b.Notes) > 0) {
				t.Errorf("the notes are %v", b.Notes)
			}
			extractAndCompare(t, b)
		})
	}
}

// extractAndCompare extracts a bundle and reads the folder as one: it is the
// same content, and nothing of it is executable.
func extractAndCompare(t *testing.T, b *Bundle) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	if err := b.Extract(t.Context(), dir, ExtractOptions{}); err != nil {
		t.Fatal(err)
	}
	again, err := OpenFolder(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if again.Hash != b.Hash || !slices.Equal(again.Files, b.Files) {
		t.Errorf("extracted, it is another bundle:\n%v\n%v", b.Files, again.Files)
	}
	err = filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() && info.Mode()&^0o644 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	list, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(list) != 1 {
		t.Errorf("something was left behind: %v %v", list, err)
	}
	return dir
}
