package term

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// cleaned writes chunks through a Cleaner.
func cleaned(to Target, chunks ...string) string {
	var b bytes.Buffer
	c := NewCleaner(&b, to)
	for _, s := range chunks {
		_, _ = c.Write([]byte(s)) // a bytes.Buffer takes everything
	}
	_ = c.Flush()
	return b.String()
}

func TestCleanerShowsWhatWouldDriveATerminal(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, terminal, pipe string }{
		{"plain text", "hello\n\tworld", "hello\n\tworld", ""},
		{"CSI", "\x1b[31mred\x1b[0m", "␛[31mred␛[0m", ""},
		{"OSC title ended by BEL", "\x1b]0;owned\x07", "␛]0;owned␇", ""},
		{"OSC 52 ended by ST", "\x1b]52;c;cm0=\x1b\\", "␛]52;c;cm0=␛\\", ""},
		{"DCS, SOS, PM, APC", "\x1bPq\x1bX\x1b^\x1b_", "␛Pq␛X␛^␛_", ""},
		{"all of C0", "\x00\x01\x08\x0b\x0c\x0e\x1f", "␀␁␈␋␌␎␟", ""},
		{"DEL", "a\x7f", "a␡", ""},
		{"C1 as runes", "\u0080\u009b31m\u009d", "‹U+0080›‹U+009B›31m‹U+009D›", ""},
		{"NEL", "a\u0085b", "a‹U+0085›b", ""},
		{"C1 as raw bytes", "\x9b31m", "\ufffd31m", ""},
		{"invalid UTF-8", "a\xff\xc0\xafb\xe2\x82", "a\ufffd\ufffd\ufffdb\ufffd\ufffd", ""},
		{"surrogates", "\xed\xa0\x80", "\ufffd\ufffd\ufffd", ""},
		{"CR LF", "a\r\nb", "a\nb", ""},
		{"lone CR", "a\rb\r", "a␍b␍", ""},
		{"two CR before LF", "\r\r\n", "␍\n", ""},
		{"bidi controls", "\u202ea\u2066b\u200fc\u061c", "‹U+202E›a‹U+2066›b‹U+200F›c‹U+061C›", "\u202ea\u2066b\u200fc\u061c"},
		{"tags", "a\U000e0041\U000e007f", "a‹U+E0041›‹U+E007F›", "a\U000e0041\U000e007f"},
		{"zero-width space", "r\u200bm", "r‹U+200B›m", "r\u200bm"},
		{"zero-width space of Khmer", "ខ្ញុំ\u200bស្រ", "ខ្ញុំ\u200bស្រ", "ខ្ញុំ\u200bស្រ"},
		{"BOM and invisible operators", "\ufeffa\u2060\u2064", "‹U+FEFF›a‹U+2060›‹U+2064›", "\ufeffa\u2060\u2064"},
		{"line separators", "a\u2028b\u2029", "a‹U+2028›b‹U+2029›", "a\u2028b\u2029"},
		{"joiner of emoji", "👩\u200d🚀 ❤\ufe0f\u200d🔥", "👩\u200d🚀 ❤\ufe0f\u200d🔥", "👩\u200d🚀 ❤\ufe0f\u200d🔥"},
		{"non-joiner of Persian", "می\u200cخواهم", "می\u200cخواهم", "می\u200cخواهم"},
		{"bytes hidden in selectors", "a\ufe01\U000e0101\ufe02", "a\ufe01‹U+E0101›\ufe02", "a\ufe01\U000e0101\ufe02"},
		{"bytes hidden in joiners", "a\u200d\u200c\u200d", "a\u200d‹U+200C›\u200d", "a\u200d\u200c\u200d"},
		{"other scripts", "שלום مرحبا 日本語 é", "שלום مرحبا 日本語 é", "שלום مرحبا 日本語 é"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.pipe == "" {
				tt.pipe = tt.terminal
			}
			if got := cleaned(ToTerminal, tt.in); got != tt.terminal {
				t.Errorf("to a terminal: %q, want %q", got, tt.terminal)
			}
			if got := cleaned(ToPipe, tt.in); got != tt.pipe {
				t.Errorf("into a pipe: %q, want %q", got, tt.pipe)
			}
		})
	}
}

func TestCleanerHoldsOnlyWhatIsUndecided(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	c := NewCleaner(&b, ToTerminal)
	for _, step := range []struct{ in, out string }{
		{"a\xe6", "a"}, {"\x97", "a"}, {"\xa5", "a日"},
		{"\r", "a日"}, {"\n", "a日\n"}, {"\xf0\x9f", "a日\n"}, {"x", "a日\n\ufffd\ufffdx"},
	} {
		if n, err := c.Write([]byte(step.in)); n != len(step.in) || err != nil {
			t.Fatalf("Write(%q) gave %d, %v", step.in, n, err)
		}
		if b.String() != step.out {
			t.Fatalf("after %q: %q, want %q", step.in, b.String(), step.out)
		}
	}
}

func TestCleanerPassesOnErrors(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"plain", "\x1b"} {
		c := NewCleaner(brokenWriter{}, ToPipe)
		if n, err := c.Write([]byte(in)); n != 0 || err != errBroken {
			t.Errorf("Write(%q) gave %d, %v", in, n, err)
		}
	}
}

// harmless tells what of s may not be sent.
func harmless(s string, to Target) string {
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t':
		case r < 0x20 || r >= 0x7f && r < 0xa0:
			return "a control"
		case to == ToTerminal && (r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0x061c || r >= 0xe0000 && r <= 0xe007f):
			return "what hides text"
		}
	}
	if !utf8.ValidString(s) {
		return "invalid UTF-8"
	}
	return ""
}

var nasty = []string{
	"\x1b", "[31m", "]0;x", "\x07", "\r", "\n", "\r\n", "\t", "\x00", "\x7f", "\u009b", "\x9b", "\xe2", "\x80", "\xae",
	"\u202e", "\u200b", "\u200d", "\u200c", "\ufe0f", "\U000e0041", "\U000e0101", "é", "日", "🙂", "ខ", "a", " ", "\xf0\x9f", "\xff",
}

func TestCleanerGivesTheSameInAnySplit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom(nasty), 0, 40).Draw(t, "pieces")
		src := strings.Join(pieces, "") + string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		cuts := rapid.SliceOf(rapid.IntRange(1, 5)).Draw(t, "cuts")
		for _, to := range []Target{ToTerminal, ToPipe} {
			whole := cleaned(to, src)
			if why := harmless(whole, to); why != "" {
				t.Fatalf("%q became %q: %s", src, whole, why)
			}
			if got := cleaned(to, split(src, cuts)...); got != whole {
				t.Fatalf("in chunks %q, whole %q", got, whole)
			}
		}
	})
}

func split(s string, cuts []int) []string {
	var out []string
	for _, n := range cuts {
		n = min(n, len(s))
		out = append(out, s[:n])
		s = s[n:]
	}
	return append(out, s)
}

func FuzzCleaner(f *testing.F) {
	for _, s := range nasty {
		f.Add([]byte(s+"x"+s), 1)
	}
	f.Fuzz(func(t *testing.T, src []byte, at int) {
		if len(src) > 1<<12 {
			return
		}
		at = min(max(at, 0), len(src))
		for _, to := range []Target{ToTerminal, ToPipe} {
			whole := cleaned(to, string(src))
			if why := harmless(whole, to); why != "" {
				t.Fatalf("%q became %q: %s", src, whole, why)
			}
			if got := cleaned(to, string(src[:at]), string(src[at:])); got != whole {
				t.Fatalf("cut at %d: %q, whole %q", at, got, whole)
			}
		}
		if one := Clean(string(src)); strings.ContainsAny(one, "\n\t") || harmless(one, ToTerminal) != "" {
			t.Fatalf("Clean gave %q", one)
		}
	})
}

func TestCleanMakesOneLine(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"nothing to do", "go test ./...", "go test ./..."},
		{"two commands", "echo hi\nrm -rf /", "echo hi ␤ rm -rf /"},
		{"empty lines and indentation", "a\n\n   b\r\nc", "a ␤ b ␤ c"},
		{"line ends around it", "\n\ntitle\n", "title"},
		{"only line ends", "\n\n", ""},
		{"tabs", "a\tb", "a b"},
		{"escapes", "x\x1b]0;t\x07", "x␛]0;t␇"},
		{"carriage return that would overwrite", "safe\rrm", "safe␍rm"},
		{"bidi in a file name", "a\u202etxt.exe", "a‹U+202E›txt.exe"},
	}
	for _, tt := range tests {
		if got := Clean(tt.in); got != tt.want {
			t.Errorf("%s: Clean(%q) is %q, want %q", tt.name, tt.in, got, tt.want)
		}
	}
	if got, want := CleanText("a\n\tb\x1b"), "a\n\tb␛"; got != want {
		t.Errorf("CleanText gave %q, want %q", got, want)
	}
}

func TestPlainTextIsNotCopied(t *testing.T) {
	s := strings.Repeat("plain text ", 100)
	p := []byte(s)
	c := NewCleaner(discard{}, ToTerminal)
	if n := testing.AllocsPerRun(100, func() { _, _ = c.Write(p); _ = Clean(s) }); n > 0 {
		t.Errorf("%v allocations for plain text", n)
	}
}

func BenchmarkCleaner(b *testing.B) {
	for _, bench := range []struct{ name, text string }{
		{"ascii", strings.Repeat("the quick brown fox ", 1000)},
		{"mixed", strings.Repeat("añb 日本語 🙂 text ", 1000)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(bench.text)))
			c := NewCleaner(discard{}, ToTerminal)
			p := []byte(bench.text)
			for b.Loop() {
				_, _ = c.Write(p)
			}
		})
	}
}
