package workbench

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/demodata"
	"github.com/fettle-cli/fettle/commands/keystore"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/anthropic"
	"github.com/fettle-cli/fettle/engine/provider/mistral"
	"github.com/fettle-cli/fettle/engine/provider/modelcache"
	"github.com/fettle-cli/fettle/engine/provider/ollama"
	"github.com/fettle-cli/fettle/engine/provider/openai"
	"github.com/fettle-cli/fettle/engine/provider/script"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// NewCatalog puts together the providers that the configuration knows. None of
// them is asked anything, or even made, before a turn wants it.
func (rt *Runtime) NewCatalog(cfg *config.Config, ring *keystore.Keys, client *http.Client) (*models.Catalog, error) {
	return rt.catalogFor(cfg, catalogParts{ring: ring, client: client})
}

// catalogParts are what providers are made with.
type catalogParts struct {
	ring   *keystore.Keys
	client *http.Client
	// wrap may put something around each provider; nil leaves them.
	wrap func(provider.Provider) provider.Provider
	// agentDir is where providers store their agents; empty stores none.
	agentDir string
	// onWait is called with the process that holds the file of such agents.
	onWait func(owner string)
}

// catalogFor returns the catalogue of a configuration.
func (rt *Runtime) catalogFor(cfg *config.Config, parts catalogParts) (*models.Catalog, error) {
	parts.onWait = func(owner string) {
		rt.Notice("waiting for " + cmp.Or(owner, "another process") + ", which makes agents at a provider")
	}
	ring, client, wrap := parts.ring, parts.client, parts.wrap
	if wrap == nil {
		wrap = func(p provider.Provider) provider.Provider { return p }
	}
	reg := new(provider.Registry)
	add := func(name string, make provider.Factory) error {
		return reg.Add(name, func() (provider.Provider, error) {
			p, err := make()
			if err != nil {
				return nil, err
			}
			return wrap(p), nil
		})
	}
	err := add("ollama", func() (provider.Provider, error) { return newOllama(cfg, ring, client) })
	if err != nil {
		return nil, err
	}
	if err := add("script", func() (provider.Provider, error) { return rt.newScript(cfg) }); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Providers)) {
		p := cfg.Providers[name]
		if err := add(name, func() (provider.Provider, error) { return newRemote(cfg, p, ring.For(p), client, parts) }); err != nil {
			return nil, err
		}
	}
	return &models.Catalog{
		Registry: reg, Configured: cfg.Model, Seekers: seekers(cfg, ring),
		Facts: rt.Facts, Aliases: cfg.Aliases(), Kept: func() []provider.Model { return rt.keptModels(reg.Names()) },
		Settings: func(name, model string) provider.Model {
			s := cfg.ModelSettings(name, model)
			return provider.Model{
				ContextLength: s.ContextLength, Tools: s.Tools, Images: s.Images,
				Thinking: s.Thinking, Schema: s.Schema, Params: s.Params,
			}
		},
	}, nil
}

// modelsDir is the folder of what providers have listed, below the cache directory.
const modelsDir = "models"

// ModelCache returns the cache of what providers have listed.
func (rt *Runtime) ModelCache() (*modelcache.Cache, error) {
	dirs, err := rt.Dirs()
	if err != nil {
		return nil, err
	}
	return modelcache.New(filepath.Join(dirs.Cache, modelsDir)), nil
}

// keptModels are the models that these providers have listed before.
func (rt *Runtime) keptModels(providers []string) []provider.Model {
	cache, err := rt.ModelCache()
	if err != nil {
		return nil
	}
	var out []provider.Model
	for _, l := range cache.All() {
		if !slices.Contains(providers, l.Provider) {
			continue
		}
		for _, m := range l.Models {
			m.Provider = l.Provider
			out = append(out, m)
		}
	}
	return out
}

// NewClient is the one HTTP client: proxies and certificates as net/http has
// them. Time limits are the providers' own, since a stream may last for hours.
func NewClient() *http.Client { return wire.Client(nil) }

// newScript returns the provider whose models are files. It plays the files that the
// command line, the configuration, or a chat that a command of the user's continues names.
// Clients, bundles and project files that the user does not trust name models too, and
// must not choose files.
func (rt *Runtime) newScript(cfg *config.Config) (provider.Provider, error) {
	wd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return script.New(script.Options{
		Dir: wd, FS: demodata.Files(), Terse: rt.Answering,
		Named: func(name string) bool {
			ref := scriptPrefix + name
			_, named := rt.scripts.Load(ref)
			return named || slices.Contains(cfg.ModelNames(), ref)
		},
	}), nil
}

// scriptPrefix begins the names of models that are files.
const scriptPrefix = "script/"

// NameModels permits models that the user has named on the command line, in the
// configuration or in a chat. It matters for models that are files: see newScript.
func (rt *Runtime) NameModels(refs ...string) {
	for _, ref := range refs {
		if isScript(ref) {
			rt.scripts.Store(ref, true)
		}
	}
}

// isScript reports whether a model is a file.
func isScript(ref string) bool { return strings.HasPrefix(ref, scriptPrefix) }

// seekers are the places where a model is looked for when none was named.
func seekers(cfg *config.Config, ring *keystore.Keys) []models.Seeker {
	host := cfg.Ollama.Host
	if u, err := url.Parse(host); err == nil && u.Host != "" {
		host = u.Host
	}
	out := []models.Seeker{{Place: "Ollama at " + host, Provider: "ollama"}}
	for _, name := range []string{"anthropic", "openai", "mistral"} {
		p, ok := cfg.Providers[name]
		if !ok {
			continue
		}
		out = append(out, models.Seeker{
			Place: cmp.Or(p.KeyEnv, "a key for "+name), Provider: name, Missing: "not set",
			Ready: func() bool { return ring.Ready(p) }, Prefer: preferred(name),
		})
	}
	return out
}

// preferred are models of a provider that are taken first where no model was
// named: what its own programs would take, newest first.
func preferred(name string) []string {
	switch name {
	case "anthropic":
		return []string{"claude-sonnet-5-5", "claude-sonnet-5", "claude-sonnet-4-6", "claude-sonnet-4-5"}
	case "openai":
		return []string{"gpt-5.6", "gpt-5.5", "gpt-5.4", "gpt-5.2", "gpt-5.1", "gpt-5", "gpt-5-mini", "gpt-4.1", "gpt-4o"}
	case "mistral":
		return []string{"mistral-medium-latest", "mistral-large-latest", "mistral-small-latest"}
	}
	return nil
}

func newOllama(cfg *config.Config, ring *keystore.Keys, client *http.Client) (provider.Provider, error) {
	veil, keyed := provider.NewVeil(), cfg.Keyed()["ollama"]
	p, err := ollama.New(ollama.Options{
		Key:  veil.Key(ring.For(keyed)),
		Host: cfg.Ollama.Host, NumCtx: cfg.Ollama.NumCtx, MaxCtx: cfg.Ollama.MaxNumCtx, Client: client,
		FirstByte: cfg.Limits.FirstByte, Between: cfg.Limits.BetweenChunks,
	})
	if err != nil {
		return nil, err
	}
	return veil.Over(renewKey(p, ring, keyed)), nil
}

// newRemote makes a provider of the configuration by its type. What it is sent
// as a secret is hidden in what it answers.
func newRemote(
	cfg *config.Config, p config.Provider, key func(context.Context) (string, error), client *http.Client, parts catalogParts,
) (provider.Provider, error) {
	headers, query := reveal(p.Headers), reveal(p.Query)
	body := make(map[string]json.RawMessage, len(p.Body))
	for name, value := range p.Body {
		body[name] = json.RawMessage(value.Reveal())
	}
	secrets := slices.Collect(maps.Values(headers))
	for name, value := range query {
		if namesSecret(name) {
			secrets = append(secrets, value)
		}
	}
	veil := provider.NewVeil(secrets...)
	made, err := speak(cfg, p, connection{veil.Key(key), headers, query, body, client, parts})
	if err != nil {
		return nil, err
	}
	return veil.Over(renewKey(made, parts.ring, p)), nil
}

// reveal returns the values that are sent.
func reveal(hidden map[string]config.Secret) map[string]string {
	out := make(map[string]string, len(hidden))
	for name, value := range hidden {
		out[name] = value.Reveal()
	}
	return out
}

// namesSecret reports whether a parameter of this name is probably a secret. The values of
// others, such as api-version, stay readable in messages.
func namesSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"auth", "code", "key", "secret", "sig", "token"}, func(part string) bool {
		return strings.Contains(name, part)
	})
}

// connection is how a provider is reached.
type connection struct {
	key     func(context.Context) (string, error)
	headers map[string]string
	query   map[string]string
	body    map[string]json.RawMessage
	client  *http.Client
	parts   catalogParts
}

// speak makes a provider for the protocol of its type.
func speak(cfg *config.Config, p config.Provider, c connection) (provider.Provider, error) {
	o := wire.Options{
		Name: p.Name, BaseURL: p.BaseURL, Key: c.key, Headers: c.headers, Query: c.query, Body: c.body, Client: c.client,
		FirstByte: cfg.Limits.FirstByte, Between: cfg.Limits.BetweenChunks,
	}
	switch p.Type {
	case config.TypeAnthropic:
		return anthropic.New(o)
	case config.TypeMistral:
		o := mistral.Options{Options: o}
		if p.Agents == config.AgentsNative && c.parts.agentDir != "" {
			o.AgentFile, o.OnWait = filepath.Join(c.parts.agentDir, p.Name+".json"), c.parts.onWait
		}
		return mistral.New(o)
	case config.TypeOpenAI:
		return openai.New(openai.Options{Options: o, API: p.API})
	}
	return nil, fault.New(fault.Config, "provider "+p.Name+" has the type "+p.Type+", which fettle doesn't speak")
}
