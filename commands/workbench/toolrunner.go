package workbench

import (
	"os"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/check"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// ToolRunner gives what runs tools of a toolset that isn't installed: its
// author's, under test. They may reach what the manifest asks for, as they could
// once the user has approved that.
func (rt *Runtime) ToolRunner() (check.RunnerFor, error) {
	cfg, err := rt.Config(nil)
	if err != nil {
		return nil, err
	}
	dirs, err := rt.Dirs()
	if err != nil {
		return nil, err
	}
	rt.toolbox = NewToolbox(rt, cfg, dirs)
	return rt.toolbox.Authored, nil
}

// permitted returns the policy that a tool would get once the user has approved all that
// its manifest asks for.
func permitted(m *manifest.Manifest, t manifest.Tool, home string) toolset.Policy {
	set := registry.MirrorToolset{Granted: m.Permissions}
	if len(m.Permissions.Network) > 0 {
		set.Network = toolset.NetworkHosts
	}
	return set.PolicyFor(t.Record(m.ID), home, os.LookupEnv)
}
