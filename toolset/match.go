package toolset

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// What a glob may be. Matching takes a try for each choice of alternatives,
// and a slip of nested braces can ask for millions.
const (
	maxGlob    = 1000
	maxChoices = 256
)

// CheckGlob tells what is wrong with a doublestar pattern, as a clause such as
// "it is empty". The file tools' globs follow it too.
func CheckGlob(pattern string) error {
	switch {
	case pattern == "":
		return errors.New("it is empty")
	case len(pattern) > maxGlob:
		return fmt.Errorf("it has %d characters; %d are allowed", len(pattern), maxGlob)
	case !utf8.ValidString(pattern): // doublestar takes all such bytes for one character
		return errors.New("it isn't valid UTF-8")
	case !doublestar.ValidatePattern(pattern):
		return errors.New("a bracket or brace is left open")
	case choices(pattern) > maxChoices:
		return errors.New("its braces make too many choices")
	}
	return nil
}

// choices is at least as many as there are ways through the braces of a
// pattern: as if the alternatives were spread over them evenly.
func choices(pattern string) float64 {
	braces := float64(strings.Count(pattern, "{"))
	if braces == 0 {
		return 1
	}
	return math.Pow(float64(strings.Count(pattern, ","))/braces+1, braces)
}

// Match tells whether the pattern means the tool with this id, by the rules in
// the package's documentation. The error tells of a broken pattern.
func Match(pattern, id string) (bool, error) {
	if err := CheckGlob(pattern); err != nil {
		return false, err
	}
	if pattern == "*" {
		return true, nil
	}
	return doublestar.Match(separate(pattern), separate(id))
}

// separate makes the colon doublestar's separator. A slash is an ordinary
// character of an id (MCP names have them), so it becomes one that no id has.
func separate(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '/':
			return '\x1f'
		case ':':
			return '/'
		}
		return r
	}, s)
}

// literal tells whether a pattern has no wildcards.
func literal(pattern string) bool { return !strings.ContainsAny(pattern, `*?[{\`) }
