package dialect

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

// What a request may be. The bounds are far above what clients send, and low
// enough that one request can't fill the memory or a model's context many times.
const (
	// MaxBody bounds a body: a few images in base64, and a long conversation.
	MaxBody = 64 << 20
	// maxMessages and maxParts bound a conversation; the longest chats that
	// people keep have some thousand messages.
	maxMessages = 10_000
	maxParts    = 2_000
	// maxTools is twice what OpenAI takes.
	maxTools = 256
	// maxSchema bounds one JSON Schema, and maxArgs a call's arguments.
	maxSchema = 256 << 10
	maxArgs   = 4 << 20
	// maxName bounds names and ids: OpenAI's are 64 characters, AI SDK's are
	// whatever the program makes of them.
	maxName = 256
	// maxDescription bounds the text that tells a model of a tool.
	maxDescription = 64 << 10
	// maxImage and maxImages bound what a provider would refuse anyway.
	maxImage  = 20 << 20
	maxImages = 100
	maxURL    = 8 << 10
	maxStop   = 16
	maxStops  = 1 << 10
	// maxDepth bounds nesting: schemas nest a dozen deep, and each level of an
	// adversary's costs stack.
	maxDepth = 200
	// maxItems bounds any one list and maxValues all values of a body: what is
	// two bytes of JSON may be two hundred when it is decoded.
	maxItems  = 100_000
	maxValues = 500_000
)

func sizeText(n int) string { return strconv.Itoa(n>>20) + " MiB" }

// checkShape refuses what no client needs, before anything recurses or grows:
// deep nesting, and lists and bodies of very many values.
func checkShape(body []byte) *FieldError {
	var counts [maxDepth + 1]int // values of the open lists and objects
	depth, values, quoted := 0, 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return wrong("", fmt.Sprintf("the JSON is nested deeper than %d", maxDepth))
			}
			counts[depth] = 0
			values++
		case c == '}' || c == ']':
			depth = max(0, depth-1)
		case c == ',':
			counts[depth]++
			values++
			if counts[depth] >= maxItems || values > maxValues {
				return wrong("", "the JSON holds too many values")
			}
		}
	}
	return nil
}

// read decodes JSON into v and says in which field it isn't what it should be.
func read(field string, raw json.RawMessage, v any) *FieldError {
	if len(raw) == 0 {
		return wrong(field, isMissing)
	}
	err := json.Unmarshal(raw, v)
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &kind):
		at := field
		if kind.Field != "" {
			at = strings.TrimPrefix(field+"."+kind.Field, ".")
		}
		return wrong(at, "a JSON "+kind.Value+" was given where "+wanted(kind)+" is needed")
	}
	problem := "is not JSON: " + strings.TrimPrefix(err.Error(), "json: ")
	if field == "" {
		problem = "the body " + problem
	}
	return wrong(field, problem)
}

func wanted(e *json.UnmarshalTypeError) string {
	switch e.Type.Kind().String() {
	case "string":
		return "a string"
	case "bool":
		return "true or false"
	case "slice", "array":
		return "a list"
	case "map", "struct", "ptr":
		return "an object"
	}
	return "a number"
}

// null tells JSON that says nothing.
func null(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// first non-space byte of JSON, to tell its kind.
func begins(raw json.RawMessage) byte {
	if s := strings.TrimLeft(string(raw[:min(len(raw), 64)]), " \t\r\n"); s != "" {
		return s[0]
	}
	return 0
}

func isObject(raw json.RawMessage) bool { return begins(raw) == '{' }

func item(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }

// clean returns a client's text as one line for a message.
func clean(s string) string {
	const most = 500
	return sanitize.Cut(sanitize.Line(s), most)
}

// words returns what a user wrote for the model: kept as it is, but for what could steer a
// terminal or hide a part of the text.
func words(s string) string {
	const most = 4 << 10
	return sanitize.Cut(sanitize.Text(s), most)
}

// check holds a decoded request against the limits.
func check(r *Request) *FieldError {
	if len(r.Messages) > maxMessages {
		return wrong("messages", fmt.Sprintf("there are more than %d", maxMessages))
	}
	images := 0
	for i, m := range r.Messages {
		if len(m.Parts) > maxParts {
			return wrong(item("messages", i), fmt.Sprintf("it has more than %d parts", maxParts))
		}
		for _, p := range m.Parts {
			if p.Kind == Image {
				images++
			}
			for _, name := range p.unread {
				r.ignoreOnce("messages[].content[]." + name)
			}
			if err := checkPart(p); err != "" {
				return wrong(item("messages", i), err)
			}
		}
	}
	if images > maxImages {
		return wrong("messages", fmt.Sprintf("there are more than %d images", maxImages))
	}
	for _, s := range []struct{ field, value string }{
		{"model", r.Model}, {"id", r.ThreadID}, {"runId", r.RunID}, {"parentRunId", r.ParentRunID},
		{"previous_response_id", r.PreviousID}, {"messageId", r.MessageID}, {"trigger", r.Trigger},
		{"interaction_type", r.Interaction}, {"reasoning_effort", r.Effort},
	} {
		if problem := badName(s.value); problem != "" {
			return wrong(s.field, problem)
		}
	}
	if err := checkNumbers(r); err != nil {
		return err
	}
	if err := checkWord(r.Dialect.Field("effort"), r.Effort, Efforts()...); err != nil {
		return err
	}
	if err := checkWord(r.Dialect.Field("verbosity"), r.Verbosity, "low", "medium", "high"); err != nil {
		return err
	}
	return checkTools(r)
}

func checkPart(p Part) string {
	switch {
	case len(p.Data) > maxImage:
		return "a file is larger than " + sizeText(maxImage)
	case len(p.Details) > maxArgs:
		return "the details of reasoning are longer than " + sizeText(maxArgs)
	case len(p.URL) > maxURL:
		return fmt.Sprintf("an address is longer than %d bytes", maxURL)
	case p.Call != nil && len(p.Call.Args) > maxArgs:
		return "a call's arguments are longer than " + sizeText(maxArgs)
	case p.Call != nil && !isObject(p.Call.Args):
		return "the arguments of the call " + p.Call.Name + " are no JSON object"
	}
	names := []string{p.Name, p.MIME}
	if p.Call != nil {
		names = append(names, p.Call.ID, p.Call.Name)
	}
	if p.Result != nil {
		names = append(names, p.Result.ID, p.Result.Name)
	}
	for _, n := range names {
		if problem := badName(n); problem != "" {
			return "a name " + problem
		}
	}
	return ""
}

// badName says what is wrong with a name or an id; they come back in frames,
// logs and headers.
func badName(s string) string {
	switch {
	case len(s) > maxName:
		return fmt.Sprintf("is longer than %d bytes", maxName)
	case strings.ContainsFunc(s, unicode.IsControl):
		return "holds control characters"
	}
	return ""
}

func checkNumbers(r *Request) *FieldError {
	for _, n := range []struct {
		field string
		value *float64
		most  float64
	}{{"temperature", r.Temperature, 2}, {"top_p", r.TopP, 1}} {
		if n.value != nil && (*n.value < 0 || *n.value > n.most) {
			return wrong(n.field, fmt.Sprintf("has to be between 0 and %g", n.most))
		}
	}
	const most = 100_000_000 // no model has a context of that
	if r.MaxTokens < 0 || r.MaxTokens > most {
		return wrong("max_tokens", "is no number of tokens")
	}
	if err := checkSettings(r.Dialect, &r.Settings); err != nil {
		return err
	}
	if len(r.Stop) > maxStop {
		return wrong("stop", fmt.Sprintf("there are more than %d", maxStop))
	}
	for _, s := range r.Stop {
		if len(s) > maxStops {
			return wrong("stop", fmt.Sprintf("one is longer than %d bytes", maxStops))
		}
	}
	return nil
}

func checkTools(r *Request) *FieldError {
	if len(r.Tools) > maxTools {
		return wrong("tools", fmt.Sprintf("there are more than %d", maxTools))
	}
	seen := map[string]bool{}
	for i := range r.Tools {
		t := &r.Tools[i]
		field := item("tools", i)
		problem := badName(t.Name)
		switch {
		case t.Name == "":
			problem = "has no name"
		case seen[t.Name]:
			problem = "there is another tool named " + t.Name
		case len(t.Description) > maxDescription:
			problem = fmt.Sprintf("the description is longer than %d bytes", maxDescription)
		}
		if problem != "" {
			return wrong(field, problem)
		}
		seen[t.Name] = true
		schema, err := schemaOf(field, t.Schema)
		if err != nil {
			return err
		}
		t.Schema = schema
	}
	if r.Choice.Mode == "tool" && !seen[r.Choice.Name] {
		return wrong("tool_choice", "no tool is named "+r.Choice.Name)
	}
	if r.Format != nil && !null(r.Format.Schema) {
		if _, err := schemaOf("response_format", r.Format.Schema); err != nil {
			return err
		}
	}
	return nil
}

// schemaOf gives a tool's schema, and one that takes nothing where it has none.
func schemaOf(field string, raw json.RawMessage) (json.RawMessage, *FieldError) {
	switch {
	case null(raw):
		return json.RawMessage(`{"type":"object","properties":{}}`), nil
	case len(raw) > maxSchema:
		return nil, wrong(field, fmt.Sprintf("the schema is longer than %d bytes", maxSchema))
	case !isObject(raw):
		return nil, wrong(field, "the schema is not a JSON object")
	}
	return raw, nil
}

// argsOf gives a call's arguments, which clients send as text or as an object.
func argsOf(field string, raw json.RawMessage) (json.RawMessage, *FieldError) {
	if null(raw) {
		return json.RawMessage("{}"), nil
	}
	if begins(raw) == '"' {
		var text string
		if err := read(field, raw, &text); err != nil {
			return nil, err
		}
		if strings.TrimSpace(text) == "" {
			text = "{}"
		}
		raw = json.RawMessage(text)
	}
	if !isObject(raw) || !json.Valid(raw) {
		return nil, wrong(field, "is not a JSON object")
	}
	return raw, nil
}

// stringsOf reads a string or a list of them.
func stringsOf(field string, raw json.RawMessage) ([]string, *FieldError) {
	if null(raw) {
		return nil, nil
	}
	if begins(raw) == '"' {
		var one string
		err := read(field, raw, &one)
		return []string{one}, err
	}
	var many []string
	err := read(field, raw, &many)
	return many, err
}

func textPart(s string) Part { return Part{Kind: Text, Text: s} }
