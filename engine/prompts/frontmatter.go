package prompts

import (
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/didyoumean"
	"github.com/fettle-cli/fettle/internal/strictyaml"
)

const (
	// maxFront bounds the front matter; real ones have a few hundred bytes,
	// and YAML nodes take fifty times their text.
	maxFront = 32 << 10
	// maxDepth is two levels more than front matter needs.
	maxDepth = 5
	// maxVariables bounds what may be declared: more is a program.
	maxVariables = 64
	// maxValue bounds one text of the front matter besides system.
	maxValue = 4 << 10
	// maxTools bounds the list of globs.
	maxTools = 100
)

// front decodes front matter into a prompt.
type front struct {
	ps   *problems
	line int // of the file, where the YAML begins
	into *Prompt
}

// read decodes the YAML between the two lines of dashes.
func (f *front) read(text string) {
	root, ok := f.parse(text)
	if !ok || root == nil {
		return
	}
	keys := []string{"description", "model", "effort", "temperature", "max_tokens", "system", "tools", "schema", "variables"}
	f.mapping(root, "", keys, func(key string, n *yaml.Node) {
		switch key {
		case "description":
			f.into.Description = f.text(key, n, maxValue)
		case "model":
			f.model(n)
		case provider.EffortParam, provider.TemperatureParam, provider.MaxTokensParam:
			f.param(key, n)
		case "system":
			f.into.System = f.text(key, n, maxFront)
		case "tools":
			f.tools(n)
		case "schema":
			f.schema(n)
		case "variables":
			f.variables(n)
		}
	})
}

// parse returns the top node; nil for front matter without one.
func (f *front) parse(text string) (root *yaml.Node, ok bool) {
	top, p := strictyaml.Parse([]byte(text), strictyaml.Options{Subject: "front matter", MaxDepth: maxDepth})
	if p != nil {
		f.ps.at(f.line+max(p.Line, 1)-1, max(p.Column, 1), "%s", p.Msg)
		return nil, false
	}
	if top == nil || isNull(top) {
		return nil, true
	}
	return top, true
}

func (f *front) wrong(n *yaml.Node, format string, args ...any) {
	f.ps.at(f.line+n.Line-1, n.Column, format, args...)
}

const (
	tagText = "!!str"
	tagBool = "!!bool"
	tagNull = "!!null"
	tagMap  = "!!map"
	tagSeq  = "!!seq"
)

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == tagNull }

// plainNode refuses what front matter has no use for: aliases, which could
// multiply, anchors, and tags.
func (f *front) plainNode(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 {
		f.wrong(n, "anchors, aliases and tags aren't read here; write the value out")
		return false
	}
	return true
}

// mapping goes through a mapping: each key once, each a text and, where known
// isn't nil, one of known. Keys without a value are passed over, except where
// known is nil.
func (f *front) mapping(n *yaml.Node, label string, known []string, each func(key string, n *yaml.Node)) {
	if !f.plainNode(n) {
		return
	}
	if n.Kind != yaml.MappingNode || n.ShortTag() != tagMap {
		f.wrong(n, "%sexpected keys and values", prefix(label))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if !f.plainNode(key) || !f.plainNode(value) {
			continue
		}
		name := key.Value
		switch {
		case key.Kind != yaml.ScalarNode || key.ShortTag() != tagText:
			f.wrong(key, "%sa key is a word", prefix(label))
		case seen[name]:
			f.wrong(key, "%s%s is there twice", prefix(label), shown(name))
		case known != nil && !slices.Contains(known, name):
			f.unknown(key, label, known)
		case known != nil && isNull(value):
		default:
			each(name, value)
		}
		seen[name] = true
	}
}

func prefix(label string) string {
	if label == "" {
		return ""
	}
	return label + ": "
}

func (f *front) unknown(key *yaml.Node, label string, known []string) {
	if near := didyoumean.Of(key.Value, known); near != "" {
		f.wrong(key, "%sunknown key %s; did you mean %s?", prefix(label), shown(key.Value), near)
		return
	}
	f.wrong(key, "%sunknown key %s; known are %s", prefix(label), shown(key.Value), strings.Join(known, ", "))
}

// text reads a text.
func (f *front) text(label string, n *yaml.Node, limit int) string {
	switch {
	case n.Kind != yaml.ScalarNode || n.ShortTag() != tagText:
		f.wrong(n, "%s: expected text; put it in quotes if it looks like something else", label)
	case len(n.Value) > limit:
		f.wrong(n, "%s: longer than %d bytes", label, limit)
	case strings.ContainsFunc(n.Value, control):
		f.wrong(n, "%s: a control character can't stand in a prompt", label)
	default:
		return n.Value
	}
	return ""
}

// line reads a text of one line.
func (f *front) oneLine(label string, n *yaml.Node) (string, bool) {
	s := f.text(label, n, maxValue)
	if s == "" {
		return "", false
	}
	if strings.ContainsAny(s, "\n\t") || strings.TrimSpace(s) != s {
		f.wrong(n, "%s: expected text on one line, without spaces around it", label)
		return "", false
	}
	return s, true
}

func (f *front) model(n *yaml.Node) {
	ref, ok := f.oneLine("model", n)
	if !ok {
		return
	}
	provider, model, full := strings.Cut(ref, "/")
	switch {
	case full && (!word(provider, "._-") || model == ""), !full && !word(ref, "._-:"):
		f.wrong(n, "model: expected a model, such as ollama/qwen3 or gpt-5, found %s", shown(ref))
	case provider == "script" && f.into.Source == Project:
		f.wrong(n, "model: a project's prompt can't name a script, which would answer in the model's place")
	default:
		f.into.Model = ref
	}
}

// param reads a parameter of the model.
func (f *front) param(key string, n *yaml.Node) {
	err := errors.New("expected one value")
	if n.Kind == yaml.ScalarNode {
		err = f.into.Params.Set(key, n.Value)
	}
	if err != nil {
		f.wrong(n, "%s: %s, found %s", key, err, shown(n.Value))
	}
}

// tools reads on, off or a list of globs.
func (f *front) tools(n *yaml.Node) {
	const want = "tools: expected on, off or a list of globs, such as [read_file, list_*]"
	if n.Kind == yaml.ScalarNode && (n.ShortTag() == tagText || n.ShortTag() == tagBool) {
		switch strings.ToLower(n.Value) {
		case "on", "true", "yes":
			f.into.Tools = &Tools{Enabled: true}
			return
		case "off", "false", "no":
			f.into.Tools = &Tools{}
			return
		}
	}
	if n.Kind != yaml.SequenceNode || n.ShortTag() != tagSeq || len(n.Content) > maxTools {
		f.wrong(n, want)
		return
	}
	tools := &Tools{Enabled: len(n.Content) > 0}
	for _, item := range n.Content {
		if !f.plainNode(item) {
			return
		}
		glob, ok := f.oneLine("tools", item)
		if !ok {
			return
		}
		tools.Globs = append(tools.Globs, glob)
	}
	f.into.Tools = tools
}

// schema reads the path of a file beside the prompt.
func (f *front) schema(n *yaml.Node) {
	path, ok := f.oneLine("schema", n)
	if !ok {
		return
	}
	if !local(path) {
		f.wrong(n, "schema: expected a file beside the prompt, such as answer.json, found %s", shown(path))
		return
	}
	f.into.Schema = path
}

// variables reads the declarations: a mapping, or a text that is the default.
func (f *front) variables(n *yaml.Node) {
	f.into.declared = true
	if n.Kind == yaml.MappingNode && len(n.Content) > 2*maxVariables {
		f.wrong(n, "variables: more than %d", maxVariables)
		return
	}
	f.mapping(n, "variables", nil, func(name string, n *yaml.Node) {
		label := "variables." + name
		if !validVariable(name) {
			f.wrong(n, "variables: %s is no name; it is of letters, digits, dashes and underscores", shown(name))
			return
		}
		v := Variable{Name: name, Required: true, line: f.line + n.Line - 1, column: n.Column}
		switch {
		case isNull(n):
		case n.Kind == yaml.MappingNode:
			f.variable(label, n, &v)
		default:
			v.Default, v.Required = f.text(label, n, maxValue), false
		}
		f.into.Variables = append(f.into.Variables, v)
	})
}

func (f *front) variable(label string, n *yaml.Node, v *Variable) {
	hasDefault, asked := false, false
	f.mapping(n, label, []string{"default", "required", "description"}, func(key string, n *yaml.Node) {
		switch key {
		case "default":
			v.Default, v.Required, hasDefault = f.text(label+".default", n, maxValue), false, true
		case "description":
			v.Description = f.text(label+".description", n, maxValue)
		case "required":
			if n.Kind != yaml.ScalarNode || n.ShortTag() != tagBool {
				f.wrong(n, "%s.required: expected true or false", label)
				return
			}
			v.Required = strings.EqualFold(n.Value, "true")
			asked = true
		}
	})
	if hasDefault && asked && v.Required {
		f.wrong(n, "%s: a variable with a default isn't required", label)
	}
	if hasDefault {
		v.Required = false
	}
}
