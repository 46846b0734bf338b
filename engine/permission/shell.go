package permission

import (
	"runtime"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

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

// running is the call as if it ran another command.
func (c ruleCall) running(command string) ruleCall {
	args := make(map[string]string, len(c.args))
	for name, value := range c.args {
		args[name] = value
	}
	if c.main == args[c.shell] {
		c.main = command
	}
	args[c.shell] = command
	c.args = args
	return c
}

// allows tells whether rules let a call run. Of a command line with wildcards'
// help each command that it chains has to be allowed, and it must be one that
// does nothing else; a rule that says the whole line allows that line.
func allows(list *ruleList, c ruleCall) bool {
	rules := list.of(c.id)
	command, isShell := c.args[c.shell]
	if c.shell == "" || !isShell {
		_, ok := firstMatch(rules, c)
		return ok
	}
	for _, r := range rules {
		if r.matches(c) && (r.text == c.exact || !r.wildIn(c)) {
			return true
		}
	}
	parts, ok := shellparts.Simple(command, shellDialect())
	for _, part := range parts {
		if _, hit := firstMatch(rules, c.running(part)); !hit {
			return false
		}
	}
	return ok
}

// catches finds the first rule that means a call: as it stands, or any command
// that its command line holds.
func catches(list *ruleList, c ruleCall) (string, bool) {
	rules := list.of(c.id)
	if text, ok := firstMatch(rules, c); ok || len(rules) == 0 {
		return text, ok
	}
	command, isShell := c.args[c.shell]
	if c.shell == "" || !isShell {
		return "", false
	}
	for _, seen := range shellparts.Seen(command, shellDialect()) {
		if text, ok := firstMatch(rules, c.running(seen)); ok {
			return text, true
		}
	}
	return "", false
}

// wildIn tells whether a rule has a glob for the command line that may match
// more than one.
func (r rule) wildIn(c ruleCall) bool {
	for _, a := range r.args {
		if c.speaksOfShell(a.name) && strings.ContainsAny(a.glob, wildcards) {
			return true
		}
	}
	return false
}

// speaksOfShell tells whether a rule's argument is the call's command line.
func (c ruleCall) speaksOfShell(name string) bool {
	return c.shell != "" && (name == c.shell || name == "" && c.main == c.args[c.shell])
}

// matchArg matches one glob. In a command line a slash is a character as any
// other, so that `go test *` means `go test ./...` too.
func (c ruleCall) matchArg(a argRule, value string) bool {
	glob := a.glob
	if c.speaksOfShell(a.name) {
		const slash = "\x1f"
		glob, value = strings.ReplaceAll(glob, "/", slash), strings.ReplaceAll(value, "/", slash)
	}
	if !strings.ContainsAny(glob, wildcards) {
		return glob == value
	}
	hit, err := doublestar.Match(glob, value)
	return err == nil && hit
}
