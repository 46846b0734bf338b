package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/server"
)

const threadScript = `
responses:
  - {when: slow, deltas: [{content: Half}], hang: true}
  - {when: first, text: The first answer.}
  - {when: "", text: Another answer.}
`

func uiMessage(id, role, text string) doc {
	return doc{"id": id, "role": role, "parts": []doc{{"type": "text", "text": text}}}
}

// ui posts messages as the AI SDK's transport does.
func (h *house) ui(thread string, more doc, messages ...doc) answer {
	h.t.Helper()
	body := doc{"id": thread, "messages": messages, "trigger": "submit-message"}
	for k, v := range more {
		body[k] = v
	}
	return h.call("POST", "/aisdk", body)
}

// texts are those of the messages of a chat.
func (h *house) texts(chat string) string {
	h.t.Helper()
	var c struct {
		Messages []struct{ Parts []struct{ Text string } }
	}
	h.call("GET", "/api/chats/"+chat+"/messages", nil).is(200, &c)
	var out []string
	for _, m := range c.Messages {
		for _, p := range m.Parts {
			out = append(out, p.Text)
		}
	}
	return strings.Join(out, " | ")
}

// A thread of the AI SDK is one chat: it goes on, asks again, and refuses a
// history that it doesn't know.
func TestThreadsOfTheAISDK(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: threadScript})
	first, reply := uiMessage("a", "user", "first"), uiMessage("b", "assistant", "The first answer.")
	a := h.ui("thread-1", nil, first).is(200, nil)
	if a.header.Get("X-Vercel-Ai-Ui-Message-Stream") != "v1" || !strings.Contains(string(a.body), `"type":"text-delta"`) || !strings.HasSuffix(string(a.body), "data: [DONE]\n\n") {
		t.Fatalf("%v\n%s", a.header, a.body)
	}
	chat := a.header.Get("X-Fettle-Chat")
	b := h.ui("thread-1", nil, first, reply, uiMessage("c", "user", "second")).is(200, nil)
	if b.header.Get("X-Fettle-Chat") != chat {
		t.Errorf("it goes on in %s, not %s", b.header.Get("X-Fettle-Chat"), chat)
	}
	if got := h.texts(chat); got != "first | The first answer. | second | Another answer." {
		t.Errorf("the chat has %s", got)
	}
	h.ui("thread-1", doc{"trigger": "regenerate-message"}, first, reply, uiMessage("c", "user", "second")).is(200, nil)
	if got := h.texts(chat); got != "first | The first answer. | second | Another answer." {
		t.Errorf("asked again, the chat has %s", got)
	}
	h.ui("thread-1", doc{"messageId": "a"}, uiMessage("a", "user", "other words")).is(200, nil)
	if got := h.texts(chat); got != "other words | Another answer." {
		t.Errorf("edited, the chat has %s", got)
	}
	if got := h.ui("thread-1", nil, first, reply, uiMessage("c", "user", "second"), reply, uiMessage("d", "user", "third")); got.status != 400 || !strings.Contains(string(got.body), "begin another one") {
		t.Errorf("a history that was not said here: %d %s", got.status, got.body)
	}
	// One that only the client knows is answered, and stays the client's.
	unknown := h.ui("thread-2", nil, first, reply, uiMessage("c", "user", "second")).is(200, nil)
	if !strings.Contains(string(unknown.body), "Another ") || h.call("GET", "/api/chats/"+unknown.header.Get("X-Fettle-Chat"), nil).status != 404 {
		t.Errorf("an unknown history: %s", unknown.body)
	}
	// Its failures are plain text, which the client shows.
	for name, body := range map[string]doc{
		"tools":       {"id": "x", "messages": []doc{first}, "tools": doc{"no name": doc{"inputSchema": doc{"type": "object"}}}},
		"no thread":   {"messages": []doc{first}},
		"no messages": {"id": "x", "messages": []doc{}},
		"an answer":   {"id": "x", "messages": []doc{reply}},
	} {
		got := h.call("POST", "/aisdk", body)
		if got.status != 400 || got.header.Get("Content-Type") != "text/plain; charset=utf-8" || len(got.body) == 0 {
			t.Errorf("%s: %d %q %s", name, got.status, got.header.Get("Content-Type"), got.body)
		}
	}
}

// A page that is opened again follows the turn from its beginning, and a second
// message meanwhile is refused.
func TestAThreadIsResumed(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: threadScript})
	h.call("GET", "/aisdk/thread/stream", nil).is(204, nil)
	res, err := h.client.Do(h.request("POST", "/aisdk", doc{"id": "thread", "messages": []doc{uiMessage("a", "user", "slow")}}))
	must(t, err)
	turn := res.Header.Get("X-Fettle-Turn")
	_ = res.Body.Close() // the page goes away
	h.ui("thread", nil, uiMessage("b", "user", "more")).is(409, nil)
	again, err := h.client.Do(h.request("GET", "/aisdk/thread/stream", nil))
	must(t, err)
	defer again.Body.Close()
	h.call("POST", "/api/turns/"+turn+"/cancel", nil).is(204, nil)
	raw := read(t, again)
	if again.StatusCode != 200 || !strings.Contains(raw, "Half") || !strings.HasSuffix(raw, "data: [DONE]\n\n") {
		t.Errorf("%d %s", again.StatusCode, raw)
	}
	eventually(t, "a thread in which nothing runs", func() bool { return h.call("GET", "/aisdk/thread/stream", nil).status == 204 })
}

// A thread of AG-UI is one chat, too; its stream begins and ends as the client
// wants it, and its context is told to the model.
func TestThreadsOfAGUI(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: threadScript})
	run := func(run string, more doc, messages ...doc) answer {
		body := doc{"threadId": "t", "runId": run, "state": doc{}, "tools": []doc{}, "context": []doc{}, "forwardedProps": doc{}, "messages": messages}
		for k, v := range more {
			body[k] = v
		}
		return h.call("POST", "/agui", body, "Accept", "text/event-stream")
	}
	first := doc{"id": "1", "role": "user", "content": "first"}
	a := run("r1", nil, first).is(200, nil)
	types := aguiTypes(t, a.body)
	if types[0] != "RUN_STARTED" || types[len(types)-1] != "RUN_FINISHED" || !strings.Contains(string(a.body), `"runId":"r1"`) {
		t.Errorf("%v\n%s", types, a.body)
	}
	b := run("r2", doc{"context": []doc{{"description": "where", "value": "at home"}}}, first,
		doc{"id": "2", "role": "assistant", "content": "The first answer."}, doc{"id": "3", "role": "user", "content": "second"}).is(200, nil)
	chat := a.header.Get("X-Fettle-Chat")
	if got := h.texts(chat); b.header.Get("X-Fettle-Chat") != chat || got != "first | The first answer. | at home | second | Another answer." {
		t.Errorf("the chat has %s", got)
	}
	tools := []doc{{"name": "no name", "description": "x", "parameters": doc{"type": "object"}}}
	var failed struct {
		Error struct{ Code, Message string }
	}
	run("r3", doc{"tools": tools}, first).is(http.StatusBadRequest, &failed)
	if failed.Error.Code != "usage" || failed.Error.Message == "" {
		t.Errorf("tools: %+v", failed)
	}
}

func aguiTypes(t *testing.T, stream []byte) (out []string) {
	t.Helper()
	for line := range strings.SplitSeq(string(stream), "\n") {
		if raw, ok := strings.CutPrefix(line, "data: "); ok {
			var e struct{ Type string }
			must(t, json.Unmarshal([]byte(raw), &e))
			out = append(out, e.Type)
		}
	}
	return out
}

func read(t *testing.T, res *http.Response) string {
	t.Helper()
	raw, err := io.ReadAll(res.Body)
	must(t, err)
	return string(raw)
}

// Where the server is reached through a proxy there is no other origin for a page
// of a tool: its plan is given, with the reason and without an address.
func TestAPageWithoutAnOriginOfItsOwn(t *testing.T) {
	t.Parallel()
	h := open(t, plan{
		script: `
responses:
  - {when: "", step: 0, text: I show it., calls: [{name: page, args: {}}]}
  - {when: "", text: Shown.}
`,
		listen: func(o *server.ListenOptions) { o.Behind = "https://fettle.example.org" },
	})
	zipped := []string{"Content-Type", "application/zip"}
	one := bundle(t, "1.0.0")
	var looked struct{ Approve string }
	h.call("POST", "/api/toolsets", one, zipped...).is(200, &looked)
	h.call("POST", "/api/toolsets?approve="+looked.Approve, one, zipped...).is(201, nil)
	events, _ := h.finish(doc{"message": "show"})
	for _, e := range events {
		if e["type"] != "tool_complete" {
			continue
		}
		var shown struct {
			Plan         json.RawMessage `json:"render_plan"`
			URL, Problem string
		}
		a := h.call("GET", "/api/tool-calls/"+fmt.Sprint(e["tool_call_id"])+"/render", nil).is(200, &shown)
		if shown.URL != "" || shown.Problem == "" || len(shown.Plan) == 0 {
			t.Errorf("it is shown as %s", a.body)
		}
		return
	}
	t.Errorf("no call: %s", kinds(events))
}
