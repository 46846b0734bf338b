package markdown

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/fettle-cli/fettle/commands/term"
)

func highlighted(chunks ...string) string {
	var b bytes.Buffer
	w := New(&b, Options{Width: 60, Style: term.NewStyle(term.Colours16), Highlight: true})
	for _, c := range chunks {
		_, _ = w.Write([]byte(c)) // a buffer takes everything
	}
	_ = w.Close()
	return b.String()
}

// TestHighlightedCode: code of a known language has colours, is whole, and the
// text behind it is text again.
func TestHighlightedCode(t *testing.T) {
	t.Parallel()
	const rule = "\x1b[2m────────────────────────────────────────\x1b[0m\n"
	tests := []struct{ name, src, want string }{
		{"in a fence", "```go\nif x\n\n  y()\n```\nif", "\x1b[2m── go ──────────────────────────────────\x1b[0m\n\x1b[1mif\x1b[22m x\n\n  y()\n" + rule + "if\n"},
		{"without an end", "```go\nif", "\x1b[2m── go ──────────────────────────────────\x1b[0m\n\x1b[1mif\x1b[22m\n"},
		{"of no known language", "```x\nif\n```\n", "\x1b[2m── x ───────────────────────────────────\x1b[0m\nif\n" + rule},
		{"indented", "    if\n", "    if\n"},
		{"after a fence of another", "```go\nif\n```\n\n```\nif\n```\n", "\x1b[2m── go ──────────────────────────────────\x1b[0m\n\x1b[1mif\x1b[22m\n" + rule + "\n" + rule + "if\n" + rule},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := highlighted(tt.src); got != tt.want {
				t.Errorf("%q\nwant %q", got, tt.want)
			}
		})
	}
}

// TestHighlightingIsNoMatterOfChunks: what is written depends on the text alone,
// and is the text that is written without colours.
func TestHighlightingIsNoMatterOfChunks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"```go\n", "```\n", "if ", "// c", "\"s\"", "\n", "> ", "- ", "  ", "/*", "*/", "    x", "~~~py\n", "\t"})).Draw(t, "parts")
		src := ""
		for _, p := range parts {
			src += p
		}
		whole := highlighted(src)
		if got := highlighted(parts...); got != whole {
			t.Fatalf("in pieces %q, whole %q", got, whole)
		}
		if got, want := sgr.ReplaceAllString(whole, ""), sgr.ReplaceAllString(renderT(t, []string{src}, 60, term.Colours16), ""); got != want {
			t.Fatalf("with colours %q, without %q", got, want)
		}
	})
}
