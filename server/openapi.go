package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/engine/fault"
)

type object = map[string]any

// openAPI writes the description of a list of routes, in OpenAPI 3.1.
func openAPI(list []route, version string) []byte {
	d := &describer{schemas: object{}, names: map[reflect.Type]string{}}
	paths := map[string]object{}
	for i := range list {
		r := &list[i]
		p := wildcard(r.path)
		if paths[p] == nil {
			paths[p] = object{}
		}
		paths[p][strings.ToLower(r.method)] = d.operation(r)
	}
	var codes []string
	for _, c := range fault.Codes() {
		codes = append(codes, fmt.Sprintf("`%s` (%d): %s", c, c.Status(), c.Meaning()))
	}
	doc := object{
		"openapi": "3.1.0",
		"info": object{
			"title": "fettle", "version": version,
			"description": "Turns, chats, files, tools and models of fettle. A failure is an object `error` whose `code` is one of:\n\n" +
				strings.Join(codes, "\n\n"),
		},
		"paths":    paths,
		"security": []object{{"token": []string{}}},
		"components": object{
			"schemas":         d.schemas,
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}},
		},
	}
	d.of(reflect.TypeFor[errorJSON]())
	d.turnEvents()
	raw, err := json.MarshalIndent(doc, "", " ")
	if err != nil { // it is made of strings, numbers and lists
		return []byte("{}")
	}
	return append(raw, '\n')
}

var wildcards = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{(\w+)(?:\.\.\.)?\}|\{\$\}`) })

// wildcard turns the mux's way to write parameters into OpenAPI's.
func wildcard(path string) string {
	return wildcards().ReplaceAllStringFunc(path, func(w string) string {
		if w == "{$}" {
			return ""
		}
		return strings.Replace(w, "...", "", 1)
	})
}

// describer makes JSON Schemas of types.
type describer struct {
	schemas object
	names   map[reflect.Type]string
	// taken is set while a request's body is described: a pointer in one tells that
	// something was left out, which null does in an answer.
	taken bool
}

func (d *describer) operation(r *route) object {
	op := object{"operationId": r.op, "summary": r.summary, "tags": []string{r.tag}, "responses": d.responses(r)}
	if params := parameters(r); len(params) > 0 {
		op["parameters"] = params
	}
	if r.public {
		op["security"] = []object{}
	}
	content := object{}
	switch {
	case r.body != nil:
		d.taken = true
		content["application/json"] = object{"schema": d.of(reflect.TypeOf(r.body))}
		d.taken = false
	default:
		for _, kind := range r.takes {
			content[kind] = object{}
		}
	}
	if len(content) > 0 {
		op["requestBody"] = object{"content": content, "required": r.body == nil}
	}
	return op
}

func parameters(r *route) []object {
	var out []object
	for _, m := range wildcards().FindAllStringSubmatch(r.path, -1) {
		if m[1] != "" {
			out = append(out, object{"name": m[1], "in": "path", "required": true, "schema": object{"type": "string"}})
		}
	}
	for _, p := range r.query {
		kind := p.kind
		if kind == "" {
			kind = "string"
		}
		out = append(out, object{"name": p.name, "in": "query", "description": p.about, "schema": object{"type": kind}})
	}
	return out
}

func (d *describer) responses(r *route) object {
	status := r.status
	if status == 0 {
		status = http.StatusOK
	}
	success := object{"description": "success"}
	switch {
	case r.gives != nil && r.media != "":
		success["content"] = object{r.media: object{"schema": d.of(reflect.TypeOf(r.gives))}}
	case r.gives != nil:
		success["content"] = object{"application/json": object{"schema": d.of(reflect.TypeOf(r.gives))}}
	case r.media != "":
		success["content"] = object{r.media: object{}}
	}
	out := object{strconv.Itoa(status): success, "default": object{
		"description": "failure",
		"content":     object{"application/json": object{"schema": object{"$ref": "#/components/schemas/error"}}},
	}}
	for _, code := range r.maybe {
		out[strconv.Itoa(code)] = object{"description": http.StatusText(code)}
	}
	return out
}

// of is the schema of a type, by reference where it is a struct of a name.
func (d *describer) of(t reflect.Type) object {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[json.RawMessage]():
		return object{}
	case t.Implements(reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()):
		return object{"type": "string"}
	}
	switch t.Kind() {
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return object{"type": "integer"}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return object{"type": "string", "contentEncoding": "base64"}
		}
		return object{"type": "array", "items": d.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": d.of(t.Elem())}
	case reflect.Struct:
		return d.named(t)
	}
	return object{}
}

func (d *describer) named(t reflect.Type) object {
	ref := func(name string) object { return object{"$ref": "#/components/schemas/" + name} }
	if name, ok := d.names[t]; ok {
		return ref(name)
	}
	name := strings.TrimSuffix(strings.TrimSuffix(t.Name(), "JSON"), "Body")
	if name == "" {
		return d.fields(t)
	}
	for d.schemas[name] != nil {
		name += "_"
	}
	d.names[t] = name
	d.schemas[name] = object{} // for a type that holds itself
	d.schemas[name] = d.fields(t)
	return ref(name)
}

func (d *describer) fields(t reflect.Type) object {
	props, required := object{}, []string{}
	d.addFields(t, props, &required)
	out := object{"type": "object", "properties": props}
	if len(required) > 0 {
		slices.Sort(required)
		out["required"] = required
	}
	return out
}

// addFields follows encoding/json's rules: names by tags, embedded structs flat.
func (d *describer) addFields(t reflect.Type, props object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case name == "-":
			continue
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			d.addFields(inner, props, required)
			continue
		case !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		props[name] = d.of(f.Type)
		if strings.Contains(rest, "omit") {
			continue
		}
		*required = append(*required, name)
		if f.Type.Kind() == reflect.Pointer && !d.taken {
			props[name] = object{"anyOf": []object{d.of(f.Type), {"type": "null"}}}
		}
	}
}
