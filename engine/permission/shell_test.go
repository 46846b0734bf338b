package permission

import (
	"encoding/json"
	"runtime"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
)

func TestRulesForCommandLines(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the lines are sh's")
	}
	tool := toolset.Tool{
		ID: "run_command", Category: "shell", RequiresConfirmation: true,
		InputSchema: json.RawMessage(`{"type":"object","required":["command"]}`),
	}
	allow := func(rules ...string) Policy { return Policy{Allow: rules} }
	for name, c := range map[string]struct {
		policy  Policy
		command string
		want    Verdict
	}{
		"a prefix":                          {allow("run_command(git status*)"), "git status -s src/x", Run},
		"a named argument":                  {allow("run_command(command=git status*)"), "git status -s", Run},
		"all slashes are crossed":           {allow("run_command(go test *)"), "go test ./a/b/...", Run},
		"a chain of allowed ones":           {allow("run_command(git status*)", "run_command(git log*)"), "git status && git log | git status", Run},
		"chained by ;":                      {allow("run_command(git status*)"), "git status; rm -rf x", Ask},
		"chained by &&":                     {allow("run_command(git status*)"), "git status && rm -rf x", Ask},
		"chained by |":                      {allow("run_command(git status*)"), "git status | sh", Ask},
		"chained by &":                      {allow("run_command(git status*)"), "git status & rm -rf x", Ask},
		"chained by a line end":             {allow("run_command(git status*)"), "git status\nrm -rf x", Ask},
		"a substitution":                    {allow("run_command(git status*)"), "git status $(rm -rf x)", Ask},
		"backquotes":                        {allow("run_command(git status*)"), "git status `rm -rf x`", Ask},
		"a substitution in quotes":          {allow("run_command(git status*)"), `git status "$(rm -rf x)"`, Ask},
		"a redirection":                     {allow("run_command(git status*)"), "git status > main.go", Ask},
		"a redirection to nowhere":          {allow("run_command(git status*)"), "git status 2>/dev/null", Run},
		"an assignment":                     {allow("run_command(git status*)"), "GIT_PAGER='rm x' git status", Ask},
		"an assignment, by a greedy rule":   {allow("run_command(* git status)"), "X=1 git status", Ask},
		"what can't be read":                {allow("run_command(git status*)"), "git status 'x", Ask},
		"a remembered line":                 {allow(`run_command(a && b > c)`), "a && b > c", Run},
		"a line that is like it":            {allow(`run_command(a && b > c)`), "a && b > d", Ask},
		"every command":                     {allow("run_command"), "a; b $(c) > d", Run},
		"every command, by a glob":          {allow("run_*"), "a; b", Run},
		"every simple command":              {allow("run_command(*)"), "a; b /x", Run},
		"everything else asks":              {allow("run_command(*)"), "a $(b)", Ask},
		"denied":                            {Policy{Deny: []string{"run_command(rm *)"}, AllowAll: true}, "rm -rf /x", Refuse},
		"denied in a chain":                 {Policy{Deny: []string{"run_command(rm *)"}, AllowAll: true}, "ls && rm -rf x", Refuse},
		"denied in a substitution":          {Policy{Deny: []string{"run_command(rm *)"}, AllowAll: true}, `echo "$(rm -rf x)"`, Refuse},
		"denied in quotes and by its path":  {Policy{Deny: []string{"run_command(rm *)"}, AllowAll: true}, `"/bin/rm" -rf x`, Refuse},
		"asked about in a chain":            {Policy{Ask: []string{"run_command(rm *)"}, AllowAll: false}, "ls && rm -rf x", Ask},
		"allowed goes before the tool asks": {allow("run_command(ls)"), "ls", Run},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := c.policy.Check(); err != nil {
				t.Fatal(err)
			}
			args, err := json.Marshal(map[string]string{"command": c.command})
			if err != nil {
				t.Fatal(err)
			}
			if got, why := c.policy.Decide(Resolve(tool, args, nil)); got != c.want {
				t.Errorf("%q: verdict %v (%s), want %v", c.command, got, why, c.want)
			}
			if got, _ := allow(Resolve(tool, args, nil).Rule()).Decide(Resolve(tool, args, nil)); got != Run {
				t.Errorf("%q: the rule made from this very call doesn't allow it", c.command)
			}
		})
	}
}
