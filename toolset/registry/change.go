package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset"
)

// SetEnabled switches a toolset on or off. It tells whether that changed
// anything.
func (r *Registry) SetEnabled(ctx context.Context, id string, on bool) (changed bool, err error) {
	err = r.changing(ctx, theToolset(id), func(tx *kv.Tx) error {
		set, err := r.tables.toolsets.Get(tx, kv.Str(id))
		if errors.Is(err, kv.ErrNotFound) {
			return r.missing(tx, id)
		}
		if err != nil {
			return damagedRecord(id, err)
		}
		changed = set.Enabled != on
		set.Enabled = on
		return r.tables.toolsets.Put(tx, set)
	})
	return changed, err
}

// SetToolEnabled switches one tool on or off, a builtin one too. It tells
// whether that changed anything.
func (r *Registry) SetToolEnabled(ctx context.Context, toolID string, on bool) (changed bool, err error) {
	err = r.changing(ctx, toolsetOf(toolID), func(tx *kv.Tx) error {
		rec, err := r.toolRecord(tx, toolID)
		if err != nil {
			return err
		}
		changed = rec.Enabled != on
		rec.Enabled = on
		if rec.ToolsetID == "" && on { // a row of a builtin tool says no more than this
			return r.tables.tools.Delete(tx, kv.Str(toolID))
		}
		return r.tables.tools.Put(tx, rec)
	})
	return changed, err
}

// toolRecord gives a tool's row; a builtin tool without one is an enabled one.
func (r *Registry) toolRecord(tx *kv.Tx, toolID string) (*ToolRecord, error) {
	rec, err := r.tables.tools.Get(tx, kv.Str(toolID))
	builtin := slices.Contains(r.o.Builtins, toolID)
	if !errors.Is(err, kv.ErrNotFound) && !(builtin && isDamaged(err)) {
		return rec, damagedRecord(toolID, err)
	}
	if builtin {
		return &ToolRecord{Tool: toolset.Tool{ID: toolID, Name: toolID, Enabled: true}}, nil
	}
	e := &NotFoundError{What: "tool", ID: toolID, Known: slices.Clone(r.o.Builtins)}
	for k, err := range r.tables.tools.Keys(tx, kv.Range{}) {
		if err != nil {
			return nil, err
		}
		if parts, err := k.Parts(); err == nil && !slices.Contains(r.o.Builtins, fmt.Sprint(parts[0])) {
			e.Known = append(e.Known, fmt.Sprint(parts[0]))
		}
	}
	return nil, e
}

// SetRenderer adds or replaces a renderer of the user's. Priority 0 is the
// toolset's own; of several the highest counts. An html renderer's artifact
// must be one of the toolset's files.
func (r *Registry) SetRenderer(ctx context.Context, toolID string, renderer toolset.Renderer, priority int) error {
	if priority == 0 {
		return &StateError{ID: toolID, Msg: "priority 0 is the toolset's own renderer; take another, such as 10"}
	}
	return r.changing(ctx, toolsetOf(toolID), func(tx *kv.Tx) error {
		rec, err := r.toolRecord(tx, toolID)
		if err != nil {
			return err
		}
		if err := r.checkArtifact(tx, rec, renderer); err != nil {
			return err
		}
		return r.tables.renderers.Put(tx, &RenderConfig{
			ToolID: toolID, Renderer: renderer.Type, Config: renderer.Config(), Priority: priority,
		})
	})
}

func (r *Registry) checkArtifact(tx *kv.Tx, rec *ToolRecord, renderer toolset.Renderer) error {
	if renderer.Type != toolset.RenderHTML {
		return nil
	}
	if rec.ToolsetID == "" {
		return &StateError{ID: rec.ID, Msg: "a builtin tool has no artifacts; take code or document"}
	}
	set, err := r.tables.toolsets.Get(tx, kv.Str(rec.ToolsetID))
	if err != nil {
		return err
	}
	files, err := r.files(tx, set)
	if err != nil {
		return err
	}
	want := strings.TrimPrefix(renderer.Artifact, "./")
	if _, ok := findFile(files, []string{want}); !ok {
		return &StateError{ID: rec.ID, Msg: fmt.Sprintf("%s is not among the files of %s", want, rec.ToolsetID)}
	}
	return nil
}

// RemoveRenderer takes a renderer of the user's away.
func (r *Registry) RemoveRenderer(ctx context.Context, toolID string, priority int) error {
	if priority == 0 {
		return &StateError{ID: toolID, Msg: "priority 0 is the toolset's own renderer; it stays"}
	}
	return r.changing(ctx, toolsetOf(toolID), func(tx *kv.Tx) error {
		if _, err := r.toolRecord(tx, toolID); err != nil {
			return err
		}
		key := kv.Str(toolID).Int(int64(priority))
		there, err := r.tables.renderers.Has(tx, key)
		if err != nil {
			return err
		}
		if !there {
			e := &NotFoundError{What: "renderer", ID: fmt.Sprintf("of priority %d for %s", priority, toolID)}
			return e
		}
		return r.tables.renderers.Delete(tx, key)
	})
}

// Revoke takes the approval of a toolset back: its tools are offered no more
// until Trust gives it again.
func (r *Registry) Revoke(ctx context.Context, id string) error {
	return r.changing(ctx, theToolset(id), func(tx *kv.Tx) error {
		set, err := r.load(tx, id)
		if err == nil {
			err = set.whole()
		}
		if err != nil {
			return err
		}
		now := r.o.Now().UTC()
		set.set.Revoked, set.set.Uncontained = &now, false
		return errors.Join(deleteAll(tx, r.tables.approvals, set.approvals), r.tables.toolsets.Put(tx, &set.set))
	})
}

// Trusted is what the user says of an installed toolset.
type Trusted struct {
	// Items are those that were shown; what is installed must be these still.
	Items []Item
	// Uncontained lets its tools run where the system can't contain them.
	Uncontained bool
}

// Trust approves what an installed toolset brings and wants.
func (r *Registry) Trust(ctx context.Context, id string, t Trusted) error {
	return r.changing(ctx, theToolset(id), func(tx *kv.Tx) error {
		set, err := r.load(tx, id)
		if err == nil {
			err = set.whole()
		}
		if err != nil {
			return err
		}
		items, err := r.items(tx, set)
		if err != nil {
			return err
		}
		if !slices.EqualFunc(items, t.Items, func(a, b Item) bool { return a.Kind == b.Kind && a.Name == b.Name && a.SHA256 == b.SHA256 }) {
			return ErrChanged
		}
		now := r.o.Now().UTC()
		approved := pins(set.approvals)
		for _, it := range items {
			if approved[[2]string{it.Kind, it.Name}] == it.SHA256 {
				continue
			}
			if err := r.tables.approvals.Put(tx, &Approval{ToolsetID: id, Kind: it.Kind, Name: it.Name, SHA256: it.SHA256, ApprovedAt: now}); err != nil {
				return err
			}
		}
		set.set.Revoked, set.set.Uncontained = nil, t.Uncontained
		return r.tables.toolsets.Put(tx, &set.set)
	})
}

// items lists the items of an installed toolset.
func (r *Registry) items(tx *kv.Tx, set *rows) ([]Item, error) {
	m, err := set.manifest()
	if err != nil {
		return nil, err
	}
	files, err := r.files(tx, &set.set)
	if err != nil {
		return nil, err
	}
	return itemsOf(m, files), nil
}

// Removed is what Remove took away.
type Removed struct {
	Toolset Toolset
	Tools   int
	// Servers went with it; Shared stay, since other toolsets declare them.
	Servers, Shared []string
	// InUse tells that a call still uses its files, which are removed later.
	InUse bool
}

// Remove uninstalls a toolset with its tools, approvals and renderers, and the
// MCP servers that nobody else declares (document 004 §6.3).
func (r *Registry) Remove(ctx context.Context, id string) (*Removed, error) {
	release, err := r.lock(ctx, changeLock)
	if err != nil {
		return nil, err
	}
	defer release()
	out := new(Removed)
	err = r.change(ctx, theToolset(id), func(tx *kv.Tx) error {
		set, err := r.load(tx, id)
		if err != nil {
			return err
		}
		*out = Removed{Toolset: set.set, Tools: len(set.tools)}
		if err := r.erase(tx, set); err != nil {
			return err
		}
		for _, d := range set.declared {
			if err := r.undeclare(tx, id, d.ServerID); err != nil {
				return err
			}
			stays, err := r.tables.servers.Has(tx, kv.Str(d.ServerID))
			if err != nil {
				return err
			}
			if stays {
				out.Shared = append(out.Shared, d.ServerID)
			} else {
				out.Servers = append(out.Servers, d.ServerID)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.pause("removed")
	_ = r.collect(ctx) // what can't be removed now is removed by the next change
	if _, unlock, err := Use(r.o.DataDir, id, out.Toolset.Revision); err == nil {
		unlock()
		out.InUse = true
	}
	return out, nil
}
