package commands_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
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
		raw, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+path, bytes.NewReader(raw))
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
			t.Fatalf("%s: %d %s, %v", path, resp.StatusCode, out, err)
		}
		return got
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
}

func checkPassedBack(t *testing.T, api string, s *strictServer) {
	t.Helper()
	last, refused := s.last(t)
	if refused != 0 || !strings.Contains(last.Body, `"thought_signature":"SIG-`) || !strings.Contains(last.Body, `"origin":"x"`) || !strings.Contains(last.Body, crossingPNG) {
		t.Errorf("%s: %d requests were refused, the last one is %s", api, refused, last.Body)
	}
}
