package providertest

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
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
			req.TopP, req.Stop = &most, []string{"END", "FIN"}
			ok(t, s, req)
			got = s.Seen()[1]
			if got.TopP == nil || *got.TopP != most || !slices.Equal(got.Stop, req.Stop) {
				t.Errorf("it sent top_p %v, stops %q", got.TopP, got.Stop)
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
