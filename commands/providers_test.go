package commands_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// lab plays three providers on a loopback address, each by the path of its API
// behind a folder of its own: /an, /mi and /oa.
type lab struct {
	mu       sync.Mutex
	requests []labRequest
	// tools has each provider call list_files once in a turn.
	tools bool
}

type labRequest struct {
	Path, Body string
	Header     http.Header
}

func (l *lab) seen() []labRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]labRequest(nil), l.requests...)
}

// last is the request that came last.
func (l *lab) last(t *testing.T) labRequest {
	t.Helper()
	all := l.seen()
	if len(all) == 0 {
		t.Fatal("nobody was asked")
	}
	return all[len(all)-1]
}

func (l *lab) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	l.mu.Lock()
	l.requests = append(l.requests, labRequest{r.URL.Path, string(raw), r.Header.Clone()})
	n := len(l.requests)
	l.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	// The question comes last, unless a tool has answered it.
	asked := bytes.LastIndex(raw, []byte(`please`)) > max(bytes.LastIndex(raw, []byte(`"tool_result"`)), bytes.LastIndex(raw, []byte(`"role":"tool"`)))
	calls := l.tools && asked
	switch {
	case strings.HasSuffix(r.URL.Path, "/v1/messages"):
		_, _ = io.WriteString(w, labMessages(n, calls, bytes.Contains(raw, []byte(`"output_config":{"format"`))))
	case strings.HasSuffix(r.URL.Path, "/v1/chat/completions"):
		_, _ = io.WriteString(w, labCompletion(n, calls, strings.HasPrefix(r.URL.Path, "/mi/"), bytes.Contains(raw, []byte(`"response_format"`))))
	default:
		http.NotFound(w, r)
	}
}

// labMessages is a response of the Messages API that thinks, signs that, and
// calls or says something.
func labMessages(n int, calls, schema bool) string {
	send := func(v string, args ...any) string { return "data: " + fmt.Sprintf(v, args...) + "\n\n" }
	out := send(`{"type":"message_start","message":{"usage":{"input_tokens":10,"cache_creation_input_tokens":700,"cache_read_input_tokens":300}}}`) +
		send(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`) +
		send(`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"an thought %d"}}`, n) +
		send(`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"an-sig-%d"}}`, n) +
		send(`{"type":"content_block_stop","index":0}`)
	stop := "end_turn"
	switch {
	case calls:
		stop = "tool_use"
		out += send(`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_%d","name":"list_files","input":{}}}`, n)
	case schema:
		out += send(`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"{\"n\":%d}"}}`, n)
	default:
		out += send(`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"answer %d"}}`, n)
	}
	return out + send(`{"type":"content_block_stop","index":1}`) +
		send(`{"type":"message_delta","delta":{"stop_reason":"%s"},"usage":{"output_tokens":5}}`, stop) + send(`{"type":"message_stop"}`)
}

// labCompletion is the same as chat completions, of Mistral's form or of one
// that signs as OpenRouter does.
func labCompletion(n int, calls, mistral, schema bool) string {
	send := func(v string, args ...any) string { return "data: " + fmt.Sprintf(v, args...) + "\n\n" }
	delta := func(d, finish string) string {
		return send(`{"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`, d, finish)
	}
	out := delta(fmt.Sprintf(`{"content":"","reasoning":"oa thought %d","reasoning_details":[{"type":"reasoning.text","text":"oa thought %d","signature":"oa-sig-%d","index":0}]}`, n, n, n), "null")
	id := fmt.Sprintf("call_%d_%s", n, strings.Repeat("x", 50))
	if mistral {
		out = delta(fmt.Sprintf(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"mi thought %d"}],"signature":"mi-sig-%d"}]}`, n, n), "null")
		id = fmt.Sprintf("call%05d", n)
	}
	switch {
	case calls:
		out += delta(`{"tool_calls":[{"index":0,"id":"`+id+`","type":"function","function":{"name":"list_files","arguments":"{}"}}]}`, `"tool_calls"`)
	case schema:
		out += delta(fmt.Sprintf(`{"content":"{\"n\":%d}"}`, n), `"stop"`)
	default:
		out += delta(fmt.Sprintf(`{"content":"answer %d"}`, n), `"stop"`)
	}
	return out + send(`{"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":8}}}`) + "data: [DONE]\n\n"
}

// labWorld is a world whose configuration knows the lab's providers.
func labWorld(t *testing.T, base string) *world {
	t.Helper()
	w := newWorld(t, yesScript)
	commandtest.Put(t, filepath.Join(w.Dir, "config", "config.yaml"), fmt.Sprintf(`
providers:
  an: {type: anthropic, base_url: "%[1]s/an", key_env: LAB_KEY, headers: {X-Lab: an}}
  mi: {type: mistral, base_url: "%[1]s/mi/v1/", key_env: LAB_KEY, headers: {X-Lab: mi}}
  oa: {type: openai, base_url: "%[1]s/oa/v1", key_env: LAB_KEY, headers: {X-Lab: oa}}
prices:
  an/claude-opus-5-5: {input: 4, output: 20, cached: 0.2, cache_write: 5}
`, base))
	w.Env = append(w.Env, "LAB_KEY="+labKey, "NO_PROXY=127.0.0.1", "HTTP_PROXY=", "HTTPS_PROXY=")
	return w
}

const labKey = "lab-key-0123456789abcdef"

func startLab(t *testing.T) (*lab, *httptest.Server) {
	t.Helper()
	l := &lab{}
	srv := httptest.NewServer(l)
	t.Cleanup(srv.Close)
	return l, srv
}

// A chat that goes from model to model: each gets its own signed thoughts back,
// within the turn, in the next ones and in a fork, and nobody else's; calls and
// results stay valid for each.
func TestAChatAcrossProviders(t *testing.T) {
	t.Parallel()
	l, srv := startLab(t)
	l.tools = true
	w := labWorld(t, srv.URL)
	const opus, mistral, other = "an/claude-opus-5-5", "mi/mistral-medium-latest", "oa/some-model"
	signatures := regexp.MustCompile(`(an|mi|oa)-sig-\d+`)
	step := 0
	turn := func(model, want string, args ...string) {
		t.Helper()
		step++
		args = append([]string{"ask", "--no-stdin", "--tool", "list_files", "-m", model}, append(args, fmt.Sprintf("please, %d", step))...)
		out, _ := w.Run(0, args...)
		if !strings.HasPrefix(out, "answer ") {
			t.Errorf("%d: it said %q", step, out)
		}
		got := strings.Join(signatures.FindAllString(l.last(t).Body, -1), " ")
		if got != want {
			t.Errorf("%d: the last request to %s has the signatures %q, want %q", step, model, got, want)
		}
	}
	turn(opus, "an-sig-1")
	turn(opus, "an-sig-1 an-sig-2 an-sig-3", "-c")
	turn(mistral, "mi-sig-5", "-c")
	turn(other, "oa-sig-7", "-c")
	turn(mistral, "mi-sig-5 mi-sig-6 mi-sig-9", "-c")
	turn(other, "oa-sig-7 oa-sig-8 oa-sig-11", "-c")
	turn(opus, "an-sig-1 an-sig-2 an-sig-3 an-sig-4 an-sig-13", "-c")
	turn("an/claude-sonnet-5", "an-sig-15", "-c")
	turn(opus, "an-sig-1 an-sig-2 an-sig-3 an-sig-4 an-sig-13 an-sig-14 an-sig-17", "-c", "--fork")
	checkCalls(t, l.seen())
}

// checkCalls checks that in each request every call has its result, under an
// id that the provider takes.
func checkCalls(t *testing.T, all []labRequest) {
	t.Helper()
	ids := map[string]*regexp.Regexp{
		"/an": regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`), "/mi": regexp.MustCompile(`^[a-zA-Z0-9]{9}$`), "/oa": regexp.MustCompile(`^.{1,40}$`),
	}
	for i, r := range all {
		calls := regexp.MustCompile(`(?:"type":"tool_use","id"|"tool_calls":\[\{"id"):"([^"]*)"`).FindAllStringSubmatch(r.Body, -1)
		results := regexp.MustCompile(`"(?:tool_use_id|tool_call_id)":"([^"]*)"`).FindAllStringSubmatch(r.Body, -1)
		if len(calls) != len(results) {
			t.Errorf("request %d has %d calls and %d results", i+1, len(calls), len(results))
			continue
		}
		seen := map[string]bool{}
		for n, c := range calls {
			if id := c[1]; id != results[n][1] || seen[id] || !ids[r.Path[:3]].MatchString(id) {
				t.Errorf("request %d to %s: call %d is %q, its result %q", i+1, r.Path, n, id, results[n][1])
			}
			seen[c[1]] = true
		}
		if r.Header.Get("X-Lab") != r.Path[1:3] {
			t.Errorf("request %d has the headers %v", i+1, r.Header)
		}
	}
}

// An image and a schema reach each provider in its own form, and the tokens are
// told with what was kept and what was had from the cache.
func TestImagesSchemasAndTokens(t *testing.T) {
	t.Parallel()
	l, srv := startLab(t)
	w := labWorld(t, srv.URL)
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"
	commandtest.Put(t, filepath.Join(w.Dir, "dot.png"), png)
	commandtest.Put(t, filepath.Join(w.Dir, "tree.json"), `{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"n":{"type":"integer"},"more":{"$ref":"#/$defs/n"}},"required":["n"]}}}`)
	for model, c := range map[string]struct{ image, native, fallback string }{
		"an/claude-opus-5-5":       {`"media_type":"image/png","data":"iVBOR`, `"output_config":{"format":{"type":"json_schema"`, `matches this JSON Schema`},
		"mi/mistral-medium-latest": {`"image_url":"data:image/png;base64,iVBOR`, `"strict":true`, `"json_schema"`},
		"oa/some-model":            {`{"url":"data:image/png;base64,iVBOR`, `"response_format":{"type":"json_schema"`, `"json_schema"`},
	} {
		out, _ := w.Run(0, "ask", "--no-stdin", "-m", model, "-f", "dot.png", "--schema", `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`, "count")
		body := l.last(t).Body
		if !strings.HasPrefix(out, `{"n":`) || !strings.Contains(body, c.image) || !strings.Contains(body, c.native) {
			t.Errorf("%s said %q to %s", model, out, body)
		}
		cmd := w.Command("ask", "--no-stdin", "-m", model, "--schema", "tree.json", "count") // which an answer in words may fail
		_ = cmd.Run()
		if body := l.last(t).Body; !strings.Contains(body, c.fallback) {
			t.Errorf("%s got the schema in another form: %s", model, body)
		}
	}
	w.Run(0, "ask", "--no-stdin", "-m", "an/claude-opus-5-5", "how many tokens?")
	out, errs := w.Run(0, "usage", "-o", "json")
	var got struct {
		Rows []struct {
			Model  string
			Turns  int64
			Input  int64 `json:"input_tokens"`
			Cached int64 `json:"cached_tokens"`
			Write  int64 `json:"cache_write_tokens"`
			Cost   []struct{ Amount json.Number }
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err, errs)
	}
	for _, row := range got.Rows {
		// A response is 10 plain tokens, 700 that are kept, 300 from before and 5 out.
		n := row.Input / 1010
		if row.Model != "an/claude-opus-5-5" {
			continue
		}
		if row.Write != 700*n || row.Cached != 300*n || len(row.Cost) != 1 || n < 2 {
			t.Fatalf("%+v", row)
		}
		cost, _ := row.Cost[0].Amount.Float64()
		if want := float64(n) * (10*4 + 700*5 + 300*0.2 + 5*20) / 1e6; cost < want*0.999999 || cost > want*1.000001 {
			t.Errorf("it cost %v, want %v", cost, want)
		}
	}
}

// Addresses with and without their /v1, and with slashes behind, are one.
func TestFormsOfAddresses(t *testing.T) {
	t.Parallel()
	l, srv := startLab(t)
	w := newWorld(t, yesScript)
	w.Env = append(w.Env, "NO_PROXY=127.0.0.1", "HTTP_PROXY=")
	var text strings.Builder
	text.WriteString("providers:\n")
	paths := map[string]string{"anthropic": "/v1/messages", "mistral": "/v1/chat/completions", "openai": "/v1/chat/completions"}
	for kind := range paths {
		for i, tail := range []string{"", "/", "/v1", "/v1/"} {
			fmt.Fprintf(&text, "  %s%d: {type: %s, base_url: '%s%s'}\n", kind, i, kind, srv.URL, tail)
		}
	}
	commandtest.Put(t, filepath.Join(w.Dir, "config", "config.yaml"), text.String())
	for kind, path := range paths {
		for i := range 4 {
			w.Run(0, "ask", "--no-stdin", "--ephemeral", "-m", fmt.Sprintf("%s%d/m", kind, i), "hi")
			if got := l.last(t); got.Path != path || got.Header.Get("Authorization")+got.Header.Get("X-Api-Key") != "" {
				t.Errorf("%s%d was asked at %s with %v", kind, i, got.Path, got.Header)
			}
		}
	}
}

// What goes wrong is one clear line, and never shows the key.
func TestHowProvidersFailAPerson(t *testing.T) {
	t.Parallel()
	other, _ := startLab(t)
	stray := httptest.NewServer(other)
	t.Cleanup(stray.Close)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		switch {
		case bytes.Contains(raw, []byte("redirect")):
			http.Redirect(w, r, stray.URL+r.URL.Path, http.StatusPermanentRedirect)
		case bytes.Contains(raw, []byte("later")):
			w.Header().Set("Retry-After", "7200")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, `{"error":{"type":"rate_limit_error","message":"limit reached for `+labKey+`"}}`)
		default:
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html><title>Sign in</title></html>")
		}
	}))
	t.Cleanup(srv.Close)
	w := labWorld(t, srv.URL)
	for _, model := range []string{"an/m", "mi/m", "oa/m"} {
		for ask, want := range map[string]string{
			"redirect": "it redirects to " + stray.URL, "later": "for 2h0m, as it asks", "page": "it is a web page",
		} {
			cmd := w.Command("ask", "--no-stdin", "-m", model, ask)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), want) || strings.Contains(string(out), labKey) {
				t.Errorf("%s, %s: %v, %s", model, ask, err, out)
			}
		}
	}
	if got := other.seen(); len(got) > 0 {
		t.Errorf("%d requests went to another host, with %v", len(got), got[0].Header)
	}
	for _, name := range filesBelow(t, filepath.Join(w.Dir, "data")) {
		if raw, err := os.ReadFile(name); err == nil && bytes.Contains(raw, []byte(labKey)) {
			t.Errorf("%s holds the key", name)
		}
	}
}

// filesBelow are the files of a folder.
func filesBelow(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
