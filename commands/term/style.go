package term

// Style colours text with the 16 colours that every terminal's own theme
// decides about. The zero value leaves text as it is. Styles nest; bold and
// dim share their end code, so don't nest those two.
//
// The text is not cleaned: pass foreign text through [Clean] first.
type Style struct{ on bool }

// NewStyle gives a style that colours, or the one that doesn't, by depth.
func NewStyle(d Depth) Style { return Style{on: d != NoColour} }

// Enabled tells whether escape codes are written.
func (s Style) Enabled() bool { return s.on }

// Bold shows t heavier.
func (s Style) Bold(t string) string { return s.wrap("\x1b[1m", "\x1b[22m", t) }

// Dim shows t fainter.
func (s Style) Dim(t string) string { return s.wrap("\x1b[2m", "\x1b[22m", t) }

// Italic shows t slanted.
func (s Style) Italic(t string) string { return s.wrap("\x1b[3m", "\x1b[23m", t) }

// Underline underlines t.
func (s Style) Underline(t string) string { return s.wrap("\x1b[4m", "\x1b[24m", t) }

// Strike strikes t through.
func (s Style) Strike(t string) string { return s.wrap("\x1b[9m", "\x1b[29m", t) }

// Red is for what failed.
func (s Style) Red(t string) string { return s.wrap("\x1b[31m", "\x1b[39m", t) }

// Green is for what worked.
func (s Style) Green(t string) string { return s.wrap("\x1b[32m", "\x1b[39m", t) }

// Yellow is for what needs a look.
func (s Style) Yellow(t string) string { return s.wrap("\x1b[33m", "\x1b[39m", t) }

// Cyan is for names and code.
func (s Style) Cyan(t string) string { return s.wrap("\x1b[36m", "\x1b[39m", t) }

func (s Style) wrap(begin, end, t string) string {
	if !s.on || t == "" {
		return t
	}
	return begin + t + end
}
