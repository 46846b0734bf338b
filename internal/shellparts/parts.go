package shellparts

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Dialect is what a command line is written for.
type Dialect int

// The dialects: sh and what is like it, and Windows' shells, of which little
// is known here.
const (
	POSIX Dialect = iota
	Windows
)

// maxLine bounds what is parsed. Nobody writes a rule for a longer one.
const maxLine = 64 << 10

// Simple gives the parts of a line that is simple, in their order. ok is false
// for every other line, so also for one that can't be read.
//
// A line is read as sh and as bash read it, since either may be what is called
// sh; where they don't agree it isn't simple.
func Simple(line string, d Dialect) (parts []string, ok bool) {
	if len(line) > maxLine || strings.ContainsRune(line, 0) {
		return nil, false
	}
	if d == Windows {
		return plainLine(line)
	}
	parts, ok = simpleIn(line, syntax.LangPOSIX)
	if !ok {
		return nil, false
	}
	again, ok := simpleIn(line, syntax.LangBash)
	if !ok || !slices.Equal(parts, again) {
		return nil, false
	}
	return parts, true
}

// plainLine takes a line of Windows' shells for one command, where it holds
// nothing but words: each of these characters means something to one of them.
func plainLine(line string) ([]string, bool) {
	words := strings.Fields(line)
	if len(words) == 0 || strings.ContainsAny(line, "&|;<>()^%!$`{}@\"'#,\r\n") {
		return nil, false
	}
	return []string{strings.Join(words, " ")}, true
}

func simpleIn(line string, lang syntax.LangVariant) ([]string, bool) {
	f, err := parse(line, lang)
	if err != nil || len(f.Stmts) == 0 {
		return nil, false
	}
	s := &simpler{line: line, ok: true}
	for _, stmt := range f.Stmts {
		s.stmt(stmt)
	}
	return s.parts, s.ok
}

func parse(line string, lang syntax.LangVariant) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(line), "")
}

// simpler collects parts until something isn't simple.
type simpler struct {
	line  string
	parts []string
	ok    bool
}

func (s *simpler) stmt(stmt *syntax.Stmt) {
	for _, r := range stmt.Redirs {
		s.ok = s.ok && harmless(r)
	}
	switch c := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		s.call(c)
	case *syntax.BinaryCmd:
		s.stmt(c.X)
		s.stmt(c.Y)
	default: // an empty statement, or a compound one
		s.ok = false
	}
	if stmt.Coprocess || stmt.Disown {
		s.ok = false
	}
}

func (s *simpler) call(c *syntax.CallExpr) {
	if len(c.Assigns) > 0 || len(c.Args) == 0 || c.Args[0].Lit() == "" {
		s.ok = false
		return
	}
	words := make([]string, len(c.Args))
	for i, w := range c.Args {
		s.word(w)
		words[i] = s.line[w.Pos().Offset():w.End().Offset()]
	}
	s.parts = append(s.parts, strings.Join(words, " "))
}

// word lets pass what stands for itself, and variables, which can only make
// arguments of what the command is given anyway.
func (s *simpler) word(w *syntax.Word) {
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil, *syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
		case *syntax.ParamExp:
			// ${x:=y} sets, ${x@P} and ${!x} evaluate, ${x[i]} reckons.
			plain := n.Excl || n.Length || n.Width || n.Index != nil || n.Slice != nil || n.Repl != nil || n.Exp != nil || n.Names != 0
			s.ok = s.ok && !plain
		default:
			s.ok = false
		}
		return s.ok
	})
}

// harmless tells whether a redirection opens no file but /dev/null.
func harmless(r *syntax.Redirect) bool {
	to := ""
	if r.Word != nil {
		to = r.Word.Lit()
	}
	switch r.Op {
	case syntax.DplOut, syntax.DplIn:
		return to != "" && strings.Trim(to, "0123456789-") == ""
	case syntax.RdrOut, syntax.AppOut, syntax.RdrIn:
		return to == "/dev/null"
	}
	return false
}
