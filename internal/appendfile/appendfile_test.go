package appendfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

var errFull = errors.New("no space left")

func open(t *testing.T, content string) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func content(t *testing.T, f *os.File) string {
	t.Helper()
	raw, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestALineIsAppended(t *testing.T) {
	t.Parallel()
	for before, want := range map[string]string{
		"": "new\n", "one\n": "one\nnew\n",
		"one\nto": "one\nto\nnew\n", // a process was killed in the middle of a write
	} {
		f := open(t, before)
		if err := Line(f, []byte("new\n")); err != nil || content(t, f) != want {
			t.Errorf("after %q: %q, %v", before, content(t, f), err)
		}
	}
}

// A write that fails after any part of its text leaves nothing, regardless of the count
// that it returns.
func TestAPartialWriteIsTakenBack(t *testing.T) {
	t.Parallel()
	const text = "a long line\n"
	for _, before := range []string{"", "one\n", "one\nto"} {
		for n := range len(text) + 1 {
			for _, told := range []int{0, n} {
				f := open(t, before)
				err := appendLine(f, []byte(text), func(b []byte) (int, error) {
					if _, err := f.Write(b[:n]); err != nil {
						t.Fatal(err)
					}
					return told, errFull
				})
				if !errors.Is(err, errFull) || content(t, f) != before {
					t.Fatalf("%d bytes after %q: %q, %v", n, before, content(t, f), err)
				}
			}
		}
	}
}

func TestWhatAnotherProcessAppendedStays(t *testing.T) {
	t.Parallel()
	f := open(t, "one\n")
	err := appendLine(f, []byte("mine\n"), func(b []byte) (int, error) {
		if _, err := f.Write([]byte("mitheirs\n")); err != nil {
			t.Fatal(err)
		}
		return 0, errFull
	})
	if !errors.Is(err, errFull) || content(t, f) != "one\nmitheirs\n" {
		t.Errorf("%q, %v", content(t, f), err)
	}
}
