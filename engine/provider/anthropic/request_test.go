package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
)

var (
	yes, no = true, false
	warmth  = 0.2
)

// everything is a request that uses every field, in the middle of a turn.
func everything(model string) *provider.Request {
	return &provider.Request{
		Model: model, System: "Be brief.",
		Tools: []provider.ToolSpec{
			{Name: "my-tools:analyze", Description: "analyses", InputSchema: json.RawMessage(`{"type":"object","properties":{"file":{"type":"string"}}}`)},
			{Name: "now"},
			{Name: "either", Description: "one of two", InputSchema: json.RawMessage(`{"type":"object","oneOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}},"required":["b"]}]}`)},
			{Name: "broken", InputSchema: json.RawMessage(`{"type":`)},
			{Name: "list", InputSchema: json.RawMessage(`{"type":"array"}`)},
			{Name: "umlaut", InputSchema: json.RawMessage(`{"type":"object","properties":{"größe":{}}}`)},
		},
		Messages: []provider.Message{
			providertest.User(providertest.Words("<file name=\"a\">\n1 < 2 & 3\n</file>")),
			providertest.User(provider.Part{Kind: provider.ImagePart, Data: []byte("\x89PNG\r\n\x1a\n"), MIME: "image/jpeg"},
				provider.Part{Kind: provider.ImagePart, Data: []byte("BM12"), MIME: "image/bmp", Name: "old.bmp"}, providertest.Words("What is this?")),
			{Role: provider.Assistant, Parts: []provider.Part{
				providertest.Words("\n\n"), providertest.Called("call_1", "my-tools:analyze", `{}`),
			}},
			{Role: provider.Tool, Parts: []provider.Part{providertest.Answered("call_1", "my-tools:analyze", "", false)}},
			{Role: provider.Assistant}, // what a cancelled turn leaves
			providertest.User(providertest.Words(" \n"), providertest.Words("Go on.")),
			{Role: provider.Assistant, Parts: []provider.Part{
				{Kind: provider.ReasoningPart, Text: "hm"},
				providertest.Thought(`[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"redacted_thinking","data":"ZGF0YQ=="}]`),
				providertest.Words("Let me"), providertest.Words(" see."),
				providertest.Thought(`[{"type":"tool_use","id":"call_1"},{"type":"thinking","thinking":"","signature":"bGF0ZXI="}]`),
				providertest.Thought(`[{"type":"reasoning.text","text":"of another provider"},{"type":"thinking","thinking":[{"type":"text","text":"of another"}]}]`),
				providertest.Called("call_1", "my-tools:analyze", `{"file": "a<b>.csv"}`), providertest.Called("functions.gone:2", "gone", `"{\"a\":"`),
			}},
			{Role: provider.Tool, Parts: []provider.Part{
				providertest.Answered("call_1", "my-tools:analyze", "3 rows & <more>", false), providertest.Answered("functions.gone:2", "gone", "no such tool", true),
			}},
		},
	}
}

// short is a request of one question and one tool.
func short(model string) *provider.Request {
	return &provider.Request{
		Model: model, System: "Be brief.", Messages: []provider.Message{providertest.User(providertest.Words("hi"))},
		Tools: []provider.ToolSpec{{Name: "now", Description: "tells the time"}},
	}
}

func with(req *provider.Request, change func(*provider.Request)) *provider.Request {
	change(req)
	return req
}

const simpleSchema = `{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"]}`

func TestEncode(t *testing.T) {
	t.Parallel()
	schema := func(r *provider.Request) { r.Schema = json.RawMessage(simpleSchema) }
	for name, c := range map[string]struct {
		req *provider.Request
		q   quirks
	}{
		"opus-5-5":       {everything("claude-opus-5-5"), quirks{}},
		"opus-5-5-hush":  {with(short("claude-opus-5-5"), func(r *provider.Request) { r.Think, r.Temperature = &no, &warmth; schema(r) }), quirks{}},
		"sonnet-4-5":     {with(short("claude-sonnet-4-5"), func(r *provider.Request) { r.Think, r.Temperature = &yes, &warmth; schema(r) }), quirks{noFormat: true}},
		"haiku-3-schema": {with(short("claude-3-haiku-20240307"), func(r *provider.Request) { r.Temperature = &warmth; schema(r) }), quirks{}},
		"all-learnt": {with(short("m"), func(r *provider.Request) { r.Think, r.Temperature = &yes, &warmth; schema(r) }),
			quirks{noCache: true, noDisplay: true, noTemperature: true, noForced: true, thinks: true, think: thinkAsked, tokens: 4000}},
		"least": {&provider.Request{Model: "claude-opus-4-8", Messages: []provider.Message{providertest.User(providertest.Words("hi"))}}, quirks{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := encode(c.req, c.q, adaption{})
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := json.Indent(&out, b.body, "", "  "); err != nil {
				t.Fatal(err)
			}
			for _, n := range b.notes {
				fmt.Fprintf(&out, "note: %s\n", n.Text)
			}
			providertest.Golden(t, filepath.Join("testdata", "request-"+name+".json"), out.Bytes(), *update)
		})
	}
}

// asks encodes a request and reads it back.
func asks(t *testing.T, req *provider.Request) (sent, []provider.Note) {
	t.Helper()
	b, err := encode(req, quirks{}, adaption{})
	if err != nil {
		t.Fatal(err)
	}
	var s sent
	if err := json.Unmarshal(b.body, &s); err != nil {
		t.Fatal(err)
	}
	return s, b.notes
}

func TestThinkingByFamily(t *testing.T) {
	t.Parallel()
	const nothing = ""
	for model, want := range map[string][3]string{ // left to the model, yes, no
		"claude-opus-5-5":            {"adaptive", "adaptive", nothing},
		"claude-fable-5-1":           {"adaptive", "adaptive", nothing},
		"claude-sonnet-5-5":          {"adaptive", "adaptive", "between_tools"},
		"claude-haiku-5-5":           {"adaptive", "adaptive", "disabled"},
		"claude-opus-5":              {"adaptive", "adaptive", "disabled"},
		"claude-opus-4-8":            {nothing, "adaptive", nothing},
		"claude-sonnet-4-6":          {nothing, "adaptive", nothing},
		"claude-sonnet-4-5-20250929": {nothing, "enabled", nothing},
		"claude-3-7-sonnet-latest":   {nothing, "enabled", nothing},
		"claude-3-5-haiku-20241022":  {nothing, nothing, nothing},
		"kimi-k2":                    {nothing, "enabled", "disabled"},
	} {
		for i, think := range []*bool{nil, &yes, &no} {
			s, _ := asks(t, &provider.Request{Model: model, Think: think, Messages: []provider.Message{providertest.User(providertest.Words("hi"))}})
			got := nothing
			if s.Thinking != nil {
				got = s.Thinking.Type
				if (got == "adaptive") != (s.Thinking.Display == summarized) {
					t.Errorf("%s: display %q of %s", model, s.Thinking.Display, got)
				}
				if got == "enabled" && (s.Thinking.Budget < minBudget || s.Thinking.Budget >= s.MaxTokens) {
					t.Errorf("%s: %d tokens of %d for thinking", model, s.Thinking.Budget, s.MaxTokens)
				}
			}
			if got != want[i] {
				t.Errorf("%s: thinking %d is asked for by %q, want %q", model, i, got, want[i])
			}
		}
	}
}

// Models that decide themselves how long they think get the level; others get a budget.
func TestEffort(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model  string
		asked  provider.Effort
		level  string
		budget int
		notes  int
	}{
		{"claude-opus-4-8", "", "", 0, 0},
		{"claude-opus-4-8", provider.EffortLow, "low", 0, 0},
		{"claude-opus-4-8", provider.EffortMax, "max", 0, 0},
		{"claude-opus-4-8", provider.EffortMinimal, "low", 0, 1},
		{"claude-sonnet-4-5", "", "", usualBudget, 0},
		{"claude-sonnet-4-5", provider.EffortLow, "", lowBudget, 0},
		{"claude-sonnet-4-5", provider.EffortHigh, "", highBudget, 0},
		{"claude-sonnet-4-5", provider.EffortMax, "", 50_000, 0},
	} {
		s, notes := asks(t, &provider.Request{
			Model: c.model, Think: &yes, Effort: c.asked, MaxTokens: 100_000, Messages: []provider.Message{providertest.User(providertest.Words("hi"))},
		})
		var level string
		if s.OutputConfig != nil {
			level = s.OutputConfig.Effort
		}
		if s.Thinking == nil || level != c.level || s.Thinking.Budget != c.budget || len(notes) != c.notes {
			t.Errorf("%s, effort %q: level %q, thinking %+v, notes %q", c.model, c.asked, level, s.Thinking, notes)
		}
	}
}

func TestThinkingThatDoesNotFit(t *testing.T) {
	t.Parallel()
	hi := []provider.Message{providertest.User(providertest.Words("hi"))}
	s, notes := asks(t, &provider.Request{Model: "claude-sonnet-4-5", Think: &yes, MaxTokens: 1000, Messages: hi})
	if s.Thinking != nil || s.MaxTokens != 1000 || len(notes) != 1 {
		t.Errorf("with 1000 tokens it asks for %+v, notes %q", s.Thinking, notes)
	}
	s, _ = asks(t, &provider.Request{Model: "claude-sonnet-4-5", Think: &yes, MaxTokens: 1500, Messages: hi})
	if s.Thinking == nil || s.Thinking.Budget != minBudget {
		t.Errorf("with 1500 tokens it asks for %+v", s.Thinking)
	}
	// A turn that another model began.
	s, _ = asks(t, &provider.Request{Model: "claude-sonnet-4-5", Think: &yes, Messages: append(hi,
		provider.Message{Role: provider.Assistant, Parts: []provider.Part{providertest.Called("1", "a", "{}")}},
		provider.Message{Role: provider.Tool, Parts: []provider.Part{providertest.Answered("1", "a", "x", false)}},
	)})
	if s.Thinking != nil {
		t.Errorf("in the middle of a turn without thoughts it asks for %+v", s.Thinking)
	}
	// One that it began itself, and that went on without a thought.
	s, _ = asks(t, &provider.Request{Model: "claude-sonnet-4-5", Think: &yes, Messages: append(hi,
		provider.Message{Role: provider.Assistant, Parts: []provider.Part{
			providertest.Thought(`[{"type":"thinking","thinking":"hm","signature":"x"}]`), providertest.Called("1", "a", "{}"),
		}},
		provider.Message{Role: provider.Tool, Parts: []provider.Part{providertest.Answered("1", "a", "x", false)}},
		provider.Message{Role: provider.Assistant, Parts: []provider.Part{providertest.Called("2", "a", "{}")}},
		provider.Message{Role: provider.Tool, Parts: []provider.Part{providertest.Answered("2", "a", "x", false)}},
	)})
	if s.Thinking == nil {
		t.Error("in the middle of a turn with thoughts it asks for none")
	}
}

// What the model thought and called comes back to it in the same order, and the
// thoughts byte for byte.
func TestThoughtsComeBack(t *testing.T) {
	t.Parallel()
	thinking := func(i int, raw string, signature string) string {
		return sends("content_block_start", obj{"index": i, "content_block": obj{"type": "thinking", "thinking": "", "signature": ""}}) +
			fmt.Sprintf("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":%d,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"%s\"}}\n\n", i, raw) +
			sends("content_block_delta", obj{"index": i, "delta": obj{"type": "signature_delta", "signature": signature}}) +
			sends("content_block_stop", obj{"index": i})
	}
	call := func(i int, id string) string {
		return sendsBlock(i, obj{"type": "tool_use", "id": id, "name": "look", "input": obj{}}, obj{"type": "input_json_delta", "partial_json": `{"at":"` + id + `"}`})
	}
	stream := thinking(0, `caf\u00e9 <b> \"q\" \ud83d\ude00 😀 \/`, "c2lnMQ==") +
		sendsBlock(1, obj{"type": "redacted_thinking", "data": "EmwKAhgB"}) +
		sendsBlock(2, obj{"type": "text", "text": ""}, obj{"type": "text_delta", "text": "Let me see."}) +
		call(3, "toolu_1") + thinking(4, "and", "c2lnMg==") + call(5, "toolu_2") +
		sendsBlock(6, obj{"type": "text", "text": ""}, obj{"type": "text_delta", "text": "There."}) + call(7, "toolu_3") +
		sends("message_delta", obj{"delta": obj{"stop_reason": "tool_use"}}) + sends("message_stop", obj{})
	p, bodies := serve(t, Options{}, func(w http.ResponseWriter, _ string) { fmt.Fprint(w, stream) })
	req := &provider.Request{
		Model: "claude-opus-5-5", Messages: []provider.Message{providertest.User(providertest.Words("Look."))},
		Tools: []provider.ToolSpec{{Name: "look"}},
	}
	h := providertest.Listen(t.Context(), p, req)
	if h.Err != nil || len(h.Calls) != 3 {
		t.Fatalf("it called %+v, %v", h.Calls, h.Err)
	}
	req.Messages = append(req.Messages, provider.Message{Role: provider.Assistant, Parts: h.Parts}, provider.Message{
		Role: provider.Tool, Parts: []provider.Part{providertest.Answered("toolu_1", "look", "a", false), providertest.Answered("toolu_2", "look", "b", false), providertest.Answered("toolu_3", "look", "c", false)},
	})
	if h := providertest.Listen(t.Context(), p, req); h.Err != nil {
		t.Fatal(h.Err)
	}
	second := bodies()[1]
	for _, raw := range []string{
		`"thinking":"caf\u00e9 <b> \"q\" \ud83d\ude00 😀 \/"`, `"signature":"c2lnMQ=="`, `"data":"EmwKAhgB"`,
		`"thinking":"and"`, `"signature":"c2lnMg=="`,
	} {
		if strings.Count(second, raw) != 1 {
			t.Errorf("%s is not in %s", raw, second)
		}
	}
	var s sent
	if err := json.Unmarshal([]byte(second), &s); err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, b := range s.Messages[1].Content {
		order = append(order, b.Type+b.ID)
	}
	want := []string{"thinking", "redacted_thinking", "text", "tool_usetoolu_1", "thinking", "tool_usetoolu_2", "text", "tool_usetoolu_3"}
	if !reflect.DeepEqual(order, want) {
		t.Errorf("it came back as %q, want %q", order, want)
	}
}

// A later request of a turn begins as the earlier one did, but for marks: the
// API checks that what stood before a thought is as it was.
func TestAPrefixStaysAsItWas(t *testing.T) {
	t.Parallel()
	req := everything("claude-opus-5-5")
	prefix := func() string {
		e, err := encode(req, quirks{noCache: true}, adaption{})
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSuffix(string(e.body[bytes.Index(e.body, []byte(`"messages"`)):bytes.Index(e.body, []byte(`],"tools"`))]), "]")
	}
	before := prefix()
	req.Messages = append(req.Messages,
		provider.Message{Role: provider.Assistant, Parts: []provider.Part{providertest.Called("call_1", "now", "{}"), providertest.Called("functions.gone:2", "now", "{}")}},
		provider.Message{Role: provider.Tool, Parts: []provider.Part{providertest.Answered("call_1", "now", "x", false), providertest.Answered("functions.gone:2", "now", "y", false)}},
		providertest.User(providertest.Words("and?")),
	)
	after := prefix()
	if !strings.HasPrefix(after, before) {
		t.Errorf("it began with\n%s\nand then with\n%s", before, after)
	}
	var s sent
	b, err := encode(req, quirks{}, adaption{})
	if err != nil || json.Unmarshal(b.body, &s) != nil {
		t.Fatal(err)
	}
	ids := map[string]int{}
	for _, m := range s.Messages {
		for _, b := range m.Content {
			switch b.Type {
			case typeToolUse:
				ids[b.ID]++
			case typeToolResult:
				ids[b.ToolUseID] += 10
			}
		}
	}
	for id, n := range ids {
		if n != 11 || fitID(id) != id {
			t.Errorf("id %q has %d", id, n)
		}
	}
	if len(ids) != 5 {
		t.Errorf("%d ids: %v", len(ids), ids)
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	marks := func(req *provider.Request) int {
		b, err := encode(req, quirks{}, adaption{})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(b.body), `"cache_control":{"type":"ephemeral"}`)
	}
	hi, tools := providertest.User(providertest.Words("hi")), []provider.ToolSpec{{Name: "now"}}
	said := provider.Message{Role: provider.Assistant, Parts: []provider.Part{providertest.Words("yes")}}
	for name, c := range map[string]struct {
		req  *provider.Request
		want int
	}{
		"a question alone":       {&provider.Request{Messages: []provider.Message{hi}}, 0},
		"with a system prompt":   {&provider.Request{System: "x", Messages: []provider.Message{hi}}, 1},
		"with tools":             {&provider.Request{Tools: tools, Messages: []provider.Message{hi}}, 2},
		"a conversation":         {&provider.Request{Messages: []provider.Message{hi, said, hi}}, 2},
		"all of it":              {&provider.Request{System: "x", Tools: tools, Messages: []provider.Message{hi, said, hi, said, hi}}, 4},
		"the real thing":         {everything("claude-opus-5-5"), 4},
		"an answer at the end":   {&provider.Request{Messages: []provider.Message{hi, said}}, 2},
		"a question of no words": {&provider.Request{Tools: tools}, 1},
	} {
		if got := marks(c.req); got != c.want {
			t.Errorf("%s: %d marks, want %d", name, got, c.want)
		}
	}
}
