package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/float32s"
	"github.com/fettle-cli/fettle/internal/kv"
)

// The bounds of a request for vectors.
const (
	// MaxEmbedTexts and MaxEmbedBytes bound the texts of one request.
	MaxEmbedTexts = 10_000
	MaxEmbedBytes = 32 << 20
	// batchTexts and batchBytes bound what a provider is asked at once: Mistral takes 16,000
	// tokens, others more.
	batchTexts = 64
	batchBytes = 40 << 10
	// vectorsKept is how long a vector is kept that nobody has asked for.
	vectorsKept = 90 * 24 * time.Hour
)

// EmbedRequest asks for the vectors of texts.
type EmbedRequest struct {
	// Model is a model's name as people use it; empty is [Options.Embedding].
	Model string
	Texts []string
	// Dimensions is the length of the vectors; 0 leaves it to the model.
	Dimensions int
	// Keep has the vectors taken from the store where they are known, and kept there for
	// 90 days.
	Keep bool
	// Progress is called with the number of texts that are done; nil is not called.
	Progress func(done, of int)
}

// Embedded are the vectors of texts, in the order of the texts.
type Embedded struct {
	Model   string // provider/model
	Vectors [][]float32
	// Tokens is the number of tokens that the provider counted; 0 is unknown. Kept vectors
	// cost none.
	Tokens int64
	Kept   int // how many vectors came from the store
}

// Embed returns the vectors of texts. It asks the provider in batches, and tries again after
// failures that may pass. With an error nothing is returned, but what is kept stays: the same
// request again continues where this one ended.
func (e *Engine) Embed(ctx context.Context, req EmbedRequest) (*Embedded, error) {
	ctx, leave, err := e.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	b, err := e.embedding(ctx, req)
	if err != nil {
		return nil, err
	}
	if req.Keep {
		if err := b.recall(ctx); err != nil {
			return nil, err
		}
	}
	return &b.out, b.ask(ctx)
}

// embedding is a request for vectors that is being answered.
type embedding struct {
	eng  *Engine
	req  EmbedRequest
	prov provider.Provider
	name string // of the model, without the provider
	out  Embedded
}

func (e *Engine) embedding(ctx context.Context, req EmbedRequest) (*embedding, error) {
	size := 0
	for i, text := range req.Texts {
		if text == "" {
			return nil, fault.New(fault.Usage, fmt.Sprintf("text %d is empty", i+1))
		}
		size += len(text)
	}
	switch {
	case len(req.Texts) == 0:
		return nil, fault.New(fault.Usage, "there is no text to embed")
	case len(req.Texts) > MaxEmbedTexts || size > MaxEmbedBytes:
		return nil, fault.New(fault.Usage, fmt.Sprintf("there are %d texts of %d bytes; %d texts and %d bytes are allowed", len(req.Texts), size, MaxEmbedTexts, MaxEmbedBytes))
	case req.Dimensions < 0:
		return nil, fault.New(fault.Usage, "the number of dimensions is negative")
	}
	ref := req.Model
	if ref == "" {
		ref = e.o.Embedding
	}
	if ref == "" {
		return nil, fault.New(fault.Config, "no embedding model is set", fault.Try(fault.SetEmbedding))
	}
	if n := len(ref); n > maxModelRef {
		return nil, fault.New(fault.Usage, fmt.Sprintf("the name of the model has %d bytes; %d are allowed", n, maxModelRef))
	}
	p, name, err := e.o.Models.Resolve(ctx, ref)
	if err != nil {
		return nil, err
	}
	if _, ok := provider.As[provider.Embedder](p); !ok {
		return nil, fault.New(fault.Usage, "the provider "+p.Name()+" has no embeddings")
	}
	b := &embedding{eng: e, req: req, prov: p, name: name}
	b.out = Embedded{Model: p.Name() + "/" + name, Vectors: make([][]float32, len(req.Texts))}
	return b, nil
}

// key is that of the vector of a text in the store.
func (b *embedding) key(text string) kv.Key {
	sum := sha256.Sum256([]byte(text))
	return kv.Str(b.out.Model).Int(int64(b.req.Dimensions)).Str(hex.EncodeToString(sum[:]))
}

// recall fills in the vectors that the store has.
func (b *embedding) recall(ctx context.Context) error {
	err := b.eng.KV.View(ctx, func(tx *kv.Tx) error {
		for i, text := range b.req.Texts {
			raw, err := b.eng.Tables.Vectors.Get(tx, b.key(text))
			if errors.Is(err, kv.ErrNotFound) || errors.As(err, new(*kv.CorruptError)) {
				continue // a damaged one is asked for again
			}
			if err != nil {
				return err
			}
			if v, ok := float32s.Parse(raw); ok {
				b.out.Vectors[i] = v
				b.out.Kept++
			}
		}
		return nil
	})
	if err != nil {
		return store.StoreFault("look for vectors", err)
	}
	return nil
}

// ask gets the vectors that are missing, each different text once.
func (b *embedding) ask(ctx context.Context) error {
	places := map[string][]int{}
	var missing []string
	for i, text := range b.req.Texts {
		if b.out.Vectors[i] == nil {
			if places[text] == nil {
				missing = append(missing, text)
			}
			places[text] = append(places[text], i)
		}
	}
	done := len(b.req.Texts) - len(missing)
	b.tell(done)
	for len(missing) > 0 {
		n := batchOf(missing)
		got, err := provider.EmbedWithRetry(ctx, b.prov, &provider.EmbedRequest{
			Model: b.name, Texts: missing[:n], Dimensions: b.req.Dimensions,
		}, b.eng.o.Retry)
		if err != nil {
			return models.Explain(b.out.Model, err)
		}
		for i, text := range missing[:n] {
			for _, at := range places[text] {
				b.out.Vectors[at] = got.Vectors[i]
			}
		}
		b.out.Tokens += got.Tokens
		if b.req.Keep {
			if err := b.keep(ctx, missing[:n], got.Vectors); err != nil {
				return err
			}
		}
		missing = missing[n:]
		done += n
		b.tell(done)
	}
	return b.sameLength()
}

func (b *embedding) tell(done int) {
	if b.req.Progress != nil {
		b.req.Progress(done, len(b.req.Texts))
	}
}

// sameLength refuses vectors that can't be compared: a model of the same name may have been
// replaced since some were kept.
func (b *embedding) sameLength() error {
	for _, v := range b.out.Vectors {
		if len(v) != len(b.out.Vectors[0]) {
			return fault.New(fault.InvalidReply, fmt.Sprintf("%s returned vectors of %d and of %d numbers", b.out.Model, len(b.out.Vectors[0]), len(v)))
		}
	}
	return nil
}

func (b *embedding) keep(ctx context.Context, texts []string, vectors [][]float32) error {
	release, err := b.eng.ShareData(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	err = b.eng.KV.Update(ctx, func(tx *kv.Tx) error {
		for i, text := range texts {
			if err := b.eng.Tables.Vectors.Put(tx, b.key(text), float32s.Append(nil, vectors[i]), kv.WithTTL(vectorsKept)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return store.StoreFault("keep vectors", err)
	}
	return nil
}

// batchOf is how many of the texts a provider is asked for at once.
func batchOf(texts []string) int {
	size := 0
	for i, text := range texts {
		if size += len(text); i == batchTexts || i > 0 && size > batchBytes {
			return i
		}
	}
	return len(texts)
}

// Complete continues the text of req.Completion, as autocompletion in editors does: there is no
// conversation, and nothing is kept. ref names the model as people do. An error is a fault.
func (e *Engine) Complete(ctx context.Context, ref string, req provider.Request) iter.Seq2[[]provider.Delta, error] {
	return func(yield func([]provider.Delta, error) bool) {
		ctx, leave, err := e.enter(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		defer leave()
		p, name, err := e.o.Models.Resolve(ctx, ref)
		if err != nil {
			yield(nil, err)
			return
		}
		if _, ok := provider.As[provider.Completer](p); !ok {
			yield(nil, fault.New(fault.Usage, "the provider "+p.Name()+" has no completions"))
			return
		}
		req.Model = name
		for batch, err := range provider.Retry(p, e.o.Retry).Stream(ctx, &req) {
			if err != nil {
				err = models.Explain(p.Name()+"/"+name, err)
			}
			if !yield(batch, err) {
				return
			}
		}
	}
}
