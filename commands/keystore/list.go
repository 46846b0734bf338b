package keystore

import (
	"maps"
	"slices"

	"github.com/fettle-cli/fettle/commands/config"
)

// Source is a place that has a key.
type Source struct {
	Place Place
	// Name is the variable, where the place is the environment.
	Name string
	// Ends is the end of the key, to tell keys apart; it may be empty.
	Ends string
	// Exposed tells that the key isn't used, since others can read its file.
	Exposed bool
}

// Found is a provider's keys, the one that is used first.
type Found struct {
	Name    string
	Known   bool // the configuration has a provider of that name
	Sources []Source
}

// List tells which providers have keys, and where. It runs no command and asks
// no keyring.
func (k *Keys) List(providers map[string]config.Provider) ([]Found, error) {
	f, err := k.read()
	if err != nil {
		return nil, err
	}
	names := slices.Collect(maps.Keys(providers))
	for name := range f.entries {
		if _, ok := providers[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	out := []Found{}
	for _, name := range names {
		p, known := providers[name]
		found := Found{Name: name, Known: known}
		if s, ok := k.configured(p); ok {
			found.Sources = append(found.Sources, s)
		}
		if e, ok := f.entries[name]; ok {
			s := Source{Place: InFile, Ends: e.ends, Exposed: f.exposed && !e.inKeyring}
			if e.inKeyring {
				s.Place = InKeyring
			}
			found.Sources = append(found.Sources, s)
		}
		if len(found.Sources) > 0 {
			out = append(out, found)
		}
	}
	return out, nil
}

// configured is what the environment or the configuration has for a provider.
func (k *Keys) configured(p config.Provider) (Source, bool) {
	switch {
	case p.KeyCommand != "":
		return Source{Place: CommandOutput}, true
	case p.Key.Empty():
		return Source{}, false
	case p.KeyEnv != "":
		if v, _ := k.o.Env(p.KeyEnv); v != "" {
			return Source{Place: Environment, Name: p.KeyEnv, Ends: Ends(p.Key.Reveal())}, true
		}
	}
	return Source{Place: Configuration, Ends: Ends(p.Key.Reveal())}, true
}
