package commands_test

import (
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
	"time"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// peerReply is what a server answers to one request.
type peerReply struct {
	status  int    // with body; 0 is 200 with the rest
	body    string // of a refusal
	thought string
	text    string
	call    string // the id of a call of list_files; "" is none
	members string // further members of the call, as JSON without braces
	finish  string // "" is the protocol's own
	input   int    // the input tokens that it counts; 0 is none
	open    bool   // the connection stays open after the finish reason
}

// peerRequest is a request for an answer in any protocol.
type peerRequest struct {
	body  string
	calls []json.RawMessage // of the history
	// thoughts counts the messages of the history with calls that have their reasoning too.
	thoughts int
	asks     bool // the last message is a question
	sumUp    bool
}

// peer serves one protocol.
type peer struct {
	protocol string
	answer   func(r peerRequest) peerReply
	done     chan struct{}

	mu       sync.Mutex
	accepted []peerRequest
	refused  int
}

// peerProtocols returns the protocols of providers.
func peerProtocols() []string { return []string{"openai", "mistral", "anthropic", "ollama"} }

// startPeer returns a server and a world in which it is the provider of the model that is
// returned. settings are further lines of the configuration.
func startPeer(t *testing.T, protocol, settings string, answer func(peerRequest) peerReply) (s *peer, w *world, model string) {
	t.Helper()
	s = &peer{protocol: protocol, answer: answer, done: make(chan struct{})}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	t.Cleanup(func() { close(s.done) })
	w = newWorld(t, yesScript)
	w.Env = append(w.Env, "NO_PROXY=127.0.0.1", "HTTP_PROXY=", "HTTPS_PROXY=")
	model = "p/m"
	switch protocol {
	case "ollama":
		w.Env, model = append(w.Env, "OLLAMA_HOST="+srv.URL), "ollama/m"
		w.Configure(settings)
	default:
		w.Configure(fmt.Sprintf("providers:\n  p: {type: %s, base_url: '%s/v1', key: k-0123456789}\n%s", protocol, srv.URL, settings))
	}
	return s, w, model
}

func (s *peer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	case strings.HasSuffix(r.URL.Path, "api/show"):
		_, _ = io.WriteString(w, `{"capabilities":["completion","tools","thinking"],"model_info":{"general.architecture":"x","x.context_length":8192}}`)
		return
	case r.Method != http.MethodPost || strings.HasSuffix(r.URL.Path, "api/ps"):
		http.NotFound(w, r)
		return
	}
	req, err := readPeerRequest(s.protocol, raw)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	reply := s.answer(req)
	if reply.status == 0 {
		s.accepted = append(s.accepted, req)
	} else {
		s.refused++
	}
	s.mu.Unlock()
	if reply.status != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(reply.status)
		_, _ = io.WriteString(w, reply.body)
		return
	}
	w.Header().Set("Content-Type", map[bool]string{false: "text/event-stream", true: "application/x-ndjson"}[s.protocol == "ollama"])
	_, _ = io.WriteString(w, reply.encode(s.protocol))
	_ = http.NewResponseController(w).Flush()
	if reply.open {
		select {
		case <-r.Context().Done():
		case <-s.done:
		}
	}
}

// last returns the last accepted request, and how many were refused so far.
func (s *peer) last(t *testing.T) (peerRequest, int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.accepted) == 0 {
		t.Fatal("the server accepted no request")
	}
	return s.accepted[len(s.accepted)-1], s.refused
}

func readPeerRequest(protocol string, raw []byte) (peerRequest, error) {
	var in struct {
		Messages []struct {
			Role     string            `json:"role"`
			Content  json.RawMessage   `json:"content"`
			Calls    []json.RawMessage `json:"tool_calls"`
			Thoughts string            `json:"reasoning_content"`
			Thinking string            `json:"thinking"`
		} `json:"messages"`
	}
	req := peerRequest{body: string(raw)}
	if err := json.Unmarshal(raw, &in); err != nil {
		return req, err
	}
	for _, m := range in.Messages {
		var blocks []json.RawMessage
		_ = json.Unmarshal(m.Content, &blocks)
		calls, thought := m.Calls, m.Thoughts != "" || m.Thinking != ""
		for _, b := range blocks {
			var head struct{ Type string }
			_ = json.Unmarshal(b, &head)
			thought = thought || head.Type == "thinking"
			if head.Type == "tool_use" {
				calls = append(calls, b)
			}
		}
		if req.calls = append(req.calls, calls...); len(calls) > 0 && thought {
			req.thoughts++
		}
		req.asks = m.Role == "user" && strings.Contains(string(m.Content), "please") && !strings.Contains(string(m.Content), "tool_result")
		req.sumUp = strings.Contains(string(m.Content), "Sum up the conversation so far")
	}
	return req, nil
}

func quoteJSON(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

func (p peerReply) encode(protocol string) string {
	switch protocol {
	case "anthropic":
		return p.anthropic()
	case "ollama":
		return p.ollama()
	}
	return p.chat(protocol)
}

// chat encodes it as a chat completion, in the form of OpenAI or of Mistral.
func (p peerReply) chat(protocol string) string {
	var b strings.Builder
	delta := func(d, finish string) {
		fmt.Fprintf(&b, "data: {\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n", d, finish)
	}
	switch {
	case p.thought != "" && protocol == "mistral":
		delta(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":`+quoteJSON(p.thought)+`}]}]}`, "null")
	case p.thought != "":
		delta(`{"reasoning_content":`+quoteJSON(p.thought)+`}`, "null")
	}
	if p.text != "" {
		delta(`{"content":`+quoteJSON(p.text)+`}`, "null")
	}
	finish := "stop"
	if p.call != "" {
		finish = "tool_calls"
		delta(`{"tool_calls":[{"index":0,"id":`+quoteJSON(p.call)+`,"type":"function",`+p.members+`"function":{"name":"list_files","arguments":"{}"}}]}`, "null")
	}
	if p.finish != "" {
		finish = p.finish
	}
	delta("{}", quoteJSON(finish))
	if p.input > 0 {
		fmt.Fprintf(&b, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":1}}\n\n", p.input)
	}
	if !p.open {
		b.WriteString("data: [DONE]\n\n")
	}
	return b.String()
}

func (p peerReply) anthropic() string {
	var b strings.Builder
	event := func(kind, rest string) { fmt.Fprintf(&b, "event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, rest) }
	n := 0
	block := func(start, delta string) {
		event("content_block_start", fmt.Sprintf(`,"index":%d,"content_block":%s`, n, start))
		if delta != "" {
			event("content_block_delta", fmt.Sprintf(`,"index":%d,"delta":%s`, n, delta))
		}
		event("content_block_stop", fmt.Sprintf(`,"index":%d`, n))
		n++
	}
	event("message_start", fmt.Sprintf(`,"message":{"role":"assistant","content":[],"usage":{"input_tokens":%d}}`, max(p.input, 1)))
	if p.thought != "" {
		block(`{"type":"thinking","thinking":"","signature":"S"}`, `{"type":"thinking_delta","thinking":`+quoteJSON(p.thought)+`}`)
	}
	if p.text != "" {
		block(`{"type":"text","text":""}`, `{"type":"text_delta","text":`+quoteJSON(p.text)+`}`)
	}
	finish := "end_turn"
	if p.call != "" {
		finish = "tool_use"
		block(`{"type":"tool_use","id":`+quoteJSON(p.call)+`,`+p.members+`"name":"list_files","input":{}}`, "")
	}
	if p.finish != "" {
		finish = p.finish
	}
	event("message_delta", `,"delta":{"stop_reason":`+quoteJSON(finish)+`},"usage":{"output_tokens":1}`)
	if !p.open {
		event("message_stop", "")
	}
	return b.String()
}

func (p peerReply) ollama() string {
	var b strings.Builder
	line := func(message, rest string) {
		fmt.Fprintf(&b, "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",%s},%s}\n", message, rest)
	}
	if p.thought != "" {
		line(`"content":"","thinking":`+quoteJSON(p.thought), `"done":false`)
	}
	if p.text != "" {
		line(`"content":`+quoteJSON(p.text), `"done":false`)
	}
	if p.call != "" {
		line(`"content":"","tool_calls":[{"id":`+quoteJSON(p.call)+`,`+p.members+`"function":{"index":0,"name":"list_files","arguments":{}}}]`, `"done":false`)
	}
	finish, counts := "stop", ""
	if p.finish != "" {
		finish = p.finish
	}
	if p.input > 0 {
		counts = fmt.Sprintf(`,"prompt_eval_count":%d,"eval_count":1`, p.input)
	}
	line(`"content":""`, fmt.Sprintf(`"done":%v,"done_reason":%q%s`, !p.open, finish, counts))
	return b.String()
}

// eachPeer runs a test for each protocol.
func eachPeer(t *testing.T, test func(t *testing.T, protocol string)) {
	for _, protocol := range peerProtocols() {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			test(t, protocol)
		})
	}
}

// Members of a call that only its server understands, and reasoning, are sent back with it
// in the process that got them, in later ones, in forks and after an import.
func TestCallsOfAllProtocolsGoBackWhole(t *testing.T) {
	t.Parallel()
	eachPeer(t, func(t *testing.T, protocol string) {
		const member = `"vendor":{"signature":"SIG","list":[1,{"b":null}]}`
		n := 0
		answer := func(r peerRequest) peerReply {
			for _, c := range r.calls {
				if !strings.Contains(string(c), member) {
					return peerReply{status: http.StatusBadRequest, body: `{"error":{"message":"a call lacks its vendor member","type":"invalid_request_error"}}`}
				}
			}
			if r.thoughts < len(r.calls) {
				return peerReply{status: http.StatusBadRequest, body: `{"error":{"message":"a call lacks its reasoning","type":"invalid_request_error"}}`}
			}
			if n++; r.asks {
				return peerReply{thought: fmt.Sprintf("thought %d", n), call: fmt.Sprintf("callid%03d", n), members: member + ","}
			}
			return peerReply{thought: "so", text: "answered"}
		}
		s, w, model := startPeer(t, protocol, "", answer)
		for i, how := range [][]string{nil, {"-c"}, {"-c", "--fork"}, {"--chat", "1"}} {
			askTool(t, w, model, how...)
			last, refused := s.last(t)
			if refused != 0 || len(last.calls) != []int{1, 2, 3, 3}[i] {
				t.Fatalf("%q: %d requests were refused, the last one has %d calls: %s", how, refused, len(last.calls), last.body)
			}
		}
		doc, _ := w.Run(0, "chats", "export", "1", "-o", "json")
		commandtest.Put(t, filepath.Join(w.Dir, "chat.json"), doc)
		w.Run(0, "chats", "import", "--copy", "chat.json")
		askTool(t, w, model, "--chat", "3")
		if last, refused := s.last(t); refused != 0 || len(last.calls) != 4 {
			t.Errorf("after an import %d requests were refused, the last one has %d calls: %s", refused, len(last.calls), last.body)
		}
	})
}

// A member of a call that a server sends and later refuses is left out, by later processes
// too.
func TestAMemberThatIsRefusedIsLeftOut(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"openai", "mistral", "anthropic"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			s, w, model := startPeer(t, protocol, "", func(r peerRequest) peerReply {
				if strings.Contains(r.body, `"vendor"`) {
					return peerReply{status: http.StatusBadRequest, body: `{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0.tool_use.vendor: Extra inputs are not permitted"}}`}
				}
				if r.asks {
					return peerReply{call: "callid001", members: `"vendor":"v",`}
				}
				return peerReply{text: "answered"}
			})
			for _, how := range [][]string{nil, {"-c"}, {"-c"}} {
				askTool(t, w, model, how...)
			}
			if _, refused := s.last(t); refused != 1 {
				t.Errorf("%d requests were refused, want 1", refused)
			}
		})
	}
}

// After the finish reason an answer is complete, also if the server keeps the connection
// open. Its calls run, and a later process has them in its history.
func TestAnAnswerThatStaysOpenIsContinued(t *testing.T) {
	t.Parallel()
	eachPeer(t, func(t *testing.T, protocol string) {
		s, w, model := startPeer(t, protocol, "", func(r peerRequest) peerReply {
			if r.asks {
				return peerReply{call: fmt.Sprintf("callid%03d", len(r.calls)), open: true}
			}
			return peerReply{text: "answered", open: true}
		})
		begun := time.Now()
		if out := askTool(t, w, model); !strings.HasPrefix(out, "answered") {
			t.Errorf("it printed %q", out)
		}
		if took := time.Since(begun); took > time.Minute {
			t.Errorf("two responses took %s", took)
		}
		askTool(t, w, model, "-c")
		if last, refused := s.last(t); refused != 0 || len(last.calls) != 2 {
			t.Errorf("%d requests were refused, the last one has %d calls: %s", refused, len(last.calls), last.body)
		}
	})
}

// peerTokens is how a server of these tests counts a request.
func peerTokens(r peerRequest) int { return len(r.body) / 4 }

// A conversation that has become too long for its server continues in other processes with
// its older messages summed up, however the server signals that.
func TestALongChatContinuesInOtherProcesses(t *testing.T) {
	t.Parallel()
	const context = 2500
	tooLong := map[string]string{
		"openai":    `{"error":{"message":"This model's maximum context length is 2500 tokens. However, your messages resulted in %d tokens.","code":"context_length_exceeded"}}`,
		"mistral":   `{"object":"error","message":"Prompt contains %d tokens and 0 draft tokens, too large for model with 2500 maximum context length","code":"3051"}`,
		"anthropic": `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: %d tokens > 2500 maximum"}}`,
		"ollama":    `{"error":"the input length %d exceeds the context length of 2500"}`,
	}
	for name, signal := range map[string]func(protocol string, r peerRequest) peerReply{
		"a refusal": func(protocol string, r peerRequest) peerReply {
			return peerReply{status: http.StatusBadRequest, body: fmt.Sprintf(tooLong[protocol], peerTokens(r))}
		},
		"a refusal without a reason": func(string, peerRequest) peerReply {
			return peerReply{status: http.StatusBadRequest, body: `{"error":{"message":"Bad Request"}}`}
		},
		"the finish reason": func(_ string, r peerRequest) peerReply {
			return peerReply{finish: "model_context_window_exceeded", input: peerTokens(r)}
		},
		"an empty answer": func(_ string, r peerRequest) peerReply {
			return peerReply{input: peerTokens(r)}
		},
		"no token for the answer": func(string, peerRequest) peerReply {
			return peerReply{finish: "length", input: context - 1}
		},
		"an answer to a part": func(_ string, r peerRequest) peerReply {
			return peerReply{text: "half understood", input: peerTokens(r)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachPeer(t, func(t *testing.T, protocol string) {
				silent := !strings.HasPrefix(name, "a refusal")
				settings := ""
				if silent {
					settings = fmt.Sprintf("models:\n  %s: {context_length: %d}\n", map[bool]string{true: "ollama/m", false: "p/m"}[protocol == "ollama"], context)
				}
				sums, over := 0, 0
				s, w, model := startPeer(t, protocol, settings, func(r peerRequest) peerReply {
					if peerTokens(r) > context {
						over++
						return signal(protocol, r)
					}
					if r.sumUp {
						sums++
						return peerReply{text: "NOTES: the bird is blue.", input: peerTokens(r)}
					}
					return peerReply{text: "yes, it is", input: peerTokens(r)}
				})
				commandtest.Put(t, filepath.Join(w.Dir, "long.txt"), strings.Repeat("some more words of it ", 120))
				for i := range 8 {
					args := []string{"ask", "--no-stdin", "--no-tools", "-m", model, "-f", "long.txt", fmt.Sprint("question ", i)}
					if i > 0 {
						args = slices.Insert(args, 1, "-c")
					}
					out, _ := w.Run(0, args...)
					if !strings.HasPrefix(out, "yes, it is") && !strings.HasPrefix(out, "half understood") {
						t.Errorf("question %d: it printed %q", i, out)
					}
				}
				if s.last(t); sums == 0 {
					t.Errorf("%d requests were too long, and nothing was summed up", over)
				}
			})
		})
	}
}

// A single question that is too long has nothing that could be summed up: the exit status is
// 7, also where the server answers it with nothing.
func TestAQuestionTooLongForASilentServer(t *testing.T) {
	t.Parallel()
	eachPeer(t, func(t *testing.T, protocol string) {
		model := map[bool]string{true: "ollama/m", false: "p/m"}[protocol == "ollama"]
		for name, reply := range map[string]peerReply{
			"more than the context": {input: 36000},
			"all of the context":    {input: 8190, finish: "length"},
			"the finish reason":     {finish: "model_context_window_exceeded"},
			"only reasoning":        {input: 36000, thought: "hm"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				_, w, _ := startPeer(t, protocol, "models:\n  "+model+": {context_length: 8192}\n", func(peerRequest) peerReply { return reply })
				if _, errs := w.Run(7, "ask", "--no-stdin", "--no-tools", "-m", model, "what is it?"); !strings.Contains(errs, "context") {
					t.Errorf("standard error is %q", errs)
				}
			})
		}
	})
}
