package record

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Marshal returns the JSON of v without the escaping that is meant for HTML.
func Marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte{'\n'}), nil
}

// IsObject reports whether raw is a valid JSON object.
func IsObject(raw json.RawMessage) bool {
	return json.Valid(raw) && strings.HasPrefix(strings.TrimLeft(string(raw), " \t\r\n"), "{")
}
