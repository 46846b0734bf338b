package config

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
)

// Config is the configuration in force. It is not changed once it is loaded.
type Config struct {
	Model    string   // provider/model; empty where none is configured
	Fallback []string // provider/model each, in order
	System   string
	// Agent is the agent that new chats begin with, or none; empty is not set.
	Agent     string
	Embedding string
	Color     string // auto, always or never; never for auto where NO_COLOR is set
	Ollama    Ollama
	Providers map[string]Provider // by name; openai, anthropic and mistral are always there
	Models    map[string]Model    // by provider/model; ModelSettings has the merged view
	Prices    map[string]Price    // by provider/model
	Agents    map[string]Agent    // by id
	Tools     Tools
	Allow     []string // rules of all sources, the strongest source's first
	Deny      []string
	Ask       []string
	// Approvals is the mode of chats that have none of their own.
	Approvals string
	// RunCommand is what commands may reach, Search who is asked by web_search.
	RunCommand RunCommand
	Search     Search
	Limits     Limits
	Compact    Compact
	// FoldersFromOutside counts what tools read in the user's own folders as content from
	// outside.
	FoldersFromOutside bool
	Retries            int // after the first attempt
	// Python is the interpreter of Python tools; empty looks on the PATH.
	Python string
	// Server is the address of a server that is asked instead; empty asks here.
	Server string
	// RequireSandbox refuses tools of toolsets that can't be contained in full.
	RequireSandbox bool
	// Profile is the profile in force; empty where none is.
	Profile string
	// Profiles are those that there are, sorted.
	Profiles []string

	// Warnings are problems that the configuration can be used with.
	Warnings []Problem
	// Files are those that were read.
	Files []string
	// Project is the project's file; nil where there is none.
	Project *Project

	origins map[string][]Origin
	partial map[string]Price // that nothing can be reckoned with
	sources []*fileParts     // what the files say, for what their profiles hold
}

// ModelNames returns the models that the configuration asks: the default, its
// fallbacks, the one for summaries and those of agents.
func (c *Config) ModelNames() []string {
	names := append([]string{c.Model, c.Compact.Model}, c.Fallback...)
	for _, a := range c.Agents {
		names = append(names, a.Model)
	}
	return names
}

// Ollama is the settings of the built-in provider ollama.
type Ollama struct {
	Host      string // a URL, such as http://127.0.0.1:11434
	NumCtx    int    // 0: what the conversation needs
	MaxNumCtx int    // 0: the model's own length
	// Key is the variable's value, for an Ollama that wants one; empty where
	// there is none.
	Key Secret
}

// Provider is one address that models are asked at.
type Provider struct {
	Name    string
	Type    string // one of the Type constants
	API     string // one of the API constants; empty if the provider chooses
	BaseURL string // without a slash at its end
	// Default tells that BaseURL is the builtin provider's own address, which
	// answers nobody without a key.
	Default bool
	// KeyEnv is the variable that should hold the key, for messages; empty
	// where none was named.
	KeyEnv string
	// Key is the variable's value, else the file's; empty where there is none.
	Key Secret
	// KeyCommand is a command that prints the key, as it stands in the file
	// behind a !; empty where there is none, or the variable is set.
	KeyCommand string
	Headers    map[string]Secret
	// Query is added to the address of each request. Body is added to the JSON of each
	// question; its values are JSON.
	Query, Body map[string]Secret
	// Agents is AgentsNative where agents and their conversations are kept by the
	// provider; empty is AgentsOwn.
	Agents string
	Models map[string]Model // by the model's name alone
}

// Who keeps agents that hand over to each other: fettle, or the provider.
const (
	AgentsOwn    = "own"
	AgentsNative = "native"
)

// Model is what the user knows better than the provider about a model. Zero
// fields say nothing.
type Model struct {
	ContextLength int
	Tools         provider.Known
	Images        provider.Known
	Thinking      provider.Known
	Schema        provider.Known
	// Alias is a short name of the user's for the model; "" is none.
	Alias string
	// Params are what is asked of the model where a question doesn't say.
	Params provider.Params
}

// set stores a field that was decoded.
func (m *Model) set(name string, v any) {
	switch v := v.(type) {
	case int:
		m.ContextLength = v
	case string:
		m.Alias = v
	case provider.Params:
		m.Params = v.Over(m.Params)
	case provider.Known:
		*m.known(name) = v
	}
}

// field is the value of a field that is set, as it is written in a file.
func (m *Model) field(name string) any {
	switch name {
	case "context_length":
		return m.ContextLength
	case "alias":
		return m.Alias
	case provider.EffortParam:
		return m.Params.Effort
	case provider.TemperatureParam:
		return *m.Params.Temperature
	case provider.MaxTokensParam:
		return m.Params.MaxTokens
	}
	return *m.known(name)
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
	m.Alias, m.Params = cmp.Or(m.Alias, under.Alias), m.Params.Over(under.Params)
	for _, name := range abilityFields() {
		if k := m.known(name); *k == provider.Unknown {
			*k = *under.known(name)
		}
	}
	return m
}

// newProvider returns a provider without any settings.
func newProvider(name string) Provider {
	p := Provider{Name: name, Models: map[string]Model{}}
	for _, field := range additionFields() {
		*p.additions(field) = map[string]Secret{}
	}
	return p
}

// additionFields are the fields with what is added to a provider's requests, by name.
func additionFields() []string { return []string{"headers", "query", "body"} }

// Additions returns what is added to the provider's requests, by the name of the field.
func (p Provider) Additions() map[string]map[string]Secret {
	return map[string]map[string]Secret{"headers": p.Headers, "query": p.Query, "body": p.Body}
}

// additions is the field of one of additionFields.
func (p *Provider) additions(field string) *map[string]Secret {
	switch field {
	case "headers":
		return &p.Headers
	case "query":
		return &p.Query
	}
	return &p.Body
}

// over gives p with the gaps filled from under.
func (p Provider) over(under Provider) Provider {
	p.Name = cmp.Or(p.Name, under.Name)
	p.Type = cmp.Or(p.Type, under.Type)
	p.API = cmp.Or(p.API, under.API)
	p.BaseURL = cmp.Or(p.BaseURL, under.BaseURL)
	p.KeyEnv = cmp.Or(p.KeyEnv, under.KeyEnv)
	p.Agents = cmp.Or(p.Agents, under.Agents)
	if p.Key.Empty() && p.KeyCommand == "" {
		p.Key, p.KeyCommand = under.Key, under.KeyCommand
	}
	for _, name := range additionFields() {
		all := map[string]Secret{}
		maps.Copy(all, *under.additions(name))
		maps.Copy(all, *p.additions(name))
		*p.additions(name) = all
	}
	models := map[string]Model{}
	maps.Copy(models, under.Models)
	for name, m := range p.Models {
		models[name] = m.over(under.Models[name])
	}
	p.Models = models
	return p
}

// Tools says which tools a model is offered.
type Tools struct {
	Enabled bool
	Globs   []string // over tool ids; empty: all
}

// RunCommand is the settings of the tool run_command.
type RunCommand struct {
	Sandbox  string // the least level: full, reduced or none
	Network  Network
	Env      []string // names
	Readable []string // absolute paths
	Git      string   // read or write
	Timeout  time.Duration
}

// Search is the settings of the tool web_search.
type Search struct {
	Provider string // searxng or brave
	Address  string // empty where none is set
	// Key is the variable's value; empty where there is none.
	Key Secret
}

// searchName is what the key of web_search's service is kept as, and
// searchKeyEnv the variable for it.
const (
	searchName   = "search"
	searchKeyEnv = "FETTLE_SEARCH_KEY"
)

// Limits bound a question.
type Limits struct {
	MaxSteps      int
	MaxHandoffs   int
	MaxRepeats    int           // of the same calls with the same results in a row
	MaxFailures   int           // of calls in a row
	Timeout       time.Duration // 0: none
	FirstByte     time.Duration
	BetweenChunks time.Duration
	StdinBytes    int64
	// KeptFile is the largest file whose content a state keeps; ChatFiles and
	// AllFiles bound what states add to the store, 0 is no bound.
	KeptFile, ChatFiles, AllFiles int64
	FileBytes                     int64
}

// Compact is how a conversation is made to fit a model's context.
type Compact struct {
	Off     bool
	Percent int    // of the context that a question with its answer may take
	Model   string // provider/model that sums up; empty for the one that is asked
}

// ModelSettings is what is configured for one model: its entry in Models, and
// where that says nothing its entry in the provider's own list.
func (c *Config) ModelSettings(providerName, model string) Model {
	return c.Models[providerName+"/"+model].over(c.Providers[providerName].Models[model])
}

// Aliases returns the models by their aliases. Where two models have the same alias, the
// one whose name is first in alphabetical order has it.
func (c *Config) Aliases() map[string]string {
	out := map[string]string{}
	add := func(ref string, m Model) {
		if old, taken := out[m.Alias]; m.Alias != "" && (!taken || ref < old) {
			out[m.Alias] = ref
		}
	}
	for ref, m := range c.Models {
		add(ref, m)
	}
	for name, p := range c.Providers {
		for model, m := range p.Models {
			add(name+"/"+model, m)
		}
	}
	return out
}

// Keyed are the addresses that may want a key, by name: the providers, Ollama,
// and web_search's service.
func (c *Config) Keyed() map[string]Provider {
	out := maps.Clone(c.Providers)
	out["ollama"] = Provider{Name: "ollama", BaseURL: c.Ollama.Host, KeyEnv: ollamaKeyEnv, Key: c.Ollama.Key}
	if _, taken := out[searchName]; !taken {
		out[searchName] = Provider{Name: searchName, BaseURL: c.Search.Address, KeyEnv: searchKeyEnv, Key: c.Search.Key}
	}
	return out
}

// KeyVariables are the variables that may hold keys of providers, sorted.
func (c *Config) KeyVariables() []string {
	out := []string{ollamaKeyEnv, searchKeyEnv}
	for _, b := range builtins() {
		out = append(out, b.keyEnv)
	}
	for _, p := range c.Providers {
		if p.KeyEnv != "" {
			out = append(out, p.KeyEnv)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Origin tells where the value of a key comes from: "default", a place in a
// file, a variable or a flag; several where rules add up. Keys have dots
// between their parts: "ollama.host", "providers.local.base_url",
// "models.ollama/Qwen2.5:7B.tools". A key without a value has no origin.
func (c *Config) Origin(key string) string { return joinOrigins(c.origins[key]) }

// Origins tells the same in parts, the strongest source first.
func (c *Config) Origins(key string) []Origin { return slices.Clone(c.origins[key]) }

// Keys lists the keys that have an origin, sorted.
func (c *Config) Keys() []string { return slices.Sorted(maps.Keys(c.origins)) }
