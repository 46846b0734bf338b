package providertest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
)

// historyCases are about conversations that are told again.
func historyCases() []oneCase {
	play := Play{Writes: [][]Piece{text("yes")}}
	words := func(role provider.Role, texts ...string) provider.Message {
		m := provider.Message{Role: role}
		for _, s := range texts {
			m.Parts = append(m.Parts, provider.Part{Kind: provider.TextPart, Text: s})
		}
		return m
	}
	return []oneCase{
		{name: "reasoning goes back with its calls", run: func(t *testing.T, h Harness) {
			call := Piece{Call: &Call{ID: "call_1", Name: "get_weather", Args: `{"city":"Oslo"}`}}
			s := h.Start(t, Config{}, Play{Writes: [][]Piece{{{Reasoning: "Let me see."}}, {call}}}, play)
			req := withTool(s)
			first := ok(t, s, req)
			req.Messages = append(req.Messages, provider.Message{Role: provider.Assistant, Parts: first.parts()}, result("call_1", "rain"))
			ok(t, s, req)
			said := s.Seen()[1].Messages[1]
			if said.Thinking != "Let me see." || len(said.Calls) != 1 {
				t.Errorf("it sent %+v", said)
			}
		}},
		{name: "roles that follow each other", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, play)
			req := ask(s)
			req.Messages = []provider.Message{
				words(provider.User, "one"), words(provider.User, "two"), words(provider.Assistant, "three"),
				words(provider.Assistant, "four"), words(provider.User, "five"), words(provider.User, "six"),
			}
			ok(t, s, req)
			if got := s.Seen()[0].said(); got != "onetwothreefourfivesix" {
				t.Errorf("it sent %q", got)
			}
		}},
		{name: "empty messages", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, play)
			req := ask(s)
			req.Messages = []provider.Message{
				words(provider.User, "one"), words(provider.Assistant), words(provider.User, ""), words(provider.Assistant, ""), words(provider.User, "two"),
			}
			ok(t, s, req)
			got := s.Seen()[0]
			for _, m := range got.Messages {
				if m.Text == "" {
					t.Errorf("it sent an empty message: %+v", got.Messages)
				}
			}
			if got.said() != "onetwo" {
				t.Errorf("it sent %q", got.said())
			}
		}},
		{name: "a very long result and odd characters", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, play)
			long := strings.Repeat("é😀\u2028\x01<&>\"\\ ", 100_000)
			req := withTool(s)
			req.Messages = append(req.Messages, called("call_1"), result("call_1", long))
			ok(t, s, req)
			if last := s.Seen()[0].Messages; last[len(last)-1].Text != long {
				t.Errorf("it sent %d bytes of %d", len(last[len(last)-1].Text), len(long))
			}
		}},
		{name: "ids that were used before", run: func(t *testing.T, h Harness) {
			s := h.Start(t, Config{}, play)
			req := withTool(s)
			for i := range 3 {
				req.Messages = append(req.Messages, called("call_1"), result("call_1", fmt.Sprint(i)), words(provider.User, "again"))
			}
			ok(t, s, req)
			ids := map[string]bool{}
			last := ""
			for _, m := range s.Seen()[0].Messages {
				for _, c := range m.Calls {
					if ids[c.ID] || c.ID == "" {
						t.Errorf("two calls have the id %q", c.ID)
					}
					ids[c.ID], last = true, c.ID
				}
				if m.CallID != "" && m.CallID != last {
					t.Errorf("the result of %q says that it is of %q", last, m.CallID)
				}
			}
			if len(ids) != 3 {
				t.Errorf("it sent the ids %v", ids)
			}
		}},
		{name: "calls of one id", run: func(t *testing.T, h Harness) {
			city := func(name string) Piece {
				return Piece{Call: &Call{ID: "call_1", Name: "get_weather", Args: `{"city":"` + name + `"}`}}
			}
			s := h.Start(t, Config{}, Play{Writes: [][]Piece{{city("Oslo"), city("Bergen")}}})
			got := ok(t, s, withTool(s)).calls()
			if len(got) != 2 || got[0].ID == got[1].ID || string(got[1].Args) != `{"city":"Bergen"}` {
				t.Errorf("it called %+v", got)
			}
		}},
	}
}

func called(id string) provider.Message {
	return provider.Message{Role: provider.Assistant, Parts: []provider.Part{{
		Kind: provider.ToolCallPart, Call: &provider.ToolCall{ID: id, Name: "get_weather", Args: json.RawMessage(`{"city":"Oslo"}`)},
	}}}
}

func result(id, text string) provider.Message {
	return provider.Message{Role: provider.Tool, Parts: []provider.Part{{
		Kind: provider.ToolResultPart, Result: &provider.ToolResult{ID: id, Name: "get_weather", Text: text},
	}}}
}

// parts are a response as the engine keeps it.
func (h heard) parts() []provider.Part {
	var out []provider.Part
	for _, d := range h.all {
		switch d.Kind {
		case provider.Content:
			out = append(out, provider.Part{Kind: provider.TextPart, Text: d.Text})
		case provider.Reasoning:
			out = append(out, provider.Part{Kind: provider.ReasoningPart, Text: d.Text})
		case provider.ReasoningDetails:
			out = append(out, provider.Part{Kind: provider.ReasoningPart, Details: d.Details})
		case provider.CallDelta:
			out = append(out, provider.Part{Kind: provider.ToolCallPart, Call: d.Call})
		case provider.Meta: // as the engine does
			for i := range out {
				if out[i].Kind == provider.ReasoningPart && out[i].Details == nil {
					out[i].Field = d.Field
				}
			}
		}
	}
	return out
}

// said is what all messages say, one after the other and without spaces: some
// formats make one message of two.
func (s Seen) said() string {
	var texts []string
	for _, m := range s.Messages {
		texts = append(texts, strings.Fields(m.Text)...)
	}
	return strings.Join(texts, "")
}
