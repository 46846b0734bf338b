package permission

import (
	"path"
	"slices"
	"strings"
)

// Rule returns the rule that "for this chat" and "always" make of a call: this
// tool, with this main argument where it has one. A path is stored as the file that it
// means, an address in its one spelling. The rule of a value that tools read in several
// ways has all of them, so that it does not allow the same spelling when that means another
// file.
func (c *Call) Rule() string {
	if c.main == "" {
		return c.tool.ID
	}
	forms := c.resolvedMain()
	for i, form := range forms {
		forms[i] = quoteGlob(form)
	}
	if len(forms) == 1 {
		return c.tool.ID + "(" + forms[0] + ")"
	}
	return c.tool.ID + "({" + strings.Join(forms, ",") + "})"
}

// resolvedMain returns the forms of the main argument that a remembered rule has.
func (c *Call) resolvedMain() []string {
	value := c.args[c.main].strings[0]
	if c.main == c.shell {
		return []string{value}
	}
	if at, ok := addressOf(value); ok {
		if at.user { // never allowed without a question
			return []string{value}
		}
		return []string{at.text()}
	}
	var forms []string
	plain := ""
	if !isPathName(c.main) { // it may be a text and no path
		forms, plain = append(forms, value), path.Clean(slashed(value))
	}
	for _, names := range c.meaning(value).Readings {
		if names[0] != plain && !slices.Contains(forms, names[0]) {
			forms = append(forms, names[0])
		}
	}
	return forms
}

// quoteGlob makes a glob that matches just the text. White space at the ends,
// which a rule may have for looks, stands in brackets.
func quoteGlob(s string) string {
	inner := strings.TrimSpace(s)
	before, after, _ := strings.Cut(s, inner)
	inner = strings.NewReplacer(
		`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`, ",", `\,`, "=", `\=`,
	).Replace(inner)
	return bracketed(before) + inner + bracketed(after)
}

func bracketed(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteString("[" + string(r) + "]")
	}
	return b.String()
}

// SamplingRule is the rule that lets a server ask models without a question. No
// tool can have such an id.
func SamplingRule(server string) string { return "sampling@" + server }

// DecidePrompt returns the verdict on a prompt that an MCP server has for a model, and
// the reason for users. Only rules for such prompts count.
func (r *Rules) DecidePrompt(server string) (v Verdict, why string) {
	id := SamplingRule(server)
	if rule, ok := r.deny.forPrompts(id); ok {
		return Refuse, "the rule deny " + rule + " forbids it"
	}
	if _, ok := r.allow.forPrompts(id); ok && !r.asksAll() {
		return Run, ""
	}
	return Ask, ""
}

// forPrompts returns the text of the first rule that names the id of a server's prompts.
func (l *ruleList) forPrompts(id string) (string, bool) {
	for _, r := range l.of(id) {
		if len(r.args) == 0 && strings.HasPrefix(r.tool, "sampling@") {
			return r.text, true
		}
	}
	return "", false
}
