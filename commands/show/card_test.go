package show

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/provider"
)

func TestCards(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 20) + "1" + strings.Repeat("}", 20)
	tests := map[string]struct {
		card Card
		want string
	}{
		"fields in their order": {
			Card{Payload: provider.Payload{Type: "kind", Title: "A title", Data: json.RawMessage(`{"z":1.50,"a":true,"none":null,"empty":{},"list":[]}`)}, Foot: "do it"},
			"┌ A title  kind\n│ z             1.50\n│ a             yes\n│ none          none\n│ empty         none\n│ list          none\n└ do it\n",
		},
		"lists": {
			Card{Payload: provider.Payload{Type: "kind", Data: json.RawMessage(`{"short":["a","b"],"rows":[{"x":1,"y":"two\nlines"},{"x":2}]}`)}},
			"┌ kind\n│ short         a, b\n│ rows\n│   · x             1\n│     y             two\n│                   lines\n│   · x             2\n└\n",
		},
		"no object": {
			Card{Payload: provider.Payload{Type: "kind", Data: json.RawMessage(`["` + strings.Repeat("word ", 30) + `"]`)}},
			"┌ kind\n│ · " + strings.TrimSpace(strings.Repeat("word ", 19)) + "\n│   " + strings.TrimSpace(strings.Repeat("word ", 11)) + "\n└\n",
		},
		"what a terminal would act on": {
			Card{Payload: provider.Payload{Type: "kind", Title: "a\x1b[2Jb", Data: json.RawMessage(`{"x\u001b]0;t\u0007":"\u001b[31mred\u202e"}`)}},
			"", // looked at below
		},
		"too much": {
			Card{Payload: provider.Payload{Type: "kind", Data: json.RawMessage(`{"a":1,"b":2,"c":3}`)}, Lines: 1, Foot: "do it"},
			"┌ kind\n│ a             1\n└ and 2 lines more: fettle payloads show · do it\n",
		},
		"too deep": {Card{Payload: provider.Payload{Type: "kind", Data: json.RawMessage(deep)}}, ""},
		"by a renderer of text": {
			Card{Payload: provider.Payload{Type: "kind", Data: json.RawMessage(`{"x":1}`)}, Plan: json.RawMessage(`{"renderer":"document","config":{"content":"# Title\n\ttext"}}`)},
			"┌ kind\n│ # Title\n│     text\n└\n",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			streams := term.Test(term.TestOptions{})
			tt.card.Print(streams.Out)
			got := streams.Stdout.String()
			if tt.want != "" && got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if strings.ContainsAny(got, "\x1b\x07\u202e") || strings.Count(got, "\n") > 12 {
				t.Errorf("got %q", got)
			}
			for line := range strings.Lines(got) {
				if n := term.Cells(strings.TrimSuffix(line, "\n")); n > cardWidth {
					t.Errorf("%d columns: %s", n, line)
				}
			}
		})
	}
}

func FuzzCard(f *testing.F) {
	f.Add(`{"a":[1,{"b":"c\nd"}],"e":""}`)
	f.Add(`[[[["x"]]]]`)
	f.Add(`{"a`)
	f.Fuzz(func(t *testing.T, data string) {
		streams := term.Test(term.TestOptions{})
		Card{Payload: provider.Payload{Type: "t", Data: json.RawMessage(data)}, Lines: CardLines}.Print(streams.Out)
		if got := streams.Stdout.String(); strings.ContainsAny(got, "\x1b\x07") || strings.Count(got, "\n") > CardLines+3 {
			t.Errorf("%q gave %q", data, got)
		}
	})
}
