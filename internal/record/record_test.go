package record

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

type inner struct {
	Name  string          `json:"name"`
	Data  json.RawMessage `json:"data,omitempty"`
	Bytes []byte          `json:"bytes,omitempty"`
}

type sample struct {
	ID    string            `json:"id"`
	Text  string            `json:"text"`
	Raw   json.RawMessage   `json:"raw,omitempty"`
	Notes []string          `json:"notes"`
	Cites []json.RawMessage `json:"cites"`
	Steps []inner           `json:"steps"`
	Table map[string]string `json:"table"`
	Any   any               `json:"any"`
	At    time.Time         `json:"at"`
	Inner *inner            `json:"inner"`
	Own   string            `json:"-"`
	inner
}

func TestMarshalEscapesNothingForHTML(t *testing.T) {
	t.Parallel()
	s := "<a href=\"b\">&amp;</a>\u2028\x00\xff"
	text, err := Marshal(map[string]any{"s": s, "r": json.RawMessage(`"<&>"`)})
	if err != nil || !strings.Contains(string(text), `"r":"<&>"`) || strings.Contains(string(text), `\u003c`) {
		t.Fatalf("%s, %v", text, err)
	}
	var back map[string]string
	if err := json.Unmarshal(text, &back); err != nil || back["s"] != strings.ToValidUTF8(s, "\uFFFD") {
		t.Errorf("read back %q, %v", back["s"], err)
	}
	old, _ := json.Marshal(map[string]string{"s": s}) // as records were written before
	if err := json.Unmarshal(old, &back); err != nil || back["s"] != strings.ToValidUTF8(s, "\uFFFD") {
		t.Errorf("an escaped record read back %q, %v", back["s"], err)
	}
}

// Regardless of what a long field contains, the record fits, can be read, names the
// field, and keeps its short fields as they were.
func TestBoundCutsWhatIsLongAndNothingElse(t *testing.T) {
	t.Parallel()
	const limit = 4000
	texts := map[string]string{
		"plain": "x", "html": "<", "ampersand": "&", "control": "\x01", "quote": `"`, "backslash": `\`,
		"newline": "\n", "not UTF-8": "\xff", "line separator": "\u2028", "wide": "語",
	}
	for what, one := range texts {
		long := strings.Repeat(one, 5000)
		raw, err := Marshal(long)
		if err != nil {
			t.Fatal(err)
		}
		for field, change := range map[string]func(*sample){
			"text":    func(s *sample) { s.Text = long },
			"raw":     func(s *sample) { s.Raw = raw },
			"notes":   func(s *sample) { s.Notes = []string{"first", long, "last"} },
			"cites":   func(s *sample) { s.Cites = []json.RawMessage{json.RawMessage("1"), raw, json.RawMessage("2")} },
			"steps":   func(s *sample) { s.Steps = []inner{{Name: "a"}, {Data: raw}, {Name: "b"}} },
			"table":   func(s *sample) { s.Table = map[string]string{"a": long, "b": "short"} },
			"any":     func(s *sample) { s.Any = map[string]any{"deep": []any{long}} },
			"inner":   func(s *sample) { s.Inner = &inner{Name: long, Data: raw} },
			"name":    func(s *sample) { s.Name = long },
			"many":    func(s *sample) { s.Notes = slicesOf("note", 5000) },
			"entries": func(s *sample) { s.Table = map[string]string{long: "x", "b": "short"} },
		} {
			s := sample{ID: "id", Own: long, At: time.Unix(1, 0).UTC(), inner: inner{Data: json.RawMessage(`{"a":1}`)}}
			change(&s)
			shared := s // what others hold of it
			before, _ := Marshal(shared)
			cut, err := Bound(&s, limit)
			if err != nil || len(cut) == 0 {
				t.Errorf("%s, %s: cut %v, %v", what, field, cut, err)
				continue
			}
			text, err := Marshal(s)
			var back sample
			if err != nil || len(text) > limit || json.Unmarshal(text, &back) != nil {
				t.Errorf("%s, %s: %d bytes, %v", what, field, len(text), err)
			}
			if back.ID != "id" || !back.At.Equal(s.At) || string(back.inner.Data) != `{"a":1}` {
				t.Errorf("%s, %s: short fields changed: %.300s", what, field, text)
			}
			if after, _ := Marshal(shared); string(after) != string(before) {
				t.Errorf("%s, %s: what the record shares with others changed", what, field)
			}
		}
	}
}

func slicesOf(s string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = s
	}
	return out
}

func TestBoundLeavesWhatFits(t *testing.T) {
	t.Parallel()
	s := sample{ID: "id", Text: "short", Notes: []string{"a"}}
	was := s
	if cut, err := Bound(&s, 1000); cut != nil || err != nil || !reflect.DeepEqual(s, was) {
		t.Errorf("cut %v, %v", cut, err)
	}
}

// A list of structs keeps its length, which other parts of a record count on.
func TestBoundKeepsTheLengthOfAListOfStructs(t *testing.T) {
	t.Parallel()
	s := sample{Steps: make([]inner, 10)}
	for i := range s.Steps {
		s.Steps[i].Data = json.RawMessage(`"` + strings.Repeat("x", 1000) + `"`)
	}
	cut, err := Bound(&s, 3000)
	if err != nil || len(s.Steps) != 10 || !strings.Contains(strings.Join(cut, " "), "steps[") {
		t.Errorf("%d steps, cut %v, %v", len(s.Steps), cut, err)
	}
}

func TestBoundRefusesWhatCannotBeEncoded(t *testing.T) {
	t.Parallel()
	if _, err := Bound(&sample{Raw: json.RawMessage("{")}, 10); err == nil {
		t.Error("invalid JSON was taken")
	}
	if _, err := Bound(&[]int{1 << 40, 1 << 40, 1 << 40}, 5); err == nil {
		t.Error("numbers were cut")
	}
}

func TestClipCutsBetweenRunesAndSaysHowMuch(t *testing.T) {
	t.Parallel()
	for _, one := range []string{"x", "<", "\x01", "\xff", "\u2028", "語", `"`} {
		s := strings.Repeat(one, 100)
		for most := 0; most < 700; most++ {
			got := Clip(s, most)
			text, _ := Marshal(got)
			switch {
			case got != s && len(text) > max(most, 2):
				t.Fatalf("%q to %d: %d bytes", one, most, len(text))
			case got != s && got != "" && !strings.HasSuffix(got, " more bytes were cut]"):
				t.Fatalf("%q to %d: no mark in %q", one, most, got)
			}
		}
		if got := Clip(s, 700); got != s {
			t.Errorf("%q was cut though it fits", one)
		}
	}
}
