package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/internal/needtest"
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

// The other turns, with approvals asked for by pausing: calls of the client's
// tools, approvals, errors, cancels, cut answers.
func TestOtherTurns(t *testing.T) {
	t.Parallel()
	turns := turnFiles(t)
	delete(turns, "recorded")
	o := options()
	o.AskByPause = true
	for _, n := range Names() {
		var all strings.Builder
		for _, name := range slices.Sorted(maps.Keys(turns)) {
			fmt.Fprintf(&all, "== %s\n%s", name, encode(t, NewEncoder(n, o), turns[name]))
			if obj := NewObject(n, o); obj != nil {
				status, body := gather(t, obj, turns[name])
				fmt.Fprintf(&all, "-- %d %s", status, body)
			}
		}
		golden(t, string(n)+".turns.txt", all.String())
	}
}

// A stream that is written from the beginning goes on over what was answered,
// and stops at what wasn't.
func TestAnsweredApprovalsDontEndAStream(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"approval", "denied"} {
		events := turnFiles(t)[name]
		for _, n := range []Name{AISDK, AGUI} {
			for settled, pauses := range map[event.Seq]bool{2: true, 3: false, events[len(events)-1].Seq: false} {
				o := options()
				o.AskByPause, o.Settled = true, settled
				list := streams(t, n, o, events)
				if (len(list) > 1) != pauses {
					t.Errorf("%s in %s, settled %d: %d streams", name, n, settled, len(list))
				}
				for _, one := range list {
					if problem := judgeStream(n, one); problem != "" {
						t.Errorf("%s in %s: %s\n%s", name, n, problem, shown(one))
					}
				}
			}
		}
	}
}

// A tool of fettle's is not the client's because it has the same name.
func TestToolsAreToldApartByTheirIDs(t *testing.T) {
	t.Parallel()
	start := turnFiles(t)["tool"][3]
	ours := start.Body.(event.ToolStart)
	for id, want := range map[string]bool{"get_weather": false, "weather:get_weather": false, "client:get_weather": true, "client:other": false} {
		ours.ToolID = id
		start.Body = ours
		out, err := NewEncoder(OpenAI, options()).Append(nil, start)
		if err != nil || bytes.Contains(out, []byte("tool_calls")) != want {
			t.Errorf("%s: %s %v", id, out, err)
		}
	}
}

// What an encoder keeps of a call ends with the call.
func TestNothingIsKeptOfEndedCalls(t *testing.T) {
	t.Parallel()
	for name, events := range turnFiles(t) {
		for _, n := range Names() {
			enc := NewEncoder(n, options())
			encode(t, enc, events)
			kept := 0
			switch enc := enc.(type) {
			case *agentsEncoder:
				kept = len(enc.open)
			case *aisdkEncoder:
				kept = len(enc.shown) + len(enc.denied) + len(enc.asked)
			case *aguiEncoder:
				kept = len(enc.calls)
			case *responsesEncoder:
				kept = len(enc.calls)
			}
			if kept > 0 && name != "client_tool" {
				t.Errorf("%s keeps %d things of %s", n, kept, name)
			}
		}
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

// A responses stream is also resumed by the number of its last event.
func TestResponsesResumeByNumber(t *testing.T) {
	t.Parallel()
	for name, events := range turnFiles(t) {
		for _, list := range [][]event.Event{events, events[:len(events)/2], nil} {
			whole := frames(t, Responses, encode(t, NewEncoder(Responses, options()), list))
			for n := range len(whole) + 1 {
				o := options()
				o.After = int64(n)
				rest := frames(t, Responses, encode(t, NewEncoder(Responses, o), list))
				if shown(rest) != shown(whole[n:]) {
					t.Fatalf("%s after %d: %d frames, want %d", name, n, len(rest), len(whole)-n)
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
	item   *schema.Schema // of an output item in them; object is that of a response
	// seen are the frames that were found right: those of a turn that is cut are
	// mostly those of the whole one.
	seen map[string]bool
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
	api := needtest.Shared(t, "protocols", "openai", "openai-chat-responses-models.schema.json")
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
			item:    schemaOfFile(t, api, "OutputItem"),
			failure: schemaOfFile(t, api, "ErrorResponse"),
			object:  schemaOfFile(t, api, "Response"),
		}
	case AISDK:
		return judges{stream: schemaOfFile(t, needtest.Shared(t, "protocols", "ai-sdk", "ui-message-chunk.ai-7.0.173.generated.schema.json"), "")}
	case AGUI:
		return judges{stream: schemaOfFile(t, needtest.Shared(t, "protocols", "ag-ui", "core-1.0.0-event.generated.schema.json"), "")}
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
			judge.seen = map[string]bool{}
			for _, file := range samples(n) {
				checkFrames(t, file, judge, frames(t, n, readFile(t, needtest.Shared(t, "protocols", "wire", file))))
			}
			for name, events := range turns {
				o := options()
				for _, cut := range [][]event.Event{events, events[:1], events[:len(events)/2], nil} {
					for i := range 3 { // never, at each, at none that is answered
						o.AskByPause, o.Settled = i > 0, event.Seq(i/2*len(events))
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
					if problems := validate(s, body); len(problems) > 0 {
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
		if judge.seen[string(f.data)] {
			continue
		}
		judge.seen[string(f.data)] = true
		s := judge.of(f.data)
		if s == nil {
			t.Fatalf("%s: no schema for %s", turn, f.data)
		}
		if problems := validate(s, f.data); len(problems) > 0 {
			t.Errorf("%s: %s\n%s", turn, schema.Explain(problems), f.data)
		}
		if judge.events != nil {
			checkInner(t, turn, judge, f.data)
		}
		var typed struct{ Type string }
		if f.name != "message" && (json.Unmarshal(f.data, &typed) != nil || typed.Type != f.name) {
			t.Errorf("%s: the event %s has the data %s", turn, f.name, f.data)
		}
	}
}

// checkInner checks the response and the item in an event.
func checkInner(t *testing.T, turn string, judge judges, data []byte) {
	t.Helper()
	var inner struct{ Response, Item json.RawMessage }
	if err := json.Unmarshal(data, &inner); err != nil {
		t.Fatal(err)
	}
	for _, part := range []struct {
		of  *schema.Schema
		raw json.RawMessage
	}{{judge.object, inner.Response}, {judge.item, inner.Item}} {
		if part.raw == nil {
			continue
		}
		if problems := validate(part.of, part.raw); len(problems) > 0 {
			t.Errorf("%s: %s\n%s", turn, schema.Explain(problems), data)
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
