//go:build !linux

package sandbox

import (
	"runtime"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox/supervisor"
)

// word says what holds here. Nothing has to be found out for it.
func (l *Launcher) word(supervisor.Facts) Report {
	r := Report{
		Level:  toolset.LevelNone,
		Layers: []string{"no containment, which fettle has on Linux alone"},
		Gaps:   []string{"tools can reach all that you can, your other programs included; what doesn't resist ends with its call"},
	}
	if runtime.GOOS != "windows" {
		r.Gaps = append(r.Gaps, "a tool's process that leaves its group and its parent at once lives on")
	}
	return r
}
