package dialect

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Settings are the parameters of a request that not every API has. Zero fields are not
// given.
type Settings struct {
	TopK                        *int
	MinP                        *float64
	Frequency, Presence, Repeat *float64
	LogitBias                   map[string]float64
	// Verbosity is low, medium or high, Tier the class of service in the API's own word.
	Verbosity string
	Tier      string
	// User and SafetyID identify the end user, and CacheKey groups requests that begin alike.
	User, SafetyID, CacheKey string
	// ThinkTokens bounds the reasoning; Effort is the level that it amounts to.
	ThinkTokens int
}

// Tuned reports whether the request has parameters that a provider may leave out.
func (r *Request) Tuned() bool {
	return r.Temperature != nil || r.TopP != nil || r.Seed != nil || len(r.Stop) > 0 || !reflect.ValueOf(r.Settings).IsZero()
}

// settingsBody are the parameters that chat completions, completions and responses share,
// with those that other servers have added to OpenAI's.
type settingsBody struct {
	Temperature *float64           `json:"temperature"`
	TopP        *float64           `json:"top_p"`
	TopK        *int               `json:"top_k"`
	MinP        *float64           `json:"min_p"`
	Seed        *int64             `json:"seed"`
	Stop        json.RawMessage    `json:"stop"`
	Frequency   *float64           `json:"frequency_penalty"`
	Presence    *float64           `json:"presence_penalty"`
	Repeat      *float64           `json:"repeat_penalty"`
	Repetition  *float64           `json:"repetition_penalty"` // vLLM's name of it
	LogitBias   map[string]float64 `json:"logit_bias"`
	Verbosity   string             `json:"verbosity"`
	Tier        string             `json:"service_tier"`
	User        string             `json:"user"`
	SafetyID    string             `json:"safety_identifier"`
	CacheKey    string             `json:"prompt_cache_key"`
}

// settings returns the parameters without those that have fields of their own in [Request].
// A penalty that changes nothing counts as not given.
func (in *settingsBody) settings() Settings {
	repeat := in.Repeat
	if repeat == nil {
		repeat = in.Repetition
	}
	return Settings{
		TopK: in.TopK, MinP: unless(in.MinP, 0), Frequency: unless(in.Frequency, 0), Presence: unless(in.Presence, 0),
		Repeat: unless(repeat, 1), LogitBias: in.LogitBias, Verbosity: in.Verbosity, Tier: in.Tier,
		User: in.User, SafetyID: in.SafetyID, CacheKey: in.CacheKey,
	}
}

// unless returns the number, or nil if it has the value that changes nothing.
func unless(n *float64, neutral float64) *float64 {
	if n != nil && *n == neutral {
		return nil
	}
	return n
}

// checkSettings holds the parameters of a dialect's request against their ranges.
func checkSettings(n Name, s *Settings) *FieldError {
	for _, c := range []struct {
		param       string
		value       *float64
		least, most float64
	}{
		{"min_p", s.MinP, 0, 1}, {"frequency_penalty", s.Frequency, -2, 2}, {"presence_penalty", s.Presence, -2, 2},
		{"repeat_penalty", s.Repeat, 0, 10},
	} {
		if c.value != nil && !(*c.value >= c.least && *c.value <= c.most) {
			return wrong(n.Field(c.param), fmt.Sprintf("has to be between %g and %g", c.least, c.most))
		}
	}
	for token, bias := range s.LogitBias {
		if problem := badName(token); problem != "" || !(bias >= -100 && bias <= 100) {
			return wrong(n.Field("logit_bias"), "has to be an object of numbers between -100 and 100 by the numbers of tokens")
		}
	}
	if len(s.LogitBias) > maxBias {
		return wrong(n.Field("logit_bias"), fmt.Sprintf("has more than %d tokens", maxBias))
	}
	for _, c := range []struct{ param, value string }{
		{"service_tier", s.Tier}, {"user", s.User}, {"safety_identifier", s.SafetyID}, {"prompt_cache_key", s.CacheKey},
	} {
		if problem := badID(c.value); problem != "" {
			return wrong(n.Field(c.param), problem)
		}
	}
	return nil
}

// maxBias is more tokens than OpenAI takes, and maxID bounds an identifier: Claude Code's have
// some hundred bytes.
const (
	maxBias = 1024
	maxID   = 2 << 10
)

func badID(s string) string {
	if len(s) > maxID {
		return fmt.Sprintf("is longer than %d bytes", maxID)
	}
	return badName(s[:min(len(s), maxName)])
}

// checkWord refuses a word that is not among those that are known, as OpenAI's API does.
func checkWord(field, word string, known ...string) *FieldError {
	if word == "" || slices.Contains(known, word) {
		return nil
	}
	err := wrong(field, "invalid value: '"+clean(word)+"'. Supported values are: '"+strings.Join(known, "', '")+"'")
	err.Code = "invalid_value"
	return err
}

// Efforts returns the levels of reasoning that requests may name, weakest first.
func Efforts() []string { return []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"} }

// Field is the name that a dialect has for a parameter, which is given by its name in OpenAI's
// chat completions. Names that the dialect does not have stay as they are.
func (n Name) Field(param string) string {
	if field := fieldNames()[n][param]; field != "" {
		return field
	}
	if n == Ollama && slices.Contains(ollamaOptionNames(), param) {
		return "options." + param
	}
	return param
}

// Field is [Name.Field] for a request: of the ways in which Anthropic's API asks for
// reasoning, it is the one that was used.
func (r *Request) Field(param string) string {
	switch {
	case r.Dialect != Anthropic || param != "effort":
	case r.ThinkTokens > 0:
		return "thinking.budget_tokens"
	case r.Effort == "":
		return "thinking"
	}
	return r.Dialect.Field(param)
}

// ollamaOptionNames are the parameters that Ollama has in the object options.
func ollamaOptionNames() []string {
	return []string{
		"temperature", "top_p", "top_k", "min_p", "seed", "stop", "frequency_penalty", "presence_penalty", "repeat_penalty",
	}
}

func fieldNames() map[Name]map[string]string {
	return map[Name]map[string]string{
		OpenAI: {
			"effort": "reasoning_effort", "tools.strict": "tools[].function.strict", "messages.name": "messages[].name",
			"format.name": "response_format.json_schema.name", "format.description": "response_format.json_schema.description",
		},
		Responses: {
			"effort": "reasoning.effort", "tools.strict": "tools[].strict", "verbosity": "text.verbosity",
			"format.name": "text.format.name", "format.description": "text.format.description",
		},
		Anthropic: {
			"effort": "output_config.effort", "tools.strict": "tools[].strict", "stop": "stop_sequences",
			"user": "metadata.user_id", "parallel_tool_calls": "tool_choice.disable_parallel_tool_use",
		},
		Ollama: {"effort": "think"},
		AISDK: {
			"top_p": "topP", "top_k": "topK", "stop": "stopSequences", "frequency_penalty": "frequencyPenalty",
			"presence_penalty": "presencePenalty",
		},
	}
}

// unread reports as ignored the members of an object that the struct into has no field for.
// Members that are null or an empty list are not given. field is the object's name with a dot, or empty.
func (r *Request) unread(field string, raw json.RawMessage, into any) {
	for _, name := range unknownMembers(raw, into) {
		r.ignoreOnce(field + clean(name))
	}
}

// maxUnread bounds how many members of a request are reported.
const maxUnread = 100

// unknownMembers returns the names of an object's members that a struct has no field for, and
// that are given.
func unknownMembers(raw []byte, into any) []string {
	known := jsonNames(reflect.TypeOf(into))
	var out []string
	for name, given := range memberNames(raw) {
		if given && !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
			out = append(out, name)
		}
	}
	return out
}

// jsonNames returns the names of a struct's fields in JSON, with those of embedded structs.
func jsonNames(t reflect.Type) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var names []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name != "":
			names = append(names, name)
		case f.Anonymous:
			names = append(names, jsonNames(f.Type)...)
		}
	}
	return names
}

// memberNames yields the names of the members of an object, and whether each is something
// other than null or an empty list. The JSON is valid; its values are not decoded.
func memberNames(raw []byte) func(yield func(name string, given bool) bool) {
	return func(yield func(string, bool) bool) {
		depth, key, value := 0, "", false
		for i := 0; i < len(raw); i++ {
			switch c := raw[i]; c {
			case '"':
				end := i + 1
				for end < len(raw) && raw[end] != '"' {
					if raw[end] == '\\' {
						end++
					}
					end++
				}
				if depth == 1 && !value && end < len(raw) {
					key = ""
					_ = json.Unmarshal(raw[i:end+1], &key) // it is valid
				}
				i = end
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			case ',':
				value = value && depth > 1
			case ':':
				if depth == 1 {
					value = true
					rest := strings.TrimLeft(string(raw[i+1:min(len(raw), i+16)]), " \t\r\n")
					if !yield(key, !strings.HasPrefix(rest, "null") && !strings.HasPrefix(rest, "[]")) {
						return
					}
				}
			}
		}
	}
}
