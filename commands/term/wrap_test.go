package term

import (
	"slices"
	"testing"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in    string
		cells int
		want  []string
	}{
		{"", 10, []string{""}},
		{"one two three", 0, []string{"one two three"}},
		{"one two three", 13, []string{"one two three"}},
		{"one two three", 12, []string{"one two", "three"}},
		{"one  two", 5, []string{"one", "two"}},
		{"  indented text", 8, []string{"indented", "text"}},
		{"abcdefghij", 4, []string{"abcd", "efgh", "ij"}},
		{"to abcdefgh", 4, []string{"to", "abcd", "efgh"}},
		{"abcd efgh", 4, []string{"abcd", "efgh"}},
		{"宽字符 宽字", 4, []string{"宽字", "符", "宽字"}},
		{"e\u0301e\u0301e\u0301", 2, []string{"e\u0301e\u0301", "e\u0301"}},
		{"宽", 1, []string{"宽"}},
	} {
		got := Wrap(c.in, c.cells)
		if !slices.Equal(got, c.want) {
			t.Errorf("Wrap(%q, %d) = %q, want %q", c.in, c.cells, got, c.want)
		}
	}
}

func TestChop(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in    string
		cells int
		want  []string
	}{
		{"", 4, []string{""}},
		{"  a   b", 4, []string{"  a ", "  b"}},
		{"abcd", 4, []string{"abcd"}},
		{"abcd", 0, []string{"abcd"}},
		{"a宽b", 2, []string{"a", "宽", "b"}},
		{"宽宽", 1, []string{"宽", "宽"}},
	} {
		if got := Chop(c.in, c.cells); !slices.Equal(got, c.want) {
			t.Errorf("Chop(%q, %d) = %q, want %q", c.in, c.cells, got, c.want)
		}
	}
}
