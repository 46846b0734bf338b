package openai

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
)

// An address is asked to continue an answer as it documents that.
func TestHowAddressesContinueAnAnswer(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]chatcompletions.Prefill{
		"https://api.openai.com/v1":                               chatcompletions.PrefillNone,
		"https://x.openai.azure.com/openai/v1":                    chatcompletions.PrefillNone,
		"https://generativelanguage.googleapis.com/v1beta/openai": chatcompletions.PrefillNone,
		"https://api.x.ai/v1":                                     chatcompletions.PrefillNone,
		"https://openrouter.ai/api/v1":                            chatcompletions.PrefillPlain,
		"https://api.groq.com/openai/v1":                          chatcompletions.PrefillPlain,
		"https://api.mistral.ai/v1":                               chatcompletions.PrefillRepeated,
		"https://api.deepseek.com/beta":                           chatcompletions.PrefillPrefix,
		"https://api.deepseek.com/v1":                             chatcompletions.PrefillNone,
		"https://api.moonshot.ai/v1":                              chatcompletions.PrefillPartial,
		"https://dashscope-intl.aliyuncs.com/compatible-mode/v1":  chatcompletions.PrefillPartial,
		"http://127.0.0.1:8080/v1":                                chatcompletions.PrefillFinal,
		"https://openai.com.example/v1":                           chatcompletions.PrefillFinal,
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := prefillOf(u); got != want {
			t.Errorf("%s is asked in way %d, want %d", address, got, want)
		}
	}
}

// begun is a request that ends with the beginning of an answer.
func begun() *provider.Request {
	return &provider.Request{Model: "m", Messages: []provider.Message{providertest.User(providertest.Words("hi")), {Role: provider.Assistant, Parts: []provider.Part{providertest.Words("It is ")}}}}
}

// A server that refuses the members which continue a message is sent the message alone, and a
// footnote says that the answer is another message. Another process learns that too.
func TestAServerThatCannotContinueAnAnswer(t *testing.T) {
	t.Parallel()
	p, bodies := serve(t, Options{API: APIChat}, func(w http.ResponseWriter, body string) {
		if strings.Contains(body, "continue_final_message") {
			refuse(w, "Unrecognized request argument supplied: continue_final_message", "")
			return
		}
		say(w, "ok")
	})
	if got := p.Prefills("m"); got != provider.PrefillContinued {
		t.Errorf("at first the model does %d", got)
	}
	for range 2 { // the second time it is known
		text, notes, err := listen(p, t.Context(), begun())
		if text != "ok" || err != nil || len(notes) != 1 || !strings.Contains(notes[0], "not continued") {
			t.Fatalf("it said %q with notes %q, %v", text, notes, err)
		}
	}
	if got := bodies(); len(got) != 3 || strings.Contains(got[2], "add_generation_prompt") || !strings.Contains(got[2], "It is ") {
		t.Errorf("it sent %s", strings.Join(got, "\n"))
	}
	other, _ := serve(t, Options{API: APIChat}, func(w http.ResponseWriter, _ string) { say(w, "ok") })
	other.Recall("m", p.Lessons("m"))
	if got := []provider.Prefill{p.Prefills("m"), other.Prefills("m"), other.Prefills("other")}; fmt.Sprint(got) != fmt.Sprint([]provider.Prefill{provider.PrefillAnswered, provider.PrefillAnswered, provider.PrefillContinued}) {
		t.Errorf("the models do %v", got)
	}
}

// llama.cpp does not continue a message while the model's template has thinking switched on,
// so thinking is switched off for such a request alone.
func TestAnAnswerIsContinuedWithoutThinking(t *testing.T) {
	t.Parallel()
	yes := true
	p, bodies := serve(t, Options{API: APIChat}, func(w http.ResponseWriter, body string) {
		if strings.Contains(body, "continue_final_message") && !strings.Contains(body, `"chat_template_kwargs":{"enable_thinking":false}`) {
			refuse(w, "Assistant response prefill is incompatible with enable_thinking.", "")
			return
		}
		say(w, "ok")
	})
	req := begun()
	req.Think = &yes
	if text, notes, err := listen(p, t.Context(), req); text != "ok" || err != nil || len(notes) != 1 || !strings.Contains(notes[0], "can't think and continue") {
		t.Fatalf("it said %q with notes %q, %v", text, notes, err)
	}
	req.Messages = req.Messages[:1]
	if _, _, err := listen(p, t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if got := bodies(); len(got) != 3 || strings.Contains(got[2], "chat_template_kwargs") {
		t.Errorf("it sent %s", strings.Join(got, "\n"))
	}
}
