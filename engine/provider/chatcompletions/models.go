package chatcompletions

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// listEntry is a model in a list, with the fields by which the servers in use
// tell more than its name.
type listEntry struct {
	ID   wire.String `json:"id"`
	Name wire.String `json:"name"`

	Created          wire.Int `json:"created"`
	ContextLength    wire.Int `json:"context_length"`     // OpenRouter, Together
	ContextWindow    wire.Int `json:"context_window"`     // Groq
	MaxModelLen      wire.Int `json:"max_model_len"`      // vLLM, SGLang
	MaxContextLength wire.Int `json:"max_context_length"` // Mistral, LM Studio
	Meta             *struct {
		TrainedContext wire.Int `json:"n_ctx_train"` // llama.cpp
		Size           wire.Int `json:"size"`
	} `json:"meta"`

	Architecture *struct {
		Input []wire.String `json:"input_modalities"`
	} `json:"architecture"` // OpenRouter
	Parameters   []wire.String `json:"supported_parameters"` // OpenRouter
	Capabilities *capabilities `json:"capabilities"`         // Mistral
	Deprecation  wire.String   `json:"deprecation"`
	Replacement  wire.String   `json:"deprecation_replacement_model"`
}

type capabilities struct {
	Chat      *bool `json:"completion_chat"`
	Tools     *bool `json:"function_calling"`
	Vision    *bool `json:"vision"`
	Reasoning *bool `json:"reasoning"`
}

// UnmarshalJSON ignores capabilities of other forms, such as Ollama's list.
func (c *capabilities) UnmarshalJSON(b []byte) error {
	type plain capabilities
	var v plain
	if wire.Lenient(b, &v) {
		*c = capabilities(v)
	}
	return nil
}

// model is what the entry contains; described is Dialect.Described.
func (e listEntry) model(prov string, described bool) provider.Model {
	m := provider.Model{Provider: prov, Name: cmp.Or(string(e.ID), string(e.Name)), Created: provider.UnixTime(e.Created.N)}
	if !described {
		m.Chats, m.Audio = chats(m.Name), takesAudio(m.Name)
	}
	lengths := []wire.Int{e.ContextLength, e.ContextWindow, e.MaxModelLen, e.MaxContextLength}
	if e.Meta != nil {
		lengths = append(lengths, e.Meta.TrainedContext)
		m.Size = e.Meta.Size.N
	}
	for _, n := range lengths {
		if n.N > 0 {
			m.ContextLength = int(n.N)
			break
		}
	}
	if e.Architecture != nil && len(e.Architecture.Input) > 0 {
		m.Images = known(slices.Contains(e.Architecture.Input, "image"))
		if slices.Contains(e.Architecture.Input, "audio") {
			m.Audio = provider.Yes
		}
	}
	if len(e.Parameters) > 0 {
		m.Tools = known(slices.Contains(e.Parameters, "tools"))
		m.Thinking = known(slices.Contains(e.Parameters, "reasoning"))
		m.Schema = known(slices.Contains(e.Parameters, "structured_outputs"))
	}
	e.described(&m, described)
	return m
}

// described adds what Mistral's lists contain.
func (e listEntry) described(m *provider.Model, all bool) {
	set := func(fact *provider.Known, is *bool) {
		if is != nil {
			*fact = known(*is)
		}
	}
	if c := e.Capabilities; c != nil {
		set(&m.Tools, c.Tools)
		set(&m.Images, c.Vision)
		if all {
			set(&m.Thinking, c.Reasoning)
		}
	}
	if day, _, _ := strings.Cut(string(e.Deprecation), "T"); all && day != "" {
		m.Details = "retires " + day
		if e.Replacement != "" {
			m.Details += ", then " + string(e.Replacement)
		}
	}
}

// listed reports whether a model is shown. A list that says what its models are for contains
// those for embeddings, speech and the like.
func (e listEntry) listed(name string, described bool) bool {
	return name != "" && (!described || e.Capabilities == nil || e.Capabilities.Chat == nil || *e.Capabilities.Chat)
}

// Models lists the models in the address's own order.
func (p *Provider) Models(ctx context.Context) ([]provider.Model, error) {
	x, err := p.Exchange(ctx, http.MethodGet, "models", nil, p.Source(""))
	if err != nil {
		return nil, err
	}
	var entries []listEntry
	err = x.Ask(ctx, func(body []byte) (err error) {
		entries, err = readList(body)
		return err
	})
	if err != nil {
		return nil, err
	}
	models := make([]provider.Model, 0, len(entries))
	seen := map[string]bool{}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range entries {
		m := e.model(p.Name(), p.d.Described)
		if !e.listed(m.Name, p.d.Described) || p.d.Described && seen[m.Name] {
			continue
		}
		seen[m.Name] = true
		models = append(models, m)
		p.listed[m.Name] = m
	}
	return models, nil
}

// Model returns what the last list of models contained. It sends nothing: the list is
// a request of its own, often says nothing of a model's abilities, and many
// addresses serve models that they don't list.
func (p *Provider) Model(_ context.Context, name string) (provider.Model, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m, ok := p.listed[name]; ok {
		return m, nil
	}
	m := provider.Model{Provider: p.Name(), Name: name}
	if !p.d.Described {
		m.Audio = takesAudio(name)
	}
	return m, nil
}

// readList reads `{"data": […]}`, `{"models": […]}` or a bare list.
func readList(body []byte) ([]listEntry, error) {
	var list struct {
		Data   []listEntry `json:"data"`
		Models []listEntry `json:"models"`
	}
	var bare []listEntry
	if json.Unmarshal(body, &bare) == nil {
		return bare, nil
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	if list.Data == nil {
		return list.Models, nil
	}
	return list.Data, nil
}

// other are words in the names of models that can't be asked, of which lists say
// nothing else.
func other() []string {
	return []string{
		"embed", "embedding", "embeddings", "bge", "whisper", "tts", "dall", "gpt-image", "image", "moderation", "sora",
		"transcribe", "realtime", "rerank", "reranker", "babbage", "davinci", "gpt-3.5-turbo-instruct",
	}
}

// chats reports whether a model chats, as far as its name shows.
func chats(name string) provider.Known {
	name = strings.ToLower(name)
	words := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-_/.: ", r) })
	for _, o := range other() {
		if slices.Contains(words, o) || strings.HasPrefix(name, o+"-") {
			return provider.No
		}
	}
	return provider.Unknown
}

// takesAudio reports whether a model of a name takes sounds, as far as the name says.
func takesAudio(name string) provider.Known {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("-_/.: ", r) })
	if slices.Contains(words, "audio") || slices.Contains(words, "gemini") {
		return provider.Yes
	}
	return provider.Unknown
}

func known(yes bool) provider.Known {
	if yes {
		return provider.Yes
	}
	return provider.No
}
