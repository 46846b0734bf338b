package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

func TestLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200_000)
	in := newLineReader(strings.NewReader("one\r\n\n  \n"+long+"\ntwo\n"+long[:150_000]+"\nthree"), 150_001)
	var got []string
	for {
		line, err := in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.Is(err, errLongLine) {
			line = []byte("long")
		} else if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(line[:min(len(line), 10)]))
	}
	if want := "one long two xxxxxxxxxx three"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Whatever comes, decode gives a message or an error, and an id that can be sent
// back; and the lines are those of the input.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`, `{"jsonrpc":"2.0","method":"session/cancel"}`,
		`{"jsonrpc":"2.0","id":"a","result":null}`, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}`, `[]`, `{"id":-1e9}`, "\xff\n{}\n", "a\n\nb",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		in := newLineReader(bytes.NewReader(raw), 1<<10)
		for range len(raw) + 1 {
			line, err := in.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if errors.Is(err, errLongLine) {
				continue
			}
			if err != nil || len(line) == 0 || len(line) > 1<<10 || bytes.Contains(line, []byte("\n")) {
				t.Fatalf("the line %q, %v", line, err)
			}
			m, id, wrong := decode(line)
			if (m == nil) == (wrong == nil) || !json.Valid(id) || len(id) > maxID {
				t.Fatalf("%q gives %v, %q, %v", line, m, id, wrong)
			}
			if out, err := encode(outgoing{ID: id, Error: wrong}); err != nil || bytes.Count(out, []byte("\n")) != 1 {
				t.Fatalf("the answer %q, %v", out, err)
			}
		}
		t.Fatal("the lines don't end")
	})
}

func FuzzCalls(f *testing.F) {
	f.Add("write_file", []byte(`{"path":"a/../../b","content":"x"}`))
	f.Add("edit_file", []byte(`{"path":"a","edits":[{"old_text":"x","new_text":"y"}]}`))
	f.Add("set:tool", []byte(`{"command":"a\u0007","offset":3}`))
	s := &session{id: "s", cwd: f.TempDir()}
	f.Fuzz(func(t *testing.T, tool string, input []byte) {
		if title := callTitle(tool, input); sanitize.Text(title) != title || strings.ContainsAny(title, "\n\t") || len(title) > maxTitle+maxShownName+8 {
			t.Errorf("the title %q", title)
		}
		for _, l := range s.locations(input) {
			if _, inside := s.relative(l.Path); !inside {
				t.Errorf("%q leads out of the folder", l.Path)
			}
		}
		for _, c := range s.preview(tool, input) {
			if _, inside := s.relative(c.Path); !inside {
				t.Errorf("%q leads out of the folder", c.Path)
			}
		}
		if raw := validRaw(input); raw != nil && (!json.Valid(raw) || len(raw) > maxRaw) {
			t.Errorf("the raw input has %d bytes", len(raw))
		}
	})
}
