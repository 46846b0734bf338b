package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/retrieval"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
)

const (
	// partPassages is how many passages share a value of the store.
	partPassages = 32
	// groupPassages is how many passages are embedded before their vectors are stored: what
	// a cancelled search loses at most. A group has passages of several documents, so that
	// many short ones take few requests.
	groupPassages = 4 * partPassages
	// viewedParts is how many parts are compared within one operation of the store, which
	// others wait for: some 10 MB, or 10 ms.
	viewedParts = 64
)

// passageIndex has the vectors of all passages of documents, in parts of partPassages. The key
// of a part is the name of the index, the digest of the document, the number of the part and
// how many parts there are, so that the keys alone show which documents are missing. Its
// value is, for each passage, its begin and end, as 32 bits each, and then the vectors, scaled
// to the length 1. A vector depends on the content and the model alone, so documents that are
// renamed or restored have theirs.
type passageIndex struct {
	s      *documentSearch
	model  string // provider/model
	prompt retrieval.Prompt
	name   string

	pending  []*passagePart // to be embedded
	count    int            // passages of pending
	progress DocumentEmbedding
}

// rank embeds what is missing and ranks all passages. A part that is damaged is embedded
// again, once.
func (x *passageIndex) rank(ctx context.Context, query []float32) ([]retrieval.Hit, error) {
	for try := 0; ; try++ {
		stored, err := x.update(ctx)
		if err != nil {
			return nil, err
		}
		hits, bad, err := x.compare(ctx, query, stored)
		if err != nil || len(bad) == 0 || try > 0 {
			return hits, err
		}
		if err := x.s.e.DropVectors(ctx, bad); err != nil {
			return nil, err
		}
	}
}

// update embeds what is missing of the documents, and returns the parts of all.
func (x *passageIndex) update(ctx context.Context) ([]store.StoredPart, error) {
	release, err := x.s.e.EmbeddingDocuments(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := x.noteUse(ctx); err != nil { // first, so that no collection takes the vectors for unused
		return nil, err
	}
	stored, err := x.stored(ctx)
	if err != nil {
		return nil, err
	}
	missing := x.missing(stored)
	if len(missing) == 0 {
		return stored, nil
	}
	have := map[string]bool{}
	for _, p := range stored {
		have[string(p.Key)] = true
	}
	x.progress = DocumentEmbedding{Model: x.model, Documents: len(missing)}
	for _, doc := range missing {
		x.progress.Bytes += x.s.docs[doc].Size
	}
	for _, doc := range missing {
		if err := x.add(ctx, doc, have); err != nil {
			return nil, err
		}
	}
	if err := x.flush(ctx); err != nil {
		return nil, err
	}
	return x.stored(ctx)
}

// stored returns the parts that are in the store, also those of removed documents.
func (x *passageIndex) stored(ctx context.Context) (out []store.StoredPart, err error) {
	err = x.s.e.View(ctx, func(tx *kv.Tx) error {
		out = nil
		for key, err := range x.s.e.Tables.Passages.Keys(tx, kv.Range{Prefix: kv.Str(x.name)}) {
			if err != nil {
				return err
			}
			p, err := store.ReadPartKey(key)
			if err != nil {
				return err
			}
			out = append(out, p)
		}
		return nil
	})
	if errors.Is(err, kv.ErrNotFound) {
		err = nil
	}
	return out, err
}

// missing returns the documents that are not embedded whole.
func (x *passageIndex) missing(stored []store.StoredPart) (docs []int) {
	have, want := map[string]int{}, map[string]int{}
	for _, p := range stored {
		have[p.Digest]++
		want[p.Digest] = p.Of
	}
	for i, d := range x.s.docs {
		if n := have[d.SHA256]; n == 0 || n < want[d.SHA256] {
			docs = append(docs, i)
		}
	}
	return docs
}

// add adds the parts of a document that are not stored, and embeds what was added when it is
// a group.
func (x *passageIndex) add(ctx context.Context, doc int, have map[string]bool) error {
	text, err := x.s.text(ctx, doc)
	if ctx.Err() != nil {
		return err
	}
	if err != nil {
		return nil // a damaged document keeps no other from being found, and byWords reports it
	}
	x.s.out.Embedded++
	spans := retrieval.Passages(text)
	of := max(1, (len(spans)+partPassages-1)/partPassages) // without text it is one part without passages
	for n := range of {
		p := &passagePart{
			key:   partKey(x.name, x.s.docs[doc].SHA256, n, of),
			spans: spans[min(n*partPassages, len(spans)):min((n+1)*partPassages, len(spans))],
		}
		if have[string(p.key)] {
			continue
		}
		for _, span := range p.spans {
			p.texts = append(p.texts, x.prompt.Passage+text[span.Start:span.End])
		}
		x.pending, x.count = append(x.pending, p), x.count+len(p.spans)
		if x.count >= groupPassages {
			if err := x.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush embeds the pending parts and stores their vectors.
func (x *passageIndex) flush(ctx context.Context) error {
	if len(x.pending) == 0 {
		return nil
	}
	x.report(0)
	vectors, err := x.embed(ctx)
	if err != nil {
		return err
	}
	if err := x.store(ctx, vectors); err != nil {
		return store.WaitFault(ctx, "keep the vectors of documents", err)
	}
	for _, p := range x.pending {
		x.report(p.size())
	}
	x.pending, x.count = nil, 0
	return nil
}

// report adds embedded bytes to the progress and reports it.
func (x *passageIndex) report(more int64) {
	x.progress.Done += more
	if x.s.q.Progress != nil {
		x.s.q.Progress(x.progress)
	}
}

// store stores the vectors of the pending passages.
func (x *passageIndex) store(ctx context.Context, vectors [][]float32) error {
	release, err := x.s.e.ShareData(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	return x.s.e.KV.Update(ctx, func(tx *kv.Tx) error {
		rest := vectors
		for _, p := range x.pending {
			if err := x.s.e.Tables.Passages.Put(tx, p.key, p.encode(rest)); err != nil {
				return err
			}
			rest = rest[len(p.spans):]
		}
		return nil
	})
}

// embed returns the vectors of the pending passages.
func (x *passageIndex) embed(ctx context.Context) ([][]float32, error) {
	var texts []string
	for _, p := range x.pending {
		texts = append(texts, p.texts...)
	}
	if len(texts) == 0 {
		return nil, nil
	}
	emb, err := x.s.e.embedding(ctx, EmbedRequest{Texts: texts})
	if err != nil {
		return nil, err
	}
	if err := emb.ask(ctx); err != nil {
		return nil, err
	}
	x.s.out.Tokens += emb.out.Tokens
	if n := len(emb.out.Vectors[0]); indexName(x.model, n) != x.name {
		return nil, fault.New(fault.InvalidReply, fmt.Sprintf("%s returned vectors of %d numbers for passages, and of another length for the query", x.model, n))
	}
	return emb.out.Vectors, nil
}

// compare ranks the passages of stored parts, and returns the keys of damaged ones.
func (x *passageIndex) compare(ctx context.Context, query []float32, stored []store.StoredPart) (hits []retrieval.Hit, bad []kv.Key, err error) {
	docs := map[string]int{}
	for i, d := range x.s.docs {
		docs[d.SHA256] = i
	}
	top := retrieval.Top{Most: rankedPassages}
	for len(stored) > 0 {
		some := stored[:min(viewedParts, len(stored))]
		stored = stored[len(some):]
		err := x.s.e.View(ctx, func(tx *kv.Tx) error {
			for _, p := range some {
				doc, known := docs[p.Digest]
				if !known {
					continue // of a document that was removed
				}
				err := x.s.e.Tables.Passages.Read(tx, p.Key, func(val []byte) error {
					return comparePart(&top, doc, query, val)
				})
				switch {
				case errors.Is(err, errPart) || store.Damaged(err):
					bad = append(bad, p.Key)
				case err != nil && !errors.Is(err, kv.ErrNotFound):
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return top.Best(), bad, nil
}

// indexNoted is how old the note of the last use may be: a search should write nothing.
const indexNoted = 24 * time.Hour

// noteUse notes that a search used the index, unless that is noted already.
func (x *passageIndex) noteUse(ctx context.Context) error {
	e, now := x.s.e, x.s.e.o.Now()
	fresh := false
	err := e.View(ctx, func(tx *kv.Tx) error {
		r, err := e.Tables.Indexes.Get(tx, kv.Str(x.name))
		fresh = err == nil && now.Sub(r.UsedAt) < indexNoted
		if err != nil && store.Unreadable(err) {
			err = nil
		}
		return err
	})
	if err != nil || fresh {
		return err
	}
	release, err := e.ShareData(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	err = e.KV.Update(ctx, func(tx *kv.Tx) error {
		return e.Tables.Indexes.Put(tx, &store.DocumentIndex{Name: x.name, UsedAt: now})
	})
	if err != nil {
		return store.WaitFault(ctx, "note the use of the vectors of documents", err)
	}
	return nil
}
