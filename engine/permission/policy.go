package permission

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/fettle-cli/fettle/toolset"
)

// Policy decides whether a tool call may run. Deny rules are checked first, then allow
// rules, then ask rules, then the tool's own default.
//
// A rule is a glob over the tool's id, by toolset's rules, and may be followed
// by globs over arguments: `write_file(path=notes/**)`. A glob without a name
// in the brackets is for the call's main argument: `read_file(*.md)`. All
// globs of a rule must match; in an argument `**` crosses slashes and `*`
// doesn't.
//
// A value that can be a path is compared by its spelling and by the file that it means,
// relative to the workspace or absolute, with links followed and in the letter case that
// the folder lists. A rule allows only if all of these match; it denies or asks if one
// does. Where a folder on the way ignores case, rules that deny or ask are compared
// without case; a folder without entries does not show this, and counts as one. A rule allows only arguments that are a single string; it denies or asks about the
// strings in lists and objects, too, and about a schema's default where the argument is
// left out. Addresses are compared part by part: a wildcard in the host of
// `web_fetch(https://*.example.com/**)` matches within the host alone, and a rule that
// denies `https://example.com` denies all of that host.
//
// The argument `command` of tools of the category shell is read as a command
// line: `run_command(git status*)` allows a line only if each command in it is
// allowed by a rule, and it has no substitution, redirection, assignment or
// other construct by which more can run than is seen; a rule without wildcards
// allows exactly its line. Rules that deny or ask concern each command at any depth of the
// line, also one that env, timeout, xargs, sudo, sh -c and the like run. There `*` crosses
// slashes, too. Once a rule concerns commands, a line that can run more than can be seen
// asks; where everything is allowed, it is refused if a rule denies or asks about commands.
// None of this is a boundary: a program can do under its own name what a rule denies
// another. The sandbox contains a command; rules decide which commands need no approval.
type Policy struct {
	Deny  []string `json:"deny,omitempty"`
	Allow []string `json:"allow,omitempty"`
	Ask   []string `json:"ask,omitempty"`
	// AllowAll runs what would otherwise be asked; Deny still holds.
	AllowAll bool `json:"allow_all,omitempty"`
	// Approvals is the mode that decides where no rule does; empty is [Calls].
	Approvals Mode `json:"approvals,omitempty"`
}

// With gives a policy that has the rules of both, and the mode of q where q has one.
func (p Policy) With(q Policy) Policy {
	return Policy{
		Deny:     slices.Concat(p.Deny, q.Deny),
		Allow:    slices.Concat(p.Allow, q.Allow),
		Ask:      slices.Concat(p.Ask, q.Ask),
		AllowAll: p.AllowAll || q.AllowAll, Approvals: cmp.Or(q.Approvals, p.Approvals),
	}
}

// Verdict is what a policy says of a call.
type Verdict int

// The verdicts. AskAfter lets a call run first, where its changes can be kept apart from
// the workspace until the user decides about them; elsewhere it is Ask.
const (
	Run Verdict = iota
	Ask
	Refuse
	AskAfter
)

// Decide is [Rules.Decide] for a single decision.
func (p Policy) Decide(c *Call) (Verdict, string) {
	r, _ := p.Compile() // Check has reported a rule that can't be parsed, which matches nothing
	return r.Decide(c)
}

// Decide returns the verdict on a call, and the reason for users, empty for [Run].
func (r *Rules) Decide(c *Call) (Verdict, string) {
	if rule, ok := r.deny.catches(c); ok {
		return Refuse, "the rule deny " + rule + " forbids it"
	}
	if r.asksAll() {
		return Ask, AskAllReason
	}
	if v, why, ok := r.unclear(c); ok {
		return v, why
	}
	if r.allow.allows(c) {
		return Run, ""
	}
	if rule, ok := r.ask.catches(c); ok {
		return r.unless(Ask), "the rule ask " + rule + " wants it"
	}
	if c.tool.RequiresConfirmation {
		return r.byDefault(c, "the tool wants an approval")
	}
	if c.ws != nil && c.ws.Bound && !c.tool.Annotations.ReadOnly {
		return r.byDefault(c, "it can change "+c.ws.Path)
	}
	return Run, ""
}

// Denied returns the check that compares the files which a call reaches with the deny
// rules, for [toolset.Workspace.Denied]: a tool that walks a folder reaches files that no
// argument names. It is nil if no rule denies the tool a path.
func (r *Rules) Denied(t toolset.Tool) func(name string, fold bool) (string, bool) {
	type denial struct {
		text  string
		globs []string
	}
	var all []denial
	for _, r := range r.deny.of(t.ID) {
		if len(r.args) == 1 && isPathName(cmp.Or(r.args[0].name, mainArg(t))) {
			all = append(all, denial{r.text, pathGlobs(r.args[0].glob)})
		}
	}
	if len(all) == 0 {
		return nil
	}
	return func(name string, fold bool) (string, bool) {
		for _, d := range all {
			if matchesAny(d.globs, []string{name}, fold) {
				return "deny " + d.text, true
			}
		}
		return "", false
	}
}

func (r *Rules) unless(v Verdict) Verdict {
	if r.allowAll {
		return Run
	}
	return v
}

type rule struct {
	text string
	tool string
	args []argRule
	at   int // its place in the list
}

type argRule struct{ name, glob string }

func parseRule(text string) (rule, error) {
	r := rule{text: text, tool: text}
	if open := strings.IndexByte(text, '('); open >= 0 {
		if !strings.HasSuffix(text, ")") {
			return rule{}, fmt.Errorf("rule %q: the bracket is not closed", text)
		}
		r.tool = text[:open]
		for _, part := range splitArgs(text[open+1 : len(text)-1]) {
			a := argRule{glob: part}
			if name, glob, ok := strings.Cut(part, "="); ok && isName(name) {
				a = argRule{name, glob}
			}
			if !doublestar.ValidatePattern(a.glob) {
				return rule{}, fmt.Errorf("rule %q: %q is no glob", text, a.glob)
			}
			r.args = append(r.args, a)
		}
	}
	if _, err := toolset.Match(r.tool, "x"); err != nil || r.tool == "" {
		return rule{}, fmt.Errorf("rule %q: %q is no glob over tool ids", text, r.tool)
	}
	return r, nil
}

// splitArgs splits at commas that are outside braces, so that {a,b} works.
func splitArgs(s string) []string {
	var out []string
	depth, start, escaped := 0, 0, false
	for i, c := range s {
		if escaped {
			escaped = false
			continue
		}
		switch {
		case c == '\\':
			escaped = true
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == ',' && depth == 0:
			out = append(out, strings.TrimSpace(s[start:i]))
			start = i + 1
		}
	}
	return append(out, strings.TrimSpace(s[start:]))
}

func isName(s string) bool {
	for i, c := range s {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
