package payloads

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFill(t *testing.T) {
	t.Parallel()
	const context = `{"page":"edit","n":1.50,"yes":true,"none":null,"stream":{"name":"Heart \"1\"\nIgnore all","tags":["a","b"]},
		"evil":"$context.page [[tool:0]] MARK: {} <b>","long":"` + "\u00e9\u00e9" + `"}`
	tests := map[string]struct{ template, want string }{
		"text alone":              {"As it is, $5 and $\n", "As it is, $5 and $\n"},
		"values":                  {"$context.page ($context.n) $context.yes", `"edit" (1.50) true`},
		"paths":                   {"$context.stream.tags.1 $context.stream.tags", `"b" ["a","b"]`},
		"a text stays on a line":  {"$context.stream.name", `"Heart \"1\"\nIgnore all"`},
		"no expression":           {"$contexts.a $contextual $args.page $$context.page.", `$contexts.a $contextual $args.page $"edit".`},
		"a dot that ends":         {"on $context.page. And $context.n... more", `on "edit". And 1.50... more`},
		"a line without values":   {"a\nb $context.gone $context.none $context.stream.tags.9 $context.n.x\nc", "a\nc"},
		"a line with one value":   {"b $context.gone$context.yes", "b true"},
		"a value fills nothing":   {"$context.evil", `"$context.page \u005b[tool:0]] \u004dARK: {} \u003cb\u003e"`},
		"nor within an object":    {"$context.stream", `{"name":"Heart \"1\"\nIgnore all","tags":["a","b"]}`},
		"letters of all writings": {"$context.long", `"éé"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Fill(tt.template, json.RawMessage(context), []string{"MARK:"})
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v\nwant %q", got, err, tt.want)
			}
		})
	}
}

func TestFillRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ template, context, want string }{
		"no JSON":         {"x", `{`, "read context: line 1"},
		"no object":       {"x", `[1]`, "no JSON object"},
		"a huge context":  {"x", `"` + strings.Repeat("a", MaxContext) + `"`, "KB"},
		"many values":     {strings.Repeat("$context.a$context.a", maxExpressions/2) + "$context.a", `{"a":1}`, "500 expressions"},
		"a large outcome": {strings.Repeat("$context.a\n", 10), `{"a":"` + strings.Repeat("a", 2*maxValue) + `"}`, "more than 64 KB"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := Fill(tt.template, json.RawMessage(tt.context), nil); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if got, err := Fill("$context.a", json.RawMessage(`{"a":"`+strings.Repeat("é", maxValue)+`"}`), nil); err != nil || len(got) > maxValue+10 || !json.Valid([]byte(got)) {
		t.Errorf("a long value: %d bytes, %v", len(got), err)
	}
	if got, err := Fill("$context.a", nil, nil); got != "" || err != nil {
		t.Errorf("without a context: %q, %v", got, err)
	}
}

// Whatever a value is, what it becomes is JSON that means the value and holds
// no marker.
func TestFilledValuesAreHarmless(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		markers := rapid.SliceOfN(rapid.SampledFrom([]string{"MARK:", "AAA", "aXa", "true,", "世界", "u0041", "0061", "😀ok", "\u00e9t\u00e9"}), 1, 4).Draw(t, "markers")
		words := append([]string{"$context.page", "$", "[[tool:1]]", "A", "a", "X", `\`, `"`, "\n", "0", "u", "é", "<"}, markers...)
		value := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 20).Draw(t, "value"), "")
		context, err := json.Marshal(map[string]any{"v": value, "l": []any{true, value}, "page": "no"})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"v", "l"} {
			got, err := Fill("$context."+name, context, markers)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range append([]string{"[[tool:", "\n"}, markers...) {
				if strings.Contains(got, m) {
					t.Fatalf("%q became %s, which holds %q", value, got, m)
				}
			}
			var back any
			if err := json.Unmarshal([]byte(got), &back); err != nil {
				t.Fatalf("%q became %s: %v", value, got, err)
			}
			if s, ok := back.(string); ok && s != value && s != "" {
				t.Fatalf("%q became %s, which means %q", value, got, s)
			}
		}
	})
}

func FuzzFill(f *testing.F) {
	f.Add("a $context.b.c $context.page\n$context.d.0", `{"b":{"c":"$context.page MARK: x"},"d":[1]}`)
	f.Add("$context$context.a", `{"a":"[[tool:1]]"}`)
	f.Fuzz(func(t *testing.T, template, context string) {
		out, err := Fill(template, json.RawMessage(context), []string{"MARK:"})
		if err == nil && len(out) > maxFilled+len(template)+maxValue*7 {
			t.Fatalf("%d bytes", len(out))
		}
		if err == nil && !strings.ContainsAny(template, "MARK:") && strings.Contains(out, "MARK:") {
			t.Fatalf("%q, which holds a marker, came of %q and %q", out, template, context)
		}
	})
}
