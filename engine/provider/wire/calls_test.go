package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
)

// Each piece is as it comes in a tool_calls; what is built is given as id, name
// and arguments.
func TestCallsFromPieces(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pieces []string
		want   string
	}{
		"whole":             {[]string{`{"index":0,"id":"1","function":{"name":"a","arguments":"{}"}}`}, `1 a {}`},
		"in pieces":         {[]string{`{"index":0,"id":"1","function":{"name":"a","arguments":""}}`, `{"index":0,"function":{"arguments":"{\"x\":"}}`, `{"index":0,"function":{"arguments":"1}"}}`}, `1 a {"x":1}`},
		"interleaved":       {[]string{`{"index":0,"id":"1","function":{"name":"a","arguments":"{"}}`, `{"index":1,"id":"2","function":{"name":"b","arguments":"{"}}`, `{"index":0,"function":{"arguments":"}"}}`, `{"index":1,"function":{"arguments":"}"}}`}, `1 a {}, 2 b {}`},
		"one index for all": {[]string{`{"index":0,"id":"1","function":{"name":"a","arguments":"{}"}}`, `{"index":0,"id":"2","function":{"name":"a","arguments":"{}"}}`}, `1 a {}, 2 a {}`},
		"no index":          {[]string{`{"id":"1","function":{"name":"a","arguments":"{}"}}`, `{"id":"2","function":{"name":"b","arguments":"{"}}`, `{"function":{"arguments":"}"}}`}, `1 a {}, 2 b {}`},
		"neither":           {[]string{`{"function":{"name":"a","arguments":"{}"}}`, `{"function":{"name":"a","arguments":"{\"x\":1}"}}`}, ` a {},  a {"x":1}`},
		"one id for all":    {[]string{`{"id":"1","function":{"name":"a","arguments":"{}"}}`, `{"id":"1","function":{"name":"b","arguments":"{}"}}`}, `1 a {}, 1 b {}`},
		"a name each time":  {[]string{`{"index":0,"id":"1","function":{"name":"a","arguments":"{"}}`, `{"index":0,"id":"1","function":{"name":"a","arguments":"}"}}`}, `1 a {}`},
		"the name later":    {[]string{`{"index":0,"id":"1"}`, `{"index":0,"function":{"name":"a"}}`}, `1 a `},
		"an object":         {[]string{`{"index":0,"id":7,"function":{"name":"a","arguments":{"x":1}}}`}, `7 a {"x":1}`},
		"null":              {[]string{`{"index":null,"id":null,"function":{"name":"a","arguments":null}}`}, ` a `},
		"no function":       {[]string{`{"index":0,"id":"1","function":null}`}, `1  `},
		"another number":    {[]string{`{"index":0,"id":"1","function":{"name":"a","arguments":"{"}}`, `{"index":1,"function":{"arguments":"}"}}`}, `1 a {}`},
	} {
		var calls Calls
		for _, p := range c.pieces {
			var piece CallPiece
			if err := json.Unmarshal([]byte(p), &piece); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := calls.Add(piece); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		var got []string
		for _, c := range calls.List() {
			got = append(got, fmt.Sprintf("%s %s %s", c.ID, c.Name, c.Args))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: it is %q, want %q", name, got, c.want)
		}
	}
}

func TestCallPieces(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int{`null`: 0, `[]`: 0, `{"id":"1"}`: 1, `[{"id":"1"},{}]`: 1, `[null]`: 0, `[null,{"id":"1"},"",[]]`: 1, `""`: 0, `{}`: 0} {
		got := struct{ Calls CallPieces }{CallPieces{{}, {}, {}}}
		if err := json.Unmarshal([]byte(`{"Calls":`+in+`}`), &got); err != nil || len(got.Calls) != want {
			t.Errorf("%s: %+v, %v", in, got.Calls, err)
		}
	}
	var p CallPieces
	if err := json.Unmarshal([]byte(`"call"`), &p); err == nil {
		t.Error("a text was taken")
	}
}

func TestCallsHaveAnEnd(t *testing.T) {
	t.Parallel()
	var calls Calls
	var err error
	for i := 0; err == nil && i < 2*MaxCalls; i++ {
		err = calls.Add(CallPiece{Index: Int{N: int64(i), Set: true}, ID: String(fmt.Sprint(i)), Function: Maybe[CallFunction]{V: CallFunction{Name: "a"}, Set: true}})
	}
	var f *FormatError
	if !errors.As(err, &f) || len(calls.List()) != MaxCalls {
		t.Errorf("%d calls: %v", len(calls.List()), err)
	}
	var long Calls
	half := append([]byte{'{'}, bytes.Repeat([]byte{' '}, MaxBody/2)...)
	if err := long.Add(CallPiece{Function: Maybe[CallFunction]{V: CallFunction{Arguments: half}, Set: true}}); err != nil {
		t.Error(err)
	}
	if err := long.Add(CallPiece{Function: Maybe[CallFunction]{V: CallFunction{Arguments: half}, Set: true}}); !errors.As(err, &f) {
		t.Errorf("with long arguments: %v", err)
	}
	if err := long.Add(CallPiece{Function: Maybe[CallFunction]{V: CallFunction{Arguments: []byte(`"\x"`)}, Set: true}}); !errors.As(err, &f) {
		t.Errorf("with arguments that are no text: %v", err)
	}
}

func TestFinishCalls(t *testing.T) {
	t.Parallel()
	names := provider.NewNames("my:tool")
	made := 0
	o := FinishOptions{Names: names, NewID: func() string { made++; return fmt.Sprint("made_", made) }}
	cut := o
	cut.Cut = true
	for name, c := range map[string]struct {
		calls []Call
		o     FinishOptions
		want  []string
	}{
		"nothing":              {nil, o, nil},
		"as they are":          {[]Call{{"1", names.Wire("my:tool"), []byte(`{"a": 1}`), nil}}, o, []string{`1 my:tool {"a":1}`}},
		"without ids":          {[]Call{{"", "a", nil, nil}, {"x", "a", nil, nil}, {"x", "a", nil, nil}}, o, []string{`made_? a {}`, `x a {}`, `made_? a {}`}},
		"with wrong arguments": {[]Call{{"1", "a", []byte(`{"a"`), nil}}, o, []string{`1 a "{\"a\""`}},
		"cut off":              {[]Call{{"1", "a", []byte(`{}`), nil}, {"2", "my_tool", []byte(`{"a"`), nil}}, cut, []string{`1 a {}`, "note: a call of " + names.Tool("my_tool") + " was cut off at the length limit and left out"}},
		"placeholders":         {[]Call{{"1", "", nil, nil}, {"2", "a", nil, nil}, {"3", "", []byte(`""`), nil}, {"", "", []byte("{}"), nil}}, o, []string{`2 a {}`}},
		"nameless":             {[]Call{{"1", "", []byte(`{"a":1}`), nil}}, o, []string{`1 unnamed_tool {"a":1}`}},
		"nameless and cut off": {[]Call{{"1", "", []byte(`{"a"`), nil}}, cut, []string{"note: a tool call was cut off at the length limit and left out"}},
	} {
		deltas := FinishCalls(nil, c.calls, c.o)
		var got []string
		for _, d := range deltas {
			if d.Kind == provider.Footnote {
				got = append(got, "note: "+d.Text)
				continue
			}
			if strings.HasPrefix(d.Call.ID, "made_") {
				d.Call.ID = "made_?"
			}
			got = append(got, d.Call.ID+" "+d.Call.Name+" "+string(d.Call.Args))
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: it is %q, want %q", name, got, c.want)
		}
	}
	if made != 2 {
		t.Errorf("it made %d ids", made)
	}
}

func TestObjectArgs(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{``: `{}`, `null`: `{}`, ` {"a": 1} `: `{"a": 1}`, `"{}"`: `{}`, `[1]`: `{}`, `{"a"`: `{}`, `{}{}`: `{}`} {
		if got := ObjectArgs(json.RawMessage(in)); string(got) != want {
			t.Errorf("%q becomes %s, want %s", in, got, want)
		}
	}
	if a, b := NewCallID(), NewCallID(); a == b || !strings.HasPrefix(a, "call_") {
		t.Errorf("it made %q and %q", a, b)
	}
}
