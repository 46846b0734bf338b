package serve_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// scriptSecret is in files that no client may read by naming them as models.
const scriptSecret = "hunter2hunter2"

// secretFiles makes files of every kind that a model could be made of: what is not a
// script is quoted by errors, and what is one answers.
func secretFiles(t *testing.T, w *world) (refs []string) {
	t.Helper()
	for name, text := range map[string]string{
		"secret.txt": scriptSecret + ": {x", "secret.yaml": "responses: [{when: \"\", text: " + scriptSecret + "}]",
		"keys.yaml": "openai: " + scriptSecret + "\n", "secret.jsonl": `{"fettle_script":1,"` + scriptSecret + `":2}`,
		"expects.yaml": "responses: [{when: \"\", expect: {system: [" + scriptSecret + "]}, text: x}]",
	} {
		file := filepath.Join(w.Dir, name)
		commandtest.Put(t, file, text)
		refs = append(refs, "script/"+file, "script/"+name, "script/./"+name)
	}
	return append(refs, "script/"+filepath.Join(w.Dir, "none.yaml"))
}

// No route lets a client choose a file as its model.
func TestNoClientReadsAFileAsAModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "responses: [{when: \"\", text: From the script.}]")
	refs := secretFiles(t, w)
	w.Run(0, "ask", "a chat")
	s := w.serve("--log", "off")
	routes := map[string]string{
		"/api/stream":               `{"message":"hi","model":%q}`,
		"/api/chats/1/retry":        `{"model":%q}`,
		"/chat":                     `{"session_id":"s","message":"hi","model":%q}`,
		"/v1/chat/completions":      `{"model":%q,"messages":[{"role":"user","content":"hi"}]}`,
		"/v1/responses":             `{"model":%q,"input":"hi"}`,
		"/v1/messages":              `{"model":%q,"messages":[{"role":"user","content":"hi"}]}`,
		"/v1/messages/count_tokens": `{"model":%q,"messages":[{"role":"user","content":"hi"}]}`,
		"/api/chat":                 `{"model":%q,"stream":false,"messages":[{"role":"user","content":"hi"}]}`,
		"/api/show":                 `{"model":%q}`,
		"/aisdk":                    `{"id":"a","model":%q,"messages":[{"id":"1","role":"user","parts":[{"type":"text","text":"hi"}]}]}`,
		"/agui":                     `{"threadId":"t","runId":"r","forwardedProps":{"model":%q},"state":{},"tools":[],"context":[],"messages":[{"id":"1","role":"user","content":"hi"}]}`,
		"/api/workflows/x/start":    `{"model":%q}`,
	}
	refused := map[string]int{}
	for _, ref := range refs {
		for path, body := range routes {
			_, said := s.heard(s.client.Post(s.url+"/t/"+s.token+path, "application/json", strings.NewReader(fmt.Sprintf(body, ref))))
			if strings.Contains(said, scriptSecret) {
				t.Errorf("%s with %s says %s", path, ref, said)
			}
			if strings.Contains(said, "script has no model ") {
				refused[path]++
			}
		}
		for _, path := range []string{"/v1/models/" + ref, "/api/models/" + ref} {
			if _, said := s.get(path); strings.Contains(said, scriptSecret) {
				t.Errorf("%s says %s", path, said)
			}
		}
	}
	for _, path := range []string{"/api/stream", "/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/messages/count_tokens", "/api/chat"} {
		if refused[path] != len(refs) {
			t.Errorf("%s refuses %d of %d as models that are not there", path, refused[path], len(refs))
		}
	}
	if _, said := s.get("/api/chats/1/messages"); strings.Contains(said, scriptSecret) {
		t.Errorf("a chat has kept %s", said)
	}
	if _, said := s.heard(s.client.Post(s.url+"/t/"+s.token+"/v1/chat/completions", "application/json",
		strings.NewReader(`{"model":"script/m.yaml","messages":[{"role":"user","content":"hi"}]}`))); !strings.Contains(said, "From the script.") {
		t.Errorf("the model of the configuration says %s", said)
	}
}

// For a script that the user has named, clients get an error that it is wrong, without
// its content.
func TestErrorsOfAScriptDoNotQuoteItOverHTTP(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"invalid":  scriptSecret + ": 1\nresponses: []\n",
		"unknown":  "responses: [{when: \"\", text: x, " + scriptSecret + ": 1}]",
		"expected": "responses: [{when: \"\", expect: {last: [" + scriptSecret + "]}, text: x}]",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, text)
			if _, said := w.Run(1, "ask", "hi"); !strings.Contains(said, scriptSecret) {
				t.Errorf("the terminal says %s", said)
			}
			s := w.serve("--log", "off")
			for path, body := range map[string]string{
				"/api/stream":          `{"message":"hi"}`,
				"/v1/chat/completions": `{"model":"script/m.yaml","messages":[{"role":"user","content":"hi"}]}`,
			} {
				status, said := s.heard(s.client.Post(s.url+"/t/"+s.token+path, "application/json", strings.NewReader(body)))
				if strings.Contains(said, scriptSecret) || !strings.Contains(said, "m.yaml") {
					t.Errorf("%s: %d %s", path, status, said)
				}
			}
		})
	}
}

// An agent of a toolset, a chat that was imported and a prompt of the project name
// models, too; none of them chooses a file.
func TestNobodyButTheUserNamesAFileAsAModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "responses: [{when: \"\", text: From the script.}]")
	commandtest.Put(t, filepath.Join(w.Dir, "other.yaml"), "responses: [{when: \"\", text: "+scriptSecret+"}]")
	commandtest.Put(t, filepath.Join(w.Dir, "set", "toolset.yaml"), `{manifest_version: "1", id: spy, name: Spy, version: 1.0.0, description: Reads.,
agents: [{id: reader, name: Reader, purpose: Reads., prompt: Read., model: script/other.yaml}]}`)
	w.Run(0, "toolset", "import", "set", "--yes")
	for _, args := range [][]string{{"ask", "--agent", "spy:reader", "hi"}} {
		if out, said := w.Run(4, args...); strings.Contains(out+said, scriptSecret) || !strings.Contains(said, "only where the command line or the configuration") {
			t.Errorf("%q says %s%s", args, out, said)
		}
	}
	commandtest.Put(t, filepath.Join(w.Dir, ".fettle", "prompts", "spy.md"), "---\nmodel: script/other.yaml\n---\nHi\n")
	if out, said := w.Run(3, "ask", "-p", "spy"); strings.Contains(out+said, scriptSecret) {
		t.Errorf("a project's prompt: %s%s", out, said)
	}
	if out, _ := w.Run(0, "ask", "-m", "script/other.yaml", "hi"); !strings.Contains(out, scriptSecret) {
		t.Errorf("named by the user it says %s", out)
	}
	if out, _ := w.Run(0, "ask", "-c", "again"); !strings.Contains(out, scriptSecret) { // the user has named it before
		t.Errorf("the chat's own model says %s", out)
	}
	s := w.serve("--log", "off")
	for _, body := range []string{`{"message":"hi","agent":"spy:reader"}`, `{"message":"hi","conversation_id":1}`} {
		if said := s.ask(body); strings.Contains(said, scriptSecret) {
			t.Errorf("%s says %s", body, said)
		}
	}
	if status, _ := s.heard(http.Get(s.url + "/readyz")); status != http.StatusOK {
		t.Errorf("it is not ready any more: %d", status)
	}
}
