package commands_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// startServe runs fettle serve and returns its address and its token.
func startServe(t testing.TB, w *world) (base, token string) {
	t.Helper()
	serve := w.Command("serve", "--listen", "127.0.0.1:0", "--print-url", "--log", "off")
	out, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = serve.Process.Kill(); _ = serve.Wait() }) // it is killed, and says so
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`^(http://[^/]+)/#token=(\S+)\n$`).FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("fettle serve is at %q", line)
	}
	return m[1], m[2]
}

// postJSON sends a body to fettle serve and returns the answer, which has to be a success.
func postJSON(t *testing.T, address, token string, body map[string]any) map[string]json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	got := map[string]json.RawMessage{}
	if err != nil || resp.StatusCode != http.StatusOK || json.Unmarshal(out, &got) != nil {
		t.Fatalf("%s: %d %s, %v", address, resp.StatusCode, out, err)
	}
	return got
}

// A client that runs its own tools gets the members of a call that only the provider
// understands, and what it passes back reaches the provider in the same place, with the
// image of the tool's result.
func TestClientsPassOpaqueFieldsBack(t *testing.T) {
	t.Parallel()
	s := startStrict(t, refuseUnsigned, func(r strictRequest) []string {
		if r.asks() {
			return []string{fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"call-%d","type":"function","extra_content":{"google":{"thought_signature":"SIG-%d"}},"function":{"name":"look","arguments":"{}","origin":"x"}}]}`, r.n, r.n)}
		}
		return []string{`{"content":"answered"}`}
	})
	w := strictWorld(t, map[string]string{"g": s.URL})
	base, token := startServe(t, w)
	post := func(path string, body map[string]any) map[string]json.RawMessage {
		t.Helper()
		return postJSON(t, base+path, token, body)
	}
	type obj = map[string]any
	question := obj{"role": "user", "content": "please"}
	tools := []obj{{"type": "function", "function": obj{"name": "look", "parameters": obj{"type": "object"}}}}
	image := "data:image/png;base64," + crossingPNG

	var choices []struct {
		Message obj `json:"message"`
	}
	first := post("/v1/chat/completions", obj{"model": "g/gemini", "messages": []obj{question}, "tools": tools})
	if err := json.Unmarshal(first["choices"], &choices); err != nil {
		t.Fatal(err)
	}
	answer := choices[0].Message
	id := answer["tool_calls"].([]any)[0].(obj)["id"]
	post("/v1/chat/completions", obj{"model": "g/gemini", "tools": tools, "messages": []obj{question, answer, {
		"role": "tool", "tool_call_id": id, "content": []obj{{"type": "text", "text": "seen"}, {"type": "image_url", "image_url": obj{"url": image}}},
	}}})
	checkPassedBack(t, "chat completions", s)

	first = post("/api/chat", obj{"model": "g/gemini", "stream": false, "messages": []obj{question}, "tools": tools})
	answer = obj{}
	if err := json.Unmarshal(first["message"], &answer); err != nil {
		t.Fatal(err)
	}
	post("/api/chat", obj{"model": "g/gemini", "stream": false, "tools": tools, "messages": []obj{question, answer, {
		"role": "tool", "tool_name": "look", "content": "seen", "images": []string{crossingPNG},
	}}})
	checkPassedBack(t, "Ollama's API", s)

	tools = []obj{{"name": "look", "input_schema": obj{"type": "object"}}}
	first = post("/v1/messages", obj{"model": "g/gemini", "max_tokens": 100, "messages": []obj{question}, "tools": tools})
	content := contentOf(t, first)
	post("/v1/messages", obj{"model": "g/gemini", "max_tokens": 100, "tools": tools, "messages": []obj{
		question, {"role": "assistant", "content": content}, {"role": "user", "content": []obj{{
			"type": "tool_result", "tool_use_id": content[len(content)-1]["id"], "content": []obj{
				{"type": "text", "text": "seen"}, {"type": "image", "source": obj{"type": "base64", "media_type": "image/png", "data": crossingPNG}},
			},
		}}},
	}})
	checkPassedBack(t, "Anthropic's API", s)
}

// contentOf returns the content blocks of a message of Anthropic's API.
func contentOf(t *testing.T, message map[string]json.RawMessage) (content []map[string]any) {
	t.Helper()
	if err := json.Unmarshal(message["content"], &content); err != nil || len(content) == 0 {
		t.Fatalf("the content is %s: %v", message["content"], err)
	}
	return content
}

// A client of Anthropic's API that runs its own tools passes the blocks of thinking back,
// and the provider gets them with the signature that it gave them.
func TestClientsPassSignedThinkingBack(t *testing.T) {
	t.Parallel()
	c := startCrossing(t)
	w := newWorld(t, yesScript)
	commandtest.Put(t, filepath.Join(w.Dir, "config", "config.yaml"), fmt.Sprintf(`
providers:
  an: {type: anthropic, base_url: "%[1]s/an", key: k-0123456789}
`, c.URL))
	w.Env = append(w.Env, "NO_PROXY=127.0.0.1", "HTTP_PROXY=", "HTTPS_PROXY=")
	base, token := startServe(t, w)
	type obj = map[string]any
	ask := obj{
		"model": "an/claude-opus-5-5", "max_tokens": 100, "thinking": obj{"type": "adaptive"},
		"tools": []obj{{"name": "look", "input_schema": obj{"type": "object"}}},
	}
	messages := []obj{{"role": "user", "content": "please"}}
	ask["messages"] = messages
	content := contentOf(t, postJSON(t, base+"/v1/messages", token, ask))
	if len(content) != 2 || content[0]["type"] != "thinking" || content[0]["thinking"] != "foreign thought" || content[1]["type"] != "tool_use" {
		t.Fatalf("the answer is %v", content)
	}
	ask["messages"] = append(messages, obj{"role": "assistant", "content": content}, obj{"role": "user", "content": []obj{
		{"type": "tool_result", "tool_use_id": content[1]["id"], "content": "seen"},
	}})
	postJSON(t, base+"/v1/messages", token, ask)
	c.mu.Lock()
	defer c.mu.Unlock()
	last := c.bodies["an"][len(c.bodies["an"])-1]
	if len(c.refused["an"]) > 0 || !strings.Contains(last, `{"type":"thinking","thinking":"foreign thought","signature":"AN-1"}`) {
		t.Errorf("Anthropic refused %q, and got %s", c.refused["an"], last)
	}
}

func checkPassedBack(t *testing.T, api string, s *strictServer) {
	t.Helper()
	last, refused := s.last(t)
	if refused != 0 || !strings.Contains(last.Body, `"thought_signature":"SIG-`) || !strings.Contains(last.Body, `"origin":"x"`) || !strings.Contains(last.Body, crossingPNG) {
		t.Errorf("%s: %d requests were refused, the last one is %s", api, refused, last.Body)
	}
}
