package commands

import (
	"context"
	"errors"
	"net/http"
	"os"
	goruntime "runtime"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/paths"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/builtin"
)

// tidyTime bounds what a command does for the store after it has answered.
const tidyTime = 200 * time.Millisecond

// runtime makes what commands need, when it is first asked for. It belongs to
// one run of the program.
type runtime struct {
	streams    *term.Streams
	jsonErrors bool // failures are JSON on standard error
	verbose    bool
	quiet      bool
	client     *http.Client
	engine     *engine.Engine
	dirs       func() (paths.Dirs, error)
}

func newRuntime(streams *term.Streams) *runtime {
	rt := &runtime{streams: streams}
	rt.dirs = sync.OnceValues(func() (paths.Dirs, error) {
		wd, err := os.Getwd()
		if err != nil {
			return paths.Dirs{}, fault.Wrap(fault.Failed, "find the current folder", err)
		}
		dirs, err := paths.Resolve(paths.System{OS: goruntime.GOOS, WorkDir: wd, Env: os.LookupEnv})
		if err != nil {
			return dirs, fault.Wrap(fault.Config, "find fettle's folders", err)
		}
		return dirs, nil
	})
	return rt
}

// config loads the configuration under the flags that were given.
func (rt *runtime) config(flags map[string]config.Flag) (*config.Config, error) {
	dirs, err := rt.dirs()
	if err != nil {
		return nil, err
	}
	wd, err := os.Getwd()
	if err != nil {
		return nil, fault.Wrap(fault.Failed, "find the current folder", err)
	}
	cfg, err := config.Load(config.Options{
		File: dirs.ConfigFile, Named: dirs.ConfigNamed, WorkDir: wd, Home: dirs.Home,
		Env: os.LookupEnv, Flags: flags,
	})
	if err != nil {
		return nil, err
	}
	mode, err := term.ParseColour(cfg.Color)
	if err != nil {
		return nil, fault.Wrap(fault.Usage, "--color", err)
	}
	rt.streams.SetColour(mode)
	for _, w := range cfg.Warnings {
		rt.notice(w.String())
	}
	return cfg, nil
}

// notice says something that isn't the result, unless -q wants quiet.
func (rt *runtime) notice(text string) {
	if !rt.quiet {
		rt.streams.Err.Printf("fettle: %s\n", term.Clean(text))
	}
}

// engineFor makes the engine with the providers of the configuration. wrap may
// put something around each provider, such as a recorder; nil leaves them.
func (rt *runtime) engineFor(cfg *config.Config, wrap func(provider.Provider) provider.Provider) (*engine.Engine, error) {
	dirs, err := rt.dirs()
	if err != nil {
		return nil, err
	}
	ring, err := rt.keyRing()
	if err != nil {
		return nil, err
	}
	rt.client = newClient()
	catalog, err := newCatalog(cfg, ring, rt.client, wrap)
	if err != nil {
		return nil, err
	}
	tools, err := toolset.NewSet(builtin.Entries(builtin.Options{})...)
	if err != nil {
		return nil, fault.Wrap(fault.Failed, "gather the builtin tools", err)
	}
	rt.engine = engine.New(engine.Options{
		DataDir: dirs.Data, Models: catalog, Tools: tools,
		Policy: engine.Policy{Deny: cfg.Deny, Allow: cfg.Allow, Ask: cfg.Ask},
		Retry:  provider.RetryOptions{Attempts: cfg.Retries + 1},
		Notice: rt.notice,
	})
	return rt.engine, nil
}

// finish lets go of what was made. What others wait for comes first: standard
// output ends, so that the next program of a pipeline can begin, and only then
// is the store tidied.
func (rt *runtime) finish() {
	if rt.engine == nil {
		return
	}
	_ = rt.streams.Out.Close() // every write was looked at already
	ctx, cancel := context.WithTimeout(context.Background(), 10*tidyTime)
	defer cancel()
	err := errors.Join(rt.engine.Tidy(ctx, tidyTime), rt.engine.Close())
	rt.client.CloseIdleConnections()
	if err != nil && rt.verbose {
		rt.notice("after the answer: " + err.Error())
	}
}
