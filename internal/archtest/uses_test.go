package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// ban is a name of the standard library that the program keeps away from.
type ban struct {
	pkg   string
	names []string
	but   func(*file) bool // where it is right, nil for nowhere
	why   string
}

// renamed is why a rename has to be a known one.
const renamed = "a file is replaced by internal/atomicfile, which syncs it and its folder; a rename that replaces no file is in knownUses, with the reason"

// renames reports whether a file may rename what it likes. The journal and the backup give
// names to folders and finished files; the few other renames of the engine wait until its
// files are in packages of their own.
func renames(f *file) bool {
	return matches("./engine/...", f.room) || matches("./internal/bench/...", f.room)
}

// bans is about what acts on the whole process, or can't be stopped. Tests may
// use all of it.
func bans() []ban {
	inMain := func(f *file) bool { return f.command() && path.Base(f.path) == "main.go" }
	inProgram := func(f *file) bool { return f.command() }
	inTool := func(f *file) bool { return f.command() && f.room != "." }
	// Programs of the build have no data directory. Package cas keeps temporary files
	// in a folder that its collector empties.
	inFiles := func(f *file) bool {
		return inTool(f) || matches("./internal/atomicfile/...", f.room) || matches("./internal/bench/...", f.room)
	}
	inBench := func(f *file) bool { return matches("./internal/bench/...", f.room) }
	inTerm := func(f *file) bool { return f.command() || matches("./commands/term/...", f.room) }
	inCommands := func(f *file) bool { return f.command() || matches("./commands/...", f.room) }
	in := func(paths ...string) func(*file) bool {
		return func(f *file) bool { return slices.Contains(paths, f.path) }
	}
	outsideServer := func(f *file) bool { return !matches("./server/...", f.room) }
	const opened = "the server has types of the packages below the engine; files and toolsets are opened by the engine alone, or the shell and the page would come to differ"
	const decided = "rules are compared with what an argument means, by engine/permission's one function; a glob held against an argument as it is spelled is no decision"
	return []ban{
		{"github.com/bmatcuk/doublestar/v4", []string{"Match", "MatchUnvalidated", "PathMatch", "PathMatchUnvalidated"}, in("engine/permission/match.go", "toolset/match.go", "toolset/builtin/glob.go", "engine/store/search_chats.go"), decided},
		{modulePath + "/toolset", []string{"Match"}, in("engine/permission/policy.go", "engine/permission/rules.go", "engine/catalog/need.go"), decided + "; toolset.Match is for the ids of tools"},
		{"path", []string{"Match"}, in("cas/ignore.go"), decided},
		{modulePath + "/cas", []string{"Open", "NewLayer", "ReadLayerMeta", "DropLayer", "DisownLayer"}, outsideServer, opened},
		{modulePath + "/toolset", []string{"OpenManaged", "OpenBound", "NewSet"}, outsideServer, opened},
		{modulePath + "/toolset/registry", []string{"New", "ReadIndex", "ReadMirror", "ReadParts"}, outsideServer, opened},
		{"path/filepath", []string{"Match"}, nil, decided},
		{"os", []string{"Exit"}, inMain, "deferred work is skipped, and a test that runs commands.Main would end with it"},
		{"os", []string{"Args"}, inProgram, "arguments are passed in"},
		{"os", []string{"Stdin", "Stdout", "Stderr"}, inTerm, "streams are passed in; commands/term is where the process's own are opened"},
		{"os", []string{"Getenv", "LookupEnv"}, inCommands, "the environment is read by commands and passed down as plain values"},
		{"os", []string{"Setenv", "Unsetenv", "Clearenv", "Chdir"}, nil, "it changes the process under everybody else in it"},
		{"fmt", []string{"Print", "Printf", "Println"}, inTool, "standard output belongs to commands/term"},
		{"net/http", []string{"DefaultClient", "DefaultServeMux", "Get", "Post", "PostForm", "Head", "Handle", "HandleFunc", "ListenAndServe", "ListenAndServeTLS"}, inBench, "it has no time limits and is shared by the whole process"},
		{"log/slog", []string{"Default", "SetDefault", "Debug", "Info", "Warn", "Error", "Log", "LogAttrs", "DebugContext", "InfoContext", "WarnContext", "ErrorContext"}, nil, "a *slog.Logger is passed in"},
		{"os", []string{"Rename", "CreateTemp", "MkdirTemp"}, inFiles, "internal/atomicfile retries on Windows, and records temporary files so that those of killed processes are found"},
		{modulePath + "/internal/atomicfile", []string{"Rename"}, renames, renamed},
		{"go.yaml.in/yaml/v4", []string{"NewLoader", "Unmarshal", "Load", "NewDecoder"}, in("internal/strictyaml/parse.go"), "files are parsed by internal/strictyaml, which bounds them"},
		{"time", []string{"Sleep", "Tick"}, nil, "a wait ends when its context does"},
		{"context", []string{"TODO"}, nil, "a context comes from the caller"},
	}
}

// knownUses are the functions that may do what checkUses complains about. A
// panic is right only where the program itself is wrong, in a way that no
// caller can be asked to handle.
func knownUses() exceptions {
	return exceptions{
		"commands/term/table.go Table.Row":             "a row that is longer than its table is a mistake in the program, not in what it shows",
		"cas/blob.go Store.tempFile":                   "the file lies in a folder of its own, which the collector empties while it is alone",
		"internal/atomicfile/atomicfile.go pause.wait": "Windows refuses a file for a moment, or another process is writing it; the waits end after two seconds, and most callers have no context",

		"cas/blob.go Store.keepFile":                    "a blob's name is its digest; a file of that name has the same content, and names are synced next",
		"cas/dir_other.go dir.rename":                   "a file of a workspace is restored below a root, as on the other systems",
		"internal/kv/manifest.go Store.replaceManifest": "Badger has one name for the temporary file, and overwrites what a crash leaves; both are synced",
		"toolset/builtin/write.go writeAtomic":          "a file of a workspace is replaced below a root, with its owner and mode, by a name of atomicfile",
		"toolset/bundle/extract.go Bundle.extract":      "a folder that is complete gets its name",
		"toolset/gitguard/aside.go Found.bringBack":     "a repository is moved back; its name is free",
		"toolset/gitguard/aside.go rename":              "a repository is moved aside, to a free name",
		"toolset/python/interpreter.go settle":          "a folder that is complete gets its name",
		"toolset/python/prune.go pruning.discard":       "a folder that is to be removed loses its name first",
		"toolset/registry/folders.go removeFolder":      "a folder that is to be removed loses its name first",

		"internal/kv/core.go mustName":      "a table's name is a literal; a bad one is a mistake in the program, as with regexp.MustCompile",
		"internal/kv/guard.go guardFaults":  "it passes on a panic that it has caught and that is no fault of a mapped file",
		"internal/kv/table.go NewTable":     "an index is declared in code; a bad one is a mistake in the program, as with regexp.MustCompile",
		"internal/lockfile/lockfile.go try": "Windows is still deleting the file; the tries are counted, a millisecond each, and Try takes no context",
		"internal/schema/run.go run.stop":   "the library calls back and has no other way out; Schema.check recovers it",

		"toolset/sandbox/supervisor/early.go init": "a supervisor is started for every call, and needs nothing of what main's imports set up, which takes twice as long as all else; any other start compares one argument",
	}
}

// checkUses complains about banned names, about panic and print, and about
// init functions, outside of tests and of suites for them.
func checkUses(t tree, table []ban) []complaint {
	var out []complaint
	for _, f := range t.program() {
		names := f.importNames()
		for _, decl := range f.ast.Decls {
			place := f.path
			if fn, ok := decl.(*ast.FuncDecl); ok {
				place += " " + funcName(fn)
				if fn.Recv == nil && fn.Name.Name == "init" {
					out = append(out, complaint{place, f.at(fn) + ": init does work at every start, asked or not: build it on first use (sync.OnceValue)"})
				}
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				for _, text := range f.badUse(n, names, table) {
					out = append(out, complaint{place, f.at(n) + ": " + text})
				}
				return true
			})
		}
	}
	return out
}

func (f *file) badUse(n ast.Node, names map[string]string, table []ban) []string {
	switch n := n.(type) {
	case *ast.CallExpr:
		id, ok := n.Fun.(*ast.Ident)
		if !ok || id.Obj != nil {
			return nil
		}
		switch id.Name {
		case "panic":
			return []string{"panic: return an error, or say in knownUses why nobody could handle it"}
		case "print", "println":
			return []string{id.Name + ": a leftover of debugging"}
		}
	case *ast.SelectorExpr:
		id, ok := n.X.(*ast.Ident)
		if n.Sel.Name == "Rename" && !renames(f) && (!ok || names[id.Name] == "") {
			return []string{"Rename: " + renamed} // of an os.Root
		}
		if !ok || id.Obj != nil {
			return nil
		}
		for _, b := range table {
			if names[id.Name] == b.pkg && slices.Contains(b.names, n.Sel.Name) && (b.but == nil || !b.but(f)) {
				return []string{fmt.Sprintf("%s.%s: %s", id.Name, n.Sel.Name, b.why)}
			}
		}
	}
	return nil
}

// importNames maps the names that a file gives its imports to their paths.
func (f *file) importNames() map[string]string {
	major := regexp.MustCompile(`^v[0-9]+$`) // the last part of a module's path, not a name
	names := map[string]string{}
	for _, spec := range f.ast.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has checked it
		}
		name := path.Base(p)
		if major.MatchString(name) {
			name = path.Base(path.Dir(p))
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = p
	}
	return names
}

func TestProcessWideNamesAreKeptOut(t *testing.T) {
	t.Parallel()
	report(t, knownUses().sift(checkUses(project(t), bans())))
}

func TestCheckUses(t *testing.T) {
	t.Parallel()
	got := texts(checkUses(madeUp(t, map[string]string{
		"main.go":            "package main\nimport (\"fmt\"; \"os\")\nfunc main() { fmt.Print(); os.Exit(len(os.Args)) }",
		"internal/x/tool.go": "package main\nimport \"fmt\"\nfunc f() { fmt.Println() }",
		"tool.go":            "package main\nimport \"os\"\nfunc f() { os.Exit(1) }",
		"a/a.go": `package a
import ("fmt"; sys "os"; "log/slog"; "time")
func init() {}
func (t T) init() {}
func f(log *slog.Logger) {
	fmt.Println("x")
	fmt.Sprint("x")
	sys.Exit(1)
	panic("x")
	println("x")
	log.Info("x")
	slog.Info("x")
	time.Sleep(1)
	func() { sys.Stdout.Write(nil) }()
}
func g(fmt printer) { fmt.Println("x"); panic := g; panic(nil) }
var home = sys.Getenv("HOME")
func rename() { sys.Rename("a", "b"); sys.CreateTemp("", ""); sys.MkdirTemp("", "") }
func below(root *sys.Root) { root.Rename("a", "b") }
`,
		"b/b.go":                   "package b\nimport \"" + modulePath + "/internal/atomicfile\"\nfunc f() { atomicfile.Rename(\"a\", \"b\") }\nfunc g(s *S) { s.dir.root.Rename(\"a\", \"b\"); s.RenameChat() }",
		"engine/x.go":              "package engine\nimport \"" + modulePath + "/internal/atomicfile\"\nfunc f() { atomicfile.Rename(\"a\", \"b\") }",
		"internal/atomicfile/a.go": "package atomicfile\nimport \"os\"\nfunc f() { os.Rename(\"a\", \"b\") }",
		"a/atest/suite.go":         "package atest\nimport (\"fmt\"; \"testing\")\nfunc f(t *testing.T) { fmt.Println() }",
		"a/atest/more.go":          "package atest\nimport \"fmt\"\nfunc g() { fmt.Println() }",
		"a/contest/c.go":           "package contest\nimport \"fmt\"\nfunc f() { fmt.Println() }",
		"a/a_test.go":              "package a\nimport \"fmt\"\nfunc init() { fmt.Println(); panic(1) }",
		"commands/term/t.go":       "package term\nimport \"os\"\nvar _ = os.Stdout",
		"commands/config/c.go":     "package config\nimport \"os\"\nfunc f() { os.Getenv(\"A\"); os.Stdout.Close() }",
	}), bans()))
	wantComplaints(t, got,
		`^main.go:3: fmt.Print: `, `^tool.go:3: os.Exit: `,
		`^a/a.go:3: init does work`, `^a/a.go:6: fmt.Println: `, `:8: sys.Exit: `, `:9: panic: `, `:10: println: `,
		`:12: slog.Info: `, `:13: time.Sleep: `, `:14: sys.Stdout: `, `:17: sys.Getenv: `,
		`:18: sys.Rename: `, `:18: sys.CreateTemp: `, `:18: sys.MkdirTemp: `, `:19: Rename: `,
		`^b/b.go:3: atomicfile.Rename: `, `^b/b.go:4: Rename: `,
		`^a/contest/c.go:3: fmt.Println: `,
		`^commands/config/c.go:3: os.Stdout: `)
}
