package openai

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
)

// pictured is a request whose history has a call with an image in its result.
func pictured() *provider.Request {
	return &provider.Request{Model: "m", Messages: []provider.Message{
		providertest.User(providertest.Words("look")),
		{Role: provider.Assistant, Parts: []provider.Part{{Kind: provider.ToolCallPart, Call: &provider.ToolCall{
			ID: "c1", Name: "snap", Args: json.RawMessage(`{}`), Extra: json.RawMessage(`{"extra_content":{"google":{"thought_signature":"S"}}}`),
		}}}},
		{Role: provider.Tool, Parts: []provider.Part{{Kind: provider.ToolResultPart, Result: &provider.ToolResult{
			ID: "c1", Name: "snap", Text: "seen", Media: []provider.Part{
				{Kind: provider.ImagePart, MIME: "image/png", Data: []byte("png")}, {Kind: provider.AudioPart, MIME: "audio/mpeg", Data: []byte("mp3")},
			},
		}}}},
	}}
}

// Images of results follow in a user's message, or are within the tool's where a template
// takes no user's message there. Another process knows what the refusal taught.
func TestWhereImagesOfResultsGo(t *testing.T) {
	t.Parallel()
	const within = `"role":"tool","content":[{"type":"text","text":"seen"},{"type":"image_url"`
	answer := func(w http.ResponseWriter, body string) {
		if !strings.Contains(body, within) {
			refuse(w, "Unexpected role 'user' after role 'tool'", "messages")
			return
		}
		say(w, "ok")
	}
	p, bodies := serve(t, Options{}, answer)
	for range 2 {
		if text, _, err := listen(p, t.Context(), pictured()); text != "ok" || err != nil {
			t.Fatalf("it said %q, %v", text, err)
		}
	}
	got := bodies()
	if len(got) != 3 || !strings.Contains(got[0], `{"role":"tool","content":"seen","tool_call_id":"c1"},{"role":"user","content":[{"type":"text","text":"What snap returned for the call c1:"},{"type":"image_url"`) ||
		!strings.Contains(got[0], `{"type":"input_audio","input_audio":{"data":"bXAz","format":"mp3"}}`) {
		t.Errorf("it sent\n%s", strings.Join(got, "\n"))
	}
	other, again := serve(t, Options{}, answer)
	other.Recall("m", append(p.Lessons("m"), "of a later fettle"))
	if _, _, err := listen(other, t.Context(), pictured()); err != nil || len(again()) != 1 {
		t.Errorf("another process sent %d requests, %v", len(again()), err)
	}
	if p.Lessons("other") != nil || !slices.Equal(other.Lessons("m"), p.Lessons("m")) {
		t.Errorf("the lessons are %q and %q", p.Lessons("m"), other.Lessons("m"))
	}
}

// A signature that the server does not accept is replaced by the documented one.
func TestASignatureThatIsRefused(t *testing.T) {
	t.Parallel()
	p, bodies := serve(t, Options{}, func(w http.ResponseWriter, body string) {
		if strings.Contains(body, `"thought_signature":"S"`) {
			refuse(w, "Thought signature is not valid.", "")
			return
		}
		say(w, "ok")
	})
	if text, _, err := listen(p, t.Context(), pictured()); text != "ok" || err != nil {
		t.Fatalf("it said %q, %v", text, err)
	}
	if got := bodies(); len(got) != 2 || !strings.Contains(got[1], "skip_thought_signature_validator") {
		t.Errorf("it sent\n%s", strings.Join(got, "\n"))
	}
}

// Refusals of other things teach nothing about the history.
func TestRefusalsThatAreNotAboutTheHistory(t *testing.T) {
	t.Parallel()
	for _, says := range []string{
		"This model does not support reasoning.", "Unknown parameter: 'reasoning_effort'.", "API key not valid. See https://google.com",
		"Invalid value: 'system_fingerprint'", "The function snap failed",
	} {
		e := &provider.Error{Kind: provider.Rejected, Status: http.StatusBadRequest, Message: says}
		b := encode(t, pictured(), APIChat, chatcompletions.Quirks{})
		var q chatcompletions.Quirks
		var now chatcompletions.Adaption
		if l := learnShape(e, strings.ToLower(says), b.Sent, &q, &now); l != chatcompletions.Nothing {
			t.Errorf("%q taught %+v", says, q)
		}
	}
}
