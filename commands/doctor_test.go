package commands

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/commands/doctor"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/usage"
)

func TestDoctorOnATerminal(t *testing.T) {
	t.Parallel()
	s := term.Test(term.TestOptions{OutTerminal: true, Width: 60, Env: map[string]string{"NO_COLOR": "1"}})
	showResults(s.Out, []doctor.Result{
		{Title: "configuration", Status: doctor.OK, Detail: "/home/ann/.config/fettle/config.yaml"},
		{
			Title: "Ollama", Status: doctor.Warning, Detail: "version 0.17.4\x1b[31m at http://127.0.0.1:11434, 3 models",
			More:  []string{"every context is 2,048 tokens long, by OLLAMA_CONTEXT_LENGTH"},
			Hints: []string{"unset OLLAMA_CONTEXT_LENGTH   lets fettle measure what is needed", "fettle models list"},
		},
		{Title: "store", Status: doctor.Error, Detail: "the store is damaged"},
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
	showResults(s.Out, []doctor.Result{{Title: "git", Status: doctor.OK, Detail: "2.39.5 at /usr/bin/git"}, {Title: "clock", Status: doctor.OK, Detail: "right"}})
	if want := "✓ git    2.39.5 at /usr/bin/git\n✓ clock  right\n\nall 2 are well\n"; s.Stdout.String() != want {
		t.Errorf("%s\nwant\n%s", s.Stdout.String(), want)
	}
}

func TestTheOutputPageNamesTheFieldsOfRoundCommands(t *testing.T) {
	t.Parallel()
	page := outputPage(t)
	for what, v := range map[string]any{
		"prompts list": promptsJSON{}, "prompts show": promptShowJSON{}, "usage": usage.Report{}, "doctor": doctorJSON{},
	} {
		names := map[string]bool{}
		jsonNames(reflect.TypeOf(v), names)
		if len(names) < 3 {
			t.Errorf("%s has only the fields %v", what, names)
		}
		for name := range names {
			if !regexp.MustCompile(`\b` + name + `\b`).MatchString(page) {
				t.Errorf("%s: %s is not on the page", what, name)
			}
		}
	}
	if !strings.Contains(page, "fettle doctor -o json") {
		t.Error("doctor is not on the page")
	}
}
