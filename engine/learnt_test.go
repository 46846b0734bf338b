package engine

import (
	"context"
	"maps"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/budget"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

// picky is a model that refuses what nobody said it lacks.
func picky(lacks ...provider.Feature) func(*rogue) streamFunc {
	return func(r *rogue) streamFunc {
		return func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
			req := r.requests()[step]
			for _, f := range lacks {
				has := map[provider.Feature]bool{
					provider.FeatureTools: len(req.Tools) > 0, provider.FeatureImages: strings.Contains(kinds(req), "image"),
					provider.FeatureThinking: req.Think != nil, provider.FeatureSchema: req.Schema != nil,
				}[f]
				if has {
					yield(nil, &provider.Error{Kind: provider.Unsupported, Provider: "rogue", Feature: f, Message: "no " + string(f)})
					return
				}
			}
			yield([]provider.Delta{says(`{"a":1}`), stops("stop")}, nil)
		}
	}
}

func kinds(r *provider.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			b.WriteString(string(p.Kind) + " ")
		}
	}
	return b.String()
}

func footnotes(events []event.Event) []string {
	var out []string
	for _, e := range events {
		if n, ok := e.Body.(event.Footnote); ok {
			out = append(out, n.Text)
		}
	}
	return out
}

// retired waits until so many turns have let go of everything.
func (b *bench) retired(turns int) {
	b.t.Helper()
	until(b.t, "the end of the turns", func() bool { b.Engine.mu.Lock(); defer b.Engine.mu.Unlock(); return len(b.ended) == turns })
}

// A refusal costs a request once: the next turn, in another process too, leaves
// out what was refused and says so, until it may have changed.
func TestWhatAModelRefusedIsRemembered(t *testing.T) {
	t.Parallel()
	think := true
	for f, c := range map[provider.Feature]struct {
		change func(*TurnRequest)
		note   string
	}{
		provider.FeatureTools: {func(r *TurnRequest) { r.Tools = nil }, "tools were left out"},
		provider.FeatureImages: {func(r *TurnRequest) {
			r.Parts = append([]provider.Part{{Kind: provider.ImagePart, Name: "i.png", MIME: "image/png", Data: []byte{1}}}, r.Parts...)
		}, "images were left out"},
		provider.FeatureThinking: {func(r *TurnRequest) { r.Think = &think }, "reasoning was not asked for"},
		provider.FeatureSchema:   {func(r *TurnRequest) { r.Schema = []byte(`{"type":"object"}`) }, "the schema was told in words"},
	} {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			r := &rogue{}
			r.stream = picky(f)(r)
			b := &bench{t: t, dir: t.TempDir()}
			o := rogueOptions(t, b.dir, r, nil)
			now := time.Now()
			open := func() {
				if b.Engine != nil {
					if err := b.Close(); err != nil {
						t.Error(err)
					}
				}
				at := now
				o.Now = func() time.Time { return at }
				b.Engine = New(o)
			}
			t.Cleanup(func() { _ = b.Close() })
			turn := func(requests int, what string) {
				t.Helper()
				before := len(r.requests())
				req := ask("go")
				req.Tools = []string{}
				c.change(&req)
				events := b.run(req)
				last[event.Complete](t, events)
				notes := footnotes(events)
				if got := len(r.requests()) - before; got != requests || len(notes) != 1 || !strings.HasPrefix(notes[0], c.note) {
					t.Errorf("%s: %d requests, notes %q", what, got, notes)
				}
			}
			open()
			turn(2, "at first")
			until(t, "the note of it", func() bool { _, err := os.Stat(b.CatalogFile()); return err == nil })
			turn(1, "then")
			open()
			turn(1, "in another process")
			if err := b.Grant(t.Context(), event.AllowAlways, "", "echo"); err != nil {
				t.Fatal(err)
			}
			turn(1, "after an approval was written")
			now = now.Add(store.LackBelieved + time.Hour)
			open()
			turn(2, "when it may have changed")
		})
	}
}

// What provider or configuration say comes before what was refused once.
func TestWhatIsSaidOfAModelComesBeforeWhatWasLearnt(t *testing.T) {
	t.Parallel()
	c := &choice{ref: "p/m", model: provider.Model{Tools: provider.Yes, ContextLength: 100}, without: map[provider.Feature]bool{}}
	c.recall(store.Learnt{Context: 4096, Lacks: map[provider.Feature]time.Time{provider.FeatureTools: time.Now(), provider.FeatureImages: time.Now()}})
	if want := map[provider.Feature]bool{provider.FeatureImages: true}; !maps.Equal(c.without, want) || c.model.ContextLength != 100 {
		t.Errorf("without %v, length %d", c.without, c.model.ContextLength)
	}
}

// The estimate is corrected by what is counted, and later turns begin with that.
func TestTheEstimateIsCorrected(t *testing.T) {
	t.Parallel()
	n := &narrow{limit: 100_000, truth: 2}
	n.answer = func(int, *provider.Request) []provider.Delta { return []provider.Delta{says("yes")} }
	b := newNarrow(t, n, true)
	req := ask(strings.Repeat("many words ", 300))
	req.Tools = []string{}
	for i := range 3 {
		b.run(req)
		b.retired(i + 1)
	}
	asked := n.requests()
	if first, last := asked[0].Tokens, asked[2].Tokens; last < 2*first-first/10 {
		t.Errorf("estimated at %d, and at %d once it was counted", first, last)
	}
	before, err := os.Stat(b.CatalogFile())
	if err != nil {
		t.Fatal(err)
	}
	b.run(req)
	b.retired(4)
	if after, err := os.Stat(b.CatalogFile()); err != nil || !os.SameFile(before, after) {
		t.Errorf("it was written again for nothing: %v", err)
	}
	req.Ephemeral, req.Model = true, "rogue/other"
	b.run(req)
	b.retired(5)
	if got := b.LearntOf("rogue/other"); got.Tokens.Samples != 0 {
		t.Errorf("a turn that leaves nothing behind left %+v", got)
	}
}

func TestTheModelsThatAreKnownAreBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t, yes)
	for i := range maxLearnt/50 + 1 {
		var models []*choice
		for k := range 50 {
			ref := "p/" + strconv.Itoa(i) + "-" + strconv.Itoa(k)
			models = append(models, &choice{ref: ref, ratios: budget.Ratios{ref: {Ratio: 2, Samples: 1}}})
		}
		b.keepLearnt(models)
	}
	c, err := b.ReadCatalog()
	if err != nil || len(c.Models) != maxLearnt || c.Models["p/4-1"].Tokens.Ratio != 2 {
		t.Errorf("%d models are kept, %v", len(c.Models), err)
	}
}
