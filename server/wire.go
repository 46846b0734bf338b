package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server/dialect"
)

// naming are the threads whose first turn is being begun, so that two requests
// don't make two chats of one.
type naming struct {
	mu    sync.Mutex
	names map[string]bool
}

// take gives the right to name a thread, until done is called.
func (n *naming) take(name string) (done func(), ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.names[name] {
		return nil, false
	}
	n.names[name] = true
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.names, name)
	}, true
}

// readWire reads the body of a request in a dialect.
func readWire(w http.ResponseWriter, r *http.Request, n dialect.Name) (*dialect.Request, error) {
	raw, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	in, wrong := dialect.Decode(n, raw)
	if wrong != nil {
		return nil, wrong
	}
	setIgnored(w, in, nil)
	return in, nil
}

// setIgnored names in a header what of a request changes nothing: what the dialect's decoder
// reports, and the parameters that the provider leaves out.
func setIgnored(w http.ResponseWriter, in *dialect.Request, params []string) {
	all := slices.Clone(in.Ignored)
	for _, p := range params {
		if field := in.Field(p); !slices.Contains(all, field) {
			all = append(all, field)
		}
	}
	if len(all) > 0 {
		w.Header().Set(headerIgnored, ignoredText(all))
	}
}

const (
	// headerIgnored is the header with the parts of a request that change nothing.
	headerIgnored = "X-Fettle-Ignored"
	// maxIgnored bounds its value, in bytes: proxies refuse long headers.
	maxIgnored = 1000
)

// ignoredText returns the value of headerIgnored.
func ignoredText(fields []string) string {
	text := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, strings.Join(fields, ", "))
	if len(text) > maxIgnored {
		text = text[:maxIgnored] + ", and more"
	}
	return text
}

// agentsBody is document 003's request, for /openapi.json.
type agentsBody struct {
	SessionID string `json:"session_id"`
	Message   string `json:"message"`
}

// chatAgents is document 003's POST /chat: a message of a session, and the turn
// that answers it. Nobody can be asked for an approval there, so a call that
// needs one is denied.
func chatAgents(s *Server, w http.ResponseWriter, r *http.Request) error {
	in, err := readWire(w, r, dialect.Agents)
	if err != nil {
		return err
	}
	req, err := wireRequest(in)
	if err != nil {
		return err
	}
	id, chat, err := s.beginThread(r, string(dialect.Agents)+":"+in.ThreadID, req)
	if err != nil {
		return err
	}
	return s.stream(w, r, wireStream(id, chat.ID, in))
}

// beginThread begins a turn in the chat that a client's own name means, or makes
// the chat. The name is kept before the turn is shown.
func (s *Server) beginThread(r *http.Request, name string, req engine.TurnRequest) (store.TurnID, chat.Chat, error) {
	done, ok := s.naming.take(name)
	if !ok {
		return "", chat.Chat{}, fault.New(fault.Busy, "another message of this conversation is being begun")
	}
	defer done()
	known, ok, err := s.eng.ThreadChat(r.Context(), name)
	if err != nil {
		return "", chat.Chat{}, err
	}
	if ok {
		req.Chat.ID = known
	}
	id, chat, err := s.begin(r, req)
	if err != nil || ok {
		return id, chat, err
	}
	// The turn runs whatever becomes of the client.
	if err := s.eng.NameThread(context.WithoutCancel(r.Context()), name, chat.ID); err != nil {
		return "", chat, errors.Join(err, s.eng.Cancel(context.WithoutCancel(r.Context()), id))
	}
	return id, chat, nil
}

// wireRequest makes the engine's request of the last message of a dialect's, or
// of the results of tools that the client ran. Texts and images keep their order.
func wireRequest(in *dialect.Request) (engine.TurnRequest, error) {
	req := engine.TurnRequest{
		Model: in.Model, Think: in.Think, Params: paramsOf(in),
		Sampling: samplingOf(in.TopP, in.Seed, in.Stop, in.Settings), Hints: hintsOf(in), Ignored: in.Ignored,
		Schema: schemaOf(in), ClientTools: clientTools(in), MustCall: mustCall(in),
	}
	said := talkOf(in)
	req.Prefill = prefillOf(in, said.begun)
	if len(said.asked) == 0 && len(said.begun) > 0 {
		return req, fieldFault(fault.Usage, "messages", "an answer can't be continued without the message that it answers")
	}
	for _, m := range said.asked {
		if m.Role != dialect.User && m.Role != dialect.ToolRole {
			return req, fieldFault(fault.Usage, "messages", "the last message has to be the user's, or a tool's result")
		}
		for _, p := range m.Parts {
			if p.URL != "" {
				return req, fieldFault(fault.Usage, "messages", "files have to come with the message; no address is fetched")
			}
			part, ok := partOf(p)
			switch {
			case part.Kind == provider.ImagePart && !ok:
				return req, fieldFault(fault.Usage, "messages", "an image is of no type of images")
			case part.Kind == provider.TextPart && ok && part.Name != "":
				req.Parts = append(req.Parts, part)
			case part.Kind == provider.TextPart && ok:
				req.Parts = provider.AddText(req.Parts, part.Text, "\n\n")
			case ok && (part.Kind == provider.ImagePart || part.Kind == provider.FilePart || part.Kind == provider.ToolResultPart):
				req.Parts = append(req.Parts, part)
			}
		}
	}
	var words []string
	for _, p := range req.Parts {
		if p.Kind == provider.TextPart {
			words = append(words, p.Text)
		}
	}
	req.Title = strings.TrimSpace(strings.Join(words, "\n\n"))
	if req.Title == "" && !slices.ContainsFunc(req.Parts, func(p provider.Part) bool { return p.Kind != provider.TextPart }) {
		return req, fieldFault(fault.Usage, "messages", "message is empty")
	}
	return req, nil
}

// paramsOf are the parameters of a dialect's request, whose level of reasoning the decoder has
// checked.
func paramsOf(in *dialect.Request) provider.Params {
	return provider.Params{Effort: provider.Effort(in.Effort), Temperature: in.Temperature, MaxTokens: in.MaxTokens}
}

// samplingOf are the parameters of a conversation or of a completion that decide which words
// come.
func samplingOf(topP *float64, seed *int64, stop []string, s dialect.Settings) provider.Sampling {
	return provider.Sampling{
		TopP: topP, MinP: s.MinP, TopK: s.TopK, Seed: seed, Stop: stop,
		FrequencyPenalty: s.Frequency, PresencePenalty: s.Presence, RepeatPenalty: s.Repeat, LogitBias: s.LogitBias,
	}
}

// hintsOf are the further wishes of a request.
func hintsOf(in *dialect.Request) provider.Hints {
	h := settingHints(in.Settings)
	h.ParallelCalls, h.ThinkTokens = in.Parallel, in.ThinkTokens
	if f := in.Format; f != nil && len(f.Schema) > 0 {
		h.FormatName, h.FormatDescription, h.FormatStrict = f.Name, f.Description, f.Strict
	}
	return h
}

func settingHints(s dialect.Settings) provider.Hints {
	return provider.Hints{
		Verbosity: s.Verbosity, ServiceTier: s.Tier, User: s.User, SafetyID: s.SafetyID, CacheKey: s.CacheKey,
	}
}

// schemaOf is what the answer has to be; any object where no schema says more.
func schemaOf(in *dialect.Request) json.RawMessage {
	switch {
	case in.Format == nil:
		return nil
	case len(in.Format.Schema) == 0:
		return json.RawMessage(`{"type":"object"}`)
	}
	return in.Format.Schema
}

// wireStream follows a turn in the dialect that it was asked for in.
func wireStream(id store.TurnID, chatID string, in *dialect.Request) following {
	f := following{
		turn: id, enc: dialect.NewEncoder(in.Dialect, in.Options()), header: headerOf(in.Dialect),
	}
	f.header["X-Fettle-Turn"], f.header["X-Fettle-Chat"] = string(id), chatID
	return f
}

// wireFault is an error as a dialect's Failure takes it. What the gate refuses
// has no kind of its own there, so the status chooses one.
func wireFault(status int, body errorBody, err error) *fault.Fault {
	f := &fault.Fault{Code: fault.Code(body.Code), Msg: body.Message, Remedies: fault.Advices(body.Hints), Status: status, RetryAfter: body.wait}
	var field *dialect.FieldError
	if errors.As(err, &field) {
		f.Err = field
	}
	for _, c := range fault.Codes() {
		if c == f.Code {
			return f
		}
	}
	switch {
	case status == http.StatusUnauthorized:
		f.Code = fault.Unauthorised
	case status == http.StatusNotFound:
		f.Code = fault.NotFound
	case status == http.StatusTooManyRequests:
		f.Code = fault.Overloaded
	case status == http.StatusServiceUnavailable:
		f.Code = fault.Unavailable
	case status < http.StatusInternalServerError:
		f.Code = fault.Usage
	default:
		f.Code = fault.Failed
	}
	return f
}
