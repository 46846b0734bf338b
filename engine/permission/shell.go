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
func allows(rules []string, c *Call) bool {
	if allowsWhole(rules, c) {
		return true
	}
	command, ok := c.command()
	if !ok {
		_, hit := firstMatch(rules, c, permits)
		return hit
	}
	parts, simple := shellparts.Simple(command, shellDialect())
	for _, part := range parts {
		if _, hit := firstMatch(rules, c.running(part), permits); !hit {
			return false
		}
	}
	return simple
}

// allowsWhole reports whether a rule allows the call as it is, without a wildcard for its
// command line.
func allowsWhole(rules []string, c *Call) bool {
	if len(rules) == 0 {
		return false
	}
	exact := c.Rule()
	for _, text := range rules {
		if text == exact {
			return true
		}
		r, err := parseRule(text)
		if err == nil && c.shell != "" && !r.wildIn(c) && r.matches(c, permits) {
			return true
		}
	}
	return false
}

// catches returns the first rule that concerns a call: as it is, or any command that its
// command line contains.
func catches(rules []string, c *Call) (string, bool) {
	if text, ok := firstMatch(rules, c, prohibits); ok || len(rules) == 0 {
		return text, ok
	}
	command, ok := c.command()
	if !ok {
		return "", false
	}
	seen, _ := shellparts.Seen(command, shellDialect())
	for _, each := range seen {
		if text, ok := firstMatch(rules, c.running(each), prohibits); ok {
			return text, true
		}
	}
	return "", false
}

// unclear decides about a command line that can run more than can be seen, once a rule
// concerns commands of this tool; ok reports that it did.
func (p Policy) unclear(c *Call) (v Verdict, why string, ok bool) {
	command, isLine := c.command()
	if !isLine {
		return Run, "", false
	}
	limits, limited := aboutCommands(slices.Concat(p.Deny, p.Ask), c)
	_, granted := aboutCommands(p.Allow, c)
	if !limited && !granted {
		return Run, "", false
	}
	if _, unclear := shellparts.Seen(command, shellDialect()); !unclear {
		return Run, "", false
	}
	switch {
	case slices.Contains(p.Allow, c.Rule()):
		return Run, "", true
	case limited && p.AllowAll:
		return Refuse, "the rule " + limits + " concerns commands, and it can't be seen which commands this line runs", true
	case limited:
		return Ask, "the rule " + limits + " concerns commands, and it can't be seen which commands this line runs", true
	case p.AllowAll || allowsWhole(p.Allow, c):
		return Run, "", true
	}
	return Ask, "it can't be seen which commands this line runs", true
}

// aboutCommands returns the first rule that concerns some command lines of a call's tool.
func aboutCommands(rules []string, c *Call) (string, bool) {
	for _, text := range rules {
		r, err := parseRule(text)
		if err != nil {
			continue
		}
		if ok, err := toolset.Match(r.tool, c.tool.ID); err == nil && ok && slices.ContainsFunc(r.args, func(a argRule) bool { return c.isCommand(a.name) }) {
			return text, true
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
