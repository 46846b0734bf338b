package mcp

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/engine/fault"
)

const (
	// maxShownName bounds a name that comes from elsewhere in a message of ours.
	maxShownName = 200
	// maxShownText bounds what is shown of arguments in a question, and of a
	// message of progress.
	maxShownText = 2000
)

// clean makes one line of a text without control characters.
func clean(s string) string {
	return strings.Join(strings.Fields(cleanText(s)), " ")
}

// cleanText is clean for a text of several lines.
func cleanText(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unprintable(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// unprintable characters hide something of a text, or turn its direction.
func unprintable(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// cut shortens a text to so many bytes, and shows that it did.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := most
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// explain is an error for a model, with its details and next steps.
func explain(err error) string {
	var f *fault.Fault
	if !errors.As(err, &f) {
		return clean(err.Error())
	}
	return lines(f.Msg, f.Detail, f.Hints)
}

func lines(msg string, detail, hints []string) string {
	out := append([]string{msg}, detail...)
	for _, h := range hints {
		out = append(out, "next: "+h)
	}
	for i := range out {
		out[i] = clean(out[i])
	}
	return strings.Join(out, "\n")
}
