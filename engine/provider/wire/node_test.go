package wire

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func parse(t testing.TB, raw string) *Node {
	t.Helper()
	n, err := ParseNode([]byte(raw))
	if err != nil {
		t.Fatalf("parse %s: %v", raw, err)
	}
	return n
}

func TestNodesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		` {"z": 1, "a": {"y": [true, null, "<b> & é\u00e9"], "b": 1.50e400}} `: `{"z":1,"a":{"y":[true,null,"<b> & éé"],"b":1.50e400}}`,
		`{"a":1,"b":2,"a":3}`: `{"a":3,"b":2}`,
		`{"":{},"x":[]}`:      `{"":{},"x":[]}`,
		`"a\"b"`:              `"a\"b"`,
		`-0`:                  `-0`,
	} {
		if got := string(parse(t, in).Append(nil)); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
	for _, in := range []string{``, ` `, `{`, `{}{}`, `{"a":}`, `nul`, strings.Repeat("[", 100) + strings.Repeat("]", 100), `[` + strings.Repeat("1,", maxNodes) + `1]`} {
		if n, err := ParseNode([]byte(in)); err == nil {
			t.Errorf("%.40q was taken: %+v", in, n)
		}
	}
	deep := strings.Repeat("[", maxNodeDepth) + strings.Repeat("]", maxNodeDepth)
	if got := string(parse(t, deep).Append(nil)); got != deep {
		t.Errorf("%s becomes %s", deep, got)
	}
}

func TestChangingNodes(t *testing.T) {
	t.Parallel()
	n := parse(t, `{"b":1,"a":"x","d":{"b":true}}`)
	copied := n.Clone()
	n.Set("b", StringNode("<new>"))
	n.Set("c", BoolNode(false))
	n.Get("d").Set("b", BoolNode(true))
	n.Get("d").Remove("nothing")
	n.Remove("a")
	if got := string(n.Append([]byte("> "))); got != `> {"b":"<new>","d":{"b":true},"c":false}` {
		t.Errorf("it becomes %s", got)
	}
	copied.Get("d").Set("b", BoolNode(false))
	if got := string(copied.Append(nil)); got != `{"b":1,"a":"x","d":{"b":false}}` || !n.Get("d").Get("b").Is("true") {
		t.Errorf("the copy is %s, beside %s", got, n.Append(nil))
	}
	var none *Node
	if none.Get("a") != nil || none.Text() != "" || none.Is("null") || none.Clone() != nil || n.Get("nothing") != nil {
		t.Error("what isn't there has something in it")
	}
	if n.Get("b").Text() != "<new>" || n.Get("c").Text() != "" || n.Text() != "" || !n.Get("c").Is("false") || n.Is("") {
		t.Error("a text isn't what it was, or what is none became one")
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	n := parse(t, `{"$defs":{"a/b":{"x":1},"c~d":2,"":3},"list":[{"y":4}]}`)
	for ref, want := range map[string]string{
		"#/$defs/a~1b": `{"x":1}`, "#/$defs/a~1b/x": "1", "#/$defs/c~0d": "2", "#/$defs/": "3", "#": string(n.Append(nil)),
		"": "", "#x": "", "$defs": "", "#/": "", "#/list/0": "", "#/$defs/none/x": "", "https://example.org/#/$defs": "", "#/$defs/c~0d/x": "",
	} {
		got := ""
		if at := n.At(ref); at != nil {
			got = string(at.Append(nil))
		}
		if got != want {
			t.Errorf("%q points at %q, want %q", ref, got, want)
		}
	}
}

// A Node holds what json.Unmarshal finds, and is written in a form that reads
// the same.
func FuzzParseNode(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.50,"x",null,true,{}],"b":{"c":"\ud83d"}}`, `{"a":1,"a":{"b":2},"A":3}`, `"\u0000\u2028<>&"`, `1e999`, `[[[[]]]]`, "\"\xff\"", `{"\ud83d":1,"\ud83e":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		n, err := ParseNode(raw)
		if err != nil {
			return
		}
		out := n.Append(nil)
		again, err := ParseNode(out)
		if err != nil {
			t.Fatalf("%s can't be read again: %v", out, err)
		}
		if third := again.Clone().Append(nil); !bytes.Equal(out, third) {
			t.Errorf("it becomes %s and then %s", out, third)
		}
		if a, b := value(t, raw), value(t, out); !reflect.DeepEqual(a, b) {
			t.Errorf("%s reads as %v, want %v", out, b, a)
		}
	})
}

func value(t *testing.T, raw []byte) any {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}
