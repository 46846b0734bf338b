package payloads

import (
	_ "embed"
	"encoding/json"
	"slices"
	"sync"
)

// builtinJSON are the types that documents 000 and 001 name. Where they
// describe a type's data, the schema says it; where they only name it, the
// schema asks for data that isn't empty.
//
//go:embed builtin.json
var builtinJSON []byte

var builtin = sync.OnceValue(func() []Config {
	var all []Config
	if json.Unmarshal(builtinJSON, &all) != nil {
		return nil // a test reads the file, so this isn't met
	}
	return all
})

// Builtin gives the types that are always known.
func Builtin() []Config { return slices.Clone(builtin()) }

func builtinType(kind string) (Config, bool) {
	for _, c := range builtin() {
		if c.Type == kind {
			return c, true
		}
	}
	return Config{}, false
}
