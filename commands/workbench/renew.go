package workbench

import (
	"context"
	"errors"
	"iter"
	"net/http"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/keystore"
	"github.com/fettle-cli/fettle/engine/provider"
)

// renewing is a provider whose key is printed by a command. A request that is refused with
// status 401 is repeated once with what the command prints then: tokens expire, also before
// the time for which they are kept.
type renewing struct {
	provider.Provider
	ring *keystore.Keys
	of   config.Provider
}

var (
	_ provider.Lister  = (*renewingLister)(nil)
	_ provider.Renewer = (*renewing)(nil)
)

type renewingLister struct {
	*renewing
	provider.Lister
}

// renewKey returns p, with its key renewed after a 401 if the key comes from a command.
func renewKey(p provider.Provider, ring *keystore.Keys, of config.Provider) provider.Provider {
	if of.KeyCommand == "" || !of.Key.Empty() {
		return p
	}
	r := &renewing{Provider: p, ring: ring, of: of}
	if l, ok := p.(provider.Lister); ok {
		return &renewingLister{renewing: r, Lister: l}
	}
	return r
}

// Unwrap returns the provider within.
func (r *renewing) Unwrap() provider.Provider { return r.Provider }

// renew reports whether a request that failed can be repeated with another key. runs is how
// often the command had run before the request.
func (r *renewing) renew(ctx context.Context, err error, runs int) bool {
	var e *provider.Error
	return errors.As(err, &e) && e.Status == http.StatusUnauthorized && r.ring.Renew(ctx, r.of, runs)
}

// Stream sends the request; see provider.Provider.
func (r *renewing) Stream(ctx context.Context, req *provider.Request) iter.Seq2[[]provider.Delta, error] {
	return func(yield func([]provider.Delta, error) bool) {
		runs, shown := r.ring.Runs(ctx, r.of), false
		for batch, err := range r.Provider.Stream(ctx, req) {
			if err != nil && !shown && r.renew(ctx, err, runs) {
				r.Provider.Stream(ctx, req)(yield)
				return
			}
			shown = true
			if !yield(batch, err) {
				return
			}
		}
	}
}

// Renewing calls do; see provider.Renewer.
func (r *renewing) Renewing(ctx context.Context, do func() error) error {
	runs := r.ring.Runs(ctx, r.of)
	err := do()
	if err != nil && r.renew(ctx, err, runs) {
		return do()
	}
	return err
}

// Model describes a model; see provider.Provider.
func (r *renewing) Model(ctx context.Context, name string) (m provider.Model, err error) {
	err = r.Renewing(ctx, func() error {
		m, err = r.Provider.Model(ctx, name)
		return err
	})
	return m, err
}

// Models lists the models; see provider.Lister.
func (r *renewingLister) Models(ctx context.Context) (list []provider.Model, err error) {
	err = r.Renewing(ctx, func() error {
		list, err = r.Lister.Models(ctx)
		return err
	})
	return list, err
}
