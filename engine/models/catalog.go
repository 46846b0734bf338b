package models

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models/facts"
	"github.com/fettle-cli/fettle/engine/provider"
)

// Catalog is a set of providers with what the configuration says of them. It
// is safe for concurrent use once it is made.
type Catalog struct {
	Registry *provider.Registry
	// Configured is the model that the configuration names, if any.
	Configured string
	// Settings tell what the configuration says of a model; fields that are
	// zero are left to the provider. nil says nothing.
	Settings func(providerName, model string) provider.Model
	// Seekers look for a model where none was named, in order.
	Seekers []Seeker
	// Facts returns what is publicly known about models; nil knows nothing. It is called
	// only for addresses that a table can have.
	Facts func() *facts.Table
	// Aliases are the user's own short names for models, as provider/model.
	Aliases map[string]string
	// Kept returns the models that providers have listed before, without asking
	// them; nil returns none.
	Kept func() []provider.Model
}

// Seeker is one place where a model may be found unasked.
type Seeker struct {
	Place    string // as a person reads it: "Ollama at 127.0.0.1:11434"
	Provider string
	// Ready tells without asking anybody whether it is worth a look; nil is
	// always. Missing is what a person is told where it isn't.
	Ready   func() bool
	Missing string
	// Prefer are names that are taken first where they are on offer.
	Prefer []string
}

// Resolve returns the provider and the model of a name: an alias, provider/model, or a
// short name as [Catalog.Short] explains. It asks only providers on this machine, and
// those only for a short name that nothing else explains.
func (c *Catalog) Resolve(ctx context.Context, ref string) (provider.Provider, string, error) {
	if full, ok := c.Aliases[ref]; ok {
		ref = full
	}
	p, model, err := c.Registry.Resolve(ref)
	if errors.Is(err, provider.ErrRef) {
		if ref, err = c.Short(ctx, ref); err != nil {
			return nil, "", err
		}
		p, model, err = c.Registry.Resolve(ref)
	}
	if err == nil {
		return p, model, nil
	}
	var unknown *provider.UnknownError
	if errors.As(err, &unknown) {
		f := fault.Wrap(fault.Unavailable, "find model "+ref, unknown)
		_, model, _ = strings.Cut(ref, "/")
		for _, name := range unknown.Nearest {
			f.Remedies = append(f.Remedies, fault.Try(fault.AskModel, name+"/"+model))
		}
		if len(f.Remedies) == 0 {
			f.Remedies = []fault.Remedy{fault.Try(fault.ListModels).That("lists the models")}
		}
		return nil, "", f
	}
	return nil, "", fault.Wrap(fault.Config, "find model "+ref, err)
}

// Describe asks the provider about the model, fills the gaps from the table of facts, and
// lets the configuration have the last word.
func (c *Catalog) Describe(ctx context.Context, p provider.Provider, model string) (provider.Model, error) {
	m, err := p.Model(ctx, model)
	if err != nil {
		return m, err
	}
	if known := c.fact(addressOf(p), model); known != nil {
		complete(&m, known.Described())
	}
	if c.Settings == nil {
		return m, nil
	}
	s := c.Settings(p.Name(), model)
	if s.ContextLength > 0 {
		m.ContextLength = s.ContextLength
	}
	override(&m.Tools, s.Tools)
	override(&m.Images, s.Images)
	override(&m.Thinking, s.Thinking)
	override(&m.Schema, s.Schema)
	m.Params = s.Params
	return m, nil
}

// fact returns what the table says about a model at an address; nil where it says
// nothing.
func (c *Catalog) fact(address, model string) *facts.Model {
	if c.Facts == nil || !facts.Public(address) {
		return nil
	}
	return c.Facts().Find(address, model)
}

// addressOf returns a provider's address, "" where it has none.
func addressOf(p provider.Provider) string {
	if a, ok := provider.As[interface{ Address() string }](p); ok {
		return a.Address()
	}
	return ""
}

func override(have *provider.Known, said provider.Known) {
	if said != provider.Unknown {
		*have = said
	}
}

const (
	// seekTime bounds the search for a model: an address on this machine
	// answers in milliseconds, and a person waits.
	seekTime = 5 * time.Second
	// seekModels is how many models are asked about for their abilities.
	seekModels = 16
)

// Default gives the configured model, else the first that a seeker finds: a
// model that can call tools before one that can't.
func (c *Catalog) Default(ctx context.Context) (string, error) {
	if c.Configured != "" {
		return c.Configured, nil
	}
	ctx, cancel := context.WithTimeout(ctx, seekTime)
	defer cancel()
	looked := [][2]string{{"model in the configuration", "not set"}}
	for _, s := range c.Seekers {
		if s.Ready != nil && !s.Ready() {
			looked = append(looked, [2]string{s.Place, s.Missing})
			continue
		}
		ref, err := c.seek(ctx, s)
		if ref != "" {
			return ref, nil
		}
		looked = append(looked, [2]string{s.Place, seekResult(err)})
	}
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return "", context.Cause(ctx)
	}
	return "", nothingFound(looked)
}

// nothingFound is the fault that shows where a model was looked for, and what
// was found there, in columns.
func nothingFound(looked [][2]string) *fault.Fault {
	f := fault.New(fault.Unavailable, "no model to ask",
		fault.Try(fault.StartOllama, "qwen3"),
		fault.Try(fault.AddKey, "anthropic", "ANTHROPIC_API_KEY"),
		fault.Try(fault.RunDemo))
	f.Err = ErrNoModel
	width := 0
	for _, l := range looked {
		width = max(width, utf8.RuneCountInString(l[0]))
	}
	label := "looked for"
	for _, l := range looked {
		f.Detail = append(f.Detail, fmt.Sprintf("%-10s  %-*s  %s", label, width, l[0], l[1]))
		label = ""
	}
	return f
}

func seekResult(err error) string {
	var pe *provider.Error
	switch {
	case err == nil:
		return "has no model"
	case errors.As(err, &pe) && pe.Kind == provider.Unreachable:
		return "not running"
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

func (c *Catalog) seek(ctx context.Context, s Seeker) (string, error) {
	p, err := c.Registry.Get(s.Provider)
	if err != nil {
		return "", err
	}
	lister, ok := p.(provider.Lister)
	if !ok {
		return "", errors.New("does not tell its models")
	}
	models, err := lister.Models(ctx)
	if err != nil || len(models) == 0 {
		return "", err
	}
	for _, want := range s.Prefer {
		for _, m := range models {
			if m.Name == want || dated(m.Name, want) {
				return p.Name() + "/" + m.Name, nil
			}
		}
	}
	found := "" // the first that can be asked, if only that
	for i, m := range models {
		if i < seekModels && m.Chats != provider.No && (m.Chats == provider.Unknown || m.Tools == provider.Unknown) {
			if known, err := c.Describe(ctx, p, m.Name); err == nil {
				known.Name = m.Name
				m = known
			}
		}
		switch ref := p.Name() + "/" + m.Name; {
		case m.Chats == provider.No:
		case m.Tools == provider.Yes && i < seekModels:
			return ref, nil
		case found == "":
			found = ref
		}
	}
	return found, nil
}

// dated tells whether a name is another one with the day of its release.
func dated(name, of string) bool {
	day, ok := strings.CutPrefix(name, of+"-")
	day = strings.ReplaceAll(day, "-", "")
	return ok && len(day) == len("20260131") && strings.Trim(day, "0123456789") == ""
}
