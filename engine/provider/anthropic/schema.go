package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// maxKey is the longest name of a property that the API takes.
const maxKey = 64

// inputSchema makes a tool's schema one that the API takes: an object of named
// properties, without alternatives at its top. What it no longer says, added
// says in words, for the tool's description.
func inputSchema(raw json.RawMessage) (schema json.RawMessage, added string, err error) {
	out, added, err := wire.InputSchema(raw)
	if err != nil {
		return nil, "", err
	}
	if err := checkKeys(out); err != nil {
		return nil, "", err
	}
	modernise(out)
	return out.Append(nil), added, nil
}

// checkKeys looks for names of properties that the API refuses.
func checkKeys(n *wire.Node) error {
	if props := n.Get("properties"); props != nil {
		for _, p := range props.Members {
			if !goodKey(p.Key) {
				return fmt.Errorf("a property is called %q, and names may hold letters, digits, _, . and - only, 64 at most", shortKey(p.Key))
			}
		}
	}
	for s := range wire.Subschemas(n) {
		if err := checkKeys(s); err != nil {
			return err
		}
	}
	return nil
}

func goodKey(key string) bool {
	if key == "" || len(key) > maxKey {
		return false
	}
	for i := range len(key) {
		if !idByte(key[i]) && key[i] != '.' {
			return false
		}
	}
	return true
}

func shortKey(key string) string {
	const shown = 80
	if key = wire.Clean(key); len(key) > shown {
		return strings.ToValidUTF8(key[:shown], "") + "…"
	}
	return key
}

// modernise writes what older drafts put otherwise as draft 2020-12 does, which
// the API checks schemas against: lists of items, and exclusive bounds that are
// true or false.
func modernise(n *wire.Node) {
	if items := n.Get("items"); items != nil && items.Kind == '[' {
		n.Set("prefixItems", items)
		n.Remove("items")
		if rest := n.Get("additionalItems"); rest != nil {
			n.Set("items", rest)
		}
	}
	if n.Get("items") != nil || n.Get("prefixItems") != nil {
		n.Remove("additionalItems")
	}
	for exclusive, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		switch e := n.Get(exclusive); {
		case e.Is("true") && n.Get(bound) != nil:
			n.Set(exclusive, n.Get(bound))
			n.Remove(bound)
		case e.Is("true"), e.Is("false"):
			n.Remove(exclusive)
		}
	}
	for s := range wire.Subschemas(n) {
		modernise(s)
	}
}
