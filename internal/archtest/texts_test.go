package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

const (
	// ownText is why a function of unicode, or a number of a hidden character, is a
	// complaint.
	ownText = "text from outside is cleaned by internal/sanitize, and written out for a question by internal/consent; a rule of its own misses what theirs remove"
	// ownDistance is the same of a second edit distance.
	ownDistance = "internal/didyoumean finds the name that was meant"
)

// textRooms may decide what a visible character is.
func textRooms() []string {
	return []string{
		"./internal/sanitize", "./internal/consent",
		"./commands/term/...", // what a terminal can show, and how wide it is
		"./engine/...",        // its copies are replaced when the package is divided
	}
}

// knownTexts are the functions that decide about characters for another purpose than to
// clean a text.
func knownTexts() exceptions {
	const (
		json    = "a string of JSON has these characters as escapes; none is lost"
		lines   = "YAML ends lines at these characters; a place in a file is counted by them"
		written = "it decides how a value is quoted in a YAML file; nothing is removed"
	)
	return exceptions{
		"cas/view.go escaped": "the escapes of a path can be read back, so that no two paths look the same",

		"commands/config/kind.go plain":                       "it refuses a value; nothing is removed",
		"commands/config/yamledit/doc_text.go document.split": lines,
		"commands/config/yamledit/value.go literal":           written,
		"commands/config/yamledit/value.go plain":             written,
		"commands/config/yamledit/value.go doubleQuoted":      written,

		"internal/record/clip.go escapedLen":   json,
		"internal/strictyaml/text.go refused":  "it refuses a file; nothing is removed",
		"internal/strictyaml/text.go allowed":  "YAML 1.2 lists these characters",
		"internal/strictyaml/text.go endsLine": lines,
		"internal/textenc/textenc.go isText":   "it guesses an encoding; nothing is removed",

		"server/dialect/frame.go appendString":    json,
		"toolset/bundle/names.go badSegment":      "it refuses names, also for characters that a text may have",
		"toolset/gitguard/scan.go isGit":          "macOS ignores these characters in a name",
		"toolset/manifest/marshal.go unprintable": written,
		"toolset/wspath/name.go unprintable":      "it decides which names are quoted; Go's quotes write the same characters as escapes",

		"internal/archtest/vulngate/verdict.go plain": "a program of the build, which uses nothing of the project",
		"server/wire.go ignoredText":                  "the value of an HTTP header is ASCII",
	}
}

// isHidden reports whether a number or a character literal is one of the characters that
// turn the direction of text, end a line of it, or have no width.
func isHidden(lit *ast.BasicLit) bool {
	var n int64
	switch lit.Kind {
	case token.CHAR:
		r, _, _, err := strconv.UnquoteChar(lit.Value[1:len(lit.Value)-1], '\'')
		if err != nil {
			return false
		}
		n = int64(r)
	case token.INT:
		var err error
		if n, err = strconv.ParseInt(lit.Value, 0, 64); err != nil || len(lit.Value) < 2 || lit.Value[:2] != "0x" {
			return false
		}
	}
	return n == 0x61c || n >= 0x200b && n <= 0x200f || n >= 0x2028 && n <= 0x202e || n >= 0x2060 && n <= 0x206f || n == 0xfeff
}

// checkTexts complains about functions that decide which characters of a text are shown,
// and about edit distances, outside of the packages for that.
func checkTexts(t tree) []complaint {
	var out []complaint
	for _, f := range t.program() {
		if slices.ContainsFunc(textRooms(), func(room string) bool { return matches(room, f.room) }) {
			continue
		}
		names := f.importNames()
		for _, decl := range f.ast.Decls {
			place := f.path
			if fn, ok := decl.(*ast.FuncDecl); ok {
				place += " " + funcName(fn)
				if f.room != "./internal/didyoumean" && slices.Contains([]string{"distance", "levenshtein", "editDistance"}, fn.Name.Name) {
					out = append(out, complaint{place, fmt.Sprintf("%s: %s: %s", f.at(fn), fn.Name.Name, ownDistance)})
				}
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				if what := f.decidesText(n, names); what != "" {
					out = append(out, complaint{place, fmt.Sprintf("%s: %s: %s", f.at(n), what, ownText)})
				}
				return true
			})
		}
	}
	return out
}

// decidesText names what of a node decides about the characters of a text; empty for
// nothing.
func (f *file) decidesText(n ast.Node, names map[string]string) string {
	switch n := n.(type) {
	case *ast.BasicLit:
		if isHidden(n) {
			return n.Value
		}
	case *ast.SelectorExpr:
		if names[nameOf(n.X)] == "unicode" && slices.Contains([]string{"IsPrint", "IsGraphic", "Cf", "Zl", "Zp", "Other_Default_Ignorable_Code_Point"}, n.Sel.Name) {
			return "unicode." + n.Sel.Name
		}
	case *ast.CallExpr: // a control character that is taken out of a text
		if sel, ok := n.Fun.(*ast.SelectorExpr); !ok || names[nameOf(sel.X)] != "strings" || sel.Sel.Name != "Map" {
			return ""
		}
		what := ""
		ast.Inspect(f.mapped(n.Args[0]), func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && names[nameOf(sel.X)] == "unicode" && sel.Sel.Name == "IsControl" {
				what = "strings.Map with unicode.IsControl"
			}
			if cmp, ok := n.(*ast.BinaryExpr); ok && cmp.Op == token.LSS {
				if lit, ok := cmp.Y.(*ast.BasicLit); ok && (lit.Value == "' '" || lit.Value == "0x20") {
					what = "strings.Map with r < ' '"
				}
			}
			return true
		})
		return what
	}
	return ""
}

// mapped is the function that an argument stands for, where it is in the same file.
func (f *file) mapped(arg ast.Expr) ast.Node {
	for _, decl := range f.ast.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == nameOf(arg) {
			return fn
		}
	}
	return arg
}

// nameOf is the name of an identifier that no scope of the file declares; empty for all
// else.
func nameOf(e ast.Expr) string {
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

func TestTextsAreCleanedInOnePlace(t *testing.T) {
	t.Parallel()
	report(t, knownTexts().sift(checkTexts(project(t))))
}

func TestCheckTexts(t *testing.T) {
	t.Parallel()
	wantComplaints(t, texts(checkTexts(madeUp(t, map[string]string{
		"a/a.go": `package a
import ("strings"; "unicode")
func print(r rune) bool { return unicode.IsPrint(r) }
func format(r rune) bool { return unicode.Is(unicode.Cf, r) }
func turns(r rune) bool { return r >= 0x202a && r <= '\u2069' }
func control(s string) string { return strings.Map(func(r rune) rune { if unicode.IsControl(r) { return -1 }; return r }, s) }
func drop(r rune) rune { if r < ' ' { return -1 }; return r }
func named(s string) string { return strings.Map(drop, s) }
func editDistance(a, b string) int { return 0 }
func upper(s string) string { return strings.Map(unicode.ToUpper, s) }
func checked(s string) bool { return strings.IndexFunc(s, unicode.IsControl) < 0 && len(s) < 0x20 && len(s) != 8232 }
`,
		"internal/sanitize/s.go":   "package sanitize\nimport \"unicode\"\nvar hides = unicode.Cf",
		"internal/didyoumean/n.go": "package didyoumean\nfunc distance(a, b string) int { return 0 }",
		"commands/term/width/w.go": "package width\nfunc wide(r rune) bool { return r == 0x200b }",
		"a/a_test.go":              "package a\nconst hidden = '\\u202e'",
	}))),
		`^a/a.go:3: unicode.IsPrint: `, `^a/a.go:4: unicode.Cf: `, `^a/a.go:5: 0x202a: `, `^a/a.go:5: '\\u2069': `,
		`^a/a.go:6: strings.Map with unicode.IsControl: `, `^a/a.go:8: strings.Map with r < ' ': `, `^a/a.go:9: editDistance: `)
}
