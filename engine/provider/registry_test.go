package provider

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

type named string

func (n named) Name() string { return string(n) }
func (n named) Model(context.Context, string) (Model, error) {
	return Model{}, nil
}
func (n named) Stream(context.Context, *Request) iter.Seq2[[]Delta, error] {
	return func(func([]Delta, error) bool) {}
}

func add(t *testing.T, r *Registry, names ...string) {
	t.Helper()
	for _, n := range names {
		if err := r.Add(n, func() (Provider, error) { return named(n), nil }); err != nil {
			t.Fatal(err)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	var r Registry
	add(t, &r, "openai", "ollama", "my.lab")
	for ref, want := range map[string][2]string{
		"ollama/qwen3:8b":                    {"ollama", "qwen3:8b"},
		"ollama/hf.co/bartowski/Qwen:Q4_K_M": {"ollama", "hf.co/bartowski/Qwen:Q4_K_M"},
		"my.lab/a/b/c":                       {"my.lab", "a/b/c"},
	} {
		p, model, err := r.Resolve(ref)
		if err != nil || p.Name() != want[0] || model != want[1] {
			t.Errorf("%s: %v %q %v", ref, p, model, err)
		}
	}
	for _, ref := range []string{"", "qwen3", "/qwen3", "ollama/"} {
		if _, _, err := r.Resolve(ref); !errors.Is(err, ErrRef) {
			t.Errorf("%q: %v", ref, err)
		}
	}
	if got := r.Names(); !slices.Equal(got, []string{"my.lab", "ollama", "openai"}) {
		t.Errorf("names %v", got)
	}
}

func TestUnknownProvider(t *testing.T) {
	t.Parallel()
	var r Registry
	add(t, &r, "openai", "ollama", "anthropic", "mistral")
	for name, want := range map[string]string{
		"olama":   "ollama",
		"Ollama":  "ollama",
		"oepnai":  "openai",
		"anth":    "anthropic",
		"mistrl":  "mistral",
		"nothing": "",
	} {
		_, _, err := r.Resolve(name + "/x")
		var u *UnknownError
		if !errors.As(err, &u) || u.Name != name {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want == "" && len(u.Nearest) > 0 || want != "" && (len(u.Nearest) == 0 || u.Nearest[0] != want) {
			t.Errorf("%s: nearest %v, want %q", name, u.Nearest, want)
		}
		if want == "" && !strings.Contains(err.Error(), "anthropic, mistral, ollama, openai") {
			t.Errorf("%s: %v", name, err)
		}
	}
	var none Registry
	if _, err := none.Get("x"); err == nil || !strings.HasSuffix(err.Error(), "called x") {
		t.Errorf("an empty registry: %v", err)
	}
}

func TestAddRefusals(t *testing.T) {
	t.Parallel()
	var r Registry
	add(t, &r, "a")
	for _, name := range []string{"", "a", "a/b", "a b"} {
		if err := r.Add(name, nil); err == nil {
			t.Errorf("%q was added", name)
		}
	}
}

func TestProvidersAreMadeOnceAndLate(t *testing.T) {
	t.Parallel()
	var r Registry
	var made atomic.Int32
	fail := true
	err := r.Add("late", func() (Provider, error) {
		made.Add(1)
		if fail {
			return nil, errors.New("no key yet")
		}
		return named("late"), nil
	})
	if err != nil || made.Load() != 0 {
		t.Fatalf("made %d at once, %v", made.Load(), err)
	}
	if _, err := r.Get("late"); err == nil || !strings.Contains(err.Error(), "set up provider late: no key yet") {
		t.Fatalf("the failing factory: %v", err)
	}
	fail = false
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := r.Get("late"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if made.Load() != 2 {
		t.Errorf("the factory ran %d times, want one failure and one success", made.Load())
	}
}
