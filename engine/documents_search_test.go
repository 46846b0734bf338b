package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/search"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
)

// subjects is an embedding model that knows a few subjects by their words, in any language.
type subjects struct {
	provider.Provider
	mu     sync.Mutex
	asked  [][]string
	before func(request int) error // nil is no error
	length int                     // of vectors; 0 is one number for each subject
}

var subjectWords = [][]string{
	{"car", "automobile", "vehicle", "engine"}, {"rain", "weather", "cloud", "umbrella"}, {"bread", "flour", "oven", "dough"},
}

func (s *subjects) Embed(ctx context.Context, req *provider.EmbedRequest) (*provider.Embedding, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.before != nil {
		if err := s.before(len(s.asked)); err != nil {
			return nil, err
		}
	}
	s.asked = append(s.asked, req.Texts)
	out := &provider.Embedding{Tokens: int64(len(req.Texts))}
	for _, text := range req.Texts {
		v := make([]float32, max(s.length, len(subjectWords)+1))
		v[len(subjectWords)] = 0.1
		for i, words := range subjectWords {
			for _, word := range words {
				v[i] += float32(strings.Count(strings.ToLower(text), word))
			}
		}
		out.Vectors = append(out.Vectors, v)
	}
	return out, nil
}

// texts returns the texts that were embedded since the last call, the queries among them.
func (s *subjects) texts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.Concat(s.asked...)
	s.asked = nil
	return out
}

// searcher makes a bench with an embedding model.
func searcher(t *testing.T) (*bench, *subjects) {
	t.Helper()
	b, s := newBench(t, toolScript), &subjects{Provider: named("local")}
	if err := b.o.Models.(*models.Catalog).Registry.Add("local", func() (provider.Provider, error) { return s, nil }); err != nil {
		t.Fatal(err)
	}
	b.o.Embedding = "local/subjects"
	return b, s
}

func (b *bench) addTexts(texts ...string) {
	b.t.Helper()
	var all []store.NewDocument
	for i := 0; i+1 < len(texts); i += 2 {
		all = append(all, store.NewDocument{Name: texts[i], MIME: "text/plain", Data: []byte(texts[i+1])})
	}
	if _, err := b.AddDocuments(b.t.Context(), all...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) find(query string) *FoundDocuments {
	b.t.Helper()
	q, err := search.Parse(query)
	if err != nil {
		b.t.Fatal(err)
	}
	found, err := b.SearchDocuments(b.t.Context(), DocumentSearch{Query: q})
	if err != nil {
		b.t.Fatal(err)
	}
	return found
}

// names are the documents of what was found, in order.
func (f *FoundDocuments) names() []string {
	var out []string
	for _, p := range f.Passages {
		out = append(out, p.Document.Name)
	}
	return out
}

// partsOf is how many parts the store has.
func (b *bench) storedParts() (n int) {
	b.t.Helper()
	err := b.KV.View(b.t.Context(), func(tx *kv.Tx) error {
		for _, err := range b.Tables.Passages.Keys(tx, kv.Range{}) {
			if err != nil {
				return err
			}
			n++
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}

var threeTexts = []string{
	"garage.md", "An automobile needs oil, and its engine a filter.",
	"kitchen.md", "Flour and water make a dough.\n\nThe oven has to be hot.",
	"sky.md", "A cloud brings rain.\nTake an umbrella.",
}

// Without an embedding model documents are found by words, and no provider is asked.
func TestDocumentsAreFoundByWords(t *testing.T) {
	t.Parallel()
	b, model := searcher(t)
	b.o.Embedding = ""
	b.addTexts(append(threeTexts, "copy.md", threeTexts[1], "café.md", "Çay is tea. Rain?")...)
	found := b.find("umbrella rain")
	if got, want := found.names(), []string{"sky.md", "café.md"}; !slices.Equal(got, want) || found.Model != "" {
		t.Errorf("found %v by %q, not %v by words", got, found.Model, want)
	}
	p := found.Passages[0]
	if p.Words != 1 || p.Meaning != 0 || p.Line != 1 || p.Text != threeTexts[5] || len(p.At) != 2 {
		t.Errorf("the first passage is %+v", p)
	}
	for query, want := range map[string][]string{
		"rain -umbrella": {"café.md"}, `"cloud brings"`: {"sky.md"}, "auto*": {"copy.md"}, "cay": {"café.md"}, "car": nil,
	} {
		if got := b.find(query).names(); !slices.Equal(got, want) {
			t.Errorf("%s finds %v, not %v", query, got, want)
		}
	}
	if asked := model.texts(); len(asked) > 0 {
		t.Errorf("the provider was asked to embed %q", asked)
	}
}

// A passage is found though it has no word of the query, and what is high in both rankings
// comes first.
func TestDocumentsAreFoundByMeaning(t *testing.T) {
	t.Parallel()
	b, _ := searcher(t)
	b.addTexts(append(threeTexts, "car.md", "A car is a vehicle.", "list.md", "Buy: car wax, flour, bread, an oven, rain coat")...)
	found := b.find("car")
	if got := found.names(); !slices.Equal(got[:2], []string{"car.md", "list.md"}) || !slices.Contains(got[:3], "garage.md") {
		t.Errorf("found %v", got)
	}
	if found.Model != "local/subjects" || found.NoMeaning != nil || found.Embedded != 5 {
		t.Errorf("ranked by %q (%v), with %d documents embedded", found.Model, found.NoMeaning, found.Embedded)
	}
	first, third := found.Passages[0], found.Passages[2]
	if first.Words == 0 || first.Meaning == 0 || third.Words != 0 || third.Meaning == 0 || third.Cosine < 0.9 {
		t.Errorf("the ranks are %+v and %+v", first, third)
	}
	if got := b.find("car -wax").names(); slices.Contains(got, "list.md") {
		t.Errorf("a passage with an excluded word is among %v", got)
	}
	if found, err := b.SearchDocuments(t.Context(), DocumentSearch{Query: search.Query{Clauses: first.query(t)}, OnlyWords: true}); err != nil || found.Model != "" || len(found.Passages) != 2 {
		t.Errorf("by words alone %+v are found, %v", found, err)
	}
}

func (p FoundPassage) query(t *testing.T) []search.Clause {
	t.Helper()
	q, err := search.Parse("car")
	if err != nil {
		t.Fatal(err)
	}
	return q.Clauses
}

// Only documents that the index does not have are embedded, by their content.
func TestDocumentsAreEmbeddedOnce(t *testing.T) {
	t.Parallel()
	b, model := searcher(t)
	b.addTexts(threeTexts...)
	b.find("car")
	if got := len(model.texts()); got != 1+3 {
		t.Errorf("%d texts were embedded at first, not a query and 3 passages", got)
	}
	onlyQuery := func(what string) {
		t.Helper()
		b.find("car")
		if got := model.texts(); !slices.Equal(got, []string{"car"}) {
			t.Errorf("%s, %q were embedded", what, got)
		}
	}
	onlyQuery("again")
	if _, err := b.DeleteDocuments(t.Context(), "garage.md"); err != nil {
		t.Fatal(err)
	}
	if got := b.find("car").names(); slices.Contains(got, "garage.md") {
		t.Errorf("a removed document is found: %v", got)
	}
	model.texts()
	b.addTexts("workshop.md", threeTexts[1])
	onlyQuery("with the content under another name")
	b.addTexts("new.md", "bread")
	b.find("car")
	if got := model.texts(); !slices.Equal(got, []string{"car", "bread"}) {
		t.Errorf("with a new document %q were embedded", got)
	}
	model.length = 20
	b.find("car")
	if got := len(model.texts()); got != 1+4 {
		t.Errorf("with another model by the same name %d texts were embedded, not 5", got)
	}
}

// What a cancelled or failed search has embedded is kept, and the next one continues.
func TestACancelledSearchContinues(t *testing.T) {
	t.Parallel()
	b, model := searcher(t)
	passages := 3*groupPassages + 7
	var long strings.Builder
	for i := range passages {
		fmt.Fprintf(&long, "%s%d\n\n", strings.Repeat("car ", 290), i)
	}
	b.addTexts("long.md", long.String())
	ctx, cancel := context.WithCancel(t.Context())
	model.before = func(request int) error {
		if request == 8 {
			cancel()
			return context.Canceled
		}
		return nil
	}
	q, _ := search.Parse("car")
	var seen []DocumentEmbedding
	_, err := b.SearchDocuments(ctx, DocumentSearch{Query: q, Progress: func(p DocumentEmbedding) { seen = append(seen, p) }})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("a cancelled search ended with %v", err)
	}
	if first, last := seen[0], seen[len(seen)-1]; first.Model != "local/subjects" || first.Documents != 1 || last.Done == 0 || last.Done > last.Bytes {
		t.Errorf("the progress was %+v to %+v", first, last)
	}
	kept := b.storedParts() * partPassages
	if kept == 0 {
		t.Fatal("nothing is kept of a cancelled search")
	}
	model.before = nil
	model.texts()
	if found := b.find("car"); found.NoMeaning != nil || len(found.Passages) != usualPassages {
		t.Errorf("the next search found %d passages, %v", len(found.Passages), found.NoMeaning)
	}
	var sent int
	for _, text := range model.texts() {
		if text != "car" {
			sent++
		}
	}
	if sent == 0 || sent > passages-kept {
		t.Errorf("the next search embedded %d passages of %d, though %d were kept", sent, passages, kept)
	}
}

// If the provider fails, the words are searched and the reason is returned.
func TestASearchFallsBackToWords(t *testing.T) {
	t.Parallel()
	b, model := searcher(t)
	b.addTexts(threeTexts...)
	model.before = func(int) error { return fault.New(fault.Usage, "the key is not accepted") }
	found := b.find("rain")
	if got := found.names(); !slices.Equal(got, []string{"sky.md"}) || found.Model != "" || found.NoMeaning == nil || !strings.Contains(found.NoMeaning.Error(), "not accepted") {
		t.Errorf("found %v by %q, %v", got, found.Model, found.NoMeaning)
	}
	b.o.Embedding = "nowhere/model"
	if found := b.find("rain"); found.NoMeaning == nil || len(found.Passages) != 1 {
		t.Errorf("with an unknown provider %+v", found)
	}
}

// A part that is damaged is embedded again, and a document without text costs nothing again.
func TestDamagedVectorsAreEmbeddedAgain(t *testing.T) {
	t.Parallel()
	b, model := searcher(t)
	b.addTexts(append(threeTexts, "blank.md", " \n ")...)
	want := b.find("car").names()
	model.texts()
	err := b.KV.Update(t.Context(), func(tx *kv.Tx) error {
		for key, err := range b.Tables.Passages.Keys(tx, kv.Range{}) {
			if err != nil {
				return err
			}
			return b.Tables.Passages.Put(tx, key, []byte("not a part"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.find("car"); got.NoMeaning != nil || len(got.Passages) != 3 || !slices.Equal(got.names(), want) {
		t.Errorf("with a damaged part %v are found, not %v: %v", got.names(), want, got.NoMeaning)
	}
	if got := model.texts(); len(got) > 2 {
		t.Errorf("%q were embedded for one part", got)
	}
}

// Vectors are removed together with their documents, and when no search uses their model.
func TestVectorsOfDocumentsAreRemoved(t *testing.T) {
	t.Parallel()
	b, _ := searcher(t)
	now := time.Now()
	b.o.Now = func() time.Time { return now }
	b.addTexts(threeTexts...)
	b.find("car")
	purge := func(want int, when string) {
		t.Helper()
		if _, err := b.CollectStates(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		if got := b.storedParts(); got != want {
			t.Errorf("%s %d parts are stored, not %d", when, got, want)
		}
	}
	purge(3, "at first")
	if _, err := b.DeleteDocuments(t.Context(), "sky.md"); err != nil {
		t.Fatal(err)
	}
	purge(3, "while the document can be restored")
	now = now.Add(store.DocumentKept + time.Hour)
	purge(2, "after the document's time")
	now = now.Add(store.IndexKept - 2*time.Hour - store.DocumentKept)
	b.find("car")
	now = now.Add(store.IndexKept - time.Hour)
	purge(2, "within the model's time")
	now = now.Add(2 * time.Hour)
	purge(0, "after the model's time")
	if got := b.find("car"); got.NoMeaning != nil || len(got.Passages) != 2 {
		t.Errorf("afterwards %+v are found", got)
	}
}

// Searches at the same time embed a document once.
func TestConcurrentSearchesEmbedOnce(t *testing.T) {
	t.Parallel()
	b, model := searcher(t)
	b.addTexts(threeTexts...)
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			if found := b.find("car"); len(found.Passages) != 3 {
				t.Errorf("found %v", found.names())
			}
		})
	}
	group.Wait()
	seen := map[string]int{}
	for _, text := range model.texts() {
		seen[text]++
	}
	if fmt.Sprint(seen[threeTexts[1]], seen[threeTexts[5]], seen["car"]) != "1 1 6" {
		t.Errorf("embedded %v", seen)
	}
}

// A model that was trained with texts in front of queries and passages gets them.
func TestModelsGetTheirPrompts(t *testing.T) {
	t.Parallel()
	b, model := searcher(t)
	b.o.Embedding = "local/nomic-embed-text:v1.5"
	b.addTexts("car.md", "A car.")
	b.find(`"a car" -rain`)
	if got, want := model.texts(), []string{"search_query: a car", "search_document: A car."}; !slices.Equal(got, want) {
		t.Errorf("%q were embedded, not %q", got, want)
	}
}
