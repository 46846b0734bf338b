package providertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/needtest"
)

// Stream is one case of testdata/streams: the bytes that a server sends and
// the deltas that they must give.
type Stream struct {
	Name string
	// ContentType is the response's, where the case depends on it.
	ContentType string
	Wire        []byte
	Want        []Line
	path        string
	archive     *txtar.Archive
}

// Line is one line of a case's want.jsonl: a delta, or the error that ends the
// response.
type Line struct {
	Kind        string             `json:"kind"`
	Text        string             `json:"text,omitempty"`
	Details     json.RawMessage    `json:"details,omitempty"`
	Call        *provider.ToolCall `json:"call,omitempty"`
	Annotations []json.RawMessage  `json:"annotations,omitempty"`
	Meta        *event.Meta        `json:"meta,omitempty"`
	Error       string             `json:"error,omitempty"` // a kind, see KindName
	Message     string             `json:"message,omitempty"`
}

// Reader reads a whole response from body and gives its deltas and the error
// that ended it. It is how a room's tests hand their wire reader over; ids
// that it makes are made_1, made_2 and so on.
type Reader func(body io.Reader, contentType string) ([]provider.Delta, error)

// Streams loads the cases of one wire format.
func Streams(t testing.TB, format string) []Stream {
	t.Helper()
	dir := filepath.Join(needtest.Root(t), "testdata", "streams", format)
	var out []Stream
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".txtar" {
			return err
		}
		s, err := load(path)
		out = append(out, s)
		return err
	})
	if err != nil || len(out) == 0 {
		t.Fatalf("load the streams of %s: %d found, %v", format, len(out), err)
	}
	return out
}

// load reads one case. A file named wire holds bytes as they are; in one named
// wire.quoted each line is the inside of a Go string, for what an editor or
// git would change.
func load(path string) (Stream, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return Stream{}, err
	}
	raw = bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n")) // a checkout on Windows
	s := Stream{Name: strings.TrimSuffix(filepath.Base(path), ".txtar"), path: path, archive: txtar.Parse(raw)}
	for line := range strings.Lines(string(s.archive.Comment)) {
		if v, ok := strings.CutPrefix(line, "content-type: "); ok {
			s.ContentType = strings.TrimSpace(v)
		}
	}
	if !bytes.Contains(s.archive.Comment, []byte("source: ")) {
		return s, fmt.Errorf("%s names no source", path)
	}
	for _, f := range s.archive.Files {
		switch f.Name {
		case "wire":
			s.Wire = f.Data
		case "wire.quoted":
			for line := range bytes.Lines(f.Data) {
				part, err := strconv.Unquote(`"` + strings.TrimSuffix(string(line), "\n") + `"`)
				if err != nil {
					return s, fmt.Errorf("%s: line %q: %w", path, line, err)
				}
				s.Wire = append(s.Wire, part...)
			}
		case "want.jsonl":
			for line := range bytes.Lines(f.Data) {
				var l Line
				if err := json.Unmarshal(line, &l); err != nil {
					return s, fmt.Errorf("%s: %w", path, err)
				}
				s.Want = append(s.Want, l)
			}
		}
	}
	return s, nil
}

// KindName names a kind as the corpus does.
func KindName(k provider.Kind) string {
	names := map[provider.Kind]string{
		provider.Broken: "Broken", provider.RateLimited: "RateLimited", provider.Overloaded: "Overloaded",
		provider.SlowStart: "SlowStart", provider.Unreachable: "Unreachable", provider.Unauthorised: "Unauthorised",
		provider.UnknownModel: "UnknownModel", provider.ContextFull: "ContextFull", provider.Unsupported: "Unsupported",
		provider.Rejected: "Rejected", provider.Undecodable: "Undecodable",
	}
	if n, ok := names[k]; ok {
		return n
	}
	return strconv.Itoa(int(k))
}

// lines puts a response into the corpus's form.
func lines(deltas []provider.Delta, err error) []Line {
	var out []Line
	for _, d := range deltas {
		out = append(out, Line{
			Kind: string(d.Kind), Text: d.Text, Details: d.Details, Call: d.Call, Annotations: d.Annotations, Meta: d.Meta,
		})
	}
	if err != nil {
		l := Line{Kind: "error", Error: err.Error()}
		var e *provider.Error
		if errors.As(err, &e) {
			l.Error, l.Message = KindName(e.Kind), e.Message
			if errors.Is(err, provider.ErrCut) {
				l.Message = provider.ErrCut.Error()
			}
		}
		out = append(out, l)
	}
	return out
}

func encodeLines(ls []Line) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, l := range ls {
		if err := enc.Encode(l); err != nil {
			fmt.Fprintf(&b, "(%v)\n", err)
		}
	}
	return b.String()
}

// Corpus runs a wire reader over every case of its format, all at once and
// byte by byte, which must make no difference. With update the cases' wanted
// lines are rewritten from what it gives.
func Corpus(t *testing.T, format string, read Reader, update bool) {
	for _, s := range Streams(t, format) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			got := encodeLines(lines(read(bytes.NewReader(s.Wire), s.ContentType)))
			if update {
				s.rewrite(t, got)
				return
			}
			if want := encodeLines(s.Want); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
			slow := encodeLines(lines(read(iotest.OneByteReader(bytes.NewReader(s.Wire)), s.ContentType)))
			if slow != got {
				t.Errorf("byte by byte it gives\n%sand all at once\n%s", slow, got)
			}
		})
	}
}

func (s Stream) rewrite(t *testing.T, want string) {
	t.Helper()
	for i := range s.archive.Files {
		if s.archive.Files[i].Name == "want.jsonl" {
			s.archive.Files[i].Data = []byte(want)
			if err := os.WriteFile(s.path, txtar.Format(s.archive), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Cuts cuts every case at every byte, as a body that ends and as a connection
// that breaks. What was given until then is a beginning of the whole answer;
// there is no call and no meta delta unless the response really had ended, and
// otherwise there is an error. ended tells from the bytes before a clean end
// whether a response may count as whole.
func Cuts(t *testing.T, format string, read Reader, ended func(wire []byte) bool) {
	for _, s := range Streams(t, format) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			whole := flatten(read(bytes.NewReader(s.Wire), s.ContentType))
			for n := range s.Wire {
				cut := s.Wire[:n]
				clean := flatten(read(bytes.NewReader(cut), s.ContentType))
				clean.check(t, n, whole, ended(cut))
				broken := io.MultiReader(bytes.NewReader(cut), iotest.ErrReader(io.ErrUnexpectedEOF))
				flatten(read(broken, s.ContentType)).check(t, n, whole, ended(cut))
				if t.Failed() {
					t.Fatalf("cut after %d bytes: …%q", n, cut[max(0, n-60):])
				}
			}
		})
	}
}

// flat is a response with its text joined.
type flat struct {
	text, reasoning string
	calls           []provider.ToolCall
	metas           int
	err             error
}

func flatten(deltas []provider.Delta, err error) flat {
	f := flat{err: err}
	for _, d := range deltas {
		switch d.Kind {
		case provider.Content:
			f.text += d.Text
		case provider.Reasoning:
			f.reasoning += d.Text
		case provider.CallDelta:
			f.calls = append(f.calls, *d.Call)
		case provider.Meta:
			f.metas++
		}
	}
	return f
}

func (f flat) check(t *testing.T, n int, whole flat, mayEnd bool) {
	t.Helper()
	if !strings.HasPrefix(whole.text, f.text) || !strings.HasPrefix(whole.reasoning, f.reasoning) {
		t.Errorf("after %d bytes it gave %q and %q, which the whole answer doesn't begin with", n, f.text, f.reasoning)
	}
	switch {
	case f.err == nil && !mayEnd:
		t.Errorf("after %d bytes it counts as whole", n)
	case f.err == nil && f.metas != 1:
		t.Errorf("after %d bytes it counts as whole with %d meta deltas", n, f.metas)
	case f.err != nil && (len(f.calls) > 0 || f.metas > 0):
		t.Errorf("after %d bytes it gave %d calls and %d meta deltas, then %v", n, len(f.calls), f.metas, f.err)
	}
	var e *provider.Error
	if f.err != nil && !errors.As(f.err, &e) {
		t.Errorf("after %d bytes the error is no *provider.Error: %v", n, f.err)
	}
}

// CheckResponse checks what holds for every response, whatever was sent: calls
// and meta come at the end of whole ones alone, meta is last and comes once,
// calls have ids, names and JSON arguments.
func CheckResponse(t *testing.T, deltas []provider.Delta, err error) {
	t.Helper()
	f := flatten(deltas, err)
	f.check(t, 0, f, true)
	if err == nil && deltas[len(deltas)-1].Kind != provider.Meta {
		t.Errorf("the last delta is %s", deltas[len(deltas)-1].Kind)
	}
	ids := map[string]bool{}
	for _, c := range f.calls {
		if c.ID == "" || ids[c.ID] || c.Name == "" || !json.Valid(c.Args) {
			t.Errorf("a call is %+v with arguments %q", c, c.Args)
		}
		ids[c.ID] = true
	}
	for _, d := range deltas {
		if d.Text == "" && (d.Kind == provider.Content || d.Kind == provider.Reasoning) {
			t.Errorf("an empty %s delta", d.Kind)
		}
	}
}
