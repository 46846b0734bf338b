//go:build linux || darwin

package soak

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// model is a loopback server that implements chat completions. It answers slowly, a
// word at a time, and calls the tools that the question names.
type model struct {
	*httptest.Server

	mu   sync.Mutex
	bad  []string // the errors of requests
	seen int
}

func newModel(t *testing.T) *model {
	m := new(model)
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(m.Close)
	return m
}

// message is one of a request's messages.
type message struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Function struct {
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	ToolCallID string `json:"tool_call_id"`
}

// text returns the text of a message, whose content is a string or a list of parts.
func (m message) text() string {
	var s string
	if json.Unmarshal(m.Content, &s) == nil {
		return s
	}
	var parts []struct{ Text string }
	_ = json.Unmarshal(m.Content, &parts) // a message without content has no text
	for _, p := range parts {
		s += p.Text
	}
	return s
}

// history reports what is wrong with the order of messages: each call has its result
// right after it, and no result is without a call.
func history(all []message) error {
	open := map[string]bool{}
	for i, m := range all {
		if m.Role != "tool" && len(open) > 0 {
			return fmt.Errorf("message %d, %s, follows calls without results: %v", i, m.Role, open)
		}
		switch m.Role {
		case "tool":
			if !open[m.ToolCallID] {
				return fmt.Errorf("message %d is the result of no open call: %s", i, m.ToolCallID)
			}
			delete(open, m.ToolCallID)
		case "assistant":
			for _, c := range m.ToolCalls {
				open[c.ID] = true
				if !json.Valid([]byte(c.Function.Arguments)) {
					return fmt.Errorf("message %d has a call whose arguments aren't JSON: %q", i, c.Function.Arguments)
				}
			}
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("the request ends with calls without results: %v", open)
	}
	return nil
}

func (m *model) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	var req struct {
		Messages []message `json:"messages"`
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil { // the client was killed while it asked
		return
	}
	err = json.Unmarshal(raw, &req)
	if err == nil {
		err = history(req.Messages)
	}
	m.mu.Lock()
	m.seen++
	if err != nil {
		m.bad = append(m.bad, fmt.Sprintf("%v\n%s", err, raw))
	}
	m.mu.Unlock()
	if err != nil || len(req.Messages) == 0 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	answer(w, r, req.Messages)
}

// answer streams the answer to the last message: a call, where the question asks for
// one, or words.
func answer(w http.ResponseWriter, r *http.Request, all []message) {
	last := all[len(all)-1]
	flush := http.NewResponseController(w)
	send := func(delta string, finish string) bool {
		_, err := fmt.Fprintf(w, `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, finish)
		return err == nil && flush.Flush() == nil
	}
	tool, args := asks(last)
	words := 4 + len(all)%9
	for i := range words {
		select {
		case <-time.After(time.Duration(3+i%5) * time.Millisecond):
		case <-r.Context().Done():
			return
		}
		if !send(fmt.Sprintf(`{"content":"word%d <&> "}`, i), "null") {
			return
		}
	}
	finish := `"stop"`
	if tool != "" {
		finish = `"tool_calls"`
		raw, _ := json.Marshal(args) // a string always has a form
		if !send(fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"call_%d","function":{"name":%q,"arguments":%s}}]}`, len(all), tool, raw), "null") {
			return
		}
	}
	if send("{}", finish) {
		_, _ = io.WriteString(w, "data: [DONE]\n\n") // the client has all that it needs
	}
}

// asks returns the call that a question asks for: the last of its lines is
// `call NAME ARGUMENTS`.
func asks(m message) (tool, args string) {
	if m.Role != "user" {
		return "", ""
	}
	lines := strings.Split(strings.TrimSpace(m.text()), "\n")
	rest, ok := strings.CutPrefix(lines[len(lines)-1], "call ")
	if !ok {
		return "", ""
	}
	tool, args, _ = strings.Cut(rest, " ")
	return tool, args
}

// faults returns the errors of the requests so far.
func (m *model) faults() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bad
}
