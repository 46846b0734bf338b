package commands

import (
	"os"
	"time"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// toolRunner gives what runs a tool of a toolset that isn't installed, whose
// files lie in dir: its author's, under test. It may reach what its manifest
// asks for, as it could once the user has approved that.
func (rt *runtime) toolRunner(m *manifest.Manifest, t manifest.Tool, dir string) (toolset.Runner, error) {
	if rt.toolbox == nil {
		cfg, err := rt.config(nil)
		if err != nil {
			return nil, err
		}
		dirs, err := rt.dirs()
		if err != nil {
			return nil, err
		}
		rt.toolbox = newToolbox(rt, cfg, dirs)
	}
	return rt.toolbox.authored(m, t, dir)
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
