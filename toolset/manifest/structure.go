package manifest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/fettle-cli/fettle/internal/didyoumean"
)

// shape checks a value against its shape: what the published schema says, and
// the checks of single texts.
func (r *reader) shape(n *yaml.Node, s *shape, pointer string) {
	if r.bad[n] {
		return
	}
	switch s.kind {
	case anyKind:
	case textKind:
		r.text(n, s, pointer)
	case flagKind:
		if n.Kind != yaml.ScalarNode || n.ShortTag() != tagBool {
			r.wrongType(n, s, pointer)
		}
	case listKind:
		r.list(n, s, pointer)
	case tableKind:
		r.table(n, s, pointer)
	case objectKind:
		r.object(n, s, pointer)
	case variantKind:
		r.variant(n, s, pointer)
	case schemaKind:
		r.schema(n, s, pointer)
	}
}

// wrongType reports a value of another type.
func (r *reader) wrongType(n *yaml.Node, s *shape, pointer string) {
	want := s.want
	if len(s.enum) > 0 {
		want = strings.Join(s.enum, " or ")
	}
	msg := field0(pointer) + "expected " + want + ", found " + found(n)
	if s.kind == textKind && n.Kind == yaml.ScalarNode && n.ShortTag() != tagNull {
		msg += "; quote it: \"" + n.Value + `"`
	}
	r.report(n, pointer, CodeWrongType, msg)
}

// field0 is the name of the field that a pointer leads to, as a message begins.
func field0(pointer string) string {
	parts := strings.Split(pointer, "/")
	for i := len(parts) - 1; i > 0; i-- {
		if strings.Trim(parts[i], "0123456789") != "" {
			return parts[i] + ": "
		}
	}
	return ""
}

// found names what a node is.
func found(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "fields and values"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind != yaml.ScalarNode:
		return "an alias"
	case n.ShortTag() == tagNull:
		return "nothing"
	case n.ShortTag() == tagBool:
		return n.Value
	case n.ShortTag() == tagInt, n.ShortTag() == tagFloat:
		return "the number " + n.Value
	}
	return show(n.Value)
}

func (r *reader) text(n *yaml.Node, s *shape, pointer string) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != tagText && n.ShortTag() != tagTime {
		r.wrongType(n, s, pointer)
		return
	}
	name := field0(pointer)
	count := utf8.RuneCountInString(n.Value)
	switch {
	case len(s.enum) > 0 && !slices.Contains(s.enum, n.Value):
		r.wrongChoice(n, s.enum, pointer)
	case s.max > 0 && count > s.max:
		r.report(n, pointer, CodeWrongValue, fmt.Sprintf("%sit has %d characters; %d are allowed", name, count, s.max))
	case count < s.min:
		r.report(n, pointer, CodeWrongValue, name+"expected "+s.want+", found an empty text")
	case s.pattern != "" && !textProbe(s, n.Value):
		r.report(n, pointer, CodeWrongValue, name+"expected "+s.want+", found "+show(n.Value))
	case strings.ContainsRune(n.Value, 0):
		r.report(n, pointer, CodeControl, name+"a text can't hold the NUL character")
	case s.check != nil:
		if c := s.check(n.Value); c != nil {
			r.report(n, pointer, c.code, name+c.msg)
		}
	}
}

func (r *reader) wrongChoice(n *yaml.Node, choices []string, pointer string) {
	r.bad[n] = true
	if r.sink.full(LevelError) {
		return
	}
	want := "expected " + strings.Join(choices, " or ")
	if len(choices) > 2 {
		want = "expected one of " + strings.Join(choices, ", ")
	}
	if len(choices) == 1 {
		want += ` (in quotes)`
	}
	p := Problem{
		File: r.file, Line: n.Line, Column: n.Column, Pointer: pointer, Level: LevelError, Code: CodeWrongValue,
		Message: field0(pointer) + want + ", found " + show(n.Value), Nearest: didyoumean.Of(n.Value, choices),
	}
	if p.Nearest != "" && len(choices) > 1 {
		p.Message += "; did you mean " + p.Nearest + "?"
	}
	r.sink.add(p)
}

func (r *reader) list(n *yaml.Node, s *shape, pointer string) {
	if n.Kind != yaml.SequenceNode {
		r.wrongType(n, s, pointer)
		return
	}
	r.size(n, len(n.Content), s, pointer)
	for i, e := range n.Content {
		r.shape(e, s.item, item(pointer, i))
	}
}

func (r *reader) size(n *yaml.Node, count int, s *shape, pointer string) {
	switch {
	case s.max > 0 && count > s.max:
		r.report(n, pointer, CodeWrongValue, fmt.Sprintf("%sit has %d entries; %d are allowed", field0(pointer), count, s.max))
	case count < s.min:
		r.report(n, pointer, CodeWrongValue, fmt.Sprintf("%sexpected %d entry at least", field0(pointer), s.min))
	}
}

func (r *reader) table(n *yaml.Node, s *shape, pointer string) {
	if n.Kind != yaml.MappingNode {
		r.wrongType(n, s, pointer)
		return
	}
	r.size(n, len(n.Content)/2, s, pointer)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if r.bad[key] {
			continue
		}
		at := under(pointer, key.Value)
		if s.pattern != "" && !compiled().match(s.pattern, key.Value) {
			r.report(key, at, CodeWrongValue, fmt.Sprintf("%sthe name %s can't be used here", field0(pointer), show(key.Value)))
			continue
		}
		r.shape(value, s.item, at)
	}
}

func (r *reader) variant(n *yaml.Node, s *shape, pointer string) {
	if n.Kind != yaml.MappingNode {
		r.wrongType(n, s, pointer)
		return
	}
	var values []string
	for _, v := range s.variants {
		values = append(values, v.value)
	}
	tag := child(n, s.tag)
	switch {
	case tag == nil:
		r.report(n, pointer, CodeMissingField, fmt.Sprintf("%sexpected %s: one of %s", field0(pointer), s.tag, strings.Join(values, ", ")))
	case r.bad[tag]:
		r.bad[n] = true
	case tag.Kind != yaml.ScalarNode || tag.ShortTag() != tagText:
		r.report(tag, under(pointer, s.tag), CodeWrongType, s.tag+": expected one of "+strings.Join(values, ", ")+", found "+found(tag))
		r.bad[n] = true
	case s.chosen(n) == nil:
		r.wrongChoice(tag, values, under(pointer, s.tag))
		r.bad[n] = true
	default:
		r.object(n, s.chosen(n), pointer)
	}
}

func (r *reader) schema(n *yaml.Node, s *shape, pointer string) {
	if n.Kind != yaml.MappingNode {
		r.wrongType(n, s, pointer)
		return
	}
	if s.anyRoot {
		return
	}
	kind := child(n, "type")
	if kind == nil {
		r.report(n, pointer, CodeMissingField, field0(pointer)+"expected type: object")
	} else if !r.bad[kind] && (kind.Kind != yaml.ScalarNode || kind.ShortTag() != tagText || kind.Value != "object") {
		r.report(kind, under(pointer, "type"), CodeWrongValue, field0(pointer)+"expected type: object, found "+found(kind))
		r.bad[n] = true
	}
}

// object checks the fields of an object.
func (r *reader) object(n *yaml.Node, s *shape, pointer string) {
	if n.Kind != yaml.MappingNode {
		r.wrongType(n, s, pointer)
		return
	}
	there := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if r.bad[key] {
			continue
		}
		at := under(pointer, key.Value)
		sub := s.find(key.Value)
		if sub == nil {
			r.unknown(key, s.names(), at)
			continue
		}
		there[key.Value] = key
		r.shape(value, sub, at)
	}
	r.together(n, s, there, pointer)
}

// together checks which fields are there beside which.
func (r *reader) together(n *yaml.Node, s *shape, there map[string]*yaml.Node, pointer string) {
	for _, f := range s.fields {
		if f.required && there[f.name] == nil {
			r.add(n, pointer, CodeMissingField, fmt.Sprintf("%sthe field %s is missing", field0(pointer), f.name))
		}
	}
	if len(s.oneOf) > 0 {
		var got []string
		for _, name := range s.oneOf {
			if there[name] != nil {
				got = append(got, name)
			}
		}
		switch {
		case len(got) == 0:
			r.add(n, pointer, CodeFieldChoice, fmt.Sprintf("%sexpected %s", field0(pointer), strings.Join(s.oneOf, " or ")))
		case len(got) > 1:
			r.add(there[got[1]], pointer, CodeFieldChoice, fmt.Sprintf("%sexpected %s, found both", field0(pointer), strings.Join(s.oneOf, " or ")))
		}
	}
	for _, pair := range s.needs {
		if there[pair[0]] != nil && there[pair[1]] == nil {
			r.add(there[pair[0]], under(pointer, pair[0]), CodeFieldChoice, fmt.Sprintf("%s goes with %s, which is missing", pair[0], pair[1]))
		}
	}
}

// unknown reports a field that isn't known, with the one that is nearest.
func (r *reader) unknown(key *yaml.Node, known []string, pointer string) {
	r.bad[key] = true
	if r.sink.full(LevelError) {
		return
	}
	p := Problem{
		File: r.file, Line: key.Line, Column: key.Column, Pointer: pointer, Level: LevelError, Code: CodeUnknownField,
		Message: "unknown field " + show(key.Value), Nearest: didyoumean.Of(key.Value, known),
	}
	if p.Nearest != "" {
		p.Message += "; did you mean " + p.Nearest + "?"
	} else {
		p.Message += "; known are " + strings.Join(known, ", ")
	}
	r.sink.add(p)
}
