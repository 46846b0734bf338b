package commands

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/otlp"
	"github.com/fettle-cli/fettle/internal/paths"
	"github.com/fettle-cli/fettle/server/client"
	"github.com/fettle-cli/fettle/toolset/mcp"
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
	profile    *string // of --profile; nil where the flag wasn't given
	client     *http.Client
	engine     *engine.Engine
	spans      *otlp.Exporter // nil where nobody asked for any
	toolbox    *toolbox       // of the engine
	oneCall    bool           // of a tool; no second one follows
	signIn     *mcp.SignIn    // at MCP servers; nil where nobody can
	answering  bool           // its clients may show forms
	scratch    string         // a folder to remove at the end; "" where there is none
	hold       bool           // the store, for the engine's whole life
	log        *slog.Logger   // of a server; nil in other commands
	sharing    *client.Sharing
	turns      client.Turns   // who was asked last
	closers    []func()       // of what answers elsewhere
	lent       *engine.Engine // that of the chat which a command runs in; nil makes one
	// approve asks in a chat's own way about a call; nil, or false, leaves it to
	// the terminal.
	approve func(context.Context, engine.TurnID, event.ConfirmRequest) (bool, error)
	// page is that of a chat which draws. Runtimes are copied, and share it.
	page *atomic.Pointer[drawn]
	dirs func() (paths.Dirs, error)
}

// drawn is a page on a terminal. What is told outside of it, by an engine that was
// made before say, has to go through it, or it would be drawn over.
type drawn struct{ outside, inside *term.Streams }

func newRuntime(streams *term.Streams) *runtime {
	rt := &runtime{streams: streams, page: new(atomic.Pointer[drawn])}
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

// configSources are all places that the configuration is read from; flags are
// those that were given, and may be nil. A profile that was chosen is added.
func (rt *runtime) configSources(flags map[string]config.Flag) (config.Options, error) {
	dirs, err := rt.dirs()
	if err != nil {
		return config.Options{}, err
	}
	wd, err := os.Getwd()
	if err != nil {
		return config.Options{}, fault.Wrap(fault.Failed, "find the current folder", err)
	}
	if rt.profile != nil {
		given := map[string]config.Flag{"profile": {Name: "--profile", Values: []string{*rt.profile}}}
		maps.Copy(given, flags)
		flags = given
	}
	return config.Options{
		File: dirs.ConfigFile, Named: dirs.ConfigNamed, WorkDir: wd, Home: dirs.Home,
		Env: os.LookupEnv, Flags: flags, Trusted: trustStore(dirs).Project,
	}, nil
}

// config loads the configuration of all sources, and says its warnings.
func (rt *runtime) config(flags map[string]config.Flag) (*config.Config, error) {
	o, err := rt.configSources(flags)
	if err != nil {
		return nil, err
	}
	cfg, err := config.Load(o)
	if err != nil {
		return nil, editHint(err, o.File)
	}
	mode, err := term.ParseColour(cfg.Color)
	if err != nil {
		return nil, fault.Wrap(fault.Usage, "--color", err)
	}
	if rt.lent == nil { // a chat has set it, and draws meanwhile
		rt.streams.SetColour(mode)
	}
	for _, w := range cfg.Warnings {
		rt.notice(w.String())
	}
	return cfg, nil
}

// profileWords are the flag as it was given, for a command line in a hint.
func (rt *runtime) profileWords() string {
	if rt.profile == nil {
		return ""
	}
	return " --profile " + shellWord(*rt.profile)
}

// editHint adds the next step to a fault about the user's own file.
func editHint(err error, file string) error {
	var f *fault.Fault
	var broken *config.Error
	if errors.As(err, &f) && len(f.Hints) == 0 && errors.As(err, &broken) &&
		slices.ContainsFunc(broken.Problems, func(p config.Problem) bool { return p.File == file && p.Line > 0 }) {
		f.Hints = []string{"fettle config edit"}
	}
	return err
}

// inProfile is the flag --profile of commands that read the configuration.
// Given but empty it chooses none, whatever else chooses one.
func (rt *runtime) inProfile(category string) cli.Flag {
	return &cli.StringFlag{
		Name: "profile", Category: category, Usage: "go by the profile `NAME` of the configuration",
		Action: func(_ *cli.Context, name string) error {
			rt.profile = &name
			return nil
		},
	}
}

// notice says something that isn't the result, unless -q wants quiet.
func (rt *runtime) notice(text string) {
	if rt.quiet {
		return
	}
	streams := rt.streams
	if d := rt.page.Load(); d != nil && d.outside == streams {
		streams = d.inside
	}
	streams.Err.Printf("fettle: %s\n", term.Clean(text))
}

// engineNotice passes on what an engine mended or set aside: into a server's log.
func (rt *runtime) engineNotice(text string) {
	if rt.log != nil {
		rt.log.Warn(term.Clean(text))
		return
	}
	rt.notice(text)
}

// engineFor makes the engine with the providers of the configuration. wrap may
// put something around each provider, such as a recorder; nil leaves them.
func (rt *runtime) engineFor(cfg *config.Config, wrap func(provider.Provider) provider.Provider) (*engine.Engine, error) {
	if rt.lent != nil {
		return rt.lent, nil
	}
	dirs, err := rt.dirs()
	if err != nil {
		return nil, err
	}
	if err := engine.FinishRestore(context.Background(), dirs.Data); err != nil {
		return nil, err
	}
	ring, err := rt.keyRing(cfg)
	if err != nil {
		return nil, err
	}
	rt.client = newClient()
	catalog, err := catalogKeeping(cfg, ring, rt.client, wrap, filepath.Join(dirs.Data, "agents"))
	if err != nil {
		return nil, err
	}
	rt.toolbox = newToolbox(rt, cfg, dirs)
	tools, err := builtinTools(cfg, ring, rt.toolbox.launcher)
	if err != nil {
		return nil, err
	}
	agents, err := configuredAgents(cfg)
	if err != nil {
		return nil, err
	}
	rt.engine = engine.New(engine.Options{
		DataDir: dirs.Data, Models: catalog, Tools: tools, Agents: agents, Runner: rt.toolbox.runner, MCP: rt.toolbox.servers, Services: rt.toolbox.python,
		States:  cas.Limits{MaxFile: cfg.Limits.KeptFile, Chat: cfg.Limits.ChatFiles, Total: cfg.Limits.AllFiles},
		Policy:  engine.Policy{Deny: cfg.Deny, Allow: cfg.Allow, Ask: cfg.Ask},
		Retry:   provider.RetryOptions{Attempts: cfg.Retries + 1},
		Compact: engine.Compaction{Off: cfg.Compact.Off, Percent: cfg.Compact.Percent, Model: cfg.Compact.Model},
		Hold:    rt.hold, Tracer: rt.tracer(), StoreTaken: rt.storeTaken(dirs),
		Notice: rt.engineNotice,
		Collect: func(ctx context.Context) error {
			_, err := rt.prunePackages(ctx, rt.engine, packagesIdle)
			return err
		},
	})
	rt.turns = rt.engine
	return rt.engine, nil
}

// finish lets go of what was made. What others wait for comes first: standard
// output ends, so that the next program of a pipeline can begin, and only then
// is the store tidied.
func (rt *runtime) finish() {
	defer rt.letServersGo()
	if rt.engine == nil {
		rt.sayServices()
		if rt.toolbox != nil {
			_ = rt.toolbox.close() // nothing of a test is kept, so nothing can be lost
		}
		_ = rt.removeScratch() // nothing is in it but what the program brought
		return
	}
	_ = rt.streams.Out.Close() // every write was looked at already
	rt.sayServices()
	ctx, cancel := context.WithTimeout(context.Background(), 10*tidyTime)
	defer cancel()
	err := errors.Join(rt.engine.Tidy(ctx, tidyTime), rt.engine.Close(), rt.toolbox.close(), rt.removeScratch())
	rt.client.CloseIdleConnections()
	rt.flushSpans()
	if err != nil && rt.verbose {
		rt.notice("after the answer: " + err.Error())
	}
}

// letServersGo ends what is open to running servers.
func (rt *runtime) letServersGo() {
	for _, end := range rt.closers {
		end()
	}
	if rt.sharing != nil {
		rt.sharing.Close()
	}
}
