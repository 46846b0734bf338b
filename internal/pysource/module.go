package pysource

import (
	"fmt"
	"maps"
	"slices"
)

// Module is what one source file says.
type Module struct {
	// Names are the names that the module binds, each by its last binding.
	Names map[string]Binding
	// Imports are all imports, those inside functions too, in order.
	Imports []Import
	// Env are the environment variables that are read by a name written out, in
	// order.
	Env []Mention
	// Dynamic tells that the module has names that can't be seen: it has a
	// __getattr__, or fills globals() itself.
	Dynamic bool
}

// Kind is what gave a name its value.
type Kind int

// The kinds. Assigned is all that is none of the others: an assignment, a loop.
const (
	Assigned Kind = iota
	Defined       // a def
	Class
	Imported
)

// Binding is what a name stands for.
type Binding struct {
	Kind Kind
	// Function is set for Defined, and Import for Imported.
	Function *Function
	Import   *Import
	// Place is where it was bound.
	Place       Place
	Conditional bool
}

// Place counts lines and columns from 1, columns in characters.
type Place struct{ Line, Column int }

// Function is one def.
type Function struct {
	Name  string
	Place Place // of def or async
	Async bool
	// Generator tells that its body has a yield.
	Generator bool
	// Decorated tells that a decorator may have replaced it by anything.
	Decorated bool
	Params    []Param
}

// ParamKind is how an argument may be given.
type ParamKind int

// The kinds of parameters, as Python's inspect has them.
const (
	PositionalOnly ParamKind = iota
	PositionalOrKeyword
	VarPositional // *args
	KeywordOnly
	VarKeyword // **kwargs
)

// Param is one parameter.
type Param struct {
	Name    string
	Kind    ParamKind
	Default bool
	Place   Place
}

// Import is one imported name: `import a.b as c` or `from .m import n as k`.
type Import struct {
	// Module is the dotted name, without the dots that a relative one begins
	// with; Level is their number.
	Module string
	Level  int
	// Name is what is taken from the module; empty for `import m`, "*" for all.
	Name string
	// As is the name that is bound; empty for "*".
	As    string
	Place Place
	// Conditional tells that it may never be tried, or may fail: it is inside an
	// if, a try or their like. Inner, that it is inside a function or a class.
	Conditional, Inner bool
}

// Mention is a name in a place.
type Mention struct {
	Name  string
	Place Place
}

// Error is source that is no Python.
type Error struct {
	Place Place
	Msg   string
}

// Error is the message behind its place.
func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Place.Line, e.Place.Column, e.Msg)
}

// Functions are the names that a def binds, sorted.
func (m *Module) Functions() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(m.Names)) {
		if m.Names[name].Kind == Defined {
			out = append(out, name)
		}
	}
	return out
}

// Param finds a parameter by its name.
func (f *Function) Param(name string) (Param, bool) {
	i := slices.IndexFunc(f.Params, func(p Param) bool { return p.Name == name })
	if i < 0 {
		return Param{}, false
	}
	return f.Params[i], true
}

// Has tells whether there is a parameter of a kind.
func (f *Function) Has(kind ParamKind) bool {
	return slices.ContainsFunc(f.Params, func(p Param) bool { return p.Kind == kind })
}
