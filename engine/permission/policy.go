package permission

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/fettle-cli/fettle/toolset"
)

// Policy decides whether a tool call may run. Deny rules are looked at first,
// then allow rules, then ask rules, then the tool's own wish.
//
// A rule is a glob over the tool's id, by toolset's rules, and may be followed
// by globs over arguments: `write_file(path=notes/**)`. A glob without a name
// in the brackets is for the call's main argument: `read_file(*.md)`. All
// globs of a rule must match; in an argument `**` crosses slashes and `*`
// doesn't. A rule for arguments matches only where each of them is a string.
//
// The argument `command` of tools of the category shell is read as a command
// line: `run_command(git status*)` allows a line only if each command in it is
// allowed by a rule, and it holds no substitution, redirection, assignment or
// other thing by which more could run than is seen; a rule without wildcards
// allows exactly its line. Rules that deny or ask mean each command that stands
// anywhere in the line. There `*` crosses slashes, too. The sandbox is what
// contains a command; rules only say which ones need no question.
type Policy struct {
	Deny  []string `json:"deny,omitempty"`
	Allow []string `json:"allow,omitempty"`
	Ask   []string `json:"ask,omitempty"`
	// AllowAll runs what would otherwise be asked; Deny still holds.
	AllowAll bool `json:"allow_all,omitempty"`

	parsed *ruleLists // of Compile
}

// With gives a policy that has the rules of both.
func (p Policy) With(q Policy) Policy {
	if len(q.Deny)+len(q.Allow)+len(q.Ask) == 0 {
		p.AllowAll = p.AllowAll || q.AllowAll
		return p // and its rules stay parsed
	}
	return Policy{
		Deny:     slices.Concat(p.Deny, q.Deny),
		Allow:    slices.Concat(p.Allow, q.Allow),
		Ask:      slices.Concat(p.Ask, q.Ask),
		AllowAll: p.AllowAll || q.AllowAll,
	}
}

// Check tells the first rule that can't be read.
func (p Policy) Check() error {
	_, err := p.Compile()
	return err
}

// Verdict is what a policy says of a call.
type Verdict int

// The verdicts.
const (
	Run Verdict = iota
	Ask
	Refuse
)

// Decide gives the verdict on a call in a workspace, nil where it has none, and the
// reason for people, empty for [Run].
func (p Policy) Decide(t toolset.Tool, args json.RawMessage, ws *toolset.Workspace) (Verdict, string) {
	call := ruleCall{id: t.ID, args: stringArgs(args), main: mainArg(t, args), shell: shellArg(t), exact: RuleFor(t, args)}
	lists := p.lists()
	if rule, ok := catches(lists.deny, call); ok {
		return Refuse, "the rule deny " + rule + " forbids it"
	}
	if allows(lists.allow, call) {
		return Run, ""
	}
	if rule, ok := catches(lists.ask, call); ok {
		return p.unless(Ask), "the rule ask " + rule + " wants it"
	}
	if t.RequiresConfirmation {
		return p.unless(Ask), "the tool wants an approval"
	}
	if ws != nil && ws.Bound && !t.Annotations.ReadOnly {
		return p.unless(Ask), "it can change " + ws.Path
	}
	return Run, ""
}

func (p Policy) unless(v Verdict) Verdict {
	if p.AllowAll {
		return Run
	}
	return v
}

type rule struct {
	tool string
	args []argRule
}

type argRule struct{ name, glob string }

type ruleCall struct {
	id   string
	args map[string]string
	main string
	// shell names the argument that is a shell's command line, exact is the
	// rule that means just this call.
	shell, exact string
}

func parseRule(text string) (rule, error) {
	r := rule{tool: text}
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

func firstMatch(rules []listed, c ruleCall) (string, bool) {
	for _, r := range rules {
		if r.matches(c) {
			return r.text, true
		}
	}
	return "", false
}

// matches reports whether a rule for the call's tool means the call.
func (r rule) matches(c ruleCall) bool {
	for _, a := range r.args {
		value, ok := c.args[a.name]
		if a.name == "" {
			value, ok = c.main, c.main != ""
		}
		if !ok {
			return false
		}
		if !c.matchArg(a, value) {
			return false
		}
	}
	return true
}

// stringArgs are the arguments that are strings.
func stringArgs(args json.RawMessage) map[string]string {
	var all map[string]json.RawMessage
	out := map[string]string{}
	if json.Unmarshal(args, &all) != nil {
		return out
	}
	for name, raw := range all {
		var s string
		if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
			out[name] = s
		}
	}
	return out
}

// mainArg is the argument that matters most to a person: the first required
// one of the schema, if it is a string.
func mainArg(t toolset.Tool, args json.RawMessage) string {
	var schema struct {
		Required []string `json:"required"`
	}
	if json.Unmarshal(t.InputSchema, &schema) != nil || len(schema.Required) == 0 {
		return ""
	}
	return stringArgs(args)[schema.Required[0]]
}
