package cas

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestACallThatWritesOneNameOfAFile covers which names have what the call wrote, and which
// are one file, once that has landed and once it is undone.
func TestACallThatWritesOneNameOfAFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, call string
		outside    bool
		user       func(b *bench)
		want       map[string]string // what the names have
		one        [][]string        // those that are one file
		left       int
	}{
		{name: "in place", call: "echo new >> a", want: map[string]string{"a": "1new\n", "d/b": "1new\n", "e/c": "1new\n"}, one: [][]string{{"a", "d/b", "e/c"}}},
		{name: "a mode", call: "chmod 600 d/b", want: map[string]string{"a": "1", "d/b": "1", "e/c": "1"}, one: [][]string{{"a", "d/b", "e/c"}}},
		{name: "by renaming", call: "cp a .tmp; echo new >> .tmp; mv .tmp a", want: map[string]string{"a": "1new\n", "d/b": "1new\n", "e/c": "1new\n"}, one: [][]string{{"a", "d/b", "e/c"}}},
		{name: "by moving another file", call: "mv other a", want: map[string]string{"a": "other", "d/b": "1", "e/c": "1"}, one: [][]string{{"d/b", "e/c"}}, left: 1},
		{name: "with a name outside", call: "echo new >> a", outside: true, want: map[string]string{"a": "1new\n", "d/b": "1", "e/c": "1"}, one: [][]string{{"d/b", "e/c"}}, left: 1},
		{name: "two names", call: "echo x >> a; echo y >> d/b", want: map[string]string{"a": "1x\n", "d/b": "1y\n", "e/c": "1"}, left: 2},
		{name: "a new name", call: "ln a new", want: map[string]string{"a": "1", "d/b": "1", "e/c": "1", "new": "1"}, one: [][]string{{"a", "d/b", "e/c", "new"}}},
		{name: "a new name, then a write", call: "ln d/b new; echo new >> d/b", want: map[string]string{"a": "1new\n", "d/b": "1new\n", "e/c": "1new\n", "new": "1new\n"},
			one: [][]string{{"a", "d/b", "e/c", "new"}}},
		{name: "a new name in place of one", call: "ln other new; ln -f other d/b", want: map[string]string{"a": "1", "d/b": "other", "e/c": "1", "new": "other", "other": "other"},
			one: [][]string{{"a", "e/c"}, {"other", "new", "d/b"}}, left: 1},
		{name: "a new name with one outside", call: "ln a new", outside: true, want: map[string]string{"a": "1", "new": "1"}, one: [][]string{{"a", "d/b", "e/c", "new"}}},
		{name: "a new name and a write with one outside", call: "ln a new; echo new >> new", outside: true,
			want: map[string]string{"a": "1new\n", "new": "1new\n", "d/b": "1"}, one: [][]string{{"a", "new"}, {"d/b", "e/c"}}, left: 1},
		{name: "a mode with a name outside", call: "chmod 600 other", want: map[string]string{"other": "other"}, outside: true},
		{name: "all names at once", call: "for n in a d/b e/c; do ln -f other $n; done", want: map[string]string{"a": "other", "d/b": "other", "e/c": "other", "other": "other"},
			one: [][]string{{"other", "a", "d/b", "e/c"}}},
		{name: "parted by the user", call: "echo new >> a", user: func(b *bench) { b.replace("e/c", "mine") },
			want: map[string]string{"a": "1new\n", "d/b": "1", "e/c": "mine"}, left: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := landingBench(t)
			b.write("a", "1")
			b.hardLink("a", "d/b")
			b.hardLink("a", "e/c")
			b.write("other", "other")
			if c.outside {
				if err := os.Link(b.path("a"), b.ws.Path+"-outside"); err != nil {
					t.Fatal(err)
				}
			}
			b.settle()
			parent := b.snap()
			call := b.call(c.call).run()
			if c.user != nil {
				c.user(b)
			}
			got := call.land(parent)
			if len(got.Conflicts) > 0 || len(got.Left) != c.left {
				t.Errorf("conflicts %v, left %v", got.Conflicts, got.Left)
			}
			for name, want := range c.want {
				b.oneFile(true, want, name)
			}
			for _, names := range c.one {
				b.oneFile(true, c.want[names[0]], names...)
			}
			after := b.snapshot(SnapshotOptions{Parent: got.After})
			if c.user == nil && after.New {
				t.Errorf("the folder has another state than recorded: %v", b.diffText(got.After.Root, after.Manifest.Root))
			}
			if c.user != nil {
				return
			}
			b.restore(parent, RestoreOptions{Active: after.Manifest})
			b.oneFile(true, "1", "a", "d/b", "e/c")
			b.mustBeSound()
		})
	}
}

// TestACallThatLinksFiles covers names that a call gives to files of the workspace: they are
// one file, which is the workspace's own where the call did not change it.
func TestACallThatLinksFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, call string
		bound      bool
		user       func(b *bench)
		want       map[string]string
		one        [][]string
		own        []string // files of the workspace that keep their inode
		apart      []string // names that are files of their own
	}{
		{name: "an unchanged file", call: "ln a b", want: map[string]string{"a": "1", "b": "1"}, one: [][]string{{"a", "b"}}, own: []string{"a"}},
		{name: "in new folders", call: "mkdir -p n/m; ln a n/b; ln a n/m/c; ln d/x e", want: map[string]string{"a": "1", "d/x": "2"},
			one: [][]string{{"a", "n/b", "n/m/c"}, {"d/x", "e"}}, own: []string{"a", "d/x"}},
		{name: "a whole folder", call: "cp -rl d copy", want: map[string]string{"d/x": "2", "d/y": "3"}, one: [][]string{{"d/x", "copy/x"}, {"d/y", "copy/y"}}, own: []string{"d/x", "d/y"}},
		{name: "and a write through the new name", call: "ln a b; echo w >> b", want: map[string]string{"a": "1w\n"}, one: [][]string{{"a", "b"}}},
		{name: "and a write through the old name", call: "ln a b; echo w >> a", want: map[string]string{"a": "1w\n"}, one: [][]string{{"a", "b"}}},
		{name: "and a mode", call: "ln a b; chmod 600 b", want: map[string]string{"a": "1"}, one: [][]string{{"a", "b"}}},
		{name: "and the old name goes", call: "ln a b; ln a c; rm a", want: map[string]string{"b": "1"}, one: [][]string{{"b", "c"}}},
		{name: "and the new name is saved by renaming", call: "ln a b; echo w > t; mv t b", want: map[string]string{"a": "1", "b": "w\n"}, own: []string{"a"}, apart: []string{"a", "b"}},
		{name: "in place of another file", call: "ln -f a d/x", want: map[string]string{"a": "1"}, one: [][]string{{"a", "d/x"}}, own: []string{"a"}},
		{name: "a private file", call: "ln secret b", want: map[string]string{"secret": "s"}, one: [][]string{{"secret", "b"}}, own: []string{"secret"}},
		{name: "the user wrote the file", call: "ln a b; ln a c", user: func(b *bench) { b.write("a", "mine") }, want: map[string]string{"a": "mine", "b": "1"},
			one: [][]string{{"b", "c"}}, own: []string{"a"}, apart: []string{"a", "b"}},
		{name: "the user wrote a copy", call: "ln a b", user: func(b *bench) { b.replace("a", "1") }, want: map[string]string{"a": "1"}, one: [][]string{{"a", "b"}}},
		{name: "the user removed the file", call: "ln a b; ln a c", user: func(b *bench) { b.remove("a") }, want: map[string]string{"b": "1"}, one: [][]string{{"b", "c"}}},
		{name: "a file that states leave out", bound: true, call: "ln node_modules/m b; ln a node_modules/n", want: map[string]string{"node_modules/m": "m", "a": "1"},
			one: [][]string{{"node_modules/m", "b"}, {"a", "node_modules/n"}}, own: []string{"a", "node_modules/m"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := landingBench(t)
			b.ws.Bound = c.bound
			for name, content := range map[string]string{"a": "1", "d/x": "2", "d/y": "3", "secret": "s", "package.json": "{}", "node_modules/m": "m"} {
				b.write(name, content)
			}
			if err := os.Chmod(b.path("secret"), 0o600); err != nil {
				t.Fatal(err)
			}
			b.settle()
			parent := b.snap()
			was := make(map[string]os.FileInfo)
			for _, name := range c.own {
				was[name], _ = os.Stat(b.path(name))
			}
			call := b.call(c.call).run()
			if c.user != nil {
				c.user(b)
			}
			found := b.look()
			got := call.land(parent)
			if len(got.Conflicts) > 0 || len(got.Left) > 0 {
				t.Errorf("conflicts %v, left %v", got.Conflicts, got.Left)
			}
			for name, want := range c.want {
				b.oneFile(true, want, name)
			}
			for _, names := range c.one {
				b.oneFile(true, c.want[names[0]], names...)
			}
			for i := 1; i < len(c.apart); i++ {
				b.oneFile(true, c.want[c.apart[i]], c.apart[i])
				if one(t, b.path(c.apart[0]), b.path(c.apart[i])) {
					t.Errorf("%s and %s are one file", c.apart[0], c.apart[i])
				}
			}
			for name, info := range was {
				if now, err := os.Stat(b.path(name)); err != nil || c.user == nil && !os.SameFile(info, now) {
					t.Errorf("%s is another file: %v", name, err)
				}
			}
			after := b.snapshot(SnapshotOptions{Parent: got.After})
			if after.New {
				t.Errorf("the folder has another state than recorded: %v", b.diffText(got.After.Root, after.Manifest.Root))
			}
			// Back to what was found, and again to what has landed: the names are one file again.
			b.restore(got.Before, RestoreOptions{Active: got.After})
			if !c.bound {
				if diff := cmp.Diff(found, b.look()); diff != "" {
					t.Errorf("undone (-want +got):\n%s", diff)
				}
			}
			b.restore(got.After, RestoreOptions{Active: got.Before})
			for _, names := range c.one {
				if !c.bound {
					b.oneFile(true, c.want[names[0]], names...)
				}
			}
			b.mustBeSound()
		})
	}
}

// one reports whether two paths are one file.
func one(t *testing.T, p, q string) bool {
	t.Helper()
	a, err := os.Stat(p)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.Stat(q)
	if err != nil {
		t.Fatal(err)
	}
	return os.SameFile(a, b)
}
