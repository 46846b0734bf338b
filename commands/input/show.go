package input

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

// quote writes a name as one word of a shell's command line.
func quote(name string) string {
	name = sanitize.Mask(name)
	if strings.HasPrefix(name, "-") {
		name = "./" + name
	}
	safe := !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+,:@%=", r)
	})
	if safe && name != "" {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

// size writes a number of bytes for people: exactly where it is a round
// number, else with one digit behind the point.
func size(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB"}
	i, rest := 0, n
	for rest >= 1<<10 && i < len(units)-1 {
		rest >>= 10
		i++
	}
	unit := int64(1) << (10 * i)
	switch {
	case n == 1:
		return "1 byte"
	case n%unit == 0:
		return fmt.Sprintf("%d %s", n/unit, units[i])
	}
	return fmt.Sprintf("%.1f %s", float64(n)/float64(unit), units[i])
}

// some lists the first few of names, and how many more there are.
func some(names []string) string {
	const few = 5
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}
