package registry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// drawManifest makes a manifest that may be read, of texts that YAML, JSON and
// HTML have something against.
func drawManifest(t *rapid.T) *manifest.Manifest {
	text := rapid.SampledFrom([]string{"plain", "a: b", "less < more & <b>", "yes", "'", "two\nlines", "ünï 😀", "- x", "1.0", "$args.path", "trailing #"})
	opt := func(what string) string {
		if rapid.Bool().Draw(t, what+"?") {
			return ""
		}
		return text.Draw(t, what)
	}
	m := &manifest.Manifest{
		ManifestVersion: "1", ID: "drawn", Name: "Drawn", Version: "1.2.3-rc.1", Description: text.Draw(t, "description"),
		Permissions: manifest.Permissions{
			Network: rapid.SampledFrom([][]string{nil, {"a.example.com"}, {"*.example.org", "b.example.com:8443"}}).Draw(t, "network"),
			Env:     rapid.SampledFrom([][]string{nil, {"DRAWN_NAME"}}).Draw(t, "env"),
		},
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "tools") {
		id := fmt.Sprintf("t%d", i)
		tool := manifest.Tool{
			ID: id, Name: rapid.SampledFrom([]string{"", id, "Another"}).Draw(t, "name"), Description: text.Draw(t, "tool"),
			Entrypoint: "tools.m:run", Category: opt("category"),
			InputSchema:          json.RawMessage(`{"type":"object","properties":{"z":{"type":"number","maximum":1.50},"a":{"description":` + quote(text.Draw(t, "schema")) + `}}}`),
			RequiresConfirmation: rapid.Bool().Draw(t, "confirm"), Streaming: rapid.Bool().Draw(t, "stream"), Service: rapid.Bool().Draw(t, "service"),
			Timeout: toolset.Duration(rapid.SampledFrom([]int64{0, 30e9, 90e9}).Draw(t, "timeout")),
			Renderer: rapid.SampledFrom([]*toolset.Renderer{
				nil, {Type: "code", File: "$args.a", Language: "auto", Editable: true}, {Type: "document", Content: "<b>&"},
				{Type: "html", Artifact: "artifacts/x.html", Data: json.RawMessage(`{"b":"<","a":[1.0,null]}`)}, {Type: "frame", URL: "http://localhost:$return.port"},
			}).Draw(t, "renderer"),
			Annotations: rapid.SampledFrom([]*toolset.Annotations{nil, {ReadOnly: true}, {Destructive: true, OpenWorld: true}, {}}).Draw(t, "annotations"),
		}
		m.Tools = append(m.Tools, tool)
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "servers") {
		off, on := false, true
		m.MCPServers = append(m.MCPServers, manifest.MCPServer{
			ID: fmt.Sprintf("s%d", i), Command: "serve", Args: []string{"--x", text.Draw(t, "arg")}, Env: map[string]string{"B": "${DRAWN_B}", "A": "1"},
			Description: opt("server"), AutoEnabled: rapid.SampledFrom([]*bool{nil, &on, &off}).Draw(t, "auto"),
		})
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "agents") {
		m.Agents = append(m.Agents, manifest.Agent{ID: fmt.Sprintf("a%d", 9-i), Purpose: text.Draw(t, "purpose"), Prompt: text.Draw(t, "prompt")})
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "payloads") {
		m.Payloads = append(m.Payloads, manifest.Payload{Type: fmt.Sprintf("p%d", 9-i), LLMInstructions: opt("instructions"), Schema: json.RawMessage(`{"type":"object"}`)})
	}
	return m
}

func quote(s string) string {
	raw, _ := json.Marshal(s) // a text can always be encoded
	return string(raw)
}

// throughStore encodes and decodes rows as a table does.
func throughStore(t *rapid.T, r *rows) *rows {
	out := &rows{}
	for _, pair := range []struct{ from, to any }{
		{r.set, &out.set}, {r.tools, &out.tools}, {r.renderers, &out.renderers}, {r.declared, &out.declared},
		{r.agents, &out.agents}, {r.pages, &out.pages}, {r.payloads, &out.payloads},
	} {
		raw, err := json.Marshal(pair.from)
		if err == nil {
			err = json.Unmarshal(raw, pair.to)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestRowsAndYAMLGiveEachOtherBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		drawn := drawManifest(t)
		first, err := canonical(drawn)
		if err != nil {
			t.Fatal(err)
		}
		d := manifest.Parse("toolset.yaml", first, manifest.Options{})
		if err := d.Err(); err != nil {
			t.Skip(err) // what was drawn isn't one that can be imported
		}
		stored, err := throughStore(t, rowsOf(d.Manifest)).manifest()
		if err != nil {
			t.Fatal(err)
		}
		second, err := manifest.Marshal(stored)
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%v\n%s\n%s", err, first, second)
		}
		plain, err := rowsOf(d.Manifest).manifest()
		if err != nil {
			t.Fatal(err)
		}
		if a, b := itemsOf(plain, nil), itemsOf(stored, nil); !reflect.DeepEqual(a, b) {
			t.Fatalf("stored, it would ask again: %v", compare(a, b, nil))
		}
	})
}
