package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/fettle-cli/fettle/internal/didyoumean"
	"github.com/fettle-cli/fettle/toolset"
)

// Reference is one interpolation in a text: document 004's `$args.name`,
// `$return.path`, `$chat_id`, `$workspace` or `$toolset`; in a page's context
// `$context.name`, in a workflow's steps `$steps.ID.path`.
type Reference struct {
	// Text is the expression as it stands there, such as $return.stats.rows.
	Text string
	// Name is the part before the first dot, without the dollar sign.
	Name string
	// Path are the parts behind it.
	Path []string
}

var referencePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$([A-Za-z_][A-Za-z0-9_]*)((?:\.[A-Za-z0-9_-]+)*)`)
})

// References finds the interpolations in a text, in order. A dollar sign that
// no letter follows is none. Names that document 004 doesn't know are given
// too; renderers leave those as they are.
func References(s string) []Reference {
	var out []Reference
	for _, m := range referencePattern().FindAllStringSubmatch(s, -1) {
		r := Reference{Text: m[0], Name: m[1]}
		if m[2] != "" {
			r.Path = strings.Split(m[2][1:], ".")
		}
		out = append(out, r)
	}
	return out
}

// scope is what the references of one renderer, page or step may mean.
type scope struct {
	args, returns json.RawMessage // schemas; empty where nothing is promised
	payload       bool            // the renderer of a payload: there are no arguments
	names         []string        // what there is; nil means document 004's
	// steps has, for a step of a workflow, what each earlier one returns.
	steps map[string]json.RawMessage
}

func (s *scope) known() []string {
	if s.names != nil {
		return s.names
	}
	return []string{"args", "return", "chat_id", "workspace", "toolset"}
}

func (j *judge) renderer(r *toolset.Renderer, at string, s *scope) {
	for _, f := range []struct{ name, text string }{
		{"file", r.File}, {"content", r.Content}, {"language", r.Language}, {"url", r.URL},
	} {
		j.references(f.text, at+"/"+f.name, s)
	}
	if len(r.Data) > 0 {
		var data any
		if json.Unmarshal(r.Data, &data) == nil {
			j.dataReferences(data, at+"/data", s)
		}
	}
}

func (j *judge) dataReferences(v any, at string, s *scope) {
	switch v := v.(type) {
	case string:
		j.references(v, at, s)
	case []any:
		for i, e := range v {
			j.dataReferences(e, item(at, i), s)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			j.dataReferences(v[name], under(at, name), s)
		}
	}
}

func (j *judge) references(text, at string, s *scope) {
	for _, ref := range References(text) {
		if len(j.sink.problems) >= maxProblems { // nobody reads on
			return
		}
		known := s.known()
		switch {
		case !slices.Contains(known, ref.Name):
			msg := show(ref.Text) + " is no interpolation and stays as it is; known are $" + strings.Join(known, ", $")
			if near := didyoumean.Of(ref.Name, known); near != "" {
				msg = show(ref.Text) + " is no interpolation and stays as it is; did you mean $" + near + "?"
			}
			j.warn(at, CodeReference, msg)
		case ref.Name == "args" && s.payload:
			j.warn(at, CodeReference, show(ref.Text)+": a payload has no arguments; its data is $return")
		case ref.Name == "args" && len(ref.Path) > 0:
			j.resolve(ref, s.args, "input_schema", at)
		case ref.Name == "return" && len(ref.Path) > 0:
			schema := "output_schema"
			if s.payload {
				schema = "the payload's schema"
			}
			j.resolve(ref, s.returns, schema, at)
		case ref.Name == "steps":
			j.stepReference(ref, s, at)
		case len(ref.Path) > 0 && slices.Contains([]string{"chat_id", "workspace", "toolset"}, ref.Name):
			j.warn(at, CodeReference, show(ref.Text)+": $"+ref.Name+" is a text and has no parts")
		}
	}
}

// stepReference wants an earlier step, and what its tool promises.
func (j *judge) stepReference(ref Reference, s *scope, at string) {
	if len(ref.Path) == 0 {
		return
	}
	step := ref.Path[0]
	returns, ok := s.steps[step]
	if !ok {
		j.missing(at, "earlier step", step, slices.Sorted(maps.Keys(s.steps)))
		return
	}
	if len(ref.Path) > 1 {
		j.resolve(Reference{Text: ref.Text, Path: ref.Path[1:]}, returns, "what the step "+step+" returns", at)
	}
}

// resolve follows a reference through a schema and warns where the schema says
// which names there are and the next isn't one.
func (j *judge) resolve(ref Reference, raw json.RawMessage, schema, at string) {
	var root any
	if len(raw) == 0 || json.Unmarshal(raw, &root) != nil {
		return
	}
	node := root
	for i, part := range ref.Path {
		props, elems, open := partsOf(root, node)
		switch next, ok := props[part]; {
		case ok:
			node = next
		case elems != nil && isIndex(part):
			node = elems
		case open:
			return
		default:
			where := schema
			if i > 0 {
				where = strings.Join(ref.Path[:i], ".") + " of " + schema
			}
			names := slices.Sorted(maps.Keys(props))
			msg := fmt.Sprintf("%s is not in %s", show(ref.Text), where)
			if near := didyoumean.Of(part, names); near != "" {
				msg += "; did you mean " + near + "?"
			} else if len(names) > 0 {
				msg += " (it has: " + strings.Join(names[:min(len(names), maxNamed)], ", ") + ")"
			}
			j.warn(at, CodeReference, msg)
			return
		}
	}
}

func isIndex(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

// partsOf gives the properties and the elements that a schema names. open
// tells that there may be others: where it combines schemas, leads elsewhere,
// or names nothing at all.
func partsOf(root, node any) (props map[string]any, elems any, open bool) {
	for range 20 { // references may lead in a circle
		s, ok := node.(map[string]any)
		if !ok {
			return nil, nil, true
		}
		if ref, ok := s["$ref"].(string); ok {
			if node = pointed(root, ref); node == nil {
				return nil, nil, true
			}
			continue
		}
		for _, word := range []string{"allOf", "anyOf", "oneOf", "if", "patternProperties", "$dynamicRef"} {
			if _, ok := s[word]; ok {
				return nil, nil, true
			}
		}
		props, _ = s["properties"].(map[string]any)
		elems = s["items"]
		kind, _ := s["type"].(string)
		known := kind == "string" || kind == "number" || kind == "integer" || kind == "boolean" || kind == "null"
		return props, elems, len(props) == 0 && !known && s["additionalProperties"] != false
	}
	return nil, nil, true
}

func pointed(root any, ref string) any {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	node := root
	for part := range strings.SplitSeq(path, "/") {
		m, ok := node.(map[string]any)
		if !ok {
			return nil
		}
		node = m[unescapeToken.Replace(part)]
	}
	return node
}

// portable wants the patterns of a schema to be RE2's: they take linear time
// whoever wrote them. What providers and editors make of others differs anyway.
func (j *judge) portable(raw json.RawMessage, at string) bool {
	var s any
	if json.Unmarshal(raw, &s) != nil {
		return true // Compile says what is wrong
	}
	if n := objects(s); n > maxSchemaObjects {
		j.fail(at, CodeSchema, fmt.Sprintf("the schema has %d objects; %d are allowed: no model reads so many", n, maxSchemaObjects))
		return false
	}
	good := true
	walkSchema(s, at, func(pattern, pointer string) {
		if _, err := regexp.Compile(pattern); err != nil {
			good = false
			j.fail(pointer, CodeSchema, "the pattern "+show(pattern)+" can't be used: "+strings.TrimPrefix(err.Error(), "error parsing regexp: ")+"; write it as RE2 has it (no look-around, no back-references)")
		}
	})
	return good
}

// maxSchemaObjects bounds one schema: compiling takes time with the square of
// it. A tool with fifty arguments has some two hundred.
const maxSchemaObjects = 1_000

func objects(v any) int {
	n := 0
	switch v := v.(type) {
	case map[string]any:
		n = 1
		for _, e := range v {
			n += objects(e)
		}
	case []any:
		for _, e := range v {
			n += objects(e)
		}
	}
	return n
}

// walkSchema finds the patterns of a schema and of those inside it. Values
// such as a default, and properties that are called pattern, are none.
func walkSchema(v any, at string, each func(pattern, pointer string)) {
	s, ok := v.(map[string]any)
	if !ok {
		return
	}
	if p, ok := s["pattern"].(string); ok {
		each(p, at+"/pattern")
	}
	for _, word := range slices.Sorted(maps.Keys(s)) {
		pointer := under(at, word)
		switch sub := s[word].(type) {
		case map[string]any:
			switch word {
			case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
				for _, name := range slices.Sorted(maps.Keys(sub)) {
					if word == "patternProperties" {
						each(name, under(pointer, name))
					}
					walkSchema(sub[name], under(pointer, name), each)
				}
			case "items", "not", "if", "then", "else", "additionalProperties", "propertyNames", "contains",
				"additionalItems", "unevaluatedProperties", "unevaluatedItems", "contentSchema":
				walkSchema(sub, pointer, each)
			}
		case []any:
			switch word {
			case "allOf", "anyOf", "oneOf", "prefixItems", "items":
				for i, e := range sub {
					walkSchema(e, item(pointer, i), each)
				}
			}
		}
	}
}
