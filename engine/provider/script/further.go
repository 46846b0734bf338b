package script

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
)

var _ provider.Continuer = (*Provider)(nil)

// Prefills returns that a script continues an answer: its response is what follows.
func (p *Provider) Prefills(string) provider.Prefill { return provider.PrefillContinued }

// furtherOf returns the parameters of a request other than those of [provider.Params], by
// their names in JSON. Those that are not given are missing.
func furtherOf(req *provider.Request) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for _, params := range []any{req.Sampling, req.Hints} {
		raw, err := json.Marshal(params)
		if err != nil { // numbers that JSON has not, such as an infinity
			continue
		}
		var some map[string]json.RawMessage
		if json.Unmarshal(raw, &some) == nil {
			maps.Copy(out, some)
		}
	}
	return out
}

// furtherNames returns the names of those parameters.
func furtherNames() []string {
	var names []string
	for _, t := range []reflect.Type{reflect.TypeFor[provider.Sampling](), reflect.TypeFor[provider.Hints]()} {
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return names
}

// further reads the parameters that a response expects.
func (d *decoder) further(n *node) map[string]json.RawMessage {
	out, known := map[string]json.RawMessage{}, furtherNames()
	d.mapping(n, "params", strings.Join(known, " "), func(k, v *node) bool {
		if !slices.Contains(known, k.text) {
			return false
		}
		out[k.text] = d.json(v)
		return true
	})
	return out
}

// sameJSON reports whether two values in JSON are equal. A missing one is null.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if len(a) > 0 && json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}
