package starter

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

//go:embed files
var files embed.FS

// Part is something that a new toolset may have beside its tool.
type Part string

// The parts.
const (
	HTML  Part = "html"  // a page that shows what the tool returns
	MCP   Part = "mcp"   // an MCP server, written in Python
	Agent Part = "agent" // an agent that uses the tool
)

// Parts are all parts.
func Parts() []Part { return []Part{HTML, MCP, Agent} }

// Options is what the new toolset is.
type Options struct {
	ID, Name string
	With     []Part
}

// Workflow is the path of the file that GitHub runs. It works at a repository's
// root alone.
const Workflow = ".github/workflows/toolset.yml"

// Files gives the texts of a new toolset by their paths, with slashes.
func Files(o Options) (map[string][]byte, error) {
	with := func(p Part) bool { return slices.Contains(o.With, p) }
	data := map[string]any{
		"ID": o.ID, "Name": o.Name, "YAMLName": strconv.Quote(o.Name), "HTML": with(HTML), "MCP": with(MCP), "Agent": with(Agent),
	}
	from := map[string]string{
		"toolset.yaml": "toolset.yaml.tmpl", "README.md": "README.md.tmpl", "tools/words.py": "words.py", Workflow: "workflow.yml",
	}
	if with(HTML) {
		from["artifacts/words.html"] = "words.html"
	}
	if with(MCP) {
		from["tools/server.py"] = "server.py"
	}
	out := map[string][]byte{}
	for path, name := range from {
		raw, err := files.ReadFile("files/" + name)
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(name, ".tmpl") {
			if raw, err = fill(name, string(raw), data); err != nil {
				return nil, err
			}
		}
		out[path] = raw
	}
	return out, nil
}

func fill(name, text string, data any) ([]byte, error) {
	t, err := template.New(name).Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read the template %s: %w", name, err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return nil, fmt.Errorf("fill the template %s: %w", name, err)
	}
	return b.Bytes(), nil
}
