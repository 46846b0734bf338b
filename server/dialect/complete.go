package dialect

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
)

// CompletionRequest is a request of POST /v1/completions, of POST /api/generate, or of
// llama.cpp's POST /infill.
type CompletionRequest struct {
	Dialect Name // OpenAI, also for /infill, or Ollama
	Model   string
	Prompt  string
	Suffix  string
	// System, Raw and Images are Ollama's.
	System string
	Raw    bool
	Images [][]byte

	Temperature *float64
	TopP        *float64
	Seed        *int64
	MaxTokens   int
	Stop        []string
	Settings
	// Ignored is [Request.Ignored].
	Ignored      []string
	Think        *bool
	Stream       bool
	IncludeUsage bool
	// Echo has the prompt before the text, as OpenAI's API can.
	Echo bool
	// Infill is a request of llama.cpp's POST /infill, and Nothing one with n_predict 0.
	Infill, Nothing bool
}

// completionBody is the body of POST /v1/completions, and of POST /api/generate.
type completionBody struct {
	promptBody
	openAIPrompt
	ollamaPrompt
}

// promptBody are the members that both APIs have, the other two those of one alone.
type (
	promptBody struct {
		Model  string          `json:"model"`
		Prompt json.RawMessage `json:"prompt"`
		Suffix string          `json:"suffix"`
		Stream *bool           `json:"stream"`
	}
	openAIPrompt struct {
		MaxTokens     *int          `json:"max_tokens"`
		StreamOptions streamOptions `json:"stream_options"`
		N             *int          `json:"n"`
		BestOf        *int          `json:"best_of"`
		Echo          bool          `json:"echo"`
		settingsBody
	}
	ollamaPrompt struct {
		System  string          `json:"system"`
		Raw     bool            `json:"raw"`
		Images  []string        `json:"images"`
		Format  json.RawMessage `json:"format"`
		Think   json.RawMessage `json:"think"`
		Options json.RawMessage `json:"options"`
	}
)

// unread returns the members of the body that its API does not have, or that change nothing
// here.
func (r *CompletionRequest) unread(body []byte) []string {
	var all Request
	if r.Dialect == Ollama {
		all.unread("", body, struct {
			promptBody
			ollamaPrompt
		}{})
	} else {
		all.unread("", body, struct {
			promptBody
			openAIPrompt
		}{})
	}
	return all.Ignored
}

// DecodeCompletion reads the body of a completion in a dialect.
func DecodeCompletion(n Name, body []byte) (*CompletionRequest, *fault.Fault) {
	r := &CompletionRequest{Dialect: n}
	if err := r.decode(body); err != nil {
		return nil, refusal(err)
	}
	return r, nil
}

func (r *CompletionRequest) decode(body []byte) *FieldError {
	var in completionBody
	if err := checkShape(body); err != nil {
		return err
	}
	if err := read("", body, &in); err != nil {
		return err
	}
	if problem := badName(in.Model); problem != "" {
		return wrong("model", problem)
	}
	r.Model, r.Suffix = in.Model, strings.ToValidUTF8(in.Suffix, "\ufffd")
	prompts, err := stringsOf("prompt", in.Prompt)
	switch {
	case err != nil:
		return wrong("prompt", "has to be a text; lists of tokens can't be taken")
	case len(prompts) > 1:
		return wrong("prompt", "only one text at a time is continued")
	case len(prompts) == 1:
		r.Prompt = strings.ToValidUTF8(prompts[0], "\ufffd")
	}
	r.Ignored = r.unread(body)
	if r.Dialect == Ollama {
		return r.ollama(in)
	}
	r.Settings = in.settings()
	if in.N != nil && *in.N > 1 || in.BestOf != nil && *in.BestOf > 1 {
		return wrong("n", "only one answer at a time is given")
	}
	r.Temperature, r.TopP, r.Seed, r.Echo = in.Temperature, in.TopP, in.Seed, in.Echo
	r.Stream, r.IncludeUsage = in.Stream != nil && *in.Stream, in.StreamOptions.IncludeUsage != nil && *in.StreamOptions.IncludeUsage
	if in.MaxTokens != nil {
		r.MaxTokens = *in.MaxTokens
	}
	if r.Stop, err = stringsOf("stop", in.Stop); err != nil {
		return err
	}
	return r.check()
}

// ollama takes the fields of /api/generate.
func (r *CompletionRequest) ollama(in completionBody) (err *FieldError) {
	all := Request{Ignored: r.Ignored}
	o, err := all.readOptions(in.Options)
	if err != nil {
		return err
	}
	r.Ignored, r.Settings = all.Ignored, o.settings()
	r.System, r.Raw = strings.ToValidUTF8(in.System, "\ufffd"), in.Raw
	r.Temperature, r.TopP, r.Seed = o.Temperature, o.TopP, o.Seed
	r.Stream = in.Stream == nil || *in.Stream
	if o.Predict != nil && *o.Predict > 0 {
		r.MaxTokens = *o.Predict
	}
	if !null(in.Format) && (r.Raw || r.Suffix != "") { // a text that is continued has no form
		r.Ignored = append(r.Ignored, "format")
	}
	if r.Stop, err = stringsOf("options.stop", o.Stop); err != nil {
		return err
	}
	if r.Think, _, err = thinkOf(in.Think); err != nil {
		return err
	}
	for i, s := range in.Images {
		data, err := unbase64(item("images", i), s)
		if err != nil {
			return err
		}
		r.Images = append(r.Images, data)
	}
	return r.check()
}

func (r *CompletionRequest) check() *FieldError {
	return checkNumbers(&Request{
		Dialect: r.Dialect, Temperature: r.Temperature, TopP: r.TopP, MaxTokens: r.MaxTokens, Stop: r.Stop, Settings: r.Settings,
	})
}

// Completion writes the answer to a completion: as the frames of a stream, or as one object.
// It belongs to one goroutine.
type Completion struct {
	Request *CompletionRequest
	ID      string
	Begun   time.Time

	text, thought strings.Builder // of an object
}

// Append appends the frames of a piece of the text, and of the reasoning before it, for which
// OpenAI's completions have no place.
func (c *Completion) Append(dst []byte, text, reasoning string, now time.Time) []byte {
	r := c.Request
	switch {
	case !r.Stream:
		c.text.WriteString(text)
		c.thought.WriteString(reasoning)
		return dst
	case r.Infill:
		return infillPiece(dst, text)
	case r.Dialect == Ollama:
		return c.line(dst, now).str("response", text).opt("thinking", reasoning).bool("done", false).line()
	case text == "":
		return dst
	}
	return c.chunk(data(dst), text, "null").frame()
}

// End appends the end of a stream, or the object.
func (c *Completion) End(dst []byte, m event.Meta, now time.Time) []byte {
	r := c.Request
	m.Usage = counted(m.Usage)
	if r.Infill {
		return c.infillEnd(dst, m, now)
	}
	if r.Dialect == Ollama {
		o := c.line(dst, now).str("response", c.text.String()).opt("thinking", c.thought.String())
		ollamaEnd(o, &facts{usage: m.Usage, stop: m.StopReason}, &clock{begun: c.Begun, last: now})
		return o.line()
	}
	reason := `"` + (&facts{stop: m.StopReason}).finish(&Options{}) + `"`
	if !r.Stream {
		text := c.text.String()
		if r.Echo {
			text = r.Prompt + text
		}
		o := c.chunk(open(dst), text, reason)
		if m.Usage != nil {
			o.key("usage")
			o.b = appendUsage(o.b, m.Usage)
		}
		return o.line()
	}
	dst = c.chunk(data(dst), "", reason).frame()
	if r.IncludeUsage && m.Usage != nil {
		o := c.head(data(dst)).lit("choices", "[]")
		o.key("usage")
		o.b = appendUsage(o.b, m.Usage)
		dst = o.frame()
	}
	return append(dst, done...)
}

// Fail appends the error of a stream that has begun.
func (c *Completion) Fail(dst []byte, f *fault.Fault) []byte {
	if c.Request.Dialect == Ollama {
		return open(dst).str("error", f.Msg).line()
	}
	dst = data(dst).obj("error", func(o *object) { openAIError(o, f) }).frame()
	if c.Request.Infill {
		return dst
	}
	return append(dst, done...)
}

// line begins a line of Ollama's stream, or its object.
func (c *Completion) line(dst []byte, now time.Time) *object {
	return open(dst).str("model", c.Request.Model).str("created_at", stamp(now))
}

// head begins a chunk of OpenAI's stream, or its object.
func (c *Completion) head(o *object) *object {
	return o.str("id", "cmpl-"+c.ID).str("object", "text_completion").int("created", unix(c.Begun)).str("model", c.Request.Model)
}

// chunk is one with a choice. reason is JSON.
func (c *Completion) chunk(o *object, text, reason string) *object {
	o = c.head(o)
	o.key("choices")
	inner := open(append(o.b, '[')).str("text", text).int("index", 0).lit("logprobs", "null").lit("finish_reason", reason)
	o.b = append(inner.close(), ']')
	return o
}

// GenerateRequest is a request of POST /api/generate as one of /api/chat: the prompt is the
// question. It is for requests without a suffix that the model's template is applied to.
func (r *CompletionRequest) GenerateRequest(body []byte) (*Request, *fault.Fault) {
	var in completionBody
	if err := read("", body, &in); err != nil {
		return nil, refusal(err)
	}
	out := &Request{
		Dialect: Ollama, Generate: true, Model: r.Model, Temperature: r.Temperature, TopP: r.TopP, Seed: r.Seed,
		MaxTokens: r.MaxTokens, Stop: r.Stop, Think: r.Think, Stream: r.Stream, Settings: r.Settings,
		Ignored: r.Ignored,
	}
	var err *FieldError
	if _, out.Effort, err = thinkOf(in.Think); err != nil {
		return nil, refusal(err)
	}
	if out.Format, err = ollamaFormat(in.Format); err != nil {
		return nil, refusal(err)
	}
	if r.System != "" {
		out.Messages = append(out.Messages, Message{Role: System, Parts: []Part{textPart(r.System)}})
	}
	question := Message{Role: User}
	if r.Prompt != "" {
		question.Parts = append(question.Parts, textPart(r.Prompt))
	}
	for _, data := range r.Images {
		question.Parts = append(question.Parts, Part{Kind: Image, MIME: mimeType(http.DetectContentType(data)), Data: data})
	}
	out.Messages = append(out.Messages, question)
	if err := check(out); err != nil {
		return nil, refusal(err)
	}
	return out, nil
}
