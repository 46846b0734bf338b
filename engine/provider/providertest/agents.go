package providertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// AgentServer stands in for Mistral's API of agents and conversations, and holds
// its documented rules: fields that it doesn't know are refused, so are handoffs
// to agents that aren't there, results of calls that nobody made, and an append
// that leaves a call without its result or has no entry at all. A handoff is
// left to the client; what is appended then is the next agent's.
type AgentServer struct {
	*httptest.Server
	// Play is what an agent says to the entries of a conversation.
	Play func(agent string, entries []Entry) Reply

	mu            sync.Mutex
	agents        map[string]*ServedAgent
	conversations map[string]*served
	asked         []string
	made          int
}

// ServedAgent is an agent as it was made.
type ServedAgent struct {
	ID           string            `json:"id"`
	Model        string            `json:"model"`
	Name         string            `json:"name"`
	Description  string            `json:"description"`
	Instructions string            `json:"instructions"`
	Tools        []json.RawMessage `json:"tools"`
	Handoffs     []string          `json:"handoffs"`
	Version      int               `json:"version"`
}

// Entry is one of a conversation.
type Entry struct {
	Object     string `json:"object"`
	Type       string `json:"type"`
	Role       string `json:"role"`
	Content    any    `json:"content"`
	ToolCallID string `json:"tool_call_id"`
	Name       string `json:"name"`
	Arguments  string `json:"arguments"`
	Result     string `json:"result"`
	Agent      string `json:"-"` // who said it, by name
}

// Reply is what an agent says: pieces of text, then calls, then a handoff.
type Reply struct {
	Text    []string
	Calls   []Entry
	HandOff string // the name of an agent
	// Cut ends the stream before its end.
	Cut bool
}

// served is a conversation.
type served struct {
	agent   string // by name
	entries []Entry
	open    map[string]bool
}

// NewAgentServer starts one; it is closed with the test.
func NewAgentServer(t *testing.T, play func(agent string, entries []Entry) Reply) *AgentServer {
	t.Helper()
	s := &AgentServer{Play: play, agents: map[string]*ServedAgent{}, conversations: map[string]*served{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/agents", s.create)
	mux.HandleFunc("GET /v1/agents/{id}", s.get)
	mux.HandleFunc("PATCH /v1/agents/{id}", s.update)
	mux.HandleFunc("POST /v1/conversations", s.start)
	mux.HandleFunc("POST /v1/conversations/{id}", s.extend)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// Asked are the requests so far, such as "POST /v1/agents", and forgets them.
func (s *AgentServer) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

// Agent is the agent of a name; nil where there is none.
func (s *AgentServer) Agent(name string) *ServedAgent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.named(name)
}

func (s *AgentServer) named(name string) *ServedAgent {
	for _, a := range s.agents {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// Forget removes an agent, as its owner can in the console.
func (s *AgentServer) Forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.named(name); a != nil {
		delete(s.agents, a.ID)
	}
}

func (s *AgentServer) note(r *http.Request) {
	path := r.URL.Path
	if id := r.PathValue("id"); id != "" {
		path = strings.Replace(path, id, "ID", 1)
	}
	s.asked = append(s.asked, r.Method+" "+path)
}

// read reads a body strictly; false means that the request was refused.
func (s *AgentServer) read(w http.ResponseWriter, r *http.Request, into any) bool {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.DisallowUnknownFields()
		err = dec.Decode(into)
	}
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, err.Error())
	}
	return err == nil
}

func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"detail": []map[string]any{{"loc": []string{"body"}, "msg": why, "type": "value_error"}}})
}

func give(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that has gone needs nothing
}

// fits looks at an agent's fields; false means that the request was refused.
func (s *AgentServer) fits(w http.ResponseWriter, a *ServedAgent) bool {
	why := ""
	for _, id := range a.Handoffs {
		if s.agents[id] == nil {
			why = "handoffs: unknown agent " + id
		}
	}
	if a.Model == "" || a.Name == "" {
		why = "model and name are required"
	}
	if why != "" {
		refuse(w, http.StatusUnprocessableEntity, why)
	}
	return why == ""
}

func (s *AgentServer) create(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(r)
	a := &ServedAgent{}
	if !s.read(w, r, a) || !s.fits(w, a) {
		return
	}
	s.made++
	a.ID, a.Version = fmt.Sprintf("ag_%03d", s.made), 0
	s.agents[a.ID] = a
	give(w, a)
}

func (s *AgentServer) get(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(r)
	if a := s.agents[r.PathValue("id")]; a != nil {
		give(w, a)
		return
	}
	refuse(w, http.StatusNotFound, "no such agent")
}

func (s *AgentServer) update(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(r)
	a := s.agents[r.PathValue("id")]
	if a == nil {
		refuse(w, http.StatusNotFound, "no such agent")
		return
	}
	changed := *a
	if !s.read(w, r, &changed) || !s.fits(w, &changed) {
		return
	}
	changed.ID, changed.Version = a.ID, a.Version+1
	*a = changed
	give(w, a)
}

// talk is the body of a start and an append.
type talk struct {
	AgentID  string          `json:"agent_id"`
	Inputs   []Entry         `json:"inputs"`
	Stream   bool            `json:"stream"`
	Store    bool            `json:"store"`
	Handoff  string          `json:"handoff_execution"`
	Settings json.RawMessage `json:"completion_args"`
}

func (s *AgentServer) start(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(r)
	var in talk
	if !s.read(w, r, &in) {
		return
	}
	a := s.agents[in.AgentID]
	if a == nil {
		refuse(w, http.StatusNotFound, "no such agent")
		return
	}
	s.made++
	id := fmt.Sprintf("conv_%03d", s.made)
	c := &served{agent: a.Name, open: map[string]bool{}}
	s.conversations[id] = c
	s.answer(w, id, c, in)
}

func (s *AgentServer) extend(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(r)
	var in talk
	if !s.read(w, r, &in) {
		return
	}
	id := r.PathValue("id")
	c := s.conversations[id]
	switch {
	case c == nil:
		refuse(w, http.StatusNotFound, "no such conversation")
	case in.AgentID != "":
		refuse(w, http.StatusUnprocessableEntity, "agent_id: extra inputs are not permitted")
	default:
		s.answer(w, id, c, in)
	}
}

// wrong says what the rules have against what is appended.
func (c *served) wrong(in talk) string {
	open := map[string]bool{}
	for id := range c.open {
		open[id] = true
	}
	for _, e := range in.Inputs {
		switch e.Type {
		case "function.call":
			open[e.ToolCallID] = true
		case "function.result":
			if !open[e.ToolCallID] {
				return "function.result: no call " + e.ToolCallID
			}
			delete(open, e.ToolCallID)
		case "message.input":
			if e.Content == "" || e.Role != "user" && e.Role != "assistant" {
				return "message.input: role and content are required"
			}
		default:
			return "unknown entry " + e.Type
		}
	}
	switch {
	case len(in.Inputs) == 0:
		return "inputs: at least one entry is required"
	case len(open) > 0:
		return fmt.Sprintf("%d calls have no result", len(open))
	case in.Handoff != "client" && in.Handoff != "server" || !in.Stream || !in.Store:
		return "this stand-in streams, stores and leaves handoffs to the client"
	}
	return ""
}

// answer appends the inputs and streams what the agent says to them.
func (s *AgentServer) answer(w http.ResponseWriter, id string, c *served, in talk) {
	if why := c.wrong(in); why != "" {
		refuse(w, http.StatusUnprocessableEntity, why)
		return
	}
	c.open = map[string]bool{}
	c.entries = append(c.entries, in.Inputs...)
	reply := s.Play(c.agent, slices.Clone(c.entries))
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(kind string, fields map[string]any) {
		fields["type"] = kind
		data, _ := json.Marshal(fields) // maps of texts and numbers
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, data)
	}
	send("conversation.response.started", map[string]any{"conversation_id": id})
	for _, text := range reply.Text {
		send("message.output.delta", map[string]any{"id": "msg_1", "output_index": 0, "role": "assistant", "content": text})
	}
	if len(reply.Text) > 0 {
		c.entries = append(c.entries, Entry{Type: "message.output", Role: "assistant", Content: strings.Join(reply.Text, ""), Agent: c.agent})
	}
	for i, call := range reply.Calls {
		s.made++
		call.Type, call.ToolCallID, call.Agent = "function.call", fmt.Sprintf("call%05d", s.made), c.agent
		half := len(call.Arguments) / 2
		for _, part := range []string{call.Arguments[:half], call.Arguments[half:]} {
			send("function.call.delta", map[string]any{
				"id": "fc_1", "output_index": i + 1, "name": call.Name, "tool_call_id": call.ToolCallID, "arguments": part,
			})
		}
		c.open[call.ToolCallID] = true
		c.entries = append(c.entries, call)
	}
	if next := s.named(reply.HandOff); next != nil {
		from := s.named(c.agent)
		send("agent.handoff.started", map[string]any{"id": "h_1", "previous_agent_id": from.ID, "previous_agent_name": from.Name})
		send("agent.handoff.done", map[string]any{"id": "h_1", "next_agent_id": next.ID, "next_agent_name": next.Name})
		c.agent = next.Name
	}
	if !reply.Cut {
		send("conversation.response.done", map[string]any{"usage": map[string]any{
			"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "connector_tokens": nil,
		}})
	}
}
