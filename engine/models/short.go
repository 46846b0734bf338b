package models

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models/facts"
	"github.com/fettle-cli/fettle/engine/provider"
)

// ErrNoModel is the cause of a fault about a name that no model has, or about a question
// that names no model where none is configured or found.
var ErrNoModel = errors.New("no such model")

// candidate is a model that a short name may mean.
type candidate struct {
	provider, name string
	family         string
	released       string // YYYY-MM-DD, "" where it is unknown
	listed         bool   // the provider has listed it, or it runs on this machine
}

func (c candidate) ref() string { return c.provider + "/" + c.name }

// Short returns the provider/model that a name without a provider means. The name is, in
// this order:
//
//   - the name of a model that a provider has listed before or that the table of facts
//     has at its address, with or without the day of its release: gpt-5
//   - the name of a family, or its last parts, which means the newest model: sonnet
//   - the name of a model on this machine, whose providers list their models: qwen3
//
// Where several providers have the model, those that are ready come first. A name that
// is still not unique is a fault that lists the full names.
func (c *Catalog) Short(ctx context.Context, name string) (string, error) {
	if name == "" {
		return "", c.noneCalled(name, c.candidates())
	}
	if slices.Contains(c.Registry.Names(), name) {
		return "", fault.New(fault.Usage, name+" is a provider, and its model is missing: a model is named provider/model",
			fault.Try(fault.ListModels, name))
	}
	all := c.candidates()
	found := matching(all, name)
	if len(found) == 0 {
		local := c.local(ctx)
		if found = matching(local, name); len(found) == 0 {
			return "", c.noneCalled(name, append(all, local...))
		}
	}
	if ready := slices.DeleteFunc(slices.Clone(found), func(m candidate) bool { return !c.ready(m.provider) }); len(ready) > 0 {
		found = ready
	}
	if len(found) > 1 {
		f := fault.New(fault.Usage, "more than one provider has "+name)
		for _, m := range found {
			f.Remedies = append(f.Remedies, fault.Try(fault.AskModel, m.ref()))
		}
		return "", f
	}
	return found[0].ref(), nil
}

// candidates are all models that are known without asking.
func (c *Catalog) candidates() []candidate {
	var out []candidate
	seen := map[string]int{} // the places in out, by the full name
	if c.Kept != nil {
		for _, m := range c.Kept() {
			if m.Chats != provider.No {
				seen[m.Ref()] = len(out)
				out = append(out, candidate{provider: m.Provider, name: m.Name, listed: true})
			}
		}
	}
	if c.Facts == nil {
		return out
	}
	for _, name := range c.Registry.Names() {
		p, err := c.Registry.Get(name)
		if err != nil {
			continue
		}
		address := addressOf(p)
		if !facts.Public(address) {
			continue
		}
		for _, m := range c.Facts().At(address) {
			if m.Described().Chats == provider.No {
				continue
			}
			at, known := seen[name+"/"+m.Name]
			if !known {
				out = append(out, candidate{name, m.Name, m.Family, m.Released, false})
				continue
			}
			out[at].family, out[at].released = m.Family, m.Released
		}
	}
	return out
}

// local lists the models of the providers on this machine.
func (c *Catalog) local(ctx context.Context) []candidate {
	ctx, cancel := context.WithTimeout(ctx, seekTime)
	defer cancel()
	var out []candidate
	for _, name := range c.Registry.Names() {
		p, err := c.Registry.Get(name)
		if err != nil || !onThisMachine(addressOf(p)) {
			continue
		}
		lister, ok := p.(provider.Lister)
		if !ok {
			continue
		}
		models, err := lister.Models(ctx)
		if err != nil {
			continue // it isn't running, and the name may mean another provider's model
		}
		for _, m := range models {
			out = append(out, candidate{provider: name, name: m.Name, listed: true})
		}
	}
	return out
}

// ready reports whether a provider can be asked, as far as that is known.
func (c *Catalog) ready(name string) bool {
	for _, s := range c.Seekers {
		if s.Provider == name && s.Ready != nil {
			return s.Ready()
		}
	}
	return true
}

// matching returns the models that a name means: one at most for each provider.
func matching(all []candidate, name string) []candidate {
	for _, means := range []func(candidate) bool{
		func(m candidate) bool { return sameModel(m.name, name) },
		func(m candidate) bool { return dated(m.name, name) },
		func(m candidate) bool { return m.name[strings.LastIndex(m.name, "/")+1:] == name },
		func(m candidate) bool { return base(m.name) == name && m.listed },
		func(m candidate) bool { return m.family == name },
		func(m candidate) bool { return strings.HasSuffix(m.family, "-"+name) },
	} {
		best := map[string]candidate{}
		for _, m := range all {
			if old, ok := best[m.provider]; means(m) && (!ok || newer(m, old)) {
				best[m.provider] = m
			}
		}
		if len(best) > 0 {
			found := make([]candidate, 0, len(best))
			for _, m := range best {
				found = append(found, m)
			}
			slices.SortFunc(found, func(a, b candidate) int { return cmp.Compare(a.ref(), b.ref()) })
			return found
		}
	}
	return nil
}

// newer reports whether a is the newer model of the two, and of the same day the one
// with the shorter name: without a date, and before its variants.
func newer(a, b candidate) bool {
	return cmp.Or(cmp.Compare(a.released, b.released), cmp.Compare(len(b.name), len(a.name)), cmp.Compare(b.name, a.name)) > 0
}

// noneCalled is the fault of a name that means no model.
func (c *Catalog) noneCalled(name string, all []candidate) error {
	f := fault.New(fault.Usage, "no model is called "+name)
	f.Err = ErrNoModel
	ready := slices.DeleteFunc(slices.Clone(all), func(m candidate) bool { return !c.ready(m.provider) })
	for _, among := range [][]candidate{ready, all} {
		refs := maps.Clone(c.Aliases) // by each name that can be mistyped
		if refs == nil {
			refs = map[string]string{}
		}
		for _, m := range among {
			refs[m.name] = m.ref()
			for _, family := range []string{m.family, m.family[strings.LastIndex(m.family, "-")+1:]} {
				if family != "" && refs[family] == "" {
					refs[family] = family
				}
			}
		}
		for _, near := range Nearest(name, slices.Sorted(maps.Keys(refs))) {
			f.Remedies = append(f.Remedies, fault.Try(fault.AskModel, refs[near]))
		}
		if len(f.Remedies) > 0 {
			break
		}
	}
	if len(f.Remedies) == 0 {
		for _, p := range c.Registry.Names() {
			f.Remedies = append(f.Remedies, fault.Try(fault.AskModel, p+"/"+modelOr(name)))
		}
	}
	f.Remedies = append(f.Remedies, fault.Try(fault.ListModels).That("lists the models"))
	return f
}

// modelOr returns a name that can follow a provider's in an example.
func modelOr(name string) string {
	if name = strings.Trim(name, "/"); name == "" {
		return "MODEL"
	}
	return name
}
