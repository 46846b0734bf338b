package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

// source is the text of one file, for places and excerpts.
type source struct {
	path  string
	lines []string
}

// newSource splits a text where YAML counts lines.
func newSource(path, text string) *source {
	return &source{path: path, lines: lineBreak().Split(strings.TrimPrefix(text, "\ufeff"), -1)}
}

var lineBreak = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\r\n|[\n\r\u0085\u2028\u2029]")
})

// line is a line by its number, from 1.
func (s *source) line(n int) string {
	if n < 1 || n > len(s.lines) {
		return ""
	}
	return s.lines[n-1]
}

const (
	// excerptWidth is how many columns of a line an excerpt shows: what fits on
	// 80 columns beside the line's number.
	excerptWidth = 72
	// excerptBefore is how many of them may stand before the place.
	excerptBefore = 36
	// maxExcerptLine is the longest line, in bytes, that is worth an excerpt:
	// beyond it nobody would look, and masking a long line many times is slow.
	maxExcerptLine = 2 << 10
)

// excerpt shows a line and points at width characters of it. hide leaves out
// the line's value, whatever it is.
func (s *source) excerpt(line, column, width int, hide bool) string {
	raw := s.line(line)
	if strings.TrimSpace(raw) == "" || column < 1 || len(raw) > maxExcerptLine {
		return ""
	}
	text := []rune(mask(sanitize.Mask(raw), hide || s.private(line)))
	at := min(column-1, len(text))
	start := 0
	for columns(text) > excerptWidth && columns(text[start:at]) > excerptBefore {
		start++
	}
	end := len(text)
	for columns(text[start:end]) > excerptWidth {
		end--
	}
	number := fmt.Sprintf("%4d", line)
	return number + " | " + string(text[start:end]) + "\n" +
		strings.Repeat(" ", len(number)) + " | " + strings.Repeat(" ", columns(text[start:at])) +
		strings.Repeat("^", max(1, columns(text[at:max(at, min(at+width, end))])))
}

// private tells whether a line may hold what must not be shown: it belongs to
// a block that may hold providers, or to no block that can be told.
func (s *source) private(line int) bool {
	for n := min(line, len(s.lines)); n >= 1; n-- {
		l := s.line(n)
		if l == "" || strings.ContainsAny(l[:1], " \t#}]-") {
			continue
		}
		name, _, ok := strings.Cut(l, ":")
		return !ok || !publicBlock(strings.TrimSpace(name))
	}
	return true
}

// publicBlock tells whether a top-level key is a known one without secrets.
func publicBlock(name string) bool {
	for _, known := range topLevel() {
		if name == known {
			return name != "providers" && name != "profiles"
		}
	}
	return false
}

// patterns tell what may be a secret where nothing else does. They are only
// needed for messages, so they are built when the first one is.
var patterns = sync.OnceValue(func() (p struct{ word, credentials, known, long *regexp.Regexp }) {
	// a name after which a value may be a secret
	p.word = regexp.MustCompile(`(?i)providers|headers|key|secret|token|passw|auth|bearer|cookie|credential`)
	p.credentials = regexp.MustCompile(`://[^/\s]*@`)
	// the keys of known services, by their beginnings
	p.known = regexp.MustCompile(`\b(sk-|pk-|gh[opsur]_|github_pat_|glpat-|gsk_|hf_|r8_|xox[a-z]-|AKIA|AIza|ya29\.|eyJ)[A-Za-z0-9_.+/=\\-]*`)
	p.long = regexp.MustCompile(`[A-Za-z0-9_+=]{24,}`)
	return p
})

// mask replaces what may be a secret by dots. hide replaces every value of the
// line: what follows its first colon, or all of it where there is none.
func mask(line string, hide bool) string {
	if hide {
		name, _, ok := strings.Cut(line, ":")
		if !ok {
			return "…"
		}
		return redactWords(cutName(name)) + ": …"
	}
	if loc := patterns().word.FindStringIndex(line); loc != nil {
		return redactWords(line[:loc[1]]) + "…"
	}
	return redactWords(line)
}

// Redact makes a line of someone else's text fit to be shown: printable, and
// without what may be a key. It rather leaves out too much.
func Redact(line string) string { return mask(sanitize.Mask(line), false) }

// cutName leaves out what follows the first word of a name: names are words,
// and a key that stands where a name should may have several.
func cutName(name string) string {
	begin := len(name) - len(strings.TrimLeft(name, " \"'-?"))
	if end := strings.IndexAny(strings.TrimRight(name[begin:], " \"'"), " \\"); end >= 0 {
		return name[:begin+end] + "…"
	}
	return name
}

// LooksLikeKey tells whether what should be a name is likely to be a key: it
// begins as the keys of known services do, or is a long word of capitals and
// small letters. It is asked of each name, so it builds no patterns.
func LooksLikeKey(s string) bool {
	const (
		long = 24 // a word of a name that is longer has one case
		tail = 6  // what follows a known begin at least
	)
	for _, begin := range keyBegins() {
		if strings.HasPrefix(s, begin) && len(s) >= len(begin)+tail {
			return true
		}
	}
	words := strings.FieldsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_+=", r)
	})
	return slices.ContainsFunc(words, func(word string) bool {
		return len(word) >= long && strings.ToUpper(word) != word && strings.ToLower(word) != word
	})
}

// keyBegins is how the keys of known services begin.
func keyBegins() []string {
	return []string{
		"sk-", "pk-", "gho_", "ghp_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-", "gsk_", "hf_", "r8_", "xox", "AKIA", "AIza", "ya29.", "eyJ",
	}
}

// redactWords replaces what looks like a key; runes stay as many as they were.
func redactWords(s string) string {
	p := patterns()
	s = p.credentials.ReplaceAllStringFunc(s, dots)
	s = p.known.ReplaceAllStringFunc(s, dots)
	return p.long.ReplaceAllStringFunc(s, func(word string) string {
		if mixed(word) {
			return dots(word)
		}
		return word
	})
}

func dots(s string) string { return strings.Repeat("·", utf8.RuneCountInString(s)) }

// mixed tells whether a word mixes capitals with small letters or digits, as
// keys do and long names rarely.
func mixed(word string) bool {
	var upper, other bool
	for _, r := range word {
		upper = upper || unicode.IsUpper(r)
		other = other || unicode.IsLower(r) || unicode.IsDigit(r)
	}
	return upper && other
}

// shown quotes a value for a message: short, printable, without keys.
func shown(value string) string {
	// Ten bytes a character are more than what is shown can take.
	rs := []rune(mask(sanitize.Mask(value[:min(len(value), 10*maxFound)]), false))
	if len(rs) > maxFound {
		rs = append(rs[:maxFound], '…')
	}
	return `"` + string(rs) + `"`
}

// maxFound is how many characters of a wrong value a message shows.
const maxFound = 40

// columns is how many columns of a terminal the runes take.
func columns(rs []rune) int {
	n := 0
	for _, r := range rs {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me):
		case width.LookupRune(r).Kind() == width.EastAsianWide, width.LookupRune(r).Kind() == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}
