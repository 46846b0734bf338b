package term

import "testing"

func TestColourIsDecidedByFlagThenEnvironmentThenStream(t *testing.T) {
	t.Parallel()
	xterm := map[string]string{"TERM": "xterm"}
	tests := []struct {
		name     string
		mode     ColourMode
		terminal bool
		goos     string
		env      map[string]string
		want     Depth
	}{
		{"terminal", ColourAuto, true, "linux", xterm, Colours16},
		{"pipe", ColourAuto, false, "linux", xterm, NoColour},
		{"always into a pipe", ColourAlways, false, "linux", xterm, Colours16},
		{"always beats NO_COLOR", ColourAlways, true, "linux", map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, Colours16},
		{"never on a terminal", ColourNever, true, "linux", map[string]string{"TERM": "xterm", "CLICOLOR_FORCE": "1"}, NoColour},
		{"NO_COLOR", ColourAuto, true, "linux", map[string]string{"TERM": "xterm", "NO_COLOR": "0"}, NoColour},
		{"empty NO_COLOR counts as unset", ColourAuto, true, "linux", map[string]string{"TERM": "xterm", "NO_COLOR": ""}, Colours16},
		{"NO_COLOR beats CLICOLOR_FORCE", ColourAuto, true, "linux", map[string]string{"TERM": "xterm", "NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, NoColour},
		{"CLICOLOR_FORCE into a pipe", ColourAuto, false, "linux", map[string]string{"CLICOLOR_FORCE": "1"}, Colours16},
		{"CLICOLOR_FORCE of 0", ColourAuto, false, "linux", map[string]string{"CLICOLOR_FORCE": "0"}, NoColour},
		{"CLICOLOR of 0", ColourAuto, true, "linux", map[string]string{"TERM": "xterm", "CLICOLOR": "0"}, NoColour},
		{"dumb terminal", ColourAuto, true, "linux", map[string]string{"TERM": "dumb"}, NoColour},
		{"no TERM on Unix", ColourAuto, true, "darwin", nil, NoColour},
		{"no TERM on Windows", ColourAuto, true, "windows", nil, TrueColour},
		{"256 colours", ColourAuto, true, "linux", map[string]string{"TERM": "screen-256color"}, Colours256},
		{"true colour", ColourAuto, true, "linux", map[string]string{"TERM": "xterm", "COLORTERM": "truecolor"}, TrueColour},
		{"24 bit", ColourAuto, true, "linux", map[string]string{"TERM": "xterm", "COLORTERM": "24bit"}, TrueColour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := colourFacts{mode: tt.mode, terminal: tt.terminal, goos: tt.goos, getenv: func(k string) string { return tt.env[k] }}
			if got := f.depth(); got != tt.want {
				t.Errorf("depth %d, want %d", got, tt.want)
			}
		})
	}
}

func TestEachStreamIsJudgedForItself(t *testing.T) {
	t.Parallel()
	s := Test(TestOptions{ErrTerminal: true})
	if s.Out.Style().Enabled() || !s.Err.Style().Enabled() {
		t.Errorf("stdout in a pipe has colour %v, stderr on a terminal %v", s.Out.Style().Enabled(), s.Err.Style().Enabled())
	}
	s.SetColour(ColourAlways)
	if !s.Out.Style().Enabled() {
		t.Error("--color always gives stdout none")
	}
	s.SetColour(ColourNever)
	if s.Err.Style().Enabled() {
		t.Error("--color never leaves stderr some")
	}
}

func TestAConsoleThatRefusesEscapesGetsNone(t *testing.T) {
	t.Parallel()
	s := Test(TestOptions{OutTerminal: true, ErrTerminal: true})
	asked := 0
	s.Err.prepare = func() bool { asked++; return false }
	s.Status().Set("working")
	if s.Err.Style().Enabled() || s.Stderr.String() != "" {
		t.Errorf("colour %v, status %q", s.Err.Style().Enabled(), s.Stderr.String())
	}
	if asked != 1 {
		t.Errorf("the console was asked %d times", asked)
	}
	if !s.Out.Style().Enabled() {
		t.Error("the other stream lost its colour too")
	}
}

func TestParseColour(t *testing.T) {
	t.Parallel()
	for v, want := range map[string]ColourMode{"": ColourAuto, "auto": ColourAuto, "always": ColourAlways, "never": ColourNever} {
		if got, err := ParseColour(v); got != want || err != nil {
			t.Errorf("ParseColour(%q) is %v, %v", v, got, err)
		}
	}
	_, err := ParseColour("yes\x1b")
	if err == nil || err.Error() != `read colour "yes␛": it is auto, always or never` {
		t.Errorf("error is %v", err)
	}
}

func TestStylesNestAndVanish(t *testing.T) {
	t.Parallel()
	on := NewStyle(Colours16)
	if got, want := on.Bold("a"+on.Red("b")+"c"), "\x1b[1ma\x1b[31mb\x1b[39mc\x1b[22m"; got != want {
		t.Errorf("nested: %q, want %q", got, want)
	}
	for name, f := range map[string]func(Style, string) string{
		"bold": Style.Bold, "dim": Style.Dim, "italic": Style.Italic, "underline": Style.Underline, "strike": Style.Strike,
		"red": Style.Red, "green": Style.Green, "yellow": Style.Yellow, "cyan": Style.Cyan,
	} {
		if got := f(Style{}, "x"); got != "x" {
			t.Errorf("%s without colour gives %q", name, got)
		}
		if got := f(on, ""); got != "" {
			t.Errorf("%s of nothing gives %q", name, got)
		}
		if got := f(on, "x"); len(got) < 8 || got[0] != 0x1b || got[len(got)-1] != 'm' {
			t.Errorf("%s gives %q", name, got)
		}
	}
}
