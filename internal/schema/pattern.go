package schema

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// What patterns may cost. A real one has some dozens of instructions; the
// longest that generators emit (IPv6, e-mail) have a thousand characters. RE2
// takes at most its instructions times the string's bytes in steps of some
// nanoseconds, so maxMatchCost is a second or two. ECMAScript patterns may
// take exponential time; their limit is by the clock.
const (
	maxPatternLength  = 4096
	maxInstructions   = 50_000 // of all patterns of one schema
	maxMatchCost      = 2e8
	maxECMAScriptTime = 250 * time.Millisecond
	maxECMAScriptText = 1 << 20 // regexp2 copies the text as runes
)

// patterns compiles the patterns of one schema, each once.
type patterns struct {
	run          *run
	instructions int
	known        map[string]jsonschema.Regexp
}

func (p *patterns) compile(expr string) (jsonschema.Regexp, error) {
	if re, ok := p.known[expr]; ok {
		return re, nil
	}
	if len(expr) > maxPatternLength {
		return nil, fmt.Errorf("a pattern of %d characters; %d are allowed", len(expr), maxPatternLength)
	}
	re, err := p.compileRE2(expr)
	if err != nil {
		var err2 error
		if re, err2 = p.compileECMAScript(expr); err2 != nil {
			return nil, err // RE2's message names the place; the other doesn't
		}
	}
	if p.instructions > maxInstructions {
		return nil, fmt.Errorf("the patterns of this schema are too complex")
	}
	p.known[expr] = re
	return re, nil
}

func (p *patterns) compileRE2(expr string) (jsonschema.Regexp, error) {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	if p.instructions += len(prog.Inst); p.instructions > maxInstructions {
		return nil, fmt.Errorf("the patterns of this schema are too complex")
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	return &re2Pattern{re: re, size: len(prog.Inst), run: p.run}, nil
}

func (p *patterns) compileECMAScript(expr string) (jsonschema.Regexp, error) {
	re, err := regexp2.Compile(expr, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = maxECMAScriptTime
	p.instructions += len(expr)
	return &ecmaPattern{re: re, run: p.run}, nil
}

type re2Pattern struct {
	re   *regexp.Regexp
	size int
	run  *run
}

func (p *re2Pattern) String() string { return p.re.String() }

func (p *re2Pattern) MatchString(s string) bool {
	p.run.step()
	if float64(p.size)*float64(len(s)) > maxMatchCost {
		p.run.stop("a text is too long for its pattern " + clip(p.re.String(), 60))
	}
	return p.re.MatchString(s)
}

type ecmaPattern struct {
	re  *regexp2.Regexp
	run *run
}

func (p *ecmaPattern) String() string { return p.re.String() }

func (p *ecmaPattern) MatchString(s string) bool {
	p.run.step()
	if len(s) > maxECMAScriptText {
		p.run.stop("a text is too long for its pattern " + clip(p.re.String(), 60))
	}
	ok, err := p.re.MatchString(s)
	if err != nil { // only the time limit
		p.run.stop("the pattern " + clip(p.re.String(), 60) + " takes too long on a text")
	}
	return ok
}
