package engine

import (
	"strings"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

// titleLength is what fits a list beside the other columns.
const titleLength = 80

// cleanTitle is a text as a title: one line of valid text that fits a list.
func cleanTitle(s string) string {
	s = strings.ToValidUTF8(s[:min(len(s), 8*titleLength)], "")
	return sanitize.Shorten(sanitize.Line(s), titleLength)
}
