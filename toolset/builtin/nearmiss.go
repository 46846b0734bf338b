package builtin

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

// Bounds of the search for the nearest text. The first two bound its time (a
// line costs its length); the others what is shown.
const (
	maxNearLines   = 100_000
	maxNearLength  = 200 // of a line, in bytes
	maxNearOld     = 50  // lines of old_text that are compared
	nearCandidates = 10
	nearEnough     = 0.5
	maxShownNear   = 12
)

// noMatch says that a text doesn't stand in the file, and shows what comes
// nearest to it.
func (d document) noMatch(old, new string) error {
	msg := "old_text is not in the file"
	if meaningful(new) {
		if i := strings.Index(d.plain, new); i >= 0 {
			msg += fmt.Sprintf("; new_text is there already, in line %d, so this change may have been made before", d.line(i))
		}
	}
	lines := firstLines(d.plain, maxNearLines)
	old = strings.Trim(old, "\n")
	want := firstLines(old, maxNearOld)
	at, ok := nearestLines(lines, want)
	if !ok {
		return errors.New(msg + "; read the file again and copy the text from it")
	}
	end := min(at+strings.Count(old, "\n")+1, len(lines))
	got := lines[at:end]
	where := fmt.Sprintf("line %d", at+1)
	if len(got) > 1 {
		where = fmt.Sprintf("lines %d-%d", at+1, end)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s. Nearest to it: %s%s", msg, where, difference(got, want))
	for i, line := range got[:min(len(got), maxShownNear)] {
		fmt.Fprintf(&b, "\n%d: %s", at+1+i, masked(clip(line, maxNearLength)))
	}
	if len(got) > maxShownNear {
		fmt.Fprintf(&b, "\n… %d more", len(got)-maxShownNear)
	}
	b.WriteString("\nCopy old_text exactly from the file.")
	return errors.New(b.String())
}

// firstLines splits a text into its lines, at most a number of them.
func firstLines(text string, most int) []string {
	lines := strings.SplitN(text, "\n", most+1)
	return lines[:min(len(lines), most)]
}

// masked returns a line of a file for an error, which a model copies and a terminal may
// show: tabs remain, and characters that can't be printed become U+FFFD.
func masked(line string) string {
	parts := strings.Split(line, "\t")
	for i, part := range parts {
		parts[i] = sanitize.Mask(part)
	}
	return strings.Join(parts, "\t")
}

// meaningful keeps "}" from being "there already".
func meaningful(s string) bool {
	letters := 0
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			letters++
		}
	}
	return letters >= 4
}

// nearestLines finds where the wanted lines come nearest to standing. It looks
// for the longest of them first, and then at their neighbours.
func nearestLines(lines, want []string) (at int, ok bool) {
	likes := make([]*bigrams, len(want))
	anchor := 0
	for i, w := range want {
		likes[i] = newBigrams(w)
		if likes[i].n > likes[anchor].n {
			anchor = i
		}
	}
	if likes[anchor].n == 0 {
		return 0, false
	}
	type candidate struct {
		line int
		like float64
	}
	var best []candidate
	for i, line := range lines {
		like := likes[anchor].like(line)
		if like < nearEnough || len(best) == nearCandidates && like <= best[len(best)-1].like {
			continue
		}
		best = append(best, candidate{line: i, like: like})
		slices.SortStableFunc(best, func(a, b candidate) int {
			switch {
			case a.like > b.like:
				return -1
			case a.like < b.like:
				return 1
			}
			return 0
		})
		best = best[:min(len(best), nearCandidates)]
	}
	highest := -1.0
	for _, c := range best {
		start := max(c.line-anchor, 0)
		sum := 0.0
		for i, l := range likes {
			if start+i < len(lines) {
				sum += l.like(lines[start+i])
			}
		}
		if sum > highest {
			highest, at, ok = sum, start, true
		}
	}
	return at, ok
}

// bigrams counts the pairs of neighbouring bytes of a line without its white
// space; two lines are alike by Dice's measure, from 0 to 1. Pairs share
// counters now and then, which only makes some lines look more alike.
type bigrams struct {
	counts  [4096]int16
	n       int
	text    string
	scratch []byte
}

func pair(a, b byte) int { return int(a)<<4&0xFF0 ^ int(b) }

func newBigrams(line string) *bigrams {
	b := &bigrams{text: squeeze(line)}
	for i := 1; i < len(b.text); i++ {
		b.counts[pair(b.text[i-1], b.text[i])]++
		b.n++
	}
	return b
}

func (b *bigrams) like(line string) float64 {
	text := appendSqueezed(b.scratch[:0], line)
	b.scratch = text
	if string(text) == b.text {
		return 1
	}
	if b.n == 0 || len(text) < 2 {
		return 0
	}
	common := 0
	for i := 1; i < len(text); i++ {
		p := pair(text[i-1], text[i])
		if b.counts[p] > 0 {
			common++
		}
		b.counts[p]--
	}
	for i := 1; i < len(text); i++ {
		b.counts[pair(text[i-1], text[i])]++
	}
	return 2 * float64(common) / float64(b.n+len(text)-1)
}

// squeeze takes out white space, and what is past maxNearLength.
func squeeze(line string) string { return string(appendSqueezed(nil, line)) }

func appendSqueezed(dst []byte, line string) []byte {
	line = clip(line, maxNearLength)
	for i := range len(line) {
		switch c := line[i]; c {
		case ' ', '\t', '\r', '\v', '\f':
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// difference says how the lines differ, where one thing explains it.
func difference(got, want []string) string {
	if len(got) != len(want) {
		return ""
	}
	same := func(alike func(a, b string) bool) bool { return slices.EqualFunc(got, want, alike) }
	switch {
	case same(func(a, b string) bool { return strings.TrimRight(a, " \t\r") == strings.TrimRight(b, " \t\r") }):
		return ", with other spaces at the ends of lines"
	case same(func(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) }):
		for i := range got {
			if a, b := indent(got[i]), indent(want[i]); a != b {
				return fmt.Sprintf(", with other indentation (the file has %s where old_text has %s)", spaces(a), spaces(b))
			}
		}
		return ", with other indentation"
	case same(func(a, b string) bool { return squeeze(a) == squeeze(b) }):
		return ", with other white space"
	case same(strings.EqualFold):
		return ", with other letter case"
	}
	return ""
}

func indent(line string) string {
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

func spaces(s string) string {
	tabs := strings.Count(s, "\t")
	blanks := len(s) - tabs
	switch {
	case s == "":
		return "none"
	case tabs == 0:
		return count(blanks, "space")
	case blanks == 0:
		return count(tabs, "tab")
	}
	return count(tabs, "tab") + " and " + count(blanks, "space")
}
