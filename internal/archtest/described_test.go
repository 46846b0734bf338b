package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"strings"
	"testing"
)

// minSentences is how much a package has to say of itself at least: what it
// is, and one thing more (what it is not, or what it promises).
const minSentences = 2

// checkPackageComments wants one comment a room, in doc.go or, for a program,
// in main.go, of two sentences at least.
func checkPackageComments(t tree) []string {
	var out []string
	names, byRoom := t.rooms()
	for _, room := range names {
		sources := byRoom[room].sources()
		if len(sources) == 0 {
			out = append(out, fmt.Sprintf("%s has tests alone and no doc.go that says what they are about", room))
			continue
		}
		out = append(out, checkPackageComment(room, sources)...)
	}
	return out
}

func checkPackageComment(room string, sources tree) []string {
	var out []string
	home, found := "doc.go", false
	for _, f := range sources {
		if f.command() && path.Base(f.path) == "main.go" && f.ast.Doc != nil {
			home = "main.go"
		}
	}
	for _, f := range sources {
		if f.ast.Doc == nil {
			continue
		}
		if path.Base(f.path) != home {
			out = append(out, fmt.Sprintf("%s: the package comment belongs into %s", f.path, home))
			continue
		}
		found = true
		text := f.ast.Doc.Text()
		if n := sentences(text); n < minSentences {
			out = append(out, fmt.Sprintf("%s: the package comment has %d sentences, want %d at least: what the room is, what it is not, what it promises", f.path, n, minSentences))
		}
		if want := opening(f); !strings.HasPrefix(text, want) {
			out = append(out, fmt.Sprintf("%s: the package comment begins with %q, want %q", f.path, firstWords(text), want))
		}
	}
	if !found {
		out = append(out, fmt.Sprintf("%s has no package comment in %s", room, home))
	}
	return out
}

// opening is how Go's conventions begin a package comment.
func opening(f *file) string {
	if f.command() {
		return "Command "
	}
	return "Package " + f.ast.Name.Name + " "
}

func firstWords(text string) string {
	words := strings.Fields(text)
	return strings.Join(words[:min(3, len(words))], " ")
}

// sentences counts what ends like a sentence, outside of indented text.
func sentences(text string) int {
	end := regexp.MustCompile(`[\pL\pN)"'\]][.!?](\s|$)`)
	n := 0
	for _, paragraph := range strings.Split(text, "\n\n") {
		if !strings.HasPrefix(paragraph, "\t") && !strings.HasPrefix(paragraph, " ") {
			n += len(end.FindAllString(paragraph, -1))
		}
	}
	return n
}

// selfEvident are methods whose name says all that a comment could, by the
// interface of the standard library that they satisfy.
func selfEvident(method string) bool {
	switch method {
	case "Error", "Unwrap", "String", "Len", "Less", "Swap":
		return true
	}
	return false
}

// checkExported wants a comment on every exported name outside of tests. A
// comment before a group covers what follows in it without a blank line, so
// that a block of constants or a row of one-line methods needs only one.
func checkExported(t tree) []complaint {
	var out []complaint
	for _, f := range t.sources() {
		covered := 0 // the last line of the documented run of declarations
		for _, decl := range f.ast.Decls {
			documented := hasText(declDoc(decl)) || covered > 0 && f.line(decl.Pos()) == covered+1
			if documented {
				covered = f.line(decl.End())
			}
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if name, ok := exportedFunc(decl); ok && !documented && !selfEvident(decl.Name.Name) {
					out = append(out, f.undocumented(decl, name))
				}
			case *ast.GenDecl:
				out = append(out, f.undocumentedSpecs(decl, documented)...)
			}
		}
	}
	return out
}

func (f *file) line(p token.Pos) int { return f.fset.Position(p).Line }

func (f *file) undocumented(n ast.Node, name string) complaint {
	return complaint{f.path + " " + name, fmt.Sprintf("%s: %s is exported and has no comment", f.at(n), name)}
}

func declDoc(d ast.Decl) *ast.CommentGroup {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Doc
	case *ast.GenDecl:
		return d.Doc
	}
	return nil
}

// hasText tells a comment from a directive such as //go:embed.
func hasText(groups ...*ast.CommentGroup) bool {
	for _, g := range groups {
		if g != nil && strings.TrimSpace(g.Text()) != "" {
			return true
		}
	}
	return false
}

// exportedFunc gives the name of a function or method that others can call.
func exportedFunc(d *ast.FuncDecl) (string, bool) {
	if !d.Name.IsExported() {
		return "", false
	}
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name, true
	}
	receiver := receiverName(d.Recv.List[0].Type)
	return receiver + "." + d.Name.Name, ast.IsExported(receiver)
}

func receiverName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverName(e.X)
	case *ast.IndexExpr:
		return receiverName(e.X)
	case *ast.IndexListExpr:
		return receiverName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func (f *file) undocumentedSpecs(decl *ast.GenDecl, documented bool) []complaint {
	var out []complaint
	grouped := decl.Lparen.IsValid()
	covered := 0 // the last line of the documented run of constants
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			own := documented || hasText(spec.Doc, spec.Comment) || covered > 0 && f.line(spec.Pos()) == covered+1
			if own {
				covered = f.line(spec.End())
			}
			for _, name := range spec.Names {
				if name.IsExported() && !own {
					out = append(out, f.undocumented(name, name.Name))
				}
			}
		case *ast.TypeSpec:
			own := hasText(spec.Doc, spec.Comment) || documented && !grouped
			if spec.Name.IsExported() && !own {
				out = append(out, f.undocumented(spec, spec.Name.Name))
			}
			if spec.Name.IsExported() {
				out = append(out, f.undocumentedMethods(spec)...)
			}
		}
	}
	return out
}

// undocumentedMethods looks into an exported interface of several methods:
// what each promises (may it be called twice, by several goroutines, who
// closes) is what its users and its implementers meet on. The one method of a
// small interface may rest on the interface's own comment.
func (f *file) undocumentedMethods(spec *ast.TypeSpec) []complaint {
	face, ok := spec.Type.(*ast.InterfaceType)
	if !ok || len(face.Methods.List) < 2 {
		return nil
	}
	var out []complaint
	covered := 0
	for _, m := range face.Methods.List {
		documented := hasText(m.Doc, m.Comment) || covered > 0 && f.line(m.Pos()) == covered+1
		if documented {
			covered = f.line(m.End())
		}
		for _, name := range m.Names {
			if name.IsExported() && !documented && !selfEvident(name.Name) {
				out = append(out, f.undocumented(name, spec.Name.Name+"."+name.Name))
			}
		}
	}
	return out
}

func TestEveryRoomSaysWhatItIs(t *testing.T) {
	t.Parallel()
	report(t, checkPackageComments(project(t)))
}

func TestEveryExportedNameIsDocumented(t *testing.T) {
	t.Parallel()
	report(t, exceptions{}.sift(checkExported(project(t))))
}

func TestCheckPackageComments(t *testing.T) {
	t.Parallel()
	got := checkPackageComments(madeUp(t, map[string]string{
		"main.go":           "// Command x does y. It needs z.\npackage main",
		"good/doc.go":       "// Package good is. It is not, e.g. bad.\npackage good",
		"good/good.go":      "package good",
		"short/doc.go":      "// Package short is version 1.2\npackage short",
		"silent/silent.go":  "package silent",
		"astray/astray.go":  "// Package astray is. It is not.\npackage astray",
		"twice/doc.go":      "// Package twice is. It is not.\npackage twice",
		"twice/a.go":        "// Package twice is.\npackage twice",
		"list/doc.go":       "// Package list is:\n//\n//\tone. two. three. four.\npackage list",
		"vague/doc.go":      "// This is a room. It is nice.\npackage vague",
		"lone/lone_test.go": "// Package lone is. It is not.\npackage lone",
	}))
	wantComplaints(t, got,
		`^short/doc.go: the package comment has 0 sentences`,
		`^./silent has no package comment in doc.go`,
		`^astray/astray.go: the package comment belongs into doc.go`, `^./astray has no package comment`,
		`^twice/a.go: the package comment belongs`,
		`^list/doc.go: the package comment has 0 sentences`,
		`^vague/doc.go: the package comment begins with "This is a", want "Package vague "`,
		`^./lone has tests alone`,
	)
}

func TestCheckExported(t *testing.T) {
	t.Parallel()
	got := texts(checkExported(madeUp(t, map[string]string{"a/a.go": `package a

// Documented says so.
func Documented() {}

func Bare() {}

type T struct{ Field int }

// Row of methods.
func (T) One() {}
func (T) Two() {}

func (*T) Three() {}
func (T) Error() string { return "" }

type hidden struct{}

func (hidden) Shown() {}

// Kinds of it.
const (
	A = 1
	B = 2
)

const (
	// E and F are documented.
	E = 1
	F = 2

	I = 3
)

const C = 3
const D = 4 // the fourth

//go:embed x
var Embedded string

type (
	// G is documented.
	G int
	H int
)

// Face is documented.
type Face interface {
	// M does.
	M()
	N()

	O()
}

// Small is documented.
type Small interface{ M() }

// List is documented.
type List[E any] struct{}

func (l *List[E]) Get() {}
`, "a/a_test.go": "package a\n\nfunc Helper() {}\n"})))
	wantComplaints(t, got,
		`^a/a.go:6: Bare is`, `: T is`, `: T.Three is`, `: C is`, `: I is`, `: Embedded is`, `: H is`, `: Face.O is`, `: List.Get is`)
}
