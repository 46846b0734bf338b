package commands_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// sent is the secrets of a request, as the server sees them.
func sent(r *http.Request) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		if name == "X-Api-Key" || name == "Authorization" || strings.HasPrefix(name, "X-Secret-") {
			out = append(out, strings.TrimPrefix(r.Header.Get(name), "Bearer "))
		}
	}
	return out
}

// inPieces cuts a text every few characters, at places that differ.
func inPieces(text string) []string {
	var out []string
	for n := 3; text != ""; n = 3 + (n*7)%11 {
		n := min(n, len(text))
		out, text = append(out, text[:n]), text[n:]
	}
	return out
}

// escaped is JSON text with an escape in the place of each letter E.
func escaped(text string) string {
	quoted, _ := json.Marshal(text)
	return strings.ReplaceAll(string(quoted), "E", `\u0045`)
}

// echoes are servers that give back what they were sent, each in one way; other
// is the address of one that must not hear of it.
func echoes(other string) map[string]http.HandlerFunc {
	words := func(r *http.Request) string { return "refused: " + strings.Join(sent(r), " and ") }
	refuse := func(status int, format string, quote func(string) string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			fmt.Fprintf(w, format, quote(words(r)))
		}
	}
	plain := func(s string) string { return s }
	streamed := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, body, escaped(words(r)))
		}
	}
	return map[string]http.HandlerFunc{
		"401 in JSON":    refuse(401, `{"error":{"message":%s}}`, escaped),
		"403 in text":    refuse(403, "%s", plain),
		"400 in a page":  refuse(400, "<!doctype html><html><title>%s</title></html>", plain),
		"404 as a code":  refuse(404, `{"error":{"code":%s,"message":"no such model"}}`, escaped),
		"429":            refuse(429, `{"message":%s}`, escaped),
		"500":            refuse(500, `{"detail":[{"msg":%s}]}`, escaped),
		"no JSON at all": refuse(200, "%s", plain),
		"broken chunk":   streamed("event: message_start\ndata: {\"type\": %s\n\n"),
		"error in the middle": func(w http.ResponseWriter, r *http.Request) {
			streamed("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"server_error\",\"message\":%s}}\n\n")(w, r)
		},
		"in the answer": func(w http.ResponseWriter, r *http.Request) { commandtest.Say(w, r, inPieces(words(r))...) },
		"as a call": func(w http.ResponseWriter, r *http.Request) {
			args, _ := json.Marshal(map[string]string{"path": "a.txt", "content": words(r)})
			call(w, r, string(args))
		},
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other+"/v1?key="+keyIn(r.Header), http.StatusTemporaryRedirect)
		},
		"redirect to a user": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, strings.Replace(other, "http://", "http://user:"+strings.ReplaceAll(keyIn(r.Header), "/", "")+"@", 1), http.StatusFound)
		},
		"cut": func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				return
			}
			commandtest.Pour(w, r, words(r)[:60])
			panic(http.ErrAbortHandler)
		},
	}
}

// call answers with a call of write_file, and then with a word.
func call(w http.ResponseWriter, r *http.Request, args string) {
	var asked struct {
		Messages []struct {
			Role    string
			Content any
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&asked)
	if body, _ := json.Marshal(asked); strings.Contains(string(body), "tool") { // its result is there
		commandtest.Say(w, r, "done")
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	text, _ := json.Marshal(args)
	if strings.HasSuffix(r.URL.Path, "/messages") {
		fmt.Fprintf(w, `event: message_start
data: {"type":"message_start","message":{"id":"1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"write_file","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":%s}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":2}}

event: message_stop
data: {"type":"message_stop"}

`, text)
		return
	}
	fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"abcdef123","type":"function","function":{"name":"write_file","arguments":%s}}]}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

`, text)
}

// Through ask, with each protocol and every way in which a server can give back
// what it was sent: no key and no header is in what is printed, in the journal,
// the store, a recording or a workspace, or at another address.
func TestAskKeepsSecretsToItself(t *testing.T) {
	t.Parallel()
	all := secrets(t)
	var parts []string
	for _, s := range all {
		parts = append(parts, s.parts...)
	}
	parts = append(parts, "sk-ant-api03-EXAMPLE") // what YAML makes of the escape
	for _, kind := range types() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			other := listen(t, nil)
			w := newWorld(t, "responses: [{text: x}]")
			w.Plain()
			w.Env = append(w.Env, "FETTLE_RETRIES=0")
			ways := echoes(other.URL)
			for i, name := range slices.Sorted(maps.Keys(ways)) {
				a := listen(t, ways[name])
				w.Configure(labWith(all, i, kind, a.URL))
				form := [][]string{{"-v"}, {"-o", "events"}, {"-o", "json", "-v"}, {"-v", "-u"}}[i%4]
				args := append([]string{"ask", "--no-stdin", "--yes", "-m", "lab/m", "--record", "tape.jsonl", "hi"}, form...)
				out, err := w.Command(args...).CombinedOutput()
				w.search(t, name, string(out), parts)
				if answered := name == "in the answer" || name == "as a call"; answered != (err == nil) {
					t.Errorf("%s: %v\n%s", name, err, out)
				}
				if got := len(sent(&http.Request{Header: a.headers()})); got < len(all)/2 {
					t.Errorf("%s: the server was sent %d secrets", name, got)
				}
				w.tell(t, parts, "models", "list", "--refresh", "-o", "json")
			}
			if h := other.headers(); h != nil {
				t.Errorf("a redirect was followed to another host, with %v", h)
			}
			w.tellOfChats(t, parts)
			w.searchFiles(t, parts)
		})
	}
}

// labWith is a configuration whose provider has fixture i for its key, or the
// next that can be one, and all fixtures as headers.
func labWith(all []secret, i int, kind, url string) string {
	key := "fine"
	for ; key == "fine"; i++ {
		key = asKey(all[i%len(all)])
	}
	text := "providers:\n  lab:\n    type: " + kind + "\n    base_url: " + url + "\n    key: " + key + "\n    headers:\n"
	for n, s := range all {
		text += fmt.Sprintf("      X-Secret-%d: %s\n", n, strings.ReplaceAll(s.quoted, `\n`, " "))
	}
	return text
}

// tellOfChats runs what prints something of what was kept.
func (w *world) tellOfChats(t *testing.T, parts []string) {
	t.Helper()
	out, _ := w.Run(0, "chats", "list", "-o", "json")
	w.search(t, "chats list", out, parts)
	var list struct{ Chats []struct{ Number int64 } }
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Chats) < 2 {
		t.Errorf("%d chats, %v", len(list.Chats), err)
	}
	for _, c := range list.Chats {
		w.tell(t, parts, "chats", "show", fmt.Sprint(c.Number), "-o", "json")
		w.tell(t, parts, "chats", "show", fmt.Sprint(c.Number))
	}
	for _, args := range [][]string{{"usage", "-o", "json"}, {"doctor", "-o", "json"}, {"doctor", "--online"}, {"config", "list", "-o", "json"}, {"keys", "list", "-o", "json"}} {
		w.tell(t, parts, args...)
	}
}

// searchFiles looks into every file that fettle wrote.
func (w *world) searchFiles(t *testing.T, parts []string) {
	t.Helper()
	seen := map[string]int{}
	look := func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && path == filepath.Join(w.Dir, "config") {
				return fs.SkipDir // it is where the secrets are
			}
			return err
		}
		data, err := os.ReadFile(path)
		w.search(t, path, string(data), parts)
		rel, _ := filepath.Rel(w.Dir, path)
		seen[strings.Split(filepath.ToSlash(rel), "/")[min(1, strings.Count(filepath.ToSlash(rel), "/"))]]++
		return err
	}
	if err := filepath.WalkDir(w.Dir, look); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"tape.jsonl", "store", "chats"} {
		if seen[want] == 0 {
			t.Errorf("nothing of %s was looked at: %v", want, seen)
		}
	}
}

// Secrets in the variables that name an address or a proxy.
func TestAskShowsNoSecretOfAnAddress(t *testing.T) {
	t.Parallel()
	for _, s := range secrets(t) {
		if strings.ContainsAny(s.value, "\n") {
			continue
		}
		w := newWorld(t, "responses: [{text: x}]")
		w.Configure("providers: {lab: {base_url: \"http://models.example/v1\"}}\nlimits: {first_byte: 1s}\nretries: 0\n")
		password := strings.NewReplacer("/", "", "@", "", " ", "").Replace(s.value)
		for _, of := range []struct {
			model string
			env   []string
		}{
			{"ollama/m", []string{"OLLAMA_HOST=http://u:" + password + "@127.0.0.1:1"}},
			{"openai/m", []string{"OPENAI_BASE_URL=" + s.value}},
			{"openai/m", []string{"OPENAI_BASE_URL=http://127.0.0.1:1/v1?key=" + password}},
			{"lab/m", []string{"HTTP_PROXY=http://u:" + password + "@127.0.0.1:1", "http_proxy=http://u:" + password + "@127.0.0.1:1"}},
		} {
			before := len(w.Env)
			w.Env = append(w.Env, of.env...)
			w.tell(t, s.parts, "ask", "--no-stdin", "-v", "-m", of.model, "hi")
			if of.model != "openai/m" {
				w.tell(t, s.parts, "doctor", "-o", "json", "--online")
			}
			w.Env = w.Env[:before]
		}
	}
}

// What Go prints of a program that it ends holds no secret: neither the
// configuration nor a request under way keeps one where that would show it.
func TestACrashShowsNoSecret(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGQUIT")
	}
	asked, done := make(chan struct{}), make(chan struct{})
	a := listen(t, func(http.ResponseWriter, *http.Request) { close(asked); <-done })
	defer close(done)
	w := newWorld(t, "responses: [{text: x}]")
	w.Configure("providers: {lab: {base_url: \"" + a.URL + "\", key: " + confKey + ", headers: {X-Y: " + fileKey + "}}}\n")
	cmd := w.Command("ask", "--no-stdin", "-m", "lab/m", "hi")
	cmd.Env = append(w.Env, "GOTRACEBACK=all")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // the output tells how it ended
	if !strings.Contains(out.String(), "goroutine 1 ") {
		t.Errorf("no trace of a crash:\n%s", out.String())
	}
	w.search(t, "the trace", out.String(), []string{confKey, fileKey, "EXAMPLE"})
}
