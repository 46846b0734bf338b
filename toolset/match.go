package toolset

import (
	"errors"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

var errPattern = errors.New("it isn't a valid pattern (a bracket or brace is left open)")

// Match tells whether the pattern means the tool with this id, by the rules in
// the package's documentation. The error tells of a broken pattern.
func Match(pattern, id string) (bool, error) {
	if pattern == "" {
		return false, errors.New("it is empty")
	}
	p := separate(pattern)
	if !doublestar.ValidatePattern(p) {
		return false, errPattern
	}
	if pattern == "*" {
		return true, nil
	}
	return doublestar.Match(p, separate(id))
}

// separate makes the colon doublestar's separator. A slash is an ordinary
// character of an id (MCP names have them), so it becomes one that no id has.
func separate(s string) string {
	return strings.NewReplacer("/", "\x1f", ":", "/").Replace(s)
}

// literal tells whether a pattern has no wildcards.
func literal(pattern string) bool { return !strings.ContainsAny(pattern, `*?[{\`) }
