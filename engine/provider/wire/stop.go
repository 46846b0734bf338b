package wire

import (
	"strings"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
)

// StopReason maps the finish reasons that servers send. A response that ended
// without one just stopped.
func StopReason(finish string) string {
	switch strings.ToLower(finish) {
	case "", "stop", "end_turn", "eos", "eos_token", "stop_sequence", "complete", "completed", "done":
		return provider.StopEnd
	case "tool_calls", "tool_call", "function_call", "tool_use":
		return provider.StopToolUse
	case "length", "max_tokens", "max_output_tokens", "max_new_tokens", "model_length", "limit", contextWindowExceeded:
		return provider.StopLength
	case "content_filter", "safety", "refusal", "prohibited_content", "sensitive", "guardrail", "guardrails",
		"recitation", "blocklist", "spii", "image_safety", "language":
		return provider.StopRefusal
	}
	return provider.StopOther
}

// contextWindowExceeded is the finish reason of a response that fills the
// model's context, at Anthropic and GLM.
const contextWindowExceeded = "model_context_window_exceeded"

// maxStop bounds the finish reason that a server sends, in bytes.
const maxStop = 60

// Ending is what a response came to.
type Ending struct {
	Finish  string // the server's finish reason
	Why     string // the server's explanation of a refusal
	Refused bool   // the model declined in a field of its own
	Usage   *event.Usage
}

// Close appends the meta delta of a response that has ended to the deltas of its
// end; said reports whether text came before these. It is an error where the
// context had no room for the first token of an answer.
func (e Ending) Close(dst []provider.Delta, s Source, said bool) ([]provider.Delta, error) {
	called := false
	for _, d := range dst {
		called = called || d.Kind == provider.CallDelta
		said = said || d.Kind == provider.Content || d.Kind == provider.CallDelta
	}
	if strings.EqualFold(e.Finish, contextWindowExceeded) && !said {
		return dst, s.Error(provider.ContextFull, "the model stopped before its first word: "+contextWindowExceeded, nil)
	}
	m := &event.Meta{Usage: e.Usage, StopReason: StopReason(e.Finish)}
	switch {
	case called:
		m.StopReason = provider.StopToolUse // some servers say stop, or length after a whole call
	case e.Refused:
		m.StopReason = provider.StopRefusal
	case m.StopReason == provider.StopToolUse:
		m.StopReason = provider.StopEnd
	}
	word := shorten(Clean(e.Finish, s.Secrets...), maxStop)
	if own := StopReason(word) == provider.StopRefusal || StopReason(word) == provider.StopOther; own && !called && word != m.StopReason {
		m.StopDetail = word
	}
	if m.StopReason == provider.StopRefusal && e.Why != "" {
		m.StopDetail = Clean(e.Why, s.Secrets...)
	}
	return append(dst, provider.Delta{Kind: provider.Meta, Meta: m}), nil
}
