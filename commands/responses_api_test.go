package commands_test

import (
	"bytes"
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

// A later request sends no reasoning of an answer that was stopped.
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

// A conversation that outgrows the model is compacted and continues, whether the server says so
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

// The configuration and doctor show which API a model is asked by.
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
