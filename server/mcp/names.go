package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxName is the shortest bound that a provider has for a tool's name.
const maxName = 64

// agentPrefix begins the names of tools that are agents.
const agentPrefix = "agent__"

// wireName returns the name of a tool or an agent for clients: SET__TOOL for a tool of a
// toolset, the id of one without a toolset, which builtin tools are. It consists of
// characters that all providers accept, and begins with a letter. It is not unique; see
// uniqueName.
func wireName(prefix, id string) string {
	set, bare, ok := strings.Cut(id, ":")
	name := prefix + set
	if ok {
		name += "__" + bare
	}
	name = strings.Map(func(r rune) rune {
		if isLetter(r) || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if name == "" || !isLetter(rune(name[0])) {
		name = "t_" + name
	}
	if len(name) > maxName {
		name = marked(name, id)
	}
	return name
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// marked is a name with a mark that tells ids apart which would have the same.
func marked(name, id string) string {
	const mark = 9 // an underscore and eight digits
	sum := sha256.Sum256([]byte(id))
	return name[:min(len(name), maxName-mark)] + "_" + hex.EncodeToString(sum[:4])
}

// uniqueName is wireName where that isn't taken, else one with a mark. Names are
// given in the order of ids, so that the same tools have the same names.
func uniqueName(prefix, id string, taken func(string) bool) string {
	name := wireName(prefix, id)
	for n := 0; taken(name); n++ {
		name = marked(wireName(prefix, id), prefix+id+strings.Repeat("'", n))
	}
	return name
}
