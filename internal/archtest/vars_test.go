package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// variables are the package variables that may be what checkVars complains
// about.
func variables() exceptions {
	return exceptions{
		"./engine/store unheldWrite": "the tests of the package set it in each store that they open; the program never does",
		"./commands version":         "set by the linker of a release; nothing else writes it",
	}
}

// checkVars complains about package variables that are state, or work at
// start. What may stand at package level: sentinel errors, embedded files,
// assertions (var _ I = …), what is built on first use (sync.OnceValue), and
// unexported tables of literals that nothing in the room writes to.
func checkVars(t tree) []complaint {
	var out []complaint
	names, byRoom := t.rooms()
	for _, room := range names {
		written := byRoom[room].written()
		for _, f := range byRoom[room].sources() {
			for _, decl := range f.ast.Decls {
				gen, ok := decl.(*ast.GenDecl)
				if !ok || gen.Tok != token.VAR {
					continue
				}
				for _, spec := range gen.Specs {
					out = append(out, f.checkVarSpec(gen, spec.(*ast.ValueSpec), written)...)
				}
			}
		}
	}
	return out
}

func (f *file) checkVarSpec(gen *ast.GenDecl, spec *ast.ValueSpec, written map[string]string) []complaint {
	var out []complaint
	if embedded(gen.Doc) || embedded(spec.Doc) {
		return nil
	}
	for i, name := range spec.Names {
		if name.Name == "_" {
			continue
		}
		var value ast.Expr
		if i < len(spec.Values) {
			value = spec.Values[i]
		}
		fault := f.varFault(name.Name, value)
		if at, ok := written[name.Name]; ok && fault == "" {
			fault = "it is written to at " + at
		}
		if fault != "" {
			out = append(out, complaint{f.room + " " + name.Name,
				fmt.Sprintf("%s: package variable %s: %s", f.at(name), name.Name, fault)})
		}
	}
	return out
}

func embedded(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") })
}

// varFault says what is wrong with a variable of that name and value, "" for
// nothing.
func (f *file) varFault(name string, value ast.Expr) string {
	isError := strings.HasPrefix(name, "err") || strings.HasPrefix(name, "Err")
	if value == nil {
		return "without a value it is state"
	}
	if ast.IsExported(name) && !isError {
		return "others can change it: make it a constant or a function"
	}
	switch v := value.(type) {
	case *ast.CallExpr:
		if f.cheapCall(v) {
			return ""
		}
		return "its call runs at every start: build it on first use (sync.OnceValue)"
	case *ast.CompositeLit:
		return f.tableFault(v)
	case *ast.UnaryExpr:
		lit, ok := v.X.(*ast.CompositeLit)
		if ok && v.Op == token.AND && isError {
			return f.tableFault(lit)
		}
	case *ast.FuncLit:
		return "make it a function"
	}
	return "make it a constant, a function, or a field of what uses it"
}

// cheapCall knows the calls that do nothing but hold their arguments.
func (f *file) cheapCall(call *ast.CallExpr) bool {
	if _, ok := call.Fun.(*ast.ArrayType); ok { // []byte("…")
		_, literal := call.Args[0].(*ast.BasicLit)
		return literal
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	if !ok || pkg.Obj != nil {
		return false
	}
	switch f.importNames()[pkg.Name] + "." + sel.Sel.Name {
	case "errors.New", "fmt.Errorf", "sync.OnceValue", "sync.OnceValues", "sync.OnceFunc", "strings.NewReplacer":
		return true
	}
	return false
}

// tableFault looks at a literal: it may hold literals, names and functions,
// but no maps, which are built at start, and no calls.
func (f *file) tableFault(lit *ast.CompositeLit) string {
	fault := ""
	ast.Inspect(lit, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // it runs when it is called
		case *ast.MapType:
			fault = "a map is built at every start: make it a function with a switch, or build it on first use (sync.OnceValue)"
		case *ast.CallExpr:
			if !f.cheapCall(n) {
				fault = "a call in it runs at every start: build it on first use (sync.OnceValue)"
			}
		}
		return fault == ""
	})
	return fault
}

// written gives the names of package level that some function of the room
// assigns to, takes the address of, or hands to delete or clear, with a place.
// A name that a function declares itself is another one.
func (t tree) written() map[string]string {
	out := map[string]string{}
	for _, f := range t {
		mark := func(e ast.Expr) {
			if id := rootIdent(e); id != nil && topLevel(f, id) {
				out[id.Name] = f.at(id)
			}
		}
		for _, decl := range f.ast.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					if n.Tok != token.DEFINE {
						for _, lhs := range n.Lhs {
							mark(lhs)
						}
					}
				case *ast.IncDecStmt:
					mark(n.X)
				case *ast.UnaryExpr:
					if n.Op == token.AND {
						mark(n.X)
					}
				case *ast.CallExpr:
					if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "delete" || id.Name == "clear") && len(n.Args) > 0 {
						mark(n.Args[0])
					}
				}
				return true
			})
		}
	}
	return out
}

// rootIdent is the variable that an expression such as a.b[i] is a part of.
func rootIdent(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return rootIdent(e.X)
	case *ast.IndexExpr:
		return rootIdent(e.X)
	case *ast.SliceExpr:
		return rootIdent(e.X)
	case *ast.StarExpr:
		return rootIdent(e.X)
	case *ast.ParenExpr:
		return rootIdent(e.X)
	}
	return nil
}

// topLevel tells whether a name is of package level: declared at the top of
// this file, or not in this file at all.
func topLevel(f *file, id *ast.Ident) bool {
	return id.Obj == nil || f.ast.Scope.Lookup(id.Name) == id.Obj
}

func TestNoStateAtPackageLevel(t *testing.T) {
	t.Parallel()
	report(t, variables().sift(checkVars(project(t))))
}

func TestCheckVars(t *testing.T) {
	t.Parallel()
	got := texts(checkVars(madeUp(t, map[string]string{
		"a/a.go": `package a
import ("embed"; "errors"; "regexp"; "sync"; "time")
var _ I = (*T)(nil)
var ErrGone = errors.New("gone")
var errOdd = &odd{code: 1}
//go:embed x
var files embed.FS
var once = sync.OnceValue(func() int { return 1 })
var table = []row{{1, "a", f}, {2, errors.New("b"), func() { g() }}}
var magic = []byte("x")
var (
	count int
	Public = []int{1}
	pattern = regexp.MustCompile("x")
	lookup = map[string]int{"a": 1}
	now = time.Now
	limit = 5
	fn = func() {}
	filled = []int{1, f()}
	pointer = &T{}
)
var changed = [2]int{1, 2}
var shadowed = [2]int{1, 2}
var grown = []int{1}
`,
		"a/b.go": `package a
func w() {
	changed[0]++
	shadowed := [2]int{}
	shadowed[0] = 1
	table := table
	table[0] = row{}
}
`,
		"a/a_test.go": "package a\nvar fixture int\nfunc r() { grown = append(grown, 1); _ = &once }",
	})))
	wantComplaints(t, got,
		`count: without a value`, `Public: others can change`, `pattern: its call runs`, `lookup: a map`,
		`now: make it`, `limit: make it a constant`, `fn: make it a function`, `filled: a call in it`, `pointer: make it`,
		`changed: it is written to at a/b.go:3`, `grown: it is written to at a/a_test.go:3`, `once: it is written to at a/a_test.go:3`)
}
