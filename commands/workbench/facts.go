package workbench

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/engine/models/facts"
	"github.com/fettle-cli/fettle/internal/atomicfile"
)

// factsFile is the table of models that `models update` has fetched, below the cache
// directory.
const factsFile = "model-facts.json.gz"

// newestFacts returns the fetched table unless the builtin one is newer. A fetched table that
// can't be read counts as none.
func (rt *Runtime) newestFacts() *facts.Table {
	fetched, err := rt.fetchedFacts()
	if err == nil && fetched.Date >= facts.Builtin().Date {
		return fetched
	}
	return facts.Builtin()
}

func (rt *Runtime) fetchedFacts() (*facts.Table, error) {
	path, err := rt.factsPath()
	if err != nil {
		return nil, err
	}
	f, err := atomicfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return facts.Read(f)
}

func (rt *Runtime) factsPath() (string, error) {
	dirs, err := rt.Dirs()
	if err != nil {
		return "", err
	}
	return filepath.Join(dirs.Cache, factsFile), nil
}

// KeepFacts stores a fetched table for later commands.
func (rt *Runtime) KeepFacts(t *facts.Table) error {
	path, err := rt.factsPath()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if _, err = t.WriteTo(&b); err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = atomicfile.Write(path, b.Bytes(), atomicfile.Cached)
	}
	if err != nil {
		return fmt.Errorf("store the table of models: %w", err)
	}
	return nil
}

// DropFacts removes the fetched table, if there is one, so that the builtin one is used.
func (rt *Runtime) DropFacts() error {
	path, err := rt.factsPath()
	if err != nil {
		return err
	}
	if err = atomicfile.Remove(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Prices finds what tokens cost: in the configuration, else in the table of facts for the
// address of the provider.
type Prices struct {
	cfg   *config.Config
	facts func() *facts.Table
}

// Prices returns the prices under a configuration.
func (rt *Runtime) Prices(cfg *config.Config) Prices { return Prices{cfg, rt.Facts} }

// Of returns the price of a model by its provider/model.
func (p Prices) Of(ref string) (config.Price, bool) {
	if price, ok := p.cfg.Prices[ref]; ok {
		return price, true
	}
	name, model, _ := strings.Cut(ref, "/")
	address := p.cfg.Providers[name].BaseURL
	if !facts.Public(address) {
		return config.Price{}, false
	}
	t := p.facts()
	m := t.Find(address, model)
	if m == nil || m.Price == nil {
		return config.Price{}, false
	}
	return priceOf(m.Price, t.Date), true
}

func amountOf(n *int64) *config.Amount {
	if n == nil {
		return nil
	}
	a := config.Amount(*n)
	return &a
}

// priceOf converts a price of the table.
func priceOf(p *facts.Price, day string) config.Price {
	orElse := func(n *int64, other int64) config.Amount {
		if n != nil {
			return config.Amount(*n)
		}
		return config.Amount(other)
	}
	out := config.Price{
		Input: config.Amount(p.Input), Output: config.Amount(p.Output), Cached: orElse(p.Cached, p.Input),
		Currency: "USD", AsOf: day,
	}
	out.CacheWrite = amountOf(p.CacheWrite)
	if t := p.Above; t != nil {
		out.Above = &config.LongPrice{
			Over: int64(t.Over), Input: config.Amount(t.Input), Output: config.Amount(t.Output), Cached: orElse(t.Cached, t.Input),
			CacheWrite: amountOf(t.CacheWrite),
		}
	}
	return out
}
