package engine

import (
	"strings"
	"unicode"

	"github.com/fettle-cli/fettle/engine/provider"
)

// titleLength is what fits a list beside the other columns.
const titleLength = 80

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
		if line = cleanLine(strings.ToValidUTF8(line[:min(len(line), 8*titleLength)], "")); line != "" {
			return cutRunes(line, titleLength)
		}
	}
	return "untitled"
}

func cleanLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

func cutRunes(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return strings.TrimSpace(string(runes[:n-1])) + "…"
}
