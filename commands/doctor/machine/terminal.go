package machine

import (
	"fmt"
	"strings"
)

// Terminal is what is known of the terminal.
type Terminal struct {
	IsTerminal bool
	Width      int    // in columns
	Colours    string // such as "256 colours"; empty for none
	Term       string // TERM
	// Locale is the locale that texts are shown in: the first of LC_ALL,
	// LC_CTYPE and LANG that is set. Windows has none.
	Locale  string
	Windows bool
}

// narrow is the width below which lists and code are hard to read.
const narrow = 40

// Check tells whether fettle can show what it has to show.
func (t Terminal) Check() Result {
	r := Result{ID: "terminal", Title: "terminal", Status: OK}
	if !t.IsTerminal {
		r.Detail = "standard output is no terminal: plain text, without colour"
		return r
	}
	colours := t.Colours
	if colours == "" {
		colours = "no colour"
	}
	parts := []string{fmt.Sprintf("%d columns", t.Width), colours}
	if t.utf8() {
		parts = append(parts, "UTF-8")
	}
	r.Detail = strings.Join(parts, ", ")
	switch {
	case !t.utf8():
		r.Status = Warning
		r.Detail += fmt.Sprintf(", and the locale is %s, not UTF-8", orNone(t.Locale))
		r.Try("export LANG=C.UTF-8   shows letters beyond ASCII")
	case !t.Windows && (t.Term == "" || t.Term == "dumb"):
		r.Status = Warning
		r.Detail += ", TERM is " + orNone(t.Term)
		r.Try("export TERM=xterm-256color   if the terminal is one of today")
	case t.Width < narrow:
		r.Status = Warning
		r.Try("make the window wider: lists and code need about 80 columns")
	}
	return r
}

func orNone(s string) string {
	if s == "" {
		return "not set"
	}
	return s
}

func (t Terminal) utf8() bool {
	locale := strings.ToLower(t.Locale)
	return t.Windows || strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}
