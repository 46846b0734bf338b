package permission

import (
	"encoding/json"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
)

func TestPolicy(t *testing.T) {
	t.Parallel()
	tool := toolset.Tool{
		ID: "write_file", InputSchema: json.RawMessage(`{"type":"object","required":["path","content"]}`),
	}
	confirms := tool
	confirms.RequiresConfirmation = true
	mine := &toolset.Workspace{Path: "/w", Bound: true}
	args := json.RawMessage(`{"path":"notes/a.md","content":"x","mode":3}`)
	for name, c := range map[string]struct {
		policy Policy
		tool   toolset.Tool
		ws     *toolset.Workspace
		want   Verdict
	}{
		"nothing said":                      {Policy{}, tool, nil, Run},
		"the tool asks":                     {Policy{}, confirms, nil, Ask},
		"a folder of the user's":            {Policy{}, tool, mine, Ask},
		"allowed":                           {Policy{Allow: []string{"write_file"}}, confirms, mine, Run},
		"allowed by a glob":                 {Policy{Allow: []string{"write_*"}}, confirms, mine, Run},
		"allowed for a path":                {Policy{Allow: []string{"write_file(path=notes/**)"}}, confirms, mine, Run},
		"allowed for the main argument":     {Policy{Allow: []string{"write_file(notes/*.md)"}}, confirms, mine, Run},
		"allowed for two arguments":         {Policy{Allow: []string{"write_file(path=notes/*, content=x)"}}, confirms, mine, Run},
		"allowed for another path":          {Policy{Allow: []string{"write_file(path=src/**)"}}, confirms, mine, Ask},
		"a star doesn't cross a slash":      {Policy{Allow: []string{"write_file(path=*)"}}, confirms, mine, Ask},
		"an argument that is no string":     {Policy{Allow: []string{"write_file(mode=3)"}}, confirms, mine, Ask},
		"another tool":                      {Policy{Allow: []string{"read_file"}}, confirms, mine, Ask},
		"denied goes before allowed":        {Policy{Deny: []string{"write_*"}, Allow: []string{"*"}}, tool, nil, Refuse},
		"denied goes before everything":     {Policy{Deny: []string{"*(path=notes/**)"}, AllowAll: true}, tool, nil, Refuse},
		"asked where nobody else would":     {Policy{Ask: []string{"write_file"}}, tool, nil, Ask},
		"allowed goes before asked":         {Policy{Ask: []string{"*"}, Allow: []string{"write_file"}}, tool, nil, Run},
		"all allowed":                       {Policy{AllowAll: true}, confirms, mine, Run},
		"braces with a comma":               {Policy{Allow: []string{"write_file(path={src,notes}/*)"}}, confirms, mine, Run},
		"the rule made from this very call": {Policy{Allow: []string{Resolve(tool, args, nil).Rule()}}, confirms, mine, Run},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := c.policy.Check(); err != nil {
				t.Fatal(err)
			}
			if got, why := c.policy.Decide(Resolve(c.tool, args, c.ws)); got != c.want || got != Run && why == "" {
				t.Errorf("verdict %v (%s), want %v", got, why, c.want)
			}
		})
	}
}

func TestRulesThatCantBeRead(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"", "write_file(path=x", "[", "write_file(path=[)", "(x)"} {
		if err := (Policy{Allow: []string{rule}}).Check(); err == nil {
			t.Errorf("%q was taken for a rule", rule)
		}
	}
}

// The rule that a remembered approval makes fits just the call it was made
// from, whatever characters that holds.
func TestARememberedApprovalIsExact(t *testing.T) {
	t.Parallel()
	tool := toolset.Tool{ID: "run", InputSchema: json.RawMessage(`{"type":"object","required":["command"]}`), RequiresConfirmation: true}
	commands := []string{
		"ls", "ls *", "rm {a,b}", `echo "\\"`, "a=b", "x(y)", "ls, rm", "[a]", "ls ; rm -rf ~", "!x", " ls", "ls ",
		"\tls", "ls\n", "  ", "a//b", "a/b", "/a", "a/", "a/**", "**", "a/c/b", `\`, `a\`, "a\nb", "(x", "x)", "=x", "[!a]", "é",
	}
	for _, made := range commands {
		args, _ := json.Marshal(map[string]string{"command": made})
		p := Policy{Allow: []string{Resolve(tool, args, nil).Rule()}}
		if err := p.Check(); err != nil {
			t.Errorf("%q makes a rule that can't be read: %v", made, err)
		}
		for _, asked := range commands {
			args, _ := json.Marshal(map[string]string{"command": asked})
			got, _ := p.Decide(Resolve(tool, args, nil))
			if (got == Run) != (made == asked) {
				t.Errorf("the rule made from %q says %v of %q", made, got, asked)
			}
		}
	}
}
