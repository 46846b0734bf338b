package schema

import (
	"cmp"
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// inPlace are the subschemas that apply to the same value as s.
func inPlace(s *jsonschema.Schema) []*jsonschema.Schema {
	var subs []*jsonschema.Schema
	add := func(sub *jsonschema.Schema) {
		if sub != nil {
			subs = append(subs, sub)
		}
	}
	add(s.Ref)
	add(s.RecursiveRef)
	subs = append(subs, s.AllOf...)
	subs = append(subs, s.AnyOf...)
	subs = append(subs, s.OneOf...)
	add(s.Not)
	add(s.If)
	add(s.Then)
	add(s.Else)
	for _, name := range slices.Sorted(maps.Keys(s.DependentSchemas)) {
		add(s.DependentSchemas[name])
	}
	for _, name := range slices.Sorted(maps.Keys(s.Dependencies)) {
		if sub, ok := s.Dependencies[name].(*jsonschema.Schema); ok {
			add(sub)
		}
	}
	return subs
}

// deeper are the subschemas that apply to parts of the value: its properties,
// their names, and its items.
func deeper(s *jsonschema.Schema) []*jsonschema.Schema {
	var subs []*jsonschema.Schema
	add := func(v any) {
		switch v := v.(type) {
		case *jsonschema.Schema:
			if v != nil {
				subs = append(subs, v)
			}
		case []*jsonschema.Schema:
			subs = append(subs, v...)
		}
	}
	for _, sub := range s.Properties {
		add(sub)
	}
	for _, sub := range s.PatternProperties {
		add(sub)
	}
	add(s.AdditionalProperties)
	add(s.PropertyNames)
	add(s.UnevaluatedProperties)
	add(s.Items)
	add(s.AdditionalItems)
	add(s.PrefixItems)
	add(s.Items2020)
	add(s.Contains)
	add(s.UnevaluatedItems)
	add(s.ContentSchema)
	return subs
}

// reachable lists every subschema that a check can meet, in a fixed order.
func reachable(entries []*jsonschema.Schema) []*jsonschema.Schema {
	seen := make(map[*jsonschema.Schema]bool)
	var all []*jsonschema.Schema
	todo := entries
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[s] {
			continue
		}
		seen[s] = true
		all = append(all, s)
		todo = append(todo, inPlace(s)...)
		todo = append(todo, deeper(s)...)
		if s.DynamicRef != nil {
			todo = append(todo, s.DynamicRef.Ref)
		}
	}
	slices.SortFunc(all, func(a, b *jsonschema.Schema) int { return cmp.Compare(a.Location, b.Location) })
	return all
}

// expansion is what a subschema grows to when references are followed.
type expansion struct {
	schemas int // saturates a little above maxExpansion
	chain   int
	open    bool // on the way to itself
}

// checkExpansion refuses a schema that meets itself on the same value, or that
// grows too much. A `$dynamicRef` leads elsewhere in each context, so it isn't
// followed here; the steps of a check bound it.
func checkExpansion(all []*jsonschema.Schema) error {
	known := make(map[*jsonschema.Schema]*expansion, len(all))
	for _, s := range all {
		if _, err := expand(s, known); err != nil {
			return err
		}
	}
	return nil
}

func expand(s *jsonschema.Schema, known map[*jsonschema.Schema]*expansion) (*expansion, error) {
	if e, ok := known[s]; ok {
		if e.open {
			return nil, compileError(locationPointer(s.Location), "the schema refers to itself without going deeper into the document")
		}
		return e, nil
	}
	e := &expansion{schemas: 1, chain: 1, open: true}
	known[s] = e
	for _, sub := range inPlace(s) {
		se, err := expand(sub, known)
		if err != nil {
			return nil, err
		}
		e.schemas += se.schemas
		e.chain = max(e.chain, se.chain+1)
		if e.schemas > maxExpansion {
			return nil, compileError(locationPointer(s.Location), "the schema grows to more than %d when references are followed", maxExpansion)
		}
		if e.chain > maxChain {
			return nil, compileError(locationPointer(s.Location), "the schema is nested more than %d deep when references are followed", maxChain)
		}
	}
	e.open = false
	return e, nil
}
