package provider

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
)

// maxWireName is the shortest limit on tool names among the providers in use.
const maxWireName = 64

// hashDigits is how much of a name's SHA-256 tells apart what looks alike once
// it fits; at 32 bits two of a request's few dozen tools do not meet.
const hashDigits = 8

// Names maps tool names to what every provider allows, `[a-zA-Z0-9_-]{1,64}`
// with a letter first, and back. A name that fits already is kept. Others are
// changed in a way that depends on the names alone, not on their order, so
// that the same tools look the same to a model in each request.
//
// A Names is immutable and safe for concurrent use.
type Names struct {
	wire map[string]string // name → what the provider sees
	tool map[string]string // and back
}

// NewNames makes the mapping for the tools of one request, together with those
// that its history calls. Names may repeat.
func NewNames(names ...string) *Names {
	n := &Names{wire: make(map[string]string, len(names)), tool: make(map[string]string, len(names))}
	short := make(map[string]int, len(names)) // how many names look like this
	for _, name := range names {
		if _, ok := n.wire[name]; !ok {
			fit := fitName(name)
			n.wire[name] = fit
			short[fit]++
		}
	}
	order := slices.SortedFunc(maps.Keys(n.wire), func(a, b string) int {
		if fits := n.wire[a] == a; fits != (n.wire[b] == b) {
			if fits {
				return -1 // a name that fits is never given to another tool
			}
			return 1
		}
		return cmp.Compare(a, b)
	})
	for _, name := range order {
		fit := n.wire[name]
		if fit != name && short[fit] > 1 {
			fit = hashName(fit, name)
		}
		for salt := name; ; { // a tool may be called what another one's hash makes
			if _, taken := n.tool[fit]; !taken {
				break
			}
			salt += "\x00"
			fit = hashName(fitName(name), salt)
		}
		n.wire[name], n.tool[fit] = fit, name
	}
	return n
}

// Wire is the name that the provider sees.
func (n *Names) Wire(name string) string {
	if w, ok := n.wire[name]; ok {
		return w
	}
	return fitName(name)
}

// Tool turns a name that came from the provider back. One that it was never
// given, which a model may make up, is returned as it is.
func (n *Names) Tool(wire string) string {
	if t, ok := n.tool[wire]; ok {
		return t
	}
	return wire
}

// fitName makes one name fit, without regard to others.
func fitName(name string) string {
	fit := make([]byte, 0, len(name)+1)
	if name == "" || !letter(name[0]) {
		fit = append(fit, 't')
	}
	for i := range len(name) {
		c := name[i]
		if !letter(c) && (c < '0' || c > '9') && c != '_' && c != '-' {
			c = '_'
		}
		fit = append(fit, c)
	}
	if len(fit) > maxWireName {
		return hashName(string(fit), name)
	}
	return string(fit)
}

// hashName ends fit in a hash of the whole name, within the limit.
func hashName(fit, name string) string {
	sum := sha256.Sum256([]byte(name))
	keep := min(len(fit), maxWireName-hashDigits-1)
	return fit[:keep] + "_" + hex.EncodeToString(sum[:])[:hashDigits]
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
