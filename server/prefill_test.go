package server_test

import (
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/provider"
)

// Continues has the capture continue answers.
func (*capture) Continues(string) bool { return true }

// The beginning of an answer reaches the providers that continue it, in the form of each; the
// client gets what follows alone. Others refuse it by name.
func TestTheBeginningOfAnAnswerIsContinued(t *testing.T) {
	t.Parallel()
	u, c := newUpstream(t), &capture{}
	h := open(t, plan{providers: u.peers(c)})
	ask := func(n, model string) answer {
		path, body := question(n, model)
		said := []doc{{"role": "user", "content": "hi"}, {"role": "assistant", "content": "It is "}}
		if body["stream"] = false; n == responsesAPI {
			body["input"] = said
		} else {
			body["messages"] = said
		}
		return h.call("POST", path, body)
	}
	for _, n := range []string{chatAPI, responsesAPI, messagesAPI, ollamaAPI} {
		got := string(ask(n, "capture/m").is(200, nil).body)
		sent := c.last().Messages
		if last := sent[len(sent)-1]; len(sent) != 2 || last.Role != provider.Assistant || last.Parts[0].Text != "It is " || strings.Contains(got, "It is ") || !strings.Contains(got, `"ok"`) {
			t.Errorf("%s: %+v was sent, and %s answered", n, sent, got)
		}
		for model, want := range map[string]string{
			"chat/m":                     `"add_generation_prompt":false,"continue_final_message":true,"messages":[{"content":"hi","role":"user"},{"content":"It is ","role":"assistant"}]`,
			"mistral/m":                  `{"content":"It is ","prefix":true,"role":"assistant"}`,
			"ollama/m":                   `{"content":"It is ","role":"assistant"}]`,
			"messages/claude-sonnet-4-5": `{"content":[{"cache_control":{"type":"ephemeral"},"text":"It is","type":"text"}],"role":"assistant"}]`,
		} {
			ask(n, model).is(200, nil)
			if body := jsonText(t, u.sent(t)); !strings.Contains(body, want) {
				t.Errorf("%s to %s: %s was sent", n, model, body)
			}
		}
		for _, model := range []string{"messages/claude-opus-4-8", "responses/m"} {
			if got := string(ask(n, model).is(400, nil).body); !strings.Contains(got, model+" can't continue") {
				t.Errorf("%s to %s is refused with %s", n, model, got)
			}
		}
	}
}

// A stored answer has its given beginning and what the model added in one message.
func TestAStoredAnswerHasItsBeginning(t *testing.T) {
	t.Parallel()
	c := &capture{}
	h := open(t, plan{providers: map[string]func() (provider.Provider, error){"capture": func() (provider.Provider, error) { return c, nil }}})
	var first struct{ ID string }
	h.call("POST", "/v1/responses", doc{"model": "capture/m", "input": []doc{{"role": "user", "content": "hi"}, {"role": "assistant", "content": "It is "}}}).is(200, &first)
	h.call("POST", "/v1/responses", doc{"model": "capture/m", "input": "more", "previous_response_id": first.ID}).is(200, nil)
	sent := c.last().Messages
	if len(sent) != 3 || sent[1].Role != provider.Assistant || sent[1].Parts[0].Text != "It is ok" {
		t.Errorf("the next request has %+v", sent)
	}
	conv, err := h.eng.Chat(t.Context(), engine.ChatRef{Last: true})
	must(t, err)
	if len(conv.Messages) != 4 || conv.Messages[1].Parts[0].Text != "It is ok" {
		t.Errorf("the chat has %+v", conv.Messages)
	}
}
