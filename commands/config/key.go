package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/didyoumean"
)

// Key is a place in a file, read from a dotted path such as
// `models.ollama/Qwen2.5-Coder:7B.context_length`.
//
// Names of people's own (providers, models, headers) may hold dots and colons,
// so a path is read from what is known: the settings of the table and the
// fields of the maps have fixed names, and what stands between them is the
// name. Where several names would do, one that is in the file already wins,
// the longest first; then the shortest name that leaves a known field behind
// it. A name in double quotes is taken as it is: `models."a/b.tools".tools`.
// A profile's keys have `profiles.NAME.` in front; NAME has no dots.
type Key struct {
	// Path is the names from the top of the file.
	Path []string
	// Section tells that other keys stand below it, so that it can be taken
	// out but not set.
	Section bool
	// Secret tells that the value may be a secret, and so isn't shown.
	Secret bool
	// Private tells that it is likely to be one, and so is no argument of a
	// command line.
	Private bool
	// TakesCommand tells that the value may be ! and a command.
	TakesCommand bool
	// List tells that the value may be a list, so that elements can be added.
	List bool

	kind kind
	// former is the last name of the path in earlier versions, which the file may have.
	former string
}

// String is the key as messages and lists show it.
func (k Key) String() string { return strings.Join(k.Path, ".") }

// names is which names of people's own a file holds.
type names struct {
	providers map[string][]string // with their models
	models    []string
	prices    []string
	agents    []string
	profiles  map[string]names
}

// namesOf gathers the names of a file.
func namesOf(p *fileParts) names {
	n := p.top.names()
	n.profiles = map[string]names{}
	for name, part := range p.profiles {
		n.profiles[name] = part.names()
	}
	return n
}

func (p part) names() names {
	n := names{providers: map[string][]string{}}
	for _, lay := range []*layer{p.data, p.held} {
		for name, prov := range lay.providers {
			n.providers[name] = keysOf(prov.Models)
		}
		n.models = append(n.models, keysOf(lay.models)...)
		n.prices = append(n.prices, keysOf(lay.prices)...)
		n.agents = append(n.agents, keysOf(lay.agents)...)
	}
	return n
}

func keysOf[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// segment is a piece of a path between dots.
type segment struct {
	text   string
	quoted bool
}

// splitPath cuts a path at its dots; a piece in double quotes is whole.
func splitPath(text string) ([]segment, error) {
	var out []segment
	for rest := text; ; {
		if strings.HasPrefix(rest, `"`) {
			name, after, closed := strings.Cut(rest[1:], `"`)
			if !closed || after != "" && after[0] != '.' {
				return nil, fmt.Errorf("%s: a quote is never closed, or no dot follows it", shown(text))
			}
			out = append(out, segment{name, true})
			if after == "" {
				return out, nil
			}
			rest = after[1:]
			continue
		}
		name, after, more := strings.Cut(rest, ".")
		out = append(out, segment{name, false})
		if !more {
			return out, nil
		}
		rest = after
	}
}

// joined is the name that pieces make together. A quoted piece is a name by
// itself.
func joined(segs []segment) (string, bool) {
	parts := make([]string, len(segs))
	for i, s := range segs {
		if s.quoted && len(segs) > 1 {
			return "", false
		}
		parts[i] = s.text
	}
	name := strings.Join(parts, ".")
	return name, name != ""
}

// parseKeyPath reads a dotted path. have is what the file holds.
func parseKeyPath(text string, have names) (Key, error) {
	segs, err := splitPath(text)
	if err != nil {
		return Key{}, usage(err.Error())
	}
	if k, ok := findKey(segs, have, true); ok {
		return k, nil
	}
	return Key{}, unknownKey(text)
}

// findKey reads the pieces of a path at the top of a file, or in a profile.
func findKey(segs []segment, have names, top bool) (Key, bool) {
	whole, _ := joined(segs)
	for _, s := range table() {
		if (s.Key == whole || s.Formerly != "" && s.Formerly == whole) && (top || s.Key != "profile") {
			return Key{
				Path: strings.Split(s.Key, "."), List: s.kind.list, kind: s.kind,
				former: s.Formerly[strings.LastIndex(s.Formerly, ".")+1:],
			}, true
		}
		if strings.HasPrefix(s.Key, whole+".") && len(segs) == 1 {
			return Key{Path: []string{whole}, Section: true}, true
		}
	}
	head, rest := segs[0].text, segs[1:]
	if len(rest) == 0 {
		ok := slices.Contains([]string{"providers", "models", "prices", "agents", "profiles"}, head) && (top || head != "profiles")
		return Key{Path: []string{head}, Section: true}, ok
	}
	var k Key
	var ok bool
	switch head {
	case "providers":
		k, ok = findProvider(rest, have.providers)
	case "models":
		k, ok = findNamed(rest, have.models, modelKey)
	case "prices":
		k, ok = findNamed(rest, have.prices, priceKey)
	case "agents":
		k, ok = findNamed(rest, have.agents, agentKey)
		ok = ok && validAgent(k.Path[0])
	case "profiles":
		if !top || !validProfile(rest[0].text) {
			return Key{}, false
		}
		if len(rest) == 1 {
			return Key{Path: []string{head, rest[0].text}, Section: true}, true
		}
		k, ok = findKey(rest[1:], have.profiles[rest[0].text], false)
		head, k.Path = "profiles", append([]string{rest[0].text}, k.Path...)
	}
	k.Path = append([]string{head}, k.Path...)
	return k, ok
}

// findNamed reads NAME or NAME.FIELD: a known name first, the longest first;
// else all but the field at the end.
func findNamed(segs []segment, known []string, field func(string) (Key, bool)) (Key, bool) {
	read := func(n int) (Key, bool) {
		name, ok := joined(segs[:n])
		if !ok || len(segs)-n > 1 {
			return Key{}, false
		}
		if n == len(segs) {
			return Key{Path: []string{name}, Section: true}, slices.Contains(known, name)
		}
		k, ok := field(segs[n].text)
		k.Path = []string{name, segs[n].text}
		return k, ok
	}
	for _, mustKnow := range []bool{true, false} {
		for n := len(segs); n > 0; n-- {
			name, _ := joined(segs[:n])
			if mustKnow && !slices.Contains(known, name) {
				continue
			}
			if k, ok := read(n); ok {
				return k, true
			}
		}
	}
	return Key{}, false
}

// findProvider reads NAME and what stands below it: a known name first, the
// longest first; else the shortest name that leaves a field.
func findProvider(segs []segment, known map[string][]string) (Key, bool) {
	read := func(n int) (Key, bool) {
		name, ok := joined(segs[:n])
		if !ok || !validProvider(name) {
			return Key{}, false
		}
		k, ok := providerKey(segs[n:], known[name])
		k.Path = append([]string{name}, k.Path...)
		return k, ok
	}
	for n := len(segs); n > 0; n-- {
		name, _ := joined(segs[:n])
		if _, ok := known[name]; !ok {
			continue
		}
		if n == len(segs) {
			return Key{Path: []string{name}, Section: true}, true
		}
		if k, ok := read(n); ok {
			return k, true
		}
	}
	for n := 1; n < len(segs); n++ {
		if k, ok := read(n); ok {
			return k, true
		}
	}
	return Key{}, false
}

// providerKey reads what stands below a provider's name.
func providerKey(segs []segment, models []string) (Key, bool) {
	field, rest := segs[0].text, segs[1:]
	switch {
	case !slices.Contains(providerFields(), field):
		return Key{}, false
	case slices.Contains(additionFields(), field) && len(rest) > 0:
		name, ok := joined(rest)
		private := patterns().word.MatchString(name)
		return Key{Path: []string{field, name}, Secret: true, Private: private, kind: additionKind(field)}, ok && validAddition(field, name)
	case field == "models" && len(rest) > 0:
		k, ok := findNamed(rest, models, modelKey)
		k.Path = append([]string{field}, k.Path...)
		return k, ok
	case slices.Contains(additionFields(), field) || field == "models":
		return Key{Path: []string{field}, Section: true}, true
	}
	key := field == "key"
	return Key{Path: []string{field}, Secret: key, Private: key, TakesCommand: key, kind: providerKind(field)}, len(rest) == 0
}

func modelKey(field string) (Key, bool) {
	return Key{kind: modelFieldKind(field)}, slices.Contains(modelFields(), field)
}

func priceKey(field string) (Key, bool) {
	return Key{kind: priceKind(field)}, slices.Contains(priceFields(), field)
}

// unknownKey says that there is no such key, and which one may be meant.
func unknownKey(text string) error {
	name := showName(text, true)
	if i := strings.IndexFunc(text, func(r rune) bool { return r <= ' ' }); i >= 0 {
		name = showName(text[:i], true) + "…" // what has several words is no key of ours
	}
	if name == "" {
		name = "without a name"
	}
	f := fault.New(fault.Usage, "there is no key "+name)
	var known []string
	for _, s := range table() {
		known = append(known, s.Key)
	}
	known = append(known, "providers", "models", "prices", "agents", "profiles")
	head, _, _ := strings.Cut(text, ".")
	last := text[strings.LastIndex(text, ".")+1:]
	near := didyoumean.Of(text, known)
	switch fields := fieldsBelow(head); {
	case near == "" && elsewhere(text) != "":
		near = elsewhere(text)
	case near == "" && fields != nil:
		if field := didyoumean.Of(last, fields); field != "" && field != last {
			near = strings.TrimSuffix(name, last) + field
		} else {
			f.Detail = []string{head + ".NAME has " + strings.Join(fields, ", ")}
		}
	}
	if near != "" {
		f.Msg += " (did you mean " + near + "?)"
	}
	f.Remedies = []fault.Remedy{fault.Run("fettle help environment   lists the settings")}
	return f
}

func fieldsBelow(head string) []string {
	switch head {
	case "providers":
		return providerFields()
	case "models":
		return modelFields()
	case "prices":
		return priceFields()
	case "agents":
		return agentFields()
	}
	return nil
}

func usage(msg string, hints ...string) error {
	return fault.New(fault.Usage, msg, fault.Runs(hints)...)
}
