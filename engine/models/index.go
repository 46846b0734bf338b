package models

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/engine/models/facts"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/modelcache"
)

const (
	// DefaultFresh is how long a list from elsewhere is believed: providers
	// change theirs every few weeks, and a person who waits for a new model
	// asks for it.
	DefaultFresh = time.Hour
	// DefaultAskTime bounds the wait for one provider's list and the facts
	// about its models. Lists come within a second; a person waits for all.
	DefaultAskTime = 10 * time.Second
	// describeAtOnce is how many models of a provider are asked about side by
	// side, describeMost how many in all.
	describeAtOnce = 8
	describeMost   = 256
)

// Index lists models: by asking providers, or from what they said before.
// It is safe for concurrent use.
type Index struct {
	Catalog *Catalog
	// Cache keeps what providers say; nil keeps nothing.
	Cache *modelcache.Cache
	// Fresh is how old a kept list may be; 0 is DefaultFresh. A provider on
	// this machine is asked each time: that takes milliseconds, and what it
	// has changes when somebody pulls or removes a model with another program.
	Fresh time.Duration
	// NotReady says what a provider lacks to be asked, "" for nothing, where
	// no Seeker of the catalog tells; nil knows of nothing.
	NotReady func(name string) string
	// AskTime bounds the wait for each provider; 0 is DefaultAskTime.
	AskTime time.Duration
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Query says what to list.
type Query struct {
	// Providers are the names of those to list; nil is all.
	Providers []string
	// Refresh asks them even if what they said is fresh.
	Refresh bool
}

// List is what one provider offers.
type List struct {
	Provider string
	Address  string // scheme, host and port; "" where the provider doesn't tell
	Local    bool   // the address is on this machine
	// Models have the configuration's word applied, in the provider's order.
	Models []Model
	// Asked is when the list was had; zero where there is none.
	Asked time.Time
	// Cached tells that it was had by an earlier command.
	Cached bool
	// Err is why the provider gave no list now; an older one may be here all
	// the same.
	Err error
	// NotReady says what the provider lacks to be asked, such as a key: it
	// isn't set up, which is no failure unless somebody wants it by name.
	NotReady string
}

// Answered tells whether the list is what the caller wanted: had now, or kept
// and fresh.
func (l List) Answered() bool { return l.Err == nil && l.NotReady == "" }

// Source is where a fact about a model comes from.
type Source int

// The sources. NoSource is that of a fact that nobody told.
const (
	NoSource  Source = iota
	FromTable        // what is publicly known: see package facts
	FromProvider
	FromCache
	FromConfiguration
)

// Model is a model with the sources of its facts.
type Model struct {
	provider.Model
	// Local tells that it runs on this machine.
	Local   bool
	Sources Sources
	// Known is what the table of facts says; nil where it says nothing.
	Known *facts.Model
}

// Sources says of each fact where it comes from.
type Sources struct{ ContextLength, Tools, Images, Thinking, Schema, Size Source }

// List asks every provider side by side, each with a deadline of its own, so
// that one that fails or hangs holds up none of the others. The lists are in
// the order of the names. Providers that can't list are left out. The error is
// that of ctx, or of a name that no provider has.
func (x *Index) List(ctx context.Context, q Query) ([]List, error) {
	names := q.Providers
	if names == nil {
		names = x.Catalog.Registry.Names()
	}
	lists := make([]*List, len(names))
	errs := make([]error, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() { lists[i], errs[i] = x.list(ctx, name, q) })
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var out []List
	for i, l := range lists {
		switch {
		case errs[i] != nil:
			return nil, errs[i]
		case l != nil:
			out = append(out, *l)
		}
	}
	return out, nil
}

// list gives one provider's list; nil where it can't list, unless it was asked
// for by name.
func (x *Index) list(ctx context.Context, name string, q Query) (*List, error) {
	p, err := x.Catalog.Registry.Get(name)
	var unknown *provider.UnknownError
	if errors.As(err, &unknown) {
		return nil, err
	}
	l := &List{Provider: name}
	if err != nil {
		l.Err = err
		return l, nil
	}
	lister, ok := p.(provider.Lister)
	switch {
	case !ok && q.Providers == nil:
		return nil, nil
	case !ok:
		l.NotReady = "it does not tell its models"
		return l, nil
	}
	l.Address = addressOf(p)
	l.Local = onThisMachine(l.Address)
	if l.NotReady = x.notReady(name); l.NotReady != "" {
		return l, nil
	}
	x.fill(ctx, l, p, lister, q.Refresh)
	return l, nil
}

// notReady says what a provider lacks, as the search for a model would.
func (x *Index) notReady(name string) string {
	for _, s := range x.Catalog.Seekers {
		if s.Provider != name || s.Ready == nil {
			continue
		}
		if s.Ready() {
			return ""
		}
		return strings.TrimSpace(s.Place + " " + s.Missing)
	}
	if x.NotReady != nil {
		return x.NotReady(name)
	}
	return ""
}

// fill puts the models into l: kept ones where they are fresh, else what the
// provider says now, else kept ones of any age.
func (x *Index) fill(ctx context.Context, l *List, p provider.Provider, lister provider.Lister, refresh bool) {
	kept, ok := x.kept(l)
	if ok && !refresh && !l.Local && x.fresh(kept.Asked) {
		x.settle(l, kept.Models, kept.Asked, true)
		return
	}
	asked := x.now()
	models, err := x.ask(ctx, p, lister)
	if err != nil {
		l.Err = err
		if ok {
			x.settle(l, kept.Models, kept.Asked, true)
		}
		return
	}
	x.settle(l, models, asked, false)
	if x.Cache != nil {
		// One that can't be kept is asked for again; nothing is lost by it.
		_ = x.Cache.Put(modelcache.List{Provider: l.Provider, Address: l.Address, Asked: asked, Models: models})
	}
}

func (x *Index) kept(l *List) (modelcache.List, bool) {
	if x.Cache == nil {
		return modelcache.List{}, false
	}
	return x.Cache.Get(l.Provider, l.Address)
}

// fresh tells whether a list had at that time needs no asking. One from the
// future was had under another clock, and tells nothing.
func (x *Index) fresh(asked time.Time) bool {
	age := x.now().Sub(asked)
	limit := x.Fresh
	if limit == 0 {
		limit = DefaultFresh
	}
	return age >= 0 && age < limit
}

func (x *Index) now() time.Time {
	if x.Now != nil {
		return x.Now()
	}
	return time.Now()
}

// ask lists a provider's models and asks about those of which the list says
// nothing.
func (x *Index) ask(ctx context.Context, p provider.Provider, lister provider.Lister) ([]provider.Model, error) {
	limit := x.AskTime
	if limit == 0 {
		limit = DefaultAskTime
	}
	inner, cancel := context.WithTimeoutCause(ctx, limit, &lateError{limit})
	defer cancel()
	models, err := lister.Models(inner)
	if err != nil {
		var late *lateError
		if ctx.Err() == nil && errors.As(context.Cause(inner), &late) {
			return nil, &provider.Error{Kind: provider.SlowStart, Provider: p.Name(), Message: late.Error(), Err: err}
		}
		return nil, err
	}
	x.describe(inner, p, models)
	return models, nil
}

// lateError is why a provider's list is not waited for any longer.
type lateError struct{ limit time.Duration }

func (e *lateError) Error() string {
	return "its list of models didn't come within " + e.limit.String()
}

// describe fills in what a list leaves out. What can't be had stays unknown.
func (x *Index) describe(ctx context.Context, p provider.Provider, models []provider.Model) {
	var wg sync.WaitGroup
	free := make(chan struct{}, describeAtOnce)
	asked := 0
	for i := range models {
		m := &models[i]
		if m.ContextLength > 0 && m.Tools != provider.Unknown || asked == describeMost {
			continue
		}
		asked++
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			if ctx.Err() != nil {
				return
			}
			if said, err := p.Model(ctx, m.Name); err == nil {
				complete(m, said)
			}
		})
	}
	wg.Wait()
}

// complete fills the gaps in m.
func complete(m *provider.Model, said provider.Model) {
	if m.ContextLength == 0 {
		m.ContextLength = said.ContextLength
	}
	if m.Size == 0 {
		m.Size = said.Size
	}
	if m.Details == "" {
		m.Details = said.Details
	}
	if m.Created.IsZero() {
		m.Created = said.Created
	}
	m.Remote = m.Remote || said.Remote
	if m.Efforts == 0 {
		m.Efforts = said.Efforts
	}
	for _, f := range []struct{ to, from *provider.Known }{
		{&m.Chats, &said.Chats}, {&m.Tools, &said.Tools}, {&m.Images, &said.Images}, {&m.Thinking, &said.Thinking}, {&m.Schema, &said.Schema},
	} {
		if *f.to == provider.Unknown {
			*f.to = *f.from
		}
	}
}

// settle puts models into l, with the configuration's word over the provider's.
func (x *Index) settle(l *List, models []provider.Model, asked time.Time, cached bool) {
	l.Asked, l.Cached = asked, cached
	from := FromProvider
	if cached {
		from = FromCache
	}
	l.Models = make([]Model, 0, len(models))
	for _, m := range models {
		m.Provider = l.Provider
		l.Models = append(l.Models, x.Catalog.settled(m, from, l))
	}
}

// settled fills the gaps of a model in a list from the table, applies the
// configuration's word, and notes the sources.
func (c *Catalog) settled(m provider.Model, from Source, l *List) Model {
	out := Model{Model: m, Local: l.Local && !m.Remote, Known: c.fact(l.Address, m.Name)}
	var known provider.Model
	if out.Known != nil {
		known = out.Known.Described()
		complete(&out.Model, known)
	}
	var said provider.Model
	if c.Settings != nil {
		said = c.Settings(m.Provider, m.Name)
	}
	s := &out.Sources
	s.ContextLength = sourceOf(m.ContextLength > 0, known.ContextLength > 0, said.ContextLength > 0, from)
	s.Size = sourceOf(m.Size > 0, false, false, from)
	if said.ContextLength > 0 {
		out.ContextLength = said.ContextLength
	}
	for _, f := range []struct {
		have              *provider.Known
		told, table, said provider.Known
		from              *Source
	}{
		{&out.Tools, m.Tools, known.Tools, said.Tools, &s.Tools},
		{&out.Images, m.Images, known.Images, said.Images, &s.Images},
		{&out.Thinking, m.Thinking, known.Thinking, said.Thinking, &s.Thinking},
		{&out.Schema, m.Schema, known.Schema, said.Schema, &s.Schema},
	} {
		*f.from = sourceOf(f.told != provider.Unknown, f.table != provider.Unknown, f.said != provider.Unknown, from)
		override(f.have, f.said)
	}
	return out
}

// sourceOf returns the strongest source of a fact: the configuration, the provider, the
// table.
func sourceOf(told, known, configured bool, from Source) Source {
	switch {
	case configured:
		return FromConfiguration
	case told:
		return from
	case known:
		return FromTable
	}
	return NoSource
}

// onThisMachine tells whether an address is one of this machine itself.
func onThisMachine(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}
