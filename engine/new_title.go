package engine

import (
	"strings"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// title is what the request says, else the first line of the prompt, else the
// first file's name.
func title(req TurnRequest) string {
	text, parts := req.Title, req.Parts
	for _, p := range parts {
		if req.Title == "" && p.Kind == provider.TextPart {
			text = p.Text
		}
	}
	for _, p := range parts {
		if strings.TrimSpace(text) == "" {
			text = p.Name
		}
	}
	for line := range strings.Lines(text) {
		// A character has at most four bytes; what is cut inside one is cut off.
		if line = sanitize.Line(strings.ToValidUTF8(line[:min(len(line), 8*chat.TitleLength)], "")); line != "" {
			return sanitize.Shorten(line, chat.TitleLength)
		}
	}
	return "untitled"
}
