package live

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"go.uber.org/goleak"

	"github.com/fettle-cli/fettle/commands/term"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// glass is a terminal to draw on.
type glass struct {
	mu     sync.Mutex
	emu    *vt.Emulator
	w, h   int
	writes int
}

func newGlass(t *testing.T, w, h int) *glass {
	g := &glass{emu: vt.NewEmulator(w, h), w: w, h: h}
	t.Cleanup(func() { _ = g.emu.Close() })
	return g
}

func (g *glass) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writes++
	return g.emu.Write(p)
}

func (g *glass) size() (int, int) { return g.w, g.h }

// all is the scrollback and the window.
func (g *glass) all() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var b strings.Builder
	for _, line := range g.emu.Scrollback().Lines() {
		b.WriteString(line.String() + "\n")
	}
	lines := strings.Split(b.String()+g.emu.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \r")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

func prompt(text string) Rows {
	return Rows{Lines: []string{"", "> " + text}, Row: 1, Col: 2 + len(text)}
}

// TestTranscriptStaysAboveTheRows: a long text streams by in pieces, and all of
// it is in the scrollback once.
func TestTranscriptStaysAboveTheRows(t *testing.T) {
	t.Parallel()
	g := newGlass(t, 50, 12)
	g.emu.SetScrollbackSize(100_000)
	s := NewScreen(Options{Out: g, Size: g.size})
	var want strings.Builder
	for i := range 3000 {
		line := fmt.Sprintf("line %d %s", i, strings.Repeat("x", 1+i%40))
		want.WriteString(line + "\n")
		for _, part := range []string{line[:4], line[4:], "\n"} {
			if _, err := s.Write([]byte(part)); err != nil {
				t.Fatal(err)
			}
		}
		if i%100 == 0 {
			s.Show(prompt(fmt.Sprint(i)), true)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := g.all(); got != strings.TrimRight(want.String(), "\n") {
		t.Errorf("the scrollback has %d bytes, want %d; it ends\n%s", len(got), want.Len(), got[max(0, len(got)-300):])
	}
}

// TestOpenLineIsShown: what isn't ended yet is seen, wrapped, above the rows.
func TestOpenLineIsShown(t *testing.T) {
	t.Parallel()
	g := newGlass(t, 20, 8)
	s := NewScreen(Options{Out: g, Size: g.size})
	_, _ = s.Write([]byte("one\n\x1b[1mtwo\x1b[0m and words that are wrapped"))
	s.Show(prompt("x"), true)
	if got, want := g.all(), "one\ntwo and words that\nare wrapped\n\n> x"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	_, _ = s.Write([]byte("\nthree\n"))
	_ = s.Close()
	if got, want := g.all(), "one\ntwo and words that a\nre wrapped\nthree"; got != want {
		t.Errorf("at the end %q, want %q", got, want)
	}
}

// TestNoFrameForNothing: showing the same again draws nothing.
func TestNoFrameForNothing(t *testing.T) {
	t.Parallel()
	g := newGlass(t, 20, 8)
	s := NewScreen(Options{Out: g, Size: g.size})
	for range 10 {
		s.Show(prompt("x"), true)
	}
	if s.Frames() != 1 || g.writes != 1 {
		t.Errorf("%d frames in %d writes", s.Frames(), g.writes)
	}
	_ = s.Close()
}

// TestFramesAreFewWhileMuchIsWritten: many writes are few frames.
func TestFramesAreFewWhileMuchIsWritten(t *testing.T) {
	t.Parallel()
	g := newGlass(t, 80, 24)
	s := NewScreen(Options{Out: g, Size: g.size})
	begun := time.Now()
	for range 2000 {
		_, _ = s.Write([]byte("word "))
	}
	most := int64(time.Since(begun)/frameGap) + 2
	if n := s.Frames(); n > most {
		t.Errorf("%d frames, want %d at most", n, most)
	}
	_ = s.Close()
}

// TestRowsFitTheWindow: of too many rows those around the cursor are drawn, and
// a window that gets small doesn't lose the transcript.
func TestRowsFitTheWindow(t *testing.T) {
	t.Parallel()
	g := newGlass(t, 20, 6)
	s := NewScreen(Options{Out: g, Size: g.size})
	_, _ = s.Write([]byte("text\n"))
	var rows Rows
	for i := range 20 {
		rows.Lines = append(rows.Lines, fmt.Sprint("row ", i, strings.Repeat("-", 30)))
	}
	rows.Row, rows.Col = 10, 3
	s.Show(rows, true)
	if got := g.all(); !strings.Contains(got, "row 10") || !strings.HasPrefix(got, "text\n") || strings.Count(got, "\n") != 5 {
		t.Errorf("%q", got)
	}
	_ = s.Close()
	if got := g.all(); got != "text" {
		t.Errorf("at the end %q", got)
	}
}

// TestReflowedRowsAreFound: after a terminal has wrapped the rows anew, the
// cursor goes up to where they begin now.
func TestReflowedRowsAreFound(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	width := 40
	s := NewScreen(Options{Out: &out, Reflows: true, Size: func() (int, int) { return width, 20 }})
	s.Show(Rows{Lines: []string{strings.Repeat("a", 35), strings.Repeat("b", 5), "> "}, Row: 2, Col: 2}, true)
	out.Reset()
	width = 10
	s.Resized()
	if got := out.String(); !strings.Contains(got, "\r\x1b[5A\x1b[J") { // 4 rows and 1
		t.Errorf("%q", got)
	}
	_ = s.Close()
}

func TestReflows(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		env  map[string]string
		want bool
	}{
		{map[string]string{"TERM": "xterm-256color"}, true},
		{map[string]string{"TERM": "xterm-256color", "XTERM_VERSION": "XTerm(390)"}, false},
		{map[string]string{"TERM": "screen"}, false},
		{map[string]string{"TERM": "screen-256color", "TMUX": "/tmp/x"}, true},
		{map[string]string{"TERM": "linux"}, false},
	} {
		if got := Reflows(func(k string) string { return tt.env[k] }); got != tt.want {
			t.Errorf("%v: %v", tt.env, got)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want []Key
	}{
		{"aé日", []Key{{Name: Text, Text: "a"}, {Name: Text, Text: "é"}, {Name: Text, Text: "日"}}},
		{"\r\t\x7f\x03", []Key{{Name: Enter}, {Name: Tab}, {Name: Backspace}, {Name: Text, Text: "c", Ctrl: true}}},
		{"\x1b[A\x1bOB\x1b[1;5C\x1b[3~\x1b[Z", []Key{{Name: Up}, {Name: Down}, {Name: Right, Ctrl: true}, {Name: Delete}, {Name: BackTab}}},
		{"\x1bb\x1b\r\x1b[13;2u\x1b[27;5;13~", []Key{{Name: Text, Text: "b", Alt: true}, {Name: Enter, Alt: true}, {Name: Enter, Shift: true}, {Name: Enter, Ctrl: true}}},
		{"\x1b[200~a\rb\x1b[A\x1b[201~c", []Key{{Name: Pasted, Text: "a\rb\x1b[A"}, {Name: Text, Text: "c"}}},
		{"\x1b[?62;4c\x1b]11;rgb:0/0/0\x1b\\x", []Key{{Name: Text, Text: "x"}}},
		{"\x1b[I\xff\u0085y", []Key{{Name: Text, Text: "y"}}},
	}
	for _, tt := range tests {
		for _, chunk := range []int{1, 3, 1000} {
			var p Parser
			var got []Key
			for in := []byte(tt.in); len(in) > 0; {
				n := min(chunk, len(in))
				got = append(got, p.Feed(in[:n])...)
				in = in[n:]
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("%q by %d gave %v, want %v", tt.in, chunk, got, tt.want)
			}
		}
	}
	var p Parser
	if got := p.Feed([]byte("\x1b")); got != nil || !p.Waits() {
		t.Errorf("a begun sequence gave %v", got)
	}
	if got := p.Flush(); len(got) != 1 || got[0].Name != Escape || p.Waits() {
		t.Errorf("a lone Escape gave %v", got)
	}
}

// FuzzKeys: whatever comes, nothing that isn't text is text, and nothing is held
// without end.
func FuzzKeys(f *testing.F) {
	f.Add([]byte("\x1b[1;5C\x1b[200~x\x1b[201~\x1b]0;t\a"), 3)
	f.Add([]byte("\x1b[27;5;13~\x1bOA\xe6\x97\xa5"), 1)
	f.Fuzz(func(t *testing.T, in []byte, chunk int) {
		var p Parser
		var e Editor
		for chunk = max(chunk%64, 1); len(in) > 0; {
			n := min(chunk, len(in))
			for _, k := range p.Feed(in[:n]) {
				e.Key(k)
				if k.Name == Text && !k.Ctrl && term.Clean(k.Text) != k.Text && len(k.Text) == 1 {
					t.Errorf("the control %q is text", k.Text)
				}
			}
			in = in[n:]
		}
		if !p.pasting && len(p.held) > maxSequence {
			t.Errorf("%d bytes are held", len(p.held))
		}
		rows := e.Rows(Prompt{"> ", "  "}, 40, 10)
		if rows.Row < 0 || rows.Row >= len(rows.Lines) || rows.Col > 40 {
			t.Errorf("the cursor is at %d, %d of %d rows", rows.Row, rows.Col, len(rows.Lines))
		}
	})
}

// typing feeds keys as a terminal sends them.
func typing(e *Editor, in string) {
	var p Parser
	for _, k := range append(p.Feed([]byte(in)), p.Flush()...) {
		e.Key(k)
	}
}

func TestEditor(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, keys, want string }{ // | is the cursor
		{"typing", "ab", "ab|"},
		{"left and right", "ab\x1b[D\x1b[D\x1b[Cx", "ax|b"},
		{"begin and end", "ab\x01x\x05y", "xaby|"},
		{"by words", "one two\x1bb\x1bbx\x1bfy", "xoney| two"},
		{"a character is a cluster", "e\u0301👩‍👩‍👧x\x02\x7f", "e\u0301|x"},
		{"word out", "a b-c\x17", "a |"},
		{"word of letters out", "a b-c\x1b\x7f", "a b-|"},
		{"to the begin, and back", "abc\x15\x19\x19", "abcabc|"},
		{"to the end", "abc\x01\x0b", "|"},
		{"cuts in a row are one", "a b c\x17\x17\x19", "a b c|"},
		{"turned around", "ab\x14", "ba|"},
		{"taken back", "abc\x15\x1f", "abc|"},
		{"typing is taken back at once", "abc\x1f", "|"},
		{"lines", "ab\ncd\x1b[Ax", "abx|\ncd"},
		{"lines by Alt-Enter", "a\x1b\rb", "a\nb|"},
		{"up to a shorter line", "a\nbcd\x1b[Ax", "ax|\nbcd"},
		{"a line end out", "a\nb\x01\x7f", "a|b"},
		{"delete", "ab\x01\x04", "|b"},
		{"controls aren't taken", "a\x1b[200~\x07b\x1b[201~", "ab|"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var e Editor
			typing(&e, tt.keys)
			if got := e.Before() + "|" + e.After(); got != tt.want {
				t.Errorf("%q gave %q, want %q", tt.keys, got, tt.want)
			}
		})
	}
}

func TestFoldsAreOneCharacterAndSentWhole(t *testing.T) {
	t.Parallel()
	var e Editor
	long := strings.Repeat("line\n", 20)
	e.Paste(long)
	typing(&e, " and \x1b[D\x1b[D\x1b[D\x1b[D\x1b[D")
	if e.Text() != long+" and " || e.Shown() != "[paste 1: 20 lines] and " {
		t.Errorf("%q, shown as %q", e.Text(), e.Shown())
	}
	typing(&e, "\x7f")
	if e.Text() != " and " {
		t.Errorf("one key left %q", e.Text())
	}
	typing(&e, string(rune(firstFold)))
	if e.Text() != " and " {
		t.Errorf("a fold was typed: %q", e.Text())
	}
}

func TestRowsOfTheLine(t *testing.T) {
	t.Parallel()
	var e Editor
	typing(&e, "one two three\nfour")
	r := e.Rows(Prompt{"> ", ". "}, 10, 10)
	if got := strings.Join(r.Lines, "|"); got != "> one two|.  three|. four" || r.Row != 2 || r.Col != 6 {
		t.Errorf("%q at %d, %d", got, r.Row, r.Col)
	}
	if r = e.Rows(Prompt{"> ", ". "}, 10, 1); len(r.Lines) != 1 || r.Lines[0] != ". four" {
		t.Errorf("the window is %q", r.Lines)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "new", "history")
	h := NewHistory(file)
	for _, line := range []string{"one", "two\nlines", "two\nlines", " secret", ""} {
		if err := h.Add(line); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Fatalf("%v, %v", info, err)
	}
	h = NewHistory(file)
	var got []string
	for text, ok := h.Older("typed"); ok; text, ok = h.Older("typed") {
		got = append(got, text)
	}
	if fmt.Sprintf("%q", got) != `["two\nlines" "one"]` {
		t.Errorf("%q", got)
	}
	if text, _ := h.Newer(); text != "two\nlines" {
		t.Errorf("newer is %q", text)
	}
	if text, ok := h.Newer(); text != "typed" || !ok {
		t.Errorf("what was typed came back as %q", text)
	}
	if text, ok := h.Search("on", 0); text != "one" || !ok {
		t.Errorf("found %q", text)
	}
}

// TestHistoryIsKeptShort: a file that has grown is written anew, in order.
func TestHistoryIsKeptShort(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "history")
	var b strings.Builder
	for i := range 2*keptLines + 1 {
		fmt.Fprintf(&b, "\"line %d\"\n", i)
	}
	b.WriteString("not JSON\n")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, _ := NewHistory(file).Older(""); text != fmt.Sprint("line ", 2*keptLines) {
		t.Errorf("the last is %q", text)
	}
	raw, err := os.ReadFile(file)
	if n := strings.Count(string(raw), "\n"); err != nil || n != keptLines {
		t.Errorf("%d lines are kept, %v", n, err)
	}
}
