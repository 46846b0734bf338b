package schema

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/fettle-cli/fettle/internal/needtest"
)

// TestPublishedSchemas compiles large schemas that people use, and checks the
// examples of tool calls that MCP publishes with its own.
func TestPublishedSchemas(t *testing.T) {
	t.Parallel()
	dir := needtest.Shared(t, "protocols")
	for _, name := range []string{
		"mcp/schema-2025-06-18.json", "mcp/schema-2025-11-25.json", "mcp/schema-2026-07-28.json",
		"acp/v1.schema.json", "ag-ui/spec/draft/schema.json", "mcpb/mcpb-manifest-v0.4.schema.json",
		"ai-sdk/ui-message-chunk.ai-7.0.173.generated.schema.json", "mcp-apps/ext-apps-2.0.4.schema.json",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Compile(raw); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("MCP examples", func(t *testing.T) {
		t.Parallel()
		checkMCPExamples(t, filepath.Join(dir, "mcp"))
	})
}

func checkMCPExamples(t *testing.T, dir string) {
	raw, err := os.ReadFile(filepath.Join(dir, "schema-2026-07-28.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	examples, err := filepath.Glob(filepath.Join(dir, "examples-2026-07-28", "CallTool*", "*.json"))
	if err != nil || len(examples) < 5 {
		t.Fatalf("found %d examples: %v", len(examples), err)
	}
	compiled := map[string]*Schema{}
	for _, file := range examples {
		def := filepath.Base(filepath.Dir(file))
		if compiled[def] == nil {
			doc["$ref"] = "#/$defs/" + def
			raw, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			if compiled[def], err = Compile(raw); err != nil {
				t.Fatalf("%s: %v", def, err)
			}
		}
		example, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if problems := compiled[def].Validate(example); len(problems) > 0 {
			t.Errorf("%s: %s", file, Explain(problems))
		}
	}
}
