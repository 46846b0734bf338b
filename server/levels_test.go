package server_test

import (
	"strings"
	"testing"
)

// A level of reasoning reaches the provider as it is. One that the provider does not have
// becomes the nearest, and the header says so; a word that is no level is refused.
func TestLevelsOfReasoning(t *testing.T) {
	t.Parallel()
	u, c := newUpstream(t), &capture{}
	h := open(t, plan{providers: u.peers(c)})
	fields := map[string]string{
		chatAPI: "reasoning_effort", responsesAPI: "reasoning.effort", messagesAPI: "output_config.effort", ollamaAPI: "think",
	}
	ask := func(n, model, level string) answer {
		path, body := question(n, model)
		place(body, fields[n], level)
		body["stream"] = false
		return h.call("POST", path, body)
	}
	for n, field := range fields {
		for _, level := range []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"} {
			got := ask(n, "capture/m", level).is(200, nil)
			if sent := c.last(); string(sent.Effort) != level || *sent.Think != (level != "none") || got.header.Get("X-Fettle-Ignored") != "" {
				t.Errorf("%s: %s reached the provider as %s, the header is %q", n, level, sent.Effort, got.header.Get("X-Fettle-Ignored"))
			}
			for model, known := range map[string]string{
				"ollama/m": "none low medium high", "mistral/m": "none high", "chat/m": "none minimal low medium high xhigh max",
			} {
				header := ask(n, model, level).is(200, nil).header.Get("X-Fettle-Ignored")
				if has := strings.Contains(" "+known+" ", " "+level+" "); has != (header == "") || !has && header != field {
					t.Errorf("%s to %s: level %s, the header is %q", n, model, level, header)
				}
			}
		}
		words := string(ask(n, "capture/m", "enormous").is(400, nil).body)
		if !strings.Contains(words, field) || !strings.Contains(words, "low") {
			t.Errorf("%s: an unknown level is refused with %q", n, words)
		}
	}
	path, body := question(messagesAPI, "messages/claude-sonnet-4-5")
	body["thinking"] = doc{"type": "enabled", "budget_tokens": 3000}
	h.call("POST", path, body).is(200, nil)
	if got := found(u.sent(t), "thinking.budget_tokens"); got != 3000.0 {
		t.Errorf("a budget of 3000 tokens is sent as %v", got)
	}
	body["model"] = "ollama/m"
	if got := h.call("POST", path, body).is(200, nil).header.Get("X-Fettle-Ignored"); got != "thinking.budget_tokens" {
		t.Errorf("a budget that Ollama does not have: the header is %q", got)
	}
}
