package server_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

// Prefills has the capture continue answers.
func (*capture) Prefills(string) provider.Prefill { return provider.PrefillContinued }

// conversed is a request without a stream in a dialect, with a conversation in place of the
// question.
func conversed(n, model string, said ...doc) (path string, body doc) {
	path, body = question(n, model)
	body["stream"] = false
	if n == responsesAPI {
		body["input"] = said
	} else {
		body["messages"] = said
	}
	return path, body
}

func says(role, text string) doc { return doc{"role": role, "content": text} }

// The beginning of an answer reaches the providers that continue it, in the form of each, and
// the client gets only what follows. Clients of OpenAI's API get another message where the
// model begins one, and the header names it; other clients and models are refused by name.
func TestTheBeginningOfAnAnswerIsContinued(t *testing.T) {
	t.Parallel()
	u, c := newUpstream(t), &capture{}
	h := open(t, plan{providers: u.peers(c)})
	wire := map[string]string{
		"chat/m":                     `"add_generation_prompt":false,"continue_final_message":true,"messages":[{"content":"hi","role":"user"},{"content":"It is ","role":"assistant"}]`,
		"mistral/m":                  `{"content":"It is ","prefix":true,"role":"assistant"}`,
		"ollama/m":                   `{"content":"It is ","role":"assistant"}]`,
		"messages/claude-sonnet-4-5": `{"content":[{"cache_control":{"type":"ephemeral"},"text":"It is","type":"text"}],"role":"assistant"}]`,
	}
	for _, n := range []string{chatAPI, responsesAPI, messagesAPI, ollamaAPI} {
		for _, stream := range []bool{false, true} {
			ask := func(model string) answer {
				path, body := conversed(n, model, says("user", "hi"), says("assistant", "It is "))
				body["stream"] = stream
				return h.call("POST", path, body)
			}
			got := string(ask("capture/m").is(200, nil).body)
			sent := c.last().Messages
			if last := sent[len(sent)-1]; len(sent) != 2 || last.Role != provider.Assistant || last.Parts[0].Text != "It is " || strings.Contains(got, "It is ") || !strings.Contains(got, `"ok"`) {
				t.Errorf("%s: %+v was sent, and %s answered", n, sent, got)
			}
			for model, want := range wire {
				a := ask(model).is(200, nil)
				if body := strings.Replace(jsonText(t, u.sent(t)), `"max_tokens":8000,`, "", 1); !strings.Contains(body, want) || strings.Contains(a.header.Get("X-Fettle-Ignored"), "prefill") {
					t.Errorf("%s to %s: %s was sent, and the header is %q", n, model, body, a.header.Get("X-Fettle-Ignored"))
				}
			}
			mayRestart := n == chatAPI || n == responsesAPI
			restarted := ask("responses/m")
			switch {
			case !mayRestart:
				restarted.is(400, nil)
			case !slices.Contains(strings.Split(restarted.is(200, nil).header.Get("X-Fettle-Ignored"), ", "), "prefill"):
				t.Errorf("%s: another message is not reported: %v", n, restarted.header)
			}
			refused := string(ask("messages/claude-opus-4-8").is(400, nil).body)
			if !strings.Contains(refused, "messages/claude-opus-4-8 does not continue") || n == messagesAPI && !strings.Contains(refused, "This model does not support assistant message prefill. The conversation must end with a user message.") {
				t.Errorf("%s is refused with %s", n, refused)
			}
		}
	}
}

// A client of chat completions that marks the last message, as other servers have it, is
// refused by a model that would begin another message. A mark elsewhere is reported.
func TestAMarkedBeginningIsContinuedOrRefused(t *testing.T) {
	t.Parallel()
	u, c := newUpstream(t), &capture{}
	h := open(t, plan{providers: u.peers(c)})
	for name, mark := range map[string]func(body, last doc){
		"prefix":                 func(_, last doc) { last["prefix"] = true },
		"partial":                func(_, last doc) { last["partial"] = true },
		"continue_final_message": func(body, _ doc) { body["continue_final_message"], body["add_generation_prompt"] = true, false },
	} {
		ask := func(role, model string) answer {
			last := says(role, "It is")
			path, body := conversed(chatAPI, model, says("user", "hi"), last)
			mark(body, last)
			return h.call("POST", path, body)
		}
		if got := ask("assistant", "capture/m").is(200, nil).header.Get("X-Fettle-Ignored"); got != "" {
			t.Errorf("%s: the header is %q", name, got)
		}
		ask("assistant", "responses/m").is(400, nil)
		if got := ask("user", "capture/m").is(200, nil).header.Get("X-Fettle-Ignored"); !strings.Contains(got, name) {
			t.Errorf("%s of a question: the header is %q", name, got)
		}
	}
}

// What the conversation has around the beginning of an answer decides what is asked.
func TestConversationsAroundTheBeginning(t *testing.T) {
	t.Parallel()
	c := &capture{}
	h := open(t, plan{providers: c.alone()})
	called := doc{"role": "assistant", "content": nil, "tool_calls": []doc{{"id": "1", "type": "function", "function": doc{"name": "look", "arguments": "{}"}}}}
	result := doc{"role": "tool", "tool_call_id": "1", "content": "found"}
	for name, test := range map[string]struct {
		said []doc
		want string // roles and texts, or the refusal
	}{
		"instructions before it":      {[]doc{says("system", "Be brief."), says("assistant", "It")}, "user:Be brief. assistant:It"},
		"two messages":                {[]doc{says("user", "hi"), says("assistant", "It"), says("assistant", "is")}, "user:hi assistant:It\n\nis"},
		"results before it":           {[]doc{says("user", "hi"), called, result, says("assistant", "It")}, "user:hi assistant: tool:found assistant:It"},
		"an earlier answer":           {[]doc{says("user", "a"), says("assistant", "b"), says("user", "hi"), says("assistant", "It")}, "user:a assistant:b user:hi assistant:It"},
		"nothing in it":               {[]doc{says("user", "hi"), says("assistant", "")}, "user:hi"},
		"blanks alone":                {[]doc{says("user", "hi"), says("assistant", " \n")}, "user:hi"},
		"reasoning in it":             {[]doc{says("user", "hi"), {"role": "assistant", "reasoning_content": "Hm.", "content": "It"}}, "user:hi assistant:Hm.It"},
		"nothing before it":           {[]doc{says("assistant", "It")}, "without the message that it answers"},
		"a call that is not answered": {[]doc{says("user", "hi"), called}, "the last message has to be the user's"},
	} {
		path, body := conversed(chatAPI, "capture/m", test.said...)
		got := h.call("POST", path, body)
		if got.status != 200 {
			if !strings.Contains(string(got.is(400, nil).body), test.want) {
				t.Errorf("%s: %s", name, got.body)
			}
			continue
		}
		if sent := spelled(c.last().Messages); sent != test.want {
			t.Errorf("%s: %q was sent, want %q", name, sent, test.want)
		}
	}
}

// spelled are the roles and texts of messages.
func spelled(all []provider.Message) string {
	var out []string
	for _, m := range all {
		text := string(m.Role) + ":"
		for _, p := range m.Parts {
			if text += p.Text; p.Result != nil {
				text += p.Result.Text
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// alone is the capture as the only provider.
func (c *capture) alone() map[string]func() (provider.Provider, error) {
	return map[string]func() (provider.Provider, error){"capture": func() (provider.Provider, error) { return c, nil }}
}

// A stored answer has its given beginning and what the model added in one message.
func TestAStoredAnswerHasItsBeginning(t *testing.T) {
	t.Parallel()
	c := &capture{}
	h := open(t, plan{providers: c.alone()})
	var first struct{ ID string }
	h.call("POST", "/v1/responses", doc{"model": "capture/m", "input": []doc{says("user", "hi"), says("assistant", "It is ")}}).is(200, &first)
	h.call("POST", "/v1/responses", doc{"model": "capture/m", "input": "more", "previous_response_id": first.ID}).is(200, nil)
	sent := c.last().Messages
	if len(sent) != 3 || sent[1].Role != provider.Assistant || sent[1].Parts[0].Text != "It is ok" {
		t.Errorf("the next request has %+v", sent)
	}
	conv, err := h.eng.Chat(t.Context(), store.ChatRef{Last: true})
	must(t, err)
	if len(conv.Messages) != 4 || conv.Messages[1].Parts[0].Text != "It is ok" {
		t.Errorf("the chat has %+v", conv.Messages)
	}
}
