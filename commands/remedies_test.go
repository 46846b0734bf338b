package commands

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/remedy"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
)

// Each kind of remedy is a command of fettle's that can be pasted, with flags that it has.
// The few that name no command are listed.
func TestEachRemedyIsACommand(t *testing.T) {
	t.Parallel()
	others := []fault.Kind{fault.Advice, fault.Command, fault.SetVariable, fault.MoveData, fault.StopProcess, fault.Wait, fault.MoreTime, fault.SimplerSchema, fault.LeaveFolder}
	app := newApp(workbench.New(term.Test(term.TestOptions{}).Streams))
	command := regexp.MustCompile(`\bfettle( [^ ].*?)(?:$|   | …|, with| needs)`)
	word := regexp.MustCompile(`'[^']*'|"[^"]*"|[^ ]+`)
	for _, kind := range fault.Kinds() {
		line := remedy.Line(fault.Try(kind, "7", "8"))
		found := command.FindAllStringSubmatch(line, -1)
		if (len(found) == 0) != slices.Contains(others, kind) {
			t.Errorf("%s: %q", kind, line)
		}
		for _, f := range found {
			args := []string{"fettle"}
			for _, w := range word.FindAllString(f[1], -1) {
				args = append(args, strings.Trim(w, `'"`))
			}
			o := cmdline.Reorder(app, args)
			if o.Command == nil || o.Unknown != "" || o.Missing != "" || len(o.Command.Subcommands) > 0 && o.Command.Action == nil {
				t.Errorf("%s: %q is read as %s, unknown %q, lacking %q", kind, line, o.Path, o.Unknown, o.Missing)
			}
		}
		if len(found) > 0 {
			continue
		}
		for _, flag := range regexp.MustCompile(`(?:^| )(--?[a-z][a-z-]*)`).FindAllStringSubmatch(line, -1) {
			if o := cmdline.Reorder(app, []string{"fettle", "ask", flag[1], "x"}); o.Unknown != "" {
				t.Errorf("%s: %q has the flag %s, which ask does not have", kind, line, o.Unknown)
			}
		}
	}
}

// The field of a request that is wrong is named by the flag that gives it.
func TestWrongInputIsNamedByItsFlag(t *testing.T) {
	t.Parallel()
	app := newApp(workbench.New(term.Test(term.TestOptions{}).Streams))
	for _, field := range []string{"tools", "schema", "workspace"} {
		flag, _, _ := strings.Cut(remedy.Message(&fault.Fault{Input: field, Msg: "wrong"}), ":")
		if o := cmdline.Reorder(app, []string{"fettle", "ask", flag, "x"}); o.Command == nil || o.Unknown != "" || !strings.HasPrefix(flag, "-") {
			t.Errorf("%s is given by %q", field, flag)
		}
	}
	if got := remedy.Message(&fault.Fault{Input: "later", Msg: "wrong"}); got != "later: wrong" {
		t.Errorf("got %q", got)
	}
}
