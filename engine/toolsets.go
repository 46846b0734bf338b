package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/nearest"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/bundle"
	"github.com/fettle-cli/fettle/toolset/gallery"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// installed is the registry of this data directory.
func (s *Store) installed() *registry.Registry {
	return registry.New(registry.Options{
		DataDir: s.o.DataDir, Store: s.store, Builtins: s.builtins(), Now: s.o.Now,
		OnWait: func(owner string) { s.o.Notice("waiting for another change of the toolsets, " + owner) },
		Hold:   func(ctx context.Context) (func(), error) { return s.shareData(ctx, nil) },
	})
}

// ToolsetMirror returns what turns need of all installed toolsets. It opens the
// store only where the mirror is missing or damaged.
func (e *Engine) ToolsetMirror(ctx context.Context) (*registry.Mirror, error) {
	return e.mirrorOf(ctx, registry.Wanted{})
}

// mirrorOf is ToolsetMirror for the selected toolsets and servers. If the mirror had to
// be written from the store, it has all of them.
func (e *Engine) mirrorOf(ctx context.Context, want registry.Wanted) (*registry.Mirror, error) {
	m, err := registry.ReadParts(e.o.DataDir, want)
	if err == nil {
		return m, nil
	}
	m, err = e.installed().Mirror(ctx)
	return m, e.toolsetFault("read the installed toolsets", err)
}

// toolsetIndex returns the index of the installed toolsets.
func (e *Engine) toolsetIndex(ctx context.Context) (*registry.Index, error) {
	if x, err := registry.ReadIndex(e.o.DataDir); err == nil {
		return x, nil
	}
	if _, err := e.ToolsetMirror(ctx); err != nil {
		return nil, err
	}
	x, err := registry.ReadIndex(e.o.DataDir)
	return x, e.toolsetFault("read the installed toolsets", err)
}

// toolsetOfTool returns the toolset that brings a tool, or nil if none does.
func (e *Engine) toolsetOfTool(ctx context.Context, toolID string) (*registry.MirrorToolset, error) {
	id, _, _ := strings.Cut(toolID, ":")
	return e.oneToolset(ctx, id)
}

// oneToolset returns a toolset, or nil if it is not installed.
func (e *Engine) oneToolset(ctx context.Context, id string) (*registry.MirrorToolset, error) {
	m, err := e.mirrorOf(ctx, registry.OneToolset(id))
	if err != nil {
		return nil, err
	}
	for i := range m.Toolsets {
		if m.Toolsets[i].ID == id {
			return &m.Toolsets[i], nil
		}
	}
	return nil, nil
}

// PlanToolset looks at a bundle that is to be imported. The plan must be closed.
func (e *Engine) PlanToolset(ctx context.Context, ref string, o registry.PlanOptions) (*registry.Plan, error) {
	p, err := e.installed().Plan(ctx, ref, o)
	return p, e.bundleFault(ref, err)
}

// PlanToolsetUpdate looks at what the source of an installed toolset holds now.
func (e *Engine) PlanToolsetUpdate(ctx context.Context, id string, o registry.PlanOptions) (*registry.Plan, error) {
	p, err := e.installed().PlanUpdate(ctx, id, o)
	var gone *fs.PathError
	if errors.As(err, &gone) && errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, fmt.Sprintf("%s can't be updated: %s is not there any more", id, bundle.Printable(gone.Path)),
			"fettle toolset import FILE   takes it from another place")
	}
	return p, e.bundleFault("the source of "+id, err)
}

// ImportToolset carries a plan out, wholly or not at all.
func (e *Engine) ImportToolset(ctx context.Context, p *registry.Plan, o registry.ApplyOptions) (*registry.Toolset, error) {
	set, err := e.installed().Apply(ctx, p, o)
	if err == nil {
		e.lookAtNew(ctx, set.ID)
		e.endOrphans(ctx)
	}
	return set, e.toolsetFault("import "+p.Manifest.ID, err)
}

// InstalledToolsets lists the installed toolsets by their ids. The store is open
// then, so the mirror is made anew if it is of another state.
func (e *Engine) InstalledToolsets(ctx context.Context) ([]registry.Info, error) {
	installed := e.installed()
	list, err := installed.List(ctx)
	if err != nil {
		return nil, e.toolsetFault("list the toolsets", err)
	}
	if err := installed.Refresh(ctx); err != nil {
		e.o.Notice("toolsets.json could not be brought up to date: " + err.Error())
	}
	return list, nil
}

// InstalledToolset gives one installed toolset.
func (e *Engine) InstalledToolset(ctx context.Context, id string) (*registry.Info, error) {
	info, err := e.installed().Get(ctx, id)
	return info, e.toolsetFault("read toolset "+id, err)
}

// ExportToolset writes an installed toolset as a ZIP.
func (e *Engine) ExportToolset(ctx context.Context, id string, w io.Writer, o registry.ExportOptions) (*registry.Exported, error) {
	out, err := e.installed().Export(ctx, id, w, o)
	return out, e.toolsetFault("export "+id, err)
}

// RemoveToolset uninstalls a toolset.
func (e *Engine) RemoveToolset(ctx context.Context, id string) (*registry.Removed, error) {
	out, err := e.installed().Remove(ctx, id)
	if err == nil && e.o.MCP != nil {
		for _, server := range out.Servers {
			e.o.MCP.Forget(server)
		}
	}
	e.endOrphans(ctx)
	return out, e.toolsetFault("remove "+id, err)
}

// VerifyToolset reads every file of an installed toolset and tells which aren't
// as they were imported.
func (e *Engine) VerifyToolset(ctx context.Context, id string) ([]registry.Damage, error) {
	out, err := e.installed().Verify(ctx, id)
	return out, e.toolsetFault("verify "+id, err)
}

// SwitchToolset switches a toolset on or off, and tells whether it was
// otherwise before.
func (e *Engine) SwitchToolset(ctx context.Context, id string, on bool) (bool, error) {
	changed, err := e.installed().SetEnabled(ctx, id, on)
	e.endOrphans(ctx)
	return changed, e.toolsetFault("switch toolset "+id, err)
}

// TrustToolset approves what an installed toolset brings and wants.
func (e *Engine) TrustToolset(ctx context.Context, id string, t registry.Trusted) error {
	return e.toolsetFault("trust "+id, e.installed().Trust(ctx, id, t))
}

// RevokeToolset takes the approval of a toolset back.
func (e *Engine) RevokeToolset(ctx context.Context, id string) error {
	err := e.installed().Revoke(ctx, id)
	e.endOrphans(ctx)
	return e.toolsetFault("revoke "+id, err)
}

// SwitchTool switches one tool on or off, and tells whether it was otherwise
// before.
func (e *Engine) SwitchTool(ctx context.Context, toolID string, on bool) (bool, error) {
	changed, err := e.installed().SetToolEnabled(ctx, toolID, on)
	e.endOrphans(ctx)
	return changed, e.toolsetFault("switch tool "+toolID, err)
}

// SetToolRenderer adds or replaces a renderer of the user's for a tool.
func (e *Engine) SetToolRenderer(ctx context.Context, toolID string, r toolset.Renderer, priority int) error {
	return e.toolsetFault("set the renderer of "+toolID, e.installed().SetRenderer(ctx, toolID, r, priority))
}

// RemoveToolRenderer takes a renderer of the user's away.
func (e *Engine) RemoveToolRenderer(ctx context.Context, toolID string, priority int) error {
	return e.toolsetFault("remove the renderer of "+toolID, e.installed().RemoveRenderer(ctx, toolID, priority))
}

// bundleFault says why a bundle can't be imported.
func (e *Engine) bundleFault(ref string, err error) error {
	var refused *bundle.Error
	var invalid *manifest.Error
	name := bundle.Printable(ref)
	id, isGallery := gallery.ID(ref)
	if !strings.Contains(ref, "://") && !isGallery {
		name = bundle.Printable(filepath.Base(ref))
	}
	switch {
	case err == nil:
		return nil
	case errors.As(err, &invalid):
		f := fault.New(fault.Failed, fmt.Sprintf("%s can't be imported: its toolset.yaml has %s", name, fault.Plural(errorsOf(invalid), "error")))
		for _, p := range invalid.Problems {
			f.Detail = append(f.Detail, p.String())
		}
		f.Err = err
		return f
	case errors.As(err, &refused):
		f := fault.New(fault.Failed, fmt.Sprintf("%s is refused: %s", name, refused.Error()))
		f.Detail, f.Err = []string{"reason: " + string(refused.Code)}, err
		return f
	case errors.Is(err, fs.ErrNotExist) && isGallery:
		return noGallerySet(id)
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.NotFound, fmt.Sprintf("there is no bundle %s", bundle.Printable(ref)))
	}
	return e.toolsetFault("import "+name, err)
}

// noGallerySet returns the fault of an id that the gallery does not have.
func noGallerySet(id string) error {
	msg := "the gallery has no toolset " + bundle.Printable(id)
	if id == "" {
		msg = gallery.Ref("") + " names no toolset"
	} else if near := nearest.Of(id, gallery.IDs()); near != "" {
		msg += "; did you mean " + gallery.Ref(near) + "?"
	}
	return fault.New(fault.NotFound, msg, "choose one of "+strings.Join(gallery.IDs(), ", "))
}

func errorsOf(invalid *manifest.Error) int {
	n := 0
	for _, p := range invalid.Problems {
		if p.Level == manifest.LevelError {
			n++
		}
	}
	return n
}

// toolsetFault says what is wrong with a toolset and what to do.
func (s *Store) toolsetFault(doing string, err error) error {
	var missing *registry.NotFoundError
	var clash *registry.ClashError
	var state *registry.StateError
	var busy *registry.BusyError
	var big *registry.TooBigError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &busy):
		return fault.Wrap(fault.Busy, doing, err, "try again when it has ended")
	case errors.As(err, &missing):
		return missingFault(missing)
	case errors.As(err, &big):
		f := fault.Wrap(fault.Failed, doing, err, "shorten its descriptions, schemas and tests, or split it")
		if big.Server {
			f = fault.Wrap(fault.Failed, doing, err, "shorten its arguments, variables and headers")
		}
		return f
	case errors.As(err, &clash):
		f := fault.New(fault.Failed, fmt.Sprintf("%s can't be installed: %s", clash.ID, clash.Msg))
		if clash.With != "fettle" {
			f.Hints = []string{"fettle toolset show " + clash.With}
		}
		return f
	case errors.As(err, &state):
		f := fault.New(fault.Failed, state.ID+": "+state.Msg)
		if state.Hint != "" {
			f.Hints = []string{state.Hint}
		}
		return f
	case errors.Is(err, registry.ErrChanged):
		return fault.Wrap(fault.Busy, doing, err, "do it again, and look at what it shows")
	case errors.Is(err, registry.ErrNotApproved):
		return fault.Wrap(fault.Approval, doing, err)
	case isStoreError(err):
		return s.storeTrouble(err)
	}
	return fault.Wrap(fault.Failed, doing, err)
}

// isStoreError tells the errors of the store itself from those of files.
func isStoreError(err error) bool {
	var busy *kv.BusyError
	var corrupt *kv.CorruptError
	var newer *kv.VersionError
	var full *kv.FullError
	var dir *kv.DirError
	return errors.Is(err, kv.ErrClosed) || errors.As(err, &busy) || errors.As(err, &corrupt) || errors.As(err, &newer) ||
		errors.As(err, &full) || errors.As(err, &dir)
}

func missingFault(missing *registry.NotFoundError) error {
	f := fault.New(fault.NotFound, missing.Error())
	near := nearest.Of(missing.ID, missing.Known)
	if near != "" {
		f.Msg += " (did you mean " + near + "?)"
	}
	switch missing.What {
	case "toolset":
		f.Hints = []string{"fettle toolset list"}
	case "tool":
		f.Hints = []string{"fettle tool list"}
	case "MCP server":
		f.Hints = []string{"fettle mcp list"}
	}
	return f
}
