package workbench

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/keystore"
	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/netguard"
	"github.com/fettle-cli/fettle/internal/paths"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/mcp"
	"github.com/fettle-cli/fettle/toolset/python"
	"github.com/fettle-cli/fettle/toolset/registry"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// pythonClosing bounds the wait for Python tools at the program's end; each is
// stopped within some seconds.
const pythonClosing = 10 * time.Second

// toolbox is what runs tools in processes. It belongs to one run of the
// program; nothing of it is started before a tool is called.
type toolbox struct {
	dirs     paths.Dirs
	launcher *sandbox.Launcher
	python   *python.Runtime
	servers  *mcp.Manager
	// instead run tools in the place of their toolset's own code, by tool id.
	instead map[string]toolset.Runner
}

// NewToolbox makes what runs tools; nothing is started by that.
func NewToolbox(rt *Runtime, cfg *config.Config, dirs paths.Dirs) *toolbox {
	temporaries := atomicfile.OpenLedger(dirs.Data)
	b := &toolbox{dirs: dirs, launcher: sandbox.New(sandbox.Options{Dial: netguard.Dial, Require: required(cfg), Own: OwnState(dirs), Temporaries: temporaries, Tried: filepath.Join(dirs.Cache, "overlays.json")})}
	b.python = python.New(python.Options{
		Launcher: b.launcher, Interpreter: cfg.Python, CacheDir: pythonCache(dirs.Data),
		Notice: rt.Notice, NoSpares: rt.OneCall, IndexEnv: indexEnv(), Temporaries: temporaries,
	})
	b.servers = newServers(rt, b.launcher, dirs)
	return b
}

// OwnState returns the files and folders of fettle's own state, which no tool reaches. If
// the configuration is a single file, its folder is the user's, and the file of keys in it
// is fettle's.
func OwnState(dirs paths.Dirs) toolset.OwnState {
	own := toolset.OwnState{dirs.Data, dirs.State, dirs.Cache, dirs.Runtime}
	if dirs.ConfigNamed {
		return append(own, dirs.ConfigFile, filepath.Join(dirs.Config, keystore.FileName))
	}
	return append(own, dirs.Config)
}

// indexEnv are the variables that say where Python packages come from.
func indexEnv() []string {
	var env []string
	for _, name := range []string{
		"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST", "PIP_CERT", "PIP_FIND_LINKS", "PIP_NO_INDEX",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE",
	} {
		if value, set := os.LookupEnv(name); set {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// Servers reach the MCP servers, once an engine is made.
func (rt *Runtime) Servers() *mcp.Manager { return rt.toolbox.servers }

// FindPython looks for an interpreter that tools can run in.
func (rt *Runtime) FindPython(ctx context.Context) error {
	_, err := rt.toolbox.python.Interpreter(ctx)
	return err
}

// StandIn lets others run tools in the place of their toolset's own code, by the
// tool's id.
func (rt *Runtime) StandIn(instead map[string]toolset.Runner) { rt.toolbox.instead = instead }

// required is the containment that the user insists on.
func required(cfg *config.Config) toolset.Level {
	if cfg.RequireSandbox {
		return toolset.LevelFull
	}
	return toolset.LevelUnset
}

// runner makes what runs a tool of an installed toolset. Its files can't go away
// while it runs, and are held to their hash.
func (b *toolbox) runner(set *registry.MirrorToolset, t *registry.MirrorTool) (toolset.Runner, error) {
	if t.File == "" {
		return nil, errors.New("it has no entrypoint")
	}
	spec := python.Spec{
		ToolsetID: set.ID, Module: t.File, Function: t.Function, Requirements: set.Requirements, Streaming: t.Tool.Streaming, Parser: t.Parser,
		Policy: set.PolicyFor(t.Tool, b.dirs.Home, os.LookupEnv),
	}
	id, toolID, revision, sum, dataDir := set.ID, t.Tool.ID, set.Revision, t.SHA256, b.dirs.Data
	spec.Service, spec.ToolID, spec.Revision = t.Service, toolID, revision
	spec.Keep = func() func() {
		if _, letGo, err := registry.Use(dataDir, id, revision); err == nil {
			return letGo
		}
		return func() {} // removed just now: the process is ended for that, too
	}
	return toolset.RunnerFunc(func(ctx context.Context, c toolset.Call) (toolset.Result, error) {
		if other := b.instead[toolID]; other != nil {
			return other.Run(ctx, c)
		}
		dir, release, err := registry.Use(dataDir, id, revision)
		if errors.Is(err, registry.ErrGone) {
			return toolset.Result{}, toolset.Errorf("the toolset %s was updated or removed meanwhile", id)
		}
		if err != nil {
			return toolset.Result{}, err
		}
		defer release()
		if err := registry.VerifyFile(dir, spec.Module, sum); err != nil {
			return toolset.Result{}, toolset.Errorf("its code is not what was imported: %v", err)
		}
		s := spec
		if s.Dir, err = filepath.EvalSymlinks(dir); err != nil {
			return toolset.Result{}, fmt.Errorf("find the files of %s: %w", id, err)
		}
		return b.python.Runner(s).Run(ctx, c)
	}), nil
}

// Authored makes what runs a tool of a toolset that isn't installed.
func (b *toolbox) Authored(m *manifest.Manifest, t manifest.Tool, dir string) (toolset.Runner, error) {
	entry, err := manifest.ParseEntrypoint(t.Entrypoint)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, fmt.Errorf("find the files of %s: %w", m.ID, err)
	}
	spec := python.Spec{
		ToolsetID: m.ID, Dir: dir, Function: entry.Function, Requirements: m.Requirements, Streaming: t.Streaming,
		Policy:  permitted(m, t, b.dirs.Home),
		Service: t.Service, ToolID: m.ID + ":" + t.ID,
	}
	for _, file := range entry.Files() {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(file))); err == nil {
			spec.Module = file
			break
		}
	}
	if spec.Module == "" {
		return nil, fmt.Errorf("there is no module %s", entry.Module)
	}
	if spec.Service {
		return b.forOneCall(spec), nil
	}
	return b.python.Runner(spec), nil
}

// forOneCall runs a service that ends with its call: a test has nothing to come after.
func (b *toolbox) forOneCall(spec python.Spec) toolset.Runner {
	return toolset.RunnerFunc(func(ctx context.Context, c toolset.Call) (toolset.Result, error) {
		c.ChatID = rand.Text() // tests run side by side, and none shares its process
		defer b.python.EndServices("its test is over", func(s toolset.Service) bool { return s.ChatID == c.ChatID })
		return b.python.Runner(spec).Run(ctx, c)
	})
}

// sealsRepositories reports whether sandboxes here keep tools from the repositories that
// exist in a folder.
func (b *toolbox) sealsRepositories(ctx context.Context) bool {
	r, err := b.launcher.Report(ctx)
	return err == nil && r.Level == toolset.LevelFull
}

// Close ends what was started.
func (b *toolbox) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), pythonClosing)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- b.servers.Close(ctx) }() // within ctx, as the line below waits for it
	return errors.Join(b.python.Close(ctx), <-ended, b.launcher.Close())
}
