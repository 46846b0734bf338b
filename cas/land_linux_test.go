package cas

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// landingCase is one row of what a call and a user do to the same workspace.
type landingCase struct {
	name   string
	before func(b *bench) // after the state that the chat has, before the call
	call   string         // a shell script over the overlay
	user   func(b *bench) // while the call runs: after its last write, before the reading
	only   []string
	bound  bool

	conflicts []string          // "kind path"
	want      map[string]string // paths that differ from what the user has; "" is absent
	callHas   map[string]string // what Landing.Call has
	left      []string          // paths of LandingPlan.Unlanded
	leftOut   []string          // paths of LandingPlan.LeftOut
}

func write(name, content string) func(b *bench) {
	return func(b *bench) { b.write(name, content) }
}

// move renames a path of the workspace.
func (b *bench) move(from, to string) {
	b.t.Helper()
	if err := os.Rename(b.path(from), b.path(to)); err != nil {
		b.t.Fatal(err)
	}
}

// landingScene is the workspace in which each case starts.
func landingScene(b *bench) {
	for _, name := range []string{"a", "b", "d/x", "d/y", "d/sub/z", "e/f", "t/q"} {
		b.write(name, "old "+name)
	}
	b.mkdir("hollow")
	b.link("a", "link")
	b.settle()
}

func landingCases() []landingCase {
	return []landingCase{
		{name: "a write", call: "echo new > a", want: map[string]string{"a": "file new\n"}},
		{name: "a file opened for writing and left as it was", call: ": >> a; touch -c -r a a"},
		{name: "a removal", call: "rm a", want: map[string]string{"a": ""}},
		{name: "a save by rename", call: "echo new > .tmp; mv .tmp a", want: map[string]string{"a": "file new\n"}},
		{name: "a renamed file", call: "mv a c", want: map[string]string{"a": "", "c": "file old a"}},
		{name: "a removed folder", call: "rm -r d", want: map[string]string{"d": "", "d/x": "", "d/y": "", "d/sub": "", "d/sub/z": ""}},
		{name: "a replaced folder", call: "rm -r d; mkdir d; echo n > d/n", want: map[string]string{"d/n": "file n\n", "d/x": "", "d/y": "", "d/sub": "", "d/sub/z": ""}},
		{name: "a folder that becomes a file", call: "rm -r d; echo f > d", want: map[string]string{"d": "file f\n", "d/x": "", "d/y": "", "d/sub": "", "d/sub/z": ""}},
		{name: "a file that becomes a folder", call: "rm a; mkdir a; echo n > a/n", want: map[string]string{"a": "folder", "a/n": "file n\n"}},
		{name: "a link that becomes a file", call: "rm link; echo l > link", want: map[string]string{"link": "file l\n"}},
		{name: "a file that becomes a link", call: "rm b; ln -s a b", want: map[string]string{"b": "link a"}},
		{name: "an executable bit", call: "chmod 755 a", want: map[string]string{"a": "executable old a"}},
		{name: "permission bits", call: "chmod 600 a; chmod 700 d; chmod 2755 e; mkdir -m 1777 n", want: map[string]string{
			"a": "file(0600) old a", "d": "folder(0700)", "e": "folder(2755)", "n": "folder(1777)"}},
		{name: "permission bits that both changed", call: "chmod 600 a; chmod 700 d", user: func(b *bench) {
			_ = errors.Join(os.Chmod(b.path("a"), 0o640), os.Chmod(b.path("d"), 0o750))
		}, conflicts: []string{"edit/edit a", "edit/edit d"}},
		{name: "odd names", call: `echo n > 'new
line'; echo n > ' '; echo n > 'a:b\c,d'; mkdir .wh..opq; echo n > .wh.a`, want: map[string]string{
			"new\nline": "file n\n", " ": "file n\n", `a:b\c,d`: "file n\n", ".wh..opq": "folder", ".wh.a": "file n\n"}},
		{name: "a FIFO does not land", call: "mkfifo pipe; echo n > a", want: map[string]string{"a": "file n\n"}, left: []string{"pipe"}},
		{name: "a reserved name does not land", call: "mkdir " + stagePrefix + "x; echo n > a", want: map[string]string{"a": "file n\n"}, left: []string{stagePrefix + "x"}},
		{name: "an unreadable file and a closed folder", call: "echo s > s; chmod 0 s; mkdir c; echo n > c/n; chmod 555 c", want: map[string]string{"s": "file(0000) s\n", "c": "folder(0555)", "c/n": "file n\n"}},
		{name: "hard links made in the call", call: "echo h > h1; ln h1 h2; ln h1 d/h3", want: map[string]string{"h1": "file h\n", "h2": "file h\n", "d/h3": "file h\n"}},
		{name: "attributes that look like the kernel's", call: "echo n > a; setfattr -n user.overlay.opaque -v y d 2>/dev/null || true", want: map[string]string{"a": "file n\n"}},

		// The user edits while the call runs.
		{name: "edit and edit", call: "echo call > a", user: write("a", "user"), conflicts: []string{"edit/edit a"}, callHas: map[string]string{"a": "file call\n"}},
		{name: "edit and edit to the same content", call: "printf same > a", user: write("a", "same")},
		{name: "edit and touch", call: "echo call > a", user: func(b *bench) { now := time.Now(); _ = os.Chtimes(b.path("a"), now, now) }, want: map[string]string{"a": "file call\n"}},
		{name: "edit and removal", call: "echo call > a", user: func(b *bench) { b.remove("a") }, conflicts: []string{"edit/delete a"}, callHas: map[string]string{"a": "file call\n"}},
		{name: "removal and edit", call: "rm a", user: write("a", "user"), conflicts: []string{"delete/edit a"}, callHas: map[string]string{"a": ""}},
		{name: "removal and removal", call: "rm a", user: func(b *bench) { b.remove("a") }},
		{name: "addition and addition", call: "echo call > n", user: write("n", "user"), conflicts: []string{"add/add n"}, callHas: map[string]string{"n": "file call\n"}},
		{name: "the same addition", call: "printf same > n", user: write("n", "same")},
		{name: "an unchanged copy and an edit", call: ": >> a; echo n > b", user: write("a", "user"), want: map[string]string{"b": "file n\n"}},
		{name: "edits of different files in a folder", call: "echo call > d/x", user: write("d/y", "user"), want: map[string]string{"d/x": "file call\n"}},
		{name: "two additions to one folder", call: "echo call > d/n", user: write("d/m", "user"), want: map[string]string{"d/n": "file call\n"}},
		{name: "an edit in a removed folder", call: "rm -r d", user: write("d/x", "user"), conflicts: []string{"delete/edit d/x"},
			want: map[string]string{"d/y": "", "d/sub": "", "d/sub/z": ""}, callHas: map[string]string{"d": "", "d/x": ""}},
		{name: "a new file in a removed folder", call: "rm -r d", user: write("d/n", "user"), conflicts: []string{"delete/edit d/n"},
			want: map[string]string{"d/x": "", "d/y": "", "d/sub": "", "d/sub/z": ""}},
		{name: "an edit in a replaced folder", call: "rm -r d; mkdir d; echo n > d/n", user: write("d/sub/z", "user"),
			conflicts: []string{"whole folder d/n", "delete/edit d/sub/z", "whole folder d/x", "whole folder d/y"}, callHas: map[string]string{"d/n": "file n\n", "d/x": ""}},
		{name: "an edit in a folder that becomes a file", call: "rm -r d; echo f > d", user: write("d/x", "user"),
			conflicts: []string{"whole folder d", "whole folder d/sub", "whole folder d/sub/z", "delete/edit d/x", "whole folder d/y"}, callHas: map[string]string{"d": "file f\n"}},
		{name: "a folder that the user removed", call: "echo call > d/x", user: func(b *bench) { b.remove("d") },
			conflicts: []string{"parent gone d/x"}, callHas: map[string]string{"d/x": "file call\n"}},
		{name: "a folder that the user renamed", call: "echo call > d/x", user: func(b *bench) { b.move("d", "moved") },
			conflicts: []string{"parent gone d/x"}},
		{name: "a folder that was exchanged for another one", call: "echo call > d/x; rm e/f",
			user: func(b *bench) {
				b.move("d", "moved")
				b.move("t", "d")
			},
			want: map[string]string{"e/f": ""}, conflicts: []string{"edit/delete d/x"}},
		{name: "a file that the user made a folder", call: "echo call > a", user: func(b *bench) { b.remove("a"); b.write("a/in", "user") },
			conflicts: []string{"type a"}, callHas: map[string]string{"a": "file call\n"}},
		{name: "a file that the user made a link", call: "echo call > a", user: func(b *bench) { b.remove("a"); b.link("b", "a") },
			conflicts: []string{"type a"}},
		{name: "a new folder where the user made a file", call: "mkdir n; echo call > n/x", user: write("n", "user"),
			conflicts: []string{"type n"}, callHas: map[string]string{"n": "folder", "n/x": "file call\n"}},
		{name: "a new folder that both made", call: "mkdir n; echo call > n/x; echo call > n/y", user: write("n/x", "user"),
			conflicts: []string{"add/add n/x"}, want: map[string]string{"n/y": "file call\n"}},

		// The user edited before the call: that is what the call saw.
		{name: "an edit before the call", before: write("a", "user"), call: "echo more >> a", want: map[string]string{"a": "file usermore\n"}},
		{name: "a file of before the call that the state doesn't have", before: write("n/m", "user"), call: "echo more >> n/m; echo n > n/o",
			want: map[string]string{"n/m": "file usermore\n", "n/o": "file n\n"}},
		{name: "a removal before the call", before: func(b *bench) { b.remove("a") }, call: "echo call > a", want: map[string]string{"a": "file call\n"}},

		// Parts of a plan.
		{name: "only some paths", call: "echo 1 > a; echo 2 > b; mkdir -p n/m; echo 3 > n/m/x; echo 4 > n/y", only: []string{"a", "n/m/x"},
			want: map[string]string{"a": "file 1\n", "n": "folder", "n/m": "folder", "n/m/x": "file 3\n"}, callHas: map[string]string{"b": "file 2\n", "n/y": "file 4\n"}},
		{name: "nothing at all", call: "echo 1 > a", only: []string{}, callHas: map[string]string{"a": "file 1\n"}},
		{name: "only a part of a replaced folder", call: "rm -r d; mkdir d; echo n > d/n; echo 1 > a", only: []string{"d/n"},
			want: map[string]string{"d/n": "file n\n", "d/x": "", "d/y": "", "d/sub": "", "d/sub/z": ""}},
		{name: "only the removal of one file of a removed folder", call: "rm -r d", only: []string{"d/x"}, want: map[string]string{"d/x": ""}},
		{name: "only the permission bits of a folder", call: "chmod 700 d; echo n > d/x; rm d/y; echo n > d/n", only: []string{"d"}, want: map[string]string{"d": "folder(0700)"}},
		{name: "only what states leave out", bound: true,
			before: func(b *bench) { b.write("package.json", "{}"); b.write("node_modules/m/i", "1"); b.settle() },
			call:   "echo 2 > node_modules/m/i; echo n > node_modules/n; echo 1 > a", only: []string{"node_modules"},
			want: map[string]string{"node_modules/m/i": "file 2\n", "node_modules/n": "file n\n"}, leftOut: []string{"node_modules"}},
		{name: "only one name of a file", call: "echo h > h1; ln h1 h2; echo 1 > a", only: []string{"h2"}, want: map[string]string{"h1": "file h\n", "h2": "file h\n"}},

		// What states leave out lands all the same.
		{name: "installed modules", bound: true, call: "echo {} > package.json; mkdir -p node_modules/m; echo m > node_modules/m/i",
			want: map[string]string{"package.json": "file {}\n", "node_modules": "folder", "node_modules/m": "folder", "node_modules/m/i": "file m\n"}, leftOut: []string{"node_modules"}},
		{name: "modules in a new folder", bound: true, call: "mkdir p; echo {} > p/package.json; mkdir -p p/node_modules/m; echo m > p/node_modules/m/i",
			want: map[string]string{"p": "folder", "p/package.json": "file {}\n", "p/node_modules": "folder", "p/node_modules/m": "folder", "p/node_modules/m/i": "file m\n"}, leftOut: []string{"p/node_modules"}},
		{name: "changed modules", bound: true,
			before: func(b *bench) {
				b.write("package.json", "{}")
				b.write("node_modules/m/i", "1")
				b.write("node_modules/m/j", "1")
				b.settle()
			},
			call: "echo 2 > node_modules/m/i; rm node_modules/m/j; mkdir node_modules/n; echo n > node_modules/n/i",
			want: map[string]string{"node_modules/m/i": "file 2\n", "node_modules/m/j": "", "node_modules/n": "folder", "node_modules/n/i": "file n\n"}, leftOut: []string{"node_modules"}},
		{name: "modules installed again", bound: true,
			before: func(b *bench) { b.write("package.json", "{}"); b.write("node_modules/m/i", "1"); b.settle() },
			call:   "rm -r node_modules; mkdir -p node_modules/n; echo n > node_modules/n/i",
			want:   map[string]string{"node_modules/m": "", "node_modules/m/i": "", "node_modules/n": "folder", "node_modules/n/i": "file n\n"}, leftOut: []string{"node_modules"}},
		{name: "removed modules", bound: true,
			before: func(b *bench) { b.write("package.json", "{}"); b.write("node_modules/m/i", "1"); b.settle() },
			call:   "rm -r node_modules", want: map[string]string{"node_modules": "", "node_modules/m": "", "node_modules/m/i": ""}, leftOut: []string{"node_modules"}},
		{name: "an edit in modules that are installed again", bound: true,
			before: func(b *bench) { b.write("package.json", "{}"); b.write("node_modules/m/i", "1"); b.settle() },
			call:   "rm -r node_modules; mkdir -p node_modules/n", user: write("node_modules/m/i", "user"), conflicts: []string{"edit/edit node_modules"}},
		{name: "an edit in changed modules", bound: true,
			before: func(b *bench) { b.write("package.json", "{}"); b.write("node_modules/m/i", "1"); b.settle() },
			call:   "echo 2 > node_modules/m/i", user: write("node_modules/m/i", "user"), conflicts: []string{"edit/edit node_modules/m/i"}},
	}
}

// TestWhatACallAndAUserChange compares what lands with the rule, for each way in which a
// call and the user can change the same.
func TestWhatACallAndAUserChange(t *testing.T) {
	t.Parallel()
	for _, c := range landingCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := landingBench(t)
			b.ws.Bound = c.bound
			landingScene(b)
			parent := b.snap()
			if c.before != nil {
				c.before(b)
				b.settle()
			}
			if c.bound {
				parent = b.snap()
			}
			call := b.call(c.call).run()
			if c.user != nil {
				c.user(b)
			}
			checkLanding(t, b, c, call, parent)
		})
	}
}

func checkLanding(t *testing.T, b *bench, c landingCase, call *overlayCall, parent *Manifest) {
	t.Helper()
	found := b.look()
	plan := call.plan()
	if diff := cmp.Diff(found, b.look()); diff != "" {
		t.Fatalf("reading a layer changed the workspace:\n%s", diff)
	}
	o := landOptions(parent)
	o.Only = c.only
	got, err := b.s.Land(t.Context(), b.ws, plan, o)
	if err != nil {
		t.Fatal(err)
	}
	var conflicts, left, leftOut []string
	for _, x := range got.Conflicts {
		conflicts = append(conflicts, string(x.Kind)+" "+x.Path)
	}
	for _, x := range plan.Unlanded {
		left = append(left, x.Path)
	}
	for _, x := range got.LeftOut {
		leftOut = append(leftOut, x.Path)
	}
	for _, d := range []string{cmp.Diff(c.conflicts, conflicts), cmp.Diff(c.left, left), cmp.Diff(c.leftOut, leftOut)} {
		if d != "" {
			t.Errorf("reported (-want +got):\n%s", d)
		}
	}
	want := map[string]string{}
	for p, v := range found {
		want[p] = v
	}
	for p, v := range c.want {
		if want[p] = v; v == "" {
			delete(want, p)
		}
	}
	if diff := cmp.Diff(want, b.look()); diff != "" {
		t.Fatalf("workspace (-want +got):\n%s", diff)
	}
	if (len(c.conflicts) > 0 || c.only != nil) != (got.Call != nil) {
		t.Fatalf("the call's version is %v", got.Call)
	}
	if got.Call != nil {
		has := b.entries(got.Call.Root)
		for p, v := range c.callHas {
			if has[p] != v {
				t.Errorf("the call's version has %q as %q, want %q", p, has[p], v)
			}
		}
	}
	checkUndo(t, b, got, found, c.bound)
	b.mustBeSound()
}

// checkUndo checks what a landing recorded: the folder, and that the state before brings
// back what was found.
func checkUndo(t *testing.T, b *bench, got *Landing, found map[string]string, partly bool) {
	t.Helper()
	var touched []string
	for _, c := range got.Changes {
		touched = append(touched, c.Path)
	}
	now, has := b.look(), b.entries(got.After.Root)
	for _, p := range touched {
		if has[p] != now[p] && !strings.HasPrefix(has[p], "failed") {
			t.Errorf("the state has %q as %q, and the folder as %q", p, has[p], now[p])
		}
	}
	if partly || len(touched) == 0 {
		return
	}
	b.restore(got.Before, RestoreOptions{Paths: touched, Exact: true})
	if diff := cmp.Diff(found, b.look()); diff != "" {
		t.Errorf("undone (-want +got):\n%s", diff)
	}
}

// TestACallThatReadsWhileAUserEdits follows the table of what a call sees.
func TestACallThatReadsWhileAUserEdits(t *testing.T) {
	t.Parallel()
	b := landingBench(t)
	landingScene(b)
	parent := b.snap()
	call := b.call(`read x; cat a > seen; echo more >> a; cat b > /dev/null; echo call > b; read x; echo again >> b; echo n > d/n; echo done`)
	in, err := call.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := call.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b.write("a", "user ") // the call reads it, and copies it up
	_, err = in.Write([]byte("x\n"))
	waitFor(t, func() bool { got, _ := os.ReadFile(call.layer + "/upper/b"); return string(got) == "call\n" })
	b.write("b", "user") // the call keeps its own
	_, werr := in.Write([]byte("x\n"))
	if err = errors.Join(err, werr, in.Close(), call.cmd.Wait()); err != nil {
		t.Fatalf("%v: %s", err, call.out.String())
	}
	got := call.land(parent)
	var kinds []string
	for _, c := range got.Conflicts {
		kinds = append(kinds, fmt.Sprint(c.Kind, " ", c.Path))
	}
	slices.Sort(kinds)
	if diff := cmp.Diff([]string{"edit/edit a", "edit/edit b"}, kinds); diff != "" {
		t.Errorf("conflicts (-want +got):\n%s", diff)
	}
	look := b.look()
	for p, v := range map[string]string{"a": "file user ", "b": "file user", "seen": "file user ", "d/n": "file n\n"} {
		if look[p] != v {
			t.Errorf("%s is %q, want %q", p, look[p], v)
		}
	}
	has := b.entries(got.Call.Root)
	if has["a"] != "file user more\n" || has["b"] != "file call\nagain\n" {
		t.Errorf("the call's version has %q and %q", has["a"], has["b"])
	}
}

// waitFor waits until a condition holds.
func waitFor(t testing.TB, ok func() bool) {
	t.Helper()
	limit := time.After(childPatience)
	for !ok() {
		select {
		case <-limit:
			t.Fatal("it does not come about")
		case <-time.After(time.Millisecond):
		}
	}
}

// TestACallOfAnOrdinaryUserLands repeats what permission bits decide as a user whom they
// bind. It lists each path with its bits, a folder ahead of what is in it.
func TestACallOfAnOrdinaryUserLands(t *testing.T) {
	asNobody(t)
	type bits struct {
		path string
		mode os.FileMode
		text string // of a file
	}
	for _, c := range []struct {
		name, call string
		before     func(b *bench)
		want       []bits
		gone       []string
	}{
		{name: "files and folders without any permission",
			call: "echo s > s; chmod 0 s; mkdir c; echo n > c/n; chmod 0 c; mkdir -p r/s; echo n > r/s/n; chmod 555 r/s r",
			want: []bits{{"s", 0, "s\n"}, {"c", 0, ""}, {"c/n", 0o644, "n\n"}, {"r", 0o555, ""}, {"r/s", 0o555, ""}, {"r/s/n", 0o644, "n\n"}}},
		{name: "a folder that is replaced by a closed one", call: "rm -r d; mkdir d; echo n > d/n; chmod 500 d",
			want: []bits{{"d", 0o500, ""}, {"d/n", 0o644, "n\n"}}, gone: []string{"d/x", "d/y", "d/sub"}},
		{name: "changes in a read-only folder", before: func(b *bench) { _ = os.Chmod(b.path("d"), 0o555) },
			call: "chmod 755 d; echo n > d/x; rm d/y; chmod 555 d", want: []bits{{"d", 0o555, ""}, {"d/x", 0o644, "n\n"}}, gone: []string{"d/y"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := landingBench(t)
			landingScene(b)
			if c.before != nil {
				c.before(b)
				b.settle()
			}
			parent := b.snap()
			call := b.call("umask 022; " + c.call).run()
			first := call.plan() // a second reading finds the bits that the first one widened
			first.Close()
			got := call.land(parent)
			if len(got.Conflicts)+len(got.Left) > 0 {
				t.Fatalf("conflicts %v, left %v", got.Conflicts, got.Left)
			}
			for _, w := range c.want {
				info, err := os.Lstat(b.path(w.path))
				if err != nil || info.Mode().Perm() != w.mode {
					t.Fatalf("%s: %v, %v, want %04o", w.path, info, err, w.mode)
				}
				if err := os.Chmod(b.path(w.path), 0o755); err != nil {
					t.Fatal(err)
				}
				if text, err := os.ReadFile(b.path(w.path)); w.text != "" && (err != nil || string(text) != w.text) {
					t.Errorf("%s has %q, %v", w.path, text, err)
				}
			}
			for _, p := range c.gone {
				if _, err := os.Lstat(b.path(p)); err == nil {
					t.Errorf("%s is still there", p)
				}
			}
		})
	}
}
