package config

import (
	"fmt"
	"strings"
)

// OriginKind is the kind of a source.
type OriginKind string

// The kinds, weakest first; a profile's values have the kind of their file.
const (
	FromDefault     OriginKind = "default"
	FromFile        OriginKind = "file"
	FromProject     OriginKind = "project"
	FromEnvironment OriginKind = "environment"
	FromFlag        OriginKind = "flag"
)

// Origin is where a value comes from.
type Origin struct {
	Kind OriginKind `json:"kind"`
	// File, Line and Column are the key's place in a file.
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	// Name is the variable or the flag.
	Name string `json:"name,omitempty"`
	// Profile is the profile of the file that the value stands in.
	Profile string `json:"profile,omitempty"`
}

// String is the origin as lists show it: "default", "FETTLE_MODEL",
// "/path/config.yaml:3:8", "/path/config.yaml:12:5 (profile work)".
func (o Origin) String() string {
	switch {
	case o.Kind == FromDefault:
		return string(FromDefault)
	case o.File == "":
		return o.Name
	}
	place := fmt.Sprintf("%s:%d:%d", o.File, o.Line, o.Column)
	if o.Profile != "" {
		place += " (profile " + o.Profile + ")"
	}
	return place
}

func joinOrigins(all []Origin) string {
	texts := make([]string, len(all))
	for i, o := range all {
		texts[i] = o.String()
	}
	return strings.Join(texts, ", ")
}
