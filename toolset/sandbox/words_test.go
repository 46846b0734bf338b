package sandbox

import (
	"testing"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox/supervisor"
)

// The supervisor has words of its own for what the launcher converts without a
// look.
func TestKeeperSpeaksTheSameLanguage(t *testing.T) {
	t.Parallel()
	for ours, theirs := range map[any]any{
		toolset.LevelNone:    toolset.Level(supervisor.None),
		toolset.LevelReduced: toolset.Level(supervisor.Reduced),
		toolset.LevelFull:    toolset.Level(supervisor.Full),
		toolset.NetworkNone:  toolset.Network(supervisor.NetworkNone),
		toolset.NetworkHosts: toolset.Network(supervisor.NetworkHosts),
		toolset.NetworkAll:   toolset.Network(supervisor.NetworkAll),
		toolset.MemoryOver:   toolset.Cause(supervisor.MemoryOver),
		toolset.ProcessOver:  toolset.Cause(supervisor.ProcessOver),
		toolset.Lost:         toolset.Cause(supervisor.Lost),
	} {
		if ours != theirs {
			t.Errorf("%v is %v to the keeper", ours, theirs)
		}
	}
}
