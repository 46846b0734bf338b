package pysource

// function reads a def, from that word on. start is where the statement begins.
func (p *parser) function(c context, start token, async, decorated bool) {
	p.advance()
	f := &Function{Place: p.place(start), Async: async, Decorated: decorated}
	f.Name = p.name("of a function").text
	if p.tok.is("[") {
		p.typeParams()
	}
	if !p.expect("(", "behind the function's name") {
		return
	}
	p.params(c, f)
	if !p.expect(")", "behind the parameters") {
		return
	}
	if !p.tok.is(":") && !p.tok.is("->") && p.ok() {
		p.fail(p.tok, "expected : behind the parameters")
		return
	}
	p.header(c, nil)
	p.block(context{yields: &f.Generator})
	p.bind(c, f.Name, Binding{Kind: Defined, Function: f, Place: f.Place})
}

// typeParams steps over what stands in square brackets.
func (p *parser) typeParams() {
	base := len(p.lex.brackets)
	p.advance()
	for p.ok() && len(p.lex.brackets) >= base && p.tok.kind != tokEnd {
		p.advance()
	}
	if p.ok() {
		p.advance()
	}
}

// params reads parameters up to the closing bracket.
func (p *parser) params(c context, f *Function) {
	star, slash, defaults := false, false, false
	seen := map[string]bool{}
	for p.ok() && !p.tok.is(")") {
		t := p.tok
		param := Param{Kind: PositionalOrKeyword}
		switch {
		case t.is("/"):
			if slash || star || len(f.Params) == 0 {
				p.fail(t, "there can be one / among the parameters, behind some and before *")
				return
			}
			slash = true
			for i := range f.Params {
				f.Params[i].Kind = PositionalOnly
			}
			p.advance()
			if !p.comma() {
				return
			}
			continue
		case t.is("*"):
			if star {
				p.fail(t, "there can be one * among the parameters")
				return
			}
			star = true
			p.advance()
			if p.tok.is(")") {
				p.fail(p.tok, "expected a parameter behind *")
				return
			}
			if p.tok.is(",") {
				if p.advance(); p.tok.is(")") || p.tok.is("**") {
					p.fail(p.tok, "expected a parameter behind *")
					return
				}
				continue
			}
			param.Kind = VarPositional
		case t.is("**"):
			p.advance()
			param.Kind = VarKeyword
		case star:
			param.Kind = KeywordOnly
		}
		if !p.param(c, &param) {
			return
		}
		switch {
		case seen[param.Name]:
			p.fail(t, "two parameters are called "+param.Name)
			return
		case param.Kind == PositionalOrKeyword && defaults && !param.Default:
			p.fail(t, "a parameter without a default can't follow one that has one")
			return
		}
		seen[param.Name] = true
		defaults = defaults || param.Default && param.Kind == PositionalOrKeyword
		f.Params = append(f.Params, param)
		if !p.comma() {
			return
		}
		if param.Kind == VarKeyword && p.ok() && !p.tok.is(")") {
			p.fail(p.tok, "nothing can follow **"+param.Name)
			return
		}
	}
}

// param reads one parameter: its name, annotation and default.
func (p *parser) param(c context, param *Param) bool {
	name := p.name("of a parameter")
	param.Name, param.Place = name.text, p.place(name)
	if p.tok.is(":") {
		p.advance()
		p.expression(c)
	}
	if p.tok.is("=") {
		if param.Kind == VarPositional || param.Kind == VarKeyword {
			p.fail(p.tok, "this parameter can't have a default")
			return false
		}
		p.advance()
		param.Default = true
		p.expression(c)
	}
	return p.ok()
}

// comma takes the comma behind a parameter, or leaves the closing bracket.
func (p *parser) comma() bool {
	if p.tok.is(")") {
		return true
	}
	return p.expect(",", "or ) behind a parameter")
}

// expression steps over an annotation or a default: to the comma, the = or the
// bracket that is not its own.
func (p *parser) expression(c context) {
	base, lambdas := len(p.lex.brackets), 0
	switch {
	case p.tok.is("(") || p.tok.is("[") || p.tok.is("{"):
		base--
	case p.tok.is(")") || p.tok.is(",") || p.tok.is("="):
		p.fail(p.tok, "expected an expression")
		return
	}
	var before token
	for p.ok() && p.tok.kind != tokEnd {
		t := p.tok
		top := p.depth() == base
		switch {
		case len(p.lex.brackets) < base:
			return
		case t.is("lambda") && top:
			lambdas++
		case t.is(":") && top && lambdas > 0:
			lambdas--
		case (t.is(",") || t.is("=")) && top && lambdas == 0:
			return
		}
		p.operand(before, t)
		p.walrus(c, before, t)
		before = p.advance()
	}
}

// rest steps over the rest of a line.
func (p *parser) rest(c context) {
	var before token
	for p.ok() && p.tok.kind != tokNewline && p.tok.kind != tokEnd {
		p.operand(before, p.tok)
		p.walrus(c, before, p.tok)
		before = p.advance()
	}
}
