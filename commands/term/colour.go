package term

import (
	"fmt"
	"runtime"
	"strings"
)

// ColourMode is what the person wants: the value of --color.
type ColourMode int

// The values of --color. Auto decides by the environment and the stream.
const (
	ColourAuto ColourMode = iota
	ColourAlways
	ColourNever
)

// ParseColour reads the value of --color; the empty string is auto.
func ParseColour(v string) (ColourMode, error) {
	switch v {
	case "", "auto":
		return ColourAuto, nil
	case "always":
		return ColourAlways, nil
	case "never":
		return ColourNever, nil
	}
	return ColourAuto, fmt.Errorf("read colour %q: it is auto, always or never", Clean(v))
}

// Depth is how many colours a stream may be sent.
type Depth int

// The depths, in rising order; NoColour also means no escape code at all.
const (
	NoColour Depth = iota
	Colours16
	Colours256
	TrueColour
)

// colourFacts is all that the decision rests on.
type colourFacts struct {
	mode     ColourMode
	terminal bool
	goos     string
	getenv   func(string) string
}

// wanted tells whether escape codes are to be sent. The flag wins; then
// NO_COLOR (no-color.org), then CLICOLOR_FORCE and CLICOLOR
// (bixense.com/clicolors), then what the stream is.
func (f colourFacts) wanted() bool {
	switch f.mode {
	case ColourAlways:
		return true
	case ColourNever:
		return false
	}
	if f.getenv("NO_COLOR") != "" {
		return false
	}
	if v := f.getenv("CLICOLOR_FORCE"); v != "" && v != "0" {
		return true
	}
	return f.terminal && !f.dumb() && f.getenv("CLICOLOR") != "0"
}

// dumb tells whether the terminal understands no escape codes. Unix sets TERM
// for every terminal that does; Windows doesn't set it.
func (f colourFacts) dumb() bool {
	t := f.getenv("TERM")
	return t == "dumb" || t == "" && f.goos != "windows"
}

func (f colourFacts) depth() Depth {
	if !f.wanted() {
		return NoColour
	}
	switch f.getenv("COLORTERM") {
	case "truecolor", "24bit":
		return TrueColour
	}
	if f.terminal && f.goos == "windows" {
		return TrueColour // every console with virtual terminal processing has it
	}
	if strings.Contains(f.getenv("TERM"), "256color") {
		return Colours256
	}
	return Colours16
}

func facts(mode ColourMode, terminal bool, getenv func(string) string) colourFacts {
	return colourFacts{mode: mode, terminal: terminal, goos: runtime.GOOS, getenv: getenv}
}
