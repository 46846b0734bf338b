package dialect

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/internal/schema"
	"github.com/fettle-cli/fettle/internal/sse"
)

func TestRecordedTurn(t *testing.T) {
	t.Parallel()
	events := turnFiles(t)["recorded"]
	for _, n := range Names() {
		t.Run(string(n), func(t *testing.T) {
			t.Parallel()
			golden(t, string(n)+".stream", string(encode(t, NewEncoder(n, options()), events)))
			if o := NewObject(n, options()); o != nil {
				status, body := gather(t, o, events)
				if status != http.StatusOK {
					t.Errorf("the object's status is %d", status)
				}
				golden(t, string(n)+".json", string(body))
			}
		})
	}
}

func gather(t testing.TB, o Object, events []event.Event) (int, []byte) {
	t.Helper()
	for _, e := range events {
		if err := o.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	return o.Body()
}

// A stream that is taken up again after any event goes on with the very bytes.
func TestResumeGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	for name, events := range turnFiles(t) {
		for _, n := range Names() {
			for _, pause := range []bool{false, true} {
				o := options()
				o.AskByPause = pause
				whole, ends := stepwise(t, NewEncoder(n, o), events)
				for i := range events {
					again := NewEncoder(n, o)
					for _, e := range events[:i] {
						if _, err := again.Append(nil, e); err != nil {
							t.Fatal(err)
						}
					}
					from := 0
					if i > 0 {
						from = ends[i-1]
					}
					if got := encode(t, again, events[i:]); !bytes.Equal(got, whole[from:]) {
						t.Fatalf("%s in %s after event %d:\n%s\nwant\n%s", name, n, i, got, whole[from:])
					}
				}
			}
		}
	}
}

func stepwise(t *testing.T, enc Encoder, events []event.Event) (whole []byte, ends []int) {
	t.Helper()
	for _, e := range events {
		var err error
		if whole, err = enc.Append(whole, e); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, len(whole))
	}
	return enc.End(whole), ends
}

// frames splits a stream into the data of its events, or its lines.
func frames(t testing.TB, n Name, stream []byte) []frame {
	t.Helper()
	var out []frame
	if n == Ollama {
		for line := range bytes.Lines(stream) {
			out = append(out, frame{data: bytes.TrimSpace(line)})
		}
		return out
	}
	if bytes.ContainsAny(stream, "\r\x00") || bytes.HasPrefix(stream, []byte("\xEF\xBB\xBF")) {
		t.Errorf("the stream of %s has what clients break on", n)
	}
	r := sse.NewReader(bytes.NewReader(stream), sse.Options{})
	for {
		e, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, frame{name: e.Name, id: e.ID, data: bytes.Clone(e.Data)})
	}
}

type frame struct {
	name, id string
	data     []byte
}

// judges are the schemas that the frames of a dialect have to satisfy.
type judges struct {
	stream, failure, object *schema.Schema
	// events are the schemas of OpenAI's events by type: trying all of them on
	// each frame takes minutes.
	events map[string]*schema.Schema
}

// of is the schema of one frame.
func (j judges) of(data []byte) *schema.Schema {
	if bytes.HasPrefix(data, []byte(`{"error":`)) {
		return j.failure
	}
	var typed struct{ Type string }
	if j.events != nil && json.Unmarshal(data, &typed) == nil {
		return j.events[typed.Type]
	}
	return j.stream
}

func judgesOf(t *testing.T, n Name) judges {
	t.Helper()
	api := shared(t, "openai", "openai-chat-responses-models.schema.json")
	switch n {
	case OpenAI:
		return judges{
			stream:  schemaOfFile(t, api, "CreateChatCompletionStreamResponse"),
			failure: schemaOfFile(t, api, "ErrorResponse"),
			object:  schemaOfFile(t, api, "CreateChatCompletionResponse"),
		}
	case Responses:
		return judges{
			events:  eventSchemas(t, api),
			failure: schemaOfFile(t, api, "ErrorResponse"),
			object:  schemaOfFile(t, api, "Response"),
		}
	case AISDK:
		return judges{stream: schemaOfFile(t, shared(t, "ai-sdk", "ui-message-chunk.ai-7.0.173.generated.schema.json"), "")}
	case AGUI:
		return judges{stream: schemaOfFile(t, shared(t, "ag-ui", "core-1.0.0-event.generated.schema.json"), "")}
	}
	return judges{}
}

func TestFramesSatisfyTheSchemas(t *testing.T) {
	t.Parallel()
	turns := turnFiles(t)
	for _, n := range []Name{OpenAI, Responses, AISDK, AGUI} {
		t.Run(string(n), func(t *testing.T) {
			t.Parallel()
			judge := judgesOf(t, n)
			for _, file := range samples(n) {
				checkFrames(t, file, judge, frames(t, n, readFile(t, shared(t, "wire", file))))
			}
			for name, events := range turns {
				o := options()
				for _, cut := range [][]event.Event{events, events[:1], events[:len(events)/2], nil} {
					for _, o.AskByPause = range []bool{false, true} {
						stream := encode(t, NewEncoder(n, o), cut)
						checkFrames(t, name, judge, frames(t, n, stream))
					}
				}
				if obj := NewObject(n, o); obj != nil {
					status, body := gather(t, obj, events)
					s := judge.object
					if status != http.StatusOK {
						s = judge.failure
					}
					if problems := s.Validate(body); len(problems) > 0 {
						t.Errorf("%s: the object: %s\n%s", name, schema.Explain(problems), body)
					}
				}
			}
		})
	}
}

func checkFrames(t *testing.T, turn string, judge judges, list []frame) {
	t.Helper()
	for i, f := range list {
		if string(f.data) == "[DONE]" {
			if i != len(list)-1 && turn != "approval" && turn != "denied" {
				t.Errorf("%s: frames after [DONE]", turn)
			}
			continue
		}
		s := judge.of(f.data)
		if s == nil {
			t.Fatalf("%s: no schema for %s", turn, f.data)
		}
		if problems := s.Validate(f.data); len(problems) > 0 {
			t.Errorf("%s: %s\n%s", turn, schema.Explain(problems), f.data)
		}
		var typed struct{ Type string }
		if f.name != "message" && (json.Unmarshal(f.data, &typed) != nil || typed.Type != f.name) {
			t.Errorf("%s: the event %s has the data %s", turn, f.name, f.data)
		}
	}
}

// samples are streams that the real clients were tried with. They satisfy the
// schemas, so that the judge is known to judge.
func samples(n Name) []string {
	return map[Name][]string{
		OpenAI:    {"openai-chat.text.sse", "openai-chat.toolcall.sse"},
		Responses: {"openai-responses.functioncall.sse"},
		AISDK:     {"ai-sdk-ui-message-stream.sse"},
		AGUI:      {"ag-ui.interrupt.sse", "ag-ui.multiagent-run.sse"},
	}[n]
}

func TestDocument003(t *testing.T) {
	t.Parallel()
	var got []string
	for _, f := range frames(t, Agents, encode(t, NewEncoder(Agents, options()), turnFiles(t)["recorded"])) {
		if f.name == "token" {
			continue
		}
		line := f.name + " " + string(f.data)
		if i := strings.Index(line, `,"tool_id"`); i > 0 {
			line = line[:i]
		}
		got = append(got, line[:min(len(line), 80)])
	}
	want := []string{
		`agent_start {"agent":"interface"}`,
		`handoff {"from":"interface","to":"scavenger"}`,
		`agent_start {"agent":"scavenger"}`,
		`tool_call {"agent":"scavenger","tool":"read_notion_mock","query":"login system a`,
		`tool_result {"agent":"scavenger","tool":"read_notion_mock","result":"[Notion | M`,
		`tool_call {"agent":"scavenger","tool":"read_slack_mock","query":"login system au`,
		`tool_result {"agent":"scavenger","tool":"read_slack_mock","result":"[Slack | #en`,
		`handoff {"from":"scavenger","to":"synthesizer"}`,
		`agent_start {"agent":"synthesizer"}`,
		`handoff {"from":"synthesizer","to":"interface"}`,
		`agent_start {"agent":"interface"}`,
		`done {}`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestQueryOfAgents(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`{"query":"login"}`: "login", `{"query":3, "x":1}`: `{"query":3,"x":1}`, `{"q":"a"}`: `{"q":"a"}`,
		`{}`: `{}`, ``: `{}`, `no json`: `{}`, `{"query":""}`: ``,
	} {
		if got := query(json.RawMessage(input)); got != want {
			t.Errorf("%s gives %q, want %q", input, got, want)
		}
	}
}

func TestFailuresBeforeTheStream(t *testing.T) {
	t.Parallel()
	_, f := Decode(OpenAI, []byte(`{"model":"m","messages":[{"role":"nobody"}]}`))
	if f == nil {
		t.Fatal("a message by nobody was taken")
	}
	for n, want := range map[Name]string{
		OpenAI:    `{"error":{"message":"messages[0].role: there is no role nobody","type":"invalid_request_error","param":"messages[0].role","code":"usage"}}` + "\n",
		Responses: `{"error":{"message":"messages[0].role: there is no role nobody","type":"invalid_request_error","param":"messages[0].role","code":"usage"}}` + "\n",
		Ollama:    `{"error":"messages[0].role: there is no role nobody"}` + "\n",
		AISDK:     `messages[0].role: there is no role nobody`,
		AGUI:      `{"error":{"code":"usage","message":"messages[0].role: there is no role nobody"}}` + "\n",
		Chat:      `{"error":{"code":"usage","message":"messages[0].role: there is no role nobody"}}` + "\n",
	} {
		status, kind, body := n.Failure(f)
		if status != http.StatusBadRequest || string(body) != want {
			t.Errorf("%s: %d %s %s", n, status, kind, body)
		}
		if json.Valid(body) != strings.HasPrefix(kind, "application/json") {
			t.Errorf("%s: the body of type %s is %s", n, kind, body)
		}
	}
}

// A stream whose turn has no end yet is never taken for a whole one.
func TestCutStreamsSaySo(t *testing.T) {
	t.Parallel()
	for n, want := range map[Name]string{
		Agents: "event: error", OpenAI: `{"error":{`, Responses: `"response.failed"`, AISDK: `"type":"error"`,
		AGUI: `"RUN_ERROR"`, Ollama: `{"error":`,
	} {
		for _, events := range [][]event.Event{nil, turnFiles(t)["text"][:2]} {
			enc := NewEncoder(n, options())
			out := string(encode(t, enc, events))
			if !strings.Contains(out, want) && !strings.Contains(out, `"type":"error"`) {
				t.Errorf("%s ends with %s", n, out)
			}
			if more := enc.End(nil); len(more) > 0 {
				t.Errorf("%s ends twice: %s", n, more)
			}
			if more, _ := enc.Append(nil, turnFiles(t)["text"][2]); len(more) > 0 {
				t.Errorf("%s goes on after its end: %s", n, more)
			}
		}
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	for _, n := range Names() {
		f := n.Form()
		if (NewObject(n, Options{}) != nil) != (f.ObjectType != "") {
			t.Errorf("%s: has an object and no type, or the other way round", n)
		}
		if n != Ollama && !strings.HasPrefix(f.ContentType, "text/event-stream") {
			t.Errorf("%s is %s", n, f.ContentType)
		}
		enc := NewEncoder(n, options())
		if n == Ollama {
			if !json.Valid(enc.KeepAlive(nil)) {
				t.Errorf("an Ollama client reads %s", enc.KeepAlive(nil))
			}
		} else if string(enc.KeepAlive(nil)) != ": ping\n" {
			t.Errorf("%s keeps alive with %q", n, enc.KeepAlive(nil))
		}
	}
	if AISDK.Form().Header["x-vercel-ai-ui-message-stream"] != "v1" || NewEncoder("no", Options{}) != nil || NewObject("no", Options{}) != nil {
		t.Error("the AI SDK's header is missing, or a dialect was made up")
	}
}

// document 000 has the tool history in custom_payload, whatever the canonical
// form has there.
func TestChatPutsTheHistoryWhereDocument000HasIt(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"type":"complete","payload":{"message":"m","custom_payload":{"type":"draft","data":{"a":1}},"tool_history":[{"tool_name":"t"}]}}`: `{"type":"complete","payload":{"message":"m","custom_payload":{"type":"tool_history","data":[{"tool_name":"t"}]},"tool_history":[{"tool_name":"t"}]}}`,
		`{"type":"complete","payload":{"message":"m","tool_history":[]}}`:                                                                   `{"type":"complete","payload":{"message":"m","custom_payload":{"type":"tool_history","data":[]},"tool_history":[]}}`,
		`{"type":"complete","payload":{"custom_payload":{"type":"tool_history","data":[1]},"tool_history":[1]}}`:                            `{"type":"complete","payload":{"custom_payload":{"type":"tool_history","data":[1]},"tool_history":[1]}}`,
		`{"type":"complete","payload":{"message":"m","custom_payload":{"type":"draft","data":{}}}}`:                                         `{"type":"complete","payload":{"message":"m","custom_payload":{"type":"draft","data":{}}}}`,
	} {
		if got := string(withHistory([]byte(in))); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestAnswersThatAreTooLong(t *testing.T) {
	t.Parallel()
	events := turnFiles(t)["text"]
	long := events[1]
	const most = 1 << 10
	long.Body = event.TextDelta{Text: strings.Repeat("x", most/2+1)}
	for _, n := range []Name{OpenAI, Ollama, Responses} {
		o := NewObject(n, options())
		switch o := o.(type) {
		case *answer:
			o.most = most
		case *responsesObject:
			o.enc.most = most
		}
		if err := o.Add(long); err != nil {
			t.Errorf("%s: half of it: %v", n, err)
		}
		if err := o.Add(long); err == nil {
			t.Errorf("%s takes more than it may", n)
		}
		if status, body := o.Body(); status != http.StatusBadGateway || len(body) > 500 {
			t.Errorf("%s: %d and %d bytes", n, status, len(body))
		}
	}
	enc := newResponses(options())
	enc.most = most
	out := encode(t, enc, []event.Event{long, long, events[2]})
	if !bytes.Contains(out, []byte("event: response.failed")) || enc.stage != ended {
		t.Error("the stream of responses goes on past what it may keep")
	}
}

// Strings are what encoding/json reads back, and never break a line.
func TestStrings(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text") + "\u2028\uFFFD"
		raw := appendString(nil, s)
		var got, want string
		std, _ := json.Marshal(s)
		if json.Unmarshal(raw, &got) != nil || json.Unmarshal(std, &want) != nil || got != want {
			t.Fatalf("%q was read back as %q", s, got)
		}
		if bytes.ContainsAny(raw, "\n\r\u2028\u2029") {
			t.Fatalf("a line break in %q", raw)
		}
	})
}
