package commands

import (
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// noRuntime is said of a tool that nothing here can run.
const noRuntime = "this build of fettle has no runtime for Python tools"

// toolRunner gives what runs a tool of a toolset whose files lie in dir.
func (rt *runtime) toolRunner(manifest.Tool, string) (toolset.Runner, error) {
	return nil, fault.New(fault.Failed, noRuntime)
}
