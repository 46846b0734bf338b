package wire

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
)

// Siblings returns the members of an object that are not among the known ones, as an object;
// nil if there are none. Members that are null are left out.
func Siblings(raw []byte, known ...string) json.RawMessage {
	var fields map[string]json.RawMessage
	if !Lenient(raw, &fields) {
		return nil
	}
	unknown := false
	for name, value := range fields {
		unknown = unknown || !slices.Contains(known, name) && string(value) != "null"
	}
	if !unknown { // nearly always
		return nil
	}
	n, err := ParseNode(raw)
	if err != nil {
		return nil
	}
	n.Members = slices.DeleteFunc(n.Members, func(m Member) bool {
		return slices.Contains(known, m.Key) || m.Value.Is("null")
	})
	return n.Append(nil)
}

// JoinFields returns an object with the members of two. Objects under the same name are
// joined too; of other values under the same name, that of more is taken. What is not an
// object counts as an empty one.
func JoinFields(base, more json.RawMessage) json.RawMessage {
	switch {
	case !isObjectText(more):
		return base
	case !isObjectText(base):
		return more
	}
	a, err := ParseNode(base)
	if err != nil {
		return more
	}
	b, err := ParseNode(more)
	if err != nil {
		return base
	}
	a.join(b)
	return a.Append(nil)
}

func isObjectText(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' && json.Valid(raw) }

func (n *Node) join(more *Node) {
	for _, m := range more.Members {
		if old := n.Get(m.Key); old != nil && old.Kind == '{' && m.Value.Kind == '{' {
			old.join(m.Value)
			continue
		}
		n.Set(m.Key, m.Value)
	}
}

// function is the member of a call that has members of its own.
const function = "function"

// FieldNames returns the names of the members that a call or a message is sent with.
func FieldNames(raw json.RawMessage) []string {
	n, err := ParseNode(raw)
	if err != nil {
		return nil
	}
	var names []string
	for _, m := range n.Members {
		if m.Key != function {
			names = append(names, m.Key)
			continue
		}
		for _, inner := range m.Value.Members {
			names = append(names, inner.Key)
		}
	}
	return names
}

// WithoutFields returns the members of a call or a message without those of some names; nil
// if nothing is left.
func WithoutFields(raw json.RawMessage, names []string) json.RawMessage {
	if len(names) == 0 || len(raw) == 0 {
		return raw
	}
	n, err := ParseNode(raw)
	if err != nil {
		return nil
	}
	refused := func(m Member) bool { return slices.Contains(names, m.Key) }
	if inner := n.Get(function); inner != nil {
		if inner.Members = slices.DeleteFunc(inner.Members, refused); len(inner.Members) == 0 {
			n.Remove(function)
		}
	}
	if n.Members = slices.DeleteFunc(n.Members, refused); len(n.Members) == 0 {
		return nil
	}
	return n.Append(nil)
}

// WithExtra encodes an object together with further members. Members of the object itself
// win over further ones of the same name.
func WithExtra(v any, extra json.RawMessage) ([]byte, error) {
	b, err := Marshal(v)
	if err != nil || len(extra) == 0 {
		return b, err
	}
	return JoinFields(extra, b), nil
}

// RefusedField returns the first of the sent members that a refusal names; "" if it names
// none. Members that are left out already do not count.
func RefusedField(e *provider.Error, sent, without []string) string {
	if e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return ""
	}
	text := strings.ToLower(e.Message)
	for _, name := range sent {
		if len(name) > 3 && strings.Contains(text, strings.ToLower(name)) && !slices.Contains(without, name) {
			return name
		}
	}
	return ""
}

// lessonWithout begins the lesson that a member is refused; its name follows.
const lessonWithout = "without:"

// WithoutLessons returns the lessons that some members are refused; see [provider.Learner].
func WithoutLessons(names []string) []string {
	var out []string
	for _, name := range names {
		out = append(out, lessonWithout+name)
	}
	return out
}

// WithoutRecalled adds the members that lessons name to those that are left out.
func WithoutRecalled(names, lessons []string) []string {
	for _, l := range lessons {
		if name, ok := strings.CutPrefix(l, lessonWithout); ok && !slices.Contains(names, name) {
			names = append(slices.Clone(names), name)
		}
	}
	return names
}
