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
			user(words("<file name=\"a\">\n1 < 2 & 3\n</file>")),
			user(provider.Part{Kind: provider.ImagePart, Data: []byte("\x89PNG\r\n\x1a\n"), MIME: "image/png"}, provider.Part{Kind: provider.ImagePart, Data: []byte("GIF89a")}, words("What is this?")),
			{Role: provider.Assistant, Parts: []provider.Part{called("call_1", "my-tools:analyze", `{}`), called("D681PevKs", "now", ``)}},
			{Role: provider.Tool, Parts: []provider.Part{answered("call_1", "my-tools:analyze", "", false), answered("D681PevKs", "now", "12:00", false)}},
			{Role: provider.Assistant}, // what a cancelled turn leaves
			user(words(""), words("Go on.")),
			user(words("Please.")),
			{Role: provider.Assistant, Parts: []provider.Part{
				{Kind: provider.ReasoningPart, Text: "hm"},
				thought(`[{"type":"thinking","thinking":[{"type":"text","text":"hm <b>"}],"signature":"c2ln"}]`),
				words("Let me"), words(" see."),
				thought(`[{"type":"thinking","thinking":[],"signature":"bGF0ZXI="}]`),
				thought(`[{"type":"reasoning.text","text":"of another provider"},{"type":"thinking","thinking":"of another","signature":"x"},{"type":"thinking"}]`),
				called("call_1", "my-tools:analyze", `{"file": "a<b>.csv"}`), called("functions.gone:2", "gone", `"{\"a\":"`),
			}},
			{Role: provider.Tool, Parts: []provider.Part{answered("call_1", "my-tools:analyze", "3 rows & <more>", false)}},
			{Role: provider.Tool, Parts: []provider.Part{answered("functions.gone:2", "gone", "no such tool", true)}},
		},
	}
}

// short is a request of one question and one tool.
func short(model string) *provider.Request {
	return &provider.Request{
		Model: model, System: "Be brief.", Messages: []provider.Message{user(words("hi"))},
		Tools: []provider.ToolSpec{{Name: "now", Description: "tells the time"}},
	}
}

func with(req *provider.Request, change func(*provider.Request)) *provider.Request {
	change(req)
	return req
}

func TestEncode(t *testing.T) {
	t.Parallel()
	schema := func(r *provider.Request) { r.Schema = json.RawMessage(simpleSchema) }
	for name, c := range map[string]struct {
		req *provider.Request
		q   quirks
		now adaption
	}{
		"everything":     {everything("mistral-medium-latest"), quirks{}, adaption{}},
		"magistral":      {with(short("magistral-medium-latest"), func(r *provider.Request) { r.Think = &no; schema(r) }), quirks{schema: schemaLoose}, adaption{}},
		"hush":           {with(short("mistral-small-latest"), func(r *provider.Request) { r.Think = &no; schema(r) }), quirks{}, adaption{}},
		"all-learnt":     {with(everything("m"), schema), quirks{schema: schemaWords, noEffort: true, noTemperature: true}, adaption{noThoughts: true}},
		"least":          {&provider.Request{Model: "m", Messages: []provider.Message{user(words("hi"))}}, quirks{}, adaption{}},
		"schema-no-more": {with(&provider.Request{Model: "m", Messages: []provider.Message{user(words("hi"))}}, schema), quirks{schema: schemaWords}, adaption{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := encode(c.req, c.q, c.now)
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
			golden(t, filepath.Join("testdata", "request-"+name+".json"), out.Bytes())
			if _, err := suiteSeen(b.body); err != nil {
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
		q     quirks
		want  string
		notes int
	}{
		{nil, "", quirks{}, "", 0},
		{&yes, "", quirks{}, "high", 0},
		{&yes, provider.EffortHigh, quirks{}, "high", 0},
		{&yes, provider.EffortLow, quirks{}, "high", 1},
		{&no, provider.EffortNone, quirks{}, "none", 0},
		{&yes, provider.EffortHigh, quirks{noEffort: true}, "", 1},
	} {
		b, err := encode(&provider.Request{Model: "m", Think: c.think, Effort: c.asked, Messages: []provider.Message{user(words("hi"))}}, c.q, adaption{})
		if err != nil {
			t.Fatal(err)
		}
		var sent struct {
			Effort string `json:"reasoning_effort"`
		}
		if err := json.Unmarshal(b.body, &sent); err != nil {
			t.Fatal(err)
		}
		if sent.Effort != c.want || len(b.notes) != c.notes {
			t.Errorf("effort %q is sent as %q with notes %q, want %q and %d", c.asked, sent.Effort, b.notes, c.want, c.notes)
		}
	}
}

// encoded encodes a conversation and reads it back.
func encoded(t *testing.T, messages ...provider.Message) []sentMessage {
	t.Helper()
	b, err := encode(&provider.Request{Model: "m", Messages: messages}, quirks{}, adaption{})
	if err != nil {
		t.Fatal(err)
	}
	var s sent
	if err := json.Unmarshal(b.body, &s); err != nil {
		t.Fatal(err)
	}
	return s.Messages
}

func TestTheOrderOfMessages(t *testing.T) {
	t.Parallel()
	said := func(parts ...provider.Part) provider.Message {
		return provider.Message{Role: provider.Assistant, Parts: parts}
	}
	result := provider.Message{Role: provider.Tool, Parts: []provider.Part{answered("1", "a", "x", false)}}
	hi, call := user(words("hi")), said(called("1", "a", "{}"))
	image := user(provider.Part{Kind: provider.ImagePart, MIME: "image/png"})
	for name, c := range map[string]struct {
		messages []provider.Message
		want     string
	}{
		"one after the other":      {[]provider.Message{hi, said(words("yes")), hi}, `user "hi", assistant "yes", user "hi"`},
		"a stopped turn":           {[]provider.Message{hi, call, result, said(), hi}, `user "hi", assistant "", tool "x", assistant "` + stopped + `", user "hi"`},
		"questions that follow":    {[]provider.Message{hi, hi, said(), hi}, `user "hi\n\nhi\n\nhi"`},
		"a picture follows":        {[]provider.Message{hi, image}, `user [{"type":"text","text":"hi"},{"type":"image_url","image_url":"data:image/png;base64,"}]`},
		"words follow a picture":   {[]provider.Message{image, hi}, `user [{"type":"image_url","image_url":"data:image/png;base64,"},{"type":"text","text":"hi"}]`},
		"a question of no words":   {[]provider.Message{hi, user(), user(words("")), said(words("yes")), hi}, `user "hi", assistant "yes", user "hi"`},
		"thoughts alone":           {[]provider.Message{hi, said(thought(`[{"type":"thinking","thinking":[]}]`)), hi}, `user "hi\n\nhi"`},
		"an answer to go on with":  {[]provider.Message{hi, said(words("Once"))}, `user "hi", assistant "Once" prefix`},
		"a call without a result":  {[]provider.Message{hi, call}, `user "hi", assistant ""`},
		"text around what is left": {[]provider.Message{hi, said(words("a"), thought(`[{"type":"reasoning.text"}]`), words("b")), hi}, `user "hi", assistant "ab", user "hi"`},
	} {
		b, err := encode(&provider.Request{Model: "m", Messages: c.messages}, quirks{}, adaption{})
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			Messages []struct {
				Role    string
				Content json.RawMessage
				Prefix  bool
			}
		}
		if err := json.Unmarshal(b.body, &s); err != nil {
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
			calls = append(calls, called(id, "a", "{}"))
			results = append(results, answered(id, "a", fmt.Sprint(turn, " ", id), false))
		}
		messages = append(messages, user(words("hi")), provider.Message{Role: provider.Assistant, Parts: calls}, provider.Message{Role: provider.Tool, Parts: results})
		got := encoded(t, messages...)
		clear(want)
		for _, m := range got {
			for _, c := range m.ToolCalls {
				if want[c.ID] != "" || wire.NineID(c.ID) != c.ID {
					t.Errorf("turn %d: id %q is used twice, or is none", turn, c.ID)
				}
				want[c.ID] = "?"
			}
			if m.Role == roleTool {
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
	req := &provider.Request{Model: "m", Messages: []provider.Message{user(words("Look."))}, Tools: []provider.ToolSpec{{Name: "look"}}}
	h := listen(t.Context(), p, req)
	if h.err != nil || len(h.calls) != 1 || h.text != "Let me see." || h.reasoning != "café <b> & \"q\"!more" {
		t.Fatalf("it thought %q, said %q and called %+v, %v", h.reasoning, h.text, h.calls, h.err)
	}
	req.Messages = append(req.Messages, provider.Message{Role: provider.Assistant, Parts: h.parts},
		provider.Message{Role: provider.Tool, Parts: []provider.Part{answered("D681PevKs", "look", "a", false)}})
	if h := listen(t.Context(), p, req); h.err != nil {
		t.Fatal(h.err)
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
	c := conversation{names: wire.Names(req), ids: wire.NewIDs(wire.NineID)}
	for _, m := range req.Messages {
		c.add(m)
	}
	body, err := wire.Marshal(c.end()[2])
	if err != nil || !strings.Contains(string(body), `"content":[{"type":"text","text":"seen"},{"type":"image_url","image_url":"data:image/png;base64,cG5n"}]`) {
		t.Errorf("it sends %s, %v", body, err)
	}
}
