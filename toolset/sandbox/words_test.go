package sandbox

import (
	"testing"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox/keeper"
)

// The keeper has words of its own for what the launcher converts without a
// look.
func TestKeeperSpeaksTheSameLanguage(t *testing.T) {
	t.Parallel()
	for ours, theirs := range map[any]any{
		toolset.LevelNone:    toolset.Level(keeper.None),
		toolset.LevelReduced: toolset.Level(keeper.Reduced),
		toolset.LevelFull:    toolset.Level(keeper.Full),
		toolset.NetworkNone:  toolset.Network(keeper.NetworkNone),
		toolset.NetworkHosts: toolset.Network(keeper.NetworkHosts),
		toolset.NetworkAll:   toolset.Network(keeper.NetworkAll),
		toolset.MemoryOver:   toolset.Cause(keeper.MemoryOver),
		toolset.ProcessOver:  toolset.Cause(keeper.ProcessOver),
		toolset.Lost:         toolset.Cause(keeper.Lost),
	} {
		if ours != theirs {
			t.Errorf("%v is %v to the keeper", ours, theirs)
		}
	}
}
