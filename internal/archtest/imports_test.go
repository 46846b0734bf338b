package archtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"testing"
)

// matches tells whether a room or an import path meets a pattern: "a/..." is a
// and all below it, a "*" is one step.
func matches(pattern, name string) bool {
	pattern, below := strings.CutSuffix(pattern, "/...")
	want, got := strings.Split(pattern, "/"), strings.Split(name, "/")
	if len(got) < len(want) || len(got) > len(want) && !below {
		return false
	}
	for i, step := range want {
		if step != "*" && step != got[i] {
			return false
		}
	}
	return true
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, name) })
}

// governs tells whether a rule is about a room.
func (r rule) governs(room string) bool {
	return matchesAny(r.rooms, room) && !matchesAny(r.except, room)
}

// breach tells whether a room that the rule is about may not import path.
func (r rule) breach(room, path string) bool {
	return !r.own(room, path) && matchesAny(r.forbid, path) && !matchesAny(r.allow, path)
}

// own tells whether path is of the room's own tree: what the pattern that is
// about the room covers, with each * standing for the room's own step. For a
// pattern of one room, and for the one of all rooms, that is the room itself.
func (r rule) own(room, path string) bool {
	if path == room {
		return true
	}
	for _, pattern := range r.rooms {
		fixed, below := strings.CutSuffix(pattern, "/...")
		if steps := strings.Count(fixed, "/") + 1; below && steps > 1 && matches(pattern, room) {
			base := strings.Join(strings.Split(room, "/")[:steps], "/")
			if matches(base+"/...", path) {
				return true
			}
		}
	}
	return false
}

// checkImports holds each file's own imports against the rules, and what they
// import in turn where a rule is deep. deps gives all that a room depends on,
// without its tests.
func checkImports(t tree, table []rule, deps map[string][]string) []complaint {
	var out []complaint
	for _, r := range table {
		for _, f := range t {
			if !r.governs(f.room) || f.test && !r.tests {
				continue
			}
			for _, path := range f.imports {
				if r.breach(f.room, path) {
					out = append(out, complaint{f.path + " " + path,
						fmt.Sprintf("%s: %s may not import %s: %s", f.path, f.room, path, r.why)})
				}
			}
		}
	}
	return append(out, checkDeep(t, table, deps)...)
}

func checkDeep(t tree, table []rule, deps map[string][]string) []complaint {
	var out []complaint
	names, _ := t.rooms()
	for _, r := range table {
		for _, room := range names {
			if !r.deep || !r.governs(room) {
				continue
			}
			for _, path := range deps[room] {
				if r.breach(room, path) {
					out = append(out, complaint{room + " " + path,
						fmt.Sprintf("%s may not depend on %s, not even through others: %s", room, path, r.why)})
				}
			}
		}
	}
	return out
}

// checkPlaced complains about rooms that only the rules for everybody are
// about: a new room has to be given its place in the table.
func checkPlaced(t tree, table []rule) []complaint {
	var out []complaint
	names, _ := t.rooms()
	for _, room := range names {
		placed := slices.ContainsFunc(table, func(r rule) bool {
			return r.governs(room) && !slices.Contains(r.rooms, "./...")
		})
		if !placed {
			out = append(out, complaint{room,
				fmt.Sprintf("%s has no place in the table of rooms (rules_test.go): say what it may not import, and why", room)})
		}
	}
	return out
}

// checkReasons complains about rules that say nothing.
func checkReasons(table []rule) []string {
	var out []string
	for i, r := range table {
		if len(r.rooms) == 0 || len(r.forbid) == 0 || strings.TrimSpace(r.why) == "" {
			out = append(out, fmt.Sprintf("rule %d (%v) lacks rooms, forbidden imports or a reason", i, r.rooms))
		}
	}
	return out
}

// listed is what `go list` tells of a package.
type listed struct {
	ImportPath string
	Dir        string
	Deps       []string
	Error      *struct{ Err string }
	DepsErrors []struct{ Err string }
}

// goList asks the go command for the module's packages and all that each
// depends on, on this system.
func goList(t *testing.T) map[string]listed {
	t.Helper()
	out := run(t, "go", "list", "-e", "-json=ImportPath,Dir,Deps,Error,DepsErrors", "./...")
	dec := json.NewDecoder(strings.NewReader(string(out)))
	pkgs := map[string]listed{}
	for {
		var p listed
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return pkgs
		}
		if err != nil {
			t.Fatalf("read go list: %v", err)
		}
		if p.Error != nil {
			t.Errorf("go list %s: %s", p.ImportPath, p.Error.Err)
		}
		for _, e := range p.DepsErrors {
			t.Errorf("go list %s: %s", p.ImportPath, e.Err)
		}
		pkgs[localPath(p.ImportPath)] = p
	}
}

func TestImports(t *testing.T) {
	t.Parallel()
	whole, table := project(t), rules()
	report(t, checkReasons(table))
	report(t, texts(checkPlaced(whole, table)))

	pkgs := goList(t)
	deps := map[string][]string{}
	for room, p := range pkgs {
		for _, d := range p.Deps {
			deps[room] = append(deps[room], localPath(d))
		}
	}
	report(t, texts(checkImports(whole, table, deps)))
}

// TestTreeIsWhatGoSees keeps the tree that the checks read honest: a package
// that go list knows is in it, and the other way round.
func TestTreeIsWhatGoSees(t *testing.T) {
	t.Parallel()
	names, _ := project(t).rooms()
	pkgs := goList(t)
	for _, room := range names {
		if _, ok := pkgs[room]; !ok {
			t.Errorf("go list doesn't know %s", room)
		}
		delete(pkgs, room)
	}
	for room := range pkgs {
		t.Errorf("the tree lacks %s", room)
	}
}

func TestMatches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"./engine", "./engine", true},
		{"./engine", "./engine/event", false},
		{"./engine/...", "./engine", true},
		{"./engine/...", "./engine/event/sub", true},
		{"./engine/...", "./engineer", false},
		{"./...", "./engine", true},
		{"./...", ".", true},
		{"./...", "github.com/a/b", false},
		{"./a/*", "./a/b", true},
		{"./a/*", "./a", false},
		{"./a/*", "./a/b/c", false},
		{"./a/*/...", "./a/b/c", true},
		{"./a/*/...", "./a", false},
		{"log", "log/slog", false},
		{"github.com/x/y/...", "github.com/x/y/v4/z", true},
		{"github.com/x/y/...", "github.com/x/yz", false},
	} {
		if got := matches(c.pattern, c.name); got != c.want {
			t.Errorf("matches(%q, %q) = %v, want %v", c.pattern, c.name, got, c.want)
		}
	}
}

func TestCheckImports(t *testing.T) {
	t.Parallel()
	const ours = `"` + modulePath + `/`
	made := madeUp(t, map[string]string{
		"top/top.go":           "package top\nimport " + ours + `low"`,
		"low/low.go":           "package low\nimport " + ours + `top"`,
		"low/low_windows.go":   "//go:build windows\n\npackage low\nimport \"log\"",
		"low/low_test.go":      "package low_test\nimport (" + ours + `low"; ` + ours + `top")`,
		"leaf/a/a.go":          "package a\nimport " + ours + `leaf/b"`,
		"leaf/a/sub/sub.go":    "package sub\nimport (" + ours + `leaf/a"; ` + ours + `leaf/b")`,
		"leaf/b/b.go":          "package b\nimport (" + ours + `leaf/b/sub"; ` + ours + `leaf/wire")`,
		"leaf/b/b_test.go":     "package b\nimport " + ours + `leaf/a"`,
		"leaf/b/sub/sub.go":    "package sub",
		"leaf/wire/wire.go":    "package wire",
		"stranger/stranger.go": "package stranger\nimport \"example.com/db/v4\"",
	})
	table := []rule{
		{rooms: []string{"./top"}, forbid: []string{"./nothing"}, why: "placed"},
		{rooms: []string{"./low/..."}, forbid: []string{"./top/..."}, tests: true, why: "up"},
		{rooms: []string{"./leaf/*/..."}, forbid: []string{"./leaf/*/..."}, allow: []string{"./leaf/wire"}, why: "sibling"},
		{rooms: []string{"./leaf/b"}, forbid: []string{"./leaf/b/sub/..."}, why: "below"},
		{rooms: []string{"./..."}, except: []string{"./db"}, forbid: []string{"example.com/db/...", "log"}, why: "owned"},
		{rooms: []string{"./top"}, forbid: []string{"example.com/far"}, deep: true, why: "far"},
	}
	deps := map[string][]string{"./top": {"./low", "example.com/far"}, "./low": {"example.com/far"}}
	wantComplaints(t, texts(checkImports(made, table, deps)),
		`^low/low.go: ./low may not import ./top: up$`,
		`^low/low_test.go: ./low may not import ./top: up$`,
		`^low/low_windows.go: ./low may not import log: owned$`,
		`^leaf/a/a.go: ./leaf/a may not import ./leaf/b: sibling$`,
		`^leaf/a/sub/sub.go: ./leaf/a/sub may not import ./leaf/b: sibling$`,
		`^leaf/b/b.go: ./leaf/b may not import ./leaf/b/sub: below$`,
		`^stranger/stranger.go: ./stranger may not import example.com/db/v4: owned$`,
		`^./top may not depend on example.com/far, not even through others: far$`,
	)
	wantComplaints(t, texts(checkPlaced(made, table)), `^./stranger has no place`)
	wantComplaints(t, checkReasons([]rule{{rooms: []string{"."}, forbid: []string{"x"}}, {rooms: []string{"."}, why: "y"}}),
		`rule 0`, `rule 1`)
}

// TestRulesBite breaks the project's own table once for each of its rules: an
// import of what is forbidden, from a room that the rule is about, must show.
func TestRulesBite(t *testing.T) {
	t.Parallel()
	for i, r := range rules() {
		room, path := concrete(r.rooms[0], "one"), concrete(r.forbid[0], "other")
		f := &file{path: "mutant.go", room: room, imports: []string{path}}
		got := texts(checkImports(tree{f}, []rule{r}, map[string][]string{room: {path}}))
		want := 1
		if r.deep {
			want = 2
		}
		if len(got) != want {
			t.Errorf("rule %d (%s): %s importing %s gave %d complaints, want %d: %v", i, r.why, room, path, len(got), want, got)
		}
	}
}

// concrete makes a name that meets a pattern, from a word for what is free.
func concrete(pattern, word string) string {
	return strings.NewReplacer("*", word, "...", word).Replace(pattern)
}

// TestEachRuleIsAboutSomething keeps misspelt rooms out of the table: what a
// rule names exists, or is one of the rooms still to be built.
func TestEachRuleIsAboutSomething(t *testing.T) {
	t.Parallel()
	planned := []string{"./server", "./cas", "./internal/bench", "./toolset/bundle", "./toolset/mcp"}
	names, _ := project(t).rooms()
	var missing []string
	for _, r := range rules() {
		for _, pattern := range slices.Concat(r.rooms, r.except, r.allow) {
			if !strings.HasPrefix(pattern, ".") {
				continue // another module's package
			}
			known := slices.ContainsFunc(names, func(n string) bool { return matches(pattern, n) }) ||
				slices.ContainsFunc(planned, func(p string) bool { return strings.HasPrefix(pattern, p) })
			if !known && !slices.Contains(missing, pattern) {
				missing = append(missing, pattern)
			}
		}
	}
	sort.Strings(missing)
	for _, p := range missing {
		t.Errorf("the table of rooms names %s, which matches no room", p)
	}
}
