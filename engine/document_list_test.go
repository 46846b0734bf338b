package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
)

func textDocument(name string) store.NewDocument {
	return store.NewDocument{Name: name, MIME: store.TextMIME, Data: []byte("content of " + name)}
}

func documentNames(docs []store.Document) []string {
	out := make([]string, len(docs))
	for i, d := range docs {
		out[i] = d.Name
	}
	return out
}

// Documents are found by their names through the index: a record that can't be read
// does not affect other records.
func TestDocumentsAreFoundByTheirNames(t *testing.T) {
	t.Parallel()
	b, _ := newRogue(t, nil)
	var all []store.NewDocument
	for i := range 30 {
		all = append(all, textDocument(fmt.Sprintf("note%02d.md", i)))
	}
	if _, err := b.AddDocuments(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	type unreadable struct {
		ID int `json:"id"` // a Document's is a string
	}
	other := kv.NewTable("documents", func(*unreadable) kv.Key { return kv.Str("unreadable") },
		kv.UniqueOn("name", func(*unreadable) kv.Key { return nil }))
	err := b.KV.Update(t.Context(), func(tx *kv.Tx) error { return other.Put(tx, &unreadable{5}) })
	if err != nil {
		t.Fatal(err)
	}
	added, err := b.AddDocuments(t.Context(), textDocument("another.md"), textDocument("note03.md"))
	if err != nil || added[0].Same || !added[1].Same {
		t.Errorf("%+v, %v", added, err)
	}
	if d, err := b.FindDocument(t.Context(), "note07.md"); err != nil || d.Name != "note07.md" {
		t.Errorf("%+v, %v", d, err)
	}
	for name, c := range map[string]struct {
		f    store.DocumentFilter
		want []string
	}{
		"the first":    {store.DocumentFilter{Limit: 3}, []string{"another.md", "note00.md", "note01.md"}},
		"by a prefix":  {store.DocumentFilter{Prefix: "note1", Limit: 2}, []string{"note10.md", "note11.md"}},
		"a whole name": {store.DocumentFilter{Prefix: "note29.md"}, []string{"note29.md"}},
		"none":         {store.DocumentFilter{Prefix: "zz"}, []string{}},
	} {
		docs, err := b.ListDocuments(t.Context(), c.f)
		if got := documentNames(docs); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
}

// Documents that were stored together are removed, and their contents collected,
// one by one.
func TestDocumentsOfOneCallAreKeptApart(t *testing.T) {
	t.Parallel()
	b, _ := newRogue(t, nil)
	docs, err := b.AddDocuments(t.Context(), textDocument("a.md"), textDocument("b.md"), textDocument("c.md"))
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]bool{}
	for _, d := range docs {
		states[d.ManifestID] = true
		content, err := b.DocumentContent(t.Context(), d.Document)
		if err != nil || string(content) != "content of "+d.Name {
			t.Errorf("%s has %q, %v", d.Name, content, err)
		}
	}
	if len(states) != 3 {
		t.Errorf("the states are %v", states)
	}
	if _, err := b.DeleteDocuments(t.Context(), "b.md"); err != nil {
		t.Fatal(err)
	}
	removed, err := b.ListDocuments(t.Context(), store.DocumentFilter{Removed: true, Limit: 5})
	if err != nil || !slices.Equal(documentNames(removed), []string{"b.md"}) {
		t.Errorf("%q, %v", documentNames(removed), err)
	}
	later := b.o.Now().Add(2 * store.DocumentKept)
	b.o.Now = func() time.Time { return later }
	if report, err := b.CollectStates(t.Context(), false); err != nil || report.Manifests != 1 || report.Blobs != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}
