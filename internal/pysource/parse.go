package pysource

import (
	"strings"
	"unicode/utf8"
)

// Parse reads a module. An error is an [*Error].
func Parse(src []byte) (*Module, error) {
	text := string(src)
	l := newLexer(text)
	p := &parser{lex: l, out: &Module{Names: map[string]Binding{}}}
	switch {
	case strings.IndexByte(text, 0) >= 0:
		l.src = l.src[:strings.IndexByte(l.src, 0)]
		l.src = l.src[:strings.LastIndexAny(l.src, "\r\n")+1]
		return nil, &Error{Place: lastPlace(l.src), Msg: "the source holds a NUL character"}
	case !utf8.ValidString(text):
		valid := text
		for i, r := range text {
			if r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") {
				valid = text[:i]
				break
			}
		}
		return nil, &Error{Place: lastPlace(valid), Msg: "the source is not UTF-8"}
	}
	p.advance()
	for p.ok() && p.tok.kind != tokEnd {
		p.statement(context{module: true})
	}
	if l.err != nil {
		return nil, l.err
	}
	return p.out, nil
}

// lastPlace is the place behind a text.
func lastPlace(text string) Place {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	line := text[strings.LastIndexByte(text, '\n')+1:]
	return Place{Line: strings.Count(text, "\n") + 1, Column: utf8.RuneCountInString(line) + 1}
}

// context is where a statement stands.
type context struct {
	module      bool // what it binds, the module has
	conditional bool
	match       bool // the block of a match
	yields      *bool
}

// parser reads statements, with one token of foresight. After the lexer's
// first error it gets nothing but the end.
type parser struct {
	lex  *lexer
	tok  token
	prev token
	out  *Module
	// recent are the last tokens, for what is spelled in several.
	recent [5]token
}

func (p *parser) ok() bool { return p.lex.err == nil }

func (p *parser) advance() token {
	t := p.tok
	p.prev = t
	copy(p.recent[:], p.recent[1:])
	p.recent[len(p.recent)-1] = t
	switch {
	case t.kind == tokString:
		p.environment(t)
	case t.is("(") && p.recent[3].is("globals"):
		p.out.Dynamic = true
	}
	p.tok = p.lex.next()
	return t
}

func (p *parser) fail(t token, msg string) { p.lex.fail(t, msg); p.tok = p.lex.here(tokEnd) }

func (p *parser) place(t token) Place { return p.lex.place(t) }

// depth is how many brackets are open before the current token.
func (p *parser) depth() int {
	n := len(p.lex.brackets)
	if p.tok.kind != tokOp {
		return n
	}
	switch p.tok.text {
	case "(", "[", "{":
		return n - 1
	case ")", "]", "}":
		return n + 1
	}
	return n
}

// expect takes an operator or keyword.
func (p *parser) expect(text, where string) bool {
	if p.tok.is(text) {
		p.advance()
		return true
	}
	if p.ok() {
		p.fail(p.tok, "expected "+text+" "+where)
	}
	return false
}

// environment notes a variable that is read by a name: environ["X"],
// environ.get("X") or getenv("X"). The string is the last of the recent tokens.
func (p *parser) environment(t token) {
	r := p.recent
	switch {
	case r[3].is("[") && r[2].is("environ"):
	case r[3].is("(") && r[2].is("getenv"):
	case r[3].is("(") && r[2].kind == tokName && r[1].is(".") && r[0].is("environ"):
	default:
		return
	}
	if name, ok := plain(t); ok && name != "" {
		p.out.Env = append(p.out.Env, Mention{Name: name, Place: p.place(t)})
	}
}

// bind notes what a name stands for from here on.
func (p *parser) bind(c context, name string, b Binding) {
	if !c.module {
		return
	}
	b.Conditional = c.conditional
	p.out.Names[name] = b
	if name == "__getattr__" && b.Kind == Defined {
		p.out.Dynamic = true
	}
}

func (p *parser) assign(c context, t token) {
	p.bind(c, t.text, Binding{Kind: Assigned, Place: p.place(t)})
}

// statement reads one statement, or the several of one line.
func (p *parser) statement(c context) {
	switch t := p.tok; t.kind {
	case tokIndent:
		p.fail(t, "the line is indented, and nothing above it opens a block")
	case tokNewline, tokDedent:
		p.advance()
	case tokName:
		p.named(c)
	case tokOp:
		if t.text == "@" {
			p.decorated(c)
			return
		}
		p.line(c)
	default:
		p.line(c)
	}
}

// named reads a statement that begins with a name or a keyword.
func (p *parser) named(c context) {
	inner := c
	inner.conditional, inner.match = true, false
	switch t := p.tok; t.text {
	case "def":
		p.function(c, t, false, false)
	case "class":
		p.class(c)
	case "async":
		p.async(c, false)
	case "if", "elif", "while":
		p.advance()
		p.header(c, nil)
		p.block(inner)
	case "else", "try", "finally":
		p.advance()
		p.expect(":", "behind "+t.text)
		p.block(inner)
	case "for":
		p.loop(c, inner)
	case "with":
		p.with(c)
	case "except":
		p.advance()
		each, end := p.bindAs(inner)
		p.header(c, each)
		end()
		p.block(inner)
	case "case":
		if c.match {
			p.advance()
			p.header(c, func(t, _ token) { p.maybe(inner, t) })
			p.block(inner)
			return
		}
		p.line(c)
	default:
		p.line(c)
	}
}

func (p *parser) loop(c, inner context) {
	p.advance()
	targets := newTargets()
	p.header(c, func(t, _ token) {
		if t.is("in") {
			targets.commit(func(name token) { p.assign(inner, name) })
			targets = nil
		} else if targets != nil {
			targets.see(t)
		}
	})
	p.block(inner)
}

// with has a body that is always run.
func (p *parser) with(c context) {
	p.advance()
	each, end := p.bindAs(c)
	p.header(c, each)
	end()
	c.match = false
	p.block(c)
}

// bindAs binds the names behind an `as`: one, or several in brackets. end is to
// be called behind the last token.
func (p *parser) bindAs(c context) (each func(t, before token), end func()) {
	found, depth := (*targets)(nil), 0
	end = func() {
		found.commit(func(name token) { p.assign(c, name) })
		found = nil
	}
	each = func(t, _ token) {
		d := p.depth()
		switch {
		case t.is("as"):
			found, depth = newTargets(), d
		case found == nil:
		case d < depth || d == depth && (t.is(",") || t.is(")")):
			end()
		default:
			found.see(t)
		}
	}
	return each, end
}

// maybe binds what a pattern may bind.
func (p *parser) maybe(c context, t token) {
	if t.kind == tokName && !keyword(t.text) && t.text != "_" {
		if _, known := p.out.Names[t.text]; !known {
			p.assign(c, t)
		}
	}
}

func (p *parser) async(c context, decorated bool) {
	start := p.advance()
	inner := c
	inner.conditional, inner.match = true, false
	switch p.tok.text {
	case "def":
		p.function(c, start, true, decorated)
	case "for":
		p.loop(c, inner)
	case "with":
		p.with(c)
	default:
		p.fail(p.tok, "expected def, for or with behind async")
	}
}

func (p *parser) decorated(c context) {
	for p.tok.is("@") {
		p.advance()
		p.rest(c)
		if p.ok() && p.tok.kind == tokNewline {
			p.advance()
		}
	}
	switch {
	case p.tok.is("def"):
		p.function(c, p.tok, false, true)
	case p.tok.is("class"):
		p.class(c)
	case p.tok.is("async"):
		p.async(c, true)
	case p.ok():
		p.fail(p.tok, "expected def or class below a decorator")
	}
}

func (p *parser) class(c context) {
	p.advance()
	name := p.name("of a class")
	p.header(c, nil)
	inner := context{conditional: true, yields: c.yields}
	p.block(inner)
	p.bind(c, name.text, Binding{Kind: Class, Place: p.place(name)})
}

// name takes a name that is no keyword.
func (p *parser) name(of string) token {
	t := p.tok
	if t.kind != tokName || keyword(t.text) {
		if p.ok() {
			p.fail(t, "expected the name "+of)
		}
		return token{}
	}
	return p.advance()
}

// header reads on to the colon that ends the head of a block. each gets the
// tokens outside of its own meaning, and the one before.
func (p *parser) header(c context, each func(t, before token)) {
	base, lambdas := len(p.lex.brackets), 0
	if p.tok.is("(") || p.tok.is("[") || p.tok.is("{") {
		base--
	}
	var before token
	for p.ok() {
		t := p.tok
		switch {
		case t.kind == tokNewline || t.kind == tokEnd:
			p.fail(t, "expected : at the end of this line")
			return
		case t.is(":") && p.depth() == base:
			if lambdas == 0 {
				p.advance()
				return
			}
			lambdas--
		case t.is("lambda") && p.depth() == base:
			lambdas++
		}
		p.operand(before, t)
		p.walrus(c, before, t)
		if each != nil {
			each(t, before)
		}
		before = p.advance()
		p.noteYield(c, before)
	}
}

// walrus binds the name before a :=.
func (p *parser) walrus(c context, before, t token) {
	if t.is(":=") && before.kind == tokName {
		p.assign(c, before)
	}
}

func (p *parser) noteYield(c context, t token) {
	if c.yields != nil && t.kind == tokName && t.text == "yield" {
		*c.yields = true
	}
}

// block reads what follows a header's colon: statements in the same line, or
// indented below it.
func (p *parser) block(c context) {
	if !p.ok() {
		return
	}
	if p.tok.kind != tokNewline {
		p.line(c)
		return
	}
	opener := p.prev
	p.advance()
	if p.tok.kind != tokIndent {
		p.fail(opener, "expected an indented block behind this colon")
		return
	}
	p.indented(c)
}

// indented reads an indented block.
func (p *parser) indented(c context) {
	p.advance()
	for p.ok() && p.tok.kind != tokDedent && p.tok.kind != tokEnd {
		p.statement(c)
	}
	if p.tok.kind == tokDedent {
		p.advance()
	}
}

// keyword tells whether a word is one of Python's that can't be a name.
func keyword(s string) bool {
	switch s {
	case "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif",
		"else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or",
		"pass", "raise", "return", "try", "while", "with", "yield":
		return true
	}
	return false
}

// IsKeyword tells whether a word is one of Python's own, and so can be the name
// of nothing.
func IsKeyword(word string) bool { return keyword(word) }
