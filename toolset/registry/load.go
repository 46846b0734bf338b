package registry

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// damagedRecords is the problem of a toolset of which a record can't be read.
const damagedRecords = "its records are damaged; import it again"

// damagedServer is the problem of an MCP server whose record can't be read.
const damagedServer = "its record is damaged; add it again, or import its toolset again"

// isDamaged reports whether an error is about a record that can't be read.
func isDamaged(err error) bool {
	var corrupt *kv.CorruptError
	return errors.As(err, &corrupt) && corrupt.OfRecord()
}

// absent reports whether an error means that there is no record, or one that can't be
// read and that may be replaced.
func absent(err error) bool { return err == nil || errors.Is(err, kv.ErrNotFound) || isDamaged(err) }

// damagedRecord gives an error of a toolset's or server's own record its id, if the
// record is damaged.
func damagedRecord(id string, err error) error {
	if isDamaged(err) {
		return &StateError{ID: id, Msg: "its record is damaged; add or import it again"}
	}
	return err
}

// load reads the records of a toolset. Of a record that is damaged the rows have only
// its key, so that it can be removed or replaced, and the toolset is marked as damaged.
func (t *tables) load(tx *kv.Tx, id string) (*rows, error) {
	r := &rows{broken: map[string]string{}}
	set, err := t.toolsets.Get(tx, kv.Str(id))
	switch {
	case isDamaged(err):
		r.set, r.unknown = Toolset{ID: id, Name: id}, true
		r.lose()
	case err != nil:
		return nil, err
	default:
		r.set = *set
	}
	prefix := kv.Range{Prefix: kv.Str(id)}
	r.tools, err = rowsIn(r, t.tools, byToolset(tx, t.tools, id), func(k keyParts) ToolRecord {
		return ToolRecord{Tool: toolset.Tool{ID: k.text(0), ToolsetID: id}}
	})
	if err != nil {
		return nil, err
	}
	if err := t.loadRenderers(tx, r); err != nil {
		return nil, err
	}
	r.declared, err = rowsIn(r, t.declared, byPrefix(tx, t.declared, prefix), func(k keyParts) ServerDeclaration {
		return ServerDeclaration{ToolsetID: id, ServerID: k.text(1)}
	})
	if err != nil {
		return nil, err
	}
	r.agents, err = rowsIn(r, t.agents, byPrefix(tx, t.agents, prefix), func(k keyParts) Agent {
		return Agent{ToolsetID: id, Agent: manifest.Agent{ID: k.text(1)}}
	})
	if err != nil {
		return nil, err
	}
	r.pages, err = rowsIn(r, t.pages, byToolset(tx, t.pages, id), func(k keyParts) Page {
		return Page{ToolsetID: id, Page: manifest.Page{ID: k.text(0)}}
	})
	if err != nil {
		return nil, err
	}
	r.payloads, err = rowsIn(r, t.payloads, byToolset(tx, t.payloads, id), func(k keyParts) PayloadType {
		return PayloadType{ToolsetID: id, Payload: manifest.Payload{Type: k.text(0)}}
	})
	if err != nil {
		return nil, err
	}
	r.approvals, err = rowsIn(r, t.approvals, byPrefix(tx, t.approvals, prefix), func(k keyParts) Approval {
		return Approval{ToolsetID: id, Kind: k.text(1), Name: k.text(2)}
	})
	r.sort()
	return r, err
}

// loadRenderers reads the renderers of the tools. A damaged one has no type, and its
// tool can't be used.
func (t *tables) loadRenderers(tx *kv.Tx, r *rows) error {
	for _, tool := range r.tools {
		lost := &rows{broken: map[string]string{}}
		list, err := rowsIn(lost, t.renderers, byPrefix(tx, t.renderers, kv.Range{Prefix: kv.Str(tool.ID)}), func(k keyParts) RenderConfig {
			return RenderConfig{ToolID: tool.ID, Priority: int(k.number(1))}
		})
		if err != nil {
			return err
		}
		if lost.damaged {
			r.broken[tool.ID] = "the record of its renderer is damaged; import its toolset again"
		}
		for _, c := range list {
			if c.Priority == 0 {
				r.renderers = append(r.renderers, c)
			} else {
				r.overrides = append(r.overrides, c)
			}
		}
	}
	return nil
}

// lose notes that a record of the toolset can't be read.
func (r *rows) lose() { r.damaged, r.broken[""] = true, damagedRecords }

// whole returns an error if a record of the toolset can't be read.
func (r *rows) whole() error {
	if r.damaged {
		return &StateError{ID: r.set.ID, Msg: damagedRecords}
	}
	return nil
}

// sort puts the rows that have a place in its order.
func (r *rows) sort() {
	slices.SortStableFunc(r.declared, func(a, b ServerDeclaration) int { return cmp.Compare(a.Place, b.Place) })
	slices.SortStableFunc(r.agents, func(a, b Agent) int { return cmp.Compare(a.Place, b.Place) })
	slices.SortStableFunc(r.pages, func(a, b Page) int { return cmp.Compare(a.Place, b.Place) })
	slices.SortStableFunc(r.payloads, func(a, b PayloadType) int { return cmp.Compare(a.Place, b.Place) })
}

// source is a part of a table that can be walked with the records and without them.
type source[T any] struct {
	records iter.Seq2[*T, error]
	keys    iter.Seq2[kv.Key, error]
	get     func(kv.Key) (*T, error)
}

func byPrefix[T any](tx *kv.Tx, table *kv.Table[T], r kv.Range) source[T] {
	return source[T]{table.Scan(tx, r), table.Keys(tx, r), func(k kv.Key) (*T, error) { return table.Get(tx, k) }}
}

func byToolset[T any](tx *kv.Tx, table *kv.Table[T], id string) source[T] {
	return source[T]{
		table.ByIndex(tx, "toolset", kv.Str(id), kv.Range{}), table.IndexKeys(tx, "toolset", kv.Str(id), kv.Range{}),
		func(k kv.Key) (*T, error) { return table.Get(tx, k) },
	}
}

// keyParts are the components of a record's key.
type keyParts []any

func (k keyParts) text(i int) string {
	if i < len(k) {
		s, _ := k[i].(string)
		return s
	}
	return ""
}

func (k keyParts) number(i int) int64 {
	if i < len(k) {
		n, _ := k[i].(int64)
		return n
	}
	return 0
}

// rowsIn reads records. In place of each damaged one it has what stub makes of its key,
// and notes the damage in r.
func rowsIn[T any](r *rows, table *kv.Table[T], from source[T], stub func(keyParts) T) ([]T, error) {
	var out []T
	lost := false
	for rec, err := range from.records {
		switch {
		case isDamaged(err):
			lost = true
		case err != nil:
			return nil, err
		default:
			out = append(out, *rec)
		}
	}
	if !lost {
		return out, nil
	}
	r.lose()
	for key, err := range from.keys {
		if err != nil {
			return nil, err
		}
		if _, err := from.get(key); !isDamaged(err) {
			continue
		}
		parts, err := key.Parts()
		if err != nil {
			return nil, fmt.Errorf("read the key of a damaged record: %w", err)
		}
		rec := stub(parts)
		if string(table.KeyOf(&rec)) != string(key) {
			return nil, fmt.Errorf("the damaged record %s can't be distinguished from others", key)
		}
		out = append(out, rec)
	}
	return out, nil
}

// declarers are the toolsets that declare a server, from their own records.
func (r *Registry) declarers(tx *kv.Tx, serverID string) ([]string, error) {
	var out []string
	for k, err := range r.tables.declared.Keys(tx, kv.Range{}) {
		if err != nil {
			return nil, err
		}
		parts, err := k.Parts()
		if err != nil {
			return nil, err
		}
		if p := keyParts(parts); p.text(1) == serverID {
			out = append(out, p.text(0))
		}
	}
	return out, nil
}

// serverRecord reads the record of an MCP server; [kv.ErrNotFound] if there is none. Of
// a damaged one it has what other records say of it, and lost is true.
func (r *Registry) serverRecord(tx *kv.Tx, id string) (s *Server, lost bool, err error) {
	s, err = r.tables.servers.Get(tx, kv.Str(id))
	if !isDamaged(err) {
		return s, false, err
	}
	by, err := r.declarers(tx, id)
	return &Server{ID: id, DeclaredBy: by, Own: len(by) == 0}, true, err
}
