package server

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/server/dialect"
)

// wireModels are the models of all providers, and the agents, as the compatible
// dialects list them. A provider that can't be asked has what it said last. The
// model that is asked where none is named is among them, though its provider
// lists none.
func (s *Server) wireModels(ctx context.Context) ([]dialect.Model, error) {
	lists, err := s.models.List(ctx, models.Query{})
	if err != nil {
		return nil, err
	}
	var out []dialect.Model
	for _, l := range lists {
		for _, m := range l.Models {
			if m.Chats != provider.No {
				out = append(out, wireModel(m))
			}
		}
	}
	var usual engine.TurnRequest
	s.o.Prepare(&usual)
	if id := usual.Model; id != "" && !slices.ContainsFunc(out, func(m dialect.Model) bool { return m.ID == id }) {
		owner, _, _ := strings.Cut(id, "/")
		out = append(out, dialect.Model{ID: id, Owner: owner, Tools: true})
	}
	agents, err := s.eng.AllAgents(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range agents.All() {
		out = append(out, dialect.Model{ID: agentModels + a.ID, Tools: true})
	}
	for i := range out {
		out[i].Since = s.since
	}
	return out, nil
}

// wireModel is a model as lists tell of it. One that nobody has told about tools
// is tried with them, so it counts as one that takes them.
func wireModel(m models.Model) dialect.Model {
	return dialect.Model{
		ID: m.Ref(), Owner: m.Provider, Modified: m.Created, Size: m.Size, Details: m.Details, Context: m.ContextLength,
		Tools: m.Tools != provider.No, Images: m.Images == provider.Yes, Thinking: m.Thinking == provider.Yes,
	}
}

// wireModelOf is one of them. Ollama's clients may say that they mean the latest.
func (s *Server) wireModelOf(ctx context.Context, name string) (dialect.Model, error) {
	all, err := s.wireModels(ctx)
	if err != nil {
		return dialect.Model{}, err
	}
	for _, m := range all {
		if m.ID == name || strings.TrimSuffix(m.ID, ":latest") == strings.TrimSuffix(name, ":latest") {
			return m, nil
		}
	}
	return dialect.Model{}, unknownModel(name, &fault.Fault{Code: fault.NotFound, Msg: "there is no model " + quoted(name), Err: models.ErrNoModel})
}

func openAIModels(s *Server, w http.ResponseWriter, r *http.Request) error {
	all, err := s.wireModels(r.Context())
	if err != nil {
		return err
	}
	if asksAnthropic(r) {
		writeRaw(w, http.StatusOK, dialect.Anthropic.Form().ObjectType, dialect.AnthropicModels(all))
		return nil
	}
	writeRaw(w, http.StatusOK, dialect.OpenAI.Form().ObjectType, dialect.OpenAIModels(all))
	return nil
}

// asksAnthropic reports whether a client of Anthropic's API asks, whose list of models is at
// the same path as OpenAI's.
func asksAnthropic(r *http.Request) bool { return r.Header.Get("Anthropic-Version") != "" }

func openAIModel(s *Server, w http.ResponseWriter, r *http.Request) error {
	m, err := s.wireModelOf(r.Context(), r.PathValue("model"))
	if err != nil {
		return err
	}
	body := dialect.OpenAIModel(nil, m)
	if asksAnthropic(r) {
		body = dialect.AnthropicModel(nil, m)
	}
	writeRaw(w, http.StatusOK, dialect.OpenAI.Form().ObjectType, append(body, '\n'))
	return nil
}

func ollamaTags(s *Server, w http.ResponseWriter, r *http.Request) error {
	all, err := s.wireModels(r.Context())
	if err != nil {
		return err
	}
	writeRaw(w, http.StatusOK, dialect.Ollama.Form().ObjectType, dialect.OllamaTags(all))
	return nil
}

func ollamaShow(s *Server, w http.ResponseWriter, r *http.Request) error {
	raw, err := readBody(w, r)
	if err != nil {
		return err
	}
	name, bad := dialect.ShowRequest(raw)
	if bad != nil {
		return bad
	}
	m, err := s.wireModelOf(r.Context(), name)
	if err != nil {
		return err
	}
	writeRaw(w, http.StatusOK, dialect.Ollama.Form().ObjectType, dialect.OllamaShow(m))
	return nil
}

func ollamaVersion(_ *Server, w http.ResponseWriter, _ *http.Request) error {
	writeRaw(w, http.StatusOK, dialect.Ollama.Form().ObjectType, dialect.OllamaVersionBody())
	return nil
}

// The bodies of the compatible routes, as far as /openapi.json tells of them; what
// else a client sends is read by the dialect.
type (
	completionsBody struct {
		Model       string           `json:"model"`
		Messages    []map[string]any `json:"messages"`
		Tools       []map[string]any `json:"tools,omitempty"`
		Stream      bool             `json:"stream,omitempty"`
		Temperature *float64         `json:"temperature,omitempty"`
		MaxTokens   int              `json:"max_completion_tokens,omitempty"`
	}
	responsesBody struct {
		Model        string           `json:"model"`
		Input        any              `json:"input"`
		Instructions string           `json:"instructions,omitempty"`
		PreviousID   string           `json:"previous_response_id,omitempty"`
		Store        *bool            `json:"store,omitempty"`
		Tools        []map[string]any `json:"tools,omitempty"`
		Stream       bool             `json:"stream,omitempty"`
	}
	messagesBody struct {
		Model     string           `json:"model"`
		Messages  []map[string]any `json:"messages"`
		System    any              `json:"system,omitempty"`
		MaxTokens int              `json:"max_tokens,omitempty"`
		Tools     []map[string]any `json:"tools,omitempty"`
		Stream    bool             `json:"stream,omitempty"`
	}
	tokenCount struct {
		InputTokens int `json:"input_tokens"`
	}
	ollamaBody struct {
		Model    string           `json:"model"`
		Messages []map[string]any `json:"messages"`
		Tools    []map[string]any `json:"tools,omitempty"`
		Stream   *bool            `json:"stream,omitempty"`
	}
	showBody struct {
		Model string `json:"model"`
	}
)

// compatRoutes are those of other programs' APIs, which their clients reach by
// another base URL alone.
func compatRoutes() []route {
	list := []route{
		{
			op: "create_chat_completion", method: http.MethodPost, path: "/v1/chat/completions", do: chatCompletions, speaks: dialect.OpenAI,
			summary: "OpenAI's chat completions: a model with the client's own tools, or an agent with fettle's too", body: completionsBody{}, takes: jsonBody(), max: maxTurn, media: mediaSSE,
		},
		{
			op: "create_response", method: http.MethodPost, path: "/v1/responses", do: createResponse, speaks: dialect.Responses,
			summary: "OpenAI's responses; one that is stored is a turn of a chat", body: responsesBody{}, takes: jsonBody(), max: maxTurn, media: mediaSSE,
		},
		{
			op: "get_response", method: http.MethodGet, path: "/v1/responses/{response}", do: getResponse, speaks: dialect.Responses,
			summary: "A response that was stored, or the stream that it was",
			query:   []param{{"stream", "whether the events are wanted", "boolean"}, {"starting_after", "the number of the last event that the client has", "integer"}},
		},
		{op: "delete_response", method: http.MethodDelete, path: "/v1/responses/{response}", do: deleteResponse, speaks: dialect.Responses, gives: deletedResponse{}, summary: "Delete a stored response that is alone in its chat"},
		{
			op: "list_response_input", method: http.MethodGet, path: "/v1/responses/{response}/input_items", do: listInputItems, speaks: dialect.Responses, gives: inputItems{},
			summary: "What a stored response was asked with", query: []param{{"order", "`asc` is from the first on", ""}},
		},
		{
			op: "create_message", method: http.MethodPost, path: "/v1/messages", do: createMessage, speaks: dialect.Anthropic,
			summary: "Anthropic's messages: a model with the client's own tools, or an agent with fettle's too", body: messagesBody{}, takes: jsonBody(), max: maxTurn, media: mediaSSE,
		},
		{
			op: "count_message_tokens", method: http.MethodPost, path: "/v1/messages/count_tokens", do: countTokens, speaks: dialect.Anthropic, gives: tokenCount{},
			summary: "The number of tokens of a request to create_message; the header X-Fettle-Estimate marks an estimate", body: messagesBody{}, takes: jsonBody(), max: maxTurn,
		},
		{op: "list_openai_models", method: http.MethodGet, path: "/v1/models", do: openAIModels, speaks: dialect.OpenAI, summary: "OpenAI's list of models, with the agents as fettle/AGENT"},
		{op: "get_openai_model", method: http.MethodGet, path: "/v1/models/{model...}", do: openAIModel, speaks: dialect.OpenAI, summary: "A model of OpenAI's list"},
		{
			op: "ollama_chat", method: http.MethodPost, path: "/api/chat", do: ollamaChat, speaks: dialect.Ollama,
			summary: "Ollama's chat, as lines of JSON unless stream is off", body: ollamaBody{}, takes: jsonBody(), max: maxTurn, media: mediaLines,
		},
		{op: "ollama_tags", method: http.MethodGet, path: "/api/tags", do: ollamaTags, speaks: dialect.Ollama, summary: "Ollama's list of models, with the agents as fettle/AGENT"},
		{op: "ollama_show", method: http.MethodPost, path: "/api/show", do: ollamaShow, speaks: dialect.Ollama, summary: "What a model of Ollama's list can do", body: showBody{}, takes: jsonBody()},
		{op: "ollama_version", method: http.MethodGet, path: "/api/version", do: ollamaVersion, speaks: dialect.Ollama, summary: "The version of Ollama's API that is spoken"},
	}
	list = slices.Concat(list, textRoutes(), googleRoutes(), ollamaModelRoutes())
	for i := range list {
		list[i].tag = "compatible"
		list[i].media = cmp.Or(list[i].media, "application/json")
	}
	return list
}
