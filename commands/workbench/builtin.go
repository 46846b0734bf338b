package workbench

import (
	"context"
	"os"
	"slices"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/keystore"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider/wire"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/builtin"
)

// builtinTools are the tools that come with fettle, as the configuration has
// them.
func builtinTools(cfg *config.Config, ring *keystore.Keys, launcher toolset.Launcher) (*toolset.Set, error) {
	policy, err := commandPolicy(cfg.RunCommand)
	if err != nil {
		return nil, err
	}
	o := builtin.Options{
		Policy: policy, Launcher: launcher,
		Commands: builtin.Commands{Time: cfg.RunCommand.Timeout, WriteGit: cfg.RunCommand.Git == "write"},
		Search: builtin.Search{
			Provider: cfg.Search.Provider, Address: cfg.Search.Address, HTTP: wire.Client(nil),
			Key: func(ctx context.Context) (string, error) { return ring.For(cfg.Keyed()["search"])(ctx) },
		},
	}
	if self, err := os.Executable(); err == nil {
		o.Web.Reader = []string{self, ReadCommand}
	}
	set, err := toolset.NewSet(builtin.Entries(o)...)
	if err != nil {
		return nil, fault.Wrap(fault.Failed, "gather the builtin tools", err)
	}
	return set, nil
}

// SearchReady refuses to offer web_search by its name where there is nobody to
// ask; nothing would come of it but the same words from the tool.
func SearchReady(cfg *config.Config, wanted []string) error {
	ready := builtin.Search{Provider: cfg.Search.Provider, Address: cfg.Search.Address}.Ready()
	if ready || !slices.Contains(wanted, "web_search") {
		return nil
	}
	return fault.New(fault.Usage, "web search isn't set up",
		fault.Run("fettle config set search.address http://127.0.0.1:8888   for a SearXNG"),
		fault.Run("fettle config set search.provider brave && fettle keys set search"))
}

// commandPolicy is what commands may reach beside the workspace.
func commandPolicy(c config.RunCommand) (toolset.Policy, error) {
	p := toolset.Policy{Readable: c.Readable, Hosts: c.Network.Hosts}
	switch {
	case c.Network.All:
		p.Network = toolset.NetworkAll
	case len(c.Network.Hosts) > 0:
		p.Network = toolset.NetworkHosts
	}
	switch c.Sandbox {
	case "full":
		p.Least = toolset.LevelFull
	case "none":
		p.Least = toolset.LevelNone
	default:
		p.Least = toolset.LevelReduced
	}
	for _, name := range c.Env {
		if err := toolset.CheckEnvName(name); err != nil {
			return p, commandFault(err)
		}
		if value, ok := os.LookupEnv(name); ok {
			p.Env = append(p.Env, name+"="+value)
		}
	}
	if err := p.Check(); err != nil {
		return p, commandFault(err)
	}
	return p, nil
}

func commandFault(err error) error {
	return fault.Wrap(fault.Config, "run_command", err, fault.Run("fettle config list   shows the settings of run_command"))
}

// ReadCommand is what the program is called with to read a page or a PDF for
// web_fetch, in a sandbox: see toolset/builtin/readable.
const ReadCommand = "__read"
