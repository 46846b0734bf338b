package ollama

import (
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
)

// What the engine fits requests to is what a request can be given.
func TestTheContextThatARequestCanGet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		o    Options
		m    provider.Model
		want int
	}{
		"the model's own length":      {Options{}, provider.Model{ContextLength: 40960}, 40960},
		"a cap":                       {Options{MaxCtx: 8192}, provider.Model{ContextLength: 40960}, 8192},
		"a cap above it":              {Options{MaxCtx: 80000}, provider.Model{ContextLength: 40960}, 40960},
		"a fixed one":                 {Options{NumCtx: 4096}, provider.Model{ContextLength: 40960}, 4096},
		"a fixed one above it":        {Options{NumCtx: 80000}, provider.Model{ContextLength: 40960}, 40960},
		"OLLAMA_CONTEXT_LENGTH":       {Options{ContextLength: 2048}, provider.Model{ContextLength: 40960}, 2048},
		"fixed twice":                 {Options{NumCtx: 4096, ContextLength: 2048}, provider.Model{ContextLength: 40960}, 4096},
		"an unknown length":           {Options{}, provider.Model{}, mostCtx},
		"an unknown length and a cap": {Options{MaxCtx: 8192}, provider.Model{}, 8192},
		"a model that runs elsewhere": {Options{NumCtx: 4096}, provider.Model{ContextLength: 200000, Remote: true}, 200000},
	} {
		p := &Provider{o: c.o}
		if got := p.ContextLimit(c.m); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
		if c.m.Remote {
			continue
		}
		s := sizing{fixed: c.o.NumCtx, limit: c.m.ContextLength, need: 1 << 22}
		if s.fixed == 0 {
			s.fixed = c.o.ContextLength
		}
		if c.o.MaxCtx > 0 && (s.limit == 0 || c.o.MaxCtx < s.limit) {
			s.limit = c.o.MaxCtx
		}
		if got := s.numCtx(); got != c.want {
			t.Errorf("%s: a request of any length gets %d, want %d", name, got, c.want)
		}
	}
}
