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
	"github.com/fettle-cli/fettle/internal/didyoumean"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/bundle"
	"github.com/fettle-cli/fettle/toolset/gallery"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/registry"
)

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
	m, err = e.Installed().Mirror(ctx)
	return m, e.ToolsetFault("read the installed toolsets", err)
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
	return x, e.ToolsetFault("read the installed toolsets", err)
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
	p, err := e.Installed().Plan(ctx, ref, o)
	return p, e.bundleFault(ref, err)
}

// PlanToolsetUpdate looks at what the source of an installed toolset holds now.
func (e *Engine) PlanToolsetUpdate(ctx context.Context, id string, o registry.PlanOptions) (*registry.Plan, error) {
	p, err := e.Installed().PlanUpdate(ctx, id, o)
	var gone *fs.PathError
	if errors.As(err, &gone) && errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, fmt.Sprintf("%s can't be updated: %s is not there any more", id, bundle.Printable(gone.Path)),
			"fettle toolset import FILE   takes it from another place")
	}
	return p, e.bundleFault("the source of "+id, err)
}

// ImportToolset carries a plan out, wholly or not at all.
func (e *Engine) ImportToolset(ctx context.Context, p *registry.Plan, o registry.ApplyOptions) (*registry.Toolset, error) {
	set, err := e.Installed().Apply(ctx, p, o)
	if err == nil {
		e.lookAtNew(ctx, set.ID)
		e.endOrphans(ctx)
	}
	return set, e.ToolsetFault("import "+p.Manifest.ID, err)
}

// InstalledToolsets lists the installed toolsets by their ids. The store is open
// then, so the mirror is made anew if it is of another state.
func (e *Engine) InstalledToolsets(ctx context.Context) ([]registry.Info, error) {
	installed := e.Installed()
	list, err := installed.List(ctx)
	if err != nil {
		return nil, e.ToolsetFault("list the toolsets", err)
	}
	if err := installed.Refresh(ctx); err != nil {
		e.o.Notice("toolsets.json could not be brought up to date: " + err.Error())
	}
	return list, nil
}

// InstalledToolset gives one installed toolset.
func (e *Engine) InstalledToolset(ctx context.Context, id string) (*registry.Info, error) {
	info, err := e.Installed().Get(ctx, id)
	return info, e.ToolsetFault("read toolset "+id, err)
}

// ExportToolset writes an installed toolset as a ZIP.
func (e *Engine) ExportToolset(ctx context.Context, id string, w io.Writer, o registry.ExportOptions) (*registry.Exported, error) {
	out, err := e.Installed().Export(ctx, id, w, o)
	return out, e.ToolsetFault("export "+id, err)
}

// RemoveToolset uninstalls a toolset.
func (e *Engine) RemoveToolset(ctx context.Context, id string) (*registry.Removed, error) {
	out, err := e.Installed().Remove(ctx, id)
	if err == nil && e.o.MCP != nil {
		for _, server := range out.Servers {
			e.o.MCP.Forget(server)
		}
	}
	e.endOrphans(ctx)
	return out, e.ToolsetFault("remove "+id, err)
}

// VerifyToolset reads every file of an installed toolset and tells which aren't
// as they were imported.
func (e *Engine) VerifyToolset(ctx context.Context, id string) ([]registry.Damage, error) {
	out, err := e.Installed().Verify(ctx, id)
	return out, e.ToolsetFault("verify "+id, err)
}

// SwitchToolset switches a toolset on or off, and tells whether it was
// otherwise before.
func (e *Engine) SwitchToolset(ctx context.Context, id string, on bool) (bool, error) {
	changed, err := e.Installed().SetEnabled(ctx, id, on)
	e.endOrphans(ctx)
	return changed, e.ToolsetFault("switch toolset "+id, err)
}

// TrustToolset approves what an installed toolset brings and wants.
func (e *Engine) TrustToolset(ctx context.Context, id string, t registry.Trusted) error {
	return e.ToolsetFault("trust "+id, e.Installed().Trust(ctx, id, t))
}

// RevokeToolset takes the approval of a toolset back.
func (e *Engine) RevokeToolset(ctx context.Context, id string) error {
	err := e.Installed().Revoke(ctx, id)
	e.endOrphans(ctx)
	return e.ToolsetFault("revoke "+id, err)
}

// SwitchTool switches one tool on or off, and tells whether it was otherwise
// before.
func (e *Engine) SwitchTool(ctx context.Context, toolID string, on bool) (bool, error) {
	changed, err := e.Installed().SetToolEnabled(ctx, toolID, on)
	e.endOrphans(ctx)
	return changed, e.ToolsetFault("switch tool "+toolID, err)
}

// SetToolRenderer adds or replaces a renderer of the user's for a tool.
func (e *Engine) SetToolRenderer(ctx context.Context, toolID string, r toolset.Renderer, priority int) error {
	return e.ToolsetFault("set the renderer of "+toolID, e.Installed().SetRenderer(ctx, toolID, r, priority))
}

// RemoveToolRenderer takes a renderer of the user's away.
func (e *Engine) RemoveToolRenderer(ctx context.Context, toolID string, priority int) error {
	return e.ToolsetFault("remove the renderer of "+toolID, e.Installed().RemoveRenderer(ctx, toolID, priority))
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
	return e.ToolsetFault("import "+name, err)
}

// noGallerySet returns the fault of an id that the gallery does not have.
func noGallerySet(id string) error {
	msg := "the gallery has no toolset " + bundle.Printable(id)
	if id == "" {
		msg = gallery.Ref("") + " names no toolset"
	} else if near := didyoumean.Of(id, gallery.IDs()); near != "" {
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
