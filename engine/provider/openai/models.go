package openai

import (
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
}

type capabilities struct {
	Tools  *bool `json:"function_calling"`
	Vision *bool `json:"vision"`
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

// model is what the entry tells.
func (e listEntry) model(prov string) provider.Model {
	m := provider.Model{Provider: prov, Name: string(e.ID), Created: provider.UnixTime(e.Created.N)}
	if m.Name == "" {
		m.Name = string(e.Name)
	}
	m.Chats, m.Audio = chats(m.Name), takesAudio(m.Name)
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
	if c := e.Capabilities; c != nil {
		if c.Tools != nil {
			m.Tools = known(*c.Tools)
		}
		if c.Vision != nil {
			m.Images = known(*c.Vision)
		}
	}
	return m
}

// other are words in the names of models that can't be asked, of which lists say
// nothing else.
func other() []string {
	return []string{
		"embed", "embedding", "embeddings", "bge", "whisper", "tts", "dall", "gpt-image", "image", "moderation", "sora",
		"transcribe", "realtime", "rerank", "reranker", "babbage", "davinci", "gpt-3.5-turbo-instruct",
	}
}

// chats tells whether a model of a name can be asked, as far as that tells.
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
