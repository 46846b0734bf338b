package script

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

const (
	// maxProblems bounds what one file can make us hold; who has a hundred
	// mistakes in a file has one mistake about the file.
	maxProblems = 100
	// maxShown is how many characters of a wrong value a message shows.
	maxShown = 40
	// maxSaid is how much a message keeps of what a parser said, since it may
	// quote the file.
	maxSaid = 120
)

// Problem is one thing that is wrong with a script.
type Problem struct {
	// Line and Column say where, from 1; Line is 0 where the file as a whole
	// is meant. Columns count characters.
	Line, Column int
	// Msg says what is wrong and what was expected, on one line.
	Msg string
}

// LoadError says what is wrong with a script: at least one problem, in the
// order of their lines.
type LoadError struct {
	File     string
	Problems []Problem
}

// Error is the first problem on one line, as compilers write them, and how
// many more there are.
func (e *LoadError) Error() string {
	msg := e.Line(0)
	if more := len(e.Problems) - 1; more > 0 {
		msg += fmt.Sprintf(" (and %d more)", more)
	}
	return msg
}

// place returns the file and the line of the first problem.
func (e *LoadError) place() string {
	if len(e.Problems) == 0 || e.Problems[0].Line == 0 {
		return clean(e.File)
	}
	return fmt.Sprintf("%s:%d:%d", clean(e.File), e.Problems[0].Line, e.Problems[0].Column)
}

// Line is problem n with its place.
func (e *LoadError) Line(n int) string {
	file := clean(e.File)
	if n >= len(e.Problems) {
		return file + ": the script can't be read"
	}
	p := e.Problems[n]
	if p.Line == 0 {
		return file + ": " + p.Msg
	}
	return fmt.Sprintf("%s:%d:%d: %s", file, p.Line, p.Column, p.Msg)
}

// problems gathers what is wrong with one file.
type problems []Problem

func (ps *problems) add(line, column int, msg string) {
	if len(*ps) < maxProblems {
		*ps = append(*ps, Problem{Line: line, Column: column, Msg: msg})
	}
}

// full tells that nothing more would be kept, so that reading may stop.
func (ps *problems) full() bool { return len(*ps) >= maxProblems }

// err is the problems as an error; nil where there are none.
func (ps *problems) err(file string) error {
	if len(*ps) == 0 {
		return nil
	}
	slices.SortStableFunc(*ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return &LoadError{File: file, Problems: *ps}
}

// clean masks text from a file for a message, on one line.
func clean(s string) string { return sanitize.Mask(strings.ReplaceAll(s, "\n", " ")) }

// shorten cuts s after n characters and marks the cut.
func shorten(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}

// shown quotes a value for a message.
func shown(s string) string { return strconv.Quote(clean(shorten(s, maxShown))) }
