package engine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
)

// TestNothingOfTheUsersIsChangedUnaskedWithLayers is the walk with calls that run in the
// sandbox, each over an overlay: also what the user saves while a call runs stays.
func TestNothingOfTheUsersIsChangedUnaskedWithLayers(t *testing.T) {
	t.Parallel()
	seeds, steps := 3, 12
	if os.Getenv("FETTLE_TEST_LONG") != "" {
		seeds, steps = 60, 40
	}
	for _, bound := range []bool{false, true} {
		for seed := range seeds {
			t.Run(fmt.Sprintf("bound %t/%d", bound, seed), func(t *testing.T) {
				t.Parallel()
				layeredWalker(t, bound, seed).walk(steps)
			})
		}
	}
}

func layeredWalker(t *testing.T, bound bool, seed int) *walker {
	w := &walker{bench: layeredBench(t), rnd: rand.New(rand.NewPCG(uint64(seed), 7)), hers: map[string]string{}, bound: bound}
	dir := ""
	if bound {
		dir = t.TempDir()
		save(t, dir, "d/c", "the user's from the start")
		w.hers["d/c"] = "the user's from the start"
	}
	completed(t, w.run(command(dir, "echo ground > a")))
	w.dir = w.WorkspacePath(w.chat(1).Chat)
	line := func(c folderChange) string {
		line := fmt.Sprintf("mkdir -p d; printf %%s '%s' > %s", c.content, c.name)
		if c.rm != "" {
			line += "; rm -f " + c.rm
		}
		return line
	}
	w.turn = func(c folderChange) TurnRequest { return next(command("", line(c))) }
	w.during = func(c folderChange, do func()) event.ToolComplete {
		w.hers["go"] = "yes" // what the user lets the call continue by
		return w.bench.during(t, w.dir, line(c), do)
	}
	return w
}
