package payloads

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/fettle-cli/fettle/internal/schema"
)

// Problem is something that a registry or an offer leaves out or decides, for
// whoever lists or validates toolsets.
type Problem struct {
	Set     string `json:"set"`
	Type    string `json:"type,omitempty"`
	Page    string `json:"page,omitempty"`
	Message string `json:"message"`
}

// String is `csv: payload report: …`.
func (p Problem) String() string {
	s := shown(p.Set) + ": "
	if p.Page != "" {
		s += "page " + shown(p.Page) + ": "
	}
	if p.Type != "" {
		s += "payload " + shown(p.Type) + ": "
	}
	return s + p.Message
}

// Registry knows all payload types and pages.
type Registry struct {
	sets   []*ownSet // in the order of their names
	byType map[string][]*entry
}

// ownSet is a set as the registry keeps it.
type ownSet struct {
	name    string
	entries []*entry
	pages   []Page
}

// entry is a type as one set defines it.
type entry struct {
	Config
	set      string // empty for a built-in one
	listed   bool   // a page of its set lists it
	compiled func() (*schema.Schema, error)
}

func newEntry(set string, c Config) *entry {
	return &entry{Config: c, set: set, compiled: sync.OnceValues(func() (*schema.Schema, error) {
		if len(c.Schema) == 0 {
			return nil, nil
		}
		return schema.Compile(c.Schema)
	})}
}

// New makes a registry of the built-in types and the sets. What can't be used
// is left out, and is among the problems, as is each conflict and who won it.
func New(sets ...Set) (*Registry, []Problem) {
	r := &Registry{byType: map[string][]*entry{}}
	var problems []Problem
	sets = slices.Clone(sets)
	slices.SortStableFunc(sets, func(a, b Set) int { return cmp.Compare(a.Name, b.Name) })
	for _, s := range sets {
		problems = append(problems, r.add(s)...)
	}
	for _, c := range builtin() {
		r.byType[c.Type] = append(r.byType[c.Type], newEntry("", c))
	}
	return r, problems
}

func (r *Registry) add(s Set) []Problem {
	var problems []Problem
	own := &ownSet{name: s.Name}
	seen := map[string]*entry{}
	for _, c := range s.Payloads {
		p := Problem{Set: s.Name, Type: c.Type}
		if reserved(c.Type) {
			p.Message = "the type is fettle's own; it is left out"
			problems = append(problems, p)
			continue
		}
		if d, ok := builtinType(c.Type); ok {
			c = c.withDefaults(d)
		}
		if err := c.check(); err != nil {
			p.Message = err.Error() + "; it is left out"
			problems = append(problems, p)
			continue
		}
		if seen[c.Type] != nil {
			p.Message = "it is defined twice; the first counts"
			problems = append(problems, p)
			continue
		}
		e := newEntry(s.Name, c)
		seen[c.Type] = e
		if others := r.byType[c.Type]; len(others) > 0 {
			p.Message = shown(others[0].set) + " defines it too; each toolset's tools and pages get its own"
			problems = append(problems, p)
		}
		r.byType[c.Type] = append(r.byType[c.Type], e)
		own.entries = append(own.entries, e)
	}
	for _, page := range s.Pages {
		for _, name := range page.Payloads {
			if e := seen[name]; e != nil {
				e.listed = true
			} else if _, ok := builtinType(name); !ok {
				problems = append(problems, Problem{Set: s.Name, Page: page.ID, Type: name, Message: "nobody defines it"})
			}
		}
		own.pages = append(own.pages, page)
	}
	r.sets = append(r.sets, own)
	return problems
}

// reserved are the types that have a meaning in the answer itself.
func reserved(kind string) bool { return isSuggestion(kind) || kind == "tool_history" }

// find gives the definition of a type that holds for a set: its own, else the
// built-in one, else that of the first set that has one.
func (r *Registry) find(kind, set string) *entry {
	all := r.byType[kind]
	for _, name := range []string{set, ""} {
		for _, e := range all {
			if e.set == name {
				return e
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

// Lookup gives the Config of a type as it holds for a set; an empty set is
// nobody's.
func (r *Registry) Lookup(kind, set string) (Config, bool) {
	e := r.find(kind, set)
	if e == nil {
		return Config{}, false
	}
	return e.Config, true
}

// Types lists all types that the registry knows, sorted.
func (r *Registry) Types() []string {
	names := make([]string, 0, len(r.byType))
	for name := range r.byType {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Check tells what is wrong with a payload's data: no JSON, or not of the
// type's schema. Of a type that nobody defines any JSON is right: a page shows
// it plainly.
func (r *Registry) Check(kind, set string, data json.RawMessage) error {
	e := r.find(kind, set)
	if e == nil || len(e.Schema) == 0 {
		_, err := schema.Decode(data)
		return err
	}
	s, err := e.compiled()
	if err != nil {
		return fmt.Errorf("its schema can't be used: %w", err)
	}
	problems := s.Validate(data)
	if len(problems) == 0 {
		return nil
	}
	msg := problems[0].String()
	if more := len(problems) - 1; more > 0 {
		msg += fmt.Sprintf(" (and %d more)", more)
	}
	return errors.New(msg)
}
