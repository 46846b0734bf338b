package permission

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/fettle-cli/fettle/toolset"
)

// Rules is a [Policy] whose rules were parsed once. Decisions look only at the rules that
// name the tool of the call. It may be used by several goroutines.
type Rules struct {
	deny, allow, ask *ruleList
	allowAll         bool
	mode             Mode
}

// Compile parses the rules of a policy. The error is about the first rule that cannot be
// parsed; the result has the others, and that rule matches no call.
func (p Policy) Compile() (*Rules, error) {
	r := &Rules{deny: newRuleList(p.Deny), allow: newRuleList(p.Allow), ask: newRuleList(p.Ask), allowAll: p.AllowAll, mode: p.Approvals}
	return r, cmp.Or(r.deny.err, r.allow.err, r.ask.err)
}

// Check returns the error of the first rule that cannot be parsed.
func (p Policy) Check() error {
	_, err := p.Compile()
	return err
}

// Allowing returns the same rules with other ones that allow. One that cannot be parsed
// matches no call.
func (r *Rules) Allowing(allow []string) *Rules {
	return &Rules{deny: r.deny, allow: newRuleList(allow), ask: r.ask, allowAll: r.allowAll, mode: r.mode}
}

// asksAll reports whether every call asks. A caller that allows everything is not asked.
func (r *Rules) asksAll() bool { return r.mode == AskAll && !r.allowAll }

// AskAllReason is why a call asks in the mode [AskAll].
const AskAllReason = "in the mode ask-all every call asks"

// Remembers reports whether a rule that an approval makes has an effect: in the mode
// [AskAll] no rule allows anything.
func (r *Rules) Remembers() bool { return !r.asksAll() }

// Names reports whether a rule that allows names a tool, and not only all tools.
func (r *Rules) Names(id string) bool {
	return slices.ContainsFunc(r.allow.of(id), func(r rule) bool { return r.tool != "*" && r.tool != "**" })
}

// ruleList is a list of rules, indexed by the tools that they are for.
type ruleList struct {
	err   error // of the first rule that cannot be parsed
	texts map[string]bool
	// named has the rules for a tool by its id, and globs those for several tools.
	named map[string][]rule
	globs []rule

	mu   sync.Mutex
	tool map[string][]rule // the rules for a tool, in their order
}

func newRuleList(texts []string) *ruleList {
	l := &ruleList{texts: make(map[string]bool, len(texts)), named: map[string][]rule{}, tool: map[string][]rule{}}
	for i, text := range texts {
		l.texts[text] = true
		r, err := parseRule(text)
		switch r.at = i; {
		case err != nil:
			l.err = cmp.Or(l.err, err)
		case isPlain(r.tool):
			l.named[r.tool] = append(l.named[r.tool], r)
		default:
			l.globs = append(l.globs, r)
		}
	}
	return l
}

// isPlain reports whether a rule's tool is an id that matches only itself. Others are
// compared by [toolset.Match].
func isPlain(tool string) bool {
	return strings.IndexFunc(tool, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_-.:@", c))
	}) < 0
}

// of returns the rules that name a tool, in their order.
func (l *ruleList) of(id string) []rule {
	l.mu.Lock()
	defer l.mu.Unlock()
	rules, known := l.tool[id]
	if known {
		return rules
	}
	rules = slices.Clone(l.named[id])
	for _, r := range l.globs {
		if ok, err := toolset.Match(r.tool, id); err == nil && ok {
			rules = append(rules, r)
		}
	}
	slices.SortFunc(rules, func(a, b rule) int { return cmp.Compare(a.at, b.at) })
	l.tool[id] = rules
	return rules
}

// first returns the text of the first rule that matches a call.
func (l *ruleList) first(c *Call, s side) (string, bool) {
	for _, r := range l.of(c.tool.ID) {
		if r.matches(c, s) {
			return r.text, true
		}
	}
	return "", false
}
