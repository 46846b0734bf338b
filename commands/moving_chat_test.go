package commands_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// ruledServer serves one API on a loopback address and refuses what the real server refuses.
type ruledServer struct {
	*httptest.Server
	path   string // of a request for an answer
	check  func(body []byte) error
	answer func(n int, asked bool) (contentType, body string)

	mu       sync.Mutex
	accepted []string
	refused  []string
}

func startRuled(t *testing.T, path string, check func([]byte) error, answer func(int, bool) (string, string)) *ruledServer {
	t.Helper()
	s := &ruledServer{path: path, check: check, answer: answer}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *ruledServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		return
	case strings.HasSuffix(r.URL.Path, "/api/show"):
		_, _ = io.WriteString(w, `{"capabilities":["completion","tools","thinking"],"model_info":{"general.architecture":"x","x.context_length":65536}}`)
		return
	case r.URL.Path != s.path:
		http.NotFound(w, r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check(raw); err != nil {
		s.refused = append(s.refused, err.Error())
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"type": "invalid_request_error", "message": err.Error()}})
		return
	}
	n := len(s.accepted)
	s.accepted = append(s.accepted, string(raw))
	// The question is the last text other than a result, unless a result follows it.
	asked := strings.LastIndex(string(raw), "please") > max(strings.LastIndex(string(raw), `"tool_result"`), strings.LastIndex(string(raw), `"role":"tool"`))
	kind, body := s.answer(n, asked)
	w.Header().Set("Content-Type", kind)
	_, _ = io.WriteString(w, body)
}

// only reports a member of an object that is not among the known ones, as servers do that
// refuse what they don't know.
func only(where string, raw json.RawMessage, known string) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	for name := range fields {
		if !slices.Contains(strings.Fields(known), name) {
			return fmt.Errorf("%s.%s: Extra inputs are not permitted", where, name)
		}
	}
	return nil
}

// anthropicCheck holds a request to the rules of the Messages API.
func anthropicCheck(body []byte) error {
	var r struct {
		Messages []struct {
			Role    string
			Content []json.RawMessage
		}
		Tools    []json.RawMessage
		Thinking struct{ Type string }
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return err
	}
	var open []string
	used := map[string]bool{}
	for i, m := range r.Messages {
		if m.Role != []string{"user", "assistant"}[i%2] || len(m.Content) == 0 {
			return fmt.Errorf("messages.%d: roles must alternate, and content must not be empty", i)
		}
		results := open
		open = nil
		for j, raw := range m.Content {
			var b struct {
				Type, Text, ID, Thinking, Signature string
				ToolUseID                           string `json:"tool_use_id"`
				Input                               json.RawMessage
			}
			where := fmt.Sprintf("messages.%d.content.%d", i, j)
			if err := json.Unmarshal(raw, &b); err != nil {
				return err
			}
			known := map[string]string{
				"text": "type text cache_control", "tool_use": "type id name input cache_control", "thinking": "type thinking signature",
				"tool_result": "type tool_use_id content is_error cache_control",
			}[b.Type]
			if err := only(where, raw, known); err != nil {
				return err
			}
			switch b.Type {
			case "text":
				if strings.TrimSpace(b.Text) == "" {
					return fmt.Errorf("%s: text content blocks must be non-empty", where)
				}
			case "thinking":
				if strings.Replace(b.Signature, "an-sig-", "an thought ", 1) != b.Thinking || b.Signature == "" {
					return fmt.Errorf("%s: Invalid `signature` in `thinking` block", where)
				}
				if j == len(m.Content)-1 {
					return fmt.Errorf("%s: the final block in an assistant message cannot be `thinking`", where)
				}
			case "tool_use":
				if !regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`).MatchString(b.ID) || used[b.ID] || len(r.Tools) == 0 || b.Input[0] != '{' {
					return fmt.Errorf("%s.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$' and be unique", where)
				}
				used[b.ID] = true
				open = append(open, b.ID)
			case "tool_result":
				at := slices.Index(results, b.ToolUseID)
				if at < 0 {
					return fmt.Errorf("%s: unexpected `tool_use_id` found in `tool_result` blocks: %s", where, b.ToolUseID)
				}
				results = slices.Delete(slices.Clone(results), at, at+1)
			}
		}
		if len(results) > 0 {
			return fmt.Errorf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s", i-1, results[0])
		}
	}
	if len(r.Messages)%2 == 0 {
		return fmt.Errorf("messages: the last message must be of the user")
	}
	return nil
}

// geminiCheck holds a request to the rules of Gemini's OpenAI layer.
func geminiCheck(body []byte) error {
	var r struct {
		Messages []json.RawMessage
		Tools    []json.RawMessage
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return err
	}
	var open []string
	for i, raw := range r.Messages {
		if err := only(fmt.Sprintf("messages[%d]", i), raw, "role content tool_calls tool_call_id extra_content"); err != nil {
			return err
		}
		var m struct {
			Role       string
			ToolCalls  []json.RawMessage `json:"tool_calls"`
			ToolCallID string            `json:"tool_call_id"`
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			return err
		}
		if m.Role == "tool" {
			at := slices.Index(open, m.ToolCallID)
			if at < 0 {
				return fmt.Errorf("messages[%d]: a function response that has no function call", i)
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("please ensure that the number of function response parts is equal to the number of function call parts of the function call turn")
		}
		for j, c := range m.ToolCalls {
			if err := only("tool_calls", c, "id type function extra_content index"); err != nil {
				return err
			}
			var call struct{ ID string }
			_ = json.Unmarshal(c, &call)
			open = append(open, call.ID)
			found := signatureAt.FindStringSubmatch(string(c))
			switch {
			case j == 0 && found == nil:
				return fmt.Errorf("Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly") //nolint:staticcheck // the server's words
			case found != nil && found[1] != "skip_thought_signature_validator" && !strings.HasPrefix(found[1], "SIG-"):
				return fmt.Errorf("Corrupted thought signature") //nolint:staticcheck // the server's words
			}
		}
	}
	return nil
}

// ollamaCheck reads a request as Ollama does, whose types are strict.
func ollamaCheck(body []byte) error {
	var r struct {
		Messages []struct {
			Role, Content, Thinking string
			Images                  [][]byte
			ToolName                string `json:"tool_name"`
			ToolCalls               []struct {
				Function struct {
					Name      string
					Arguments map[string]any
				}
			} `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return err
	}
	open := 0
	for i, m := range r.Messages {
		if m.Role == "tool" && m.ToolName == "" || m.Role != "tool" && m.Content == "" && len(m.ToolCalls) == 0 {
			return fmt.Errorf("message %d is empty, or a result of no tool", i)
		}
		if m.Role == "tool" {
			open--
		} else if open != 0 {
			return fmt.Errorf("message %d follows %d calls without results", i, open)
		} else {
			open = len(m.ToolCalls)
		}
	}
	return nil
}

// movingChat is a chat that moves between servers which each have their own API.
type movingChat struct {
	ruled  map[string]*ruledServer // by the names of movingModels
	openai *responsesServer
	taught int // refusals by which Gemini has taught its rule for the calls of others
}

// movingModels are the models of the servers, and ownThoughts what each recognises as its own.
func movingModels() map[string]string {
	return map[string]string{"an": "an/claude-opus-5-5", "g": "g/gemini-3-pro", "r": "r/gpt-5.6", "o": "ollama/qwen3"}
}

func ownThoughts() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"an": regexp.MustCompile(`an-sig-\d+`), "g": regexp.MustCompile(`SIG-\d+`), "r": regexp.MustCompile(`enc-\d+a`), "o": regexp.MustCompile(`ol thought \d+`),
	}
}

func startMovingChat(t *testing.T) *movingChat {
	t.Helper()
	anthropic := startRuled(t, "/v1/messages", anthropicCheck, func(n int, asked bool) (string, string) {
		return "text/event-stream", labMessages(n, asked, false)
	})
	gemini := startRuled(t, "/v1/chat/completions", geminiCheck, func(n int, asked bool) (string, string) {
		delta := `{"content":"answer"}`
		if asked {
			delta = callDelta(n, fmt.Sprintf(`,"extra_content":{"google":{"thought_signature":"SIG-%d"}}`, n), "")
		}
		return "text/event-stream", `data: {"choices":[{"index":0,"delta":` + delta + `,"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	})
	ollama := startRuled(t, "/api/chat", ollamaCheck, func(n int, asked bool) (string, string) {
		said := `{"message":{"role":"assistant","content":"answer"}}`
		if asked {
			said = `{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"list_files","arguments":{}}}]}}`
		}
		return "application/x-ndjson", fmt.Sprintf(`{"message":{"role":"assistant","content":"","thinking":"ol thought %d"}}`, n) + "\n" + said + "\n" +
			`{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":3}` + "\n"
	})
	return &movingChat{ruled: map[string]*ruledServer{"an": anthropic, "g": gemini, "o": ollama}, openai: startResponses(t)}
}

// world is a world whose configuration has all servers.
func (c *movingChat) world(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, yesScript)
	commandtest.Put(t, filepath.Join(w.Dir, "config", "config.yaml"), fmt.Sprintf(`
providers:
  an: {type: anthropic, base_url: %q, key: k-0123456789}
  g: {type: openai, base_url: %q, key: k-0123456789}
  r: {type: openai, api: responses, base_url: %q, key: k-0123456789}
ollama: {host: %q}
`, c.ruled["an"].URL, c.ruled["g"].URL+"/v1", c.openai.URL+"/v1", c.ruled["o"].URL))
	w.Env = append(w.Env, "NO_PROXY=127.0.0.1", "HTTP_PROXY=", "HTTPS_PROXY=", "OLLAMA_HOST=")
	return w
}

// hop asks a server's model in a process of its own. The last request has so many of the
// server's own thoughts, none of another's, and no server has refused anything.
func (c *movingChat) hop(t *testing.T, w *world, at string, thoughts int, args ...string) {
	t.Helper()
	if out := askTool(t, w, movingModels()[at], args...); !strings.Contains(out, "answer") {
		t.Errorf("%s %q: it printed %q", at, args, out)
	}
	var last string
	r, refused := responsesRequest{}, []string(nil)
	if c.openai.any() {
		r, refused = c.openai.last(t)
	}
	if last = r.Body; len(refused) > 0 {
		t.Errorf("%s %q: OpenAI refused %q", at, args, refused)
	}
	for name, s := range c.ruled {
		s.mu.Lock()
		if refused := s.refused; len(refused) > 0 && (name != "g" || len(refused) > c.taught) {
			t.Errorf("%s %q: %s refused %q", at, args, name, refused)
		}
		if name == at {
			last = s.accepted[len(s.accepted)-1]
		}
		s.mu.Unlock()
	}
	for name, own := range ownThoughts() {
		got := own.FindAllString(last, -1)
		if name == at && len(got) != thoughts || name != at && len(got) > 0 {
			t.Errorf("%s %q: it sent %q of %s, want %d of its own", at, args, got, name, thoughts)
		}
	}
}

// A chat moves from Anthropic to Gemini, OpenAI and Ollama and back, with a tool called at each
// stop and each question asked by a process of its own. Each server gets its own signed
// thoughts back and nothing that it would refuse. So it is in a fork, and after export and
// import too.
func TestAChatMovesThroughAllProviders(t *testing.T) {
	t.Parallel()
	c := startMovingChat(t)
	w := c.world(t)
	c.hop(t, w, "an", 1)
	c.taught = 1
	c.hop(t, w, "g", 1, "-c")
	c.hop(t, w, "r", 1, "-c")
	c.hop(t, w, "o", 1, "-c")
	c.hop(t, w, "r", 3, "-c") // of the call, of its answer, and of the new call
	c.hop(t, w, "g", 2, "-c")
	c.hop(t, w, "an", 3, "-c")
	c.hop(t, w, "o", 3, "-c")
	c.hop(t, w, "an", 5, "-c", "--fork")
	c.hop(t, w, "r", 5, "--chat", "1")
	doc, _ := w.Run(0, "chats", "export", "1", "-o", "json")
	other := c.world(t)
	commandtest.Put(t, filepath.Join(other.Dir, "chat.json"), doc)
	other.Run(0, "chats", "import", "chat.json")
	c.taught = 2 // another machine learns it too
	c.hop(t, other, "r", 7, "--chat", "1")
	c.hop(t, other, "g", 3, "-c")
	c.hop(t, other, "an", 5, "-c")
	c.hop(t, other, "o", 5, "-c")
	for _, model := range movingModels() { // and with no tools offered
		if out, _ := other.Run(0, "ask", "--no-stdin", "-m", model, "-c", "thanks"); !strings.Contains(out, "answer") {
			t.Errorf("%s without tools: it printed %q", model, out)
		}
	}
}
