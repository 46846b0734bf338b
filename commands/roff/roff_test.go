package roff

import (
	"strings"
	"testing"
)

func TestEscapes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		".TH evil":           "\\&.TH evil\n",
		"'br":                "\\(aqbr\n",
		`a\fBb`:              `a\efBb` + "\n",
		"--flag":             `\-\-flag` + "\n",
		"~/x ^ `y`":          `\(ti/x \(ha \(gay\(ga` + "\n",
		"größe…":             `gr\[u00F6]\[u00DF]e\[u2026]` + "\n",
		"\x1b[31mred\x07":    "[31mred\n",
		"":                   "\\&\n",
		"a\tb":               "a    b\n",
		"plain, \"quoted\".": "plain, \"quoted\".\n",
	} {
		if got := line(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := argument(`a "b" c`); got != `"a \(dqb\(dq c"` {
		t.Errorf("%s", got)
	}
}

// Whatever stands in a help text, no line of a page is a request that wasn't
// written by us.
func FuzzPage(f *testing.F) {
	f.Add(".so /etc/passwd\n'sy rm\n\\!x\n\n  code .x\n\na   b")
	f.Fuzz(func(t *testing.T, text string) {
		var r Page
		r.Title(Title{Name: text, Section: text, Date: text, Source: text, Manual: text})
		r.Paragraphs(text)
		r.Examples(text)
		r.Subsection(text)
		r.Line(Italic(text) + " " + Bold(text))
		r.Item(Bold(text), text)
		r.Section(text)
		for line := range strings.Lines(r.String()) {
			request, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			switch request {
			case ".PP", ".nf", ".fi", ".TP", ".SH", ".SS", ".TH", ".ad", ".RS", ".RE", ".nh":
				continue
			}
			if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
				t.Fatalf("%q gives the request %q", text, line)
			}
		}
	})
}
