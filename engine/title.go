package engine

import (
	"strings"
	"unicode"

	"github.com/fettle-cli/fettle/engine/provider"
)

// titleLength is what fits a list beside the other columns.
const titleLength = 80

// title is the first line of the prompt, else the first file's name.
func title(parts []provider.Part) string {
	text := ""
	for _, p := range parts {
		if p.Kind == provider.TextPart {
			text = p.Text
		}
	}
	for _, p := range parts {
		if strings.TrimSpace(text) == "" {
			text = p.Name
		}
	}
	for line := range strings.Lines(text) {
		if line = cleanLine(line); line != "" {
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
