package strictyaml_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/internal/strictyaml"
)

var manifest = strictyaml.Options{Subject: "a manifest", MaxDepth: 4, MaxMarks: 40, Portable: true}

func TestEachProblemHasItsPlace(t *testing.T) {
	t.Parallel()
	lax := manifest
	lax.Portable = false
	for name, c := range map[string]struct {
		text string
		o    strictyaml.Options
		kind strictyaml.Kind
		want string
	}{
		"UTF-16":              {"\xff\xfea\x00", manifest, strictyaml.Syntax, "the file is UTF-16; save it as UTF-8"},
		"not UTF-8":           {"a: b\nb: ä\xff", manifest, strictyaml.Syntax, "2:5: this byte is not UTF-8"},
		"control character":   {"a: \x07", lax, strictyaml.Syntax, "1:4: the control character U+0007 is not allowed in a file; write it as an escape in quotes"},
		"line separator":      {"a: b\u2028c: d", manifest, strictyaml.Syntax, "1:5: the control character U+2028"},
		"carriage return":     {"a: b\rc: d", manifest, strictyaml.Syntax, "1:5: a carriage return without a line feed"},
		"directive":           {"# c\r\n%YAML 1.1\n---\na: b", manifest, strictyaml.Tag, "2:1: a directive (%) is not read here; a manifest is plain YAML 1.2"},
		"depth":               {"a: [[[[[b]]]]]", manifest, strictyaml.TooLarge, "more than 4 levels deep"},
		"marks":               {strings.Repeat("-", 41), manifest, strictyaml.TooLarge, "a manifest can't have this many values"},
		"unknown alias":       {"a: *b", manifest, strictyaml.Alias, "1:4: the alias can't be read"},
		"open quote":          {"a: b\nc: 'd\n", manifest, strictyaml.Syntax, "2:4: this quote is never closed"},
		"tab":                 {"a:\n\tb: c", manifest, strictyaml.Syntax, "2:1: a tab can't indent; use spaces"},
		"value":               {"a: @b", manifest, strictyaml.Syntax, "1:4: a value can't begin with this character"},
		"colon":               {"a: b: c", manifest, strictyaml.Syntax, `": " is not allowed here`},
		"second document":     {"a: b\n--- \nc: d", manifest, strictyaml.Second, "2:1: a second document begins here; a manifest is one"},
		"fault in the second": {"a: b\n---\nc: 'd", manifest, strictyaml.Syntax, "3:4: this quote is never closed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top, p := strictyaml.Parse([]byte(c.text), c.o)
			if p == nil {
				t.Fatalf("no problem, but %v", top)
			}
			if p.Kind != c.kind || !strings.Contains(p.Error(), c.want) {
				t.Errorf("kind %d, %q; want kind %d, %q", p.Kind, p, c.kind, c.want)
			}
		})
	}
}

func TestFilesWithoutAProblem(t *testing.T) {
	t.Parallel()
	lax := manifest
	lax.Portable = false
	for text, c := range map[string]struct {
		o     strictyaml.Options
		empty bool
	}{
		"":                          {manifest, true},
		"\ufeff# only a comment\n":  {manifest, true},
		"\ufeffa: b\r\n":            {manifest, false},
		"a: b\n...\n":               {manifest, false},
		"%TAG !e! tag:e\n---\na: b": {lax, false},
		"a: \"b\u2028c\"":           {lax, false},
	} {
		if top, p := strictyaml.Parse([]byte(text), c.o); p != nil || (top == nil) != c.empty {
			t.Errorf("%q: %v, %v", text, top, p)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a: b", "a: [b, {c: d}]", "--- \n---", "\ufeff%TAG ! x\n", "a: |\n  b\u2028", "&a [*a]", "'"} {
		f.Add([]byte(s), true)
		f.Add([]byte(s), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, portable bool) {
		top, p := strictyaml.Parse(data, strictyaml.Options{Subject: "a file", MaxDepth: 20, MaxMarks: 10_000, Portable: portable})
		switch {
		case p == nil:
		case top != nil && p.Kind != strictyaml.Second:
			t.Errorf("%q: a node and %v", data, p)
		case !utf8.ValidString(p.Msg) || strings.ContainsAny(p.Msg, "\n\r\x1b") || p.Line < 0 || p.Line > 0 && p.Column < 1:
			t.Errorf("%q: %d:%d: %q", data, p.Line, p.Column, p.Msg)
		}
	})
}
