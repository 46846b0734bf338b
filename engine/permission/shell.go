package permission

import (
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/internal/shellparts"
	"github.com/fettle-cli/fettle/toolset"
)

// shellCategory is the category of tools whose argument `command` is a shell's
// command line (document 004 §10).
const shellCategory = "shell"

// shellArg names the argument that is a command line; empty where none is.
func shellArg(t toolset.Tool) string {
	if t.Category == shellCategory {
		return "command"
	}
	return ""
}

func shellDialect() shellparts.Dialect {
	if runtime.GOOS == "windows" {
		return shellparts.Windows
	}
	return shellparts.POSIX
}

// command returns the call's command line.
func (c *Call) command() (string, bool) {
	a, given := c.args[c.shell]
	if c.shell == "" || !given || !a.single {
		return "", false
	}
	return a.strings[0], true
}

// running returns the call as if it ran another command.
func (c *Call) running(command string) *Call {
	other := *c
	other.args = maps.Clone(c.args)
	other.args[c.shell] = argument{strings: []string{command}, single: true}
	return &other
}

// allows reports whether rules allow a call. Of a command line each command that it chains
// has to be allowed where the rules have wildcards, and the line must do nothing else; a
// rule that has the whole line allows that line. The rule that an approval of this very
// call made allows it, too, however its path is spelled.
func (l *ruleList) allows(c *Call) bool {
	if l.allowsWhole(c) {
		return true
	}
	command, ok := c.command()
	if !ok {
		_, hit := l.first(c, permits)
		return hit
	}
	parts, simple := shellparts.Simple(command, shellDialect())
	for _, part := range parts {
		if _, hit := l.first(c.running(part), permits); !hit {
			return false
		}
	}
	return simple
}

// allowsWhole reports whether a rule allows the call as it is, without a wildcard for its
// command line.
func (l *ruleList) allowsWhole(c *Call) bool {
	if len(l.texts) == 0 {
		return false
	}
	if l.texts[c.Rule()] {
		return true
	}
	return c.shell != "" && slices.ContainsFunc(l.of(c.tool.ID), func(r rule) bool { return !r.wildIn(c) && r.matches(c, permits) })
}

// catches returns the first rule that concerns a call: as it is, or any command that its
// command line contains.
func (l *ruleList) catches(c *Call) (string, bool) {
	if text, ok := l.first(c, prohibits); ok || len(l.of(c.tool.ID)) == 0 {
		return text, ok
	}
	command, ok := c.command()
	if !ok {
		return "", false
	}
	seen, _ := shellparts.Seen(command, shellDialect())
	for _, each := range seen {
		if text, ok := l.first(c.running(each), prohibits); ok {
			return text, true
		}
	}
	return "", false
}

// unclear decides about a command line that can run more than can be seen, once a rule
// concerns commands of this tool; ok reports that it did.
func (r *Rules) unclear(c *Call) (v Verdict, why string, ok bool) {
	command, isLine := c.command()
	if !isLine {
		return Run, "", false
	}
	limits, limited := r.deny.aboutCommands(c)
	if !limited {
		limits, limited = r.ask.aboutCommands(c)
	}
	_, granted := r.allow.aboutCommands(c)
	if !limited && !granted {
		return Run, "", false
	}
	if _, unclear := shellparts.Seen(command, shellDialect()); !unclear {
		return Run, "", false
	}
	switch {
	case r.allow.texts[c.Rule()]:
		return Run, "", true
	case limited && r.allowAll:
		return Refuse, "the rule " + limits + " concerns commands, and it can't be seen which commands this line runs", true
	case limited:
		return Ask, "the rule " + limits + " concerns commands, and it can't be seen which commands this line runs", true
	case r.allowAll || r.allow.allowsWhole(c):
		return Run, "", true
	}
	v, why = r.byDefault(c, "it can't be seen which commands this line runs")
	return v, why, true
}

// aboutCommands returns the first rule that concerns some command lines of a call's tool.
func (l *ruleList) aboutCommands(c *Call) (string, bool) {
	for _, r := range l.of(c.tool.ID) {
		if slices.ContainsFunc(r.args, func(a argRule) bool { return c.isCommand(a.name) }) {
			return r.text, true
		}
	}
	return "", false
}

// wildIn reports whether a rule has a glob for the command line that can match more than
// one.
func (r rule) wildIn(c *Call) bool {
	return slices.ContainsFunc(r.args, func(a argRule) bool { return c.isCommand(a.name) && strings.ContainsAny(a.glob, `*?[{\`) })
}

// isCommand reports whether a rule's argument is the call's command line.
func (c *Call) isCommand(name string) bool {
	return c.shell != "" && (name == c.shell || name == "" && c.main == c.shell)
}
