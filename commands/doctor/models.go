package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/doctor/machine"
	"github.com/fettle-cli/fettle/commands/keystore"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
)

// shortContext is a context length, in tokens, with which a model forgets what
// its tools have just told it.
const shortContext = 8192

// ollamaName is the name of the built-in provider.
const ollamaName = "ollama"

// mayAskOllama tells whether Ollama is on this machine, or the network may be
// used.
func (v *visit) mayAskOllama() bool {
	if v.online {
		return true
	}
	u, err := url.Parse(v.cfg.Ollama.Host)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}

// uses tells whether the configuration names a model of a provider.
func (v *visit) uses(name string) bool {
	return slices.ContainsFunc(append([]string{v.cfg.Model}, v.cfg.Fallback...), func(ref string) bool {
		return strings.HasPrefix(ref, name+"/")
	})
}

// listed asks a provider for its models.
func (v *visit) listed(ctx context.Context, name string) ([]provider.Model, error) {
	p, err := v.catalog.Registry.Get(name)
	if err != nil {
		return nil, err
	}
	lister, ok := p.(provider.Lister)
	if !ok {
		return nil, errNoList
	}
	listed, err := lister.Models(ctx)
	return listed, models.Explain(name+"/", err)
}

var errNoList = errors.New("it can't tell its models")

func (v *visit) ollama(ctx context.Context) machine.Result {
	r := machine.Result{ID: ollamaName, Title: "Ollama", Status: machine.OK}
	if !v.mayAskOllama() {
		r.Detail = "at " + v.cfg.Ollama.Host + ", which is not this machine and wasn't asked: --online asks it"
		return v.contextLength(r)
	}
	p, err := v.catalog.Registry.Get(ollamaName)
	if err != nil {
		return failedResult(r, err)
	}
	asked, ok := provider.As[interface {
		Version(ctx context.Context) (string, error)
	}](p)
	if !ok {
		return failedResult(r, errors.New("this provider tells no version"))
	}
	version, err := asked.Version(ctx)
	if err != nil {
		r = failedResult(r, models.Explain(ollamaName+"/", err))
		r.Hints = r.Hints[:min(len(r.Hints), 1)] // what else there is to ask is the model's line to say
		if !v.uses(ollamaName) {
			r.Status = machine.Warning
		}
		return v.contextLength(r)
	}
	models, err := v.listed(ctx, ollamaName)
	if err != nil {
		return failedResult(r, err)
	}
	r.Detail = fmt.Sprintf("version %s at %s, %s", version, v.cfg.Ollama.Host, term.Count(len(models), "model", "models"))
	if len(models) == 0 {
		r.Status = machine.Warning
		r.Try("fettle models pull qwen3")
	}
	return v.contextLength(r)
}

// contextLength adds what is odd about the lengths of contexts that are set.
func (v *visit) contextLength(r machine.Result) machine.Result {
	const variable = "OLLAMA_CONTEXT_LENGTH"
	warn := func(hint, format string, args ...any) {
		if r.Status == machine.OK {
			r.Status = machine.Warning
		}
		r.Try(hint)
		r.More = append(r.More, fmt.Sprintf(format, args...))
	}
	from := v.cfg.Origin("ollama.num_ctx")
	fixed, most := v.cfg.Ollama.NumCtx, v.cfg.Ollama.MaxNumCtx
	if fixed > 0 && fixed < shortContext {
		hint := "fettle config unset ollama.num_ctx   lets fettle measure what is needed"
		if from == variable {
			hint = "unset " + variable + "   lets fettle measure what is needed"
		}
		warn(hint, "every context is %s tokens long, by %s: a model forgets what its tools have just told it", term.Number(int64(fixed)), from)
	}
	if fixed > 0 && most > 0 && fixed > most {
		warn("", "ollama.num_ctx, %s by %s, is above ollama.max_num_ctx, %s by %s",
			term.Number(int64(fixed)), from, term.Number(int64(most)), v.cfg.Origin("ollama.max_num_ctx"))
	}
	if value, set := os.LookupEnv(variable); set && value != "" && value != "0" && from != variable {
		warn("", "%s=%s isn't used by fettle: %s comes before it", variable, value, from)
	}
	return r
}

// model tells which model a question would go to.
func (v *visit) model(ctx context.Context) machine.Result {
	r := machine.Result{ID: "model", Title: "model", Status: machine.OK}
	if ref := v.cfg.Model; ref != "" {
		p, model, err := v.catalog.Resolve(ctx, ref)
		if err != nil {
			return failedResult(r, err)
		}
		r.Detail = ref + ", by " + v.cfg.Origin("model")
		if asked, ok := provider.As[interface{ API(model string) string }](p); ok {
			r.Detail += ", asked by " + apiName(asked.API(model))
		}
		if v.online || p.Name() == "script" || p.Name() == ollamaName && v.mayAskOllama() {
			if _, err := v.catalog.Describe(ctx, p, model); err != nil {
				return failedResult(r, models.Explain(ref, err))
			}
		}
		return r
	}
	if v.online {
		ref, err := v.catalog.Default(ctx)
		if err != nil {
			return failedResult(r, err)
		}
		r.Detail = ref + ", chosen since the configuration names none"
		return r
	}
	return v.unaskedModel(ctx, r)
}

// apiName returns the name of an API as its documentation has it.
func apiName(api string) string {
	if api == config.APIResponses {
		return "the Responses API"
	}
	return "chat completions"
}

// unaskedModel tells which model would be chosen, as far as this machine knows.
func (v *visit) unaskedModel(ctx context.Context, r machine.Result) machine.Result {
	keyed := ""
	for _, s := range v.catalog.Seekers {
		switch {
		case s.Provider == ollamaName && v.mayAskOllama():
			local := *v.catalog
			local.Seekers = []models.Seeker{s} // no other provider is asked
			if ref, err := local.Default(ctx); err == nil {
				r.Detail = ref + ", chosen since the configuration names none"
				return r
			}
		case s.Provider != ollamaName && s.Ready() && keyed == "":
			keyed = "one of " + s.Provider + "'s"
		}
	}
	const unasked = ", which wasn't asked: --online asks it"
	switch {
	case keyed != "" && v.mayAskOllama():
		r.Detail = "none named: " + keyed + " is chosen"
		return r
	case keyed != "":
		r.Detail = "none named: one of Ollama's at " + v.cfg.Ollama.Host + ", or " + keyed + unasked
		return r
	case !v.mayAskOllama():
		r.Detail = "none named: one of Ollama's at " + v.cfg.Ollama.Host + unasked
		return r
	}
	r.Status, r.Detail = machine.Error, "no model to ask: none is named, no Ollama has one, and no provider has a key"
	r.Try("ollama serve, then: fettle models pull qwen3",
		"fettle keys set anthropic   or openai, or mistral",
		"fettle demo   a recorded model, nothing to set up")
	return r
}

// provider tells whether there is a key, and with --online whether the address
// takes it. The key itself is never told.
func (v *visit) provider(ctx context.Context, p config.Provider) machine.Result {
	r := machine.Result{ID: "provider." + p.Name, Title: p.Name, Status: machine.OK}
	i := slices.IndexFunc(v.keys, func(f keystore.Found) bool { return f.Name == p.Name })
	switch {
	case i < 0 && v.noKeys != nil:
		return failedResult(r, v.noKeys)
	case i < 0:
		r = v.withoutKey(r, p)
	default:
		r = v.withKey(r, p, v.keys[i].Sources[0])
	}
	if p.API != "" {
		r.Detail += ", asked by " + apiName(p.API)
	}
	if !v.online || i < 0 && p.Default || r.Status == machine.Error {
		return r
	}
	models, err := v.listed(ctx, p.Name)
	switch {
	case errors.Is(err, errNoList):
		return r
	case err != nil:
		had := r.Detail
		r = failedResult(r, err)
		r.More = append(r.More, had)
		return r
	}
	r.Detail += ", answers: " + term.Count(len(models), "model", "models")
	return r
}

func (v *visit) withoutKey(r machine.Result, p config.Provider) machine.Result {
	switch {
	case p.Default && v.uses(p.Name):
		r.Status, r.Detail = machine.Error, "no key, and the configuration names a model of it"
		if p.KeyEnv != "" {
			r.Try("export " + p.KeyEnv + "=…")
		}
		r.Try("fettle keys set " + p.Name)
	case p.Default:
		r.Detail = "not set up: no key"
	case p.KeyEnv != "":
		r.Status, r.Detail = machine.Warning, p.BaseURL+" is asked without a key: "+p.KeyEnv+" is not set"
		r.Try("export "+p.KeyEnv+"=…", "fettle keys set "+p.Name)
	default:
		r.Detail = p.BaseURL + ", asked without a key"
	}
	return r
}

func (v *visit) withKey(r machine.Result, p config.Provider, s keystore.Source) machine.Result {
	where := map[keystore.Place]string{
		keystore.Environment:   "in " + s.Name,
		keystore.Configuration: "in " + v.cfg.Origin("providers."+p.Name+".key"),
		keystore.CommandOutput: "by the command in " + v.cfg.Origin("providers."+p.Name+".key"),
		keystore.InKeyring:     "in the keyring",
		keystore.InFile:        "in " + keystore.FileName,
	}[s.Place]
	r.Detail = "key " + where
	if s.Exposed {
		r.Status = machine.Warning
		r.Try("chmod 600 on the file, and a new key: others could read this one")
		r.Detail += " isn't used: others can read the file"
	}
	return r
}
