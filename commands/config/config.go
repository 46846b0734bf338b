package config

import (
	"maps"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
)

// Config is the configuration in force. It is not changed once it is loaded.
type Config struct {
	Model     string   // provider/model; empty where none is configured
	Fallback  []string // provider/model each, in order
	System    string
	Color     string // auto, always or never; never for auto where NO_COLOR is set
	Ollama    Ollama
	Providers map[string]Provider // OpenAI-compatible addresses; "openai" is always there
	Models    map[string]Model    // by provider/model; ModelSettings has the merged view
	Tools     Tools
	Allow     []string // rules of all sources, the strongest source's first
	Deny      []string
	Ask       []string
	Limits    Limits
	Retries   int // after the first attempt

	// Warnings are problems that the configuration can be used with.
	Warnings []Problem
	// Files are those that were read.
	Files []string

	origins map[string]string
}

// Ollama is the settings of the built-in provider ollama.
type Ollama struct {
	Host      string // a URL, such as http://127.0.0.1:11434
	NumCtx    int    // 0: what the conversation needs
	MaxNumCtx int    // 0: the model's own length
}

// Provider is one OpenAI-compatible address.
type Provider struct {
	Name    string
	Type    string // "openai"
	BaseURL string // without a slash at its end
	// KeyEnv is the variable that should hold the key, for messages; empty
	// where none was named.
	KeyEnv string
	// Key is the variable's value, else the file's; empty where there is none.
	Key     Secret
	Headers map[string]Secret
	Models  map[string]Model // by the model's name alone
}

// Model is what the user knows better than the provider about a model. Zero
// fields say nothing.
type Model struct {
	ContextLength int
	Tools         provider.Known
	Images        provider.Known
	Thinking      provider.Known
	Schema        provider.Known
}

// known is the field of an ability, by its name in the file.
func (m *Model) known(name string) *provider.Known {
	switch name {
	case "tools":
		return &m.Tools
	case "images":
		return &m.Images
	case "thinking":
		return &m.Thinking
	}
	return &m.Schema
}

// over gives m with the gaps filled from under.
func (m Model) over(under Model) Model {
	if m.ContextLength == 0 {
		m.ContextLength = under.ContextLength
	}
	for _, name := range modelFields()[1:] {
		if k := m.known(name); *k == provider.Unknown {
			*k = *under.known(name)
		}
	}
	return m
}

// Tools says which tools a model is offered.
type Tools struct {
	Enabled bool
	Globs   []string // over tool ids; empty: all
}

// Limits bound a question.
type Limits struct {
	MaxTurns      int
	Timeout       time.Duration // 0: none
	FirstByte     time.Duration
	BetweenChunks time.Duration
	StdinBytes    int64
	FileBytes     int64
}

// ModelSettings is what is configured for one model: its entry in Models, and
// where that says nothing its entry in the provider's own list.
func (c *Config) ModelSettings(providerName, model string) Model {
	return c.Models[providerName+"/"+model].over(c.Providers[providerName].Models[model])
}

// Origin tells where the value of a key comes from: "default", a place in a
// file, a variable or a flag; several where rules add up. Keys have dots
// between their parts: "ollama.host", "providers.local.base_url",
// "models.ollama/Qwen2.5:7B.tools". A key without a value has no origin.
func (c *Config) Origin(key string) string { return c.origins[key] }

// Keys lists the keys that have an origin, sorted.
func (c *Config) Keys() []string { return slices.Sorted(maps.Keys(c.origins)) }
