package fault

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Each constant of the type Kind has a text, without a command of a shell or a flag.
func TestEachKindHasAText(t *testing.T) {
	t.Parallel()
	f, err := parser.ParseFile(token.NewFileSet(), "kinds.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []Kind
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Type == nil || len(spec.Values) != 1 {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == "Kind" {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			declared = append(declared, Kind(value))
		}
		return true
	})
	slices.Sort(declared)
	if !slices.Equal(declared, Kinds()) || len(declared) < 50 {
		t.Errorf("declared are %q, and %q have a text", declared, Kinds())
	}
	for _, kind := range Kinds() {
		for _, args := range [][]string{nil, {"one"}, {"one", "two"}} {
			text := Try(kind, args...).Text
			if strings.ContainsAny(text, "{}[]") && kind != WriteSchema && kind != SendContext || strings.Contains(text, "--") || strings.Contains(text, "fettle ") && kind != Diagnose {
				t.Errorf("%s: %q", kind, text)
			}
		}
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		template string
		args     []string
		want     string
	}{
		{"list", nil, "list"},
		{"show {1}", []string{"a b"}, "show <a b>"},
		{"fork {1}[ --at {2}]", []string{"1"}, "fork <1>"},
		{"fork {1}[ --at {2}]", []string{"1", "2"}, "fork <1> --at <2>"},
		{"import {1|FILE}", nil, "import FILE"},
		{"import {1|FILE}", []string{""}, "import FILE"},
		{`{1} '{"type":"object"}' [x]`, []string{"{2}"}, `<{2}> '{"type":"object"}' [x]`},
	} {
		if got := Fill(c.template, c.args, func(s string) string { return "<" + s + ">" }); got != c.want {
			t.Errorf("%q with %q is %q, want %q", c.template, c.args, got, c.want)
		}
	}
}

// A remedy is added once, whatever its effect.
func TestAdd(t *testing.T) {
	t.Parallel()
	f := New(Failed, "x", Try(ShowTool, "a"))
	f.Add(Try(ShowTool, "a").That("shows it"), Try(ShowTool, "b"), Run("fettle x"))
	if got := strings.Join(Texts(f.Remedies), "; "); got != "look at the tool a; look at the tool b" || len(f.Remedies) != 3 {
		t.Errorf("got %q of %+v", got, f.Remedies)
	}
}

// The field that is wrong comes first, as each front end calls it.
func TestWrongInput(t *testing.T) {
	t.Parallel()
	f := WrongInput("tools", New(Failed, "x"))
	if f.Code != Failed || f.Error() != "x" {
		t.Errorf("a fault became %+v", f)
	}
	f = WrongInput("tools", strconv.ErrSyntax, Try(SelectTools))
	if f.Error() != "tools: invalid syntax" || f.Text("--tool") != "--tool: invalid syntax" || f.Code != Usage {
		t.Errorf("%q, %q, %s", f.Error(), f.Text("--tool"), f.Code)
	}
}
