package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"strconv"
	"strings"
	"testing"
)

// otherFolders are the commands that are in a folder of another name.
func otherFolders() exceptions {
	return exceptions{
		"redo in ./commands/undo":       "both are steps in the history of a chat's folder",
		"config in ./commands/settings": "commands/config is the reader of the configuration, which the workbench of all commands imports",
	}
}

// checkPlaces reports the commands of the program that are not in the folder of their
// name. app is the file whose function newApp lists the commands.
func checkPlaces(t tree, app string) (out []complaint) {
	_, rooms := t.rooms()
	for _, f := range t.sources() {
		if f.path != app {
			continue
		}
		for _, call := range commandCalls(f) {
			room, function := f.room, ""
			switch fn := call.Fun.(type) {
			case *ast.Ident:
				function = fn.Name
			case *ast.SelectorExpr:
				room, function = importedAs(f, fn.X.(*ast.Ident).Name), fn.Sel.Name
			}
			name, hidden := madeBy(rooms[room], function)
			if want := f.room + "/" + name; !hidden && room != want {
				out = append(out, complaint{name + " in " + room, fmt.Sprintf("%s: the command %q is in %s, want %s", f.at(call), name, room, want)})
			}
		}
	}
	return out
}

// commandCalls returns the calls that make the commands, in newApp.
func commandCalls(f *file) (calls []*ast.CallExpr) {
	for _, d := range f.ast.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != "newApp" {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			kv, ok := n.(*ast.KeyValueExpr)
			if !ok || !isName(kv.Key, "Commands") {
				return true
			}
			if list, ok := kv.Value.(*ast.CompositeLit); ok {
				for _, e := range list.Elts {
					if call, ok := e.(*ast.CallExpr); ok {
						calls = append(calls, call)
					}
				}
			}
			return false
		})
	}
	return calls
}

// madeBy returns the name of the command that a function makes, and whether it is hidden:
// the first field Name in it, and a field Hidden.
func madeBy(room tree, function string) (name string, hidden bool) {
	for _, f := range room.sources() {
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Name.Name != function || fn.Recv != nil {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				kv, ok := n.(*ast.KeyValueExpr)
				if !ok {
					return true
				}
				if lit, ok := kv.Value.(*ast.BasicLit); ok && name == "" && isName(kv.Key, "Name") {
					name, _ = strconv.Unquote(lit.Value)
				}
				hidden = hidden || isName(kv.Key, "Hidden") && isName(kv.Value, "true")
				return true
			})
		}
	}
	return name, hidden
}

func isName(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// importedAs returns the room that a file imports under a name.
func importedAs(f *file, name string) string {
	for _, spec := range f.ast.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		if spec.Name != nil && spec.Name.Name == name || spec.Name == nil && path.Base(p) == name {
			return localPath(p)
		}
	}
	return ""
}

func TestEachCommandHasItsFolder(t *testing.T) {
	t.Parallel()
	complaints := checkPlaces(project(t), "commands/app.go")
	report(t, otherFolders().sift(complaints))
}

func TestCommandsElsewhereAreFound(t *testing.T) {
	t.Parallel()
	got := texts(checkPlaces(madeUp(t, map[string]string{
		"commands/app.go": strings.ReplaceAll(`package commands
import (
	"MODULE/commands/ask"
	chatcmd "MODULE/commands/chat"
	"MODULE/commands/tools"
)
func newApp() *cli.App {
	return &cli.App{Commands: []*cli.Command{ask.New(), chatcmd.New(), tools.New(), tools.NewHidden(), newRead(), newMan()}}
}
func newRead() *cli.Command { return &cli.Command{Name: "read", Hidden: true} }
func newMan() *cli.Command { return &cli.Command{Name: "man", Flags: []cli.Flag{&cli.BoolFlag{Name: "all"}}} }`, "MODULE", modulePath),
		"commands/ask/ask.go":     `package ask; func New() *cli.Command { return &cli.Command{Name: "ask"} }`,
		"commands/chat/chat.go":   `package chat; func New() *cli.Command { return &cli.Command{Name: "chat"} }`,
		"commands/tools/tools.go": `package tools; func New() *cli.Command { return &cli.Command{Name: "tool"} }; func NewHidden() *cli.Command { return &cli.Command{Name: "x", Hidden: true} }`,
	}), "commands/app.go"))
	wantComplaints(t, got, `"tool" is in ./commands/tools, want ./commands/tool$`, `"man" is in ./commands, want ./commands/man$`)
}
