package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// Mirror returns the mirror, and writes it from the store where it is missing or
// damaged.
func (r *Registry) Mirror(ctx context.Context) (*Mirror, error) {
	if m, err := ReadMirror(r.o.DataDir); err == nil {
		return m, nil
	}
	return r.Rebuild(ctx)
}

// Refresh writes the mirror again where the records are of another generation
// than it is. It costs the reading of one record where they are not; a caller that
// has the store open anyway may call it.
func (r *Registry) Refresh(ctx context.Context) error {
	var now int64
	err := r.view(ctx, func(tx *kv.Tx) (err error) { now, err = r.generation(tx); return err })
	if err != nil {
		return err
	}
	if x, err := ReadIndex(r.o.DataDir); err == nil && x.Generation == now {
		return nil
	}
	_, err = r.Rebuild(ctx)
	return err
}

// generation reads the number of changes. It is 0 before the first, and -1 if the record
// is damaged; the next change replaces that.
func (r *Registry) generation(tx *kv.Tx) (int64, error) {
	now, err := r.tables.counter.Get(tx, kv.Str("toolsets"))
	switch {
	case errors.Is(err, kv.ErrNotFound):
		return 0, nil
	case isDamaged(err):
		return -1, nil
	case err != nil:
		return 0, err
	}
	return now.Number, nil
}

// Rebuild writes the whole mirror from the records.
func (r *Registry) Rebuild(ctx context.Context) (*Mirror, error) {
	release, err := r.lock(ctx, mirrorLock)
	if err != nil {
		return nil, err
	}
	defer release()
	x, err := r.writeMirror(ctx, nil, touched{})
	if err != nil {
		return nil, err
	}
	return x.Read(r.o.DataDir, Wanted{})
}

// touched are the ids of the toolsets and MCP servers that a change is about.
type touched struct{ toolsets, servers []string }

func theToolset(id string) touched { return touched{toolsets: []string{id}} }

func theServer(id string) touched { return touched{servers: []string{id}} }

// toolsetOf is the toolset of a tool; a builtin tool has none.
func toolsetOf(toolID string) touched {
	if id, _, ok := strings.Cut(toolID, ":"); ok {
		return theToolset(id)
	}
	return touched{}
}

// bringUp writes the mirror after a change of the records or a failed attempt, also
// when ctx has ended meanwhile: the records may have changed already.
func (r *Registry) bringUp(ctx context.Context, before *Index, t touched) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), kv.DefaultWait)
	defer cancel()
	_, err := r.writeMirror(ctx, before, t)
	return err
}

// dropMirror removes the index before the records change. The caller holds the
// mirror's lock.
func dropMirror(dataDir string) error {
	if err := os.MkdirAll(filepath.Join(dataDir, mirrorMark), 0o755); err != nil {
		return fmt.Errorf("make the folder of toolsets: %w", err)
	}
	err := atomicfile.Remove(mirrorFile(dataDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove the old list of toolsets: %w", err)
	}
	return atomicfile.SyncDir(dataDir)
}

// writeMirror writes the mirror. If before is the index of one change ago, only what
// was touched since is read and written, otherwise everything. The caller holds the
// mirror's lock.
func (r *Registry) writeMirror(ctx context.Context, before *Index, t touched) (*Index, error) {
	b := &mirrorBuild{registry: r, parts: map[string][]byte{}}
	if err := r.view(ctx, func(tx *kv.Tx) error { return b.run(tx, before, t) }); err != nil {
		return nil, fmt.Errorf("list the toolsets: %w", err)
	}
	b.index.Version = indexVersion
	data, err := record.Marshal(b.index)
	if err != nil {
		return nil, fmt.Errorf("list the toolsets: %w", err)
	}
	if err := writeParts(r.o.DataDir, b.parts); err != nil {
		return nil, fmt.Errorf("write the list of toolsets: %w", err)
	}
	if err := atomicfile.Write(mirrorFile(r.o.DataDir), data, atomicfile.Synced); err != nil {
		return nil, fmt.Errorf("write the list of toolsets: %w", err)
	}
	dropParts(r.o.DataDir, before, &b.index)
	return &b.index, nil
}

// mirrorBuild makes an index and the parts that are new in it.
type mirrorBuild struct {
	registry *Registry
	index    Index
	parts    map[string][]byte // as JSON, by their sums
}

// run reads what is needed in one transaction. It may be called again.
func (b *mirrorBuild) run(tx *kv.Tx, before *Index, t touched) (err error) {
	r := b.registry
	clear(b.parts)
	b.index = Index{}
	if b.index.Generation, err = r.generation(tx); err != nil {
		return err
	}
	switch {
	case before != nil && before.Generation == b.index.Generation: // the change failed
		b.index = *before
		return nil
	case before != nil && before.Generation == b.index.Generation-1:
		b.index.Toolsets, b.index.Servers = slices.Clone(before.Toolsets), slices.Clone(before.Servers)
		err = r.addServersOf(tx, before, &t)
	default:
		if t.toolsets, err = keysOf(tx, r.tables.toolsets); err == nil {
			t.servers, err = keysOf(tx, r.tables.servers)
		}
	}
	if err != nil {
		return err
	}
	for _, id := range t.toolsets {
		if err := b.toolset(tx, id); err != nil {
			return err
		}
	}
	for _, id := range t.servers {
		if err := b.server(tx, id); err != nil {
			return err
		}
	}
	b.index.Builtins, err = r.builtinChanges(tx)
	return err
}

// addServersOf adds the servers that the touched toolsets declare or declared.
func (r *Registry) addServersOf(tx *kv.Tx, before *Index, t *touched) error {
	for _, id := range t.toolsets {
		for _, s := range before.Servers {
			if slices.Contains(s.DeclaredBy, id) {
				t.servers = append(t.servers, s.ID)
			}
		}
		for k, err := range r.tables.declared.Keys(tx, kv.Range{Prefix: kv.Str(id)}) {
			if err != nil {
				return err
			}
			parts, err := k.Parts()
			if err != nil {
				return err
			}
			t.servers = append(t.servers, keyParts(parts).text(1))
		}
	}
	slices.Sort(t.servers)
	t.servers = slices.Compact(t.servers)
	return nil
}

// toolset puts one toolset into the index, or takes it out if it was removed. One
// whose records can't be read is listed with that reason.
func (b *mirrorBuild) toolset(tx *kv.Tx, id string) error {
	t, err := b.registry.mirrorToolset(tx, id)
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return err
	}
	at, found := slices.BinarySearchFunc(b.index.Toolsets, id, func(t IndexedToolset, id string) int { return cmp.Compare(t.ID, id) })
	if err != nil {
		if found {
			b.index.Toolsets = slices.Delete(b.index.Toolsets, at, at+1)
		}
		return nil
	}
	part, err := b.part(&t)
	if err != nil {
		return err
	}
	entry := indexToolset(&t, part)
	if found {
		b.index.Toolsets[at] = entry
	} else {
		b.index.Toolsets = slices.Insert(b.index.Toolsets, at, entry)
	}
	return nil
}

// server does for one MCP server what toolset does for a toolset.
func (b *mirrorBuild) server(tx *kv.Tx, id string) error {
	at, found := slices.BinarySearchFunc(b.index.Servers, id, func(s IndexedServer, id string) int { return cmp.Compare(s.ID, id) })
	rec, lost, err := b.registry.serverRecord(tx, id)
	if errors.Is(err, kv.ErrNotFound) {
		if found {
			b.index.Servers = slices.Delete(b.index.Servers, at, at+1)
		}
		return nil
	}
	if err != nil {
		return err
	}
	s := b.mirrorServer(rec)
	if lost {
		s.Problem, s.Unusable = damagedServer, damagedServer
	}
	part, err := b.part(&s)
	if err != nil {
		return err
	}
	entry := indexServer(&s, part)
	if found {
		b.index.Servers[at] = entry
	} else {
		b.index.Servers = slices.Insert(b.index.Servers, at, entry)
	}
	return nil
}

// part encodes a part and notes it.
func (b *mirrorBuild) part(v any) ([]byte, error) {
	data, err := record.Marshal(v)
	if err != nil {
		return nil, err
	}
	b.parts[sumOfPart(data)] = data
	return data, nil
}

// mirrorServer adds to a server's record where it starts and whether it may. It
// may if one of the toolsets that declare it can be used.
func (b *mirrorBuild) mirrorServer(rec *Server) MirrorServer {
	m := MirrorServer{Server: *rec, Unusable: "no toolset that brought it can be used"}
	var off []string
	for i := range b.index.Toolsets {
		t := &b.index.Toolsets[i]
		if !slices.Contains(rec.DeclaredBy, t.ID) {
			continue
		}
		if t.Usable() {
			m.ToolsetID, m.Revision, m.Least, m.Unusable = t.ID, t.Revision, t.Least, ""
			break
		}
		if !t.Enabled {
			off = append(off, t.ID)
		}
	}
	if m.Unusable != "" && len(off) > 0 && len(off) == len(rec.DeclaredBy) {
		m.Unusable = toolsetsOff + strings.Join(off, ", ")
	}
	if rec.Own {
		m.Least, m.Unusable = toolset.LevelNone, ""
	}
	if !rec.Enabled && m.Unusable == "" {
		m.Unusable = SwitchedOff
	}
	return m
}

// writeParts writes the parts that are not there yet. They need no sync: a part
// that a power cut damaged differs from its sum and is written again.
func writeParts(dataDir string, parts map[string][]byte) error {
	if len(parts) == 0 {
		return nil
	}
	if err := os.MkdirAll(partsDir(dataDir), 0o700); err != nil {
		return err
	}
	for sum, data := range parts {
		path := partFile(dataDir, sum)
		if have, err := atomicfile.ReadFile(path); err == nil && sumOfPart(have) == sum {
			continue
		}
		if err := atomicfile.Write(path, data, atomicfile.Cached); err != nil {
			return err
		}
	}
	return nil
}

// dropParts removes the parts that only the index before had, or, where that isn't
// known, all that the index doesn't have. What can't be removed now is removed
// when the whole mirror is written again.
func dropParts(dataDir string, before, now *Index) {
	used := map[string]bool{}
	for sum := range now.sums {
		used[sum] = true
	}
	if before != nil {
		for sum := range before.sums {
			if !used[sum] {
				_ = atomicfile.Remove(partFile(dataDir, sum))
			}
		}
		return
	}
	entries, err := os.ReadDir(partsDir(dataDir))
	if err != nil {
		return // there are no parts
	}
	for _, e := range entries {
		if sum, _, _ := strings.Cut(e.Name(), "."); !used[sum] {
			_ = atomicfile.Remove(filepath.Join(partsDir(dataDir), e.Name()))
		}
	}
}

// sums yields the names of all parts.
func (x *Index) sums(yield func(string) bool) {
	for i := range x.Toolsets {
		if !yield(x.Toolsets[i].Part) {
			return
		}
	}
	for i := range x.Servers {
		if !yield(x.Servers[i].Part) {
			return
		}
	}
}

// keysOf lists the ids in a table, also those of damaged records.
func keysOf[T any](tx *kv.Tx, table *kv.Table[T]) ([]string, error) {
	var out []string
	for k, err := range table.Keys(tx, kv.Range{}) {
		if err != nil {
			return nil, err
		}
		parts, err := k.Parts()
		if err != nil {
			return nil, err
		}
		if id, ok := parts[0].(string); ok {
			out = append(out, id)
		}
	}
	return out, nil
}

func (r *Registry) mirrorToolset(tx *kv.Tx, id string) (MirrorToolset, error) {
	set, err := r.tables.load(tx, id)
	if err != nil {
		return MirrorToolset{}, err
	}
	if set.damaged {
		return MirrorToolset{ID: id, Name: set.set.Name, Version: set.set.Version, Problem: damagedRecords}, nil
	}
	t := MirrorToolset{
		ID: id, Name: set.set.Name, Version: set.set.Version, Hash: set.set.Hash, Revision: set.set.Revision,
		Dir: filepath.ToSlash(filepath.Join("toolsets", id, set.set.Revision)), Enabled: set.set.Enabled,
		Requirements: set.set.Requirements, Problem: r.problem(set), Least: set.least(),
	}
	approved := pins(set.approvals)
	t.Granted = granted(set.set.Permissions, approved)
	if len(t.Granted.Network) > 0 {
		t.Network = toolset.NetworkHosts
	}
	for _, tool := range set.tools {
		m, err := r.mirrorTool(tx, set, tool)
		if err != nil {
			return t, err
		}
		t.Tools = append(t.Tools, m)
	}
	for _, a := range set.agents {
		t.Agents = append(t.Agents, a.Agent)
	}
	for _, p := range set.payloads {
		m, err := r.mirrorPayload(tx, set, p.Payload)
		if err != nil {
			return t, err
		}
		t.Payloads = append(t.Payloads, m)
	}
	for _, p := range set.pages {
		t.Pages = append(t.Pages, p.Page)
	}
	t.Workflows = set.set.Workflows
	return t, nil
}

// problem returns why a whole toolset can't be used.
func (r *Registry) problem(set *rows) string {
	if set.set.Revoked != nil {
		return WhyRevoked
	}
	if _, err := os.Stat(r.folder(set.set.ID, set.set.Revision)); err != nil {
		return "its files are not there; import it again"
	}
	return set.broken[""]
}

// granted leaves of permissions what has an approval.
func granted(p manifest.Permissions, approved map[[2]string]string) manifest.Permissions {
	only := func(kind string, names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return approved[[2]string{kind, name}] != newItem(kind, name).done().SHA256
		})
	}
	return manifest.Permissions{
		Network: only(KindNetwork, p.Network), Env: only(KindEnv, p.Env), Read: only(KindRead, p.Read),
	}
}

// least returns the containment below which the toolset's tools may not run.
func (r *rows) least() toolset.Level {
	if r.set.Uncontained {
		return toolset.LevelNone
	}
	return toolset.LevelReduced
}
