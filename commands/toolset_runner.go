package commands

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
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

// permitted is what a manifest asks for, as a policy.
func permitted(m *manifest.Manifest, home string) toolset.Policy {
	p := toolset.Policy{Hosts: m.Permissions.Network}
	if len(p.Hosts) > 0 {
		p.Network = toolset.NetworkHosts
	}
	for _, read := range m.Permissions.Read {
		if rest, below := strings.CutPrefix(read, "~/"); below {
			read = filepath.Join(home, filepath.FromSlash(rest))
		}
		p.Readable = append(p.Readable, filepath.Clean(read))
	}
	for _, name := range m.Permissions.Env {
		if value, set := os.LookupEnv(name); set {
			p.Env = append(p.Env, name+"="+value)
		}
	}
	return p
}

// limited is a policy with a tool's own time limit.
func limited(p toolset.Policy, timeout time.Duration) toolset.Policy {
	p.Limits.Time = timeout
	return p
}
