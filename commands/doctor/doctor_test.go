package doctor

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/commands/doctor/machine"
	"github.com/fettle-cli/fettle/commands/help/helptest"
	"github.com/fettle-cli/fettle/commands/term"
)

func TestDoctorOnATerminal(t *testing.T) {
	t.Parallel()
	s := term.Test(term.TestOptions{OutTerminal: true, Width: 60, Env: map[string]string{"NO_COLOR": "1"}})
	showResults(s.Out, []machine.Result{
		{Title: "configuration", Status: machine.OK, Detail: "/home/ann/.config/fettle/config.yaml"},
		{
			Title: "Ollama", Status: machine.Warning, Detail: "version 0.17.4\x1b[31m at http://127.0.0.1:11434, 3 models",
			More:  []string{"every context is 2,048 tokens long, by OLLAMA_CONTEXT_LENGTH"},
			Hints: []string{"unset OLLAMA_CONTEXT_LENGTH   lets fettle measure what is needed", "fettle models list"},
		},
		{Title: "store", Status: machine.Error, Detail: "the store is damaged"},
	})
	want := `✓ configuration  /home/ann/.config/fettle/config.yaml
! Ollama         version 0.17.4␛[31m at
                 http://127.0.0.1:11434, 3 models
                 every context is 2,048 tokens long, by
                 OLLAMA_CONTEXT_LENGTH
                 try  unset OLLAMA_CONTEXT_LENGTH   lets fettle measure what is needed
                  or  fettle models list
✗ store          the store is damaged

1 error, 1 warning
`
	if diff := cmp.Diff(want, s.Stdout.String()); diff != "" {
		t.Errorf("the results (-want +got):\n%s", diff)
	}
	s.Stdout.Reset()
	showResults(s.Out, []machine.Result{{Title: "git", Status: machine.OK, Detail: "2.39.5 at /usr/bin/git"}, {Title: "clock", Status: machine.OK, Detail: "right"}})
	if want := "✓ git    2.39.5 at /usr/bin/git\n✓ clock  right\n\nall 2 are well\n"; s.Stdout.String() != want {
		t.Errorf("%s\nwant\n%s", s.Stdout.String(), want)
	}
}

func TestTheOutputPageNamesTheFieldsOfDoctor(t *testing.T) {
	t.Parallel()
	page := helptest.OutputPage(t)
	helptest.Names(t, page, map[string]any{"doctor": printed{}})
	if !strings.Contains(page, "fettle doctor -o json") {
		t.Error("doctor is not on the page")
	}
}
