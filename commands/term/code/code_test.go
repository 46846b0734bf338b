package code

import (
	"regexp"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/term"
)

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

func colour(lang, src string) string {
	c := New(lang, term.NewStyle(term.Colours16))
	if c == nil {
		return src
	}
	var out []string
	for line := range strings.SplitSeq(src, "\n") {
		out = append(out, c.Line(line))
	}
	return strings.Join(out, "\n")
}

// marked shows looks as tags.
func marked(s string) string {
	return strings.NewReplacer("\x1b[1m", "<b>", "\x1b[22m", "</>", "\x1b[2m", "<c>", "\x1b[32m", "<s>", "\x1b[39m", "</>",
		"\x1b[36m", "<n>", "\x1b[31m", "<r>").Replace(s)
}

func TestLooks(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, lang, src, want string }{
		{"key words", "go", "func main", "<b>func</> main"},
		{"a part of a word is none", "go", "function iffy", "function iffy"},
		{"comment to the end", "go", "x // if", "x <c>// if</>"},
		{"a comment of lines", "c", "a /* if\nif */ if", "a <c>/*</><c> if</>\n<c>if */</> <b>if</>"},
		{"a string with a quote in it", "go", `f("a\"b", 1)`, `f(<s>"a\"b"</>, <n>1</>)`},
		{"a string of lines", "py", "x = \"\"\"if\nif\"\"\"\nif", "x = <s>\"\"\"</><s>if</>\n<s>if\"\"\"</>\n<b>if</>"},
		{"a quote that opens nothing", "sh", "echo it's", "echo it's"},
		{"a hash within a word", "sh", "a#b #c", "a#b <c>#c</>"},
		{"any case", "sql", "SELECT x FROM y", "<b>SELECT</> x <b>FROM</> y"},
		{"a diff", "diff", "@@ 1\n+a\n-b\n c", "<n>@@ 1</>\n<s>+a</>\n<r>-b</>\n c"},
		{"an unknown language", "klingon", "if // x", "if // x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := marked(colour(tt.lang, tt.src)); got != tt.want {
				t.Errorf("%q gave %q, want %q", tt.src, got, tt.want)
			}
		})
	}
}

// FuzzTextIsKept: colours add nothing but themselves.
func FuzzTextIsKept(f *testing.F) {
	for _, lang := range []string{"go", "py", "sql", "html", "diff", "rust", "yaml"} {
		f.Add(lang, "a \"b\" /* c\n*/ // 'd\n\"\"\" é 日本 1.5\n+x")
	}
	f.Fuzz(func(t *testing.T, lang, src string) {
		if strings.Contains(src, "\x1b") {
			t.Skip("the text is cleaned before it is coloured")
		}
		if got := sgr.ReplaceAllString(colour(lang, src), ""); got != src {
			t.Errorf("%q became %q", src, got)
		}
	})
}
