package chat

import (
	"strings"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
)

// Ending returns the remark on an answer that did not end by itself; without an
// Ending there is none.
func (r *Reducer) Ending() event.Footnote {
	stop, word := r.Answer.StopReason, ""
	if r.stopDetail != "" {
		word = " (" + r.stopDetail + ")"
	}
	text, thought := r.content()
	switch {
	case stop == provider.StopToolUse:
		return event.Footnote{}
	case stop == provider.StopRefusal && text:
		return event.Footnote{Ending: event.EndRefusal, Text: "the answer was stopped by the provider's filter, or declined by the model" + word}
	case stop == provider.StopRefusal:
		return event.Footnote{Ending: event.EndRefusal, Text: "the provider declined to answer" + word}
	case !text && len(r.Calls) > 0 && stop == provider.StopEnd:
		return event.Footnote{Ending: event.EndSilent, Text: "the answer has no text"}
	case !text:
		return event.Footnote{Ending: event.EndEmpty, Text: emptyWords(stop, thought) + word}
	case stop == provider.StopLength:
		return event.Footnote{Ending: event.EndLength, Text: "the answer stops at the model's limit of output"}
	case stop == provider.StopOther:
		return event.Footnote{Ending: event.EndOther, Text: otherWords(r.stopDetail) + word}
	}
	return event.Footnote{}
}

// content reports whether the answer so far has text or a payload, and whether
// it has reasoning.
func (r *Reducer) content() (text, thought bool) {
	for _, p := range r.Message().Parts {
		switch p.Kind {
		case provider.TextPart:
			text = text || strings.TrimSpace(p.Text) != ""
		case provider.PayloadPart:
			text = true
		case provider.ReasoningPart, provider.AgentTextPart:
			thought = thought || p.Text != "" || len(p.Details) > 0
		}
	}
	return text, thought
}

// emptyWords say of an answer without text how it ended.
func emptyWords(stop string, thought bool) string {
	words := "the answer is empty"
	if thought {
		words = "the answer has no text: the model only reasoned"
	}
	switch {
	case stop == provider.StopLength && thought:
		words += ", up to its limit of output"
	case stop == provider.StopLength:
		words += ": the model reached its limit of output"
	}
	return words
}

// otherWords say why a provider ended an answer, as far as its word is known.
func otherWords(word string) string {
	low := strings.ToLower(word)
	switch {
	case strings.Contains(low, "malformed"), strings.Contains(low, "unexpected_tool"), strings.Contains(low, "too_many_tool"):
		return "the model's tool call was malformed, and was left out"
	case strings.Contains(low, "pause"):
		return "the provider paused the answer before its end"
	case strings.Contains(low, "abort"), strings.Contains(low, "cancel"), strings.Contains(low, "insufficient_system_resource"), strings.Contains(low, "load"):
		return "the provider broke the answer off"
	}
	return "the provider ended the answer for a reason of its own"
}
