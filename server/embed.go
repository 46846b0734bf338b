package server

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/server/dialect"
)

// vectors answers a request for vectors, whose body write makes of them.
func (s *Server) vectors(w http.ResponseWriter, r *http.Request, write func(*dialect.EmbedRequest, dialect.Vectors) []byte) error {
	raw, err := readBody(w, r)
	if err != nil {
		return err
	}
	in, bad := dialect.DecodeEmbed(raw)
	if bad != nil {
		return bad
	}
	begun := s.now()
	got, err := s.eng.Embed(r.Context(), engine.EmbedRequest{Model: in.Model, Texts: in.Texts, Dimensions: in.Dimensions})
	if in.Model == "" && fault.CodeOf(err) == fault.Config {
		return fieldFault(fault.Usage, "model", "is missing, and the configuration names no model for embeddings")
	}
	if err != nil {
		return unknownModel(in.Model, err)
	}
	model := in.Model
	if model == "" {
		model = got.Model
	}
	writeRaw(w, http.StatusOK, dialect.OpenAI.Form().ObjectType, write(in, dialect.Vectors{
		Model: model, Vectors: got.Vectors, Tokens: got.Tokens, Took: s.now().Sub(begun),
	}))
	return nil
}

func openAIEmbeddings(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.vectors(w, r, func(in *dialect.EmbedRequest, v dialect.Vectors) []byte {
		return dialect.OpenAIEmbeddings(v, in.Base64)
	})
}

func ollamaEmbed(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.vectors(w, r, func(_ *dialect.EmbedRequest, v dialect.Vectors) []byte { return dialect.OllamaEmbed(v) })
}

func ollamaEmbeddings(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.vectors(w, r, func(_ *dialect.EmbedRequest, v dialect.Vectors) []byte { return dialect.OllamaEmbeddings(v) })
}

func openAICompletions(s *Server, w http.ResponseWriter, r *http.Request) error {
	raw, err := readBody(w, r)
	if err != nil {
		return err
	}
	in, bad := dialect.DecodeCompletion(dialect.OpenAI, raw)
	if bad != nil {
		return bad
	}
	return s.complete(w, r, in)
}

// infill is POST /infill of llama.cpp's server. Its errors have OpenAI's form, as there.
func infill(s *Server, w http.ResponseWriter, r *http.Request) error {
	raw, err := readBody(w, r)
	if err != nil {
		return err
	}
	in, bad := dialect.DecodeInfill(raw)
	if bad != nil {
		return bad
	}
	if in.Nothing { // no provider has a cache that a prompt could be put into ahead of time
		in.Stream = false
		c := dialect.Completion{Request: in, ID: requestID(r), Begun: s.now()}
		writeRaw(w, http.StatusOK, dialect.OpenAI.Form().ObjectType, c.End(nil, event.Meta{}, s.now()))
		return nil
	}
	return s.complete(w, r, in)
}

// ollamaGenerate is Ollama's POST /api/generate. Without a suffix, and with the model's
// template, it is a question, which any model and any agent answers.
func ollamaGenerate(s *Server, w http.ResponseWriter, r *http.Request) error {
	raw, err := readBody(w, r)
	if err != nil {
		return err
	}
	in, bad := dialect.DecodeCompletion(dialect.Ollama, raw)
	switch {
	case bad != nil:
		return bad
	case in.Prompt == "" && in.Suffix == "" && len(in.Images) == 0: // that is how clients have a model loaded
		writeRaw(w, http.StatusOK, dialect.Ollama.Form().ObjectType, dialect.OllamaLoaded(dialect.Options{Model: in.Model, Generate: true}, s.now()))
		return nil
	case in.Raw || in.Suffix != "":
		return s.complete(w, r, in)
	}
	question, bad := in.GenerateRequest(raw)
	if bad != nil {
		return bad
	}
	req, err := s.compatTurn(r, question)
	if err != nil {
		return err
	}
	return s.answerTurn(w, r, question, req)
}

// complete continues a text. A failure before the first piece has a status of its own.
func (s *Server) complete(w http.ResponseWriter, r *http.Request, in *dialect.CompletionRequest) error {
	if in.Model == "" {
		var usual engine.TurnRequest
		s.o.Prepare(&usual)
		in.Model = usual.Model
	}
	if strings.HasPrefix(in.Model, agentModels) {
		return fieldFault(fault.Usage, "model", "an agent continues no text; ask a model")
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel() // also where the client takes no more
	out := &completing{w: w, rc: http.NewResponseController(w), stall: s.o.StallTime, in: in}
	out.c = dialect.Completion{Request: in, ID: requestID(r), Begun: s.now()}
	for batch, err := range s.eng.Complete(ctx, in.Model, provider.Request{
		Completion: &provider.Completion{Prompt: in.Prompt, Suffix: in.Suffix, System: in.System, Raw: in.Raw, Images: in.Images},
		MaxTokens:  in.MaxTokens, Temperature: in.Temperature, Think: in.Think,
		Sampling: samplingOf(in.TopP, in.Seed, in.Stop, in.Settings), Hints: settingHints(in.Settings),
	}) {
		if err != nil {
			return out.fail(ctx, err)
		}
		if out.take(batch, s.now()); out.err != nil {
			return nil // the client went away, or takes nothing
		}
	}
	out.end(s.now())
	return nil
}

// completing writes a completion to its client.
type completing struct {
	w     http.ResponseWriter
	rc    *http.ResponseController
	stall time.Duration
	in    *dialect.CompletionRequest
	c     dialect.Completion
	meta  event.Meta
	begun bool
	// ignored are the parameters that the provider leaves out.
	ignored []string
	size    int
	err     error // of a write
}

func (o *completing) take(batch []provider.Delta, now time.Time) {
	var frames []byte
	for _, d := range batch {
		switch d.Kind {
		case provider.Content:
			frames = o.c.Append(frames, d.Text, "", now)
		case provider.Reasoning:
			frames = o.c.Append(frames, "", d.Text, now)
		case provider.Footnote:
			o.ignored = append(o.ignored, d.Params...)
		case provider.Meta:
			o.meta = *d.Meta
		}
		if o.size += len(d.Text); o.size > dialect.MaxAnswer {
			o.err = fault.New(fault.InvalidReply, "the answer is longer than this format can carry")
			return
		}
	}
	if len(frames) > 0 {
		o.write(frames)
	}
}

// write sends frames, after the header of the stream.
func (o *completing) write(frames []byte) {
	_ = o.rc.SetWriteDeadline(time.Now().Add(o.stall)) // a server that can't has none to set
	if !o.begun {
		o.begun = true
		for name, value := range headerOf(o.in.Dialect) {
			o.w.Header().Set(name, value)
		}
		o.setIgnored()
		o.w.WriteHeader(http.StatusOK)
	}
	if _, o.err = o.w.Write(frames); o.err == nil {
		o.err = o.rc.Flush()
	}
}

func (o *completing) setIgnored() {
	setIgnored(o.w, &dialect.Request{Dialect: o.in.Dialect, Ignored: o.in.Ignored}, o.ignored)
}

func (o *completing) end(now time.Time) {
	last := o.c.End(nil, o.meta, now)
	if o.in.Stream {
		o.write(last)
		return
	}
	_ = o.rc.SetWriteDeadline(time.Now().Add(jsonTime))
	o.setIgnored()
	writeRaw(o.w, http.StatusOK, o.in.Dialect.Form().ObjectType, last)
}

// fail returns the error of a completion that has not begun, and writes that of one that
// has.
func (o *completing) fail(ctx context.Context, err error) error {
	if !o.begun {
		return unknownModel(o.in.Model, err)
	}
	if ctx.Err() == nil {
		status, body := explain(err)
		o.write(o.c.Fail(nil, wireFault(status, body, err)))
	}
	return nil
}

// embedBody and completeBody are the bodies of these routes, as far as /openapi.json
// describes them.
type (
	embedBody struct {
		Model      string `json:"model"`
		Input      any    `json:"input"`
		Dimensions int    `json:"dimensions,omitempty"`
		Format     string `json:"encoding_format,omitempty"`
	}
	promptBody struct {
		Model  string `json:"model"`
		Prompt string `json:"prompt"`
	}
	completeBody struct {
		Model     string `json:"model"`
		Prompt    string `json:"prompt"`
		Suffix    string `json:"suffix,omitempty"`
		MaxTokens int    `json:"max_tokens,omitempty"`
		Stream    bool   `json:"stream,omitempty"`
	}
	infillBody struct {
		Prefix  string            `json:"input_prefix"`
		Suffix  string            `json:"input_suffix"`
		Extra   []infillExtraBody `json:"input_extra,omitempty"`
		Prompt  string            `json:"prompt,omitempty"`
		Predict int               `json:"n_predict,omitempty"`
		Stop    []string          `json:"stop,omitempty"`
		Stream  bool              `json:"stream,omitempty"`
		Model   string            `json:"model,omitempty"`
	}
	infillExtraBody struct {
		Name string `json:"filename"`
		Text string `json:"text"`
	}
	generateBody struct {
		Model  string   `json:"model"`
		Prompt string   `json:"prompt"`
		Suffix string   `json:"suffix,omitempty"`
		System string   `json:"system,omitempty"`
		Raw    bool     `json:"raw,omitempty"`
		Images []string `json:"images,omitempty"`
		Stream *bool    `json:"stream,omitempty"`
	}
)

// textRoutes are those of texts without a conversation: vectors and completions.
func textRoutes() []route {
	return []route{
		{
			op: "create_embeddings", method: http.MethodPost, path: "/v1/embeddings", do: openAIEmbeddings, speaks: dialect.OpenAI,
			summary: "OpenAI's embeddings: the vectors of texts", body: embedBody{}, takes: jsonBody(), max: maxTurn,
		},
		{
			op: "create_completion", method: http.MethodPost, path: "/v1/completions", do: openAICompletions, speaks: dialect.OpenAI,
			summary: "OpenAI's completions: a text is continued, up to a suffix if there is one", body: completeBody{}, takes: jsonBody(), max: maxTurn, media: mediaSSE,
		},
		{
			op: "infill", method: http.MethodPost, path: "/infill", do: infill, speaks: dialect.OpenAI,
			summary: "llama.cpp's infill: the text between a prefix and a suffix", body: infillBody{}, takes: jsonBody(), max: maxTurn, media: mediaSSE,
		},
		{
			op: "ollama_embed", method: http.MethodPost, path: "/api/embed", do: ollamaEmbed, speaks: dialect.Ollama,
			summary: "Ollama's embeddings", body: embedBody{}, takes: jsonBody(), max: maxTurn,
		},
		{
			op: "ollama_embeddings", method: http.MethodPost, path: "/api/embeddings", do: ollamaEmbeddings, speaks: dialect.Ollama,
			summary: "Ollama's older embeddings, of one text", body: promptBody{}, takes: jsonBody(), max: maxTurn,
		},
		{
			op: "ollama_generate", method: http.MethodPost, path: "/api/generate", do: ollamaGenerate, speaks: dialect.Ollama,
			summary: "Ollama's generate: a question, or a text that is continued where there is a suffix or raw is set", body: generateBody{}, takes: jsonBody(), max: maxTurn, media: mediaLines,
		},
	}
}
