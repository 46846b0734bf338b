package providertest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
)

// callCases are about tools.
func callCases() []oneCase {
	weather := Piece{Call: &Call{ID: "call_1", Name: "get_weather", Args: `{"city":"Oslo"}`}}
	cases := []oneCase{
		{name: "a call", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, Play{Writes: [][]Piece{{{Text: "Let me see."}, weather}}})
			got := ok(t, s, withTool(s))
			want := []provider.ToolCall{{ID: "call_1", Name: "get_weather", Args: json.RawMessage(`{"city":"Oslo"}`)}}
			if !reflect.DeepEqual(got.calls(), want) || got.text(provider.Content) != "Let me see." {
				t.Errorf("it called %+v and said %q", got.calls(), got.text(provider.Content))
			}
			if r := got.meta().StopReason; r != provider.StopToolUse {
				t.Errorf("it stopped for %s", r)
			}
		}},
		{name: "several calls", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, Play{Writes: [][]Piece{{
				weather, {Call: &Call{ID: "call_2", Name: "get_weather", Args: `{"city":"Bergen"}`}},
			}}})
			got := ok(t, s, withTool(s)).calls()
			if len(got) != 2 || string(got[0].Args) != `{"city":"Oslo"}` || string(got[1].Args) != `{"city":"Bergen"}` {
				t.Errorf("it called %+v", got)
			}
		}},
		{name: "names come back", run: func(t *testing.T, h Harness) {
			const name = "my-tools:analyze data"
			s := h.Start(t, Config{}, Play{Writes: [][]Piece{{
				{Call: &Call{ID: "call_1", Name: provider.NewNames(name).Wire(name), Args: `{}`}},
			}}})
			req := withTool(s)
			req.Tools[0].Name = name
			if got := ok(t, s, req).calls(); len(got) != 1 || got[0].Name != name {
				t.Errorf("it called %+v", got)
			}
			fits := regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`)
			if sent := s.Seen()[0].Tools[0].Name; !fits.MatchString(sent) {
				t.Errorf("the tool was offered as %q", sent)
			}
		}},
	}
	for name, form := range map[string]ArgsForm{"empty": ArgsEmpty, "null": ArgsNull, "missing": ArgsMissing} {
		cases = append(cases, oneCase{name: "a call with arguments " + name, run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, Play{Writes: [][]Piece{{{Call: &Call{ID: "call_1", Name: "get_weather", Form: form}}}}})
			if got := ok(t, s, withTool(s)).calls(); len(got) != 1 || string(got[0].Args) != "{}" {
				t.Errorf("it called %+v", got)
			}
		}})
	}
	return cases
}

// choiceCases are about a tool that a response has to call.
func choiceCases() []oneCase {
	play := Play{Writes: [][]Piece{text("hi")}}
	tools := []provider.ToolSpec{{Name: "my:tool"}, {Name: "other"}}
	return []oneCase{
		{name: "a tool that has to be called", run: func(t *testing.T, h Harness) {
			for name, c := range map[string]struct {
				must  string
				tools []provider.ToolSpec
				want  string // in what is sent; empty is no choice at all
			}{
				"any":            {provider.AnyTool, tools, provider.AnyTool},
				"one":            {"my:tool", tools, "my_tool"},
				"one that isn't": {"gone", tools, ""},
				"without tools":  {provider.AnyTool, nil, ""},
				"left alone":     {"", tools, ""},
			} {
				s := h.Start(t, Config{}, play)
				req := ask(s)
				req.Tools, req.MustCall = c.tools, c.must
				got := ok(t, s, req)
				if got.text(provider.Content) != "hi" || len(got.notes()) > 0 {
					t.Errorf("%s: it said %q with notes %q", name, got.text(provider.Content), got.notes())
				}
				if seen := s.Seen(); len(seen) != 1 || seen[0].MustCall != c.want {
					t.Errorf("%s: it sent %+v", name, seen)
				}
			}
		}},
		{name: "a model that can't be made to call", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, Play{Refuse: &Refusal{Why: NoToolChoice}}, play)
			req := ask(s)
			req.Tools, req.MustCall = tools, provider.AnyTool
			want := "tool_choice was taken as auto: " + s.Model + " can't be made to call a tool"
			for range 2 { // the second time the refusal is known
				got := ok(t, s, req)
				if notes := got.notes(); got.text(provider.Content) != "hi" || len(notes) != 1 || !strings.HasPrefix(notes[0], want) {
					t.Errorf("it said %q with notes %q", got.text(provider.Content), notes)
				}
			}
			seen := s.Seen()
			if len(seen) != 3 || seen[0].MustCall != provider.AnyTool || seen[1].MustCall+seen[2].MustCall != "" || len(seen[2].Tools) != len(tools) {
				t.Errorf("it sent %+v", seen)
			}
		}},
	}
}

// ChoiceSeen reads tool_choice as chat completions have it, for Seen.MustCall; word is
// what stands for any tool.
func ChoiceSeen(raw json.RawMessage, word string) (string, error) {
	var text string
	var named struct {
		Type     string
		Function struct{ Name string }
	}
	strict := json.NewDecoder(bytes.NewReader(raw))
	strict.DisallowUnknownFields()
	switch {
	case len(raw) == 0:
		return "", nil
	case json.Unmarshal(raw, &text) == nil && text == word:
		return provider.AnyTool, nil
	case strict.Decode(&named) == nil && named.Type == "function" && named.Function.Name != "":
		return named.Function.Name, nil
	}
	return "", fmt.Errorf("its tool_choice is %s", raw)
}

// png is a picture of one pixel, as far as anybody here looks at it.
var png = []byte("\x89PNG\r\n\x1a\n")

// requestCases are about what is sent.
func requestCases() []oneCase {
	play := Play{Writes: [][]Piece{text(`{"n":1}`)}}
	user := func(parts ...provider.Part) provider.Message {
		return provider.Message{Role: provider.User, Parts: parts}
	}
	words := func(s string) provider.Part { return provider.Part{Kind: provider.TextPart, Text: s} }
	return []oneCase{
		{name: "sends a conversation", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, play)
			req := withTool(s)
			req.System = "Be brief."
			call := provider.ToolCall{ID: "call_1", Name: "get_weather", Args: json.RawMessage(`{"city":"Oslo"}`)}
			req.Messages = []provider.Message{
				user(words("What is the weather?")),
				{Role: provider.Assistant, Parts: []provider.Part{words("Let me"), words(" see."), {Kind: provider.ToolCallPart, Call: &call}}},
				{Role: provider.Tool, Parts: []provider.Part{{
					Kind: provider.ToolResultPart, Result: &provider.ToolResult{ID: "call_1", Name: "get_weather", Text: "rain & <wind>"},
				}}},
				{Role: provider.Assistant, Parts: nil}, // what a cancelled turn leaves
				user(words("one"), words("two")),
			}
			ok(t, s, req)
			got := s.Seen()[0]
			want := []SeenMessage{
				{Role: "system", Text: "Be brief."},
				{Role: "user", Text: "What is the weather?"},
				{Role: "assistant", Text: "Let me see.", Calls: []provider.ToolCall{call}},
				{Role: "tool", Text: "rain & <wind>", CallID: "call_1"},
				{Role: "user", Text: "one\n\ntwo"},
			}
			if !reflect.DeepEqual(got.Messages, want) {
				t.Errorf("it sent %+v\nwant    %+v", got.Messages, want)
			}
			if got.Model != s.Model || len(got.Tools) != 1 || got.Tools[0].Name != "get_weather" || got.Tools[0].Description != "tells the weather" {
				t.Errorf("it sent model %q and tools %+v", got.Model, got.Tools)
			}
			if a, b := canonical(got.Tools[0].InputSchema), canonical(req.Tools[0].InputSchema); a != b {
				t.Errorf("it sent the schema %s, want %s", a, b)
			}
		}},
		{name: "sends images", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, play)
			req := ask(s)
			req.Messages = []provider.Message{user(provider.Part{Kind: provider.ImagePart, MIME: "image/png", Data: png}, words("What is it?"))}
			ok(t, s, req)
			got := s.Seen()[0].Messages[0]
			if want := "image/png," + base64.StdEncoding.EncodeToString(png); len(got.Images) != 1 || got.Images[0] != want || got.Text != "What is it?" {
				t.Errorf("it sent %+v", got)
			}
		}},
		{name: "sends a schema", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, play)
			req := ask(s)
			req.Schema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
			ok(t, s, req)
			if got := s.Seen()[0].Schema; canonical(got) != canonical(req.Schema) {
				t.Errorf("it sent %s", got)
			}
		}},
		{name: "sends options and key", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, play)
			req := ask(s)
			warm := 0.5
			req.MaxTokens, req.Temperature = 100, &warm
			ok(t, s, req)
			got := s.Seen()[0]
			if got.MaxTokens != 100 || got.Temperature == nil || *got.Temperature != warm || got.Key != "Bearer "+Key {
				t.Errorf("it sent %d tokens, temperature %v, key %q", got.MaxTokens, got.Temperature, got.Key)
			}
			req = ask(s) // some take no top_p beside a temperature
			most := 0.5
			req.TopP = &most
			ok(t, s, req)
			if got = s.Seen()[1]; got.TopP == nil || *got.TopP != most {
				t.Errorf("it sent top_p %v", got.TopP)
			}
		}},
		{name: "sends stop texts", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, play)
			req := ask(s)
			req.Stop = []string{"END", "FIN"}
			ok(t, s, req)
			if got := s.Seen()[0]; !slices.Equal(got.Stop, req.Stop) {
				t.Errorf("it sent the stops %q", got.Stop)
			}
		}},
	}
}

func canonical(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	out, _ := json.Marshal(v)
	return string(out)
}
