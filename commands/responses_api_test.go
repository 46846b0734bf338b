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
	"regexp"
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

// identity tells an item from others, however it comes.
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

// The items of an answer go back in their places: encrypted reasoning before what it led to,
// messages with their phase, calls with members that fettle does not know. So it is in the
// turn, in a second process, in a fork, after compaction, and after export and import.
func TestEncryptedReasoningGoesBack(t *testing.T) {
	t.Parallel()
	s := startResponses(t)
	w := responsesWorld(t, s)
	check := func(when, want string) {
		t.Helper()
		last, refused := s.last(t)
		if got := last.short(); got != want || len(refused) > 0 {
			t.Errorf("%s: it sent %q, want %q; refused were %q", when, got, want, refused)
		}
		if n := strings.Count(last.Body, `"namespace":"crm"`); n != strings.Count(want, "call_") {
			t.Errorf("%s: %d calls have their further members", when, n)
		}
		if strings.Contains(last.Body, "openai.") || strings.Contains(last.Body, "oa thought") && !strings.Contains(last.Body, `"summary_text"`) {
			t.Errorf("%s: it sent %s", when, last.Body)
		}
	}
	turn := func(n int, end string) string { // the requests n and n+1
		return fmt.Sprintf("user enc-%[1]da commentary enc-%[1]db call_%[1]da call_%[1]db = ="+end, n, n+1)
	}
	const final = " enc-%[2]da final_answer "
	if out := askTool(t, w, "r/gpt-5.6"); !strings.Contains(out, "I look 0.") || !strings.Contains(out, "answer 1") || strings.Contains(out, "oa thought") {
		t.Errorf("it printed %q", out)
	}
	check("in the turn", turn(0, ""))
	askTool(t, w, "r/gpt-5.6", "-c")
	check("in a second process", turn(0, final)+turn(2, ""))
	askTool(t, w, "r/gpt-5.6", "-c", "--fork")
	check("in a fork", turn(0, final)+turn(2, final)+turn(4, ""))
	doc, _ := w.Run(0, "chats", "export", "1", "-o", "json")
	other := responsesWorld(t, s)
	commandtest.Put(t, filepath.Join(other.Dir, "chat.json"), doc)
	other.Run(0, "chats", "import", "chat.json")
	askTool(t, other, "r/gpt-5.6", "--chat", "1")
	check("after an import", turn(0, final)+turn(2, final)+turn(6, ""))
	askTool(t, w, "r/gpt-5.5", "-c") // another model gets none of it
	last, refused := s.last(t)
	if got := regexp.MustCompile(`enc-\d+`).FindAllString(last.short(), -1); len(refused) > 0 || !slices.Equal(got, []string{"enc-8", "enc-8"}) {
		t.Errorf("another model got %q; refused were %q", last.short(), refused)
	}
	w.Run(0, "chats", "compact", "1")
	askTool(t, w, "r/gpt-5.6", "--chat", "1")
	if last, refused := s.last(t); len(refused) > 0 || !strings.HasSuffix(last.short(), turn(11, "")) {
		t.Errorf("after compaction it sent %q; refused were %q", last.short(), refused)
	}
	out, _ := w.Run(0, "ask", "--no-stdin", "-m", "r/gpt-5.6", "-o", "json", "hello")
	var got struct {
		Reasoning string
		Usage     struct {
			Input, Output     int
			Cached, Reasoning int
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || !strings.HasPrefix(got.Reasoning, "oa thought") {
		t.Errorf("-o json printed %s, %v", out, err)
	}
	if !regexp.MustCompile(`"cached_tokens": ?8\b`).MatchString(out) || !regexp.MustCompile(`"reasoning_tokens": ?4\b`).MatchString(out) {
		t.Errorf("-o json has the usage of %s", out)
	}
}

// Reasoning that the server can't read any more, as after a change of the account, ends no
// chat: it is left out.
func TestReasoningOfAnotherAccountIsLeftOut(t *testing.T) {
	t.Parallel()
	s := startResponses(t)
	w := responsesWorld(t, s)
	askTool(t, w, "r/gpt-5.6")
	s.mu.Lock()
	s.next = map[string]string{}
	s.mu.Unlock()
	askTool(t, w, "r/gpt-5.6", "-c")
	last, refused := s.last(t)
	if len(refused) == 0 || !strings.Contains(refused[0], "could not be verified") || strings.Contains(last.Body, "enc-0") {
		t.Errorf("refused were %q; the last request is %s", refused, last.Body)
	}
}

// An answer that was stopped leaves no reasoning behind that a later request would send.
func TestReasoningOfAStoppedAnswerIsNotSent(t *testing.T) {
	t.Parallel()
	s := startResponses(t)
	w := responsesWorld(t, s)
	cut := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		items := thinkThenCall(responsesRequest{n: 90, Input: []responsesItem{{Role: "user", Content: []responsesPart{{Text: "please"}}}}})
		for i, item := range items {
			sendItem(rw, i, item)
		}
		_ = http.NewResponseController(rw).Flush()
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(cut.Close)
	_ = w.Command("config", "set", "providers.r.base_url", cut.URL+"/v1").Run()
	_ = w.Command("config", "set", "retries", "0").Run()
	if err := w.Command("ask", "--no-stdin", "--tool", "list_files", "-m", "r/gpt-5.6", "please").Run(); err == nil {
		t.Fatal("a cut answer counts as whole")
	}
	_ = w.Command("config", "set", "providers.r.base_url", s.URL+"/v1").Run()
	askTool(t, w, "r/gpt-5.6", "-c")
	if last, refused := s.last(t); len(refused) > 0 || strings.Contains(last.Body, "enc-90") || strings.Contains(last.Body, "call_90") {
		t.Errorf("refused were %q; it sent %s", refused, last.Body)
	}
}

// -x, -o json and --schema get the answer alone over the Responses API too, without reasoning
// that an open model has left in the text.
func TestReasoningInTheTextOverResponses(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]string{"think": "</think>", "seed": "</seed:think>", "magistral": "[/THINK]", "gpt-oss": "<|channel|>final<|message|>", "kimi": "◁/think▷"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startResponses(t)
			s.answer = func(r responsesRequest) []map[string]any {
				text := "maybe:\n```sh\nrm -rf x\n```\nno.\n" + end + "\n\n```sh\nls\n```\n"
				if r.Text != nil {
					text = "perhaps {\"n\":2}?\n" + end + "\n{\"n\":1}"
				}
				return []map[string]any{{"type": "message", "id": "msg_1", "role": "assistant", "content": []any{map[string]any{"type": "output_text", "text": text}}}}
			}
			w := responsesWorld(t, s)
			if out, _ := w.Run(0, "ask", "--no-stdin", "-m", "r/m", "-x", "list files"); out != "ls\n" {
				t.Errorf("-x printed %q", out)
			}
			out, _ := w.Run(0, "ask", "--no-stdin", "-m", "r/m", "--schema", `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`, "count")
			if strings.TrimSpace(out) != `{"n":1}` {
				t.Errorf("--schema printed %q", out)
			}
			if last, _ := s.last(t); !strings.Contains(string(last.Text), `"type":"json_schema"`) {
				t.Errorf("it sent %s", last.Body)
			}
		})
	}
}

// A conversation that outgrows the model is compacted and goes on, whether the server says so
// with a status or within the stream.
func TestTooLongOverResponses(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]func(w http.ResponseWriter){
		"a status": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`)
		},
		"an event": func(w http.ResponseWriter) {
			sendEvent(w, "error", map[string]any{"code": "context_length_exceeded", "message": "Your input exceeds the context window of this model."})
		},
		"a failed response": func(w http.ResponseWriter) {
			sendEvent(w, "response.created", map[string]any{"response": map[string]any{"status": "in_progress"}})
			sendEvent(w, "response.failed", map[string]any{"response": map[string]any{"status": "failed", "error": map[string]any{"code": "context_length_exceeded", "message": "Your input exceeds the context window of this model."}}})
		},
		"a server error": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, `{"error":{"message":"the request exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error"}}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startResponses(t)
			const most = 60_000
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				raw, _ := io.ReadAll(r.Body)
				if len(raw) > most {
					refuse(w)
					return
				}
				r.Body = io.NopCloser(bytes.NewReader(raw))
				s.ServeHTTP(w, r)
			}))
			t.Cleanup(front.Close)
			w := responsesWorld(t, s)
			_ = w.Command("config", "set", "providers.r.base_url", front.URL+"/v1").Run()
			long := strings.Repeat("The words of a long question. ", 800)
			for i := range 4 {
				args := []string{"ask", "--no-stdin", "-m", "r/m", fmt.Sprint(i, " ", long)}
				if i > 0 {
					args = append(args[:2:2], append([]string{"-c"}, args[2:]...)...)
				}
				if out, _ := w.Run(0, args...); !strings.HasPrefix(out, "answer") {
					t.Fatalf("question %d: it printed %q", i, out)
				}
			}
			if _, refused := s.last(t); len(refused) > 0 {
				t.Errorf("refused were %q", refused)
			}
		})
	}
}

// The configuration and doctor tell which API a model is asked by.
func TestWhichAPIAModelIsAskedBy(t *testing.T) {
	t.Parallel()
	s := startResponses(t)
	w := responsesWorld(t, s)
	if out, _ := w.Run(0, "config", "get", "providers.r.api"); strings.TrimSpace(out) != "responses" {
		t.Errorf("config get printed %q", out)
	}
	if out, _ := w.Run(0, "config", "list"); !strings.Contains(out, "providers.r.api") {
		t.Errorf("config list printed %s", out)
	}
	for model, want := range map[string]string{
		"r/m": "asked by the Responses API", "openai/gpt-5.6": "asked by the Responses API", "openai/gpt-4o": "asked by chat completions",
	} {
		w.Env = append(w.Env, "FETTLE_MODEL="+model)
		cmd := w.Command("doctor", "-o", "json") // whose status depends on the machine
		out, _ := cmd.Output()
		var got struct {
			Checks []struct{ ID, Detail string }
		}
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("doctor printed %s: %v", out, err)
		}
		for _, c := range got.Checks {
			if c.ID == "model" && !strings.HasSuffix(c.Detail, want) || c.ID == "provider.r" && !strings.HasSuffix(c.Detail, "asked by the Responses API") {
				t.Errorf("%s: doctor says %q of %s", model, c.Detail, c.ID)
			}
		}
	}
	w.Run(0, "config", "set", "providers.r.api", "chat")
	if out, errs := w.Run(1, "ask", "--no-stdin", "-m", "r/m", "hi"); strings.Contains(out, "answer") {
		t.Errorf("it was asked by the Responses API all the same: %q, %s", out, errs)
	}
	if _, errs := w.Run(2, "config", "set", "providers.r.api", "both"); !strings.Contains(errs, "expected responses or chat") {
		t.Errorf("config set took it: %s", errs)
	}
}

// What only the server understands goes back in its place, wherever in the stream it came: in
// the turn, in a second process, in a fork, and after export and import.
func TestOpaqueItemsGoBackOverResponses(t *testing.T) {
	t.Parallel()
	const look = `"type":"function_call","call_id":"call_1","name":"list_files","arguments":"{}"`
	const thought = `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"SECRET"}`
	ended := func(output string) string {
		return `{"type":"response.completed","response":{"status":"completed","output":[` + output + `]}}`
	}
	done := func(i int, item string) string {
		return fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, i, item)
	}
	added := func(i int, item string) string {
		return fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":%s}`, i, item)
	}
	for name, c := range map[string]struct {
		events []string
		want   string
	}{
		"a signature with the call":          {[]string{done(0, `{`+look+`,"extra_content":{"google":{"thought_signature":"SIG-A"}}}`), ended("")}, `"extra_content":{"google":{"thought_signature":"SIG-A"}}`},
		"a signature with its beginning":     {[]string{added(0, `{`+look+`,"thought_signature":"SIG-A"}`), done(0, `{`+look+`}`), ended("")}, `"thought_signature":"SIG-A"`},
		"a signature in the last event":      {[]string{done(0, `{`+look+`}`), ended(`{` + look + `,"vendor":{"a":[1,{"b":"x"}]}}`)}, `"vendor":{"a":[1,{"b":"x"}]}`},
		"a signature with a call never done": {[]string{added(0, `{`+look+`,"sig":"S"}`), ended("")}, `"sig":"S"`},
		"a signature of a message":           {[]string{done(0, `{"type":"message","content":[{"type":"output_text","text":"I look."}],"phase":"commentary","sig":{"a":1}}`), done(1, `{`+look+`}`), ended("")}, `"phase":"commentary","sig":{"a":1}`},
		"encrypted reasoning":                {[]string{done(0, thought), done(1, `{`+look+`}`), ended("")}, `{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"SECRET"},{"type":"function_call"`},
		"reasoning in the last event":        {[]string{ended(thought + `,{` + look + `}`)}, `"encrypted_content":"SECRET"},{"type":"function_call"`},
		"encrypted only in the last event":   {[]string{done(0, strings.Replace(thought, `"SECRET"`, "null", 1)), done(1, `{`+look+`}`), ended(thought + `,{` + look + `}`)}, `"encrypted_content":"SECRET"},{"type":"function_call"`},
		"reasoning with further fields":      {[]string{done(0, thought[:len(thought)-1]+`,"format":"v1","status":"completed"}`), done(1, `{`+look+`}`), ended("")}, `"encrypted_content":"SECRET","format":"v1"},{"type":"function_call"`},
		"reasoning of an open model":         {[]string{done(0, `{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"hm"}],"encrypted_content":""}`), done(1, `{`+look+`}`), ended("")}, `"content":[{"type":"reasoning_text","text":"hm"}]`},
		"a compaction of the server's":       {[]string{done(0, `{"type":"compaction","id":"cmp_1","encrypted_content":"SECRET"}`), done(1, `{`+look+`}`), ended("")}, `{"type":"compaction","id":"cmp_1","encrypted_content":"SECRET"},{"type":"function_call"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			last := ""
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				raw, _ := io.ReadAll(r.Body)
				mu.Lock()
				last = string(raw)
				mu.Unlock()
				w.Header().Set("Content-Type", "text/event-stream")
				if !strings.Contains(string(raw), `"function_call_output"`) {
					for _, e := range c.events {
						fmt.Fprintf(w, "data: %s\n\n", e)
					}
					return
				}
				fmt.Fprint(w, "data: {\"type\":\"response.output_text.delta\",\"delta\":\"answered\"}\n\ndata: "+ended("")+"\n\n")
			}))
			t.Cleanup(srv.Close)
			w := responsesWorld(t, &responsesServer{Server: srv})
			check := func(when string) {
				t.Helper()
				mu.Lock()
				defer mu.Unlock()
				if !strings.Contains(last, c.want) || strings.Contains(last, `"openai.`) {
					t.Errorf("%s it sent %s", when, last)
				}
			}
			askTool(t, w, "r/m")
			check("in the turn")
			askTool(t, w, "r/m", "-c")
			check("in a second process")
			askTool(t, w, "r/m", "-c", "--fork")
			check("in a fork")
			doc, _ := w.Run(0, "chats", "export", "1", "-o", "json")
			other := responsesWorld(t, &responsesServer{Server: srv})
			commandtest.Put(t, filepath.Join(other.Dir, "chat.json"), doc)
			other.Run(0, "chats", "import", "chat.json")
			askTool(t, other, "r/m", "--chat", "1")
			check("after an import")
		})
	}
}
