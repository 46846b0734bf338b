package workbench

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
	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models/facts"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/otlp"
	"github.com/fettle-cli/fettle/internal/paths"
	"github.com/fettle-cli/fettle/server/client"
	"github.com/fettle-cli/fettle/toolset/mcp"
)

// tidyTime bounds what a command does for the store after it has answered.
const tidyTime = 200 * time.Millisecond

// Runtime makes what commands need, when it is first asked for. It belongs to
// one run of the program.
type Runtime struct {
	Streams    *term.Streams
	Release    string // the version that the linker of a release has set
	JSONErrors bool   // failures are JSON on standard error
	Verbose    bool
	Quiet      bool
	Profile    *string // of --profile; nil where the flag wasn't given
	Client     *http.Client
	engine     *engine.Engine
	spans      *otlp.Exporter // nil if none were requested
	toolbox    *toolbox       // of the engine
	OneCall    bool           // of a tool; no second one follows
	SignIn     *mcp.SignIn    // at MCP servers; nil where no user can
	Answering  bool           // its clients may show forms
	// CutAdvice is [engine.Options.CutAdvice]; nil names fettle's own commands.
	CutAdvice     func(call string) string
	RemoveScratch func() error // removes a folder at the end; nil if there is none
	Hold          bool         // the store, for the engine's whole life
	Log           *slog.Logger // of a server; nil in other commands
	sharing       *client.Sharing
	Turns         client.Turns   // the one asked last
	Closers       []func()       // of what answers elsewhere
	noticed       *sync.Map      // the texts of notices that were printed, for Warning
	Lent          *engine.Engine // that of the chat which a command runs in; nil makes one
	// Approve asks in a chat's own way about a call; nil, or false, leaves it to
	// the terminal.
	Approve func(context.Context, store.TurnID, event.ConfirmRequest) (bool, error)
	// Page is that of a chat which draws. Runtimes are copied, and share it.
	Page *atomic.Pointer[Drawn]
	// scripts are the models that are files and that the user has named, see
	// NameModel. Runtimes are copied, and share it.
	scripts *sync.Map
	// FinishBy is when Finish returns at the latest, for a program that has been asked
	// to end; zero waits for everything.
	FinishBy time.Time
	Dirs     func() (paths.Dirs, error)
	// Facts returns what is publicly known about models: the builtin table, or the one
	// that `models update` has fetched, if that is newer.
	Facts func() *facts.Table
}

// Drawn is a page on a terminal. What is told outside of it, by an engine that was
// made before say, has to go through it, or it would be drawn over.
type Drawn struct{ Outside, Inside *term.Streams }

// New makes the runtime of one run of the program.
func New(streams *term.Streams) *Runtime {
	rt := &Runtime{Streams: streams, Page: new(atomic.Pointer[Drawn]), scripts: new(sync.Map), noticed: new(sync.Map)}
	rt.Dirs = sync.OnceValues(func() (paths.Dirs, error) {
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
	rt.Facts = sync.OnceValue(rt.newestFacts)
	return rt
}

// ConfigSources are all places that the configuration is read from; flags are
// those that were given, and may be nil. A profile that was chosen is added.
func (rt *Runtime) ConfigSources(flags map[string]config.Flag) (config.Options, error) {
	dirs, err := rt.Dirs()
	if err != nil {
		return config.Options{}, err
	}
	wd, err := os.Getwd()
	if err != nil {
		return config.Options{}, fault.Wrap(fault.Failed, "find the current folder", err)
	}
	if rt.Profile != nil {
		given := map[string]config.Flag{"profile": {Name: "--profile", Values: []string{*rt.Profile}}}
		maps.Copy(given, flags)
		flags = given
	}
	return config.Options{
		File: dirs.ConfigFile, Named: dirs.ConfigNamed, WorkDir: wd, Home: dirs.Home,
		Env: os.LookupEnv, Flags: flags, Trusted: rt.TrustStore(dirs).Project,
	}, nil
}

// Config loads the configuration of all sources, and says its warnings.
func (rt *Runtime) Config(flags map[string]config.Flag) (*config.Config, error) {
	o, err := rt.ConfigSources(flags)
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
	if rt.Lent == nil { // a chat has set it, and draws meanwhile
		rt.Streams.SetColour(mode)
	}
	for _, w := range cfg.Warnings {
		rt.Notice(w.String())
	}
	return cfg, nil
}

// profileWords are the flag as it was given, for a command line in a hint.
func (rt *Runtime) profileWords() string {
	if rt.Profile == nil {
		return ""
	}
	return " --profile " + cmdline.ShellWord(*rt.Profile)
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

// InProfile is the flag --profile of commands that read the configuration.
// Given but empty it chooses none, whatever else chooses one.
func (rt *Runtime) InProfile(category string) cli.Flag {
	return &cli.StringFlag{
		Name: "profile", Category: category, Usage: "go by the profile `NAME` of the configuration",
		Action: func(_ *cli.Context, name string) error {
			rt.Profile = &name
			return nil
		},
	}
}

// EngineFor makes the engine with the providers of the configuration. wrap may
// put something around each provider, such as a recorder; nil leaves them.
func (rt *Runtime) EngineFor(cfg *config.Config, wrap func(provider.Provider) provider.Provider) (*engine.Engine, error) {
	if rt.Lent != nil {
		return rt.Lent, nil
	}
	dirs, err := rt.Dirs()
	if err != nil {
		return nil, err
	}
	if err := store.FinishRestore(context.Background(), dirs.Data, rt.Notice); err != nil {
		return nil, err
	}
	ring, err := rt.KeyRing(cfg)
	if err != nil {
		return nil, err
	}
	rt.Client = NewClient()
	known, err := rt.catalogFor(cfg, catalogParts{ring: ring, client: rt.Client, wrap: wrap, agentDir: filepath.Join(dirs.Data, "agents")})
	if err != nil {
		return nil, err
	}
	rt.toolbox = NewToolbox(rt, cfg, dirs)
	tools, err := builtinTools(cfg, ring, rt.toolbox.launcher)
	if err != nil {
		return nil, err
	}
	agents, err := configuredAgents(cfg)
	if err != nil {
		return nil, err
	}
	rt.engine = engine.New(engine.Options{
		Options: store.Options{
			DataDir:    dirs.Data,
			Own:        OwnState(dirs),
			States:     cas.Limits{MaxFile: cfg.Limits.KeptFile, Chat: cfg.Limits.ChatFiles, Total: cfg.Limits.AllFiles},
			Hold:       rt.Hold,
			StoreTaken: rt.StoreTaken(dirs),
			Notice:     rt.engineNotice,
			Collect: func(ctx context.Context) error {
				_, err := rt.PrunePackages(ctx, rt.engine, packagesIdle)
				return err
			},
		},
		Models: known,
		Sources: catalog.Sources{
			Tools:    tools,
			Agents:   agents,
			Runner:   rt.toolbox.runner,
			MCP:      rt.toolbox.servers,
			Services: rt.toolbox.python,
		},
		Policy:             permission.Policy{Deny: cfg.Deny, Allow: cfg.Allow, Ask: cfg.Ask, Approvals: permission.Mode(cfg.Approvals)},
		FoldersFromOutside: cfg.FoldersFromOutside,
		StoredModel: func(ref string, own bool) {
			if own || !rt.Answering {
				rt.NameModels(ref)
			}
		},
		CommandsWriteGit:  cfg.RunCommand.Git == "write",
		SealsRepositories: rt.toolbox.sealsRepositories,
		Layers:            rt.toolbox.launcher.Layers,
		Retry:             provider.RetryOptions{Attempts: cfg.Retries + 1},
		Embedding:         cfg.Embedding,
		Compact:           engine.Compaction{Off: cfg.Compact.Off, Percent: cfg.Compact.Percent, Model: cfg.Compact.Model},
		Tracer:            rt.tracer(),
		CutAdvice:         rt.cutAdvice,
	})
	rt.Turns = rt.engine
	return rt.engine, nil
}

// Finish lets go of what was made. What others wait for comes first: standard
// output ends, so that the next program of a pipeline can begin, and only then
// is the store tidied.
func (rt *Runtime) Finish() {
	if rt.FinishBy.IsZero() {
		rt.finish()
		return
	}
	done := make(chan struct{})
	go func() { defer close(done); rt.finish() }()
	select {
	case <-done:
	case <-time.After(time.Until(rt.FinishBy)): // the end of the process ends the rest
	}
}

func (rt *Runtime) finish() {
	defer rt.letServersGo()
	if rt.engine == nil {
		rt.sayServices()
		if rt.toolbox != nil {
			_ = rt.toolbox.Close() // nothing of a test is kept, so nothing can be lost
		}
		_ = rt.removeScratch() // nothing is in it but what the program brought
		return
	}
	_ = rt.Streams.Out.Close() // every write was looked at already
	rt.sayServices()
	ctx, cancel := context.WithTimeout(context.Background(), 10*tidyTime)
	defer cancel()
	err := errors.Join(rt.engine.Tidy(ctx, tidyTime), rt.engine.Close(), rt.toolbox.Close(), rt.removeScratch())
	rt.engine.CheckFolders()
	rt.Client.CloseIdleConnections()
	rt.flushSpans()
	if err != nil && rt.Verbose {
		rt.Notice("after the answer: " + err.Error())
	}
}

// letServersGo ends what is open to running servers.
func (rt *Runtime) letServersGo() {
	for _, end := range rt.Closers {
		end()
	}
	if rt.sharing != nil {
		rt.sharing.Close()
	}
}

// removeScratch removes what was put aside; what uses it is closed by then.
func (rt *Runtime) removeScratch() error {
	if rt.RemoveScratch == nil {
		return nil
	}
	return rt.RemoveScratch()
}

// Temporaries records temporary files of this process, so that others can remove what
// it leaves when it is killed; nil if no data directory is known.
func (rt *Runtime) Temporaries() *atomicfile.Ledger {
	dirs, err := rt.Dirs()
	if err != nil {
		return nil
	}
	return atomicfile.OpenLedger(dirs.Data)
}

// StoreEngine is an engine for commands that ask no model.
func (rt *Runtime) StoreEngine() (*engine.Engine, error) {
	cfg, err := rt.Config(nil)
	if err != nil {
		return nil, err
	}
	return rt.EngineFor(cfg, nil)
}
