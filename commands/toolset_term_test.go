//go:build linux || darwin

package commands_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// What is imported is shown, and asked about, on the terminal.
func TestImportAsksOnATerminal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys      []string
		installed bool
		shows     []string
	}{
		"yes":           {[]string{"y"}, true, []string{"network    api.example.com", "tools      columns", "installed CSV tools 1.2.0 (csv-tools): 1 tool"}},
		"no":            {[]string{"n"}, false, []string{"not allowed; nothing was installed"}},
		"a stray Enter": {[]string{"\r"}, false, []string{"not allowed; nothing was installed"}},
		"details":       {[]string{"d", "y"}, true, []string{"tool columns\n  description: Names the columns of a CSV file", `"required": [`}},
		"Ctrl-D":        {[]string{"\x04"}, false, []string{"nothing was installed"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "{}")
			w.bundles(w.Dir)
			term := w.OnTerminal(nil, "toolset", "import", "csv-tools.zip")
			for i, key := range c.keys {
				if i == 1 {
					term.Until("}\nAllow this?") // put once more, below the details
				} else {
					term.Until("Allow this?")
				}
				term.Type(key)
			}
			screen := term.Ends(0)
			for _, want := range c.shows {
				if !strings.Contains(screen, want) {
					t.Errorf("the screen lacks %q:\n%s", want, screen)
				}
			}
			if commandtest.Exists(filepath.Join(w.Dir, "data", "toolsets.json")) != c.installed {
				t.Errorf("installed: %v\n%s", !c.installed, screen)
			}
			for line := range strings.Lines(screen) {
				if len([]rune(strings.TrimRight(line, "\n"))) > 80 {
					t.Errorf("wider than the terminal: %q", line)
				}
			}
		})
	}
}
