package serve_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/internal/schema"
)

// acpDefs are the definitions of ACP's published schema.
type acpDefs map[string]json.RawMessage

func newACPDefs(t *testing.T) acpDefs {
	t.Helper()
	raw, err := os.ReadFile(needtest.Shared(t, "protocols", "acp", "v1.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Defs acpDefs `json:"$defs"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil || len(doc.Defs) == 0 {
		t.Fatalf("the schema of ACP: %v", err)
	}
	return doc.Defs
}

// of are the definitions of a method's parameters, or of its results.
func (d acpDefs) of(method string, result bool) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(d)) {
		var def struct {
			Method string `json:"x-method"`
		}
		if json.Unmarshal(d[name], &def) == nil && def.Method == method && strings.HasSuffix(name, "Response") == result {
			out = append(out, name)
		}
	}
	return out
}

// fits tells whether a value is as one of some definitions says, and else why not.
func (d acpDefs) fits(t *testing.T, names []string, value json.RawMessage) (bool, string) {
	t.Helper()
	why := "no definition is named"
	for _, name := range names {
		raw, err := json.Marshal(map[string]any{
			"$schema": "https://json-schema.org/draft/2020-12/schema", "$ref": "#/$defs/" + name, "$defs": d.needed(name),
		})
		if err != nil {
			t.Fatal(err)
		}
		compiled, err := schema.Compile(raw)
		if err != nil {
			t.Fatalf("compile %s: %v", name, err)
		}
		problems := compiled.Validate(value)
		if len(problems) == 0 {
			return true, ""
		}
		why = name + ": " + schema.Explain(problems)
	}
	return false, why
}

// needed are the definitions that one leads to.
func (d acpDefs) needed(name string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for todo := []string{name}; len(todo) > 0; {
		name, todo = todo[0], todo[1:]
		if out[name] != nil {
			continue
		}
		out[name] = d[name]
		for _, part := range strings.Split(string(d[name]), `"#/$defs/`)[1:] {
			to, _, _ := strings.Cut(part, `"`)
			todo = append(todo, to)
		}
	}
	return out
}

// hold holds every message of a transcript, of both sides, against its definition,
// and gives how many there were.
func (d acpDefs) hold(t *testing.T, transcript string) int {
	t.Helper()
	asked := map[string][]string{} // methods by id; the two sides may use the same
	n := 0
	for line := range strings.Lines(transcript) {
		var m struct {
			ID                    json.RawMessage
			Method                string
			Params, Result, Error json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		names, value := []string{"Error"}, m.Error
		switch {
		case m.Method != "":
			names, value = d.of(m.Method, false), m.Params
			asked[string(m.ID)] = append(asked[string(m.ID)], m.Method)
		case m.Result != nil:
			names, value = nil, m.Result
			for _, method := range asked[string(m.ID)] {
				names = append(names, d.of(method, true)...)
			}
		}
		n++
		if ok, why := d.fits(t, names, value); !ok {
			t.Errorf("%s\n%s", why, line)
		}
	}
	return n
}
