package catalog

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
func (c *Catalog) ToolsetMirror(ctx context.Context) (*registry.Mirror, error) {
	return c.mirrorOf(ctx, registry.Wanted{})
}

// mirrorOf is ToolsetMirror for the selected toolsets and servers. If the mirror had to
// be written from the store, it has all of them.
func (c *Catalog) mirrorOf(ctx context.Context, want registry.Wanted) (*registry.Mirror, error) {
	m, err := registry.ReadParts(c.store.Options.DataDir, want)
	if err == nil {
		return m, nil
	}
	m, err = c.store.Installed().Mirror(ctx)
	return m, c.store.ToolsetFault("read the installed toolsets", err)
}

// ToolsetIndex returns the index of the installed toolsets.
func (c *Catalog) ToolsetIndex(ctx context.Context) (*registry.Index, error) {
	if x, err := registry.ReadIndex(c.store.Options.DataDir); err == nil {
		return x, nil
	}
	if _, err := c.ToolsetMirror(ctx); err != nil {
		return nil, err
	}
	x, err := registry.ReadIndex(c.store.Options.DataDir)
	return x, c.store.ToolsetFault("read the installed toolsets", err)
}

// ToolsetOfTool returns the toolset that brings a tool, or nil if none does.
func (c *Catalog) ToolsetOfTool(ctx context.Context, toolID string) (*registry.MirrorToolset, error) {
	id, _, _ := strings.Cut(toolID, ":")
	return c.oneToolset(ctx, id)
}

// oneToolset returns a toolset, or nil if it is not installed.
func (c *Catalog) oneToolset(ctx context.Context, id string) (*registry.MirrorToolset, error) {
	m, err := c.mirrorOf(ctx, registry.OneToolset(id))
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
func (c *Catalog) PlanToolset(ctx context.Context, ref string, o registry.PlanOptions) (*registry.Plan, error) {
	p, err := c.store.Installed().Plan(ctx, ref, o)
	return p, c.bundleFault(ref, err)
}

// PlanToolsetUpdate looks at what the source of an installed toolset holds now.
func (c *Catalog) PlanToolsetUpdate(ctx context.Context, id string, o registry.PlanOptions) (*registry.Plan, error) {
	p, err := c.store.Installed().PlanUpdate(ctx, id, o)
	var gone *fs.PathError
	if errors.As(err, &gone) && errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, fmt.Sprintf("%s can't be updated: %s is not there any more", id, bundle.Printable(gone.Path)),
			fault.Try(fault.ImportToolset).That("takes it from another place"))
	}
	return p, c.bundleFault("the source of "+id, err)
}

// ImportToolset carries a plan out, wholly or not at all.
func (c *Catalog) ImportToolset(ctx context.Context, p *registry.Plan, o registry.ApplyOptions) (*registry.Toolset, error) {
	set, err := c.store.Installed().Apply(ctx, p, o)
	if err == nil {
		c.lookAtNew(ctx, set.ID)
		c.EndOrphans(ctx)
	}
	return set, c.store.ToolsetFault("import "+p.Manifest.ID, err)
}

// InstalledToolsets lists the installed toolsets by their ids. The store is open
// then, so the mirror is made anew if it is of another state.
func (c *Catalog) InstalledToolsets(ctx context.Context) ([]registry.Info, error) {
	installed := c.store.Installed()
	list, err := installed.List(ctx)
	if err != nil {
		return nil, c.store.ToolsetFault("list the toolsets", err)
	}
	if err := installed.Refresh(ctx); err != nil {
		c.store.Options.Notice("toolsets.json could not be brought up to date: " + err.Error())
	}
	return list, nil
}

// InstalledToolset gives one installed toolset.
func (c *Catalog) InstalledToolset(ctx context.Context, id string) (*registry.Info, error) {
	info, err := c.store.Installed().Get(ctx, id)
	return info, c.store.ToolsetFault("read toolset "+id, err)
}

// ExportToolset writes an installed toolset as a ZIP.
func (c *Catalog) ExportToolset(ctx context.Context, id string, w io.Writer, o registry.ExportOptions) (*registry.Exported, error) {
	out, err := c.store.Installed().Export(ctx, id, w, o)
	return out, c.store.ToolsetFault("export "+id, err)
}

// RemoveToolset uninstalls a toolset.
func (c *Catalog) RemoveToolset(ctx context.Context, id string) (*registry.Removed, error) {
	out, err := c.store.Installed().Remove(ctx, id)
	if err == nil && c.o.MCP != nil {
		for _, server := range out.Servers {
			c.o.MCP.Forget(server)
		}
	}
	c.EndOrphans(ctx)
	return out, c.store.ToolsetFault("remove "+id, err)
}

// VerifyToolset reads every file of an installed toolset and tells which aren't
// as they were imported.
func (c *Catalog) VerifyToolset(ctx context.Context, id string) ([]registry.Damage, error) {
	out, err := c.store.Installed().Verify(ctx, id)
	return out, c.store.ToolsetFault("verify "+id, err)
}

// SwitchToolset switches a toolset on or off, and tells whether it was
// otherwise before.
func (c *Catalog) SwitchToolset(ctx context.Context, id string, on bool) (bool, error) {
	changed, err := c.store.Installed().SetEnabled(ctx, id, on)
	c.EndOrphans(ctx)
	return changed, c.store.ToolsetFault("switch toolset "+id, err)
}

// TrustToolset approves what an installed toolset brings and wants.
func (c *Catalog) TrustToolset(ctx context.Context, id string, t registry.Trusted) error {
	return c.store.ToolsetFault("trust "+id, c.store.Installed().Trust(ctx, id, t))
}

// RevokeToolset takes the approval of a toolset back.
func (c *Catalog) RevokeToolset(ctx context.Context, id string) error {
	err := c.store.Installed().Revoke(ctx, id)
	c.EndOrphans(ctx)
	return c.store.ToolsetFault("revoke "+id, err)
}

// SwitchTool switches one tool on or off, and tells whether it was otherwise
// before.
func (c *Catalog) SwitchTool(ctx context.Context, toolID string, on bool) (bool, error) {
	changed, err := c.store.Installed().SetToolEnabled(ctx, toolID, on)
	c.EndOrphans(ctx)
	return changed, c.store.ToolsetFault("switch tool "+toolID, err)
}

// SetToolRenderer adds or replaces a renderer of the user's for a tool.
func (c *Catalog) SetToolRenderer(ctx context.Context, toolID string, r toolset.Renderer, priority int) error {
	return c.store.ToolsetFault("set the renderer of "+toolID, c.store.Installed().SetRenderer(ctx, toolID, r, priority))
}

// RemoveToolRenderer takes a renderer of the user's away.
func (c *Catalog) RemoveToolRenderer(ctx context.Context, toolID string, priority int) error {
	return c.store.ToolsetFault("remove the renderer of "+toolID, c.store.Installed().RemoveRenderer(ctx, toolID, priority))
}

// bundleFault says why a bundle can't be imported.
func (c *Catalog) bundleFault(ref string, err error) error {
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
	return c.store.ToolsetFault("import "+name, err)
}

// noGallerySet returns the fault of an id that the gallery does not have.
func noGallerySet(id string) error {
	msg := "the gallery has no toolset " + bundle.Printable(id)
	if id == "" {
		msg = gallery.Ref("") + " names no toolset"
	} else if near := didyoumean.Of(id, gallery.IDs()); near != "" {
		msg += "; did you mean " + gallery.Ref(near) + "?"
	}
	return fault.New(fault.NotFound, msg, fault.Advise("choose one of "+strings.Join(gallery.IDs(), ", ")))
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
