package yamledit

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const commented = `# my settings

model: ollama/qwen3   # the fast one
fallback:             # in this order
  # cheap
  - ollama/a   # local
  # dear
  - openai/b

limits: {max_turns: 3, timeout: 1m}  # strict
ollama:

# what I know of models
models:
    Qwen2.5/Coder:7B:
        tools: 'yes'

    other/x: {tools: true}   # short
system: |
  Be brief.

  Say so.
allow: ["a(b, c)", 'it''s']
# the end
`

func TestSet(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, old, path string
		v               Value
		want            string // "-old line\n+new line" of the difference
	}{
		{"a value keeps its comment", commented, "model", Text("openai/gpt-5"),
			"-model: ollama/qwen3   # the fast one\n+model: openai/gpt-5   # the fast one\n"},
		{"a key of a mapping in brackets", commented, "limits|timeout", Text("2h"),
			"-limits: {max_turns: 3, timeout: 1m}  # strict\n+limits: {max_turns: 3, timeout: 2h}  # strict\n"},
		{"a new key of one in brackets", commented, "limits|first_byte", Word("30"),
			"-limits: {max_turns: 3, timeout: 1m}  # strict\n+limits: {max_turns: 3, timeout: 1m, first_byte: 30}  # strict\n"},
		{"a new key of the top goes to the end", commented, "retries", Word("0"), "+retries: 0\n"},
		{"a section that was left empty", commented, "ollama|num_ctx", Word("8192"), "+  num_ctx: 8192\n"},
		{"a new key in the indentation of its neighbours", commented, "models|Qwen2.5/Coder:7B|context_length", Word("32768"),
			"+        context_length: 32768\n"},
		{"a new section in a section", commented, "models|a/b:c.d|images", Word("false"), "+    a/b:c.d:\n+      images: false\n"},
		{"new sections at the top", commented, "providers|my.own|headers|X-Org", Text("acme"),
			"+providers:\n+  my.own:\n+    headers:\n+      X-Org: acme\n"},
		{"a list in place of a list keeps its form", commented, "fallback", List([]string{"x/y", "z: w"}),
			"-  - ollama/a   # local\n-  # dear\n-  - openai/b\n+  - x/y\n+  - \"z: w\"\n"},
		{"a word in place of a list", commented, "fallback", Text("none"),
			"-fallback:             # in this order\n-  # cheap\n-  - ollama/a   # local\n-  # dear\n-  - openai/b\n+fallback: none             # in this order\n"},
		{"a text of several lines", commented, "model", Text("one\n  two\n"),
			"-model: ollama/qwen3   # the fast one\n+model: |   # the fast one\n+  one\n+    two\n"},
		{"one line in place of several", commented, "system", Text("Hm: #1"),
			"-system: |\n-  Be brief.\n-\n-  Say so.\n+system: \"Hm: #1\"\n"},
		{"several in place of several", commented, "system", Text("a\n\nb"),
			"-system: |\n-  Be brief.\n+system: |-\n+  a\n@\n-  Say so.\n+  b\n"},
		{"a long list is written an element a line", "a: 1\n", "fallback", List([]string{strings.Repeat("x", 50), strings.Repeat("y", 50)}),
			"+fallback:\n+  - " + strings.Repeat("x", 50) + "\n+  - " + strings.Repeat("y", 50) + "\n"},
		{"quotes where YAML would read something else", "a: 1\n", "b", Text("on"), "+b: \"on\"\n"},
		{"a key that looks like a number", "a: 1\n", "m|123|x", Text("5"), "+m:\n+  \"123\":\n+    x: \"5\"\n"},
		{"an empty text", "", "a|b", Word("1"), "+a:\n+  b: 1\n"},
		{"comments alone", "# nothing yet", "a", Word("1"), "+a: 1\n"},
		{"a document without a node", "---\n", "a", Word("1"), "+a: 1\n"},
		{"an empty mapping", "{}\n", "a|b:c", Text("d"), "-{}\n+{a: {\"b:c\": d}}\n"},
		{"an empty value in brackets", "{a: }\n", "a", Word("1"), "-{a: }\n+{a: 1 }\n"},
		{"a value that is null in words", "a:\n  b: ~ # c\n", "a|b|c", Word("1"), "-  b: ~ # c\n+  b: # c\n+    c: 1\n"},
		{"a list without an indent", "f:\n- a\n- b\n", "f", List([]string{"c", "d"}), "-- a\n-- b\n+- c\n+- d\n"},
		{"a tag goes with its value", "a: !!str 5 # c\n", "a", Word("7"), "-a: !!str 5 # c\n+a: 7 # c\n"},
		{"an alias is replaced", "a: &x 1\nb: *x\n", "b", Word("7"), "-b: *x\n+b: 7\n"},
		{"a text over several lines", "a: one\n  two\nb: 'x\n\n  y'\n", "a", Text("z"), "-a: one\n-  two\n+a: z\n"},
		{"without a line break at the end", "a: 1", "b", Word("2"), "+b: 2\n"},
		{"a comment with brackets", "a: [x, # ]\n  y] # z\n", "a", List([]string{"w"}), "-a: [x, # ]\n-  y] # z\n+a: [w] # z\n"},
		{"behind a text that keeps its empty lines", "a:\n  b: |+\n    x\n\n\nc: 1\n", "a|d", Word("1"), "+  d: 1\n"},
		{"behind the comments of the last section", "a:\n  b: 1\n\n  # c: 2\n\n# d\n", "e", Word("1"), "+e: 1\n"},
		{"a deep block list in a mapping", "a:\n  b:\n  - x\n  - y\nc: 1\n", "a|d", Word("1"), "+  d: 1\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Set(tt.old, strings.Split(tt.path, "|"), tt.v)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, difference(tt.old, got)); d != "" {
				t.Errorf("difference (-want +got):\n%s\nin all:\n%s", d, got)
			}
			for _, form := range []struct{ name, old string }{
				{"CRLF", strings.ReplaceAll(tt.old, "\n", "\r\n")}, {"BOM", byteOrderMark + tt.old},
			} {
				other, err := Set(form.old, strings.Split(tt.path, "|"), tt.v)
				if err != nil {
					t.Errorf("%s: %v", form.name, err)
				}
				if form.name == "CRLF" && strings.Contains(tt.old, "\n") && strings.Count(other, "\n") != strings.Count(other, "\r\n") {
					t.Errorf("%s: line breaks are mixed in %q", form.name, other)
				}
				other = strings.TrimPrefix(strings.ReplaceAll(other, "\r\n", "\n"), byteOrderMark)
				if other != got {
					t.Errorf("%s gives another text: %q", form.name, other)
				}
			}
		})
	}
}

// difference lists the lines that went and came; @ parts what isn't adjacent.
func difference(old, text string) string {
	a, b := strings.SplitAfter(old, "\n"), strings.SplitAfter(text, "\n")
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			table[i][j] = max(table[i+1][j], table[i][j+1])
			if strings.TrimRight(a[i], "\n") == strings.TrimRight(b[j], "\n") {
				table[i][j] = table[i+1][j+1] + 1
			}
		}
	}
	var gone, come, out strings.Builder
	flush := func() {
		if out.Len() > 0 && gone.Len()+come.Len() > 0 {
			out.WriteString("@\n")
		}
		out.WriteString(gone.String() + come.String())
		gone.Reset()
		come.Reset()
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && strings.TrimRight(a[i], "\n") == strings.TrimRight(b[j], "\n"):
			flush()
			i, j = i+1, j+1
		case j >= len(b) || i < len(a) && table[i+1][j] >= table[i][j+1]:
			if a[i] != "" {
				gone.WriteString("-" + strings.TrimRight(a[i], "\n") + "\n")
			}
			i++
		default:
			if b[j] != "" {
				come.WriteString("+" + strings.TrimRight(b[j], "\n") + "\n")
			}
			j++
		}
	}
	flush()
	return out.String()
}

func TestRemove(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, old, path, want string }{
		{"a value with its comment", commented, "model", "-model: ollama/qwen3   # the fast one\n"},
		{"the first of a mapping in brackets", commented, "limits|max_turns",
			"-limits: {max_turns: 3, timeout: 1m}  # strict\n+limits: {timeout: 1m}  # strict\n"},
		{"the last of a mapping in brackets", commented, "limits|timeout",
			"-limits: {max_turns: 3, timeout: 1m}  # strict\n+limits: {max_turns: 3}  # strict\n"},
		{"a section goes with its only key", commented, "models|Qwen2.5/Coder:7B|tools",
			"-    Qwen2.5/Coder:7B:\n-        tools: 'yes'\n"},
		{"but not with a comment", commented, "models|other/x|tools",
			"-    other/x: {tools: true}   # short\n+    other/x: {}   # short\n"},
		{"a section stays with its comments", "a:\n  b: 1\n\n  # c: 2\n", "a|b", "-  b: 1\n"},
		{"a whole section", commented, "models",
			"-models:\n-    Qwen2.5/Coder:7B:\n-        tools: 'yes'\n-\n-    other/x: {tools: true}   # short\n"},
		{"a text of several lines", commented, "system", "-system: |\n-  Be brief.\n-\n-  Say so.\n"},
		{"an empty section", commented, "ollama", "-ollama:\n"},
		{"all there is", "a:\n  b:\n    c: 1\n", "a|b|c", "-a:\n-  b:\n-    c: 1\n"},
		{"without a line break at the end", "a: 1\nb: 2", "b", "-b: 2\n"},
		{"a key in brackets without a value", "{a, b: 1}\n", "a", "-{a, b: 1}\n+{b: 1}\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Remove(tt.old, strings.Split(tt.path, "|"))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, difference(tt.old, got)); d != "" {
				t.Errorf("difference (-want +got):\n%s\nin all:\n%s", d, got)
			}
		})
	}
	for _, path := range []string{"none", "model|x|y", "models|none", "ollama|num_ctx"} {
		if _, err := Remove(commented, strings.Split(path, "|")); err == nil || path != "model|x|y" && !errors.Is(err, ErrAbsent) {
			t.Errorf("Remove(%s) = %v, want ErrAbsent", path, err)
		}
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, old, path, add, drop, want string }{
		{"append to a block list", commented, "fallback", "x/y,z", "", "+  - x/y\n+  - z\n"},
		{"append to brackets", commented, "allow", "x", "",
			"-allow: [\"a(b, c)\", 'it''s']\n+allow: [\"a(b, c)\", 'it''s', x]\n"},
		{"append to nothing", commented, "deny", "x", "", "+deny: [x]\n"},
		{"append to an empty list", "a: []\n", "a", "x", "", "-a: []\n+a: [x]\n"},
		{"append to a section left empty", commented, "ollama", "x", "", "-ollama:\n+ollama: [x]\n"},
		{"drop from a block list", commented, "fallback", "", "ollama/a", "-  - ollama/a   # local\n"},
		{"drop the last of a block list", commented, "fallback", "", "openai/b", "-  - openai/b\n"},
		{"drop from brackets", commented, "allow", "", "it's", "-allow: [\"a(b, c)\", 'it''s']\n+allow: [\"a(b, c)\"]\n"},
		{"drop the first of brackets", "a: [x, y, x, z]\n", "a", "", "x", "-a: [x, y, x, z]\n+a: [y, z]\n"},
		{"drop all", "a: 1\nb: [x, y]\n", "b", "", "x,y,z", "-b: [x, y]\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			edit, elems := Append, tt.add
			if tt.drop != "" {
				edit, elems = Drop, tt.drop
			}
			got, err := edit(tt.old, strings.Split(tt.path, "|"), strings.Split(elems, ","))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, difference(tt.old, got)); d != "" {
				t.Errorf("difference (-want +got):\n%s\nin all:\n%s", d, got)
			}
		})
	}
	if _, err := Append("a: 1\n", []string{"a"}, []string{"x"}); !errors.Is(err, ErrNotList) {
		t.Errorf("append to a number: %v", err)
	}
	if _, err := Drop("a: [x]\n", []string{"a"}, []string{"y"}); !errors.Is(err, ErrAbsent) {
		t.Errorf("drop what isn't there: %v", err)
	}
}

// What can't be changed without changing something else is refused.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, old, path, want string }{
		{"a value with an anchor", "a: &x 1\nb: *x\n", "a", "line 1: the value of a is shared through an anchor"},
		{"a mapping with an anchor", "a: &x\n  k: 1\nb: *x\n", "a|k", "line 1: a is shared through an anchor"},
		{"a mapping by alias", "a: &x {k: 1}\nb: *x\n", "b|k", "line 2: b is shared through an anchor"},
		{"a key that stands twice", "a: 1\na: 2\n", "a", "line 2: a stands here a second time"},
		{"a text where a section should be", "a: text\n", "a|b", "line 1: a holds no keys"},
		{"a list at the top", "- a\n", "b", "line 1: the text holds no keys"},
		{"two documents", "a: 1\n---\nb: 1\n", "a", "the text holds more than one document"},
		{"an explicit key", "? a\n: 1\n", "a", "line 1: a key that is written with ? can't be changed in place"},
		{"behind the end of the document", "---\n...\n", "a", "a can't be changed in place"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Set(tt.old, strings.Split(tt.path, "|"), Word("7"))
			var form *FormError
			if !errors.As(err, &form) || err.Error() != tt.want {
				t.Errorf("Set = %q, %v; want %q", got, err, tt.want)
			}
		})
	}
	if _, err := Remove("a: &x 1\nb: *x\n", []string{"a"}); err == nil {
		t.Error("an anchor that is used was removed")
	}
	if _, err := Set("a: [", []string{"a"}, Word("1")); err == nil {
		t.Error("a text that is no YAML was edited")
	}
}

// Any text and any path: the result means what was wanted (Set itself checks
// that), a new entry can be taken out again, and no comment is lost.
func FuzzSet(f *testing.F) {
	f.Add(commented, "models|new/x|tools", "value")
	f.Add("{a: [1, {b: c}], d}\n", "e|f", "on")
	f.Add("a:\n  b: |+\n    x\n\n\nc: 1\n", "a|d", "x\ny\n")
	f.Add("a: 'x\n\n  y' # c\n", "a", "# no comment")
	f.Add("a:\r\n- b\r\n", "a", "\x00\u202e")
	f.Add("- \n", "a|", "")
	f.Fuzz(func(t *testing.T, text, path, value string) {
		names := strings.Split(path, "|")
		got, err := Set(text, names, Text(value))
		if err != nil {
			return
		}
		d, _, err := open(text, names)
		if err != nil {
			t.Fatalf("%q was edited and can't be parsed: %v", text, err)
		}
		was, err := d.walk(names)
		if err != nil || len(was.rest) == 0 || was.node != nil && empty(was.node) && len(was.chain) > 0 {
			return
		}
		for _, l := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\r\n\u0085\u2028\u2029", r) }) {
			if !strings.Contains(got, strings.TrimSpace(l)) && was.node.Style == 0 {
				t.Errorf("the line %q of %q is lost in %q", l, text, got)
			}
		}
		back, err := Remove(got, names)
		if form := (*FormError)(nil); errors.As(err, &form) {
			return // refusing is always right
		}
		if err != nil {
			t.Errorf("the new entry of %q can't be taken out again: %v", got, err)
		} else if a, b := strings.TrimRight(text, "\r\n"), strings.TrimRight(back, "\r\n"); a != b && was.node != nil && was.node.Style == 0 {
			t.Errorf("set and removed:\n%q\nwas\n%q", back, text)
		}
	})
}

func FuzzLists(f *testing.F) {
	f.Add(commented, "fallback", "x")
	f.Add("a: [b, 'c' # d\n , e]\n", "a", "e")
	f.Fuzz(func(t *testing.T, text, path, elem string) {
		names := strings.Split(path, "|")
		got, err := Append(text, names, []string{elem})
		if err != nil {
			return
		}
		form := (*FormError)(nil)
		if _, err := Drop(got, names, []string{elem}); err != nil && !errors.As(err, &form) {
			t.Errorf("what was added to %q can't be dropped from %q: %v", text, got, err)
		}
	})
}
