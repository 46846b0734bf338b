package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestFieldsOfACall(t *testing.T) {
	t.Parallel()
	var pieces CallPieces
	err := json.Unmarshal([]byte(`[{"index":0,"id":"a","type":"function","extra_content":{"google":{"thought_signature":"s"}},"none":null,
		"function":{"name":"look","arguments":"{}","origin":"x"}}]`), &pieces)
	const want = `{"extra_content":{"google":{"thought_signature":"s"}},"function":{"origin":"x"}}`
	if err != nil || string(pieces[0].Extra) != want {
		t.Fatalf("the call has %s, %v; want %s", pieces[0].Extra, err, want)
	}
	var calls Calls
	for _, raw := range []string{
		`{"index":0,"id":"a","function":{"name":"look","arguments":""},"vendor":{"a":1}}`,
		`{"extra_content":{"google":{"thought_signature":"s"}}}`,
		`{"index":0,"function":{"arguments":"{}"},"vendor":{"b":2}}`,
	} {
		var p CallPiece
		if err := json.Unmarshal([]byte(raw), &p); err != nil {
			t.Fatal(err)
		}
		if err := calls.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	if got := calls.List(); len(got) != 1 || string(got[0].Extra) != `{"vendor":{"a":1,"b":2},"extra_content":{"google":{"thought_signature":"s"}}}` {
		t.Errorf("the pieces have %s", got)
	}
}

func TestWithoutFields(t *testing.T) {
	t.Parallel()
	const all = `{"extra_content":{"google":1},"function":{"origin":"x"},"vendor":2}`
	if got := strings.Join(FieldNames([]byte(all)), " "); got != "extra_content origin vendor" {
		t.Errorf("the names are %s", got)
	}
	for names, want := range map[string]string{
		"": all, "vendor": `{"extra_content":{"google":1},"function":{"origin":"x"}}`,
		"origin": `{"extra_content":{"google":1},"vendor":2}`, "google": all, "extra_content vendor origin": "",
	} {
		if got := WithoutFields([]byte(all), strings.Fields(names)); string(got) != want {
			t.Errorf("without %q it is %s, want %s", names, got, want)
		}
	}
}

// What is not an object, or not JSON, counts as an empty one.
func TestJoinFieldsOfWrongValues(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{``, `{"a":1}`, `{"a":1}`}, {`{"a":1}`, `[1]`, `{"a":1}`}, {`{"a":1}`, `{"a":2,"b":3}`, `{"a":2,"b":3}`},
		{`{"a"`, `{"b":1}`, `{"b":1}`}, {`{"a":{"x":1}}`, `{"a":{"y":2}}`, `{"a":{"x":1,"y":2}}`},
	} {
		if got := JoinFields([]byte(c[0]), []byte(c[1])); string(got) != c[2] {
			t.Errorf("%s and %s are %s, want %s", c[0], c[1], got, c[2])
		}
	}
}

// A text that begins in the reasoning is reasoning up to the marker, wherever it is cut, and
// the answer if no marker comes.
func TestThinkingThatHasBegun(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"hm\n</think>\n\nyes":  {"hm\n", "yes"},
		"yes, all of it":       {"yes, all of it", "yes, all of it"},
		"<think>hm</think>yes": {"hm", "yes"},
		" \n</think>yes":       {" \n", "yes"},
		"a </thi b</think> c":  {"a </thi b", "c"},
	} {
		for size := 1; size <= len(text); size++ {
			var th Thinking
			th.Begin("</think>")
			got := [2]string{}
			all := th.Add(nil, "")
			for i := 0; i < len(text); i += size {
				all = th.Add(all, text[i:min(i+size, len(text))])
			}
			for _, d := range th.End(all) {
				if d.Kind == "reasoning" {
					got[0] += d.Text
				} else {
					got[1] += d.Text
				}
			}
			if got != want {
				t.Errorf("%q in pieces of %d is %q, want %q", text, size, got, want)
			}
		}
	}
}
