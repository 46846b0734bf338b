package pysource

import "strings"

// line reads simple statements up to the end of the line.
func (p *parser) line(c context) {
	for p.ok() {
		switch t := p.tok; {
		case t.is("import"):
			p.importNames(c)
		case t.is("from"):
			p.importFrom(c)
		case t.is("global"):
			p.global(c)
		default:
			if opened := p.simple(c); opened {
				return
			}
		}
		if !p.tok.is(";") {
			break
		}
		p.advance()
		if p.tok.kind == tokNewline {
			break
		}
	}
	switch {
	case !p.ok():
	case p.tok.kind == tokNewline:
		p.advance()
	case p.tok.kind != tokEnd:
		p.fail(p.tok, "expected the end of the line")
	}
}

// targets gathers the plain names among the targets of an assignment.
type targets struct {
	names []token
	last  token
	skip  int // inside so many brackets of a call or a subscript
	other bool
}

// maxTargets bounds how many names one assignment is believed to bind.
const maxTargets = 1000

func newTargets() *targets { return &targets{} }

func (s *targets) see(t token) {
	last := s.last
	s.last = t
	if s.skip > 0 {
		switch t.text {
		case "(", "[", "{":
			if t.kind == tokOp {
				s.skip++
			}
		case ")", "]", "}":
			if t.kind == tokOp {
				s.skip--
			}
		}
		return
	}
	behind := last.kind == tokName && !keyword(last.text) || last.is(")") || last.is("]") || last.kind == tokString
	switch {
	case t.kind == tokName && !keyword(t.text):
		if behind {
			s.other = true // two words: no target
		} else if !last.is(".") && len(s.names) < maxTargets {
			s.names = append(s.names, t)
		}
	case t.is("."):
		s.drop(last)
	case (t.is("(") || t.is("[")) && behind:
		s.drop(last)
		s.skip = 1
	case t.is("(") || t.is(")") || t.is("[") || t.is("]") || t.is(",") || t.is("*"):
	default:
		s.other = true
	}
}

// drop takes back the name that turned out to be the begin of a longer target.
func (s *targets) drop(last token) {
	if n := len(s.names); n > 0 && s.names[n-1].pos == last.pos {
		s.names = s.names[:n-1]
	}
}

func (s *targets) commit(each func(token)) {
	if s == nil || s.other {
		return
	}
	for _, t := range s.names {
		each(t)
	}
}

// simple reads one simple statement that is no import. It tells whether it was
// the head of a match, whose block has been read as well.
func (p *parser) simple(c context) (opened bool) {
	first, found := p.tok, newTargets()
	var (
		before  token
		pending []token // before an annotation
		lambdas int
	)
	base := len(p.lex.brackets)
	if first.is("(") || first.is("[") || first.is("{") {
		base--
	}
	for p.ok() {
		t := p.tok
		top := p.depth() == base
		switch {
		case t.kind == tokNewline || t.kind == tokEnd || t.is(";") && top:
			return p.finish(c, first, before)
		case t.is("=") && top && lambdas == 0:
			found.commit(func(name token) { p.assign(c, name) })
			for _, name := range pending {
				p.assign(c, name)
			}
			found, pending = newTargets(), nil
		case t.is("lambda") && top:
			lambdas++
			found.see(t)
		case t.is(":") && top && lambdas > 0:
			lambdas--
		case t.is(":") && top:
			found.commit(func(name token) { pending = append(pending, name) })
			found.other = true
		default:
			found.see(t)
		}
		switch begins := before.kind == tokName && before.pos == first.pos; {
		case begins && before.text == "type" && t.kind == tokName && !keyword(t.text):
			p.assign(c, t) // type X = …
		case begins && before.text == "match":
		default:
			p.operand(before, t)
		}
		p.walrus(c, before, t)
		before = p.advance()
		p.noteYield(c, before)
	}
	return false
}

// finish ends a simple statement. One that ends in a colon is the head of a
// match, which only its block tells from a name.
func (p *parser) finish(c context, first, before token) (opened bool) {
	if !before.is(":") || p.tok.kind != tokNewline {
		return false
	}
	if first.is("match") && before.pos != first.pos {
		if p.advance(); p.tok.kind == tokIndent {
			c.match, c.conditional = true, true
			p.indented(c)
			return true
		}
	}
	if p.ok() {
		p.fail(before, "this colon ends the line, and nothing in it opens a block")
	}
	return true
}

// operand refuses two operands side by side: a call without brackets, a word
// that was meant as another, a comma that is missing.
func (p *parser) operand(before, t token) {
	ends := before.kind == tokNumber || before.kind == tokString || before.is(")") || before.is("]") || before.is("}") || before.is("...")
	if before.kind == tokName {
		ends = !keyword(before.text) || before.is("None") || before.is("True") || before.is("False")
	}
	begins := t.kind == tokNumber || t.kind == tokString && before.kind != tokString || t.is("{")
	if t.kind == tokName {
		begins = !keyword(t.text) || t.is("None") || t.is("True") || t.is("False")
	}
	if ends && begins {
		p.fail(t, "there is nothing between this and what stands before it, such as a comma or an operator")
	}
}

// global says that a function binds names of the module.
func (p *parser) global(c context) {
	p.advance()
	for {
		name := p.name("behind global")
		if _, known := p.out.Names[name.text]; name.text != "" && !known {
			p.out.Names[name.text] = Binding{Kind: Assigned, Place: p.place(name), Conditional: true}
		}
		if !p.tok.is(",") {
			return
		}
		p.advance()
	}
}

// importNames reads `import a.b as c, d`.
func (p *parser) importNames(c context) {
	p.advance()
	for {
		at := p.tok
		name := p.dotted()
		as, _, _ := strings.Cut(name, ".")
		if p.tok.is("as") {
			p.advance()
			as = p.name("behind as").text
		}
		p.imported(c, Import{Module: name, As: as, Place: p.place(at)})
		if !p.tok.is(",") {
			return
		}
		p.advance()
	}
}

// importFrom reads `from ..a import (b as c, d)`.
func (p *parser) importFrom(c context) {
	i := Import{Place: p.place(p.tok)}
	p.advance()
	for p.tok.is(".") || p.tok.is("...") {
		i.Level += len(p.advance().text)
	}
	if i.Level == 0 || !p.tok.is("import") {
		i.Module = p.dotted()
	}
	if !p.expect("import", "behind the module's name") {
		return
	}
	if p.tok.is("*") {
		p.advance()
		i.Name = "*"
		p.imported(c, i)
		return
	}
	inBrackets := p.tok.is("(")
	if inBrackets {
		p.advance()
	}
	for p.ok() {
		i.Name = p.name("to import").text
		if i.As = i.Name; p.tok.is("as") {
			p.advance()
			i.As = p.name("behind as").text
		}
		p.imported(c, i)
		if !p.tok.is(",") {
			break
		}
		if p.advance(); inBrackets && p.tok.is(")") {
			break
		}
	}
	if inBrackets {
		p.expect(")", "behind the names")
	}
}

func (p *parser) dotted() string {
	name := p.name("of a module").text
	for p.tok.is(".") {
		p.advance()
		name += "." + p.name("of a module").text
		if len(name) > maxDotted {
			p.fail(p.tok, "this name of a module is too long")
		}
	}
	return name
}

// maxDotted bounds a module's name: each part would be copied once more.
const maxDotted = 2000

func (p *parser) imported(c context, i Import) {
	if !p.ok() {
		return
	}
	i.Conditional, i.Inner = c.conditional, !c.module
	p.out.Imports = append(p.out.Imports, i)
	if i.As != "" {
		p.bind(c, i.As, Binding{Kind: Imported, Import: &i, Place: i.Place})
	}
}
