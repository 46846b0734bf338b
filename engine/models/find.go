package models

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/didyoumean"
)

// maxNearest is how many names are offered for one that nobody has.
const maxNearest = 3

// Found is one model with the list that it was found by.
type Found struct {
	Model
	List List
	// Listed tells that the provider's list has the model. One that it lacks
	// may be there all the same, where a provider serves more than it lists.
	Listed bool
}

// Find gives all that is known of a model. A provider that can't be asked is
// no failure where its last list has the model. A model that nobody knows is a
// fault with the nearest names.
func (x *Index) Find(ctx context.Context, ref string) (Found, error) {
	p, name, err := x.Catalog.Resolve(ctx, ref)
	if err != nil {
		return Found{}, x.pointTo(ref, err)
	}
	lists, err := x.List(ctx, Query{Providers: []string{p.Name()}})
	if err != nil {
		return Found{}, err
	}
	list := lists[0]
	found := Found{List: list}
	for _, m := range list.Models {
		if sameModel(m.Name, name) {
			found.Model, found.Listed = m, true
			return found, nil
		}
	}
	return x.unlisted(ctx, p, name, found)
}

// unlisted looks for a model that the provider's list lacks.
func (x *Index) unlisted(ctx context.Context, p provider.Provider, name string, found Found) (Found, error) {
	ref := p.Name() + "/" + name
	m, err := p.Model(ctx, name)
	var pe *provider.Error
	switch {
	case ctx.Err() != nil:
		return found, context.Cause(ctx)
	case errors.As(err, &pe) && pe.Kind == provider.UnknownModel:
		return found, noSuchModel(ref, found.List)
	case err != nil:
		return found, Explain(ref, err)
	}
	m.Provider, m.Name = p.Name(), name
	found.Model = x.Catalog.settled(m, FromProvider, &found.List)
	if found.Sources != (Sources{}) {
		return found, nil
	}
	list := found.List
	switch {
	case list.Err != nil:
		return found, Explain(ref, list.Err)
	case list.NotReady != "" && len(list.Models) == 0:
		return found, nil // nobody could be asked, and the name may be right
	case len(list.Models) > 0:
		return found, noSuchModel(ref, list)
	}
	return found, nil
}

// sameModel knows that Ollama's tag latest is the one that is meant without.
func sameModel(listed, asked string) bool {
	const latest = ":latest"
	return strings.TrimSuffix(listed, latest) == strings.TrimSuffix(asked, latest)
}

// noSuchModel offers the names that may have been meant.
func noSuchModel(ref string, list List) error {
	_, name, _ := strings.Cut(ref, "/")
	f := fault.New(fault.Unavailable, list.Provider+" has no model "+name)
	f.Err = ErrNoModel
	names := make([]string, 0, len(list.Models))
	for _, m := range list.Models {
		names = append(names, m.Name)
	}
	if near := Nearest(name, names); len(near) > 0 {
		f.Msg += " (did you mean " + strings.Join(near, " or ") + "?)"
		f.Remedies = append(f.Remedies, fault.Try(fault.ShowModel, list.Provider+"/"+near[0]))
	}
	f.Remedies = append(f.Remedies, fault.Try(fault.ListModels, list.Provider))
	return f
}

// pointTo adds to the fault of an unknown provider which models have the name, by what
// providers have listed before.
func (x *Index) pointTo(ref string, err error) error {
	var f *fault.Fault
	var unknown *provider.UnknownError
	if !errors.As(err, &f) || !errors.As(err, &unknown) {
		return err
	}
	out := *f
	out.Msg, out.Remedies = unknown.Error(), nil
	_, name, _ := strings.Cut(ref, "/")
	for _, m := range x.Kept() {
		if sameModel(m.Name, name) || sameModel(m.Name, ref) {
			out.Remedies = append(out.Remedies, fault.Try(fault.ShowModel, m.Ref()))
		}
		if len(out.Remedies) == maxNearest {
			break
		}
	}
	out.Remedies = append(out.Remedies, fault.Try(fault.ListModels))
	return &out
}

// Kept gives the models that providers told of before, of those that the
// configuration still has, without asking anybody.
func (x *Index) Kept() []Model {
	if x.Cache == nil {
		return nil
	}
	names := x.Catalog.Registry.Names()
	var out []Model
	for _, kept := range x.Cache.All() {
		if _, ok := slices.BinarySearch(names, kept.Provider); !ok {
			continue
		}
		l := List{Provider: kept.Provider, Address: kept.Address, Local: onThisMachine(kept.Address)}
		x.settle(&l, kept.Models, kept.Asked, true)
		out = append(out, l.Models...)
	}
	return out
}

// Nearest picks the names that a mistyped one may stand for, best first:
// by spelling, with and without a tag, and by a common begin.
func Nearest(name string, names []string) []string {
	var out []string
	add := func(n string) {
		if n != "" && !slices.Contains(out, n) && len(out) < maxNearest {
			out = append(out, n)
		}
	}
	left := slices.Clone(names)
	for range maxNearest {
		near := didyoumean.Of(name, left)
		if near == "" {
			break
		}
		add(near)
		left = slices.DeleteFunc(left, func(n string) bool { return n == near })
	}
	bases := make([]string, len(names))
	for i, n := range names {
		bases[i] = base(n)
	}
	near := didyoumean.Of(base(name), bases)
	for i, n := range names {
		if bases[i] == base(name) || near != "" && bases[i] == near {
			add(n)
		}
	}
	for _, n := range names {
		if stem := stem(name); stem != "" && strings.HasPrefix(strings.ToLower(base(n)), stem) {
			add(n)
		}
	}
	return out
}

// base is a model's name without namespace and tag: qwen3 of user/qwen3:8b.
func base(name string) string {
	name, _, _ = strings.Cut(name, ":")
	return name[strings.LastIndex(name, "/")+1:]
}

// stem is the letters that a name begins with, if they tell anything: qwen of
// Qwen4:70b.
func stem(name string) string {
	b := strings.ToLower(base(name))
	end := strings.IndexFunc(b, func(r rune) bool { return r < 'a' || r > 'z' })
	if end < 0 {
		end = len(b)
	}
	if end < 3 {
		return ""
	}
	return b[:end]
}
