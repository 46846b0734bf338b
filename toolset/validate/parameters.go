package validate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/internal/didyoumean"
	"github.com/fettle-cli/fettle/internal/pysource"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// contextForm tells the call form of document 000: a function with exactly these
// parameters gets all arguments in the first.
func contextForm(f *pysource.Function) bool {
	want := []string{"params", "db", "user_id", "context"}
	if len(f.Params) != len(want) {
		return false
	}
	for i, p := range f.Params {
		if p.Name != want[i] || p.Kind != pysource.PositionalOrKeyword {
			return false
		}
	}
	return true
}

// tool judges a tool's function: whether it is there, and whether the arguments
// that input_schema allows can be given to it.
func (v *validator) tool(t *manifest.Tool, at string) {
	found := v.entrypoint(t.Entrypoint, at+"/entrypoint")
	if found == nil || contextForm(found.function) {
		return
	}
	c := &caller{v: v, at: at, to: *found, in: inputsOf(t.InputSchema), level: Error}
	if found.function.Decorated || found.conditional { // what is called may be another
		c.level = Warning
	}
	c.workspace()
	for _, name := range c.in.names {
		c.given(name)
	}
	for _, p := range found.function.Params {
		c.wanted(p)
	}
}

// caller compares one function with what it is called with.
type caller struct {
	v     *validator
	at    string
	to    target
	in    inputs
	level Level
}

func (c *caller) say(at string, level Level, format string, args ...any) {
	if level == Error {
		level = c.level
	}
	c.v.at(at, level, CodeParameters, "%s (%s): %s", c.to.function.Name, c.to.where(), fmt.Sprintf(format, args...))
}

// keywords are the names that can be given as keywords.
func (c *caller) keywords() []string {
	var out []string
	for _, p := range c.to.function.Params {
		if (p.Kind == pysource.PositionalOrKeyword || p.Kind == pysource.KeywordOnly) && p.Name != "workspace" {
			out = append(out, p.Name)
		}
	}
	return out
}

// workspace checks the parameter that is given the workspace. A function may have none.
func (c *caller) workspace() {
	f := c.to.function
	p, ok := f.Param("workspace")
	switch {
	case ok && p.Kind == pysource.PositionalOnly && !f.Has(pysource.VarKeyword):
		c.say(c.at+"/entrypoint", Error, "it is called with workspace=…, which the / behind its parameters forbids")
	case ok && (p.Kind == pysource.PositionalOrKeyword || p.Kind == pysource.KeywordOnly) || f.Has(pysource.VarKeyword):
	case c.unnamed() != "":
		c.say(c.at+"/entrypoint", Warning, "it is called with workspace=…, and has no parameter of that name; call its first one workspace instead of %s", show(c.unnamed()))
	}
}

// unnamed is the first parameter, where it can only be meant for the workspace:
// there is none of that name, and no input has the parameter's.
func (c *caller) unnamed() string {
	f := c.to.function
	if _, ok := f.Param("workspace"); ok || len(f.Params) == 0 || c.in.open {
		return ""
	}
	first := f.Params[0]
	if first.Kind != pysource.PositionalOrKeyword || first.Default || slices.Contains(c.in.names, first.Name) {
		return ""
	}
	return first.Name
}

// given wants a property of input_schema to have a parameter.
func (c *caller) given(name string) {
	f := c.to.function
	if name == "workspace" { // the manifest's own finding
		return
	}
	at := c.at + "/input_schema/properties/" + escapePointer(name)
	p, ok := f.Param(name)
	if ok && (p.Kind == pysource.PositionalOrKeyword || p.Kind == pysource.KeywordOnly) || f.Has(pysource.VarKeyword) {
		return
	}
	switch {
	case ok && p.Kind == pysource.PositionalOnly:
		c.say(at, Error, "%s can't be given as a keyword, because of the / behind it", show(name))
	case !identifier(name):
		c.say(at, Error, "%s is no name that a parameter of Python can have; take **kwargs, or rename the input", show(name))
	default:
		msg := fmt.Sprintf("it has no parameter %s, which input_schema has", show(name))
		if near := didyoumean.Of(name, c.keywords()); near != "" {
			msg += " (did you mean " + near + "?)"
		}
		c.say(at, Error, "%s", msg)
	}
}

// wanted wants a parameter without a default to be given by every call.
func (c *caller) wanted(p pysource.Param) {
	if p.Name == "context" && p.Kind != pysource.PositionalOnly && !slices.Contains(c.in.names, p.Name) {
		return // the call's context, which every call gives
	}
	if p.Name == "workspace" || p.Name == c.unnamed() || p.Kind == pysource.VarPositional || p.Kind == pysource.VarKeyword {
		return
	}
	known := slices.Contains(c.in.names, p.Name)
	switch {
	case p.Kind == pysource.PositionalOnly && !p.Default && !known:
		c.say(c.at+"/entrypoint", Error, "its parameter %s can only be given by position; take the / away", show(p.Name))
	case p.Kind == pysource.PositionalOnly || c.in.open:
	case !known && p.Default:
		c.say(c.at+"/entrypoint", Note, "no call gives its parameter %s, which input_schema doesn't have", show(p.Name))
	case !known:
		msg := fmt.Sprintf("it needs %s, which input_schema doesn't have", show(p.Name))
		if near := didyoumean.Of(p.Name, c.in.names); near != "" {
			msg += " (did you mean " + near + "?)"
		}
		c.say(c.at+"/entrypoint", Error, "%s", msg)
	case !p.Default && !slices.Contains(c.in.required, p.Name):
		c.say(c.at+"/input_schema/properties/"+escapePointer(p.Name), Error,
			"input_schema doesn't require %s, and the function has no default for it", show(p.Name))
	}
}

// identifier tells whether a name can be a parameter's.
func identifier(s string) bool {
	for i, r := range s {
		digit := r >= '0' && r <= '9'
		if r != '_' && (r|0x20 < 'a' || r|0x20 > 'z') && r < 0x80 && (!digit || i == 0) {
			return false
		}
	}
	return s != "" && !pysource.IsKeyword(s)
}

func escapePointer(s string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(s) }

// parser judges a payload's function from text to {type, data}.
func (v *validator) parser(p *manifest.Payload, at string) {
	if p.Parser == "" {
		return
	}
	found := v.entrypoint(p.Parser, at+"/parser")
	if found == nil {
		return
	}
	takes, needs := 0, 0
	for _, p := range found.function.Params {
		switch p.Kind {
		case pysource.VarPositional:
			takes++
		case pysource.PositionalOnly, pysource.PositionalOrKeyword:
			takes++
			if !p.Default {
				needs++
			}
		case pysource.KeywordOnly:
			if !p.Default {
				needs += 2
			}
		}
	}
	if takes == 0 || needs > 1 {
		level := Error
		if found.function.Decorated || found.conditional {
			level = Warning
		}
		v.at(at+"/parser", level, CodeParameters, "%s (%s): a parser is called with one argument, the text", found.function.Name, found.where())
	}
}
