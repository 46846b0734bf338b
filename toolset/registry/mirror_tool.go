package registry

import (
	"cmp"
	"strings"

	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/schema"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// defaultCategory is document 000's, for a tool whose manifest has none.
const defaultCategory = "general"

// mirrorTool makes one tool's entry, and finds out whether it can be used.
func (r *Registry) mirrorTool(tx *kv.Tx, set *rows, rec ToolRecord) (MirrorTool, error) {
	out := MirrorTool{Tool: rec.Tool, Service: rec.Service, Problem: set.broken[rec.ID]}
	out.Tool.Category = cmp.Or(out.Tool.Category, defaultCategory)
	fail := out.fail
	renderer, _, err := set.effective(rec.ID)
	if err != nil {
		fail("its renderer's record is damaged")
	}
	out.Tool.Renderer = renderer
	if err := r.locate(tx, set, rec.Entrypoint, &out); err != nil {
		return out, err
	}
	if _, err := schema.Compile(rec.InputSchema); err != nil {
		fail("its input_schema can't be used: " + err.Error())
	}
	if len(rec.OutputSchema) > 0 {
		if _, err := schema.Compile(rec.OutputSchema); err != nil {
			fail("its output_schema can't be used: " + err.Error())
		}
	}
	return out, nil
}

// locate finds the file of an entrypoint, or says why it can't be used.
func (r *Registry) locate(tx *kv.Tx, set *rows, entrypoint string, m *MirrorTool) error {
	entry, err := manifest.ParseEntrypoint(entrypoint)
	if err != nil {
		m.fail("its entrypoint can't be used")
		return nil
	}
	f, err := r.oneFile(tx, &set.set, entry.Files())
	switch {
	case isDamaged(err):
		m.fail("the record of its file is damaged; import its toolset again")
	case err != nil:
		return err
	case f == nil:
		m.fail(entry.Files()[0] + " is not among its files")
	default:
		m.Function, m.File, m.SHA256 = entry.Function, f.Path, f.SHA256
		m.Module = moduleOf(f.Path)
	}
	return nil
}

// fail notes why it can't be used; the first reason counts.
func (t *MirrorTool) fail(why string) {
	if t.Problem == "" {
		t.Problem = why
	}
}

// moduleOf is the Python name of a file, from the folder on.
func moduleOf(file string) string {
	file = strings.TrimSuffix(strings.TrimSuffix(file, ".py"), "/__init__")
	return strings.ReplaceAll(file, "/", ".")
}

// builtinChanges are the rows of builtin tools.
func (r *Registry) builtinChanges(tx *kv.Tx) (map[string]BuiltinChange, error) {
	out := map[string]BuiltinChange{}
	for _, id := range r.o.Builtins {
		var change BuiltinChange
		rec, err := r.tables.tools.Get(tx, kv.Str(id))
		if !absent(err) {
			return nil, err
		}
		// a record that can't be read was made to disable the tool
		change.Disabled = isDamaged(err) || err == nil && !rec.Enabled
		for c, err := range r.tables.renderers.Scan(tx, kv.Range{Prefix: kv.Str(id)}) {
			if isDamaged(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if renderer, err := c.rendererOf(); err == nil { // ascending: the last counts
				change.Renderer = renderer
			}
		}
		if change != (BuiltinChange{}) {
			out[id] = change
		}
	}
	return out, nil
}

// mirrorPayload makes one payload's entry, with what runs its parser.
func (r *Registry) mirrorPayload(tx *kv.Tx, set *rows, p manifest.Payload) (MirrorPayload, error) {
	out := MirrorPayload{Payload: p}
	if p.Parser == "" {
		return out, nil
	}
	m := &MirrorTool{Tool: toolset.Tool{ID: set.set.ID + ":" + p.Type, ToolsetID: set.set.ID}, Parser: true}
	err := r.locate(tx, set, p.Parser, m)
	out.Parser = m
	return out, err
}
