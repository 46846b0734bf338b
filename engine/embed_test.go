package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
)

// countingEmbedder is a provider that counts what it is asked to embed.
type countingEmbedder struct {
	provider.Provider
	batches [][]string
	fails   []error // of the requests to come
	length  int
}

func (c *countingEmbedder) Embed(_ context.Context, req *provider.EmbedRequest) (*provider.Embedding, error) {
	if len(c.fails) > 0 {
		err := c.fails[0]
		c.fails = c.fails[1:]
		return nil, err
	}
	c.batches = append(c.batches, req.Texts)
	out := &provider.Embedding{Tokens: int64(len(req.Texts))}
	for _, text := range req.Texts {
		v := make([]float32, max(1, c.length))
		v[0] = float32(len(text)) + 0.1
		out.Vectors = append(out.Vectors, v)
	}
	return out, nil
}

func (c *countingEmbedder) asked() (n int) {
	for _, b := range c.batches {
		n += len(b)
	}
	return n
}

// embedder makes a bench whose provider of the name counted is c.
func embedder(t *testing.T, c *countingEmbedder) *bench {
	t.Helper()
	b := newBench(t, toolScript)
	c.Provider = named("counted")
	if err := b.o.Models.(*models.Catalog).Registry.Add("counted", func() (provider.Provider, error) { return c, nil }); err != nil {
		t.Fatal(err)
	}
	return b
}

// named is a provider that can do nothing but embed.
type named string

func (n named) Name() string { return string(n) }

func (n named) Model(context.Context, string) (provider.Model, error) {
	return provider.Model{Provider: string(n)}, nil
}

func (n named) Stream(context.Context, *provider.Request) iter.Seq2[[]provider.Delta, error] {
	return func(func([]provider.Delta, error) bool) {}
}

// Vectors that are kept are asked for once, in whichever order, and the request
// after a failure asks only for what is missing.
func TestVectorsAreKept(t *testing.T) {
	t.Parallel()
	c := &countingEmbedder{}
	b := embedder(t, c)
	var texts []string
	for i := range 150 {
		texts = append(texts, strings.Repeat("x", i+1))
	}
	embed := func(texts []string, keep bool) (*Embedded, error) {
		return b.Embed(t.Context(), EmbedRequest{Model: "counted/m", Texts: texts, Keep: keep})
	}
	c.fails = []error{&provider.Error{Kind: provider.Rejected, Message: "no"}}
	if _, err := embed(texts, true); err == nil || c.asked() != 0 {
		t.Fatalf("a refusal gave %v after %d texts", err, c.asked())
	}
	got, err := embed(slices.Concat(texts, texts[:10]), true)
	if err != nil {
		t.Fatal(err)
	}
	if c.asked() != 150 || got.Tokens != 150 || got.Kept != 0 || len(got.Vectors) != 160 || got.Vectors[155][0] != 6.1 {
		t.Errorf("asked for %d texts, %d tokens, %d kept, %d vectors", c.asked(), got.Tokens, got.Kept, len(got.Vectors))
	}
	for _, batch := range c.batches {
		if len(batch) > batchTexts {
			t.Errorf("a batch has %d texts", len(batch))
		}
	}
	again := slices.Clone(texts)
	slices.Reverse(again)
	got, err = embed(append(again, "new"), true)
	if err != nil {
		t.Fatal(err)
	}
	if c.asked() != 151 || got.Kept != 150 || got.Tokens != 1 || got.Vectors[0][0] != 150.1 || got.Vectors[150][0] != 3.1 {
		t.Errorf("asked for %d texts in all, %d kept, vectors %v and %v", c.asked(), got.Kept, got.Vectors[0], got.Vectors[150])
	}
	e := &embedding{eng: b.Engine, req: EmbedRequest{}, out: Embedded{Model: "counted/m"}}
	if err := e.keep(t.Context(), texts[:1], [][]float32{{}}); err != nil { // a damaged one
		t.Fatal(err)
	}
	if got, err = embed(texts[:2], true); err != nil || c.asked() != 152 || got.Kept != 1 || got.Vectors[0][0] != 1.1 {
		t.Errorf("with a damaged vector %d texts were asked for: %+v, %v", c.asked(), got, err)
	}
	if _, err := embed(texts, false); err != nil || c.asked() != 302 {
		t.Errorf("without keeping %d texts were asked for: %v", c.asked(), err)
	}
	if _, err := b.Embed(t.Context(), EmbedRequest{Model: "counted/m", Texts: texts[:1], Keep: true, Dimensions: 1}); err != nil || c.asked() != 303 {
		t.Errorf("vectors of another length were not asked for: %d, %v", c.asked(), err)
	}
	c.length = 2 // the model of this name was replaced
	var f *fault.Fault
	if _, err := embed([]string{"x", "another"}, true); !errors.As(err, &f) || f.Code != fault.InvalidReply {
		t.Errorf("vectors of two lengths gave %v", err)
	}
}

func TestTextsThatCantBeEmbedded(t *testing.T) {
	t.Parallel()
	b := embedder(t, &countingEmbedder{})
	if err := b.o.Models.(*models.Catalog).Registry.Add("plain", func() (provider.Provider, error) { return named("plain"), nil }); err != nil {
		t.Fatal(err)
	}
	for name, req := range map[string]EmbedRequest{
		"no text": {Model: "counted/m"}, "an empty text": {Model: "counted/m", Texts: []string{"a", ""}},
		"no model": {Texts: []string{"a"}}, "a provider without vectors": {Model: "plain/m", Texts: []string{"a"}},
		"too many": {Model: "counted/m", Texts: make([]string, MaxEmbedTexts+1)}, "too long": {Model: "counted/m", Texts: []string{strings.Repeat("x", MaxEmbedBytes+1)}},
	} {
		if got, err := b.Embed(t.Context(), req); err == nil {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// A long text is a batch of its own, and no batch of several is longer than what providers
// take.
func TestBatchesAreBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sizes []int
		want  int
	}{{[]int{1, 1, 1}, 3}, {[]int{batchBytes * 2, 1}, 1}, {[]int{1, batchBytes}, 1}, {[]int{batchBytes / 2, batchBytes / 2, 1}, 2}} {
		var texts []string
		for _, n := range c.sizes {
			texts = append(texts, strings.Repeat("x", n))
		}
		if got := batchOf(texts); got != c.want {
			t.Errorf("%s: a batch of %d, want %d", fmt.Sprint(c.sizes), got, c.want)
		}
	}
}
