package registry

import (
	"context"
	"encoding/json"
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

// mirrorVersion is the form of toolsets.json that this program reads.
const mirrorVersion = 2

// Mirror is what turns need of the installed toolsets.
type Mirror struct {
	Version    int   `json:"mirror"`
	Generation int64 `json:"generation"`
	// Toolsets are all that are installed, by id.
	Toolsets []MirrorToolset `json:"toolsets,omitempty"`
	// Servers are the MCP servers that they brought.
	Servers []MirrorServer `json:"mcp_servers,omitempty"`
	// Builtins are the builtin tools that the user changed something about, by
	// id.
	Builtins map[string]BuiltinChange `json:"builtins,omitempty"`
}

// BuiltinChange is what the user set for a builtin tool.
type BuiltinChange struct {
	Disabled bool              `json:"disabled,omitempty"`
	Renderer *toolset.Renderer `json:"renderer,omitempty"`
}

// MirrorToolset is one installed toolset.
type MirrorToolset struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Version  string `json:"version"`
	Hash     string `json:"hash"`
	Revision string `json:"revision"`
	// Dir is where its files are, relative to the data directory; [Use] gives
	// the absolute path.
	Dir     string `json:"dir"`
	Enabled bool   `json:"enabled"`
	// Problem is why none of its tools can be used; empty where they can.
	Problem      string   `json:"problem,omitempty"`
	Requirements []string `json:"requirements,omitempty"`
	// Granted is what the user approved of what it asks for.
	Granted manifest.Permissions `json:"granted,omitzero"`
	// Network says which network Granted comes to.
	Network toolset.Network `json:"network,omitempty"`
	// Least is the containment below which its tools may not run.
	Least  toolset.Level    `json:"least"`
	Tools  []MirrorTool     `json:"tools,omitempty"`
	Agents []manifest.Agent `json:"agents,omitempty"`
	// Payloads and Pages are what it shows, and where.
	Payloads []MirrorPayload `json:"payloads,omitempty"`
	Pages    []manifest.Page `json:"pages,omitempty"`
	// Workflows are the ones that can be started.
	Workflows []manifest.Workflow `json:"workflows,omitempty"`
}

// MirrorPayload is one type of payload of a toolset.
type MirrorPayload struct {
	Payload manifest.Payload `json:"payload"`
	// Parser is what is needed to run its parser; nil where it has none.
	Parser *MirrorTool `json:"parser,omitempty"`
}

// MirrorTool is one tool of a toolset, with what is needed to run it.
type MirrorTool struct {
	// Tool has the renderer that counts, overrides included.
	Tool    toolset.Tool `json:"tool"`
	Service bool         `json:"service,omitempty"`
	// Parser says that it is the parser of a payload, and no tool.
	Parser bool `json:"parser,omitempty"`
	// Problem is why it can't be used; empty where it can.
	Problem string `json:"problem,omitempty"`
	// Module and Function are the entrypoint: a Python module's name such as
	// tools.analyze. File is where it is in the folder, and SHA256 its hash.
	Module   string `json:"module,omitempty"`
	Function string `json:"function,omitempty"`
	File     string `json:"file,omitempty"`
	SHA256   string `json:"sha256,omitempty"`
}

// MirrorServer is one MCP server, with what is needed to start it.
type MirrorServer struct {
	Server
	// ToolsetID and Revision are of the toolset in whose folder it starts.
	ToolsetID string `json:"toolset_id,omitempty"`
	Revision  string `json:"revision,omitempty"`
	// Least is the containment below which its command isn't started.
	Least toolset.Level `json:"least,omitempty"`
	// Unusable is why it may not be started; empty where it may.
	Unusable string `json:"unusable,omitempty"`
}

// SwitchedOff is why a server may not be started that only a person keeps from it.
const SwitchedOff = "it is switched off"

// Usable tells whether its tools may be offered and run, the single tools'
// switches and problems aside.
func (t *MirrorToolset) Usable() bool { return t.Enabled && t.Problem == "" }

// Usable tells whether the tool may be offered and run, if its toolset may.
func (t *MirrorTool) Usable() bool { return t.Tool.Enabled && t.Problem == "" }

// Policy is what its tools may reach, without workspace and limits. home is
// what ~/ means, env looks variables up: one that isn't set is left out.
func (t *MirrorToolset) Policy(home string, env func(string) (string, bool)) toolset.Policy {
	p := toolset.Policy{Network: t.Network, Least: t.Least}
	if p.Network == toolset.NetworkHosts {
		p.Hosts = slices.Clone(t.Granted.Network)
	}
	for _, read := range t.Granted.Read {
		if rest, below := strings.CutPrefix(read, "~/"); below {
			read = filepath.Join(home, filepath.FromSlash(rest))
		}
		p.Readable = append(p.Readable, filepath.Clean(read))
	}
	for _, name := range t.Granted.Env {
		if value, set := env(name); set {
			p.Env = append(p.Env, name+"="+value)
		}
	}
	return p
}

func mirrorFile(dataDir string) string { return filepath.Join(dataDir, "toolsets.json") }

// maxMirror bounds what is read: a hundred toolsets with the largest manifests.
const maxMirror = 64 << 20

// ReadMirror reads toolsets.json without the store. Where nothing was ever
// imported it is empty. [ErrNoMirror] says that it has to be made anew, which
// [Registry.Mirror] does: it is missing, damaged, or another version's.
func ReadMirror(dataDir string) (*Mirror, error) {
	path := mirrorFile(dataDir)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		// a change begins by removing the mirror, and no change is without the lock's folder
		if _, err := os.Stat(filepath.Join(dataDir, mirrorMark)); errors.Is(err, fs.ErrNotExist) {
			return &Mirror{Version: mirrorVersion}, nil
		}
		return nil, ErrNoMirror
	}
	if err != nil || info.Size() > maxMirror {
		return nil, ErrNoMirror
	}
	data, err := atomicfile.ReadFile(path)
	if err != nil {
		return nil, ErrNoMirror
	}
	m := new(Mirror)
	if err := json.Unmarshal(data, m); err != nil || m.Version != mirrorVersion {
		return nil, ErrNoMirror
	}
	return m, nil
}

// mirrorMark is there from the first change on, so that a data directory
// without a mirror is known to be new or to lack it.
const mirrorMark = "toolsets"

// Mirror gives the mirror, and makes it anew from the store where it is missing,
// damaged or of another state of the records.
func (r *Registry) Mirror(ctx context.Context) (*Mirror, error) {
	if m, err := ReadMirror(r.o.DataDir); err == nil {
		return m, nil
	}
	return r.Rebuild(ctx)
}

// Refresh makes the mirror anew where the records are of another state than it
// tells. It costs one record's reading where they are not; whoever has the
// store open anyway may call it.
func (r *Registry) Refresh(ctx context.Context) error {
	now := new(generation)
	err := r.view(ctx, func(tx *kv.Tx) error {
		got, err := r.tables.counter.Get(tx, kv.Str("toolsets"))
		if err == nil {
			now = got
		}
		if errors.Is(err, kv.ErrNotFound) {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	if m, err := ReadMirror(r.o.DataDir); err == nil && m.Generation == now.Number {
		return nil
	}
	_, err = r.Rebuild(ctx)
	return err
}

// Rebuild writes the mirror from the records.
func (r *Registry) Rebuild(ctx context.Context) (*Mirror, error) {
	release, err := r.lock(ctx, mirrorLock)
	if err != nil {
		return nil, err
	}
	defer release()
	return r.writeMirror(ctx)
}

// restoreMirror writes the mirror after the records were changed, or were not, also
// when ctx has ended meanwhile.
func (r *Registry) restoreMirror(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), kv.DefaultWait)
	defer cancel()
	_, err := r.writeMirror(ctx)
	return err
}

// dropMirror removes the mirror before the records change. The caller holds
// the mirror's lock.
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

// writeMirror writes the mirror. The caller holds the mirror's lock.
func (r *Registry) writeMirror(ctx context.Context) (*Mirror, error) {
	m, err := r.buildMirror(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the toolsets: %w", err)
	}
	data, err := record.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("list the toolsets: %w", err)
	}
	if err := atomicfile.Write(mirrorFile(r.o.DataDir), data, atomicfile.Synced); err != nil {
		return nil, fmt.Errorf("write the list of toolsets: %w", err)
	}
	return m, nil
}

// buildMirror reads the records. A toolset whose records can't be read is
// listed with that reason.
func (r *Registry) buildMirror(ctx context.Context) (*Mirror, error) {
	m := &Mirror{Version: mirrorVersion}
	err := r.view(ctx, func(tx *kv.Tx) error {
		*m = Mirror{Version: mirrorVersion}
		now, err := r.tables.counter.Get(tx, kv.Str("toolsets"))
		if err != nil && !errors.Is(err, kv.ErrNotFound) {
			return err
		}
		if err == nil {
			m.Generation = now.Number
		}
		ids, err := r.ids(tx)
		if err != nil {
			return err
		}
		for _, id := range ids {
			t, err := r.mirrorToolset(tx, id)
			if err != nil {
				return err
			}
			m.Toolsets = append(m.Toolsets, t)
		}
		if m.Servers, err = r.mirrorServers(tx, m.Toolsets); err != nil {
			return err
		}
		m.Builtins, err = r.builtinChanges(tx)
		return err
	})
	return m, err
}

// ids are the ids of all toolsets, of those whose record is damaged, too.
func (r *Registry) ids(tx *kv.Tx) ([]string, error) {
	var out []string
	for k, err := range r.tables.toolsets.Keys(tx, kv.Range{}) {
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
	var corrupt *kv.CorruptError
	if errors.As(err, &corrupt) {
		return MirrorToolset{ID: id, Name: id, Problem: "its records are damaged; import it again"}, nil
	}
	if err != nil {
		return MirrorToolset{}, err
	}
	t := MirrorToolset{
		ID: id, Name: set.set.Name, Version: set.set.Version, Hash: set.set.Hash, Revision: set.set.Revision,
		Dir: filepath.ToSlash(filepath.Join("toolsets", id, set.set.Revision)), Enabled: set.set.Enabled,
		Requirements: set.set.Requirements, Problem: r.problem(set), Least: toolset.LevelReduced,
	}
	if set.set.Uncontained {
		t.Least = toolset.LevelNone
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

// mirrorServers lists the servers. One may be started if one of the toolsets
// that declare it may be used.
func (r *Registry) mirrorServers(tx *kv.Tx, sets []MirrorToolset) ([]MirrorServer, error) {
	var out []MirrorServer
	for s, err := range r.tables.servers.Scan(tx, kv.Range{}) {
		var corrupt *kv.CorruptError
		if errors.As(err, &corrupt) {
			continue // the toolset's own record says what it wants; importing it again mends this
		}
		if err != nil {
			return nil, err
		}
		m := MirrorServer{Server: *s, Unusable: "no toolset that brought it can be used"}
		for _, t := range sets {
			if slices.Contains(s.DeclaredBy, t.ID) && t.Usable() {
				m.ToolsetID, m.Revision, m.Least, m.Unusable = t.ID, t.Revision, t.Least, ""
				break
			}
		}
		if s.Own {
			m.Least, m.Unusable = toolset.LevelNone, ""
		}
		if !s.Enabled && m.Unusable == "" {
			m.Unusable = SwitchedOff
		}
		out = append(out, m)
	}
	return out, nil
}

// problem says why a whole toolset can't be used.
func (r *Registry) problem(set *rows) string {
	if set.set.Revoked != nil {
		return "its approval was taken back; fettle toolset trust " + set.set.ID + " gives it again"
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
