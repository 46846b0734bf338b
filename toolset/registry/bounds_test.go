package registry

import (
	"errors"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/record/recordtest"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// refuses changes one record again and again, each time with one of its texts set to a long
// one. Each change is made, or is refused by an error that names id, and then no record is
// changed.
func refuses[T any](t *testing.T, w *world, table *kv.Table[T], id string, rec T) {
	t.Helper()
	texts := map[string]string{"stored": strings.Repeat("<&>", 300<<10), "too long": strings.Repeat("x", kv.MaxValue+1)}
	n := 0
	recordtest.EachText(&rec, func(field string, set func(string)) {
		n++
		if deep := strings.Count(field, ".") > 2; deep && n%20 != 0 {
			return // the store bounds the encoding of the whole record, so some of these are enough
		}
		for kind, text := range texts {
			if kind == "stored" && n > 3 { // the first ones are enough to see that others work
				continue
			}
			set(text)
			before := w.count()
			err := w.changing(t.Context(), touched{toolsets: []string{id}}, func(tx *kv.Tx) error { return table.Put(tx, &rec) })
			var big *TooBigError
			switch {
			case err == nil && kind == "too long":
				t.Errorf("%s: %d bytes are stored", field, len(text))
			case err == nil:
				if err := w.changing(t.Context(), touched{toolsets: []string{id}}, func(tx *kv.Tx) error { return table.Delete(tx, table.KeyOf(&rec)) }); err != nil {
					t.Errorf("%s: remove the record: %v", field, err)
				}
			case !errors.As(err, &big) || !strings.Contains(err.Error(), id) || len(err.Error()) > 300:
				t.Errorf("%s (%s): %.300v", field, kind, err)
			case w.count() != before:
				t.Errorf("%s (%s): a change that was refused has left records", field, kind)
			}
		}
	})
	if n == 0 {
		t.Errorf("%T has no text", rec)
	}
}

// count returns how many records there are in all tables, and the number of changes.
func (w *world) count() (n int) {
	w.t.Helper()
	err := w.o.Store.View(w.t.Context(), func(tx *kv.Tx) error {
		for table := range tableNames(w.t.(*testing.T)) {
			for _, err := range kv.NewRawTable(table).Keys(tx, kv.Range{}) {
				if err != nil {
					return err
				}
				n++
			}
		}
		now, err := w.generation(tx)
		n += 1000 * int(now)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// Each text of each record that is too long is refused by an error that names the toolset,
// and nothing is changed; other toolsets, tools and servers work as before.
func TestRecordsThatAreTooLongAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.install(full(t, "other"))
	if err := w.PutServer(t.Context(), manifest.MCPServer{ID: "mine", Command: "node"}, ServerSettings{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.SetToolEnabled(t.Context(), "read_file", false); err != nil {
		t.Fatal(err)
	}
	const id = "long-one"
	covered := map[string]func(){
		"toolsets":            func() { refuses(t, w, w.tables.toolsets, id, Toolset{ID: id}) },
		"toolset_files":       func() { refuses(t, w, w.tables.files, id, File{ToolsetID: id, Path: "a"}) },
		"tools":               func() { refuses(t, w, w.tables.tools, id, ToolRecord{}) },
		"tool_render_configs": func() { refuses(t, w, w.tables.renderers, id, RenderConfig{ToolID: id + ":a"}) },
		"toolset_mcp_servers": func() { refuses(t, w, w.tables.declared, id, ServerDeclaration{ToolsetID: id, ServerID: "s"}) },
		"mcp_servers":         func() { refuses(t, w, w.tables.servers, id, Server{ID: id}) },
		"agents":              func() { refuses(t, w, w.tables.agents, id, Agent{ToolsetID: id}) },
		"pages":               func() { refuses(t, w, w.tables.pages, id, Page{ToolsetID: id}) },
		"payload_types":       func() { refuses(t, w, w.tables.payloads, id, PayloadType{ToolsetID: id}) },
		"toolset_approvals":   func() { refuses(t, w, w.tables.approvals, id, Approval{ToolsetID: id}) },
	}
	for table := range tableNames(t) {
		switch test := covered[table]; {
		case test != nil:
			test()
		case table != "toolset_generation": // a number
			t.Errorf("nothing tests that the records of table %s are bounded", table)
		}
	}
	w.othersWork()
}
