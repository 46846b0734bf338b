package clientconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v4"

	"github.com/fettle-cli/fettle/internal/strictyaml"
)

const (
	// maxDepth bounds how deep values may be nested; real files need about six levels.
	maxDepth = 60
	// maxValues bounds the values of a file, since aliases of YAML can multiply them.
	maxValues = 200_000
)

// kind is what a value is.
type kind string

const (
	nullKind   kind = "null"
	textKind   kind = "a text"
	numberKind kind = "a number"
	boolKind   kind = "true or false"
	listKind   kind = "a list"
	objectKind kind = "an object"
)

// value is one value of a file. text is a scalar as it is written there.
type value struct {
	kind   kind
	text   string
	list   []*value
	fields map[string]*value
}

// scalar reports whether the value is a text, a number or a boolean.
func (v *value) scalar() bool {
	return v.kind == textKind || v.kind == numberKind || v.kind == boolKind
}

// empty reports whether the value has no content that could be left out.
func (v *value) empty() bool {
	switch v.kind {
	case nullKind:
		return true
	case boolKind:
		return v.text == "false"
	case listKind:
		return len(v.list) == 0
	case objectKind:
		return len(v.fields) == 0
	}
	return v.text == ""
}

// short returns the value on one line, as a note shows it: objects by their keys.
func (v *value) short() string {
	switch v.kind {
	case listKind:
		words := make([]string, len(v.list))
		for i, e := range v.list {
			words[i] = e.short()
		}
		return strings.Join(words, ", ")
	case objectKind:
		return strings.Join(slices.Sorted(maps.Keys(v.fields)), ", ")
	case nullKind:
		return "null"
	}
	return v.text
}

// decoder makes values and collects what is to be noted of the file as a whole.
type decoder struct {
	values int
	notes  []string
}

// count bounds the number and the depth of values.
func (d *decoder) count(depth int) error {
	if d.values++; d.values > maxValues {
		return fmt.Errorf("more than %d values", maxValues)
	}
	if depth > maxDepth {
		return fmt.Errorf("more than %d levels of nesting", maxDepth)
	}
	return nil
}

// put adds a field; of two with one name the later counts, as in the programs that
// write such files.
func (d *decoder) put(v *value, name string, field *value) {
	if _, twice := v.fields[name]; twice {
		d.notes = append(d.notes, fmt.Sprintf("the key %q occurs twice; the last one counts", name))
	}
	v.fields[name] = field
}

// decode reads a file in the format that its name and its first byte suggest.
func (d *decoder) decode(raw []byte, name string) (*value, error) {
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	switch ext := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:]); {
	case ext == "toml":
		return d.toml(raw)
	case ext == "yaml" || ext == "yml":
		return d.yaml(raw)
	}
	return d.json(raw)
}

// json reads JSON with comments.
func (d *decoder) json(raw []byte) (*value, error) {
	raw = withoutComments(raw)
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	v, err := d.jsonValue(dec, 0)
	if err == nil {
		if _, more := dec.Token(); more != io.EOF {
			err = errors.New("text after the end")
		}
	}
	if err != nil {
		line := 1 + bytes.Count(raw[:min(int(dec.InputOffset()), len(raw))], []byte("\n"))
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("invalid JSON in line %d: %w", line, err)
	}
	return v, nil
}

func (d *decoder) jsonValue(dec *json.Decoder, depth int) (*value, error) {
	if err := d.count(depth); err != nil {
		return nil, err
	}
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case string:
		return &value{kind: textKind, text: t}, nil
	case json.Number:
		return &value{kind: numberKind, text: t.String()}, nil
	case bool:
		return &value{kind: boolKind, text: strconv.FormatBool(t)}, nil
	case json.Delim:
		if t == '[' {
			return d.jsonList(dec, depth)
		}
		return d.jsonObject(dec, depth)
	}
	return &value{kind: nullKind}, nil
}

func (d *decoder) jsonList(dec *json.Decoder, depth int) (*value, error) {
	v := &value{kind: listKind}
	for dec.More() {
		e, err := d.jsonValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		v.list = append(v.list, e)
	}
	_, err := dec.Token()
	return v, err
}

func (d *decoder) jsonObject(dec *json.Decoder, depth int) (*value, error) {
	v := &value{kind: objectKind, fields: map[string]*value{}}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		e, err := d.jsonValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		d.put(v, key.(string), e) // the decoder returns no other key
	}
	_, err := dec.Token()
	return v, err
}

// yaml reads YAML; of several documents, the first.
func (d *decoder) yaml(raw []byte) (*value, error) {
	top, p := strictyaml.Parse(raw, strictyaml.Options{Subject: "a configuration", MaxDepth: maxDepth})
	if p != nil && p.Kind != strictyaml.Second {
		return nil, fmt.Errorf("invalid YAML: %w", p)
	}
	if top == nil {
		return &value{kind: nullKind}, nil
	}
	return d.yamlValue(top, 0)
}

func (d *decoder) yamlValue(n *yaml.Node, depth int) (*value, error) {
	if err := d.count(depth); err != nil {
		return nil, fmt.Errorf("line %d: %w", n.Line, err)
	}
	switch n.Kind {
	case yaml.AliasNode:
		return d.yamlValue(n.Alias, depth+1)
	case yaml.SequenceNode:
		v := &value{kind: listKind}
		for _, c := range n.Content {
			e, err := d.yamlValue(c, depth+1)
			if err != nil {
				return nil, err
			}
			v.list = append(v.list, e)
		}
		return v, nil
	case yaml.MappingNode:
		v := &value{kind: objectKind, fields: map[string]*value{}}
		for i := 0; i+1 < len(n.Content); i += 2 {
			e, err := d.yamlValue(n.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			d.put(v, n.Content[i].Value, e)
		}
		return v, nil
	}
	switch n.ShortTag() {
	case "!!null":
		return &value{kind: nullKind}, nil
	case "!!bool":
		return &value{kind: boolKind, text: strings.ToLower(n.Value)}, nil
	case "!!int", "!!float":
		return &value{kind: numberKind, text: n.Value}, nil
	}
	return &value{kind: textKind, text: n.Value}, nil
}

// toml reads TOML, as Codex writes it.
func (d *decoder) toml(raw []byte) (*value, error) {
	var top map[string]any
	if err := toml.Unmarshal(raw, &top); err != nil {
		return nil, fmt.Errorf("invalid TOML: %w", err)
	}
	return d.tomlValue(top, 0)
}

func (d *decoder) tomlValue(in any, depth int) (*value, error) {
	if err := d.count(depth); err != nil {
		return nil, err
	}
	switch in := in.(type) {
	case map[string]any:
		v := &value{kind: objectKind, fields: map[string]*value{}}
		for name, field := range in {
			e, err := d.tomlValue(field, depth+1)
			if err != nil {
				return nil, err
			}
			v.fields[name] = e
		}
		return v, nil
	case []any:
		v := &value{kind: listKind}
		for _, item := range in {
			e, err := d.tomlValue(item, depth+1)
			if err != nil {
				return nil, err
			}
			v.list = append(v.list, e)
		}
		return v, nil
	case string:
		return &value{kind: textKind, text: in}, nil
	case bool:
		return &value{kind: boolKind, text: strconv.FormatBool(in)}, nil
	case int64:
		return &value{kind: numberKind, text: strconv.FormatInt(in, 10)}, nil
	case float64:
		return &value{kind: numberKind, text: strconv.FormatFloat(in, 'f', -1, 64)}, nil
	case time.Time:
		return &value{kind: textKind, text: in.Format(time.RFC3339Nano)}, nil
	}
	return &value{kind: textKind, text: fmt.Sprint(in)}, nil // local dates and times
}
