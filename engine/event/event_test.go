package event

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func half() *float64 { f := 0.5; return &f }

// bodies has one body of every type, with every field set.
func bodies() []Body {
	raw := json.RawMessage(`{"a":[1,"<b>"]}`)
	return []Body{
		Status{"Thinking..."},
		AgentStart{"scavenger"},
		Handoff{From: "interface", To: "scavenger"},
		Reasoning{Text: "hm", Details: raw},
		TextDelta{Text: "Hello", Agent: "interface"},
		ToolStart{Tool: "analyze", ToolID: "my:analyze", Input: raw, ToolUseID: "toolu_1", CallID: "c1", Agent: "a", Index: 2},
		ConfirmRequest{Tool: "run", ToolID: "run", Input: raw, ToolUseID: "toolu_1", Reason: "why"},
		ConfirmResult{ToolUseID: "toolu_1", Decision: AllowChat, Reason: "go"},
		Prompted{ToolUseID: "toolu_1", Server: "geo", Model: "ollama/x", Usage: &Usage{InputTokens: 1}},
		ToolProgress{Tool: "analyze", Stage: "one", Message: "m", Progress: half(), Data: raw, ToolUseID: "toolu_1"},
		ToolComplete{
			Tool: "analyze", ToolID: "my:analyze", Index: 2, ToolUseID: "toolu_1", CallID: "c1", Status: CallError,
			Result: "r", Data: raw, Error: "e", WorkspacePayload: raw, Payload: raw, RenderPlan: raw,
			PreManifestID: "m1", PostManifestID: "m2", Changes: []Change{{"a.txt", "modified", "0644 → 0755"}}, DurationMS: 12,
			Conflicts: []Conflict{{"b.txt", "edit/edit", "r"}}, CallManifestID: "m3",
		},
		Payload{PayloadID: "p", Kind: "table", Data: raw, Source: "tool"},
		Workflow{Instance: "w", Step: "s", State: "running", Progress: half(), Data: raw},
		Annotations{[]json.RawMessage{raw}},
		Meta{Model: "ollama/x", Usage: &Usage{1, 2, 3, 4, 5}, StopReason: "stop", StopDetail: "why", ContextLength: 4096},
		Footnote{Text: "note", Ending: EndLength},
		Summary{Text: "s", MessageID: "m", Messages: 4, Model: "x/y", Usage: &Usage{InputTokens: 1}},
		Complete{ResponsePayload{
			Message: "m", ConversationID: 12, SuggestedValues: []json.RawMessage{raw}, SuggestedActions: []json.RawMessage{raw},
			CustomPayload: &CustomPayload{"tool_history", raw}, WorkspacePayload: raw, ChatID: "c", MessageID: "m",
			Model: "x/y", Usage: &Usage{InputTokens: 1}, StopReason: "stop", Denied: 1,
		}},
		Error{Message: "m", Code: "failed", Retryable: true, Detail: []string{"d"}, Hints: []string{"h"}},
		Cancelled{},
	}
}

// TestBodiesHasEveryType holds the list against what is declared, and what is declared
// against what is read: a type that is in no list is described to nobody.
func TestBodiesHasEveryType(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("bodies.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := map[Type]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\tType\w+ +Type = "(\w+)"$`).FindAllStringSubmatch(string(source), -1) {
		declared[Type(m[1])] = true
	}
	for what, list := range map[string][]Body{"Bodies": Bodies(), "those of this test": bodies()} {
		seen := map[Type]int{}
		for _, b := range list {
			seen[b.Type()]++
			var e Event
			if err := json.Unmarshal([]byte(`{"type":"`+string(b.Type())+`","turn_id":"t","seq":1,"time":"2026-01-02T03:04:05Z"}`), &e); err != nil {
				t.Fatal(err)
			}
			if reflect.TypeOf(e.Body) != reflect.TypeOf(b) {
				t.Errorf("%s: %s is read as %T", what, b.Type(), e.Body)
			}
		}
		for name := range declared {
			if seen[name] != 1 {
				t.Errorf("%s: %s is there %d times", what, name, seen[name])
			}
		}
		if len(seen) != len(declared) || len(seen) < 20 {
			t.Errorf("%s: %d types, and %d are declared", what, len(seen), len(declared))
		}
	}
}

func at(b Body) Event {
	return Event{TurnID: "01T", Seq: 7, Time: time.Date(2026, 11, 27, 12, 0, 0, 5000, time.UTC), Body: b}
}

func TestEveryBodySurvivesItsJSON(t *testing.T) {
	t.Parallel()
	for _, b := range bodies() {
		t.Run(string(b.Type()), func(t *testing.T) {
			want := at(b)
			line, err := want.Append(nil)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.ContainsAny(line, "\n\r") {
				t.Errorf("a line break in %s", line)
			}
			var got Event
			if err := json.Unmarshal(line, &got); err != nil {
				t.Fatalf("%v in %s", err, line)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
		})
	}
}

// The fields of document 000, by their exact names.
func TestDocumentedShapes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body Body
		want string
	}{
		"text_delta":    {TextDelta{Text: "Hello"}, `{"type":"text_delta","text":"Hello"}`},
		"status":        {Status{"Thinking..."}, `{"type":"status","message":"Thinking..."}`},
		"tool_progress": {ToolProgress{Tool: "t", Stage: "s", Message: "m", Progress: half(), ToolUseID: "u"}, `{"type":"tool_progress","tool":"t","stage":"s","message":"m","progress":0.5,"tool_use_id":"u"}`},
		"cancelled":     {Cancelled{}, `{"type":"cancelled"}`},
		"handoff":       {Handoff{From: "a", To: "b"}, `{"type":"handoff","from":"a","to":"b"}`},
	} {
		t.Run(name, func(t *testing.T) {
			line, err := at(c.body).Append(nil)
			if err != nil {
				t.Fatal(err)
			}
			var got, want map[string]any
			if json.Unmarshal(line, &got) != nil || json.Unmarshal([]byte(c.want), &want) != nil {
				t.Fatalf("no JSON: %s", line)
			}
			for _, header := range []string{"turn_id", "seq", "time"} {
				if got[header] == nil {
					t.Errorf("%s is missing in %s", header, line)
				}
				delete(got, header)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestUnknownTypesAreKept(t *testing.T) {
	t.Parallel()
	line := `{"type":"later","turn_id":"t","seq":3,"time":"2026-01-02T03:04:05Z","field":{"x":1}}`
	var e Event
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		t.Fatal(err)
	}
	if e.Type() != "later" || e.Seq != 3 || e.Ends() {
		t.Errorf("read %+v", e)
	}
	back, err := json.Marshal(e)
	if err != nil || string(back) != line {
		t.Errorf("gave back %s, %v", back, err)
	}
}

func TestWhatIsNoEvent(t *testing.T) {
	t.Parallel()
	for _, line := range []string{``, `null x`, `[]`, `{}`, `{"type":"text_delta","text":3}`, `{"type":"meta","usage":[]}`} {
		var e Event
		if err := json.Unmarshal([]byte(line), &e); err == nil {
			t.Errorf("%q was read as %+v", line, e)
		}
	}
	if _, err := (Event{}).Append(nil); err == nil {
		t.Error("an event without a body was written")
	}
	dst := []byte("kept")
	got, err := at(Annotations{[]json.RawMessage{json.RawMessage(`{`)}}).Append(dst)
	if err == nil || string(got) != "kept" {
		t.Errorf("bad JSON inside gave %q, %v", got, err)
	}
}

// The hand-written string encoder agrees with encoding/json on any text.
func TestAppendStringReadsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		var got string
		if text := appendString(nil, s); !utf8.Valid(text) {
			t.Fatalf("%q became %q, which is no UTF-8", s, text)
		} else if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		want := strings.ToValidUTF8(s, "\x00")
		if std, _ := json.Marshal(s); json.Unmarshal(std, &want) != nil || got != want {
			t.Fatalf("%q was read back as %q, want %q", s, got, want)
		}
	})
}

// A lone first byte of U+FFFD is no U+FFFD.
func TestAppendStringMendsAHalfReplacement(t *testing.T) {
	t.Parallel()
	if got := string(appendString(nil, "a\xefb\xef\xbf\ufffd")); got != "\"a\ufffdb\ufffd\ufffd\ufffd\"" {
		t.Errorf("%q", got)
	}
}

func TestUsageAdds(t *testing.T) {
	t.Parallel()
	var none *Usage
	one := &Usage{InputTokens: 1, OutputTokens: 2, CachedTokens: 3, CacheWriteTokens: 4, ReasoningTokens: 5}
	if got := none.Add(one); *got != *one || got == one {
		t.Errorf("nothing and one is %+v", got)
	}
	if got := one.Add(nil); got != one {
		t.Errorf("one and nothing is %+v", got)
	}
	if got := one.Add(one); *got != (Usage{2, 4, 6, 8, 10}) {
		t.Errorf("one and one is %+v", got)
	}
}

func FuzzEvent(f *testing.F) {
	for _, b := range bodies() {
		line, _ := at(b).Append(nil)
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var e Event
		if json.Unmarshal(line, &e) != nil {
			return
		}
		out, err := e.Append(nil)
		if err != nil {
			return // a time out of range, say
		}
		if bytes.ContainsAny(out, "\n\r") || !json.Valid(out) {
			t.Errorf("wrote %q", out)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	e := at(TextDelta{Text: "Hello, "})
	b.Run("ours", func(b *testing.B) {
		var buf []byte
		for b.Loop() {
			buf, _ = e.Append(buf[:0])
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		for b.Loop() {
			type flat struct {
				Type   Type      `json:"type"`
				TurnID string    `json:"turn_id"`
				Seq    Seq       `json:"seq"`
				Time   time.Time `json:"time"`
				Text   string    `json:"text"`
			}
			_, _ = json.Marshal(flat{TypeTextDelta, e.TurnID, e.Seq, e.Time, "Hello, "})
		}
	})
}
