package chatcompletions

import "encoding/json"

// maxStrictDepth is how deep OpenAI's strict mode lets a schema nest.
const maxStrictDepth = 10

// strictSchema reports whether a schema obeys the rules of strict mode, in which
// OpenAI enforces it and otherwise refuses it: every object lists all its
// properties as required and allows no others.
func strictSchema(schema json.RawMessage) bool {
	var s any
	if json.Unmarshal(schema, &s) != nil {
		return false
	}
	root, ok := s.(map[string]any)
	return ok && root["type"] == "object" && strictNode(root, 0)
}

// strictNode checks one schema and all below it.
func strictNode(node any, depth int) bool {
	s, ok := node.(map[string]any)
	if !ok || depth > maxStrictDepth {
		return false
	}
	if props, isObject := s["properties"].(map[string]any); isObject || s["type"] == "object" {
		required, _ := s["required"].([]any)
		if s["additionalProperties"] != false || len(required) != len(props) {
			return false
		}
		for _, p := range props {
			if !strictNode(p, depth+1) {
				return false
			}
		}
	}
	for key, value := range s {
		switch key {
		case "items":
			if !strictNode(value, depth+1) {
				return false
			}
		case "anyOf":
			list, _ := value.([]any)
			for _, v := range list {
				if !strictNode(v, depth+1) {
					return false
				}
			}
		case "$defs", "definitions":
			defs, _ := value.(map[string]any)
			for _, v := range defs {
				if !strictNode(v, depth+1) {
					return false
				}
			}
		case "allOf", "oneOf", "not", "if", "then", "else", "patternProperties", "dependentSchemas", "dependentRequired":
			return false
		}
	}
	return true
}
