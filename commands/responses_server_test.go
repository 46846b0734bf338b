package commands_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// responsesServer serves the Responses API on a loopback address. It refuses what OpenAI
// refuses: reasoning that it has not encrypted, or that its own next item does not follow,
// calls without results and results without calls, ids of another form, and unknown members.
type responsesServer struct {
	*httptest.Server
	// answer returns the items of the answer to the request.
	answer func(r responsesRequest) []map[string]any

	mu       sync.Mutex
	accepted []responsesRequest
	refused  []string
	next     map[string]string // what follows each item of reasoning, by its encrypted content
}

// responsesRequest is a request as OpenAI reads it.
type responsesRequest struct {
	Body string `json:"-"`
	n    int    // accepted ones before it

	Model        string          `json:"model"`
	Instructions string          `json:"instructions"`
	Input        []responsesItem `json:"input"`
	Tools        []struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      *bool           `json:"strict"`
	} `json:"tools"`
	ToolChoice  json.RawMessage `json:"tool_choice"`
	Reasoning   json.RawMessage `json:"reasoning"`
	Text        json.RawMessage `json:"text"`
	Include     []string        `json:"include"`
	Store       *bool           `json:"store"`
	Stream      bool            `json:"stream"`
	Temperature *float64        `json:"temperature"`
	MaxTokens   int             `json:"max_output_tokens"`
}

type responsesItem struct {
	Type      string          `json:"type"`
	ID        *string         `json:"id"`
	Role      string          `json:"role"`
	Phase     string          `json:"phase"`
	Status    string          `json:"status"`
	Content   []responsesPart `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	Arguments string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`
	Summary   []responsesPart `json:"summary"`
	Encrypted string          `json:"encrypted_content"`
}

type responsesPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL string `json:"image_url"`
	Detail   string `json:"detail"`
}

// identity identifies an item, in whichever form it comes.
func (i responsesItem) identity() string {
	switch i.Type {
	case "reasoning":
		return i.Encrypted
	case "function_call":
		return i.CallID
	}
	text := ""
	for _, p := range i.Content {
		text += p.Text
	}
	return text
}

// asks reports whether the request ends with a question, which the answer is to call a tool
// for.
func (r responsesRequest) asks() bool {
	last := r.Input[len(r.Input)-1]
	return last.Role == "user" && strings.Contains(last.identity(), "please")
}

// short is the input in short: reasoning and calls by what identifies them, = for a result,
// the phases of the model's messages, and user for the others.
func (r responsesRequest) short() string {
	var out []string
	for _, i := range r.Input {
		switch i.Type {
		case "reasoning", "function_call":
			out = append(out, i.identity())
		case "function_call_output":
			out = append(out, "=")
		default:
			out = append(out, cmp.Or(i.Phase, i.Role))
		}
	}
	return strings.Join(out, " ")
}

// check returns why OpenAI would refuse the request; it is empty for one that it takes.
func (s *responsesServer) check(r responsesRequest) string {
	switch {
	case r.Store == nil || *r.Store || !slices.Contains(r.Include, "reasoning.encrypted_content"):
		return "the answer would be stored, or its reasoning be lost"
	case len(r.Input) == 0:
		return "Missing required parameter: 'input'."
	}
	called, open := map[string]bool{}, map[string]bool{}
	for n, i := range r.Input {
		prefix := map[string]string{"reasoning": "rs", "function_call": "fc", "message": "msg", "function_call_output": "fc"}[i.Type]
		if i.ID != nil && !strings.HasPrefix(*i.ID, prefix) {
			return fmt.Sprintf("Invalid 'input[%d].id': '%s'. Expected an ID that begins with '%s'.", n, *i.ID, prefix)
		}
		switch i.Type {
		case "message":
			for _, p := range i.Content {
				if want := map[string]string{"assistant": "output_text", "user": "input_text"}[i.Role]; p.Type != want && p.Type != "input_image" {
					return fmt.Sprintf("Invalid value: '%s'. Supported values are: '%s'.", p.Type, want)
				}
			}
		case "reasoning":
			want, known := s.next[i.Encrypted]
			if !known {
				return "The encrypted content " + i.Encrypted + " could not be verified. Reason: Encrypted content could not be decrypted or parsed."
			}
			if i.Summary == nil || n+1 == len(r.Input) || r.Input[n+1].identity() != want {
				return "Item 'rs_1' of type 'reasoning' was provided without its required following item."
			}
		case "function_call":
			if called[i.CallID] || i.CallID == "" || len(i.CallID) > 64 || !json.Valid([]byte(i.Arguments)) {
				return fmt.Sprintf("Invalid 'input[%d].call_id'.", n)
			}
			called[i.CallID], open[i.CallID] = true, true
		case "function_call_output":
			if !open[i.CallID] {
				return "No tool call found for function call output with call_id " + i.CallID + "."
			}
			delete(open, i.CallID)
		default:
			return fmt.Sprintf("Invalid value: '%s'. Supported values are: 'message', 'reasoning'.", i.Type)
		}
	}
	for id := range open {
		return "No tool output found for function call " + id + "."
	}
	return ""
}

// startResponses starts a server whose answers think, comment, and call list_files twice for a
// question; then they think and answer.
func startResponses(t *testing.T) *responsesServer {
	t.Helper()
	s := &responsesServer{next: map[string]string{}, answer: thinkThenCall}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func thinkThenCall(r responsesRequest) []map[string]any {
	thought := func(k int) map[string]any {
		return map[string]any{"type": "reasoning", "id": fmt.Sprintf("rs_%d%d", r.n, k), "encrypted_content": fmt.Sprintf("enc-%d%c", r.n, 'a'+k),
			"summary": []any{map[string]any{"type": "summary_text", "text": fmt.Sprintf("oa thought %d", r.n)}}, "status": nil, "content": nil}
	}
	say := func(text, phase string) map[string]any {
		return map[string]any{"type": "message", "id": fmt.Sprintf("msg_%d", r.n), "role": "assistant", "status": "completed", "phase": phase,
			"content": []any{map[string]any{"type": "output_text", "text": text, "annotations": []any{}}}}
	}
	call := func(k int) map[string]any {
		return map[string]any{"type": "function_call", "id": fmt.Sprintf("fc_%d%d", r.n, k), "call_id": fmt.Sprintf("call_%d%c", r.n, 'a'+k),
			"name": "list_files", "arguments": "{}", "namespace": "crm", "status": "completed"}
	}
	if r.asks() {
		return []map[string]any{thought(0), say(fmt.Sprintf("I look %d.", r.n), "commentary"), thought(1), call(0), call(1)}
	}
	return []map[string]any{thought(0), say(fmt.Sprintf("answer %d", r.n), "final_answer")}
}

func (s *responsesServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil || !strings.HasSuffix(r.URL.Path, "/v1/responses") {
		http.NotFound(w, r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	req := responsesRequest{Body: string(raw), n: len(s.accepted)}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	why := ""
	if err := dec.Decode(&req); err != nil {
		why = "Unknown parameter: " + err.Error()
	} else {
		why = s.check(req)
	}
	if why != "" {
		s.refused = append(s.refused, why)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": why, "type": "invalid_request_error", "param": "input", "code": nil}})
		return
	}
	s.accepted = append(s.accepted, req)
	w.Header().Set("Content-Type", "text/event-stream")
	items := s.answer(req)
	for i, item := range items {
		if item["type"] == "reasoning" && i+1 < len(items) {
			s.next[item["encrypted_content"].(string)] = itemOf(items[i+1]).identity()
		}
		sendItem(w, i, item)
	}
	sendEvent(w, "response.completed", map[string]any{"response": map[string]any{
		"id": fmt.Sprintf("resp_%d", req.n), "status": "completed", "output": items, "error": nil,
		"usage": map[string]any{
			"input_tokens": 20, "output_tokens": 9, "input_tokens_details": map[string]any{"cached_tokens": 8},
			"output_tokens_details": map[string]any{"reasoning_tokens": 4},
		},
	}})
}

func itemOf(v map[string]any) (i responsesItem) {
	raw, _ := json.Marshal(v)
	_ = json.Unmarshal(raw, &i)
	return i
}

// sendItem streams an item as OpenAI does.
func sendItem(w io.Writer, i int, item map[string]any) {
	begun := map[string]any{"type": item["type"], "id": item["id"]}
	for _, k := range []string{"call_id", "name", "role", "phase"} {
		if item[k] != nil {
			begun[k] = item[k]
		}
	}
	if item["type"] == "reasoning" {
		begun["encrypted_content"] = "enc-part"
	}
	sendEvent(w, "response.output_item.added", map[string]any{"output_index": i, "item": begun})
	piece := func(kind, text string) {
		runes := []rune(text)
		half := len(runes) / 2
		for _, delta := range [][]rune{runes[:half], runes[half:]} {
			sendEvent(w, kind, map[string]any{"output_index": i, "item_id": item["id"], "delta": string(delta)})
		}
	}
	got := itemOf(item)
	for _, p := range got.Summary {
		piece("response.reasoning_summary_text.delta", p.Text)
	}
	for _, p := range got.Content {
		piece("response.output_text.delta", p.Text)
	}
	if got.Type == "function_call" {
		piece("response.function_call_arguments.delta", got.Arguments)
	}
	sendEvent(w, "response.output_item.done", map[string]any{"output_index": i, "item": item})
}

func sendEvent(w io.Writer, kind string, members map[string]any) {
	members["type"] = kind
	raw, _ := json.Marshal(members)
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, raw)
}

// any reports whether the server has accepted a request.
func (s *responsesServer) any() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.accepted) > 0
}

// last returns the last accepted request, and the refusals so far.
func (s *responsesServer) last(t *testing.T) (responsesRequest, []string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.accepted) == 0 {
		t.Fatalf("the server accepted no request; it refused %q", s.refused)
	}
	return s.accepted[len(s.accepted)-1], slices.Clone(s.refused)
}

// responsesWorld is a world whose provider r is asked by the Responses API.
func responsesWorld(t *testing.T, s *responsesServer) *world {
	t.Helper()
	w := newWorld(t, yesScript)
	commandtest.Put(t, filepath.Join(w.Dir, "config", "config.yaml"), fmt.Sprintf("providers:\n  r: {type: openai, api: responses, base_url: %q, key: k-0123456789}\n", s.URL+"/v1"))
	w.Env = append(w.Env, "NO_PROXY=127.0.0.1", "HTTP_PROXY=", "HTTPS_PROXY=")
	return w
}
