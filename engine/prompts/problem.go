package prompts

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

// Problem is one thing that is wrong in a file.
type Problem struct {
	Path string
	// Line and Column count from 1, columns in characters; Line is 0 where the
	// file as a whole is meant.
	Line, Column int
	Msg          string // one line, printable
}

// String is the problem on one line, as compilers write them.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.Path + ": " + p.Msg
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.Path, p.Line, p.Column, p.Msg)
}

// Error is a file that can't be used: at least one problem, in the order of
// its lines.
type Error struct{ Problems []Problem }

// Error is the first problem on one line.
func (e *Error) Error() string {
	if len(e.Problems) == 0 {
		return "the prompt can't be read"
	}
	return e.Problems[0].String()
}

// maxProblems bounds what a file of nothing but mistakes can make us say.
const maxProblems = 20

// problems gathers what is wrong with one file.
type problems struct {
	path string
	list []Problem
}

func (ps *problems) at(line, column int, format string, args ...any) {
	if len(ps.list) < maxProblems {
		ps.list = append(ps.list, Problem{Path: ps.path, Line: line, Column: column, Msg: fmt.Sprintf(format, args...)})
	}
}

// err is the problems as an error; nil where there are none.
func (ps *problems) err() error {
	if len(ps.list) == 0 {
		return nil
	}
	slices.SortStableFunc(ps.list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return &Error{Problems: ps.list}
}

// maxShown is how many characters of something wrong a message shows.
const maxShown = 40

// shown quotes a text of a file for a message: short and printable.
func shown(s string) string { return sanitize.Quote(s, maxShown) }

// control tells the characters that can't stand in a prompt.
func control(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' || r >= 0x7f && r < 0xa0
}
