package registry

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset/bundle"
	"github.com/fettle-cli/fettle/toolset/gallery"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// PlanOptions is how a bundle is looked at.
type PlanOptions struct {
	// Env looks an environment variable up; nil has none.
	Env func(name string) (string, bool)
	// Progress hears how far reading is, and of how much; total is 0 where that
	// isn't known.
	Progress func(done, total int64)
	// Client fetches addresses; nil means one that reaches public hosts only.
	Client *http.Client
	// WorkDir is what a relative path is meant from.
	WorkDir string
	// Uploaded is the name that the sender gave a bundle of which the path names a copy;
	// empty for a bundle at its own place. The source is that name.
	Uploaded string
}

// Plan is a bundle that can be imported. It must be closed.
type Plan struct {
	// Manifest is what toolset.yaml says, or was made of another format's.
	Manifest *manifest.Manifest
	Kind     bundle.Kind
	Source   bundle.Source
	// BundleHash is that of the bundle as it came, Hash that of the contents as
	// they would be installed.
	BundleHash, Hash string
	Files            []File
	// Items are what has to be approved, the most dangerous first.
	Items []Item
	// Variables are the environment variables that it gets.
	Variables []Variable
	// Notes and Warnings are for people, each one printable line.
	Notes, Warnings []string
	// Lacking are the tools whose module is not in the bundle, and Breaks those of them
	// that the installed version has.
	Lacking, Breaks []Lacking
	// Installed is the version that is there; nil where there is none.
	Installed *Toolset
	// Changes and FileChanges are what differs from it.
	Changes     []Change
	FileChanges []FileChange
	// Same tells that the contents are those that are installed.
	Same bool

	bundle  *bundle.Bundle
	yaml    []byte
	pending bool // something of it isn't approved
}

// Lacking is a tool whose module is not in its bundle.
type Lacking struct{ Tool, File string }

// lackingTools returns the tools of a manifest whose modules are not among some files.
func lackingTools(m *manifest.Manifest, files []File) (out []Lacking) {
	for _, t := range m.Tools {
		e, err := manifest.ParseEntrypoint(t.Entrypoint)
		if err != nil {
			continue // a tool without a module of its own
		}
		if _, ok := findFile(files, e.Files()); !ok {
			out = append(out, Lacking{Tool: t.ID, File: e.Files()[0]})
		}
	}
	return out
}

// Variable is an environment variable that a toolset gets.
type Variable struct {
	manifest.Use
	// Missing tells that it isn't set here.
	Missing bool `json:"missing"`
}

// FileChange is one file that differs from the installed version.
type FileChange struct {
	Path string `json:"path"`
	// Change is added, changed or removed.
	Change string `json:"change"`
}

// Asks tells that something of it has to be approved before it is imported.
func (p *Plan) Asks() bool { return p.pending }

// Close lets go of the bundle. It may be called again.
func (p *Plan) Close() error { return p.bundle.Close() }

// Plan looks at a bundle: a path or an https address. Nothing is changed. A
// bundle that is refused is a [*bundle.Error], a manifest that can't be used a
// [*manifest.Error], and one that can't be installed beside what is there a
// [*ClashError].
func (r *Registry) Plan(ctx context.Context, ref string, o PlanOptions) (*Plan, error) {
	b, ref, err := r.open(ctx, ref, o)
	if err != nil {
		return nil, err
	}
	p := &Plan{bundle: b, Kind: b.Kind, Source: b.Source, BundleHash: b.Hash}
	if o.Uploaded != "" {
		p.Source.Ref = uploadPrefix + bundle.Printable(o.Uploaded)
	}
	if err := errors.Join(p.read(ref), ctx.Err()); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	p.look(o)
	if err := r.compareInstalled(ctx, p); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// open opens the bundle that a reference names. It also returns the reference with an
// absolute path.
func (r *Registry) open(ctx context.Context, ref string, o PlanOptions) (*bundle.Bundle, string, error) {
	options := bundle.Options{Progress: o.Progress, Client: o.Client, Temporaries: atomicfile.OpenLedger(r.o.DataDir)}
	if id, ok := gallery.ID(ref); ok {
		files, err := gallery.Files(id)
		if err != nil {
			return nil, ref, err
		}
		b, err := bundle.OpenFS(ctx, files, ref, options)
		return b, ref, err
	}
	if !strings.Contains(ref, "://") && !filepath.IsAbs(ref) {
		ref = filepath.Join(o.WorkDir, ref)
	}
	b, err := bundle.Open(ctx, ref, options)
	return b, ref, err
}

// PlanUpdate looks at what the source of an installed toolset holds now.
func (r *Registry) PlanUpdate(ctx context.Context, id string, o PlanOptions) (*Plan, error) {
	var set *rows
	err := r.view(ctx, func(tx *kv.Tx) (err error) { set, err = r.load(tx, id); return err })
	if err == nil && set == nil {
		err = &NotFoundError{What: "toolset", ID: id}
	}
	if err == nil && set.unknown {
		err = set.whole()
	}
	if err != nil {
		return nil, err
	}
	if _, ok := gallery.ID(set.set.SourceRef); !ok && set.set.SourceType == bundle.FromProgram {
		return nil, &StateError{
			ID: id, Msg: "it came with fettle itself, and has no file to be updated from",
			Fix: Fix{Kind: FixDemo, Effect: "installs what this fettle holds"},
		}
	}
	if name, ok := set.set.uploadedAs(); ok {
		return nil, &StateError{
			ID: id, Msg: "it was uploaded as " + name + ", and where that file is isn't known here",
			Fix: Fix{Kind: FixImport, Effect: "installs a later version of it"},
		}
	}
	p, err := r.Plan(ctx, set.set.SourceRef, o)
	if err != nil {
		return nil, err
	}
	if p.Manifest.ID != id {
		return nil, errors.Join(&StateError{
			ID: id, Msg: fmt.Sprintf("%s holds the toolset %s now, not %s", set.set.SourceRef, p.Manifest.ID, id),
			Fix: Fix{Kind: FixImport, Source: set.set.SourceRef},
		}, p.Close())
	}
	return p, nil
}

// read takes the manifest of the bundle, or makes one.
func (p *Plan) read(ref string) error {
	raw, err := p.bundle.Manifest()
	if err != nil {
		return err
	}
	for _, n := range p.bundle.Notes {
		p.Notes = append(p.Notes, n.String())
	}
	var problems []manifest.Problem
	switch p.Kind {
	case bundle.MCPB:
		err = p.converted(manifest.FromMCPB(raw))
	case bundle.Skill:
		err = p.converted(manifest.FromSkill(p.skillFolder(ref), raw, p.besides(bundle.Skill.ManifestFile())))
	default:
		d := manifest.Parse(manifest.FileName, raw, manifest.Options{})
		p.Manifest, problems, err = d.Manifest, d.Problems, d.Err()
	}
	if err != nil {
		return err
	}
	for _, w := range problems {
		if w.Level == manifest.LevelWarning {
			p.Warnings = append(p.Warnings, fmt.Sprintf("%s:%d: %s", w.File, w.Line, w.Message))
		}
	}
	// as the records will give it back, so that it can be compared with them
	if p.Manifest, err = rowsOf(p.Manifest).manifest(); err != nil {
		return err
	}
	if p.yaml, err = manifest.Marshal(p.Manifest); err != nil {
		return err
	}
	p.list()
	return nil
}

func (p *Plan) converted(c *manifest.Converted, err error) error {
	if err != nil {
		return &bundle.Error{Code: bundle.Manifest, Msg: err.Error()}
	}
	p.Manifest = c.Manifest
	p.Notes = append(p.Notes, c.Notes...)
	for _, w := range c.Warnings {
		p.Warnings = append(p.Warnings, w.Message)
	}
	return nil
}

// skillFolder is the name of the folder that a skill lies in, if it has one.
func (p *Plan) skillFolder(ref string) string {
	for _, n := range p.bundle.Notes {
		if n.Code == bundle.NoteFolder {
			return strings.TrimSuffix(n.Path, "/")
		}
	}
	if p.Source.Type != bundle.FromFolder {
		return ""
	}
	if path.Base(filepath.ToSlash(ref)) == bundle.Skill.ManifestFile() {
		ref = filepath.Dir(ref)
	}
	return filepath.Base(ref)
}

func (p *Plan) besides(manifestFile string) []string {
	var out []string
	for _, f := range p.bundle.Files {
		if f.Path != manifestFile {
			out = append(out, f.Path)
		}
	}
	return out
}

// under is the folder that the bundle's own files come to lie in.
func (p *Plan) under() string {
	if p.Kind == bundle.Toolset {
		return ""
	}
	return manifest.ConvertedFolder
}

// list makes the rows of the files as they will be installed.
func (p *Plan) list() {
	sum := sha256.Sum256(p.yaml)
	p.Files = append(p.Files, File{
		Path: manifest.FileName, Kind: "config", SHA256: hex.EncodeToString(sum[:]), Size: int64(len(p.yaml)),
	})
	for _, f := range p.bundle.Files {
		to, kind := path.Join(p.under(), f.Path), f.Kind
		if p.Kind != bundle.Toolset {
			kind = "asset"
		}
		if to != manifest.FileName {
			p.Files = append(p.Files, File{Path: to, Kind: kind, SHA256: f.SHA256, Size: f.Size})
		}
	}
	slices.SortFunc(p.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	p.Hash = contentHash(p.Files)
	for i := range p.Files {
		p.Files[i].ToolsetID, p.Files[i].Revision = p.Manifest.ID, p.revision()
	}
}

// revisionLength is how much of the hash names a folder: enough that no two
// meet, and short enough for the paths of Windows.
const revisionLength = 16

func (p *Plan) revision() string { return p.Hash[:revisionLength] }

// contentHash is the same for the same files.
func contentHash(sorted []File) string {
	sum := sha256.New()
	fmt.Fprintln(sum, "fettle toolset 1")
	for _, f := range sorted {
		fmt.Fprintf(sum, "%s %s\n", f.SHA256, f.Path) // no path holds a line break
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// look fills in what a person has to see.
func (p *Plan) look(o PlanOptions) {
	p.Items = itemsOf(p.Manifest, p.Files)
	for _, u := range p.Manifest.Variables() {
		v := Variable{Use: u, Missing: !u.Optional}
		if o.Env != nil {
			_, set := o.Env(u.Name)
			v.Missing = !set && !u.Optional
		}
		p.Variables = append(p.Variables, v)
	}
	p.Lacking = lackingTools(p.Manifest, p.Files)
	for _, ref := range p.Manifest.Files() {
		if _, ok := p.find(ref.Paths); !ok {
			p.Warnings = append(p.Warnings, fmt.Sprintf("%s is not in the bundle (%s needs it)", bundle.Printable(ref.Paths[0]), bundle.Printable(ref.Pointer)))
		}
	}
}

func (p *Plan) find(paths []string) (File, bool) { return findFile(p.Files, paths) }

// findFile gives the first of several paths that is there. files are sorted.
func findFile(files []File, paths []string) (File, bool) {
	for _, want := range paths {
		i, ok := slices.BinarySearchFunc(files, want, func(f File, p string) int { return cmp.Compare(f.Path, p) })
		if ok {
			return files[i], true
		}
	}
	return File{}, false
}

// compareInstalled holds the plan against the records.
func (r *Registry) compareInstalled(ctx context.Context, p *Plan) error {
	p.pending = true
	if slices.Contains(r.o.Builtins, p.Manifest.ID) {
		return &ClashError{ID: p.Manifest.ID, With: "fettle", Msg: fmt.Sprintf("a toolset can't be called %s: that is a builtin tool's name", p.Manifest.ID)}
	}
	return r.view(ctx, func(tx *kv.Tx) error {
		if err := r.clashes(tx, p.Manifest); err != nil {
			return err
		}
		old, err := r.tables.load(tx, p.Manifest.ID)
		if errors.Is(err, kv.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		files, err := r.files(tx, &old.set)
		if isDamaged(err) {
			old.lose()
		} else if err != nil {
			return err
		}
		was, unreadable := old.manifest()
		if old.damaged || unreadable != nil { // nothing to compare with: all of it is imported and approved again
			p.Notes = append(p.Notes, "records of the installed version are damaged; this import replaces them")
			return nil
		}
		p.compareWith(old, was, files)
		return nil
	})
}

// compareWith fills in what differs from the installed version.
func (p *Plan) compareWith(old *rows, was *manifest.Manifest, files []File) {
	set := old.set
	p.Installed = &set
	p.Changes = compare(itemsOf(was, files), p.Items, pins(old.approvals))
	p.FileChanges = fileChanges(files, p.Files)
	p.Same = set.Hash == p.Hash
	if had := lackingTools(was, files); len(p.Lacking) > 0 {
		p.Breaks = slices.DeleteFunc(slices.Clone(p.Lacking), func(l Lacking) bool {
			return slices.ContainsFunc(had, func(h Lacking) bool { return h.Tool == l.Tool })
		})
	}
	// what nothing contains is looked at each time
	p.pending = set.Revoked != nil || set.Uncontained && !p.Same || slices.ContainsFunc(p.Changes, func(c Change) bool { return c.Asks })
	if manifest.CompareVersions(p.Manifest.Version, set.Version) < 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("it is older than the installed version %s", set.Version))
	}
	if set.Uncontained {
		p.Notes = append(p.Notes, "you let its tools run where this system can't contain them")
	}
	if p.Source != (bundle.Source{Type: set.SourceType, Ref: set.SourceRef}) {
		p.Notes = append(p.Notes, fmt.Sprintf("the installed one came from %s", bundle.Printable(set.SourceRef)))
	}
}

func pins(approvals []Approval) map[[2]string]string {
	out := map[[2]string]string{}
	for _, a := range approvals {
		out[[2]string{a.Kind, a.Name}] = a.SHA256
	}
	return out
}

func fileChanges(before, after []File) []FileChange {
	var out []FileChange
	for _, f := range after {
		old, there := findFile(before, []string{f.Path})
		switch {
		case f.Path == manifest.FileName: // what differs in it is told item by item
		case !there:
			out = append(out, FileChange{f.Path, "added"})
		case old.SHA256 != f.SHA256:
			out = append(out, FileChange{f.Path, "changed"})
		}
	}
	for _, f := range before {
		if _, there := findFile(after, []string{f.Path}); !there {
			out = append(out, FileChange{f.Path, "removed"})
		}
	}
	return out
}

// clashes tells what keeps a toolset from being installed beside the others.
func (r *Registry) clashes(tx *kv.Tx, m *manifest.Manifest) error {
	for _, s := range m.MCPServers {
		if err := r.serverClash(tx, m.ID, s); err != nil {
			return err
		}
	}
	if server, err := r.tables.servers.Get(tx, kv.Str(m.ID)); err == nil && !slices.Contains(server.DeclaredBy, m.ID) {
		if server.Own {
			return &ClashError{ID: m.ID, With: "fettle", Msg: m.ID + " is already the name of an MCP server of yours"}
		}
		return &ClashError{ID: m.ID, With: server.DeclaredBy[0], Msg: fmt.Sprintf("%s is already the name of an MCP server of %s", m.ID, strings.Join(server.DeclaredBy, ", "))}
	} else if !absent(err) {
		return err
	}
	for _, p := range m.Pages {
		other, err := r.tables.pages.Get(tx, kv.Str(p.ID))
		if err == nil && other.ToolsetID != m.ID {
			return &ClashError{ID: m.ID, With: other.ToolsetID, Msg: fmt.Sprintf("its page %s is already one of %s", p.ID, other.ToolsetID)}
		}
		if !absent(err) {
			return err
		}
	}
	for _, p := range m.Payloads {
		other, err := r.tables.payloads.Get(tx, kv.Str(p.Type))
		if err == nil && other.ToolsetID != m.ID {
			return &ClashError{ID: m.ID, With: other.ToolsetID, Msg: fmt.Sprintf("its payload type %s is already one of %s", p.Type, other.ToolsetID)}
		}
		if !absent(err) {
			return err
		}
	}
	return nil
}

func (r *Registry) serverClash(tx *kv.Tx, id string, s manifest.MCPServer) error {
	if has, err := r.tables.toolsets.Has(tx, kv.Str(s.ID)); err != nil || has && s.ID != id {
		return cmp.Or(err, error(&ClashError{ID: id, With: s.ID, Msg: fmt.Sprintf("its MCP server %s has the name of another toolset", s.ID)}))
	}
	server, err := r.tables.servers.Get(tx, kv.Str(s.ID))
	if err != nil {
		if absent(err) {
			return nil
		}
		return err
	}
	if server.Own {
		return &ClashError{ID: id, With: "fettle", Msg: fmt.Sprintf("its MCP server %s has the name of one of yours", s.ID)}
	}
	others := without(server.DeclaredBy, id)
	if len(others) == 0 || sameServer(server.Config, s) {
		return nil
	}
	return &ClashError{ID: id, With: others[0], Msg: fmt.Sprintf("its MCP server %s is already one of %s, with another command or address", s.ID, strings.Join(others, ", "))}
}

func without(list []string, gone string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == gone })
}
