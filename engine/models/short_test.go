package models

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models/facts"
	"github.com/fettle-cli/fettle/engine/provider"
)

// placed is a shelf with a name and an address.
type placed struct {
	shelf
	name, address string
	asked         *int
}

func (p placed) Name() string    { return p.name }
func (p placed) Address() string { return p.address }

func (p placed) Models(context.Context) ([]provider.Model, error) {
	*p.asked++
	return p.models, nil
}

// shortCatalog has OpenAI, Anthropic, Groq without a key, and an Ollama with two models.
func shortCatalog(t *testing.T) (cat *Catalog, asked *int) {
	t.Helper()
	asked = new(int)
	reg := new(provider.Registry)
	for _, p := range []placed{
		{name: "openai", address: "https://api.openai.com"},
		{name: "anthropic", address: "https://api.anthropic.com"},
		{name: "groq", address: "https://api.groq.com"},
		{name: "ollama", address: "http://127.0.0.1:11434", shelf: shelf{models: []provider.Model{{Name: "qwen3:latest"}, {Name: "gemma3:4b"}}}},
	} {
		p.asked = asked
		if err := reg.Add(p.name, func() (provider.Provider, error) { return p, nil }); err != nil {
			t.Fatal(err)
		}
	}
	return &Catalog{
		Registry: reg, Facts: facts.Builtin, Aliases: map[string]string{"fast": "openai/gpt-5-mini", "sonnet4": "anthropic/claude-sonnet-4-6"},
		Seekers: []Seeker{{Provider: "groq", Ready: func() bool { return false }}},
		Kept: func() []provider.Model {
			return []provider.Model{{Provider: "openai", Name: "gpt-5.6-2026-10-01"}, {Provider: "groq", Name: "gpt-5"}}
		},
	}, asked
}

func TestResolveShortNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		asks       int
	}{
		{"gpt-5", "openai/gpt-5", 0}, // Groq lists one too, and isn't ready
		{"openai/whatever", "openai/whatever", 0},
		{"fast", "openai/gpt-5-mini", 0},
		{"sonnet", "anthropic/claude-sonnet-5", 0},
		{"claude-sonnet", "anthropic/claude-sonnet-5", 0},
		{"haiku", "anthropic/claude-haiku-4-5", 0},
		{"gpt-5.6", "openai/gpt-5.6-2026-10-01", 0},
		{"gpt-oss-120b", "groq/openai/gpt-oss-120b", 0},
		{"qwen3", "ollama/qwen3:latest", 1},
		{"gemma3", "ollama/gemma3:4b", 1},
	} {
		cat, asked := shortCatalog(t)
		p, model, err := cat.Resolve(t.Context(), c.name)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := p.Name() + "/" + model; got != c.want || *asked != c.asks {
			t.Errorf("%s is %s after asking %d times; want %s after %d", c.name, got, *asked, c.want, c.asks)
		}
	}
}

func TestShortNamesThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, message, hint string }{
		{"openai", "openai is a provider", "list the models of openai"},
		{"sonet", "no model is called sonet", "ask the model sonnet"},
		{"claude-sonet-5", "no model is called claude-sonet-5", "ask the model anthropic/claude-sonnet-5"},
		{"sonnet5", "no model is called sonnet5", "ask the model anthropic/claude-sonnet-4-6"},
		{"", "no model is called ", ""},
	} {
		cat, _ := shortCatalog(t)
		_, _, err := cat.Resolve(t.Context(), c.name)
		var f *fault.Fault
		if !errors.As(err, &f) || f.Code != fault.Usage || !strings.HasPrefix(f.Msg, c.message) {
			t.Errorf("%q: %v", c.name, err)
			continue
		}
		if c.hint != "" && !slices.Contains(fault.Texts(f.Remedies), c.hint) {
			t.Errorf("%q: hints %q lack %q", c.name, fault.Texts(f.Remedies), c.hint)
		}
	}
}

func TestShortNameOfSeveralProvidersIsNotGuessed(t *testing.T) {
	t.Parallel()
	cat, _ := shortCatalog(t)
	cat.Seekers = nil // Groq is ready
	_, _, err := cat.Resolve(t.Context(), "gpt-5")
	var f *fault.Fault
	if !errors.As(err, &f) || !slices.Equal(fault.Texts(f.Remedies), []string{"ask the model groq/gpt-5", "ask the model openai/gpt-5"}) {
		t.Errorf("it gives %v", err)
	}
}

func TestDescribeFillsGapsFromTheTable(t *testing.T) {
	t.Parallel()
	cat, _ := shortCatalog(t)
	p, model, err := cat.Resolve(t.Context(), "gpt-5")
	if err != nil {
		t.Fatal(err)
	}
	m, err := cat.Describe(t.Context(), p, model)
	if err != nil || m.ContextLength != 400_000 || m.Tools != provider.Yes {
		t.Errorf("gpt-5 is %+v, %v", m, err)
	}
	cat.Settings = func(string, string) provider.Model { return provider.Model{ContextLength: 1000, Tools: provider.No} }
	if m, err = cat.Describe(t.Context(), p, model); err != nil || m.ContextLength != 1000 || m.Tools != provider.No || m.Images != provider.Yes {
		t.Errorf("with settings gpt-5 is %+v, %v", m, err)
	}
}
