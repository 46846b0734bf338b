package provider

import "slices"

// Sampling is what decides which words come, apart from the temperature. Zero fields are not
// given.
type Sampling struct {
	TopP *float64 `json:"top_p,omitempty"`
	MinP *float64 `json:"min_p,omitempty"`
	TopK *int     `json:"top_k,omitempty"`
	Seed *int64   `json:"seed,omitempty"`
	// Stop are texts at which the response ends.
	Stop []string `json:"stop,omitempty"`
	// FrequencyPenalty and PresencePenalty are added to the logits, RepeatPenalty divides
	// them.
	FrequencyPenalty *float64 `json:"frequency_penalty,omitempty"`
	PresencePenalty  *float64 `json:"presence_penalty,omitempty"`
	RepeatPenalty    *float64 `json:"repeat_penalty,omitempty"`
	// LogitBias is added to the logits of tokens, by the number of the token.
	LogitBias map[string]float64 `json:"logit_bias,omitempty"`
}

// Hints are the further wishes of a client that some providers take. Zero fields are not
// given.
type Hints struct {
	// ParallelCalls is whether a response may have more than one call; providers allow it
	// unless a request says otherwise.
	ParallelCalls *bool `json:"parallel_tool_calls,omitempty"`
	// Verbosity is how long the answer is to be: low, medium or high.
	Verbosity string `json:"verbosity,omitempty"`
	// ServiceTier is the class of service, in the provider's own word.
	ServiceTier string `json:"service_tier,omitempty"`
	// User and SafetyID identify the end user to the provider, and CacheKey groups requests
	// whose beginnings are alike.
	User     string `json:"user,omitempty"`
	SafetyID string `json:"safety_identifier,omitempty"`
	CacheKey string `json:"prompt_cache_key,omitempty"`
	// FormatName and FormatDescription describe the schema of the answer to the model.
	// FormatStrict is whether the provider has to hold the answer to it; nil leaves that to
	// the adapter.
	FormatName        string `json:"format_name,omitempty"`
	FormatDescription string `json:"format_description,omitempty"`
	FormatStrict      *bool  `json:"format_strict,omitempty"`
	// ThinkTokens bounds the reasoning, in tokens.
	ThinkTokens int `json:"think_tokens,omitempty"`
}

// The names of the parameters that a provider may leave out, as OpenAI's chat completions
// spell them where they have them.
const (
	TopPParam              = "top_p"
	TopKParam              = "top_k"
	MinPParam              = "min_p"
	SeedParam              = "seed"
	StopParam              = "stop"
	FrequencyPenaltyParam  = "frequency_penalty"
	PresencePenaltyParam   = "presence_penalty"
	RepeatPenaltyParam     = "repeat_penalty"
	LogitBiasParam         = "logit_bias"
	ParallelCallsParam     = "parallel_tool_calls"
	VerbosityParam         = "verbosity"
	ServiceTierParam       = "service_tier"
	UserParam              = "user"
	SafetyIDParam          = "safety_identifier"
	CacheKeyParam          = "prompt_cache_key"
	FormatNameParam        = "format.name"
	FormatDescriptionParam = "format.description"
	StrictParam            = "tools.strict"
	NameParam              = "messages.name"
	ThinkTokensParam       = "thinking.budget_tokens"
	ToolChoiceParam        = "tool_choice"
	PrefillParam           = "prefill" // the last message, where it is the assistant's
)

// Note says what of a request a provider left out or changed.
type Note struct {
	Text string
	// Params are the names of the parameters that the note is about; empty where it is about
	// something else.
	Params []string
}

// Announcer is a Provider that knows which parameters of a request it will leave out or
// change before it sends the request.
type Announcer interface {
	// Notes returns the footnotes about the parameters of the request. It asks no server.
	// What a refusal of the server teaches later comes with the response.
	Notes(req *Request) []Note
}

// param is one parameter of a request.
type param struct {
	name string
	// given reports whether leaving the parameter out changes anything.
	given func(*Request) bool
	drop  func(*Request)
}

func params() []param {
	return []param{
		{TopPParam, func(r *Request) bool { return r.TopP != nil }, func(r *Request) { r.TopP = nil }},
		{TopKParam, func(r *Request) bool { return r.TopK != nil }, func(r *Request) { r.TopK = nil }},
		{MinPParam, func(r *Request) bool { return r.MinP != nil }, func(r *Request) { r.MinP = nil }},
		{SeedParam, func(r *Request) bool { return r.Seed != nil }, func(r *Request) { r.Seed = nil }},
		{StopParam, func(r *Request) bool { return len(r.Stop) > 0 }, func(r *Request) { r.Stop = nil }},
		{FrequencyPenaltyParam, func(r *Request) bool { return r.FrequencyPenalty != nil }, func(r *Request) { r.FrequencyPenalty = nil }},
		{PresencePenaltyParam, func(r *Request) bool { return r.PresencePenalty != nil }, func(r *Request) { r.PresencePenalty = nil }},
		{RepeatPenaltyParam, func(r *Request) bool { return r.RepeatPenalty != nil }, func(r *Request) { r.RepeatPenalty = nil }},
		{LogitBiasParam, func(r *Request) bool { return len(r.LogitBias) > 0 }, func(r *Request) { r.LogitBias = nil }},
		{ParallelCallsParam, (*Request).oneCall, func(r *Request) { r.ParallelCalls = nil }},
		{VerbosityParam, func(r *Request) bool { return r.Verbosity != "" }, func(r *Request) { r.Verbosity = "" }},
		{ServiceTierParam, func(r *Request) bool { return r.ServiceTier != "" && r.ServiceTier != "auto" }, func(r *Request) { r.ServiceTier = "" }},
		{UserParam, func(r *Request) bool { return r.User != "" }, func(r *Request) { r.User = "" }},
		{SafetyIDParam, func(r *Request) bool { return r.SafetyID != "" }, func(r *Request) { r.SafetyID = "" }},
		{CacheKeyParam, func(r *Request) bool { return r.CacheKey != "" }, func(r *Request) { r.CacheKey = "" }},
		{FormatNameParam, func(r *Request) bool { return r.FormatName != "" }, func(r *Request) { r.FormatName = "" }},
		{FormatDescriptionParam, func(r *Request) bool { return r.FormatDescription != "" }, func(r *Request) { r.FormatDescription = "" }},
		{StrictParam, func(r *Request) bool { return slices.ContainsFunc(r.Tools, strict) }, (*Request).dropStrict},
		{NameParam, func(r *Request) bool { return slices.ContainsFunc(r.Messages, Message.named) }, (*Request).dropNames},
		{ThinkTokensParam, func(r *Request) bool { return r.ThinkTokens > 0 && r.Think != nil && *r.Think }, func(r *Request) { r.ThinkTokens = 0 }},
	}
}

// oneCall reports whether the request allows one call alone. Without tools it makes no
// difference.
func (r *Request) oneCall() bool {
	return r.ParallelCalls != nil && !*r.ParallelCalls && len(r.Tools) > 0
}

func strict(t ToolSpec) bool { return t.Strict }

func (r *Request) dropStrict() {
	r.Tools = slices.Clone(r.Tools)
	for i := range r.Tools {
		r.Tools[i].Strict = false
	}
}

// named reports whether the message names the participant who wrote it.
func (m Message) named() bool { return m.Speaker() != "" }

// Speaker returns the name of the participant who wrote a user's message; empty if there is
// none.
func (m Message) Speaker() string {
	for _, p := range m.Parts {
		if m.Role == User && p.Kind == TextPart && p.Name != "" {
			return p.Name
		}
	}
	return ""
}

func (r *Request) dropNames() {
	r.Messages = slices.Clone(r.Messages)
	for i, m := range r.Messages {
		if !m.named() {
			continue
		}
		m.Parts = slices.Clone(m.Parts)
		for j := range m.Parts {
			if m.Parts[j].Kind == TextPart {
				m.Parts[j].Name = ""
			}
		}
		r.Messages[i] = m
	}
}

// Given returns the names of the parameters of [Sampling] and [Hints], and of those of tools
// and messages, that the request has.
func (r *Request) Given() []string {
	var names []string
	for _, p := range params() {
		if p.given(r) {
			names = append(names, p.name)
		}
	}
	return names
}

// Keep returns the request with no other parameters than those that are named, and the names
// of those that were left out and would have made a difference. What the request points to
// is not changed.
func (r *Request) Keep(takes ...string) (kept *Request, left []string) {
	out := *r
	for _, p := range params() {
		if slices.Contains(takes, p.name) {
			continue
		}
		if p.given(r) {
			left = append(left, p.name)
		}
		p.drop(&out)
	}
	return &out, left
}
