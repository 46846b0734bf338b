package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// ApplyOptions is how a plan is carried out.
type ApplyOptions struct {
	// Approved is the user's yes to all items of the plan. Without it a plan
	// that asks is refused with [ErrNotApproved].
	Approved bool
	// Progress hears how many files there are by now, and will be.
	Progress func(done, total int64)
}

// Apply imports what was planned, wholly or not at all, and gives the record.
// Where the toolset has changed since the plan was made, it is [ErrChanged] and
// nothing is done, unless it is the planned contents by now.
func (r *Registry) Apply(ctx context.Context, p *Plan, o ApplyOptions) (*Toolset, error) {
	release, err := r.lock(ctx, changeLock)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := r.collect(ctx); err != nil {
		return nil, fmt.Errorf("remove what an earlier import left: %w", err)
	}
	if err := r.stillAsPlanned(ctx, p); err != nil {
		return nil, err
	}
	if p.pending && !o.Approved {
		return nil, ErrNotApproved
	}
	if err := r.bringIn(ctx, p, o.Progress); err != nil {
		return nil, err
	}
	r.pause("files noted")
	var set *Toolset
	err = r.change(ctx, theToolset(p.Manifest.ID), func(tx *kv.Tx) (err error) { set, err = r.install(tx, p); return err })
	if err != nil {
		return nil, err
	}
	r.pause("mirror written")
	// what can't be removed now is removed by the next change
	_ = r.collect(ctx)
	return set, nil
}

// bringIn makes the files and their rows, side by side: a disk and a processor
// have time for both. Neither means anything before the record of the toolset
// names their revision.
func (r *Registry) bringIn(ctx context.Context, p *Plan, progress func(done, total int64)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	rows := make(chan error, 1)
	go func() {
		err := r.putFiles(ctx, p)
		if err != nil {
			cancel()
		}
		rows <- err
	}()
	err := r.extract(ctx, p, progress)
	if err != nil {
		cancel()
	} else {
		r.pause("extracted")
	}
	if noted := <-rows; noted != nil && !errors.Is(noted, context.Canceled) {
		return noted // why extracting was stopped
	}
	return err
}

// stillAsPlanned looks at the records once more, under the lock.
func (r *Registry) stillAsPlanned(ctx context.Context, p *Plan) error {
	fresh := &Plan{Manifest: p.Manifest, Source: p.Source, Hash: p.Hash, Files: p.Files, Items: p.Items}
	if err := r.compareInstalled(ctx, fresh); err != nil {
		return err
	}
	unchanged := fresh.Installed == nil && p.Installed == nil ||
		fresh.Installed != nil && p.Installed != nil && fresh.Installed.Revision == p.Installed.Revision
	if !unchanged && !fresh.Same {
		return ErrChanged
	}
	p.pending, p.Same, p.Installed = fresh.pending, fresh.Same, fresh.Installed
	return nil
}

// putFiles writes the rows of the files. Nothing reads them before the record
// of the toolset names their revision, so they may be more than one transaction
// takes.
func (r *Registry) putFiles(ctx context.Context, p *Plan) error {
	if p.Same {
		return nil
	}
	return r.o.Store.Batch(ctx, func(b *kv.Batch) error {
		for i := range p.Files {
			f := p.Files[i]
			f.StoredPath = ""
			if err := r.tables.files.Put(b, &f); err != nil {
				return err
			}
		}
		return nil
	})
}

// install writes the records of a plan in the place of those that are there.
func (r *Registry) install(tx *kv.Tx, p *Plan) (*Toolset, error) {
	next := rowsOf(p.Manifest)
	now := r.o.Now().UTC()
	next.set.InstalledAt, next.set.UpdatedAt = now, now
	old, err := r.tables.load(tx, p.Manifest.ID)
	switch {
	case errors.Is(err, kv.ErrNotFound):
		old = &rows{}
	case err != nil:
		return nil, err
	default:
		next.keep(old)
	}
	next.set.SourceType, next.set.SourceRef = p.Source.Type, p.Source.Ref
	next.set.Kind, next.set.SourceHash = string(p.Kind), p.BundleHash
	next.set.Hash, next.set.Revision = p.Hash, p.revision()
	approved := pins(old.approvals)
	for _, it := range p.Items {
		at := now
		if approved[[2]string{it.Kind, it.Name}] == it.SHA256 && old.set.Revoked == nil {
			at = approvedAt(old.approvals, it)
		}
		next.approvals = append(next.approvals, Approval{ToolsetID: next.set.ID, Kind: it.Kind, Name: it.Name, SHA256: it.SHA256, ApprovedAt: at})
	}
	if err := r.clashes(tx, p.Manifest); err != nil {
		return nil, err
	}
	if err := r.erase(tx, old); err != nil {
		return nil, err
	}
	if err := r.put(tx, next); err != nil {
		return nil, err
	}
	if err := r.syncServers(tx, next.set.ID, old.declared, next.declared); err != nil {
		return nil, err
	}
	return &next.set, nil
}

// keep takes over what the user has set.
func (n *rows) keep(old *rows) {
	if !old.unknown {
		n.set.InstalledAt, n.set.Enabled, n.set.Uncontained = old.set.InstalledAt, old.set.Enabled, old.set.Uncontained
	}
	for i := range n.tools {
		for _, t := range old.tools {
			if t.ID == n.tools[i].ID && t.Name != "" { // a damaged one has no name
				n.tools[i].Enabled = t.Enabled
			}
		}
	}
	for _, c := range old.overrides {
		if c.Renderer != "" && slices.ContainsFunc(n.tools, func(t ToolRecord) bool { return t.ID == c.ToolID }) {
			n.overrides = append(n.overrides, c)
		}
	}
}

func approvedAt(approvals []Approval, it Item) (at time.Time) {
	for _, a := range approvals {
		if a.Kind == it.Kind && a.Name == it.Name {
			return a.ApprovedAt
		}
	}
	return at
}

// put writes all rows of a toolset but its servers and files.
func (r *Registry) put(tx *kv.Tx, n *rows) error {
	errs := []error{r.tables.toolsets.Put(tx, &n.set)}
	errs = append(errs, putAll(tx, r.tables.tools, n.tools), putAll(tx, r.tables.renderers, slices.Concat(n.renderers, n.overrides)),
		putAll(tx, r.tables.declared, n.declared), putAll(tx, r.tables.agents, n.agents), putAll(tx, r.tables.pages, n.pages),
		putAll(tx, r.tables.payloads, n.payloads), putAll(tx, r.tables.approvals, n.approvals))
	return errors.Join(errs...)
}

func putAll[T any](tx *kv.Tx, table *kv.Table[T], list []T) error {
	for i := range list {
		if err := table.Put(tx, &list[i]); err != nil {
			return err
		}
	}
	return nil
}

// erase removes all rows of a toolset but its servers and files.
func (r *Registry) erase(tx *kv.Tx, old *rows) error {
	if old.set.ID == "" {
		return nil
	}
	errs := []error{r.tables.toolsets.Delete(tx, kv.Str(old.set.ID))}
	errs = append(errs, deleteAll(tx, r.tables.tools, old.tools), deleteAll(tx, r.tables.renderers, slices.Concat(old.renderers, old.overrides)),
		deleteAll(tx, r.tables.declared, old.declared), deleteAll(tx, r.tables.agents, old.agents), deleteAll(tx, r.tables.pages, old.pages),
		deleteAll(tx, r.tables.payloads, old.payloads), deleteAll(tx, r.tables.approvals, old.approvals))
	return errors.Join(errs...)
}

func deleteAll[T any](tx *kv.Tx, table *kv.Table[T], list []T) error {
	for i := range list {
		if err := table.Delete(tx, table.KeyOf(&list[i])); err != nil {
			return err
		}
	}
	return nil
}

// syncServers brings mcp_servers in line with what a toolset declares: document
// 004 §6.1 and §6.3.
func (r *Registry) syncServers(tx *kv.Tx, id string, before, after []ServerDeclaration) error {
	for _, d := range before {
		if slices.ContainsFunc(after, func(n ServerDeclaration) bool { return n.ServerID == d.ServerID }) {
			continue
		}
		if err := r.undeclare(tx, id, d.ServerID); err != nil {
			return err
		}
	}
	for _, d := range after {
		s, lost, err := r.serverRecord(tx, d.ServerID)
		if lost && err == nil {
			s.Enabled, s.Own, s.Config = d.AutoEnabled, false, d.Config
		}
		if errors.Is(err, kv.ErrNotFound) {
			s, err = &Server{ID: d.ServerID, Enabled: d.AutoEnabled, Config: d.Config}, nil
		}
		if err != nil {
			return err
		}
		if !sameServer(s.Config, d.Config) { // what it was pinned to is another server's
			s.Config, s.Tools, s.Seen, s.PinnedAt, s.Problem = d.Config, nil, nil, nil, ""
		}
		if !slices.Contains(s.DeclaredBy, id) {
			s.DeclaredBy = append(s.DeclaredBy, id)
			slices.Sort(s.DeclaredBy)
		}
		if err := r.tables.servers.Put(tx, s); err != nil {
			return err
		}
	}
	return nil
}

// undeclare takes a toolset off a server, which goes with the last of them.
func (r *Registry) undeclare(tx *kv.Tx, id, serverID string) error {
	s, lost, err := r.serverRecord(tx, serverID)
	if errors.Is(err, kv.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if lost && len(without(s.DeclaredBy, id)) > 0 {
		return nil // an import of one of the others replaces it
	}
	if s.DeclaredBy = without(s.DeclaredBy, id); len(s.DeclaredBy) == 0 {
		return r.tables.servers.Delete(tx, kv.Str(serverID))
	}
	return r.tables.servers.Put(tx, s)
}

// Requested is the permissions of a plan with all variables, as they are
// approved.
func (p *Plan) Requested() manifest.Permissions {
	out := p.Manifest.Permissions
	out.Env = variableNames(p.Manifest)
	return out
}
