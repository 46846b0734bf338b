package wire

import (
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
)

// Begun returns the text of the answer that a request has the model continue; empty if the
// last message is not the assistant's, or has calls.
func Begun(req *provider.Request) string {
	n := len(req.Messages) - 1
	if n < 0 || req.Messages[n].Role != provider.Assistant {
		return ""
	}
	var text string
	for _, p := range req.Messages[n].Parts {
		switch p.Kind {
		case provider.TextPart:
			text += p.Text
		case provider.ToolCallPart:
			return ""
		}
	}
	return text
}

// Unprefixed returns pass for a response that may repeat a text at its beginning: the text is
// left out. Content is held back for as long as it may be the text, and passed on whole if it
// is not.
func Unprefixed(prefix string, pass func([]provider.Delta) bool) func([]provider.Delta) bool {
	if prefix == "" {
		return pass
	}
	held, decided := "", false
	return func(batch []provider.Delta) bool {
		if decided {
			return pass(batch)
		}
		out := make([]provider.Delta, 0, len(batch)+1)
		for _, d := range batch {
			switch {
			case decided || d.Kind == provider.Reasoning || d.Kind == provider.Footnote:
				out = append(out, d)
			case d.Kind != provider.Content:
				decided = true
				if held != "" {
					out = append(out, provider.Delta{Kind: provider.Content, Text: held})
				}
				out = append(out, d)
			default:
				held += d.Text
				rest, whole := strings.CutPrefix(held, prefix)
				if !whole && strings.HasPrefix(prefix, held) {
					continue
				}
				decided = true
				if d.Text = rest; rest != "" {
					out = append(out, d)
				}
			}
		}
		return len(out) == 0 || pass(out)
	}
}
