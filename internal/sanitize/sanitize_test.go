package sanitize_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

func TestTexts(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][2]string{
		"":                                      {"", ""},
		"two\n  lines\tand\r\nmore":             {"two lines and more", "two\n  lines\tand\nmore"},
		"\x1b]52;c;x\x07 \u009b31m":             {"]52;c;x 31m", "]52;c;x 31m"},
		"a\u202egpj.exe\u202c\u2066b\u2069":     {"agpj.exeb", "agpj.exeb"},
		"\xff日本":                                {"\ufffd日本", "\ufffd日本"},
		"a\u200eb\u200f\u061cc\ufeff\U000e0041": {"abc", "abc"},
		"one\u2028two\u2029three":               {"one two three", "one\ntwo\nthree"},
	} {
		if line, text := sanitize.Line(in), sanitize.Text(in); line != want[0] || text != want[1] {
			t.Errorf("%q: %q %q", in, line, text)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for most, want := range []string{"…", "…", "…", "日…", "日…", "日…", "日本"} {
		if got := sanitize.Cut("日本", most); got != want {
			t.Errorf("%d bytes: %q", most, got)
		}
	}
}

func TestMaskKeepsColumns(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a\tb":               "a b",
		"\x1b[31m\u202e\xff": "\ufffd[31m\ufffd\ufffd",
		"日本":                 "日本",
	} {
		if got := sanitize.Mask(in); got != want {
			t.Errorf("Mask(%q) = %q, want %q", in, got, want)
		}
	}
	if got, want := sanitize.Quote("日本\x07語", 3), "\"日本\ufffd…\""; got != want {
		t.Errorf("Quote = %s, want %s", got, want)
	}
}

func FuzzTexts(f *testing.F) {
	f.Add("a\x1b[31m\r\n\u202e", 3)
	f.Fuzz(func(t *testing.T, s string, most int) {
		if most < 0 {
			return
		}
		line, text := sanitize.Line(s), sanitize.Text(s)
		if strings.ContainsAny(line, "\n\t\r\x1b\u202e") || strings.ContainsAny(text, "\r\x1b\u202e") {
			t.Errorf("%q became %q and %q", s, line, text)
		}
		if got := sanitize.Cut(text, most); !utf8.ValidString(got) || len(got) > max(most, 0)+len("…") {
			t.Errorf("%q cut to %d is %q", text, most, got)
		}
	})
}
