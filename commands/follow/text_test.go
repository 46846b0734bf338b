package follow

import (
	"strconv"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// The way out of a turn counts its calls and files; what an event left out it says.
func TestTheWayOutOfATurn(t *testing.T) {
	t.Parallel()
	files := func(from, n int) (out []event.Change) {
		for i := range n {
			out = append(out, event.Change{Path: strconv.Itoa(from + i)})
		}
		return out
	}
	for _, c := range []struct {
		calls [][]event.Change
		want  string
	}{
		{nil, ""},
		{[][]event.Change{nil}, ""},
		{[][]event.Change{files(0, 1)}, "fettle undo reverts 1 file"},
		{[][]event.Change{files(0, 2), files(1, 2)}, "fettle undo 2 reverts 3 files"},
		{[][]event.Change{files(0, workspace.MaxChanges), files(0, 1)}, "fettle undo 2 reverts 200 files or more"},
	} {
		v := &Text{}
		for _, changes := range c.calls {
			v.noteChanges(changes)
		}
		if got := v.wayOut(); got != c.want {
			t.Errorf("%d calls: %q, want %q", len(c.calls), got, c.want)
		}
	}
}
