package mistral

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

var (
	yes, no = true, false
	warmth  = 0.2
)

const simpleSchema = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`

// everything is a request that uses every field, in the middle of a turn.
func everything(model string) *provider.Request {
	return &provider.Request{
		Model: model, System: "Be brief.", MaxTokens: 500, Temperature: &warmth, Think: &yes,
		Tools: []provider.ToolSpec{
			{Name: "my-tools:analyze", Description: "analyses", InputSchema: json.RawMessage(`{"type":"object","properties":{"file":{"type":"string"}}}`)},
			{Name: "now"},
			{Name: "broken", InputSchema: json.RawMessage(`{"type":`)},
		},
		Messages: []provider.Message{
			providertest.User(providertest.Words("<file name=\"a\">\n1 < 2 & 3\n</file>")),
			providertest.User(provider.Part{Kind: provider.ImagePart, Data: []byte("\x89PNG\r\n\x1a\n"), MIME: "image/png"}, provider.Part{Kind: provider.ImagePart, Data: []byte("GIF89a")}, providertest.Words("What is this?")),
			{Role: provider.Assistant, Parts: []provider.Part{providertest.Called("call_1", "my-tools:analyze", `{}`), providertest.Called("D681PevKs", "now", ``)}},
			{Role: provider.Tool, Parts: []provider.Part{providertest.Answered("call_1", "my-tools:analyze", "", false), providertest.Answered("D681PevKs", "now", "12:00", false)}},
			{Role: provider.Assistant}, // what a cancelled turn leaves
			providertest.User(providertest.Words(""), providertest.Words("Go on.")),
			providertest.User(providertest.Words("Please.")),
			{Role: provider.Assistant, Parts: []provider.Part{
				{Kind: provider.ReasoningPart, Text: "hm"},
				providertest.Thought(`[{"type":"thinking","thinking":[{"type":"text","text":"hm <b>"}],"signature":"c2ln"}]`),
				providertest.Words("Let me"), providertest.Words(" see."),
				providertest.Thought(`[{"type":"thinking","thinking":[],"signature":"bGF0ZXI="}]`),
				providertest.Thought(`[{"type":"reasoning.text","text":"of another provider"},{"type":"thinking","thinking":"of another","signature":"x"},{"type":"thinking"}]`),
				providertest.Called("call_1", "my-tools:analyze", `{"file": "a<b>.csv"}`), providertest.Called("functions.gone:2", "gone", `"{\"a\":"`),
			}},
			{Role: provider.Tool, Parts: []provider.Part{providertest.Answered("call_1", "my-tools:analyze", "3 rows & <more>", false)}},
			{Role: provider.Tool, Parts: []provider.Part{providertest.Answered("functions.gone:2", "gone", "no such tool", true)}},
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

// encode makes the body of a request to a model of which change is known.
func encode(t *testing.T, req *provider.Request, change func(*chatcompletions.Quirks), now chatcompletions.Adaption) *chatcompletions.Built {
	t.Helper()
	p, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	q := p.Quirks(req.Model)
	if change != nil {
		change(&q)
	}
	b, err := p.Encode(req, q, now)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestEncode(t *testing.T) {
	t.Parallel()
	schema := func(r *provider.Request) { r.Schema = json.RawMessage(simpleSchema) }
	for name, c := range map[string]struct {
		req *provider.Request
		q   func(*chatcompletions.Quirks)
		now chatcompletions.Adaption
	}{
		"everything": {everything("mistral-medium-latest"), nil, chatcompletions.Adaption{}},
		"magistral":  {with(short("magistral-medium-latest"), func(r *provider.Request) { r.Think = &no; schema(r) }), func(q *chatcompletions.Quirks) { q.Schema = chatcompletions.SchemaLoose }, chatcompletions.Adaption{}},
		"hush":       {with(short("mistral-small-latest"), func(r *provider.Request) { r.Think = &no; schema(r) }), nil, chatcompletions.Adaption{}},
		"all-learnt": {with(everything("m"), schema), func(q *chatcompletions.Quirks) {
			q.Schema, q.NoEffort, q.NoTemperature = chatcompletions.SchemaWords, true, true
		}, chatcompletions.Adaption{NoItems: true}},
		"least":          {&provider.Request{Model: "m", Messages: []provider.Message{providertest.User(providertest.Words("hi"))}}, nil, chatcompletions.Adaption{}},
		"schema-no-more": {with(&provider.Request{Model: "m", Messages: []provider.Message{providertest.User(providertest.Words("hi"))}}, schema), func(q *chatcompletions.Quirks) { q.Schema = chatcompletions.SchemaWords }, chatcompletions.Adaption{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := encode(t, c.req, c.q, c.now)
			var out bytes.Buffer
			if err := json.Indent(&out, b.Body, "", "  "); err != nil {
				t.Fatal(err)
			}
			for _, n := range b.Notes {
				fmt.Fprintf(&out, "note: %s\n", n.Text)
			}
			providertest.Golden(t, filepath.Join("testdata", "request-"+name+".json"), out.Bytes(), *update)
			if _, err := suiteSeen(b.Body); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestEffort(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for _, c := range []struct {
		think *bool
		asked provider.Effort
		known bool // that no effort is taken
		want  string
		notes int
	}{
		{nil, "", false, "", 0},
		{&yes, "", false, "high", 0},
		{&yes, provider.EffortHigh, false, "high", 0},
		{&yes, provider.EffortLow, false, "high", 1},
		{&no, provider.EffortNone, false, "none", 0},
		{&yes, provider.EffortHigh, true, "", 1},
	} {
		req := &provider.Request{Model: "m", Think: c.think, Effort: c.asked, Messages: []provider.Message{providertest.User(providertest.Words("hi"))}}
		b := encode(t, req, func(q *chatcompletions.Quirks) { q.NoEffort = c.known }, chatcompletions.Adaption{})
		var sent struct {
			Effort string `json:"reasoning_effort"`
		}
		if err := json.Unmarshal(b.Body, &sent); err != nil {
			t.Fatal(err)
		}
		if sent.Effort != c.want || len(b.Notes) != c.notes {
			t.Errorf("effort %q is sent as %q with notes %q, want %q and %d", c.asked, sent.Effort, b.Notes, c.want, c.notes)
		}
	}
}

// encoded encodes a conversation and reads it back.
func encoded(t *testing.T, messages ...provider.Message) []sentMessage {
	t.Helper()
	b := encode(t, &provider.Request{Model: "m", Messages: messages}, nil, chatcompletions.Adaption{})
	var s sent
	if err := json.Unmarshal(b.Body, &s); err != nil {
		t.Fatal(err)
	}
	return s.Messages
}

func TestTheOrderOfMessages(t *testing.T) {
	t.Parallel()
	said := func(parts ...provider.Part) provider.Message {
		return provider.Message{Role: provider.Assistant, Parts: parts}
	}
	result := provider.Message{Role: provider.Tool, Parts: []provider.Part{providertest.Answered("1", "a", "x", false)}}
	hi, call := providertest.User(providertest.Words("hi")), said(providertest.Called("1", "a", "{}"))
	image := providertest.User(provider.Part{Kind: provider.ImagePart, MIME: "image/png"})
	for name, c := range map[string]struct {
		messages []provider.Message
		want     string
	}{
		"one after the other":      {[]provider.Message{hi, said(providertest.Words("yes")), hi}, `user "hi", assistant "yes", user "hi"`},
		"a stopped turn":           {[]provider.Message{hi, call, result, said(), hi}, `user "hi", assistant "", tool "x", assistant "` + chatcompletions.Stopped + `", user "hi"`},
		"questions that follow":    {[]provider.Message{hi, hi, said(), hi}, `user "hi\n\nhi\n\nhi"`},
		"a picture follows":        {[]provider.Message{hi, image}, `user [{"type":"text","text":"hi"},{"type":"image_url","image_url":"data:image/png;base64,"}]`},
		"words follow a picture":   {[]provider.Message{image, hi}, `user [{"type":"image_url","image_url":"data:image/png;base64,"},{"type":"text","text":"hi"}]`},
		"a question of no words":   {[]provider.Message{hi, providertest.User(), providertest.User(providertest.Words("")), said(providertest.Words("yes")), hi}, `user "hi", assistant "yes", user "hi"`},
		"thoughts alone":           {[]provider.Message{hi, said(providertest.Thought(`[{"type":"thinking","thinking":[]}]`)), hi}, `user "hi\n\nhi"`},
		"an answer to go on with":  {[]provider.Message{hi, said(providertest.Words("Once"))}, `user "hi", assistant "Once" prefix`},
		"a call without a result":  {[]provider.Message{hi, call}, `user "hi", assistant ""`},
		"text around what is left": {[]provider.Message{hi, said(providertest.Words("a"), providertest.Thought(`[{"type":"reasoning.text"}]`), providertest.Words("b")), hi}, `user "hi", assistant "ab", user "hi"`},
	} {
		b := encode(t, &provider.Request{Model: "m", Messages: c.messages}, nil, chatcompletions.Adaption{})
		var s struct {
			Messages []struct {
				Role    string
				Content json.RawMessage
				Prefix  bool
			}
		}
		if err := json.Unmarshal(b.Body, &s); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range s.Messages {
			line := m.Role + " " + string(m.Content)
			if m.Prefix {
				line += " prefix"
			}
			got = append(got, line)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: it sent\n%s\nwant\n%s", name, strings.Join(got, ", "), c.want)
		}
	}
}

// Ids of any form become ones of nine letters and digits, calls and results
// alike, and stay the same while a conversation grows.
func TestIDs(t *testing.T) {
	t.Parallel()
	for id, keep := range map[string]bool{
		"D681PevKs": true, "abcdefghi": true, "123456789": true,
		"": false, "null": false, "call_1": false, "abcdefghij": false, "abcdefgh_": false, "abcdefgé": false, strings.Repeat("x", 100): false,
	} {
		got := wire.NineID(id)
		if len(got) != idLength || (got == id) != keep || wire.NineID(got) != got || wire.NineID(id) != got {
			t.Errorf("%q becomes %q", id, got)
		}
	}
	var messages []provider.Message
	want := map[string]string{}
	var before []byte
	for turn := range 4 {
		var calls, results []provider.Part
		for _, id := range []string{"call_1", "call_2", wire.NineID("call_1"), "D681PevKs", fmt.Sprint("new", turn)} {
			calls = append(calls, providertest.Called(id, "a", "{}"))
			results = append(results, providertest.Answered(id, "a", fmt.Sprint(turn, " ", id), false))
		}
		messages = append(messages, providertest.User(providertest.Words("hi")), provider.Message{Role: provider.Assistant, Parts: calls}, provider.Message{Role: provider.Tool, Parts: results})
		got := encoded(t, messages...)
		clear(want)
		for _, m := range got {
			for _, c := range m.ToolCalls {
				if want[c.ID] != "" || wire.NineID(c.ID) != c.ID {
					t.Errorf("turn %d: id %q is used twice, or is none", turn, c.ID)
				}
				want[c.ID] = "?"
			}
			if m.Role == "tool" {
				if want[m.ToolCallID] != "?" {
					t.Errorf("turn %d: id %q answers nothing, or again", turn, m.ToolCallID)
				}
				want[m.ToolCallID] = string(m.Content)
			}
		}
		raw, _ := json.Marshal(got)
		if len(before) > 0 && !bytes.HasPrefix(raw, before[:len(before)-1]) {
			t.Errorf("turn %d: it began with\n%s\nand then with\n%s", turn, before, raw)
		}
		before = raw
	}
}

// What the model thought comes back to it in the same order and as it was.
func TestThoughtsComeBack(t *testing.T) {
	t.Parallel()
	think := func(texts ...string) string {
		var list []any
		for _, s := range texts {
			list = append(list, obj{"type": "text", "text": s})
		}
		return sendsDelta(obj{"content": []any{obj{"type": "thinking", "thinking": list}}}, "")
	}
	stream := think("caf\u00e9 <b>") + think(" & \"q\"", "!") +
		sendsDelta(obj{"content": []any{obj{"type": "thinking", "thinking": []any{}, "signature": "c2lnMQ=="}, obj{"type": "text", "text": "Let me"}}}, "") +
		sendsDelta(obj{"content": " see."}, "") + think("more") +
		sendsDelta(obj{"tool_calls": []any{obj{"id": "D681PevKs", "index": 0, "function": obj{"name": "look", "arguments": "{}"}}}}, "tool_calls") + "data: [DONE]\n\n"
	p, bodies := serve(t, Options{}, func(w http.ResponseWriter, _ string) { fmt.Fprint(w, stream) })
	req := &provider.Request{Model: "m", Messages: []provider.Message{providertest.User(providertest.Words("Look."))}, Tools: []provider.ToolSpec{{Name: "look"}}}
	h := providertest.Listen(t.Context(), p, req)
	if h.Err != nil || len(h.Calls) != 1 || h.Text != "Let me see." || h.Reasoning != "café <b> & \"q\"!more" {
		t.Fatalf("it thought %q, said %q and called %+v, %v", h.Reasoning, h.Text, h.Calls, h.Err)
	}
	req.Messages = append(req.Messages, provider.Message{Role: provider.Assistant, Parts: h.Parts},
		provider.Message{Role: provider.Tool, Parts: []provider.Part{providertest.Answered("D681PevKs", "look", "a", false)}})
	if h := providertest.Listen(t.Context(), p, req); h.Err != nil {
		t.Fatal(h.Err)
	}
	want := `"content":[{"type":"thinking","thinking":[{"type":"text","text":"café <b> & \"q\"!"}],"signature":"c2lnMQ=="},` +
		`{"type":"text","text":"Let me see."},{"type":"thinking","thinking":[{"type":"text","text":"more"}]}],"tool_calls":[{"id":"D681PevKs"`
	if second := bodies()[1]; !strings.Contains(second, want) {
		t.Errorf("it sent\n%s\nwant\n%s", second, want)
	}
}

// A call that came without an id gets one that the API takes.
func TestIDsThatAreMade(t *testing.T) {
	t.Parallel()
	for range 100 {
		if id := newID(); wire.NineID(id) != id {
			t.Fatalf("%q", id)
		}
	}
}

// Images of a result are within the tool's message: the API takes no user's message there.
func TestImagesOfResults(t *testing.T) {
	t.Parallel()
	req := &provider.Request{Model: "m", Messages: []provider.Message{
		{Role: provider.User, Parts: []provider.Part{{Kind: provider.TextPart, Text: "look"}}},
		{Role: provider.Assistant, Parts: []provider.Part{{Kind: provider.ToolCallPart, Call: &provider.ToolCall{ID: "c1", Name: "snap", Args: []byte(`{}`)}}}},
		{Role: provider.Tool, Parts: []provider.Part{{Kind: provider.ToolResultPart, Result: &provider.ToolResult{
			ID: "c1", Name: "snap", Text: "seen", Media: []provider.Part{{Kind: provider.ImagePart, MIME: "image/png", Data: []byte("png")}},
		}}}},
	}}
	list := chatcompletions.Messages(req.Messages, wire.Names(req), quirksOf(nil, ""), chatcompletions.Adaption{})
	body, err := wire.Marshal(list[2])
	if err != nil || !strings.Contains(string(body), `"content":[{"type":"text","text":"seen"},{"type":"image_url","image_url":"data:image/png;base64,cG5n"}]`) {
		t.Errorf("it sends %s, %v", body, err)
	}
}
