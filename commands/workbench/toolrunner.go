package workbench

import (
	"os"
	"time"

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

// permitted is what a manifest asks for, as the policy that it would get once
// the user has approved all of it.
func permitted(m *manifest.Manifest, home string) toolset.Policy {
	set := registry.MirrorToolset{Granted: m.Permissions}
	if len(m.Permissions.Network) > 0 {
		set.Network = toolset.NetworkHosts
	}
	return set.Policy(home, os.LookupEnv)
}

// limited is a policy with a tool's own time limit.
func limited(p toolset.Policy, timeout time.Duration) toolset.Policy {
	p.Limits.Time = timeout
	return p
}
