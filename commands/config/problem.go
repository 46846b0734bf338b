package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/fault"
)

const (
	// maxProblems bounds what one file can make us hold; who has a hundred
	// mistakes in a file has one mistake about the file.
	maxProblems = 100
	// maxShown is how many problems a fault shows: about two screens.
	maxShown = 20
)

// Problem is one thing that is wrong in one source.
type Problem struct {
	// File, Line and Column say where in a file; Line is 0 where the file as
	// a whole is meant. Columns count characters, from 1.
	File         string
	Line, Column int
	// Source is the variable or the flag, where it isn't a file.
	Source string
	// Key is the setting, with dots between its parts, where one is known.
	Key string
	// Msg says what is wrong and what was expected, on one line.
	Msg string
	// Excerpt is the line of the file and a line that points into it; secrets
	// are left out of it.
	Excerpt string
	// Hint is what to do; it may be empty.
	Hint string
	// Warning tells that the configuration can be used all the same.
	Warning bool

	flag bool // Source is a flag
}

// String is the problem on one line, as compilers write them.
func (p Problem) String() string {
	switch {
	case p.File != "" && p.Line > 0:
		return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Msg)
	case p.File != "":
		return p.File + ": " + p.Msg
	case p.Source != "":
		return p.Source + ": " + p.Msg
	}
	return p.Msg
}

// Error is a configuration that can't be used: at least one problem, in the
// order of the sources and, in a file, of its lines.
type Error struct{ Problems []Problem }

// Error is the first problem on one line.
func (e *Error) Error() string {
	if len(e.Problems) == 0 {
		return "the configuration is broken"
	}
	return e.Problems[0].String()
}

// Fault is the error as people see it: the first problem as its message, its
// excerpt and the other problems as detail. Its kind is Usage where only
// flags are wrong, else Config.
func (e *Error) Fault() *fault.Fault {
	f := &fault.Fault{Code: fault.Usage, Msg: e.Error(), Err: e}
	for i, p := range e.Problems {
		if !p.flag {
			f.Code = fault.Config
		}
		if p.Hint != "" {
			f.Add(fault.Run(p.Hint))
		}
		if i >= maxShown {
			continue
		}
		if i > 0 {
			f.Detail = append(f.Detail, p.String())
		}
		if p.Excerpt != "" {
			f.Detail = append(f.Detail, strings.Split(p.Excerpt, "\n")...)
		}
	}
	if more := len(e.Problems) - maxShown; more > 0 {
		f.Detail = append(f.Detail, fmt.Sprintf("and %d more", more))
	}
	return f
}

// problems gathers what is wrong with one source after the other.
type problems struct{ errors, warnings []Problem }

func (ps *problems) add(p Problem) {
	switch {
	case p.Warning:
		ps.warnings = append(ps.warnings, p)
	case len(ps.errors) < maxProblems:
		ps.errors = append(ps.errors, p)
	}
}

// sortFrom sorts the problems of one file, which begin at n, by place: some are
// found only once all of it was read.
func (ps *problems) sortFrom(n int) {
	slices.SortStableFunc(ps.errors[n:], func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// all is the errors, then the warnings.
func (ps *problems) all() []Problem { return slices.Concat(ps.errors, ps.warnings) }

// err is the errors as a fault; nil where there are none.
func (ps *problems) err() error {
	if len(ps.errors) == 0 {
		return nil
	}
	return (&Error{Problems: ps.errors}).Fault()
}
