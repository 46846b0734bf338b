package chat

import (
	"strings"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

// TitleLength is what fits a list beside the other columns.
const TitleLength = 80

// CleanTitle is a text as a title: one line of valid text that fits a list.
func CleanTitle(s string) string {
	s = strings.ToValidUTF8(s[:min(len(s), 8*TitleLength)], "")
	return sanitize.Shorten(sanitize.Line(s), TitleLength)
}
