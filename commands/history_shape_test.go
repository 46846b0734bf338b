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

// strictServer serves chat completions on a loopback address. It refuses what the real
// server refuses.
type strictServer struct {
	*httptest.Server
	// refuse returns the status and the body of a refusal; 0 accepts the request.
	refuse func(r strictRequest) (status int, body string)
	// answer returns the deltas of the response to an accepted request.
	answer func(r strictRequest) []string

	mu      sync.Mutex
	all     []strictRequest
	refused int
}

// strictRequest is a request as strict servers read it.
type strictRequest struct {
	Body     string
	Messages []strictMessage `json:"messages"`
	Format   json.RawMessage `json:"response_format"`
	n        int             // accepted ones before it
}

type strictMessage struct {
	Role      string            `json:"role"`
	Content   json.RawMessage   `json:"content"`
	Thoughts  *string           `json:"reasoning_content"`
	Reasoning *string           `json:"reasoning"`
	Extra     json.RawMessage   `json:"extra_content"`
	Calls     []json.RawMessage `json:"tool_calls"`
}

// asks reports whether the request ends with a question, which the answer is to call a tool
// for.
func (r strictRequest) asks() bool {
	last := r.Messages[len(r.Messages)-1]
	return last.Role == "user" && strings.Contains(string(last.Content), "please")
}

func startStrict(t *testing.T, refuse func(strictRequest) (int, string), answer func(strictRequest) []string) *strictServer {
	t.Helper()
	s := &strictServer{refuse: refuse, answer: answer}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *strictServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	req := strictRequest{Body: string(raw)}
	if err != nil || json.Unmarshal(raw, &req) != nil || len(req.Messages) == 0 {
		http.NotFound(w, r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if status, body := s.refuse(req); status != 0 {
		s.refused++
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
		return
	}
	req.n = len(s.all)
	s.all = append(s.all, req)
	w.Header().Set("Content-Type", "text/event-stream")
	finish := "stop"
	for _, delta := range s.answer(req) {
		if strings.Contains(delta, `"tool_calls"`) {
			finish = "tool_calls"
		}
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":null}]}\n\n", delta)
	}
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", finish)
}

// last returns the last accepted request, and how many were refused so far.
func (s *strictServer) last(t *testing.T) (strictRequest, int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) == 0 {
		t.Fatal("the server accepted no request")
	}
	return s.all[len(s.all)-1], s.refused
}

// strictWorld is a world whose providers are at strict servers, by their names.
func strictWorld(t *testing.T, servers map[string]string) *world {
	t.Helper()
	w := newWorld(t, yesScript)
	text := "providers:\n"
	for name, base := range servers {
		text += fmt.Sprintf("  %s: {type: openai, base_url: %q, key: k-0123456789}\n", name, base+"/v1")
	}
	commandtest.Put(t, filepath.Join(w.Dir, "config", "config.yaml"), text)
	w.Env = append(w.Env, "NO_PROXY=127.0.0.1", "HTTP_PROXY=", "HTTPS_PROXY=")
	return w
}

// askTool asks a model in a process of its own, with one tool.
func askTool(t *testing.T, w *world, model string, args ...string) string {
	t.Helper()
	out, _ := w.Run(0, append([]string{"ask", "--no-stdin", "--tool", "list_files", "-m", model}, append(args, "please")...)...)
	return out
}

const noSignature = `[{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.","status":"INVALID_ARGUMENT"}}]`

var signatureAt = regexp.MustCompile(`"extra_content":\{"google":\{"thought_signature":"([^"]*)"\}\}`)

// refuseUnsigned refuses, as Gemini does, a history in which the first call of an answer has
// no signature that it knows.
func refuseUnsigned(r strictRequest) (int, string) {
	for _, m := range r.Messages {
		if len(m.Calls) == 0 {
			continue
		}
		found := signatureAt.FindStringSubmatch(string(m.Calls[0]))
		if found == nil {
			return http.StatusBadRequest, noSignature
		}
		if sig := found[1]; sig != "skip_thought_signature_validator" && !strings.HasPrefix(sig, "SIG-") {
			return http.StatusBadRequest, `{"error":{"code":400,"message":"Thought signature is not valid.","status":"INVALID_ARGUMENT"}}`
		}
	}
	return 0, ""
}

func callDelta(n int, more, within string) string {
	return fmt.Sprintf(`{"role":"assistant","tool_calls":[{"index":0,"id":"call-%d","type":"function"%s,"function":{"name":"list_files","arguments":"{}"%s}}]}`, n, more, within)
}

// Members of a call that fettle does not know go back in the same place: in the turn, in a
// second process, after compaction, in a fork, and after export and import.
func TestOpaqueFieldsGoBackWithTheirCall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		deltas func(n int) []string
		want   string // for the first call
	}{
		"with the call": {func(n int) []string {
			return []string{callDelta(n, fmt.Sprintf(`,"extra_content":{"google":{"thought_signature":"SIG-%d"}}`, n), "")}
		}, `"extra_content":{"google":{"thought_signature":"SIG-0"}}`},
		"in a delta of its own": {func(n int) []string {
			return []string{callDelta(n, "", ""), fmt.Sprintf(`{"tool_calls":[{"extra_content":{"google":{"thought_signature":"SIG-%d"}}}]}`, n)}
		}, `"extra_content":{"google":{"thought_signature":"SIG-0"}}`},
		"with unknown siblings": {func(n int) []string {
			return []string{callDelta(n, fmt.Sprintf(`,"vendor":{"a":[1,{"b":null}]},"extra_content":{"google":{"thought_signature":"SIG-%d"}}`, n), `,"origin":"x"`)}
		}, `"vendor":{"a":[1,{"b":null}]}`},
		"of the function": {func(n int) []string {
			return []string{callDelta(n, fmt.Sprintf(`,"extra_content":{"google":{"thought_signature":"SIG-%d"}}`, n), `,"origin":"x"`)}
		}, `"origin":"x"`},
		"of the message": {func(n int) []string {
			return []string{`{"extra_content":{"google":{"note":"N-0"}}}`, callDelta(n, fmt.Sprintf(`,"extra_content":{"google":{"thought_signature":"SIG-%d"}}`, n), "")}
		}, `"extra_content":{"google":{"note":"N-0"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startStrict(t, refuseUnsigned, func(r strictRequest) []string {
				if r.asks() {
					return c.deltas(r.n)
				}
				return []string{`{"content":"answered"}`}
			})
			w := strictWorld(t, map[string]string{"g": s.URL})
			check := func(when string) {
				t.Helper()
				last, refused := s.last(t)
				if !strings.Contains(last.Body, c.want) || refused != 0 || strings.Contains(last.Body, "fettle.fields") {
					t.Errorf("%s: %d requests were refused; the last one is %s", when, refused, last.Body)
				}
			}
			askTool(t, w, "g/gemini")
			check("in the turn")
			askTool(t, w, "g/gemini", "-c")
			check("in a second process")
			askTool(t, w, "g/gemini", "-c", "--fork")
			check("in a fork")
			doc, _ := w.Run(0, "chats", "export", "1", "-o", "json")
			other := strictWorld(t, map[string]string{"g": s.URL})
			commandtest.Put(t, filepath.Join(other.Dir, "chat.json"), doc)
			other.Run(0, "chats", "import", "chat.json")
			askTool(t, other, "g/gemini", "--chat", "1")
			check("after an import")
			w.Run(0, "chats", "compact", "1")
			askTool(t, w, "g/gemini", "--chat", "1")
			if _, refused := s.last(t); refused != 0 {
				t.Errorf("after compaction %d requests were refused", refused)
			}
		})
	}
}

// A history of another model gets the signature that Google documents for it. The refusal
// that teaches this is remembered by other processes.
func TestAHistoryOfAnotherModelIsSigned(t *testing.T) {
	t.Parallel()
	answer := func(r strictRequest) []string {
		if r.asks() {
			return []string{callDelta(r.n, `,"extra_content":{"other":{"secret":"S"}}`, "")}
		}
		return []string{`{"content":"answered"}`}
	}
	first := startStrict(t, func(strictRequest) (int, string) { return 0, "" }, answer)
	gemini := startStrict(t, refuseUnsigned, func(r strictRequest) []string {
		if r.asks() {
			return []string{callDelta(r.n, fmt.Sprintf(`,"extra_content":{"google":{"thought_signature":"SIG-%d"}}`, r.n), "")}
		}
		return []string{`{"content":"answered"}`}
	})
	w := strictWorld(t, map[string]string{"first": first.URL, "g": gemini.URL})
	askTool(t, w, "first/m")
	askTool(t, w, "g/gemini", "-c")
	last, refused := gemini.last(t)
	if refused != 1 || strings.Contains(last.Body, `"secret"`) {
		t.Errorf("%d requests were refused, the last one is %s", refused, last.Body)
	}
	var got []string
	for _, m := range signatureAt.FindAllStringSubmatch(last.Body, -1) {
		got = append(got, m[1])
	}
	if want := []string{"skip_thought_signature_validator", "SIG-0"}; !slices.Equal(got, want) {
		t.Errorf("the calls have the signatures %q, want %q", got, want)
	}
	askTool(t, w, "g/gemini", "-c") // another process
	if _, refused := gemini.last(t); refused != 1 {
		t.Errorf("a second process was refused: %d refusals", refused)
	}
	askTool(t, w, "first/m", "-c")
	if last, _ := first.last(t); strings.Contains(last.Body, "thought_signature") || !strings.Contains(last.Body, `"secret"`) {
		t.Errorf("the first model got %s", last.Body)
	}
}

const noReasoning = `{"error":{"message":"The reasoning_content in the thinking mode must be passed back to the API.","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`

// refuseUnreasoned refuses, as DeepSeek does, calls without reasoning_content.
func refuseUnreasoned(r strictRequest) (int, string) {
	for _, m := range r.Messages {
		if len(m.Calls) > 0 && m.Thoughts == nil {
			return http.StatusBadRequest, noReasoning
		}
	}
	return 0, ""
}

// Reasoning goes back in the field in which it came, in other processes too.
func TestReasoningGoesBackInAnotherProcess(t *testing.T) {
	t.Parallel()
	for field, refuse := range map[string]func(strictRequest) (int, string){
		"reasoning_content": refuseUnreasoned,
		"reasoning": func(r strictRequest) (int, string) {
			for _, m := range r.Messages {
				if len(m.Calls) > 0 && m.Reasoning == nil {
					return http.StatusBadRequest, strings.ReplaceAll(noReasoning, "reasoning_content", "`reasoning`")
				}
			}
			return 0, ""
		},
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			s := startStrict(t, refuse, func(r strictRequest) []string {
				if r.asks() {
					return []string{`{"` + field + `":""}`, fmt.Sprintf(`{"%s":"thought %d"}`, field, r.n), callDelta(r.n, "", "")}
				}
				return []string{fmt.Sprintf(`{"%s":"thought %d"}`, field, r.n), `{"content":"answered"}`}
			})
			w := strictWorld(t, map[string]string{"d": s.URL})
			askTool(t, w, "d/deep")
			for i, how := range [][]string{{"-c"}, {"-c", "--fork"}, {"-c"}} {
				askTool(t, w, "d/deep", how...)
				last, refused := s.last(t)
				if refused != 0 || !strings.Contains(last.Body, `"`+field+`":"thought 0"`) || !strings.Contains(last.Body, fmt.Sprintf(`"thought %d"`, 2*i+2)) {
					t.Errorf("%q: %d requests were refused, the last one is %s", how, refused, last.Body)
				}
			}
		})
	}
}

// A refusal that names the field teaches, whichever way, and another process knows it.
func TestARefusalTeachesTheReasoningField(t *testing.T) {
	t.Parallel()
	plain := func(strictRequest) (int, string) { return 0, "" }
	for name, c := range map[string]struct {
		refuse func(strictRequest) (int, string)
		field  string // in which the server answers
	}{
		"required of others": {refuseUnreasoned, ""},
		"required, as Kimi does": {func(r strictRequest) (int, string) {
			if status, _ := refuseUnreasoned(r); status != 0 {
				return status, `{"error":{"message":"thinking is enabled but reasoning_content is missing in assistant tool call message at index 2","type":"invalid_request_error"}}`
			}
			return 0, ""
		}, ""},
		"not taken, as R1 does": {func(r strictRequest) (int, string) {
			if strings.Contains(r.Body, `"reasoning_content"`) {
				return http.StatusBadRequest, `{"error":{"message":"The reasoning_content field is an intermediate result for display purposes only and cannot be part of the input."}}`
			}
			return 0, ""
		}, "reasoning_content"},
		"not taken, as Groq does": {func(r strictRequest) (int, string) {
			if strings.Contains(r.Body, `"reasoning":`) {
				return http.StatusBadRequest, `{"error":{"message":"'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning' is unsupported)]","type":"invalid_request_error"}}`
			}
			return 0, ""
		}, "reasoning"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := func(field string) func(strictRequest) []string {
				return func(r strictRequest) []string {
					var out []string
					if field != "" {
						out = append(out, `{"`+field+`":"a thought"}`)
					}
					if r.asks() {
						return append(out, callDelta(r.n, "", ""))
					}
					return append(out, `{"content":"answered"}`)
				}
			}
			other := startStrict(t, plain, answer("reasoning_content"))
			s := startStrict(t, c.refuse, answer(c.field))
			w := strictWorld(t, map[string]string{"o": other.URL, "s": s.URL})
			askTool(t, w, "o/m")
			askTool(t, w, "s/m", "-c")
			if last, refused := s.last(t); refused != 1 || c.field == "" && strings.Contains(last.Body, "a thought") {
				t.Errorf("%d requests were refused, the last one is %s", refused, last.Body)
			}
			askTool(t, w, "s/m", "-c")
			if last, refused := s.last(t); refused != 1 {
				t.Errorf("a second process was refused: %d refusals; %s", refused, last.Body)
			}
		})
	}
}

// Members that a server refuses by name are left out, and another process knows it.
func TestRefusedFieldsAreLeftOut(t *testing.T) {
	t.Parallel()
	s := startStrict(t, func(r strictRequest) (int, string) {
		if strings.Contains(r.Body, `"vendor"`) {
			return http.StatusUnprocessableEntity, `{"detail":[{"type":"extra_forbidden","loc":["body","messages",1,"tool_calls",0,"vendor"],"msg":"messages.1.tool_calls.0.vendor: Extra inputs are not permitted"}]}`
		}
		return 0, ""
	}, func(r strictRequest) []string {
		if r.asks() {
			return []string{callDelta(r.n, `,"vendor":{"a":1},"other":"o"`, "")}
		}
		return []string{`{"content":"answered"}`}
	})
	w := strictWorld(t, map[string]string{"s": s.URL})
	askTool(t, w, "s/m")
	askTool(t, w, "s/m", "-c")
	if last, refused := s.last(t); refused != 1 || !strings.Contains(last.Body, `"other":"o"`) {
		t.Errorf("%d requests were refused, the last one is %s", refused, last.Body)
	}
}

// Roles are put in the order that a template takes, after its refusal and in later processes.
func TestRolesFollowTheTemplate(t *testing.T) {
	t.Parallel()
	alternate := func(r strictRequest) bool {
		role := "assistant"
		for i, m := range r.Messages {
			if i == 0 && m.Role == "system" {
				continue
			}
			if m.Role == role {
				return false
			}
			role = m.Role
		}
		return true
	}
	for name, c := range map[string]struct {
		takes    func(strictRequest) bool
		status   int
		says     string
		refusals int
	}{
		"alternation":                          {alternate, 400, "Conversation roles must alternate user/assistant/user/assistant/...", 1},
		"alternation that a template fails at": {alternate, 500, `{"error":{"code":500,"message":"After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.","type":"server_error"}}`, 1},
		"no system role":                       {func(r strictRequest) bool { return r.Messages[0].Role != "system" }, 400, `{"error":{"message":"System role not supported","type":"BadRequestError","code":400}}`, 1},
		"no system role, as OpenAI says": {func(r strictRequest) bool { return r.Messages[0].Role != "system" }, 400,
			`{"error":{"message":"Unsupported value: 'messages[0].role' does not support 'system' with this model.","type":"invalid_request_error","param":"messages[0].role","code":"unsupported_value"}}`, 1},
		"neither": {func(r strictRequest) bool { return r.Messages[0].Role != "system" && alternate(r) }, 400, "Only user and assistant roles are supported, and roles must alternate", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startStrict(t, func(r strictRequest) (int, string) {
				if !c.takes(r) {
					return c.status, c.says
				}
				return 0, ""
			}, func(strictRequest) []string { return []string{`{"content":"answered"}`} })
			w := strictWorld(t, map[string]string{"s": s.URL})
			commandtest.Put(t, filepath.Join(w.Dir, "note.txt"), "a note")
			for range 2 {
				out, _ := w.Run(0, "ask", "--no-stdin", "-m", "s/m", "--system", "Be brief.", "-f", "note.txt", "what is it?")
				last, refused := s.last(t)
				if !strings.HasPrefix(out, "answered") || refused != c.refusals {
					t.Errorf("it said %q after %d refusals", out, refused)
				}
				for _, part := range []string{"Be brief.", "a note", "what is it?"} {
					if !strings.Contains(last.Body, part) {
						t.Errorf("%q is missing from %s", part, last.Body)
					}
				}
			}
		})
	}
}

// Reasoning that a server left in the text, up to a closing tag, is no part of what -x and
// -o json print. A later process shows it as thought, since it is learnt of the model.
func TestReasoningBeforeAClosingTagIsCut(t *testing.T) {
	t.Parallel()
	s := startStrict(t, func(strictRequest) (int, string) { return 0, "" }, func(strictRequest) []string {
		return []string{`{"content":"maybe:\n` + "```sh\\nrm -rf x\\n```" + `\nno.\n</think>\n\n"}`, `{"content":"` + "```sh\\nls\\n```\\n" + `"}`}
	})
	w := strictWorld(t, map[string]string{"s": s.URL})
	if out, _ := w.Run(0, "ask", "--no-stdin", "-m", "s/m", "-x", "list files"); out != "ls\n" {
		t.Errorf("-x printed %q", out)
	}
	out, _ := w.Run(0, "ask", "--no-stdin", "-m", "s/m", "-o", "json", "list files")
	var got struct{ Answer, Reasoning string }
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Answer != "```sh\nls\n```\n" || !strings.Contains(got.Reasoning, "rm -rf x") {
		t.Errorf("-o json printed %s, %v", out, err)
	}
	if out, _ := w.Run(0, "ask", "--no-stdin", "-m", "s/m", "list files"); strings.Contains(out, "rm -rf") || !strings.Contains(out, "ls") {
		t.Errorf("a later process printed %q", out)
	}
}
