package payloads

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// testOffer has two markers of which one is the end of the other, one that is
// the other's begin, and one with a schema.
func testOffer(t testing.TB) *Offer {
	t.Helper()
	reg, problems := New(Set{Name: "test", Payloads: []Config{
		{Type: "plan", ParseMarker: "PLAN:", LLMInstructions: "a plan"},
		{Type: "big_plan", ParseMarker: "BIG_PLAN:", LLMInstructions: "a big plan"},
		{Type: "plan_b", ParseMarker: "PLAN: B", LLMInstructions: "another"},
		{Type: "tag", ParseMarker: "<tag>", LLMInstructions: "no word"},
		{Type: "strict", ParseMarker: "STRICT:", LLMInstructions: "of a schema",
			Schema: json.RawMessage(`{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}`)},
		{Type: "parsed", ParseMarker: "PARSED:", LLMInstructions: "by a parser", Parser: "mod:fn"},
	}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return reg.Offer(Where{})
}

// parsed is what came of a text, its texts joined.
type outcome []string

func (o *outcome) add(items []Item) {
	for _, it := range items {
		switch n := len(*o); {
		case it.Found != nil:
			*o = append(*o, "["+it.Found.Type+" "+string(it.Found.Data)+"]")
		case it.Note != "":
			*o = append(*o, "("+it.Note+")")
		case n > 0 && strings.HasPrefix((*o)[n-1], "text "):
			(*o)[n-1] += it.Text
		default:
			*o = append(*o, "text "+it.Text)
		}
	}
}

// text is what the person reads.
func (o outcome) text() string {
	var b strings.Builder
	for _, s := range o {
		if s, ok := strings.CutPrefix(s, "text "); ok {
			b.WriteString(s)
		}
	}
	return b.String()
}

func parseIn(p *Parser, pieces ...string) outcome {
	var o outcome
	for _, piece := range pieces {
		o.add(p.Feed(piece))
	}
	o.add(p.Finish())
	return o
}

func testOptions() ParserOptions {
	return ParserOptions{MaxBytes: 300, MaxDepth: 8, Parse: func(_ string, c Config, text string) (string, json.RawMessage, error) {
		if strings.Contains(text, "bad") {
			return "", nil, errors.New("the parser says no")
		}
		return "made_by_parser", json.RawMessage(`{"was":` + text + `}`), nil
	}}
}

func TestParser(t *testing.T) {
	t.Parallel()
	const broken = "(the payload plan was left as text: its JSON is not valid)"
	tests := map[string]struct {
		in   string
		want outcome
	}{
		"nothing":                        {"", nil},
		"plain text":                     {"Hello.\n\n  Yes \n", outcome{"text Hello.\n\n  Yes \n"}},
		"document 001's example":         {`Here's my proposal: PLAN: {"a": 1}`, outcome{"text Here's my proposal:", `[plan {"a": 1}]`}},
		"prose around":                   {"Before.\n\nPLAN: {\"a\":1}\n\nAfter.", outcome{"text Before.", `[plan {"a":1}]`, "text \n\nAfter."}},
		"on a line in a paragraph":       {"Before.\nPLAN: {}\nAfter.", outcome{"text Before.", "[plan {}]", "text \nAfter."}},
		"within a line":                  {"one PLAN: {} two", outcome{"text one", "[plan {}]", "text  two"}},
		"before punctuation":             {"one PLAN: {}, two", outcome{"text one", "[plan {}]", "text , two"}},
		"alone":                          {" \n PLAN: {} \n ", outcome{"[plan {}]"}},
		"first":                          {"PLAN: {}\n\n  Then.", outcome{"[plan {}]", "text Then."}},
		"five empty lines":               {"a\n\n\n\nPLAN: {}\n\n\n\nb", outcome{"text a", "[plan {}]", "text \n\nb"}},
		"an indentation stays":           {"a\nPLAN: {}\n  - b", outcome{"text a", "[plan {}]", "text \n  - b"}},
		"CRLF":                           {"a\r\nPLAN: {}\r\n\r\nb", outcome{"text a", "[plan {}]", "text \n\nb"}},
		"two":                            {"a\n\nPLAN: {}\n\nBIG_PLAN: [1]\n\nb", outcome{"text a", "[plan {}]", "[big_plan [1]]", "text \n\nb"}},
		"two side by side":               {"PLAN: {} PLAN:[2] c", outcome{"[plan {}]", "[plan [2]]", "text c"}},
		"an array":                       {`PLAN: [1, {"a": [2]}] x`, outcome{`[plan [1, {"a": [2]}]]`, "text x"}},
		"braces and escapes in texts":    {`PLAN: {"a}": "}{]\"\\", "b": "\u007d"} x`, outcome{`[plan {"a}": "}{]\"\\", "b": "\u007d"}]`, "text x"}},
		"all kinds of value":             {`PLAN: [true,false,null,-1.5e+3,"",{},[]]`, outcome{`[plan [true,false,null,-1.5e+3,"",{},[]]]`}},
		"JSON on the next line":          {"PLAN:\n\n{\n \"a\": 1\n}\nx", outcome{"[plan {\n \"a\": 1\n}]", "text x"}},
		"a code block around JSON":       {"a\n\nPLAN:\n```json\n{\"a\": \"```\"}\n```\n\nb", outcome{"text a", "[plan {\"a\": \"```\"}]", "text \n\nb"}},
		"a code block in the line":       {"a PLAN: ```json\n{}\n``` b", outcome{"text a", "[plan {}]", "text  b"}},
		"inline code around JSON":        {"a PLAN: `{}` b", outcome{"text a", "[plan {}]", "text  b"}},
		"tildes":                         {"PLAN:\n~~~\n{}\n~~~\nb", outcome{"[plan {}]", "text b"}},
		"a longer closing fence":         {"PLAN:\n```\n{}\n`````\nb", outcome{"[plan {}]", "text b"}},
		"a closing fence that is cut":    {"PLAN:\n```\n{}\n``", outcome{"[plan {}]"}},
		"a closing fence that is absent": {"PLAN:\n```\n{}\n", outcome{"[plan {}]"}},
		"a code block around both":       {"a\n\n```json\nPLAN: {}\n```\n\nb", outcome{"text a", "[plan {}]", "text \n\nb"}},
		"bold":                           {"a\n\n**PLAN:** {}\n\n**BIG_PLAN**: {}", outcome{"text a", "[plan {}]", "[big_plan {}]"}},
		"no word":                        {"x<tag>{}y", outcome{"text x", "[tag {}]", "text y"}},
		"the longest marker":             {"PLAN: B {} BIG_PLAN: {}", outcome{"[plan_b {}]", "[big_plan {}]"}},
		"after CJK without a space":      {"这是：PLAN: {}。", outcome{"text 这是：", "[plan {}]", "text 。"}},

		"the marker only mentioned":    {"I write PLAN: when asked, PLAN:", outcome{"text I write PLAN: when asked, PLAN:"}},
		"the marker within a word":     {"MY_PLAN: {} and xPLAN: {}", outcome{"text MY_PLAN: {} and xPLAN: {}"}},
		"the marker in inline code":    {"Write `PLAN: {}` then.", outcome{"text Write `PLAN: {}` then."}},
		"the marker in a code block":   {"a\n```\nsay\nPLAN: {}\n```\nPLAN: {}", outcome{"text a\n```\nsay\nPLAN: {}\n```", "[plan {}]"}},
		"an unfinished code block":     {"```\nx\nPLAN: {}", outcome{"text ```\nx\nPLAN: {}"}},
		"a block in tildes":            {"~~~\nx\n```\nPLAN: {}\n~~~\nPLAN: {}", outcome{"text ~~~\nx\n```\nPLAN: {}\n~~~", "[plan {}]"}},
		"a shorter fence closes none":  {"````\nx\n```\nPLAN: {}\n````", outcome{"text ````\nx\n```\nPLAN: {}\n````"}},
		"fences that are none":         {"```a`b\nPLAN: {}\n    ```\nPLAN: {}", outcome{"text ```a`b", "[plan {}]", "text \n    ```", "[plan {}]"}},
		"a scalar is no payload":       {`PLAN: "x" PLAN: 1`, outcome{`text PLAN: "x" PLAN: 1`}},
		"broken JSON":                  {"a PLAN: {name: 1} b", outcome{"text a PLAN: {", broken, "text name: 1} b"}},
		"a comma too many":             {`PLAN: {"a": 1,} b`, outcome{`text PLAN: {"a": 1,`, broken, "text } b"}},
		"a line break in a text":       {"PLAN: {\"a\": \"x\nPLAN: {}", outcome{"text PLAN: {\"a\": \"x", broken, "[plan {}]"}},
		"a wrong number":               {"PLAN: [01] x", outcome{"text PLAN: [01]", "(the payload plan was left as text: line 1, column 3: not valid JSON: invalid character '1' after array element)", "text  x"}},
		"a second after a broken one":  {"PLAN: {x\n\nPLAN: {}\n\ny", outcome{"text PLAN: {", broken, "text x", "[plan {}]", "text \n\ny"}},
		"cut off":                      {"a\n\nPLAN: {\"a\": [1, \"b", outcome{"text a\n\nPLAN: {\"a\": [1, \"b", "(the payload plan was left as text: the response ended within its JSON)"}},
		"cut off after the marker":     {"a PLAN: \n", outcome{"text a PLAN: \n"}},
		"cut off within the marker":    {"a PLA", outcome{"text a PLA"}},
		"two values in one code block": {"PLAN:\n```\n{}\n{}\n```\nPLAN: {}", outcome{"text PLAN:\n```\n{}", "(the payload plan was left as text: something follows its JSON in the same code block)", "text \n{}\n```", "[plan {}]"}},
		"broken in a code block":       {"```\nPLAN: {x}\nPLAN: {}\n```\nPLAN: {}", outcome{"text ```\nPLAN: {", broken, "text x}\nPLAN: {}\n```", "[plan {}]"}},
		"too deep":                     {"PLAN: [[[[[[[[[1]]]]]]]]] x", outcome{"text PLAN: [[[[[[[[", "(the payload plan was left as text: its JSON is nested more than 8 deep)", "text [1]]]]]]]]] x"}},
		"too long":                     {`PLAN: ["` + strings.Repeat("a", 400) + `"]`, outcome{`text PLAN: ["` + strings.Repeat("a", 298), "(the payload plan was left as text: its JSON is longer than 300 bytes)", "text " + strings.Repeat("a", 102) + `"]`}},
		"duplicate keys":               {`PLAN: {"a":1,"a":2}`, outcome{`text PLAN: {"a":1,"a":2}`, "(the payload plan was left as text: /a: the key stands twice in its object)"}},
		"against the schema":           {"a\n\nSTRICT: {\"name\": 3}\n\nb", outcome{"text a\n\nSTRICT: {\"name\": 3}", "(the payload strict was left as text: /name: expected string, got number 3)", "text \n\nb"}},
		"of the schema":                {"a\n\nSTRICT: {\"name\": \"3\"}\n\nb", outcome{"text a", `[strict {"name": "3"}]`, "text \n\nb"}},
		"a marker in a payload":        {`PLAN: {"a": "PLAN: {}"} b`, outcome{`[plan {"a": "PLAN: {}"}]`, "text b"}},
		"by a parser":                  {"PARSED: {} b", outcome{`[made_by_parser {"was":{}}]`, "text b"}},
		"a parser that refuses":        {`PARSED: ["bad"] b`, outcome{`text PARSED: ["bad"]`, "(the payload parsed was left as text: the parser says no)", "text  b"}},
	}
	offer := testOffer(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := offer.Parser(testOptions())
			for _, way := range [][]string{{tt.in}, strings.Split(tt.in, "")} {
				got := parseIn(p, way...)
				if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", tt.want) {
					t.Errorf("in %d pieces:\n got %q\nwant %q", len(way), got, tt.want)
				}
			}
		})
	}
}

func TestParserHoldsBackNothingElse(t *testing.T) {
	t.Parallel()
	tests := []struct{ piece, want string }{
		{"Hello", "Hello"},
		{" world ", " world"},
		{"P", ""}, // may be a marker
		{"lease", " Please"},
		{" PLAN: ", ""},
		{"no", " PLAN: no"},
		{"\n``", ""},
		{"`go\n", ""}, // may be a payload's wrapping
		{"x := 1\n", "\n```go\nx := 1"},
		{"```", ""},
		{"\n", "\n```"},
		{"é"[:1], "\n"}, // a part of a character waits
		{"é"[1:], "é"},
		{" **", ""},
		{"bold**", " **bold"},
		{" then", "** then"},
	}
	p := testOffer(t).Parser(ParserOptions{})
	for i, tt := range tests {
		var o outcome
		o.add(p.Feed(tt.piece))
		if o.text() != tt.want {
			t.Errorf("piece %d, %q: got %q, want %q", i, tt.piece, o.text(), tt.want)
		}
	}
}

func TestParserWithoutMarkersPassesTextOn(t *testing.T) {
	t.Parallel()
	reg, _ := New()
	p := reg.Offer(Where{}).Parser(ParserOptions{})
	got := parseIn(p, "SCHEMA_PROPOSAL: {", "} \n", "h\xc3", "\xa9!\xff")
	if want := "SCHEMA_PROPOSAL: {} \nhé!\xff"; got.text() != want || len(got) != 1 {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPendingNamesWhatIsWaitedFor(t *testing.T) {
	t.Parallel()
	p := testOffer(t).Parser(ParserOptions{})
	for _, step := range []struct{ piece, want string }{{"a PLAN: ", ""}, {"{\"a\":", "plan"}, {"1}", ""}} {
		p.Feed(step.piece)
		if got := p.Pending(); got != step.want {
			t.Errorf("after %q: got %q, want %q", step.piece, got, step.want)
		}
	}
}

func TestParserIsNewAfterFinish(t *testing.T) {
	t.Parallel()
	p := testOffer(t).Parser(ParserOptions{})
	for range 2 {
		if got := parseIn(p, "```\nPLAN: {}").text(); got != "" {
			t.Errorf("got %q, want nothing", got)
		}
		if got := parseIn(p, "```\nx\n").text(); got != "```\nx\n" {
			t.Errorf("got %q", got)
		}
	}
}

func TestParserBoundsNotesAndPayloads(t *testing.T) {
	t.Parallel()
	in := strings.Repeat("PLAN: {x\n", 100) + strings.Repeat("PLAN: {}\n", 100)
	got := parseIn(testOffer(t).Parser(ParserOptions{}), in)
	notes, found := 0, 0
	for _, s := range got {
		switch s[0] {
		case '(':
			notes++
		case '[':
			found++
		}
	}
	if notes != maxNotes || found != maxFound {
		t.Errorf("got %d notes and %d payloads, want %d and %d", notes, found, maxNotes, maxFound)
	}
	if n := strings.Count(got.text(), "PLAN: {}"); n != 100-maxFound {
		t.Errorf("%d payloads are text, want %d", n, 100-maxFound)
	}
}
