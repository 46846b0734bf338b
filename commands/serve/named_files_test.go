package serve_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/internal/needtest"
)

// described is the part of /openapi.json by which bodies are made.
type described struct {
	Paths      map[string]map[string]json.RawMessage
	Components struct{ Schemas map[string]shape }
}

type operation struct {
	Parameters []struct {
		Name, In string
		Schema   shape
	}
	RequestBody struct {
		Content map[string]struct{ Schema shape }
	}
}

type shape struct {
	Ref        string `json:"$ref"`
	Type       any
	Properties map[string]shape
	Items      *shape
	AnyOf      []shape
	OneOf      []shape
	Enum       []any
}

// filled returns a value of a shape whose texts are all the same.
func (d *described) filled(s shape, text string, depth int) any {
	if s.Ref != "" {
		s = d.Components.Schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]]
	}
	kind := fmt.Sprint(s.Type)
	switch {
	case depth > 6:
		return text
	case len(s.Properties) > 0:
		out := map[string]any{}
		for name, p := range s.Properties {
			out[name] = d.filled(p, text, depth+1)
		}
		return out
	case s.Items != nil:
		return []any{d.filled(*s.Items, text, depth+1)}
	case len(s.AnyOf) > 0:
		return d.filled(s.AnyOf[0], text, depth+1)
	case len(s.OneOf) > 0:
		return d.filled(s.OneOf[0], text, depth+1)
	case len(s.Enum) > 0:
		return s.Enum[0]
	case strings.Contains(kind, "boolean"):
		return true
	case strings.Contains(kind, "integer"), strings.Contains(kind, "number"):
		return 1
	}
	return text
}

// prober sends requests that name files to a server, and reads what comes back.
type prober struct {
	*serving
	t    *testing.T
	sent int
	// refused counts by route how often a file was refused as a model.
	refused map[string]int
}

// liveRoutes answer until the client leaves.
var liveRoutes = regexp.MustCompile(`/events$|/stream$|^/mcp`)

// turnOf matches the turn that a response names.
var turnOf = regexp.MustCompile(`"turn_id":"(\w+)"`)

// send sends one request, follows the turn that it starts, and reports what repeats the
// content of a file.
func (p *prober) send(method, path string, body any) {
	p.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	said := p.answered(method, path, raw)
	if m := turnOf.FindStringSubmatch(said); m != nil && !strings.Contains(path, "/stream") {
		said += p.answered(http.MethodGet, "/api/turns/"+m[1]+"/events", nil)
	}
	if strings.Contains(said, "script has no model ") {
		route, _, _ := strings.Cut(path, "?")
		p.refused[route]++
	}
	if strings.Contains(said, scriptSecret) {
		p.t.Errorf("%s %s with %.300s says %.600s", method, path, raw, said)
	}
}

// answered returns the whole answer to a request. The server's bound of requests a second
// is waited for.
func (p *prober) answered(method, path string, raw []byte) (said string) {
	p.t.Helper()
	eventually(p.t, "the server takes a request", func() bool {
		req, err := http.NewRequestWithContext(p.t.Context(), method, p.url+"/t/"+p.token+path, bytes.NewReader(raw))
		if err != nil {
			p.t.Fatalf("%s: %v", path, err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := p.client.Do(req)
		if err != nil {
			p.t.Fatalf("%s %s: %v", method, path, err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			p.t.Fatalf("%s %s: %v", method, path, err)
		}
		said = string(text)
		return res.StatusCode != http.StatusTooManyRequests
	})
	p.sent++
	return said
}

// bodies are those of a route: all texts of it the same, and for those that start a turn
// the least that does, with one field more.
func (d *described) bodies(op operation, text string) []any {
	s := op.RequestBody.Content["application/json"].Schema
	all, ok := d.filled(s, text, 0).(map[string]any)
	if !ok {
		return []any{nil}
	}
	out := []any{all}
	least := map[string]any{"message": "hi", "messages": []any{map[string]any{"role": "user", "content": "hi", "id": "1", "parts": []any{map[string]any{"type": "text", "text": "hi"}}}}, "input": "hi", "session_id": "s", "threadId": "t", "runId": "r", "id": "a"}
	maps.DeleteFunc(least, func(name string, _ any) bool { _, has := all[name]; return !has })
	for name, value := range all {
		one := maps.Clone(least)
		one[name] = value
		out = append(out, one)
	}
	return out
}

// No route reads a file that a client names, in any text of its body, its path or its
// query, and no answer repeats the content of one.
func TestNoRouteReadsAFileThatAClientNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "responses: [{when: ^write$, step: 0, calls: [{name: write_file, args: {path: mine.txt, content: x}}]}, {when: \"\", text: From the script.}]")
	secretFiles(t, w)
	commandtest.Put(t, filepath.Join(w.Dir, "set", "toolset.yaml"), flowToolset)
	w.Run(0, "toolset", "import", "set", "--yes")
	w.Run(0, "ask", "a chat")
	s := w.serve("--log", "off")
	p := &prober{serving: s, t: t, refused: map[string]int{}}
	var d described
	if err := json.Unmarshal([]byte(p.answered(http.MethodGet, "/openapi.json", nil)), &d); err != nil {
		t.Fatal(err)
	}
	secret := filepath.ToSlash(filepath.Join(w.Dir, "secret.yaml"))
	for _, named := range []string{secret, "script/" + secret, "file://" + secret, "../../../../../../../../.." + secret, "secret.yaml"} {
		for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
			for method, raw := range d.Paths[path] {
				var op operation
				if method == "parameters" || liveRoutes.MatchString(path) && method == "get" || json.Unmarshal(raw, &op) != nil {
					continue
				}
				at := path
				for _, name := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(path, -1) {
					value := url.PathEscape(named)
					if name[1] == "chat" && strings.Count(path, "{") > 0 {
						value = "1"
					}
					at = strings.ReplaceAll(at, name[0], value)
				}
				for _, q := range op.Parameters {
					if q.In == "query" {
						p.send(strings.ToUpper(method), at+"?"+url.Values{q.Name: {named}}.Encode(), nil)
					}
				}
				for _, body := range d.bodies(op, named) {
					p.send(strings.ToUpper(method), at, body)
				}
			}
		}
	}
	p.again("script/" + secret)
	// Each route that takes the name of a model was reached by one, and refused it.
	for _, route := range []string{
		"/api/turns", "/api/stream", "/api/chats/1/edit", "/api/chats/1/retry", "/api/chat", "/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/messages/count_tokens", "/aisdk",
		"/api/workflows/spy:plain/start", "/api/workflows/spy:file/start",
	} {
		if p.refused[route] == 0 {
			t.Errorf("%s refused no file as a model; the others did: %v (%d requests)", route, p.refused, p.sent)
		}
	}
	linkOut(t, w)
	s.ask(`{"message":"write","conversation_id":1,"plan":false}`)
	p.send(http.MethodPut, "/api/chats/1/workspace/files/put.txt", "x") // which stores the folder's state, with the links
	if said := p.answered(http.MethodGet, "/api/chats/1/workspace/files", nil); !strings.Contains(said, `"mine.txt"`) || !strings.Contains(said, `"out"`) {
		t.Errorf("the links are not in the folder of chat 1: %s", said)
	}
	for _, path := range []string{"/api/chats/1/workspace/files/out", "/api/chats/1/workspace/files/dir/secret.yaml", "/api/chats/1/workspace/files/..%2f..%2fsecret.yaml"} {
		p.send(http.MethodGet, path, nil)
	}
	p.send(http.MethodPost, "/api/links", map[string]string{"path": "/api/chats/1/workspace/files/out"})
	p.images("file://" + secret)
	p.images(secret)
	// A configuration that became invalid after the start is not quoted either.
	w.Configure(scriptSecret + ": {x\n")
	for path, methods := range d.Paths {
		if _, gets := methods["get"]; gets && !strings.Contains(path, "{") && !liveRoutes.MatchString(path) {
			p.send(http.MethodGet, path, nil)
		}
	}
	p.send(http.MethodPost, "/api/turns", map[string]string{"message": "hi"})
}

// flowToolset has a workflow whose agent a client chooses a model for, and one whose agent
// names a file itself.
const flowToolset = `{manifest_version: "1", id: spy, name: Spy, version: 1.0.0, description: Reads.,
agents: [{id: reader, name: Reader, purpose: Reads., prompt: Read.}, {id: filed, name: Filed, purpose: Reads., prompt: Read., model: script/secret.yaml}],
workflows: [{id: plain, name: Plain, description: Reads., steps: [{id: a, name: A, agent: reader, prompt: Hi}]},
  {id: file, name: File, description: Reads., steps: [{id: a, name: A, agent: filed, prompt: Hi}]}]}`

// again names a file as a model where a chat, a message or a workflow is needed.
func (p *prober) again(ref string) {
	p.t.Helper()
	id := regexp.MustCompile(`"id":"(01\w{24})","turn_id":"\w+","role":"user"`).FindStringSubmatch(p.answered(http.MethodGet, "/api/chats/1/messages", nil))
	if id == nil {
		p.t.Fatal("chat 1 has no message")
	}
	p.send(http.MethodPost, "/api/chats/1/edit", map[string]string{"message_id": id[1], "message": "hi", "model": ref})
	p.send(http.MethodPost, "/api/chats/1/retry", map[string]string{"message_id": id[1], "model": ref})
	p.send(http.MethodPost, "/api/workflows/spy:plain/start", map[string]string{"model": ref})
	p.send(http.MethodPost, "/api/workflows/spy:file/start", map[string]string{})
}

// images sends addresses of files where clients of other programs send images.
func (p *prober) images(address string) {
	p.t.Helper()
	p.send(http.MethodPost, "/v1/chat/completions", map[string]any{"model": "script/m.yaml", "messages": []any{map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "text", "text": "hi"}, map[string]any{"type": "image_url", "image_url": map[string]string{"url": address}},
	}}}})
	p.send(http.MethodPost, "/v1/responses", map[string]any{"model": "script/m.yaml", "input": []any{map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "input_text", "text": "hi"}, map[string]any{"type": "input_image", "image_url": address}, map[string]any{"type": "input_file", "file_url": address},
	}}}})
	for _, kind := range []string{"image", "document"} {
		p.send(http.MethodPost, "/v1/messages", map[string]any{"model": "script/m.yaml", "messages": []any{map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "text", "text": "hi"}, map[string]any{"type": kind, "source": map[string]string{"type": "url", "url": address}},
		}}}})
	}
	p.send(http.MethodPost, "/aisdk", map[string]any{"id": "f", "messages": []any{map[string]any{"id": "1", "role": "user", "parts": []any{
		map[string]any{"type": "text", "text": "hi"}, map[string]any{"type": "file", "mediaType": "text/plain", "url": address},
	}}}})
	p.send(http.MethodPost, "/api/chat", map[string]any{"model": "script/m.yaml", "messages": []any{map[string]any{"role": "user", "content": "hi", "images": []string{address}}}})
}

// linkOut makes links in chat 1's folder that lead to a file outside of it.
func linkOut(t *testing.T, w *world) {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(w.Dir, "data", "chats", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range folders {
		ws := filepath.Join(dir, "workspace")
		if err := os.MkdirAll(ws, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, target := range map[string]string{"out": filepath.Join(w.Dir, "secret.yaml"), "dir": w.Dir} {
			if err := os.Symlink(target, filepath.Join(ws, name)); err != nil {
				needtest.Lacking(t, "symbolic links: "+err.Error())
			}
		}
	}
}

// An editor chooses no file as a model either, neither by the option nor by the command.
func TestAnEditorNamesNoFileAsAModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "responses: [{when: \"\", text: From the script.}]")
	secretFiles(t, w)
	e := w.edit(realDir(t), "")
	var all strings.Builder
	answer := func(id int) {
		for line := e.hear(`"`); line != ""; line = e.hear(`"`) {
			all.WriteString(line)
			if strings.Contains(line, fmt.Sprintf(`"id":%d`, id)) {
				return
			}
		}
	}
	ref := "script/" + filepath.Join(w.Dir, "secret.yaml")
	e.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"session/set_config_option","params":{"sessionId":%q,"configId":"model","value":%q}}`, e.session, ref))
	answer(3)
	e.ask(4, "hi")
	answer(4)
	e.ask(5, "/model "+ref)
	answer(5)
	e.ask(6, "hi again")
	answer(6)
	if strings.Contains(all.String(), scriptSecret) {
		t.Errorf("the editor gets %s", &all)
	}
}
