package cas

import (
	"os"
	"testing"
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
		{name: "a new name", call: "ln a new", want: map[string]string{"a": "1", "d/b": "1", "e/c": "1", "new": "1"}},
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
