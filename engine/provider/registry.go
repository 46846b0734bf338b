package provider

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/fettle-cli/fettle/internal/didyoumean"
)

// Factory makes a provider when it is first asked for.
type Factory func() (Provider, error)

// Registry finds providers by name. The zero value is empty and ready for use;
// it is safe for concurrent use.
type Registry struct {
	mu      sync.Mutex
	entries map[string]*entry
}

// entry is one name. Its lock is held while the factory runs, so that a slow
// one holds up nobody who asks for another provider.
type entry struct {
	mu   sync.Mutex
	make Factory
	made Provider
}

// UnknownError says that no provider has this name.
type UnknownError struct {
	Name string
	// Nearest are known names that may have been meant, best first.
	Nearest []string
	// Known are all names, sorted.
	Known []string
}

// Error names what was asked for and what may have been meant.
func (e *UnknownError) Error() string {
	switch {
	case len(e.Nearest) > 0:
		return fmt.Sprintf("no provider is called %s (did you mean %s?)", e.Name, strings.Join(e.Nearest, " or "))
	case len(e.Known) > 0:
		return fmt.Sprintf("no provider is called %s (there are %s)", e.Name, strings.Join(e.Known, ", "))
	}
	return fmt.Sprintf("no provider is called %s", e.Name)
}

// ErrRef is the cause of an error for a reference that is no `provider/model`.
var ErrRef = errors.New("a model is named provider/model")

// Add makes a provider known. A name that has a slash, is empty, or is taken
// already is an error.
func (r *Registry) Add(name string, f Factory) error {
	if name == "" || strings.ContainsAny(name, "/ \t\r\n") {
		return fmt.Errorf("add provider %q: a name has no slash or space and is not empty", name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.entries[name]; ok {
		return fmt.Errorf("add provider %s: there is one already", name)
	}
	if r.entries == nil {
		r.entries = map[string]*entry{}
	}
	r.entries[name] = &entry{make: f}
	return nil
}

// Names lists the providers, sorted.
func (r *Registry) Names() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := make([]string, 0, len(r.entries))
	for name := range r.entries {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Get gives a provider, making it at the first call. A factory that fails is
// asked again the next time. An unknown name is an *UnknownError.
func (r *Registry) Get(name string) (Provider, error) {
	r.mu.Lock()
	e := r.entries[name]
	r.mu.Unlock()
	if e == nil {
		known := r.Names()
		return nil, &UnknownError{Name: name, Nearest: nearNames(name, known), Known: known}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.made != nil {
		return e.made, nil
	}
	p, err := e.make()
	if err != nil {
		return nil, fmt.Errorf("set up provider %s: %w", name, err)
	}
	e.made = p
	return p, nil
}

// Resolve turns `provider/model` into a provider and the model's name, which
// may hold more slashes and colons.
func (r *Registry) Resolve(ref string) (Provider, string, error) {
	name, model, ok := strings.Cut(ref, "/")
	if !ok || name == "" || model == "" {
		return nil, "", fmt.Errorf("find model %q: %w", ref, ErrRef)
	}
	p, err := r.Get(name)
	if err != nil {
		return nil, "", fmt.Errorf("find model %s: %w", ref, err)
	}
	return p, model, nil
}

// maxNearest is how many names a person is offered.
const maxNearest = 3

// nearNames returns the known names that a mistyped one may mean: those close to it,
// then those that begin with it.
func nearNames(name string, known []string) []string {
	near := didyoumean.Few(name, known, maxNearest)
	for _, k := range known {
		starts := len(name) >= 2 && strings.HasPrefix(k, strings.ToLower(name))
		if starts && len(near) < maxNearest && !slices.Contains(near, k) {
			near = append(near, k)
		}
	}
	return near
}
