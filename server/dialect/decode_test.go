package dialect

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/internal/schema"
)

// requestFiles are request bodies by dialect: as the publishers' examples and
// the real clients have them.
func requestFiles(t testing.TB) map[Name]map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "requests", "*.json"))
	if err != nil || len(files) < 11 {
		t.Fatalf("found %d requests: %v", len(files), err)
	}
	out := map[Name]map[string][]byte{}
	for _, f := range files {
		base := strings.TrimSuffix(filepath.Base(f), ".json")
		name, _, _ := strings.Cut(base, ".")
		if out[Name(name)] == nil {
			out[Name(name)] = map[string][]byte{}
		}
		out[Name(name)][base] = readFile(t, f)
	}
	return out
}

func TestRequests(t *testing.T) {
	t.Parallel()
	for n, list := range requestFiles(t) {
		for base, body := range list {
			t.Run(base, func(t *testing.T) {
				t.Parallel()
				r, f := Decode(n, body)
				if f != nil {
					t.Fatal(f)
				}
				golden(t, filepath.Join("requests", base+".txt"), told(t, r))
				if got := NewEncoder(n, r.Options()); got == nil {
					t.Error("its options make no encoder")
				}
			})
		}
	}
}

// told is a request as indented JSON without what is empty.
func told(t *testing.T, r *Request) string {
	t.Helper()
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(full(v), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// full leaves out what is zero.
func full(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if e = full(e); e == nil || e == "" || e == false || e == 0.0 {
				delete(v, k)
			}
		}
	case []any:
		for _, e := range v {
			full(e)
		}
	}
	return v
}

// The bodies are requests by the publishers' own schemas. Of responses only the
// plain one: a message among input's items fits two forms of the published
// schema, of which exactly one must fit.
func TestRequestsSatisfyTheSchemas(t *testing.T) {
	t.Parallel()
	api := needtest.Shared(t, "protocols", "openai", "openai-chat-responses-models.schema.json")
	requests := requestFiles(t)
	for n, s := range map[Name]*schema.Schema{
		OpenAI:    schemaOfFile(t, api, "CreateChatCompletionRequest"),
		Responses: schemaOfFile(t, api, "CreateResponse"),
		AGUI:      schemaOfFile(t, needtest.Shared(t, "protocols", "ag-ui", "core-1.0.0-run-agent-input.generated.schema.json"), ""),
	} {
		for base, body := range requests[n] {
			if base == "responses.full" {
				continue
			}
			if problems := validate(s, body); len(problems) > 0 {
				t.Errorf("%s: %s", base, schema.Explain(problems))
			}
		}
	}
}

// AG-UI's own fixtures: what its schema takes is taken.
func TestFixturesOfAGUI(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(needtest.Shared(t, "protocols", "ag-ui", "spec", "draft", "fixtures", "RunAgentInput"), "valid", "*.json"))
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d fixtures: %v", len(files), err)
	}
	for _, file := range files {
		_, f := Decode(AGUI, readFile(t, file))
		if f != nil && f.Msg != "messages: there are none" {
			t.Errorf("%s: %v", filepath.Base(file), f)
		}
	}
}

func TestWhatClientsSend(t *testing.T) {
	t.Parallel()
	user := []Message{{Role: User, Parts: []Part{{Kind: Text, Text: "hi"}}}}
	for name, c := range map[string]struct {
		n    Name
		body string
		want func(*Request) bool
	}{
		"null for what wasn't set": {OpenAI, `{"model":"m","messages":[{"role":"user","content":"hi","name":null,"tool_calls":null}],"tools":null,"stop":null,"stream":null,"stream_options":null,"max_tokens":null,"temperature":null,"response_format":null,"tool_choice":null}`,
			func(r *Request) bool { return reflect.DeepEqual(r.Messages, user) && !r.Stream }},
		"fields of later versions": {OpenAI, `{"messages":[{"role":"user","content":"hi","later":{}}],"later":[1]}`,
			func(r *Request) bool { return reflect.DeepEqual(r.Messages, user) }},
		"arguments that are an object": {OpenAI, `{"messages":[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":{"a":1}}}]}]}`,
			func(r *Request) bool { return string(r.Messages[0].Parts[0].Call.Args) == `{"a":1}` }},
		"arguments that are nothing": {OpenAI, `{"messages":[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":""}}]}]}`,
			func(r *Request) bool { return string(r.Messages[0].Parts[0].Call.Args) == `{}` }},
		"the older functions": {OpenAI, `{"messages":[{"role":"user","content":"hi"}],"functions":[{"name":"f","parameters":{"type":"object"}}]}`,
			func(r *Request) bool { return r.Tools[0].Name == "f" }},
		"a tool without a schema": {OpenAI, `{"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f"}}]}`,
			func(r *Request) bool { return string(r.Tools[0].Schema) == `{"type":"object","properties":{}}` }},
		"a tool of OpenAI's own": {Responses, `{"input":"hi","tools":[{"type":"web_search"}]}`,
			func(r *Request) bool { return len(r.Tools) == 0 && r.Ignored[0] == "tools[0] of type web_search" }},
		"chat's form of a tool in responses": {Responses, `{"input":"hi","tools":[{"type":"function","function":{"name":"f"}}]}`,
			func(r *Request) bool { return r.Tools[0].Name == "f" }},
		"one text as stop": {OpenAI, `{"messages":[{"role":"user","content":"hi"}],"stop":"END"}`,
			func(r *Request) bool { return reflect.DeepEqual(r.Stop, []string{"END"}) }},
		"an image by its address": {OpenAI, `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":"https://example.com/a.png"}]}]}`,
			func(r *Request) bool {
				p := r.Messages[0].Parts[0]
				return p.Kind == Image && p.URL != "" && p.Data == nil
			}},
		"base64 without padding": {Ollama, `{"model":"m","messages":[{"role":"user","content":"hi","images":["iVBORw0KGgo"]}]}`,
			func(r *Request) bool { return r.Messages[0].Parts[1].MIME == "image/png" }},
		"a result whose call was cut off": {Ollama, `{"model":"m","messages":[{"role":"tool","tool_name":"f","content":"x"}]}`,
			func(r *Request) bool {
				return reflect.DeepEqual(r.Messages[0].Parts[0].Result, &ToolResult{ID: "call_1", Name: "f", Text: "x"})
			}},
		"Mistral's word for required": {OpenAI, `{"messages":[{"role":"user","content":"hi"}],"tool_choice":"any"}`,
			func(r *Request) bool { return r.Choice.Mode == "required" }},
		"a model to be loaded": {Ollama, `{"model":"m"}`, func(r *Request) bool { return r.Stream && len(r.Messages) == 0 }},
		"thinking left on":     {Ollama, `{"model":"m","think":true,"messages":[]}`, func(r *Request) bool { return *r.Think }},
		"a run that only resumes": {AGUI, `{"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"c","status":"resolved","payload":true}]}`,
			func(r *Request) bool { return r.Answers[0].Approved }},
		"a resolved interrupt without an answer": {AGUI, `{"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"c","status":"resolved"}]}`,
			func(r *Request) bool { return !r.Answers[0].Approved }},
		"an approval of the AI SDK": {AISDK, `{"id":"c","messages":[{"role":"assistant","parts":[{"type":"dynamic-tool","toolName":"f","toolCallId":"c1","state":"approval-responded","input":{},"approval":{"id":"c1","approved":true}}]}]}`,
			func(r *Request) bool { return reflect.DeepEqual(r.Answers, []Answer{{ID: "c1", Approved: true}}) }},
		"a client that answers approvals": {AISDK, `{"id":"c","confirm":true,"messages":[{"role":"user","parts":[{"type":"text","text":"hi"}]}]}`,
			func(r *Request) bool { return r.Options().AskByPause && reflect.DeepEqual(r.Messages, user) }},
		"a person's words": {AGUI, `{"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"c","status":"resolved","payload":{"approved":false,"reason":"no:\n\u001b[31m👩‍💻"}}]}`,
			func(r *Request) bool { return r.Answers[0].Reason == "no:\n[31m👩‍💻" }},
		"one whose run answers them": {AGUI, `{"threadId":"t","runId":"r","messages":[],"forwardedProps":{"confirm":true},"resume":[{"interruptId":"c","status":"cancelled"}]}`,
			func(r *Request) bool { return r.Options().AskByPause && !r.Answers[0].Approved }},
		"a new conversation": {Chat, `{"message":"hi","conversation_id":null,"context":null}`,
			func(r *Request) bool { return r.ChatNumber == 0 && r.Stream }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, f := Decode(c.n, []byte(c.body))
			if f != nil {
				t.Fatal(f)
			}
			if !c.want(r) {
				t.Errorf("read %+v", r)
			}
		})
	}
}

func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1)
	long := strings.Repeat("x", maxName+1)
	manyTools := `[` + strings.TrimSuffix(strings.Repeat(`{"type":"function","function":{"name":"f"}},`, 2), ",") + `]`
	for _, c := range []struct {
		n          Name
		body, want string
	}{
		{OpenAI, ``, `is missing`},
		{OpenAI, `[]`, `a JSON array was given where an object is needed`},
		{OpenAI, `{"messages":`, `the body is not JSON`},
		{OpenAI, `{}`, `messages: there are none`},
		{OpenAI, `{"messages":[{"role":"user","content":3}]}`, `messages[0].content: a JSON number`},
		{OpenAI, `{"messages":{"role":"user"}}`, `messages: a JSON object was given where a list is needed`},
		{OpenAI, `{"messages":[{"role":"nobody"}]}`, `messages[0].role: there is no role nobody`},
		{OpenAI, `{"messages":[{"role":"\u001b[31mred\u202e"}]}`, `there is no role [31mred`},
		{OpenAI, `{"messages":[{"role":"tool","content":"x"}]}`, `messages[0].tool_call_id: is missing`},
		{OpenAI, `{"messages":[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"[1]"}}]}]}`, `is not a JSON object`},
		{OpenAI, `{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f"}}]}]}`, `has no id or no name`},
		{OpenAI, `{"messages":[{"role":"user","content":"a"}],"n":2}`, `n: only one answer`},
		{OpenAI, `{"messages":[{"role":"user","content":"a"}],"temperature":3}`, `temperature: has to be between 0 and 2`},
		{OpenAI, `{"messages":[{"role":"user","content":"a"}],"max_tokens":-1}`, `max_tokens: is no number of tokens`},
		{OpenAI, `{"messages":[{"role":"user","content":"a"}],"tools":` + manyTools + `}`, `there is another tool named f`},
		{OpenAI, `{"messages":[{"role":"user","content":"a"}],"tools":[{"type":"function","function":{"name":"f","parameters":[]}}]}`, `the schema is not a JSON object`},
		{OpenAI, `{"messages":[{"role":"user","content":"a"}],"tool_choice":{"type":"function","function":{"name":"g"}}}`, `tool_choice: no tool is named g`},
		{OpenAI, `{"messages":[{"role":"user","content":"a"}],"response_format":{"type":"json_schema","json_schema":{}}}`, `json_schema has no schema`},
		{OpenAI, `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"file:///etc/passwd"}}]}]}`, `neither a data: nor an http(s) address`},
		{OpenAI, `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,*"}}]}]}`, `is no base64`},
		{OpenAI, `{"messages":[{"role":"user","content":[{"type":"input_audio"}]}]}`, `parts of type input_audio can't be taken`},
		{OpenAI, `{"messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"f"}}]}]}`, `nothing is kept under a file_id`},
		{OpenAI, `{"model":"` + long + `","messages":[{"role":"user","content":"a"}]}`, `model: is longer than 256 bytes`},
		{OpenAI, `{"model":"a\nb","messages":[{"role":"user","content":"a"}]}`, `model: holds control characters`},
		{OpenAI, `{"later":` + deep + `}`, `nested deeper than 200`},
		{Responses, `{"model":"m"}`, `messages: there are none`},
		{Responses, `{"input":"a","background":true}`, `background: responses are not made`},
		{Responses, `{"input":[{"type":"function_call","name":"f"}]}`, `input[0]: has no id or no name`},
		{Ollama, `{"messages":[]}`, `messages: there are none`},
		{Ollama, `{"model":"m","messages":[{"role":"user","content":"x"}],"format":"xml"}`, `neither "json" nor a schema`},
		{AISDK, `{"id":"c","messages":[],"trigger":"other"}`, `there is no trigger other`},
		{AISDK, `{"id":"c","messages":[{"role":"assistant","parts":[{"type":"tool-f"}]}]}`, `has no toolCallId or no name`},
		{AGUI, `{"messages":[]}`, `a run needs a threadId and a runId`},
		{AGUI, `{"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"c","status":"maybe"}]}`, `resume[0].status`},
		{AGUI, `{"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"c","status":"resolved","payload":{"approved":"yes"}}]}`, `approved: a JSON string was given where true or false`},
		{AGUI, `{"threadId":"t","runId":"r","messages":[{"id":"m","role":"user","content":[{"type":"audio"}]}]}`, `parts of type audio`},
		{Agents, `{"message":"hi"}`, `session_id: is missing`},
		{Chat, `{"message":""}`, `message: is missing`},
		{Chat, `{"message":"hi","context":[]}`, `context: is no object`},
		{"no", `{}`, `there is no dialect no`},
	} {
		r, f := Decode(c.n, []byte(c.body))
		if f == nil {
			t.Errorf("%s: %.80s was read as %+v", c.n, c.body, r)
			continue
		}
		if !strings.Contains(f.Msg, c.want) || f.Code != fault.Usage {
			t.Errorf("%s: %.80s is refused with %q, want %q", c.n, c.body, f.Msg, c.want)
		}
		if strings.ContainsFunc(f.Msg, unicode.IsControl) || strings.ContainsRune(f.Msg, '\u202e') {
			t.Errorf("the message holds control characters: %q", f.Msg)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	repeat := func(s string, n int) string { return strings.TrimSuffix(strings.Repeat(s+",", n), ",") }
	tools := make([]string, maxTools+1)
	for i := range tools {
		tools[i] = `{"type":"function","function":{"name":"f` + strconv.Itoa(i) + `"}}`
	}
	for name, body := range map[string]string{
		"messages": `{"messages":[` + repeat(`{"role":"user"}`, maxMessages+1) + `]}`,
		"parts":    `{"messages":[{"role":"user","content":[` + repeat(`{"type":"text","text":"a"}`, maxParts+1) + `]}]}`,
		"images":   `{"messages":[{"role":"user","content":[` + repeat(`{"type":"image_url","image_url":"data:,a"}`, maxImages+1) + `]}]}`,
		"tools":    `{"messages":[{"role":"user","content":"a"}],"tools":[` + strings.Join(tools, ",") + `]}`,
		"schema":   `{"messages":[{"role":"user","content":"a"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"title":"` + strings.Repeat("x", maxSchema) + `"}}}]}`,
		"stops":    `{"messages":[{"role":"user","content":"a"}],"stop":[` + repeat(`"a"`, maxStop+1) + `]}`,
		"one stop": `{"messages":[{"role":"user","content":"a"}],"stop":"` + strings.Repeat("x", maxStops+1) + `"}`,
		"address":  `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":"https://example.com/` + strings.Repeat("x", maxURL) + `"}]}]}`,
		"body":     strings.Repeat(" ", MaxBody+1),
		"a list":   `{"messages":[{"role":"user","content":"a"}],"later":[` + repeat("1", maxItems+1) + `]}`,
		"values":   `{"messages":[{"role":"user","content":"a"}],"later":[` + repeat("[1,2,3]", maxValues/3) + `]}`,
	} {
		if _, f := Decode(OpenAI, []byte(body)); f == nil {
			t.Errorf("%s: more than the limit was taken", name)
		} else if status, _, _ := OpenAI.Failure(f); status != http.StatusBadRequest || len(f.Msg) > 520 {
			t.Errorf("%s: %d %s", name, status, f.Msg)
		}
	}
}

func TestFilesAreBounded(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("A", maxImage*4/3+8)
	if _, err := media("image_url", Image, "data:image/png;base64,"+text); err == nil {
		t.Error("more than the limit was taken")
	}
	if problem := checkPart(Part{Kind: Image, Data: make([]byte, maxImage+1)}); problem == "" {
		t.Error("an image by other means is larger than the limit")
	}
}

func fuzzDecode(f *testing.F, n Name) {
	files, err := filepath.Glob(filepath.Join("testdata", "requests", string(n)+".*.json"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds for %s: %v", n, err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, bad := Decode(n, body)
		if bad != nil {
			if strings.ContainsFunc(bad.Msg, unicode.IsControl) || len(bad.Msg) > 520 {
				t.Errorf("the message is %q", bad.Msg)
			}
			if _, _, text := n.Failure(bad); n != AISDK && !json.Valid(text) {
				t.Errorf("the failure is %s", text)
			}
			return
		}
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				if p.Call != nil && !isObject(p.Call.Args) {
					t.Errorf("the arguments are %s", p.Call.Args)
				}
			}
		}
		for _, tool := range r.Tools {
			if tool.Name == "" || !isObject(tool.Schema) {
				t.Errorf("the tool is %+v", tool)
			}
		}
		// What is echoed has to make frames that read back.
		stream := NewEncoder(n, r.Options()).End(nil)
		frames(t, n, stream)
		if o := NewObject(n, r.Options()); o != nil {
			if _, text := o.Body(); !json.Valid(text) {
				t.Errorf("the object is %s", text)
			}
		}
	})
}

func FuzzDecodeChat(f *testing.F)      { fuzzDecode(f, Chat) }
func FuzzDecodeAgents(f *testing.F)    { fuzzDecode(f, Agents) }
func FuzzDecodeOpenAI(f *testing.F)    { fuzzDecode(f, OpenAI) }
func FuzzDecodeResponses(f *testing.F) { fuzzDecode(f, Responses) }
func FuzzDecodeAISDK(f *testing.F)     { fuzzDecode(f, AISDK) }
func FuzzDecodeAGUI(f *testing.F)      { fuzzDecode(f, AGUI) }
func FuzzDecodeOllama(f *testing.F)    { fuzzDecode(f, Ollama) }
