package commands

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/internal/paths"
	"github.com/fettle-cli/fettle/internal/publicnet"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/python"
	"github.com/fettle-cli/fettle/toolset/registry"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// mostSpares is how many Python processes may wait for a next call of the same
// tools. More than one toolset is seldom used at a time.
const mostSpares = 2

// toolbox is what runs the tools of installed toolsets. It belongs to one run
// of the program; nothing of it is started before a tool is called.
type toolbox struct {
	dirs     paths.Dirs
	launcher *sandbox.Launcher
	python   *python.Runtime
}

func newToolbox(cfg *config.Config, dirs paths.Dirs, spares int) *toolbox {
	b := &toolbox{dirs: dirs, launcher: sandbox.New(sandbox.Options{Dial: publicnet.Dial, Require: required(cfg)})}
	b.python = python.New(python.Options{
		Launcher: b.launcher, Interpreter: cfg.Python, CacheDir: filepath.Join(dirs.Data, "cache", "python"),
		Spares: spares, LookupEnv: os.LookupEnv,
	})
	return b
}

// required is the containment that the user insists on.
func required(cfg *config.Config) toolset.Level {
	if cfg.RequireSandbox {
		return toolset.LevelFull
	}
	return toolset.LevelUnset
}

// runner makes what runs a tool. Its files can't go away while it runs.
func (b *toolbox) runner(set *registry.MirrorToolset, t *registry.MirrorTool) (toolset.Runner, error) {
	if t.Module == "" {
		return nil, errors.New("it has no entrypoint")
	}
	policy := set.Policy(b.dirs.Home, os.LookupEnv)
	policy.Limits.Time = time.Duration(t.Tool.Timeout)
	id, revision, dataDir := set.ID, set.Revision, b.dirs.Data
	tool, requirements := *t, set.Requirements
	return toolset.RunnerFunc(func(ctx context.Context, c toolset.Call) (toolset.Result, error) {
		dir, release, err := registry.Use(dataDir, id, revision)
		if errors.Is(err, registry.ErrGone) {
			return toolset.Result{}, toolset.Errorf("the toolset %s was updated or removed meanwhile", id)
		}
		if err != nil {
			return toolset.Result{}, err
		}
		defer release()
		if err := registry.VerifyFile(dir, tool.File, tool.SHA256); err != nil {
			return toolset.Result{}, toolset.Errorf("its code is not what was imported: %v", err)
		}
		return b.python.Runner(python.Spec{
			Dir: dir, Module: tool.Module, Function: tool.Function, Requirements: requirements, Policy: policy,
		}).Run(ctx, c)
	}), nil
}

// close ends what was started.
func (b *toolbox) close() error { return errors.Join(b.python.Close(), b.launcher.Close()) }
