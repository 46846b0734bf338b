package permission

import (
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// side is how sure a match has to be.
type side int

const (
	// permits needs every reading of a value to match, its spelling included.
	permits side = iota
	// prohibits needs one reading to match.
	prohibits
)

// matches reports whether a rule for the tool of a call concerns the call.
func (r rule) matches(c *Call, s side) bool {
	for _, a := range r.args {
		name := a.name
		if name == "" {
			name = c.main
		}
		arg, given := c.args[name]
		if !given || name == "" || !c.matchesArg(a.glob, name, arg, s) {
			return false
		}
	}
	return true
}

func (c *Call) matchesArg(glob, name string, arg argument, s side) bool {
	if s == permits {
		return arg.single && c.matchesValue(glob, name, arg.strings[0], permits)
	}
	for _, value := range arg.strings {
		if c.matchesValue(glob, name, value, prohibits) {
			return true
		}
	}
	return arg.cut
}

// matchesValue compares one string with a glob: as a command line, as an address, or as a
// text that may be a path.
func (c *Call) matchesValue(glob, name, value string, s side) bool {
	if name == c.shell {
		// A slash is a character as any other, so that `go test *` means `go test ./...`, too.
		const slash = "\x1f"
		return match(strings.ReplaceAll(glob, "/", slash), strings.ReplaceAll(value, "/", slash))
	}
	if at, ok := addressOf(value); ok {
		return at.matches(glob, value, s)
	}
	return c.matchesPath(glob, value, s)
}

// matchesPath compares a value's spelling and every file that it can mean.
func (c *Call) matchesPath(glob, value string, s side) bool {
	spelled := match(glob, slashed(value))
	if s == permits && !spelled {
		return false
	}
	if s == prohibits && spelled {
		return true
	}
	m := c.meaning(value)
	globs := pathGlobs(glob)
	for _, names := range m.Readings {
		hit := matchesAny(globs, names, m.Fold && s == prohibits)
		if s == prohibits && hit {
			return true
		}
		if s == permits && !hit {
			return false
		}
	}
	return s == permits
}

func matchesAny(globs, names []string, fold bool) bool {
	for _, glob := range globs {
		for _, name := range names {
			if match(glob, name) || fold && matchesFolded(glob, name) {
				return true
			}
		}
	}
	return false
}

// matchesFolded compares as the most forgiving file systems do: regardless of case, of how
// accents are composed, of characters that are not shown, and of dots and blanks at the end
// of a part.
func matchesFolded(glob, name string) bool {
	glob, name = folded(glob), folded(name)
	return match(glob, name) || match(glob, trimmedParts(name))
}

// folded returns a text that is the same for all names that some file system takes for one.
func folded(s string) string {
	shown := strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			return -1
		}
		return r
	}, s)
	return norm.NFC.String(cases.Fold().String(norm.NFD.String(shown)))
}

func trimmedParts(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		if trimmed := strings.TrimRight(part, ". "); trimmed != "" {
			parts[i] = trimmed
		}
	}
	return strings.Join(parts, "/")
}

// pathGlobs returns the ways to read a rule's glob as one for resolved names, which have
// no ./ in front, no slash at the end, and no ~.
func pathGlobs(glob string) []string {
	out := []string{glob}
	plain := strings.TrimPrefix(glob, "./")
	if len(plain) > 1 {
		plain = strings.TrimSuffix(plain, "/")
	}
	if plain != glob && plain != "" {
		out = append(out, plain)
	}
	if rest, ok := strings.CutPrefix(glob, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			out = append(out, quoteGlob(filepath.ToSlash(home))+"/"+rest)
		}
	}
	return out
}

// match is the one comparison of a rule's glob with a text.
func match(glob, text string) bool {
	hit, err := doublestar.Match(glob, text)
	return err == nil && hit
}
