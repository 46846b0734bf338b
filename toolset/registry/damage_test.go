package registry

import (
	"bytes"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// tableNames are the tables of this package with their indexes, from the declaration.
func tableNames(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	v := reflect.ValueOf(*newTables())
	for i := range v.NumField() {
		table := v.Field(i).Elem().FieldByName("table").Elem()
		var indexes []string
		for j := range table.FieldByName("indexes").Len() {
			indexes = append(indexes, table.FieldByName("indexes").Index(j).FieldByName("name").String())
		}
		out[table.FieldByName("name").String()] = indexes
	}
	return out
}

// spoil makes the records of a table whose key contains a text unreadable; their index
// entries stay as they are. It returns how many there were.
func (w *world) spoil(table string, indexes []string, text string) int {
	w.t.Helper()
	var at kv.Key
	var none []kv.Index[string]
	for _, name := range indexes {
		none = append(none, kv.On(name, func(*string) kv.Key { return nil }))
	}
	spoiled := kv.NewTable(table, func(*string) kv.Key { return at }, none...)
	var keys []kv.Key
	err := w.o.Store.UpdateSync(w.t.Context(), func(tx *kv.Tx) error {
		for k, err := range spoiled.Keys(tx, kv.Range{}) {
			if err != nil {
				return err
			}
			if bytes.Contains(k, []byte(text)) && !bytes.Contains(k, []byte("other")) { // which names api.example.com
				keys = append(keys, bytes.Clone(k))
			}
		}
		for _, at = range keys {
			rubbish := "not such a record"
			if err := spoiled.Put(tx, &rubbish); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return len(keys)
}

// full is a bundle with a record in each table of a toolset.
func full(t *testing.T, id string) string {
	t.Helper()
	text := strings.NewReplacer("ID", id, "VERSION", "1.0.0", "DESCRIPTION", "Does it", "SERVER", id+"-server").Replace(example)
	return writeBundle(t, map[string]string{
		"toolset.yaml": text + strings.ReplaceAll(`pages:
  - id: NAME-page
    name: Page
    context: A page
    payloads: [NAME-note]
payloads:
  - type: NAME-note
    schema: {type: object}
`, "NAME", id),
		"tools/one.py": "def run(workspace, a=''):\n    return {}\n", "artifacts/view.html": "<p>hello</p>", "assets/server.js": "// server",
	})
}

// damagedWorld has two toolsets, two MCP servers of the user's and a builtin tool that is
// disabled; the records of a table that belong to the first of each are damaged.
func damagedWorld(t *testing.T, table string, indexes []string) *world {
	t.Helper()
	w := newWorld(t)
	ctx := t.Context()
	w.install(full(t, "example"))
	w.install(full(t, "other"))
	for _, id := range []string{"example", "other"} {
		if err := w.SetRenderer(ctx, id+":two", toolset.Renderer{Type: toolset.RenderCode}, 10); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"mine-example", "mine"} {
		if err := w.PutServer(ctx, manifest.MCPServer{ID: id, Command: "node"}, ServerSettings{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.SetToolEnabled(ctx, "read_file", false); err != nil {
		t.Fatal(err)
	}
	text := "example"
	if table == "toolset_generation" {
		text = ""
	}
	if w.spoil(table, indexes, text) == 0 {
		t.Fatal("there is no such record to damage")
	}
	return w
}

// othersWork checks that the mirror, the lists and changes work for what is not damaged.
func (w *world) othersWork() {
	w.t.Helper()
	ctx := w.t.Context()
	check := func(what string, err error) {
		w.t.Helper()
		if err != nil {
			w.t.Errorf("%s: %v", what, err)
		}
	}
	check("refresh", w.Refresh(ctx))
	m, err := w.Rebuild(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	usable := false
	for _, set := range m.Toolsets {
		usable = usable || set.ID == "other" && set.Usable() && len(set.Tools) == 2 && set.Tools[0].Usable() && set.Tools[1].Usable()
	}
	if !usable || !m.Builtins["read_file"].Disabled {
		w.t.Errorf("the mirror has %d toolsets, builtins %+v", len(m.Toolsets), m.Builtins)
	}
	if list, err := w.List(ctx); err != nil || len(list) == 0 || list[len(list)-1].Problem != "" || len(list[len(list)-1].Tools) != 2 {
		w.t.Errorf("list: %d, %v", len(list), err)
	}
	_, err = w.Revisions(ctx)
	check("revisions", err)
	_, err = w.SetEnabled(ctx, "other", true)
	check("enable", err)
	_, err = w.SetToolEnabled(ctx, "other:one", true)
	check("enable tool", err)
	_, err = w.SetServerEnabled(ctx, "mine", true)
	check("enable server", err)
	_, err = w.PinServer(ctx, "mine", []toolset.Tool{{ID: "mine:x", ToolsetID: "mine"}}, true)
	check("pin", err)
	_, err = w.Export(ctx, "other", io.Discard, ExportOptions{})
	check("export", err)
	check("revoke", w.Revoke(ctx, "other"))
	check("trust", w.Trust(ctx, "other", Trusted{Items: w.get("other").Items}))
	w.install(full(w.t.(*testing.T), "third"))
	_, err = w.Remove(ctx, "third")
	check("remove", err)
}

// named reports whether the list or the mirror names what is damaged.
func (w *world) named() bool {
	w.t.Helper()
	m, err := w.Rebuild(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, set := range m.Toolsets {
		named := strings.Contains(set.Problem, "damaged")
		for _, tool := range set.Tools {
			named = named || strings.Contains(tool.Problem, "damaged")
		}
		if set.ID == "example" && named {
			return true
		}
	}
	for _, s := range m.Servers {
		if s.ID == "mine-example" && strings.Contains(s.Unusable, "damaged") {
			return true
		}
	}
	return false
}

// A damaged record of one toolset or MCP server leaves all others as they are, is
// reported, and is replaced when the toolset is imported again.
func TestDamageInOneToolsetStaysAlone(t *testing.T) {
	t.Parallel()
	for table, indexes := range tableNames(t) {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			w := damagedWorld(t, table, indexes)
			if table != "toolset_generation" && !w.named() {
				t.Error("nothing reports the damage")
			}
			w.othersWork()
			w.install(full(t, "example"))
			if err := w.PutServer(ctx, manifest.MCPServer{ID: "mine-example", Command: "node"}, ServerSettings{}); err != nil {
				t.Errorf("add the server again: %v", err)
			}
			if err := w.RemoveRenderer(ctx, "example:two", 10); err != nil && table != "tool_render_configs" {
				t.Errorf("remove the renderer: %v", err)
			}
			if w.named() {
				t.Error("there is damage after the toolset was imported again")
			}
			w.sound()
		})
	}
}

// A toolset with a damaged record can be removed, and leaves no record.
func TestADamagedToolsetCanBeRemoved(t *testing.T) {
	t.Parallel()
	for table, indexes := range tableNames(t) {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			w := damagedWorld(t, table, indexes)
			if _, err := w.Remove(ctx, "example"); err != nil {
				t.Fatal(err)
			}
			if err := w.RemoveServer(ctx, "mine-example"); err != nil {
				t.Errorf("remove the server: %v", err)
			}
			w.othersWork()
			for table := range tableNames(t) {
				err := w.o.Store.View(ctx, func(tx *kv.Tx) error {
					for k, err := range kv.NewRawTable(table).Keys(tx, kv.Range{}) {
						if err != nil {
							return err
						}
						if bytes.Contains(k, []byte("example")) && !bytes.Contains(k, []byte("other")) {
							t.Errorf("%s still has %s", table, k)
						}
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// The record of a builtin tool was made to disable it, so a tool whose record is damaged
// stays disabled, until the user enables it.
func TestABuiltinToolStaysDisabledWhenItsRecordIsDamaged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.install(full(t, "other"))
	if err := w.PutServer(t.Context(), manifest.MCPServer{ID: "mine", Command: "node"}, ServerSettings{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.SetToolEnabled(t.Context(), "read_file", false); err != nil {
		t.Fatal(err)
	}
	if err := w.SetRenderer(t.Context(), "write_file", toolset.Renderer{Type: toolset.RenderCode}, 10); err != nil {
		t.Fatal(err)
	}
	tables := tableNames(t)
	if w.spoil("tools", tables["tools"], "read_file") != 1 || w.spoil("tool_render_configs", nil, "write_file") != 1 {
		t.Fatal("there are no such records to damage")
	}
	w.othersWork()
	if _, err := w.SetToolEnabled(t.Context(), "read_file", true); err != nil {
		t.Fatal(err)
	}
	if m, err := w.Rebuild(t.Context()); err != nil || m.Builtins["read_file"].Disabled {
		t.Errorf("after it was enabled: %+v, %v", m.Builtins, err)
	}
}
