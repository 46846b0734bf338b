package search

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// words are the tokens of a text with their places.
func words(text string) string {
	var out []string
	for t := range Tokens(text) {
		out = append(out, fmt.Sprintf("%d:%s", t.Pos, t.Text))
	}
	return strings.Join(out, " ")
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                       "",
		"!? -- …":                "",
		"Why is the Sky blue?":   "0:why 1:is 2:the 3:sky 4:blue",
		"foo_bar, don't v1.2":    "0:foo 1:bar 2:don 3:t 4:v1 5:2",
		"Café CAFE\u0301 naïve":  "0:cafe 1:cafe 2:naive",
		"Straße ŁÓDŹ Øre æon":    "0:strasse 1:lodz 2:ore 3:aeon",
		"ΣΊΣΥΦΟΣ σίσυφος":        "0:σισυφοσ 1:σισυφοσ",
		"İstanbul ISTANBUL ılık": "0:istanbul 1:istanbul 2:ilik",
		"Ёлка елка":              "0:елка 1:елка",
		"ｆｕｌｌ ﬁne x²":            "0:full 1:fine 2:x2",
		"soft\u00adhyphen":       "0:softhyphen",
		"שָׁלוֹם שלום":           "0:שלום 1:שלום",
		"कि की":                  "0:कि 1:की",
		"機械学習":                   "0:機械 1:械学 2:学習 2:習",
		"学":                      "0:学",
		"科学 foo":                 "0:科学 0:学 1:foo",
		"Go言語2":                  "0:go 1:言語 1:語 2:2",
		"ｶﾞｲﾄﾞ ガイド":              "0:ガイ 1:イド 1:ド 2:ガイ 3:イド 3:ド",
		"か が":                    "0:か 1:が",
		"한국어":                    "0:한국 1:국어 1:어",
		"\x1b[31mred\x1b[0m now": "0:red 1:now",
		"a\xffb":                 "0:a 1:b",
		strings.Repeat("x", 500): "0:" + strings.Repeat("x", MaxToken),
		strings.Repeat("é", 500): "0:" + strings.Repeat("e", MaxToken),
	} {
		if got := words(text); got != want {
			t.Errorf("%q has %q, want %q", text, got, want)
		}
	}
}

func FuzzTokens(f *testing.F) {
	for _, s := range []string{"Why is the sky blue?", "機械学習 foo", "e\u0301\u0301", "\x1b[3", "\u3099\u0e33x", "ﷺ½①", "\u200d\u00ad", "한\u1112\u1161"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		before := Token{Pos: -1}
		for tok := range Tokens(text) {
			switch {
			case tok.Text == "" || len(tok.Text) > MaxToken || tok.Stem == "" || !strings.HasPrefix(tok.Text, tok.Stem):
				t.Errorf("token %+v of %q", tok, text)
			case tok.Start < before.Start || tok.Start >= tok.End || tok.End > len(text) || tok.Unit <= tok.Start || tok.Unit > tok.End:
				t.Errorf("token %+v stands behind %+v of %q", tok, before, text)
			case tok.Pos != before.Pos+1 && (tok.Pos != before.Pos || !tok.Single):
				t.Errorf("token %+v comes after %+v of %q", tok, before, text)
			case !utf8.ValidString(tok.Text) || !utf8.ValidString(text[tok.Start:tok.End]):
				t.Errorf("token %+v of %q is no text", tok, text)
			}
			before = tok
		}
	})
}

// clauses shows how a query is understood.
func clauses(q Query) string {
	var out []string
	for _, c := range q.Clauses {
		s := ""
		if c.Not {
			s = "-"
		}
		var toks []string
		for _, t := range c.Tokens {
			toks = append(toks, t.Text)
		}
		s += strings.Join(toks, "+")
		if c.Prefix {
			s += "*"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"sky blue":                 "sky blue",
		"  Sky\tSKY sky ":          "sky",
		`"the sky" blue`:           "the+sky blue",
		`"the sky`:                 "the+sky",
		`sky"is blue"`:             "sky is+blue",
		"foo_bar":                  "foo+bar",
		"sky* -blue* - green":      "sky* -blue* green",
		`-"a b" c`:                 "-a+b c",
		"-> error: foo --bar":      "error foo -bar",
		"c++ * -* x**":             "c x*",
		`"new yo*"`:                "new+yo*",
		"機械学習* 学":                  "機械+械学+学習 学",
		"":                         "there is nothing to search for",
		` "" - * "-"`:              "there is nothing to search for",
		"-a":                       "the query only says what to leave out",
		"a\xffb":                   "a b",
		strings.Repeat("a ", 2000): "the query has 4000 bytes; at most 2000 can be searched for",
		strings.Repeat("a_", 200):  "the query has too many words; at most 32 clauses and 100 words can be searched for",
	} {
		q, err := Parse(text)
		got := clauses(q)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`"why is" sk* -green`, "機械学* 学", `-"`, `--""a`, "a-b*c"} {
		f.Add(s, "Why is the sky green? 機械学習 a b c")
	}
	f.Fuzz(func(t *testing.T, query, text string) {
		q, err := Parse(query)
		if err != nil {
			return
		}
		again, err := Parse(q.String())
		if err != nil {
			t.Fatalf("%q shows as %q, which is wrong: %v", query, q.String(), err)
		}
		if diff := cmp.Diff(clauses(q), clauses(again)); diff != "" {
			t.Errorf("%q shows as %q: %s", query, q.String(), diff)
		}
		terms := NewTerms()
		terms.Add(Body, text)
		hits := q.Find(text)
		seen := map[int]bool{}
		for _, h := range hits {
			if h.Start < 0 || h.Start >= h.End || h.End > len(text) {
				t.Errorf("%q finds %+v in %q", query, h, text)
			}
			seen[h.Clause] = true
		}
		for i, c := range q.Clauses {
			in := inTerms(c, terms)
			if seen[i] && !in {
				t.Errorf("%q occurs in %q, and the index doesn't have it", c, text)
			}
			if in && !seen[i] && c.Exact() {
				t.Errorf("%q is in the index of %q, and doesn't occur", c, text)
			}
		}
		line, marks := Excerpt(text, hits, 60)
		if n := utf8.RuneCountInString(line); n > 60 {
			t.Errorf("the excerpt %q has %d characters", line, n)
		}
		for i, m := range marks {
			if m[0] >= m[1] || m[1] > utf8.RuneCountInString(line) || i > 0 && m[0] < marks[i-1][1] {
				t.Errorf("the excerpt %q has marks %v", line, marks)
			}
		}
	})
}

// inTerms looks a clause up as the store does.
func inTerms(c Clause, terms Terms) bool {
	for _, l := range c.Lookups(Body) {
		_, ok := terms.Words[l.Word]
		if l.IsPair {
			_, ok = terms.Pairs[l.Pair]
		}
		for word := range terms.Words {
			ok = ok || l.Begin && strings.HasPrefix(word, l.Word)
		}
		if !ok {
			return false
		}
	}
	return true
}

func TestFind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ query, text, want string }{
		{"sky", "The Sky, the SKYLINE", "Sky"},
		{"sky*", "The Sky, the SKYLINE", "Sky|SKYLINE"},
		{`"the sky"`, "the blue sky; the sky", "the sky"},
		{`"the sk*"`, "the skyline", "the skyline"},
		{"foo_bar", "foo bar foo-bar foobar", "foo bar|foo-bar"},
		{"学", "科学技術と学", "学|学"},
		{"学技", "科学技術", "学技"},
		{`"科学 foo"`, "科学 foo 科学技 foo", "科学 foo"},
		{`"学 foo"`, "科学 foo", "学 foo"},
		{"cafe -tea", "Café au thé, TEA", "Café|TEA"},
		{`"a b a c"`, "a b a b a c", "a b a c"},
	} {
		q, err := Parse(c.query)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range q.Find(c.text) {
			got = append(got, c.text[h.Start:h.End])
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s in %q: %q, want %q", c.query, c.text, got, c.want)
		}
	}
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("lorem ipsum ", 30)
	for _, c := range []struct{ name, query, text, want string }{
		{"short", "sky", "Why is\n\tthe sky  blue?", "Why is the [sky] blue?"},
		{"in the middle", "sky", long + "the sky is blue " + long, "…ipsum the [sky] is blue lorem ipsum lorem ipsum lorem ipsum…"},
		{"where most of the query is", "sky blue", "A sky. " + long + "A sky so blue.", "…ipsum lorem ipsum lorem ipsum lorem ipsum A [sky] so [blue]."},
		{"harmful", "sky", "a \x1b[31msky\x1b[0m\x07 \u202eblue\u0000x", "a [sky] blue x"},
		{"overlapping", `"a b" "b c"`, "a b c", "[a b c]"},
		{"wide", "学", "科学技術", "科[学]技術"},
		{"one word that is longer than all", "x*", strings.Repeat("x", 100), "[" + strings.Repeat("x", 59) + "]…"},
		{"no hit", "nothing", long, "lorem ipsum lorem ipsum lorem ipsum lorem ipsum lorem ipsum…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			q, err := Parse(c.query)
			if err != nil {
				t.Fatal(err)
			}
			line, marks := Excerpt(c.text, q.Find(c.text), 60)
			if got := bracketed(line, marks); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// bracketed shows marks as brackets.
func bracketed(line string, marks [][2]int) string {
	runes := []rune(line)
	out, at := "", 0
	for _, m := range marks {
		out += string(runes[at:m[0]]) + "[" + string(runes[m[0]:m[1]]) + "]"
		at = m[1]
	}
	return out + string(runes[at:])
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	q, err := Parse("blau")
	if err != nil {
		t.Fatal(err)
	}
	const text = "Über Blau, blau"
	if got := bracketed(text, Places(text, q.Find(text))); got != "Über [Blau], [blau]" {
		t.Error(got)
	}
}
