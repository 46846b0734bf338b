package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"testing"
)

// decisionFiles are the files of engine/permission that may compare a text with a glob, and
// that may read the arguments of a call as they were written. Every other decision is about
// a resolved call.
var decisionFiles = map[string][]string{
	"match":   {"address.go", "match.go"},
	"strings": {"call.go", "match.go", "rule.go", "shell.go"},
}

// checkDecisions complains about decisions on arguments as they are written, where a ban of
// the library's names does not show them: in package permission itself, and behind an
// import without a name.
func checkDecisions(t tree) []complaint {
	var out []complaint
	for _, f := range t.program() {
		for _, spec := range f.ast.Imports {
			if spec.Name != nil && spec.Name.Name == "." {
				out = append(out, complaint{f.path, f.at(spec) + ": an import without a name hides what it uses from these tests"})
			}
		}
		if f.room != "./engine/permission" {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			name := ""
			switch n := n.(type) {
			case *ast.Ident: // also where the function is a value
				if n.Name == "match" {
					name = "match"
				}
			case *ast.SelectorExpr:
				if n.Sel.Name == "strings" {
					name = "strings"
				}
			}
			if allowed, known := decisionFiles[name]; known && !slices.Contains(allowed, path.Base(f.path)) {
				out = append(out, complaint{f.path, fmt.Sprintf("%s: %s: a decision is made about the resolved call, by the functions of %v", f.at(n), name, allowed)})
			}
			return true
		})
	}
	return out
}

func TestDecisionsAreAboutResolvedCalls(t *testing.T) {
	t.Parallel()
	report(t, exceptions{}.sift(checkDecisions(project(t))))
}

func TestCheckDecisions(t *testing.T) {
	t.Parallel()
	made := madeUp(t, map[string]string{
		"engine/a.go":                "package engine\nimport . \"github.com/bmatcuk/doublestar/v4\"\nfunc f(g, p string) bool { ok, _ := Match(g, p); return ok }",
		"engine/b.go":                "package engine\nimport glob \"github.com/bmatcuk/doublestar/v4\"\nvar f = glob.Match",
		"engine/c.go":                "package engine\nimport \"" + modulePath + "/toolset\"\nfunc g(p string) { toolset.Match(\"notes/**\", p) }",
		"engine/permission/d.go":     "package permission\nfunc (c *Call) e() bool { return match(\"x\", c.args[\"path\"].strings[0]) }",
		"engine/permission/e.go":     "package permission\nvar compare = match",
		"engine/permission/match.go": "package permission\nfunc (c *Call) e() bool { return match(\"x\", c.args[\"path\"].strings[0]) }",
		"server/f.go":                "package server\nimport \"path/filepath\"\nvar f = filepath.Match",
	})
	wantComplaints(t, texts(append(checkDecisions(made), checkUses(made, bans())...)),
		`^engine/a.go:2: an import without a name`, `^engine/permission/d.go:2: match: `, `^engine/permission/d.go:2: strings: `, `^engine/permission/e.go:2: match: `,
		`^engine/b.go:3: glob.Match: `, `^engine/c.go:3: toolset.Match: `, `^server/f.go:3: filepath.Match: `)
}
