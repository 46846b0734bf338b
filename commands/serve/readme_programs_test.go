package serve_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/needtest"
)

// started is what a program of others' is told to start fettle with.
type started struct {
	place string // the keys that lead to it, or the language of its block
	args  []string
}

// readmePrograms are the entries for other programs in the README's blocks.
func readmePrograms(t *testing.T) []started {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(needtest.Root(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var out []started
	quoted := regexp.MustCompile(`"([^"]*)"`)
	for _, m := range regexp.MustCompile("(?s)```(json|lua|sh)\n(.*?)```").FindAllStringSubmatch(string(data), -1) {
		switch lang, text := m[1], m[2]; lang {
		case "json":
			var servers map[string]map[string]struct {
				Command string
				Args    []string
			}
			if json.Unmarshal([]byte(text), &servers) != nil {
				continue // another kind of example
			}
			for kind, named := range servers {
				if s, ok := named["fettle"]; ok && s.Command == "fettle" {
					out = append(out, started{kind, s.Args})
				}
			}
		case "lua":
			for _, line := range regexp.MustCompile(`commands = \{ default = \{ "fettle"(.*)\} \}`).FindAllStringSubmatch(text, -1) {
				var args []string
				for _, q := range quoted.FindAllStringSubmatch(line[1], -1) {
					args = append(args, q[1])
				}
				out = append(out, started{lang, args})
			}
		case "sh":
			for line := range strings.Lines(text) {
				if _, command, ok := strings.Cut(line, "claude mcp add fettle -- fettle "); ok {
					out = append(out, started{"claude mcp add", strings.Fields(command)})
				}
			}
		}
	}
	return out
}

// What the README tells people to paste into other programs starts what they expect
// there: an agent for editors, or a server with tools.
func TestReadmeProgramsStart(t *testing.T) {
	t.Parallel()
	all := readmePrograms(t)
	var places []string
	for _, s := range all {
		places = append(places, s.place)
		t.Run(s.place+" "+strings.Join(s.args, " "), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `responses: [{when: "", text: Hello.}]`)
			project := realDir(t)
			args := slices.Clone(s.args)
			for i, arg := range args {
				if args[i] = strings.ReplaceAll(arg, "${workspaceFolder}", project); arg == "." {
					args[i] = project
				}
			}
			_, say, hear := w.speak(args...)
			if args[0] == "acp" {
				say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)
				if line := hear(`"id":1`); !strings.Contains(line, `"protocolVersion":1`) || !strings.Contains(line, `"name":"fettle"`) {
					t.Errorf("an editor hears %q", line)
				}
				return
			}
			say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
			if line := hear(`"id":1`); !strings.Contains(line, `"name":"fettle"`) {
				t.Errorf("a program hears %q", line)
			}
			say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			say(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
			if line := hear(`"id":2`); !strings.Contains(line, `"write_file"`) {
				t.Errorf("it has the tools %.300q", line)
			}
		})
	}
	slices.Sort(places)
	if want := []string{"agent_servers", "agent_servers", "claude mcp add", "lua", "mcpServers", "servers"}; !slices.Equal(places, want) {
		t.Errorf("the README has entries for %q, want %q", places, want)
	}
}
