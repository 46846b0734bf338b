package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/message"

	"github.com/fettle-cli/fettle/internal/didyoumean"
)

// Bounds of what a message quotes from a document or a schema.
const (
	maxShownValue  = 60
	maxShownValues = 20
	maxShownNames  = 12
	maxShownError  = 200
)

// badNameKind is badName as the library wants it.
type badNameKind struct{ badName }

func (*badNameKind) KeywordPath() []string                   { return []string{"propertyNames"} }
func (*badNameKind) LocalizedString(*message.Printer) string { return "bad property name" }

// words says what an issue is; some have several sentences.
func (t *translator) words(is issue) []Problem {
	here := pointer(is.loc)
	say := func(format string, args ...any) []Problem {
		return []Problem{{Pointer: here, Message: fmt.Sprintf(format, args...)}}
	}
	switch k := is.what.(type) {
	case *wrongType:
		return say("expected %s, got %s%s", orList(k.want), gotValue(k.got, k.name), jsonTextHint(k.want, k.got))
	case *wrongValue:
		return say("%s", wrongValueWords(nil, k.want, k.got, typeName(k.got)))
	case *wrongEither:
		return say("%s", wrongValueWords(k.types, k.values, k.got, k.name))
	case nearestForm:
		return say("fits none of the %d allowed forms; the nearest is number %d:", k.forms, k.nearest)
	case notAllowed:
		return say("%s", t.notAllowedWords(is))
	case *badNameKind:
		return say("the property name %s isn't allowed: %s", quote(k.property), t.nameCause(k.err))
	case *kind.Required:
		return t.missingWords(is, k.Missing, "")
	case *kind.DependentRequired:
		return t.missingWords(is, k.Missing, k.Prop)
	case *kind.Dependency:
		return t.missingWords(is, k.Missing, k.Prop)
	case unexpected:
		return say("unexpected property%s", nameHint(is.loc[len(is.loc)-1], t.knownNames(t.at(is.schema))))
	case jsonschema.ErrorKind:
		return say("%s", limitWords(k))
	}
	return say("it doesn't fit the schema")
}

func limitWords(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.MinLength:
		return fmt.Sprintf("expected at least %s, got %d", count(k.Want, "character"), k.Got)
	case *kind.MaxLength:
		return fmt.Sprintf("expected at most %s, got %d", count(k.Want, "character"), k.Got)
	case *kind.MinItems:
		return fmt.Sprintf("expected at least %s, got %d", count(k.Want, "item"), k.Got)
	case *kind.MaxItems:
		return fmt.Sprintf("expected at most %s, got %d", count(k.Want, "item"), k.Got)
	case *kind.MinProperties:
		return fmt.Sprintf("expected at least %s, got %d", properties(k.Want), k.Got)
	case *kind.MaxProperties:
		return fmt.Sprintf("expected at most %s, got %d", properties(k.Want), k.Got)
	case *kind.AdditionalItems:
		return fmt.Sprintf("%s too many", count(k.Count, "item"))
	case *kind.UniqueItems:
		return fmt.Sprintf("items %d and %d are equal; all must differ", k.Duplicates[0], k.Duplicates[1])
	case *kind.Minimum:
		return fmt.Sprintf("expected at least %s, got %s", number(k.Want), number(k.Got))
	case *kind.Maximum:
		return fmt.Sprintf("expected at most %s, got %s", number(k.Want), number(k.Got))
	case *kind.ExclusiveMinimum:
		return fmt.Sprintf("expected more than %s, got %s", number(k.Want), number(k.Got))
	case *kind.ExclusiveMaximum:
		return fmt.Sprintf("expected less than %s, got %s", number(k.Want), number(k.Got))
	case *kind.MultipleOf:
		return fmt.Sprintf("expected a multiple of %s, got %s", number(k.Want), number(k.Got))
	case *kind.Pattern:
		return fmt.Sprintf("expected a text that matches %s, got %s", plain(clip(k.Want, 2*maxShownValue)), quote(k.Got))
	case *kind.Contains:
		return "no item fits what the array must contain"
	case *kind.MinContains:
		return fmt.Sprintf("%s what the array must contain; at least %d must", fits(len(k.Got)), k.Want)
	case *kind.MaxContains:
		return fmt.Sprintf("%s what the array may contain; at most %d may", fits(len(k.Got)), k.Want)
	case *kind.Not:
		return "fits what is excluded here"
	case *kind.OneOf:
		return fmt.Sprintf("fits two of the forms of which exactly one must fit (numbers %d and %d)", k.Subschemas[0]+1, k.Subschemas[1]+1)
	case *kind.RefCycle:
		return "the schema refers to itself without end"
	case *kind.PropertyNames:
		return fmt.Sprintf("the property name %s isn't allowed", quote(k.Property))
	case *kind.Format:
		return fmt.Sprintf("%s is no valid %s: %s", shown(k.Got), plain(k.Want), plain(clip(k.Err.Error(), maxShownError)))
	}
	return "it doesn't fit the schema"
}

func wrongValueWords(types []string, values []any, got any, gotName string) string {
	var wanted []string
	wanted = append(wanted, types...)
	var texts []string
	for _, v := range values {
		if text, ok := v.(string); ok {
			texts = append(texts, text)
		}
		if s := shown(v); !slices.Contains(wanted, s) {
			wanted = append(wanted, s)
		}
	}
	if len(wanted) == 0 {
		return "no value is allowed here"
	}
	if more := len(wanted) - maxShownValues; more > 0 {
		wanted = append(wanted[:maxShownValues], fmt.Sprintf("%d more", more))
	}
	msg := fmt.Sprintf("expected %s, got %s", orList(wanted), gotValue(got, gotName))
	if text, ok := got.(string); ok {
		if near := didyoumean.Of(text, texts); near != "" {
			msg += fmt.Sprintf(" (did you mean %s?)", quote(near))
		}
	}
	return msg
}

// jsonTextHint helps models that write an array or object as a string.
func jsonTextHint(want []string, got any) string {
	text, ok := got.(string)
	if !ok {
		return ""
	}
	text = strings.TrimSpace(text)
	for _, w := range want {
		if w == "array" && strings.HasPrefix(text, "[") || w == "object" && strings.HasPrefix(text, "{") {
			return fmt.Sprintf(" (give the %s itself, not its JSON in a string)", w)
		}
	}
	return ""
}

func (t *translator) missingWords(is issue, names []string, because string) []Problem {
	out := make([]Problem, 0, len(names))
	sub := t.at(is.schema)
	for _, name := range names {
		msg := "missing property " + quote(name)
		if types := t.typesOf(sub, name); len(types) > 0 {
			msg += " (" + orList(types) + ")"
		}
		if because != "" {
			msg += ", which " + quote(because) + " needs"
		}
		out = append(out, Problem{Pointer: pointer(is.loc), Message: msg})
	}
	return out
}

// nameHint suggests the nearest known name, or lists them where they are few.
func nameHint(name string, known []string) string {
	if len(known) == 0 {
		return ""
	}
	near := didyoumean.Of(name, known)
	if near == "" {
		near = sharedWord(name, known)
	}
	if near != "" {
		return " (did you mean " + quote(near) + "?)"
	}
	if len(known) > maxShownNames {
		return ""
	}
	quoted := make([]string, len(known))
	for i, k := range known {
		quoted[i] = quote(k)
	}
	return " (there is " + strings.Join(quoted, ", ") + ")"
}

// sharedWord finds the only known name that is a word of this one, or the
// other way round: path for file_path.
func sharedWord(name string, known []string) string {
	found := ""
	for _, k := range known {
		if slices.Contains(nameWords(name), strings.ToLower(k)) || slices.Contains(nameWords(k), strings.ToLower(name)) {
			if found != "" {
				return ""
			}
			found = k
		}
	}
	return found
}

// nameWords splits snake_case, kebab-case and camelCase.
func nameWords(name string) []string {
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return strings.FieldsFunc(strings.ToLower(b.String()), func(r rune) bool { return r == '_' || r == '-' || r == '.' })
}

// notAllowedWords tells an unexpected property from an unexpected item by the
// keyword whose schema is `false`.
func (t *translator) notAllowedWords(is issue) string {
	location := locationPointer(is.schema)
	parent, keyword := cutLast(location)
	_, group := cutLast(parent)
	switch {
	case keyword == "unevaluatedProperties", keyword == "additionalProperties":
		known := t.knownNames(t.at(strings.TrimSuffix(is.schema, "/"+keyword)))
		return "unexpected property" + nameHint(is.loc[len(is.loc)-1], known)
	case keyword == "items", keyword == "additionalItems", keyword == "unevaluatedItems":
		return "unexpected item"
	case group == "properties", group == "patternProperties":
		return "this property is not allowed"
	}
	return "no value is allowed here"
}

func cutLast(p string) (before, last string) {
	i := strings.LastIndexByte(p, '/')
	if i < 0 {
		return "", p
	}
	return p[:i], p[i+1:]
}

func (t *translator) nameCause(err error) string {
	var verr *jsonschema.ValidationError
	if !errors.As(err, &verr) {
		return "it doesn't fit the schema"
	}
	return t.problems(verr)[0].Message
}

func (t *translator) at(location string) *jsonschema.Schema {
	if t.schema == nil {
		return nil
	}
	return t.schema.at[location]
}

// knownNames are the properties that a subschema and those that apply to the
// same value know of.
func (t *translator) knownNames(s *jsonschema.Schema) []string {
	names := make(map[string]bool)
	t.alike(s, func(s *jsonschema.Schema) {
		for name := range s.Properties {
			names[name] = true
		}
	})
	return slices.Sorted(maps.Keys(names))
}

func (t *translator) typesOf(s *jsonschema.Schema, property string) []string {
	var types []string
	t.alike(s, func(s *jsonschema.Schema) {
		if types == nil {
			t.alike(s.Properties[property], func(p *jsonschema.Schema) {
				if h := t.schema.hooks[p]; types == nil && h != nil {
					types = h.types
				}
			})
		}
	})
	return types
}

// alike visits a subschema and those that apply to the same value. Their
// number is bounded by maxExpansion.
func (t *translator) alike(s *jsonschema.Schema, visit func(*jsonschema.Schema)) {
	seen := make(map[*jsonschema.Schema]bool)
	var walk func(*jsonschema.Schema)
	walk = func(s *jsonschema.Schema) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		visit(s)
		for _, sub := range inPlace(s) {
			walk(sub)
		}
	}
	walk(s)
}

func orList(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + " or " + items[len(items)-1]
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func properties(n int) string {
	if n == 1 {
		return "1 property"
	}
	return strconv.Itoa(n) + " properties"
}

func fits(n int) string {
	switch n {
	case 0:
		return "no item fits"
	case 1:
		return "1 item fits"
	}
	return fmt.Sprintf("%d items fit", n)
}

// number writes an exact number as people do.
func number(r *big.Rat) string {
	if r.IsInt() {
		return clip(r.Num().String(), maxShownValue)
	}
	return strings.TrimRight(clip(r.FloatString(10), maxShownValue), "0")
}

func gotValue(v any, name string) string {
	switch v.(type) {
	case string, json.Number, bool:
		return typeName(v) + " " + shown(v)
	}
	return name
}

func shown(v any) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case json.Number:
		return clip(string(v), maxShownValue)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return typeName(v)
	}
	return plain(clip(string(raw), maxShownValue))
}

// quote shows a text on one line: controls and invisible characters escaped.
func quote(s string) string { return strconv.Quote(clip(s, maxShownValue)) }

// plain shows a text without quotes where it is harmless.
func plain(s string) string {
	q := strconv.Quote(s)
	if q = q[1 : len(q)-1]; strings.ReplaceAll(strings.ReplaceAll(q, `\"`, `"`), `\\`, `\`) == s {
		return s
	}
	return q
}
