package wire

import "encoding/json"

// Parameters makes a tool's input schema one that chat completions take: see
// InputSchema; a list also says what its items are, which OpenAI asks for.
func Parameters(raw json.RawMessage) (schema json.RawMessage, added string, err error) {
	out, added, err := InputSchema(raw)
	if err != nil {
		return nil, "", err
	}
	for _, key := range []string{"enum", "not"} {
		out.Remove(key) // what OpenAI refuses at the top; the engine checks the arguments
	}
	itemise(out)
	return out.Append(nil), added, nil
}

// itemise gives lists of anything items that may be anything.
func itemise(n *Node) {
	list := n.Get("type").Text() == "array"
	if t := n.Get("type"); t != nil {
		for _, name := range Texts(t) {
			list = list || name == "array"
		}
	}
	if list && n.Get("items") == nil {
		n.Set("items", &Node{Kind: '{'})
	}
	for s := range Subschemas(n) {
		itemise(s)
	}
}
