package models

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/modelcache"
)

// shop is a provider in memory that lists models.
type shop struct {
	name, address string
	models        []provider.Model
	facts         map[string]provider.Model // what Model says; others are unknown models
	listErr       error
	hangs         bool
	factTime      time.Duration // how long Model takes

	mu           sync.Mutex
	lists, asked int
	now, most    int // Model calls side by side
}

func (s *shop) Name() string    { return s.name }
func (s *shop) Address() string { return s.address }
func (s *shop) Stream(context.Context, *provider.Request) iter.Seq2[[]provider.Delta, error] {
	return func(func([]provider.Delta, error) bool) {}
}

func (s *shop) Model(ctx context.Context, name string) (provider.Model, error) {
	s.mu.Lock()
	s.asked++
	s.now++
	s.most = max(s.most, s.now)
	m, ok := s.facts[name]
	s.mu.Unlock()
	defer func() { s.mu.Lock(); s.now--; s.mu.Unlock() }()
	if s.factTime > 0 {
		select {
		case <-time.After(s.factTime):
		case <-ctx.Done():
			return provider.Model{}, context.Cause(ctx)
		}
	}
	if !ok {
		return provider.Model{}, &provider.Error{Kind: provider.UnknownModel, Provider: s.name, Model: name, Message: "not found"}
	}
	return m, nil
}

func (s *shop) Models(ctx context.Context) ([]provider.Model, error) {
	s.mu.Lock()
	s.lists++
	err := s.listErr
	s.mu.Unlock()
	if s.hangs {
		<-ctx.Done()
		return nil, &provider.Error{Kind: provider.Broken, Provider: s.name, Err: context.Cause(ctx)}
	}
	if err != nil {
		return nil, err
	}
	return slices.Clone(s.models), nil
}

func (s *shop) counts() (lists, asked int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists, s.asked
}

func (s *shop) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listErr = err
}

// mute is a provider that can't list.
type mute struct{ *shop }

func (mute) Models() {}

// newIndex makes an index of providers with a cache of its own.
func newIndex(t *testing.T, shops ...provider.Provider) *Index {
	t.Helper()
	reg := new(provider.Registry)
	for _, s := range shops {
		if err := reg.Add(s.Name(), func() (provider.Provider, error) { return s, nil }); err != nil {
			t.Fatal(err)
		}
	}
	return &Index{Catalog: &Catalog{Registry: reg}, Cache: modelcache.New(t.TempDir())}
}

func list(t *testing.T, x *Index, q Query) []List {
	t.Helper()
	lists, err := x.List(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return lists
}

func refs(l List) string {
	var names []string
	for _, m := range l.Models {
		names = append(names, m.Ref())
	}
	return strings.Join(names, " ")
}

var unreachable502 = &provider.Error{Kind: provider.Overloaded, Provider: "far", Status: 502, Message: "bad gateway"}

func TestListAsksAllSideBySide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		far := &shop{name: "far", address: "https://far.test", models: []provider.Model{{Name: "b"}, {Name: "a"}}}
		near := &shop{name: "near", address: "http://127.0.0.1:1", models: []provider.Model{{Name: "m"}}}
		down := &shop{name: "down", listErr: unreachable502}
		hung := &shop{name: "hung", hangs: true}
		hung2 := &shop{name: "hung2", hangs: true}
		x := newIndex(t, near, far, down, hung, hung2, mute{&shop{name: "mute"}})
		begun := time.Now()
		lists := list(t, x, Query{})
		if took := time.Since(begun); took != DefaultAskTime {
			t.Errorf("it took %v", took)
		}
		var got []string
		for _, l := range lists {
			got = append(got, fmt.Sprintf("%s: %s local=%v answered=%v", l.Provider, refs(l), l.Local, l.Answered()))
		}
		want := []string{
			"down:  local=false answered=false", "far: far/b far/a local=false answered=true",
			"hung:  local=false answered=false", "hung2:  local=false answered=false", "near: near/m local=true answered=true",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		var e *provider.Error
		if !errors.As(lists[2].Err, &e) || e.Kind != provider.SlowStart || !strings.Contains(e.Error(), "10s") {
			t.Errorf("the one that hangs: %v", lists[2].Err)
		}
	})
}

func TestListKeepsWhatComesFromElsewhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		far := &shop{name: "far", address: "https://far.test", models: []provider.Model{{Name: "a"}}}
		near := &shop{name: "near", address: "http://[::1]:11434", models: []provider.Model{{Name: "m"}}}
		x := newIndex(t, far, near)
		step := func(what string, q Query, farLists, nearLists int, cached bool) []List {
			t.Helper()
			lists := list(t, x, q)
			f, _ := far.counts()
			n, _ := near.counts()
			if f != farLists || n != nearLists || lists[0].Cached != cached || refs(lists[0]) != "far/a" || refs(lists[1]) != "near/m" {
				t.Errorf("%s: asked %d and %d times, %+v", what, f, n, lists)
			}
			return lists
		}
		first := time.Now()
		step("at first", Query{}, 1, 1, false)
		time.Sleep(DefaultFresh - time.Second)
		lists := step("while it is fresh", Query{}, 1, 2, true)
		if !lists[0].Asked.Equal(first) || lists[1].Cached || !lists[0].Answered() {
			t.Errorf("%+v", lists)
		}
		step("asked to", Query{Refresh: true}, 2, 3, false)
		time.Sleep(DefaultFresh)
		step("when it is old", Query{}, 3, 4, false)

		far.fail(unreachable502)
		near.fail(&provider.Error{Kind: provider.Unreachable, Provider: "near"})
		time.Sleep(72 * time.Hour)
		lists = step("when nobody answers", Query{}, 4, 5, true)
		for _, l := range lists {
			if l.Answered() || !l.Cached || time.Since(l.Asked) != 72*time.Hour {
				t.Errorf("%s: %+v", l.Provider, l)
			}
		}
		if kept := x.Kept(); len(kept) != 2 || kept[0].Ref() != "far/a" || kept[0].Local || !kept[1].Local {
			t.Errorf("kept: %+v", kept)
		}
	})
}

func TestAKeptListFromTheFutureIsNotBelieved(t *testing.T) {
	t.Parallel()
	far := &shop{name: "far", models: []provider.Model{{Name: "a"}}}
	x := newIndex(t, far)
	if err := x.Cache.Put(modelcache.List{Provider: "far", Asked: time.Now().Add(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	if l := list(t, x, Query{})[0]; l.Cached || refs(l) != "far/a" {
		t.Errorf("%+v", l)
	}
}

func TestListWithoutACacheAsksEachTime(t *testing.T) {
	t.Parallel()
	far := &shop{name: "far", models: []provider.Model{{Name: "a"}}}
	x := newIndex(t, far)
	x.Cache = nil
	for range 2 {
		list(t, x, Query{})
	}
	if n, _ := far.counts(); n != 2 || x.Kept() != nil {
		t.Errorf("asked %d times", n)
	}
}

func TestListDescribesWhatTheListLeavesOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shop{name: "near", address: "http://localhost:1", factTime: time.Second, facts: map[string]provider.Model{}}
		for i := range 20 {
			name := fmt.Sprintf("m%d", i)
			s.models = append(s.models, provider.Model{Name: name, Size: 5})
			s.facts[name] = provider.Model{ContextLength: 4096, Tools: provider.Yes, Images: provider.No, Size: 7, Details: "1B"}
		}
		s.models = append(s.models,
			provider.Model{Name: "told", ContextLength: 8192, Tools: provider.No}, provider.Model{Name: "unknown"})
		l := list(t, newIndex(t, s), Query{})[0]
		if _, asked := s.counts(); asked != 21 || s.most != describeAtOnce {
			t.Errorf("asked about %d models, %d at once", asked, s.most)
		}
		want := provider.Model{Provider: "near", Name: "m0", Size: 5, ContextLength: 4096, Tools: provider.Yes, Images: provider.No, Details: "1B"}
		if diff := cmp.Diff(want, l.Models[0].Model); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if m := l.Models[21]; m.Name != "unknown" || m.Sources != (Sources{}) {
			t.Errorf("%+v", m)
		}
	})
}

func TestTheConfigurationHasTheLastWord(t *testing.T) {
	t.Parallel()
	far := &shop{name: "far", models: []provider.Model{{Name: "a", ContextLength: 1000, Tools: provider.Yes, Size: 3, Remote: true}}}
	x := newIndex(t, far)
	x.Catalog.Settings = func(name, model string) provider.Model {
		if name+"/"+model != "far/a" {
			t.Errorf("asked about %s/%s", name, model)
		}
		return provider.Model{ContextLength: 2000, Tools: provider.No, Images: provider.Yes}
	}
	for _, from := range []Source{FromProvider, FromCache} {
		m := list(t, x, Query{})[0].Models[0]
		want := Model{
			Model: provider.Model{Provider: "far", Name: "a", ContextLength: 2000, Tools: provider.No, Images: provider.Yes, Size: 3, Remote: true},
			Sources: Sources{
				ContextLength: FromConfiguration, Tools: FromConfiguration, Images: FromConfiguration, Size: from,
			},
		}
		if diff := cmp.Diff(want, m); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	kept, _ := x.Cache.Get("far", "")
	if kept.Models[0].ContextLength != 1000 || kept.Models[0].Tools != provider.Yes {
		t.Errorf("the configuration's word was kept: %+v", kept.Models[0])
	}
}

func TestListLeavesOutWhatIsNotSetUp(t *testing.T) {
	t.Parallel()
	keyed := &shop{name: "keyed", models: []provider.Model{{Name: "a"}}}
	other := &shop{name: "other"}
	x := newIndex(t, keyed, other, &shop{name: "sought"}, mute{&shop{name: "mute"}})
	x.Catalog.Seekers = []Seeker{
		{Place: "KEYED_API_KEY", Provider: "keyed", Missing: "not set", Ready: func() bool { return false }},
		{Place: "SOUGHT_API_KEY", Provider: "sought", Ready: func() bool { return true }},
	}
	x.NotReady = func(name string) string { return name + " has no key" }
	if err := x.Catalog.Registry.Add("broken", func() (provider.Provider, error) { return nil, errors.New("no address") }); err != nil {
		t.Fatal(err)
	}
	lists := list(t, x, Query{Providers: []string{"keyed", "mute", "broken", "other", "sought"}})
	if l := lists[0]; l.NotReady != "KEYED_API_KEY not set" || l.Answered() {
		t.Errorf("%+v", l)
	}
	if l := lists[1]; l.NotReady == "" {
		t.Errorf("%+v", l)
	}
	if l := lists[2]; l.Err == nil || !strings.Contains(l.Err.Error(), "no address") {
		t.Errorf("%+v", l)
	}
	if l := lists[3]; l.NotReady != "other has no key" {
		t.Errorf("%+v", l)
	}
	if l := lists[4]; !l.Answered() {
		t.Errorf("%+v", l)
	}
	for _, s := range []*shop{keyed, other} {
		if n, _ := s.counts(); n != 0 {
			t.Errorf("%s was asked all the same", s.name)
		}
	}
	var unknown *provider.UnknownError
	if _, err := x.List(t.Context(), Query{Providers: []string{"keyde"}}); !errors.As(err, &unknown) || unknown.Nearest[0] != "keyed" {
		t.Errorf("%v", err)
	}
}

func TestListEndsWithItsContext(t *testing.T) {
	t.Parallel()
	x := newIndex(t, &shop{name: "hung", hangs: true})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	time.AfterFunc(time.Millisecond, func() { cancel(why) })
	if _, err := x.List(ctx, Query{}); !errors.Is(err, why) {
		t.Errorf("it ended with %v", err)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	far := &shop{
		name: "far", address: "https://far.test",
		models: []provider.Model{{Name: "gpt-5", ContextLength: 9, Tools: provider.Yes}, {Name: "gpt-5-mini"}},
		facts:  map[string]provider.Model{"gpt-5-mini": {}, "secret-preview": {}, "told": {ContextLength: 5}},
	}
	near := &shop{
		name: "near", address: "http://127.0.0.1:1",
		models: []provider.Model{{Name: "qwen3", Size: 4}, {Name: "qwen3:32b"}, {Name: "llama3.2"}},
		facts:  map[string]provider.Model{"qwen3": {ContextLength: 40960}},
	}
	x := newIndex(t, far, near)
	x.Catalog.Settings = func(_, model string) provider.Model {
		if model == "private" {
			return provider.Model{Tools: provider.Yes}
		}
		return provider.Model{}
	}
	far.facts["private"] = provider.Model{}
	list(t, x, Query{}) // so that names without a provider are known
	for ref, want := range map[string]string{
		"near/qwen3":         "near/qwen3 listed 40960",
		"near/qwen3:latest":  "near/qwen3 listed 40960",
		"far/gpt-5":          "far/gpt-5 listed 9",
		"far/told":           "far/told unlisted 5",
		"far/private":        "far/private unlisted 0",
		"near/qwen4":         "near has no model qwen4 (did you mean qwen3 or qwen3:32b?) | look at the model near/qwen3 | list the models of near",
		"near/llama":         "near has no model llama (did you mean llama3.2?) | look at the model near/llama3.2 | list the models of near",
		"near/zzzzzzzz":      "near has no model zzzzzzzz | list the models of near",
		"far/gtp-5":          "far has no model gtp-5 (did you mean gpt-5?) | look at the model far/gpt-5 | list the models of far",
		"far/secret-preview": "far has no model secret-preview | list the models of far",
		"qwen3":              "near/qwen3 listed 40960",
		"lama3.2":            "no model is called lama3.2 | ask the model near/llama3.2 | list the models",
		"naer/qwen3":         "no provider is called naer (did you mean near?) | look at the model near/qwen3 | list the models",
	} {
		t.Run(ref, func(t *testing.T) {
			got := ""
			found, err := x.Find(t.Context(), ref)
			var f *fault.Fault
			switch {
			case errors.As(err, &f):
				got = strings.Join(append([]string{f.Msg}, fault.Texts(f.Remedies)...), " | ")
			case err != nil:
				t.Fatal(err)
			default:
				got = fmt.Sprintf("%s %s %d", found.Ref(), map[bool]string{true: "listed", false: "unlisted"}[found.Listed], found.ContextLength)
			}
			if got != want {
				t.Errorf("it gave\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestFindWhenNobodyAnswers(t *testing.T) {
	t.Parallel()
	far := &shop{name: "far", models: []provider.Model{{Name: "gpt-5", ContextLength: 9}}, facts: map[string]provider.Model{"gpt-5": {}, "other": {}}}
	x := newIndex(t, far)
	far.fail(unreachable502)
	var f *fault.Fault
	if _, err := x.Find(t.Context(), "far/gpt-5"); !errors.As(err, &f) || f.Code != fault.Overloaded {
		t.Errorf("without a list: %v", err)
	}
	far.fail(nil)
	list(t, x, Query{})
	far.fail(unreachable502)
	x.Now = func() time.Time { return time.Now().Add(48 * time.Hour) }
	found, err := x.Find(t.Context(), "far/gpt-5")
	if err != nil || !found.Listed || !found.List.Cached || found.Sources.ContextLength != FromCache {
		t.Errorf("with an old list: %+v, %v", found, err)
	}
	if _, err := x.Find(t.Context(), "far/other"); !errors.As(err, &f) || f.Code != fault.Overloaded {
		t.Errorf("another one: %v", err)
	}
}

func TestNearestModels(t *testing.T) {
	t.Parallel()
	names := []string{"qwen3:8b", "qwen3:32b", "qwen2.5-coder:7b", "llama3.2", "gpt-oss:20b", "hf.co/someone/Mistral-7B:Q4", "nomic-embed-text"}
	for name, want := range map[string]string{
		"qwen3:8":        "qwen3:8b qwen3:32b qwen2.5-coder:7b",
		"qwen3":          "qwen3:8b qwen3:32b qwen2.5-coder:7b",
		"Qwen3:8B":       "qwen3:8b qwen3:32b qwen2.5-coder:7b",
		"lama3.2":        "llama3.2",
		"gptoss":         "gpt-oss:20b",
		"mistral-7b":     "hf.co/someone/Mistral-7B:Q4",
		"something else": "",
		"":               "",
	} {
		if got := strings.Join(Nearest(name, names), " "); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestOnThisMachine(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"http://127.0.0.1:11434": true, "http://127.8.9.1": true, "http://[::1]:8080": true, "http://localhost:1": true,
		"http://LOCALHOST": true, "http://a.localhost:1": true, "http://0.0.0.0:1": true,
		"https://api.openai.com": false, "http://192.168.1.5:11434": false, "http://localhost.example.com": false, "": false, "::": false,
	} {
		if got := onThisMachine(address); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}
