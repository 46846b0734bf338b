package dialect

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fettle-cli/fettle/engine/event"
)

func TestFailuresBeforeTheStream(t *testing.T) {
	t.Parallel()
	_, f := Decode(OpenAI, []byte(`{"model":"m","messages":[{"role":"nobody"}]}`))
	if f == nil {
		t.Fatal("a message by nobody was taken")
	}
	for n, want := range map[Name]string{
		OpenAI:    `{"error":{"message":"messages[0].role: there is no role nobody","type":"invalid_request_error","param":"messages[0].role","code":"invalid_value"}}` + "\n",
		Responses: `{"error":{"message":"messages[0].role: there is no role nobody","type":"invalid_request_error","param":"messages[0].role","code":"invalid_value"}}` + "\n",
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
		} else if n == Anthropic {
			if string(enc.KeepAlive(nil)) != anthropicPing {
				t.Errorf("an Anthropic client reads %s", enc.KeepAlive(nil))
			}
		} else if string(enc.KeepAlive(nil)) != ": ping\n" {
			t.Errorf("%s keeps alive with %q", n, enc.KeepAlive(nil))
		}
	}
	if AISDK.Form().Header["x-vercel-ai-ui-message-stream"] != "v1" || NewEncoder("no", Options{}) != nil || NewObject("no", Options{}) != nil {
		t.Error("the AI SDK's header is missing, or a dialect was made up")
	}
}

// Document 001's payload is the custom_payload, and the tool history has a field of its own
// next to it, in frames and in the object.
func TestChatHasThePayloadAndTheHistory(t *testing.T) {
	t.Parallel()
	var draft event.Event
	line := `{"type":"complete","turn_id":"t","seq":3,"time":"2026-11-28T10:00:00Z","payload":{"message":"m","conversation_id":1,` +
		`"custom_payload":{"type":"draft","data":{"a":1}},"tool_history":[{"tool_name":"t","tool_id":"x:t","input":{},"output":"o","status":"success"}],"chat_id":"c","message_id":"m","model":"x/y"}}`
	if err := json.Unmarshal([]byte(line), &draft); err != nil {
		t.Fatal(err)
	}
	has := func(what string, data []byte) {
		if !bytes.Contains(data, []byte(`"custom_payload":{"type":"draft","data":{"a":1}}`)) || !bytes.Contains(data, []byte(`"tool_history":[{"tool_name":"t"`)) {
			t.Errorf("%s is %s", what, data)
		}
	}
	for _, f := range frames(t, Chat, encode(t, NewEncoder(Chat, Options{LongIDs: true}), []event.Event{draft})) {
		if has("the frame", f.data); f.id != "t.3" {
			t.Errorf("its id is %s", f.id)
		}
	}
	_, body := gather(t, NewObject(Chat, Options{}), []event.Event{draft})
	has("the object", body)
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
