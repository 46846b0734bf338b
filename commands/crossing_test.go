package commands_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// crossing plays four providers on a loopback address, each behind a folder of its own:
// /an Anthropic, /ge Gemini by chat completions, /oa OpenAI, /ol Ollama. Each refuses what
// the real one refuses, and calls the first tool that it is offered once a turn.
type crossing struct {
	*httptest.Server
	mu      sync.Mutex
	bodies  map[string][]string // accepted ones, by the folder
	refused map[string][]string // messages of refusals
	calls   int
}

func startCrossing(t *testing.T) *crossing {
	t.Helper()
	c := &crossing{bodies: map[string][]string{}, refused: map[string][]string{}}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

// crossingBody is what the servers read of a request. The rest is checked in its text.
type crossingBody struct {
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		Calls   []struct {
			Function struct {
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
	Tools []struct {
		Name     string `json:"name"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
}

func (c *crossing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	folder, path := r.URL.Path[1:3], r.URL.Path[3:]
	if path == "/api/show" {
		_, _ = io.WriteString(w, `{"capabilities":["completion","tools","vision"],"model_info":{"general.architecture":"q","q.context_length":40960},"details":{}}`)
		return
	}
	var body crossingBody
	if json.Unmarshal(raw, &body) != nil || len(body.Messages) == 0 || !map[string]bool{"/v1/messages": true, "/v1/chat/completions": true, "/api/chat": true}[path] {
		http.NotFound(w, r)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if why := refusal(folder, string(raw), body); why != "" {
		c.refused[folder] = append(c.refused[folder], why)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"type": "invalid_request_error", "message": why}})
		return
	}
	c.bodies[folder] = append(c.bodies[folder], string(raw))
	last := body.Messages[len(body.Messages)-1]
	tool := ""
	if strings.Contains(string(last.Content), "please") && len(body.Tools) > 0 {
		tool = body.Tools[0].Name + body.Tools[0].Function.Name
		c.calls++
	}
	_, _ = io.WriteString(w, crossingAnswer(folder, tool, c.calls))
}

// The members of calls that only one provider knows, and the image of the tool.
var (
	unknownMember = regexp.MustCompile(`"(extra_content|vendor|reasoning_content|reasoning|reasoning_details|thought_signature|signature|thinking)":`)
	crossingPNG   = base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\nthe image"))
)

// refusal returns why a provider refuses a request; empty if it takes it.
func refusal(folder, raw string, body crossingBody) string {
	for i, m := range body.Messages {
		image := strings.Contains(string(m.Content), crossingPNG)
		if m.Role == "tool" && image && (folder == "ge" || folder == "oa") {
			return fmt.Sprintf("Invalid 'messages[%d]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.", i)
		}
		for _, call := range m.Calls {
			if text := strings.HasPrefix(string(call.Function.Arguments), `"`); text == (folder == "ol") {
				return "json: cannot unmarshal the arguments of a call"
			}
		}
	}
	if folder != "an" && strings.Contains(raw, "foreign thought") {
		return "the reasoning is another model's"
	}
	switch folder {
	case "an":
		if strings.Contains(raw, `"extra_content"`) {
			return "messages.1.content.0.tool_use.extra_content: Extra inputs are not permitted"
		}
	case "oa":
		if found := unknownMember.FindStringSubmatch(raw); found != nil {
			return "Unrecognized request argument supplied: " + found[1]
		}
	case "ol":
		if strings.Contains(raw, `"extra_content"`) {
			return "unknown field extra_content"
		}
	case "ge":
		calls := regexp.MustCompile(`"tool_calls":\[\{(.*?)\}\]`).FindAllStringSubmatch(raw, -1)
		for _, call := range calls {
			if !regexp.MustCompile(`"thought_signature":"(GE-\d+|skip_thought_signature_validator)"`).MatchString(call[1]) {
				return "Function call is missing a thought_signature in functionCall parts."
			}
		}
	}
	return ""
}

// crossingAnswer calls the tool, or says something where that is empty.
func crossingAnswer(folder, tool string, n int) string {
	send := func(v string, args ...any) string { return "data: " + fmt.Sprintf(v, args...) + "\n\n" }
	if folder == "ol" {
		if tool != "" {
			return fmt.Sprintf(`{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":%q,"arguments":{}}}]},"done":false}`+"\n", tool) + `{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}` + "\n"
		}
		return `{"message":{"role":"assistant","content":"answer"},"done":false}` + "\n" + `{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}` + "\n"
	}
	if folder == "an" {
		block, stop := `{"type":"text","text":"answer"}`, "end_turn"
		if tool != "" {
			block, stop = fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":%q,"input":{}}`, n, tool), "tool_use"
		}
		return send(`{"type":"message_start","message":{"usage":{"input_tokens":10}}}`) +
			send(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`) +
			send(`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"foreign thought"}}`) +
			send(`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"AN-%d"}}`, n) +
			send(`{"type":"content_block_stop","index":0}`) +
			send(`{"type":"content_block_start","index":1,"content_block":%s}`, block) + send(`{"type":"content_block_stop","index":1}`) +
			send(`{"type":"message_delta","delta":{"stop_reason":%q},"usage":{"output_tokens":5}}`, stop) + send(`{"type":"message_stop"}`)
	}
	if tool == "" {
		return send(`{"choices":[{"index":0,"delta":{"content":"answer"},"finish_reason":"stop"}]}`) + "data: [DONE]\n\n"
	}
	extra := ""
	if folder == "ge" {
		extra = fmt.Sprintf(`,"extra_content":{"google":{"thought_signature":"GE-%d"}}`, n)
	}
	return send(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_%d","type":"function"%s,"function":{"name":%q,"arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`, n, extra, tool) + "data: [DONE]\n\n"
}

// imageServer is an MCP server with one tool, which returns an image.
func imageServer(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if r.Method != http.MethodPost || err != nil || json.Unmarshal(raw, &m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		switch m.Method {
		case "initialize":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"shots","version":"1"}}}`, m.ID)
		case "tools/list":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"snap","description":"takes a picture","inputSchema":{"type":"object"}}]}}`, m.ID)
		case "tools/call":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"the screen"},{"type":"image","mimeType":"image/png","data":%q}]}}`, m.ID, crossingPNG)
		case "notifications/initialized", "notifications/cancelled":
			w.WriteHeader(http.StatusAccepted)
		default:
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// A chat that moves from Anthropic to Gemini, OpenAI and Ollama and back, with a tool in
// each turn that returns an image, keeps working: each provider gets the history and the
// images in its own form, and nothing that only another one knows.
func TestAChatCrossesProvidersWithToolsAndImages(t *testing.T) {
	t.Parallel()
	c := startCrossing(t)
	w := newWorld(t, yesScript)
	commandtest.Put(t, filepath.Join(w.Dir, "config", "config.yaml"), fmt.Sprintf(`
providers:
  an: {type: anthropic, base_url: "%[1]s/an", key: k-0123456789}
  ge: {type: openai, base_url: "%[1]s/ge/v1", key: k-0123456789}
  oa: {type: openai, base_url: "%[1]s/oa/v1", key: k-0123456789}
`, c.URL))
	w.Env = append(w.Env, "OLLAMA_HOST="+c.URL+"/ol", "NO_PROXY=127.0.0.1", "HTTP_PROXY=", "HTTPS_PROXY=")
	w.Run(0, "mcp", "add", "shots", "--url", imageServer(t))
	models := []string{"an/claude-opus-5-5", "ge/gemini-3-pro", "oa/gpt-4o", "ollama/q"}
	for i, model := range append(models, models...) {
		args := []string{"ask", "--no-stdin", "--yes", "--tool", "shots:snap", "-m", model}
		if i > 0 {
			args = append(args, "-c")
		}
		if out, _ := w.Run(0, append(args, "please")...); !strings.HasPrefix(out, "answer") {
			t.Fatalf("turn %d, %s: it said %q", i+1, model, out)
		}
		folder := model[:2]
		c.mu.Lock()
		last := c.bodies[folder][len(c.bodies[folder])-1]
		c.mu.Unlock()
		// The image of each turn so far: two requests a turn, the last one has all.
		if got := strings.Count(last, crossingPNG); got != i+1 {
			t.Errorf("turn %d, %s: the request has %d images, want %d: %s", i+1, model, got, i+1, last)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.refused["an"])+len(c.refused["oa"])+len(c.refused["ol"]) != 0 || len(c.refused["ge"]) != 1 {
		t.Errorf("refusals: %q, want one of Gemini's, which teaches", c.refused)
	}
	forms := map[string]string{
		"an": `{"type":"image","source":{"type":"base64","media_type":"image/png"`, "ge": `"image_url":{"url":"data:image/png;base64,`,
		"oa": `"image_url":{"url":"data:image/png;base64,`, "ol": `"images":["` + crossingPNG,
	}
	for folder, form := range forms {
		if last := c.bodies[folder][len(c.bodies[folder])-1]; !strings.Contains(last, form) || !strings.Contains(last, "the screen") {
			t.Errorf("%s got %s", folder, last)
		}
	}
}
