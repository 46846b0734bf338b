package chat

import (
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// TitleLength is what fits a list beside the other columns.
const TitleLength = 80

// CleanTitle is a text as a title: one line of valid text that fits a list.
func CleanTitle(s string) string {
	s = strings.ToValidUTF8(s[:min(len(s), 8*TitleLength)], "")
	return sanitize.Shorten(sanitize.Line(s), TitleLength)
}

// FirstTitle is the title of a chat that begins with parts, and with what the user called
// it, if that is not empty: else the last text's first line, else a file's name.
func FirstTitle(given string, parts []provider.Part) string {
	text := given
	for _, p := range parts {
		if given == "" && p.Kind == provider.TextPart {
			text = p.Text
		}
	}
	for _, p := range parts {
		if strings.TrimSpace(text) == "" {
			text = p.Name
		}
	}
	for line := range strings.Lines(text) {
		if title := CleanTitle(line); title != "" {
			return title
		}
	}
	return "untitled"
}
