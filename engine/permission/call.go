package permission

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/wspath"
)

// maxStrings bounds how many strings of an argument are compared with rules. An argument
// with more of them is not allowed by a rule for it, and denied by each.
const maxStrings = 1000

// Call is a tool call as rules see it: its arguments, and the files and addresses that they
// mean. It is made by [Resolve]; no decision is made about arguments that were not resolved.
// It is for one goroutine.
type Call struct {
	tool  toolset.Tool
	ws    *toolset.Workspace
	args  map[string]argument
	main  string // the name of the main argument; empty where it is not a string
	shell string // the name of the argument that is a command line; empty without one
	means map[string]wspath.Meaning
}

// argument holds the strings of one argument. A rule allows only an argument that is a
// single string; it denies an argument that contains a string.
type argument struct {
	strings []string
	single  bool
	cut     bool // there are more than maxStrings
}

// Resolve prepares a call for decisions. ws is the folder in which the tool works, nil
// if the call has none; then paths are compared by their spelling alone.
func Resolve(t toolset.Tool, args json.RawMessage, ws *toolset.Workspace) *Call {
	c := &Call{tool: t, ws: ws, args: argumentsOf(t, args), shell: shellArg(t), means: map[string]wspath.Meaning{}}
	if name := mainArg(t); c.args[name].single && c.args[name].strings[0] != "" {
		c.main = name
	}
	return c
}

// argumentsOf returns the strings of the arguments by name. An argument that is left out
// has the schema's default, since the tool acts by that.
func argumentsOf(t toolset.Tool, raw json.RawMessage) map[string]argument {
	var all map[string]any
	out := map[string]argument{}
	if json.Unmarshal(raw, &all) != nil {
		return out
	}
	for name, value := range all {
		var a argument
		_, a.single = value.(string)
		a.collect(value)
		out[name] = a
	}
	for name, p := range schemaOf(t).Properties {
		if _, given := all[name]; !given && p.Default != "" {
			out[name] = argument{strings: []string{p.Default}, single: true}
		}
	}
	return out
}

func (a *argument) collect(value any) {
	if a.cut = a.cut || len(a.strings) >= maxStrings; a.cut {
		return
	}
	switch v := value.(type) {
	case string:
		a.strings = append(a.strings, v)
	case []any:
		for _, each := range v {
			a.collect(each)
		}
	case map[string]any:
		for name, each := range v {
			a.strings = append(a.strings, name)
			a.collect(each)
		}
	}
}

type inputSchema struct {
	Required   []string            `json:"required"`
	Properties map[string]property `json:"properties"`
}

type property struct{ Default string }

// UnmarshalJSON reads a default that is a string. A property that is not an object, or
// has another default, has none.
func (p *property) UnmarshalJSON(raw []byte) error {
	var is struct {
		Default any `json:"default"`
	}
	if json.Unmarshal(raw, &is) == nil {
		p.Default, _ = is.Default.(string)
	}
	return nil
}

func schemaOf(t toolset.Tool) inputSchema {
	var s inputSchema
	_ = json.Unmarshal(t.InputSchema, &s) // a schema that cannot be read declares nothing
	return s
}

// mainArg returns the name of the argument that matters most to a user: the first required
// one of the schema.
func mainArg(t toolset.Tool) string {
	if required := schemaOf(t).Required; len(required) > 0 {
		return required[0]
	}
	return ""
}

// meaning returns what a value means as a path, which is looked up once for a call.
func (c *Call) meaning(value string) wspath.Meaning {
	m, ok := c.means[value]
	if !ok {
		m = wspath.Of(c.ws, value)
		c.means[value] = m
	}
	return m
}

// Moved returns the first argument whose path leads to another file than it did when the
// earlier call was resolved, with both names. The engine compares the call that was
// approved with the same call at the moment when it starts.
func (c *Call) Moved(earlier *Call) (value, from, to string, moved bool) {
	for value, was := range earlier.means {
		is := c.meaning(value)
		for i, reading := range was.Readings {
			if i >= len(is.Readings) || is.Readings[i][0] != reading[0] {
				to := "another file"
				if i < len(is.Readings) {
					to = is.Readings[i][0]
				}
				return value, reading[0], to, true
			}
		}
	}
	return "", "", "", false
}

// Look resolves every argument that can be a path, so that [Call.Moved] compares them all.
func (c *Call) Look() *Call {
	for name, a := range c.args {
		if name == c.shell {
			continue
		}
		for _, value := range a.strings {
			if looksLikePath(name, value) {
				c.meaning(value)
			}
		}
	}
	return c
}

// pathNames are names that arguments for paths have in tools of all kinds.
var pathNames = []string{"path", "paths", "file", "files", "filename", "dir", "directory", "folder", "source", "destination", "src", "dst", "root", "cwd", "target", "uri"}

// isPathName reports whether an argument is a path by its name: path, file_path, srcDir.
func isPathName(name string) bool {
	lower := strings.ToLower(name)
	for _, p := range pathNames {
		if lower == p || strings.HasSuffix(lower, "_"+p) || strings.HasSuffix(lower, "-"+p) {
			return true
		}
		if rest, ok := strings.CutSuffix(name, strings.ToUpper(p[:1])+p[1:]); ok && rest != "" { // filePath
			return true
		}
	}
	return false
}

// looksLikePath reports whether an argument is worth a look in the file system when it
// starts to run: by its name, or by a value that a name of a file can have.
func looksLikePath(name, value string) bool {
	if isPathName(name) {
		return true
	}
	if len(value) > 512 || strings.Contains(value, "\n") || strings.Contains(value, "://") {
		return false
	}
	return strings.ContainsAny(value, `/\.`) || !strings.Contains(value, " ") // a name such as Makefile
}

// slashed returns a value as rules are written: with slashes.
func slashed(value string) string { return filepath.ToSlash(value) }
