package models

import (
	"context"
	"iter"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
)

// shelf is a provider that lists models and tells more of each when asked.
type shelf struct {
	models []provider.Model
	about  map[string]provider.Model
}

func (s shelf) Name() string { return "shelf" }

func (s shelf) Models(context.Context) ([]provider.Model, error) { return s.models, nil }

func (s shelf) Model(_ context.Context, name string) (provider.Model, error) {
	return s.about[name], nil
}

func (s shelf) Stream(context.Context, *provider.Request) iter.Seq2[[]provider.Delta, error] {
	return func(func([]provider.Delta, error) bool) {}
}

func TestTheModelThatIsFoundUnasked(t *testing.T) {
	t.Parallel()
	named := func(names ...string) (out []provider.Model) {
		for _, n := range names {
			out = append(out, provider.Model{Name: n})
		}
		return out
	}
	embeds, talks, calls := provider.Model{Chats: provider.No, Tools: provider.No}, provider.Model{Chats: provider.Yes, Tools: provider.No}, provider.Model{Chats: provider.Yes, Tools: provider.Yes}
	for name, c := range map[string]struct {
		shelf  shelf
		prefer []string
		want   string
	}{
		"what calls tools":             {shelf{named("talks", "calls"), map[string]provider.Model{"talks": talks, "calls": calls}}, nil, "shelf/calls"},
		"else what can be asked":       {shelf{named("embeds", "talks"), map[string]provider.Model{"embeds": embeds, "talks": talks}}, nil, "shelf/talks"},
		"never what only embeds":       {shelf{named("embeds"), map[string]provider.Model{"embeds": embeds}}, nil, ""},
		"nor by its list":              {shelf{[]provider.Model{{Name: "text-embedding-3", Chats: provider.No}, {Name: "gpt"}}, nil}, nil, "shelf/gpt"},
		"what is preferred":            {shelf{named("a", "b", "c"), nil}, []string{"x", "c", "b"}, "shelf/c"},
		"with a day":                   {shelf{named("b-mini", "b-20250929"), nil}, []string{"b"}, "shelf/b-20250929"},
		"with a day in another form":   {shelf{named("b-1", "b-2025-09-29"), nil}, []string{"b"}, "shelf/b-2025-09-29"},
		"an unknown one where no more": {shelf{named("a", "b"), nil}, nil, "shelf/a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reg := new(provider.Registry)
			if err := reg.Add("shelf", func() (provider.Provider, error) { return c.shelf, nil }); err != nil {
				t.Fatal(err)
			}
			cat := &Catalog{Registry: reg, Seekers: []Seeker{{Place: "the shelf", Provider: "shelf", Prefer: c.prefer}}}
			got, err := cat.Default(t.Context())
			if got != c.want || (err != nil) != (c.want == "") {
				t.Errorf("it found %q, %v; want %q", got, err, c.want)
			}
		})
	}
}
