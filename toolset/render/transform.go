package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/internal/record"
)

// maxDepth bounds how deep a config may be; people write two or three levels.
const maxDepth = 64

// errTooDeep is a config that nobody wrote by hand.
var errTooDeep = fmt.Errorf("it is nested more than %d levels deep", maxDepth)

// transform rebuilds a document with each string value replaced by what the
// function makes of it; nil leaves it. Keys, their order, and all other values
// stay as they are.
func transform(raw json.RawMessage, depth int, each func(string) json.RawMessage) (json.RawMessage, error) {
	if depth > maxDepth {
		return nil, errTooDeep
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return nil, errors.New("it is empty")
	}
	switch raw[0] {
	case '"':
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, err
		}
		if made := each(s); made != nil {
			return made, nil
		}
	case '{', '[':
		return transformInside(raw, depth, each)
	}
	if !json.Valid(raw) {
		return nil, errors.New("it is no JSON")
	}
	return raw, nil
}

// transformInside does an object or a list.
func transformInside(raw json.RawMessage, depth int, each func(string) json.RawMessage) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	open, err := dec.Token()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprint(&out, open)
	for n := 0; dec.More(); n++ {
		if n > 0 {
			out.WriteByte(',')
		}
		if open == json.Delim('{') {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			out.Write(encode(key))
			out.WriteByte(':')
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		if value, err = transform(value, depth+1, each); err != nil {
			return nil, err
		}
		out.Write(value)
	}
	end, err := dec.Token()
	if err != nil {
		return nil, err
	}
	fmt.Fprint(&out, end)
	if dec.More() {
		return nil, errors.New("something stands behind it")
	}
	return out.Bytes(), nil
}

// encode is the JSON of a plain value, without HTML's escapes: a plan is JSON
// and nothing else, and [Inject] escapes what goes into a page.
func encode(v any) json.RawMessage {
	raw, err := record.Marshal(v)
	if err != nil { // of strings and lists of them: never
		return json.RawMessage("null")
	}
	return raw
}

// compact is a document without white space and with valid UTF-8.
func compact(raw json.RawMessage) string {
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil {
		return ""
	}
	return strings.ToValidUTF8(out.String(), "�")
}
