package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/retrieval"
	"github.com/fettle-cli/fettle/engine/search"
	"github.com/fettle-cli/fettle/engine/store"
)

const (
	// MaxFoundPassages bounds [DocumentSearch.Limit].
	MaxFoundPassages = 100
	// usualPassages is the limit of a search that names none.
	usualPassages = 10
	// rankedPassages is how many passages of each ranking are joined: a passage that is low
	// in one of them can still be among the first of both together.
	rankedPassages = 2 * MaxFoundPassages
)

// DocumentSearch asks for the passages of stored documents that fit a query best.
type DocumentSearch struct {
	Query search.Query
	// Limit is how many passages are returned; 0 is 10.
	Limit int
	// OnlyWords ranks by words alone, also if an embedding model is configured: nothing is
	// sent to a provider.
	OnlyWords bool
	// Progress is called while documents are embedded that were not before; nil is not called.
	Progress func(DocumentEmbedding)
}

// DocumentEmbedding describes how far the embedding of new documents is.
type DocumentEmbedding struct {
	Model     string // provider/model, which gets the texts
	Documents int    // how many documents are embedded
	// Done and Bytes are the size of what is embedded, and of all of the documents.
	Done, Bytes int64
}

// FoundDocuments is the result of a search. Passages are ordered by Score, the best one first.
type FoundDocuments struct {
	Passages []FoundPassage
	// Searched is how many documents have text, those with the same content counted once.
	Searched int
	// Model is the embedding model that ranked by meaning; empty is a ranking by words alone.
	Model string
	// Embedded is how many documents were embedded by this search, Tokens what the provider
	// counted for them and the query; 0 is unknown.
	Embedded int
	Tokens   int64
	// NoMeaning is why there is no ranking by meaning though a model is configured.
	NoMeaning error
}

// FoundPassage is a passage of a document.
type FoundPassage struct {
	Document store.Document
	Line     int // of the document, from 1, in which the passage begins
	// Start and End are where the passage is in the document, in bytes.
	Start, End int
	Text       string
	// At are the places of the query's words in Text, in characters.
	At [][2]int
	// Score decides the order. With both rankings it is that of [retrieval.Fuse], else BM25.
	Score float64
	// Words and Meaning are the ranks in the two rankings, from 1; 0 is not among the first.
	Words, Meaning int
	// Cosine is the similarity to the query, -1 to 1; 0 without a rank by meaning.
	Cosine float64
}

// documentSearch is a search that is being answered.
type documentSearch struct {
	e   *Engine
	q   DocumentSearch
	out FoundDocuments
	// docs are the documents with text, one for each content, by name.
	docs []store.Document
	// read is the content of the document that was read last.
	read struct {
		doc  int
		text string
	}
}

// SearchDocuments returns the passages that fit a query best. Without an embedding model they
// are ranked by words. With one they are also ranked by meaning, and the two rankings are
// joined; documents that were not embedded with the model yet are embedded first, which sends
// their text to the model's provider. What is embedded when the search is cancelled or fails
// is kept. If the ranking by meaning fails, the search falls back to words and returns the
// reason.
func (e *Engine) SearchDocuments(ctx context.Context, q DocumentSearch) (*FoundDocuments, error) {
	ctx, leave, err := e.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if q.Limit = min(cmp.Or(q.Limit, usualPassages), MaxFoundPassages); q.Limit < 0 {
		q.Limit = usualPassages
	}
	s := &documentSearch{e: e, q: q}
	s.read.doc = -1
	if s.docs, err = e.TextDocuments(ctx); err != nil || len(s.docs) == 0 {
		return &s.out, err
	}
	s.out.Searched = len(s.docs)
	var meaning []retrieval.Hit
	if e.o.Embedding != "" && !q.OnlyWords {
		meaning, err = s.byMeaning(ctx)
		if ctx.Err() != nil {
			return nil, err
		}
		if err != nil {
			s.out.Model, s.out.NoMeaning = "", err
		}
	}
	words, err := s.byWords(ctx)
	if err != nil {
		return nil, err
	}
	meaning = slices.DeleteFunc(meaning, words.Excludes)
	return &s.out, s.join(ctx, words.Best(rankedPassages), meaning)
}

// byWords ranks all passages by the words of the query.
func (s *documentSearch) byWords(ctx context.Context) (*retrieval.Words, error) {
	words := retrieval.NewWords(s.q.Query)
	for i := range s.docs {
		text, err := s.text(ctx, i)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			s.e.o.Notice(err.Error() + "; the search leaves it out")
			continue
		}
		words.Add(i, text, retrieval.Passages(text))
	}
	return words, nil
}

// text returns the text of a document.
func (s *documentSearch) text(ctx context.Context, doc int) (string, error) {
	if s.read.doc == doc {
		return s.read.text, nil
	}
	raw, err := s.e.DocumentContent(ctx, s.docs[doc])
	if err != nil {
		return "", err
	}
	s.read.doc, s.read.text = doc, string(raw)
	return s.read.text, nil
}

// join orders the passages of both rankings and fills in what is shown of the first ones.
func (s *documentSearch) join(ctx context.Context, words, meaning []retrieval.Hit) error {
	order := words
	if s.out.Model != "" {
		order = retrieval.Fuse(words, meaning)
	}
	rank := func(ranking []retrieval.Hit, h retrieval.Hit) int {
		return 1 + slices.IndexFunc(ranking, func(o retrieval.Hit) bool { return o.Doc == h.Doc && o.Start == h.Start })
	}
	for _, h := range order[:min(len(order), s.q.Limit)] {
		text, err := s.text(ctx, h.Doc)
		if err != nil {
			return err
		}
		found := FoundPassage{
			Document: s.docs[h.Doc], Line: 1 + strings.Count(text[:h.Start], "\n"), Start: h.Start, End: h.End,
			Text: text[h.Start:h.End], Score: h.Score, Words: rank(words, h), Meaning: rank(meaning, h),
		}
		found.At = search.Places(found.Text, s.q.Query.Find(found.Text))
		if found.Meaning > 0 {
			found.Cosine = meaning[found.Meaning-1].Score
		}
		s.out.Passages = append(s.out.Passages, found)
	}
	return nil
}

// queryText is what is embedded of a query: all but what is to be left out.
func queryText(q search.Query) string {
	var parts []string
	for _, c := range q.Clauses {
		if !c.Not {
			parts = append(parts, c.Text)
		}
	}
	return strings.Join(parts, " ")
}

// byMeaning ranks all passages by the cosine between their vectors and that of the query.
func (s *documentSearch) byMeaning(ctx context.Context) ([]retrieval.Hit, error) {
	emb, err := s.e.embedding(ctx, EmbedRequest{Texts: []string{queryText(s.q.Query)}})
	if err != nil {
		return nil, err
	}
	x := &passageIndex{s: s, model: emb.out.Model, prompt: retrieval.PromptOf(emb.name)}
	s.out.Model = x.model
	emb.req.Texts[0] = x.prompt.Query + emb.req.Texts[0]
	if err := emb.ask(ctx); err != nil {
		return nil, err
	}
	s.out.Tokens += emb.out.Tokens
	query := emb.out.Vectors[0]
	retrieval.Unit(query)
	x.name = indexName(x.model, len(query))
	return x.rank(ctx, query)
}
