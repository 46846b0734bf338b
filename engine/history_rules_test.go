package engine

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/budget"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/anthropic"
	"github.com/fettle-cli/fettle/engine/provider/mistral"
	"github.com/fettle-cli/fettle/engine/provider/ollama"
	"github.com/fettle-cli/fettle/engine/provider/openai"
	"github.com/fettle-cli/fettle/engine/provider/wire"
	"github.com/fettle-cli/fettle/engine/store"
)

// A history that was interrupted anywhere makes a request that each provider's
// own rules accept: with tools and without, for the model that gave it and for
// another, for an agent, and where some of it gave way.
func TestAnInterruptedHistoryIsTaken(t *testing.T) {
	t.Parallel()
	seeds := 12
	if testing.Short() {
		seeds = 3
	}
	for _, w := range wires(t) {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			for seed := range seeds {
				events := randomTurn(rand.New(rand.NewPCG(7, uint64(seed))), w)
				for cut := range len(events) + 1 {
					for _, a := range cutHistories(w, events[:cut]) {
						w.check(t, a, fmt.Sprintf("seed %d, cut after %d of %d", seed, cut, len(events)))
						if t.Failed() {
							return
						}
					}
				}
			}
		})
	}
}

// wireRules is a provider with what its documentation says of messages.
type wireRules struct {
	name    string
	prov    provider.Provider
	model   string
	details string // reasoning details as the provider gives them
	rules   func(body []byte) error

	mu   sync.Mutex
	last []byte
}

func (w *wireRules) ref() string { return w.prov.Name() + "/" + w.model }

// check sends the request and holds what arrives to the rules.
func (w *wireRules) check(t *testing.T, a assembly, what string) {
	t.Helper()
	req := assemble(a)
	w.mu.Lock()
	w.last = nil
	w.mu.Unlock()
	for range w.prov.Stream(t.Context(), req) {
		break // the server refuses the key; what was sent is what counts
	}
	w.mu.Lock()
	body := w.last
	w.mu.Unlock()
	if body == nil {
		t.Errorf("%s: nothing was sent", what)
		return
	}
	if err := w.rules(body); err != nil {
		t.Errorf("%s: %v\n%.4000s", what, err, body)
	}
}

func wires(t *testing.T) []*wireRules {
	all := []*wireRules{
		{name: "anthropic", model: "claude-sonnet-4-5", rules: anthropicRules,
			details: `[{"type":"thinking","thinking":"Hm.","signature":"c2lnbmVk"}]`},
		{name: "openai", model: "gpt-5", rules: openaiRules,
			details: `[{"type":"reasoning.encrypted","data":"abc","id":"r1","index":0}]`},
		{name: "responses", model: "gpt-5.6", rules: responsesRules,
			details: `[{"type":"openai.item","item":{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"}},{"type":"openai.call","call":"call 0/a"},{"type":"openai.message","fields":{"phase":"commentary"}}]`},
		{name: "mistral", model: "magistral-small", rules: mistralRules,
			details: `[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]}]`},
		{name: "ollama", model: "qwen3", rules: ollamaRules, details: `{"odd":true}`},
	}
	for _, w := range all {
		srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			switch {
			case err != nil:
			case strings.HasSuffix(r.URL.Path, "/api/show"), strings.HasSuffix(r.URL.Path, "/api/ps"):
				_, _ = io.WriteString(rw, `{}`)
				return
			case r.Method == http.MethodPost:
				w.mu.Lock()
				w.last = body
				w.mu.Unlock()
			}
			rw.WriteHeader(http.StatusUnauthorized)
		}))
		t.Cleanup(srv.Close)
		client := &http.Client{Transport: &http.Transport{}}
		t.Cleanup(client.CloseIdleConnections)
		var err error
		switch w.name {
		case "anthropic":
			w.prov, err = anthropic.New(anthropic.Options{BaseURL: srv.URL, Client: client})
		case "openai":
			w.prov, err = openai.New(openai.Options{Options: wire.Options{BaseURL: srv.URL + "/v1", Client: client}})
		case "responses":
			w.prov, err = openai.New(openai.Options{Options: wire.Options{Name: "responses", BaseURL: srv.URL + "/v1", Client: client}, API: openai.APIResponses})
		case "mistral":
			w.prov, err = mistral.New(mistral.Options{Options: wire.Options{BaseURL: srv.URL + "/v1", Client: client}})
		default:
			w.prov, err = ollama.New(ollama.Options{Host: srv.URL, Client: client})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// randomTurn is what a turn could have recorded: several responses, calls side
// by side, agents, payloads, reasoning, and texts that are nothing.
func randomTurn(r *rand.Rand, w *wireRules) []event.Event {
	var bodies []event.Body
	add := func(b ...event.Body) { bodies = append(bodies, b...) }
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	agents, agent := r.IntN(2) == 0, ""
	if agents {
		agent = "one"
		add(event.AgentStart{Agent: agent})
	}
	n := 0
	for step := range 2 + r.IntN(3) {
		if r.IntN(2) == 0 {
			add(event.Status{Message: "loading"}, event.Reasoning{Text: "Hm.", Agent: agent})
		}
		if r.IntN(2) == 0 {
			add(event.Reasoning{Details: json.RawMessage(w.details), Agent: agent})
		}
		for range r.IntN(3) {
			text := pick("I look. ", " ", "\n", "Found it.", "")
			if agents && r.IntN(2) == 0 {
				add(event.Reasoning{Text: text, Agent: agent, Said: true})
			} else {
				add(event.TextDelta{Text: text, Agent: agent})
			}
		}
		add(event.Meta{Model: pick(w.ref(), w.ref(), "other/m"), StopReason: "tool_use"})
		calls := r.IntN(4)
		if !agents { // a response without calls would have ended the turn
			calls = 1 + r.IntN(3)
		}
		first := n
		for range calls {
			id := fmt.Sprintf("call %d/%s", n, pick("a", "ü", strings.Repeat("x", 70))) // as odd as providers make them
			add(event.ToolStart{Tool: "look", ToolID: "my-tools:look", Input: json.RawMessage(`{"q":1}`), ToolUseID: id, CallID: fmt.Sprint("c", n), Agent: agent, Index: n})
			n++
		}
		starts := bodies[len(bodies)-calls:]
		for _, i := range r.Perm(calls) {
			s := starts[i].(event.ToolStart)
			status := event.CallSuccess
			if r.IntN(3) == 0 {
				status = event.CallError
			}
			add(event.ToolProgress{Tool: "look", Stage: "x", ToolUseID: s.ToolUseID},
				event.ToolComplete{Tool: "look", ToolID: s.ToolID, ToolUseID: s.ToolUseID, CallID: s.CallID, Index: s.Index,
					Status: status, Result: pick("", "found", strings.Repeat("long ", 200)), Payload: json.RawMessage(`{"type":"t","data":{}}`)},
				event.Payload{PayloadID: "p", Kind: "t", Data: json.RawMessage(`{}`), Source: "tool"})
		}
		if agents && first < n && step < 3 {
			next := map[string]string{"one": "two", "two": "one"}[agent]
			add(event.Handoff{From: agent, To: next, Reason: "go on"}, event.AgentStart{Agent: next})
			agent = next
		}
	}
	add(event.TextDelta{Text: "Done.", Agent: agent}, event.Meta{Model: w.ref(), StopReason: "stop"}, event.Footnote{Text: "x"}, event.Complete{})
	events := make([]event.Event, len(bodies))
	for i, b := range bodies {
		events[i] = event.Event{TurnID: "t", Seq: event.Seq(i + 1), Time: time.Unix(int64(i), 0), Body: b}
	}
	return events
}

// cutHistories are the requests that may follow a turn of which these events
// were kept.
func cutHistories(w *wireRules, events []event.Event) []assembly {
	question := func(text string) chat.Message {
		return chat.Message{Role: provider.User, Parts: []provider.Part{
			{Kind: provider.FilePart, Name: "a.txt", Text: "file"}, {Kind: provider.TextPart, Text: text}}}
	}
	red := chat.NewReducer(&chat.Acceptance{TurnID: "t", Model: w.ref()})
	for _, e := range events {
		red.Add(e)
	}
	for _, e := range red.Interrupt(time.Unix(9, 0)) {
		red.Add(e)
	}
	history := []chat.Message{question("first"), red.Message(), question("second"),
		{Role: provider.Assistant, Status: chat.CutShort}, question("third")}
	spec := []provider.ToolSpec{{Name: "look", Description: "Looks.", InputSchema: []byte(`{"type":"object"}`)}}
	base := assembly{
		model: w.model, ref: w.ref(), system: "Be brief.", history: history, tools: spec,
		name: func(string) string { return "look" }, without: map[provider.Feature]bool{},
	}
	other, words, agent := base, base, base
	other.ref = "some/other"
	words.without = map[provider.Feature]bool{provider.FeatureTools: true}
	agent.agent = &store.Agent{ID: "two", Prompt: "You are two."}
	out := []assembly{base, other, words, agent}
	for _, a := range []assembly{base, words} {
		for _, limit := range []int{1300, 700, 500} {
			if fitted, ok := madeToFit(a, limit); ok {
				out = append(out, fitted)
			}
		}
	}
	return out
}

// madeToFit lets as much of a request give way as a turn would.
func madeToFit(a assembly, limit int) (assembly, bool) {
	sizes, all := a.sized(assemble(a))
	plan, err := budget.Fit(sizes, budget.Policy{Limit: limit, KeepSteps: 1, Summary: 20, MinResult: 50})
	if err != nil || plan.Empty() {
		return a, false
	}
	a.fit = &fitting{trims: map[string]int{}}
	for _, trim := range plan.Trims {
		a.fit.trims[all[trim.Message].Parts[trim.Result].Result.ID] = trim.Keep
	}
	for _, r := range plan.Replace {
		n := coveredBy(all[r.To:])
		a.fit.summary = &chat.Summary{Text: "NOTES", Messages: n}
		a.history = a.history[n:]
	}
	return a, true
}

type wireMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	Images     []string        `json:"images"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (m *wireMessage) empty() bool {
	c := strings.TrimSpace(string(m.Content))
	return c == "" || c == "null" || c == `""` || c == "[]"
}

func messagesOf(body []byte) (all []wireMessage, tools bool, err error) {
	var req struct {
		Messages []wireMessage     `json:"messages"`
		Tools    []json.RawMessage `json:"tools"`
	}
	err = json.Unmarshal(body, &req)
	return req.Messages, len(req.Tools) > 0, err
}

// answered holds calls and results of chat completions together: each call has
// its result right behind the message, and each result its call.
func answered(all []wireMessage, ids *regexp.Regexp) error {
	for i := 0; i < len(all); i++ {
		m := all[i]
		if m.Role == "tool" {
			return fmt.Errorf("message %d is a result without a call", i)
		}
		if len(m.ToolCalls) == 0 {
			continue
		}
		open := map[string]bool{}
		for _, c := range m.ToolCalls {
			if open[c.ID] || !ids.MatchString(c.ID) {
				return fmt.Errorf("message %d has a call with the id %q", i, c.ID)
			}
			open[c.ID] = true
		}
		for i+1 < len(all) && all[i+1].Role == "tool" {
			i++
			if !open[all[i].ToolCallID] {
				return fmt.Errorf("message %d answers no open call: %q", i, all[i].ToolCallID)
			}
			delete(open, all[i].ToolCallID)
		}
		if len(open) > 0 {
			return fmt.Errorf("calls before message %d have no result: %v", i+1, open)
		}
	}
	return nil
}

// openaiRules: a message with tool_calls is followed by a tool message for each;
// an assistant message has content or calls; the others have content.
func openaiRules(body []byte) error {
	all, tools, err := messagesOf(body)
	if err != nil {
		return err
	}
	for i, m := range all {
		switch {
		case m.Role == "assistant" && m.empty() && len(m.ToolCalls) == 0, (m.Role == "user" || m.Role == "system") && m.empty():
			return fmt.Errorf("message %d has no content", i)
		case len(m.ToolCalls) > 0 && !tools:
			return fmt.Errorf("message %d calls tools, and the request has none", i)
		}
	}
	if last := all[len(all)-1].Role; last != "user" {
		return fmt.Errorf("the last message is of %s", last)
	}
	return answered(all, regexp.MustCompile(`^.{1,64}$`))
}

// responsesRules: reasoning is followed by what it led to; each call has one result, which
// comes later; messages have content of their role; the last item is of the user.
func responsesRules(body []byte) error {
	var req struct {
		Input []struct {
			Type, Role string
			ID         string `json:"id"`
			CallID     string `json:"call_id"`
			Arguments  string
			Encrypted  string `json:"encrypted_content"`
			Content    []struct{ Type, Text string }
		} `json:"input"`
		Tools []json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	open, used := map[string]bool{}, map[string]bool{}
	ids := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	thought := false
	for i, item := range req.Input {
		ofModel := item.Role == "assistant" || item.Type == "reasoning" || item.Type == "function_call"
		if thought && !ofModel {
			return fmt.Errorf("the reasoning before item %d leads to nothing", i)
		}
		thought = item.Type == "reasoning"
		switch item.Type {
		case "message":
			want := map[string]string{"user": "input_text", "assistant": "output_text"}[item.Role]
			if len(item.Content) == 0 || item.Content[0].Type != want || item.Content[0].Text == "" {
				return fmt.Errorf("item %d of %s has the content %v", i, item.Role, item.Content)
			}
		case "reasoning":
			if item.Encrypted == "" || item.ID != "" {
				return fmt.Errorf("item %d is reasoning that the server would have to look up", i)
			}
		case "function_call":
			if used[item.CallID] || !ids.MatchString(item.CallID) || !json.Valid([]byte(item.Arguments)) || len(req.Tools) == 0 {
				return fmt.Errorf("item %d is a call with the id %q", i, item.CallID)
			}
			open[item.CallID], used[item.CallID] = true, true
		case "function_call_output":
			if !open[item.CallID] {
				return fmt.Errorf("item %d answers no open call: %q", i, item.CallID)
			}
			delete(open, item.CallID)
		default:
			return fmt.Errorf("item %d is of the type %q", i, item.Type)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("calls without results: %v", open)
	}
	if last := req.Input[len(req.Input)-1]; last.Role != "user" {
		return fmt.Errorf("the last item is %s of %s", last.Type, last.Role)
	}
	return nil
}

// mistralRules: ids are nine letters or digits; after tools comes the assistant;
// roles alternate beside tools; the last role is user or tool.
func mistralRules(body []byte) error {
	all, _, err := messagesOf(body)
	if err != nil {
		return err
	}
	for i, m := range all {
		before := ""
		if i > 0 {
			before = all[i-1].Role
		}
		switch {
		case m.Role == "user" && (before == "tool" || before == "user"), m.Role == "assistant" && before == "assistant":
			return fmt.Errorf("message %d of %s comes after %s", i, m.Role, before)
		case m.Role == "assistant" && m.empty() && len(m.ToolCalls) == 0, m.Role == "user" && m.empty():
			return fmt.Errorf("message %d has no content", i)
		}
	}
	if last := all[len(all)-1].Role; last != "user" {
		return fmt.Errorf("the last message is of %s", last)
	}
	return answered(all, regexp.MustCompile(`^[a-zA-Z0-9]{9}$`))
}

// ollamaRules: arguments are objects, results follow their calls, and no message
// is empty, which templates make an empty turn of.
func ollamaRules(body []byte) error {
	all, _, err := messagesOf(body)
	if err != nil {
		return err
	}
	for i, m := range all {
		if m.Role != "tool" && m.empty() && len(m.ToolCalls) == 0 && len(m.Images) == 0 {
			return fmt.Errorf("message %d is empty", i)
		}
		for _, c := range m.ToolCalls {
			if !strings.HasPrefix(string(c.Function.Arguments), "{") {
				return fmt.Errorf("message %d has the arguments %s", i, c.Function.Arguments)
			}
		}
	}
	return answered(all, regexp.MustCompile(`.`))
}

// anthropicRules: roles alternate and begin with the user; texts hold more than
// blanks; each tool_use has its tool_result at the begin of the next message;
// thinking is never the last block; tools are declared where any was used.
func anthropicRules(body []byte) error {
	var req struct {
		Messages []struct {
			Role    string `json:"role"`
			Content []struct {
				Type, Text, ID string
				ToolUseID      string          `json:"tool_use_id"`
				Input          json.RawMessage `json:"input"`
			} `json:"content"`
		} `json:"messages"`
		Tools []json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	ids := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	open, used := map[string]bool{}, map[string]bool{}
	for i, m := range req.Messages {
		if want := []string{"user", "assistant"}[i%2]; m.Role != want {
			return fmt.Errorf("message %d is of %s", i, m.Role)
		}
		if len(m.Content) == 0 {
			return fmt.Errorf("message %d is empty", i)
		}
		results := true
		for j, b := range m.Content {
			switch b.Type {
			case "text":
				if strings.TrimSpace(b.Text) == "" {
					return fmt.Errorf("message %d has a text of blanks", i)
				}
			case "tool_use":
				if used[b.ID] || !ids.MatchString(b.ID) || !strings.HasPrefix(string(b.Input), "{") || len(req.Tools) == 0 {
					return fmt.Errorf("message %d has the call %q", i, b.ID)
				}
				open[b.ID], used[b.ID] = true, true
			case "tool_result":
				if !open[b.ToolUseID] || !results {
					return fmt.Errorf("message %d has a stray result of %q", i, b.ToolUseID)
				}
				delete(open, b.ToolUseID)
			case "thinking", "redacted_thinking":
				if j == len(m.Content)-1 {
					return fmt.Errorf("message %d ends with thinking", i)
				}
			}
			results = results && b.Type == "tool_result"
		}
		if m.Role == "user" && len(open) > 0 {
			return fmt.Errorf("calls before message %d have no result: %v", i, open)
		}
	}
	if len(req.Messages)%2 == 0 {
		return fmt.Errorf("the last message is not the user's")
	}
	return nil
}
