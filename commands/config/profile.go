package config

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"github.com/fettle-cli/fettle/internal/didyoumean"
)

// maxProfile is the longest name of a profile, which stands in front of keys.
const maxProfile = 64

// validProfile checks a profile's name. It has no dot, so that the keys below
// it can be told from it.
func validProfile(name string) bool {
	return len(name) <= maxProfile && word(name, "_-") && !strings.ContainsRune("_-", rune(name[0]))
}

func profileKind() kind {
	const want = "expected a profile's name, of letters, digits, dashes and underscores"
	return kind{name: "text", tags: []string{tagText}, want: want, parse: func(s string) (any, error) {
		if s != "" && !validProfile(s) { // an empty one undoes what a weaker source chose
			return nil, errors.New(want)
		}
		return s, nil
	}}
}

// inProfile is the keys that may stand in a profile.
var inProfile = sync.OnceValue(func() []string {
	return slices.DeleteFunc(slices.Clone(topLevel()), func(name string) bool { return name == "profiles" || name == "profile" })
})

// profiles decodes the profiles of a file.
func (d *decoder) profiles(f field) {
	d.mapping(f, nil, func(f field) {
		if !validProfile(f.name) {
			d.at(f, "a profile's name is of letters, digits, dashes and underscores, and at most 64 long")
			return
		}
		if f.node.Kind != yaml.MappingNode || f.node.ShortTag() != tagMap {
			d.wrong(f, f.node, "expected settings below it")
			return
		}
		of := newPart()
		d.part, d.profile = &of, f.name
		inner := f
		inner.path = ""
		d.mapping(inner, inProfile(), d.entry)
		d.file.profiles[f.name] = of
		d.part, d.profile = &d.file.top, ""
	})
}

// chooseProfile finds the profile that the strongest source names, among those
// of the files. The name is "" where none is wanted, or none can be found.
func (l *loader) chooseProfile(files []*fileParts, outer []*layer) string {
	var chosen entry
	var at *fileParts
	for _, f := range files {
		for _, lay := range f.top.layers(f.trusted) {
			if e, ok := lay.settings["profile"]; ok {
				chosen, at = e, f
			}
		}
	}
	for _, lay := range outer {
		if e, ok := lay.settings["profile"]; ok {
			chosen, at = e, nil
		}
	}
	name, _ := chosen.value.(string)
	if name == "" {
		return ""
	}
	known := profileNames(files)
	if !slices.Contains(known, name) {
		l.noProfile(name, chosen.origin, at, known)
		return ""
	}
	return name
}

// profileNames are the profiles that files have, sorted.
func profileNames(files []*fileParts) []string {
	known := map[string]bool{}
	for _, f := range files {
		for p := range f.profiles {
			known[p] = true
		}
	}
	return slices.Sorted(maps.Keys(known))
}

// noProfile reports a profile that isn't there.
func (l *loader) noProfile(name string, o Origin, at *fileParts, known []string) {
	msg := "there is no profile " + shown(name)
	switch near := didyoumean.Of(name, known); {
	case near != "":
		msg += "; did you mean " + near + "?"
	case len(known) > 0:
		msg += "; there are " + strings.Join(known, ", ")
	default:
		msg += ", and no other: profiles." + showName(name, true) + " would hold its settings"
	}
	p := Problem{Source: o.Name, Key: "profile", Msg: msg, flag: o.Kind == FromFlag}
	if at != nil {
		p = *at.src.problem(o.Line, o.Column, len("profile"), false, msg)
		p.Key = "profile"
	}
	l.sink.add(p)
}
