package permission

import (
	"encoding/json"
	"strings"

	"github.com/fettle-cli/fettle/toolset"
)

// RuleFor is the rule that "for this chat" and "always" make of a call: this
// tool, with this main argument where it has one.
func RuleFor(t toolset.Tool, args json.RawMessage) string {
	if main := mainArg(t, args); main != "" {
		return t.ID + "(" + quoteGlob(main) + ")"
	}
	return t.ID
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

// DecidePrompt gives the verdict on a prompt that an MCP server has for a model, and
// the reason for people. Only rules that speak of such prompts count.
func (p Policy) DecidePrompt(server string) (v Verdict, why string) {
	id := SamplingRule(server)
	named := func(rules *ruleList) (string, bool) {
		for _, r := range rules.of(id) {
			if len(r.args) == 0 && strings.HasPrefix(r.tool, "sampling@") {
				return r.text, true
			}
		}
		return "", false
	}
	lists := p.lists()
	if rule, ok := named(lists.deny); ok {
		return Refuse, "the rule deny " + rule + " forbids it"
	}
	if _, ok := named(lists.allow); ok {
		return Run, ""
	}
	return Ask, ""
}
