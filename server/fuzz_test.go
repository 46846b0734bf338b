package server

import (
	"bufio"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/server/dialect"
)

// FuzzBodies reads anything as each body that there is: it is refused or taken, by
// an error of ours.
func FuzzBodies(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `null`, `[]`, `{"message":"hi","conversation_id":1,"context":{"page":"a","x":[1]},"tools":null}`,
		`{"message":"x","interaction_type":"value_selected","action_metadata":{"a":1},"files":[{"name":"a","data":"eA=="}]}`,
		`{"message_id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","message":"again","images":[{"name":"p","data":"iVBORw0KGgo="}],"tools":[]}`,
		`{"Chat":{"Number":1},"Parts":[{"type":"text","text":"x"},{"type":"image","data":"eA=="}],"Schema":{"a":1},"Context":null,"Timeout":5}`,
		`{"enabled":true}`, `{"tool_use_id":"a","nonce":"b","decision":"allow"}`, `{"steps":1,"paths":["a"]}`, strings.Repeat("[", 100), `{"a":"\"["}`, `{} {}`,
	} {
		f.Add([]byte(seed))
	}
	var types []reflect.Type
	for _, r := range routes() {
		if r.body != nil {
			types = append(types, reflect.TypeOf(r.body))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, typ := range types {
			v := reflect.New(typ)
			if err := decodeJSON(raw, v.Interface()); err != nil {
				if status, body := explain(err); status != 400 || body.Message == "" || strings.Contains(body.Message, "server.") {
					t.Errorf("%s: %d %q", typ, status, body.Message)
				}
				continue
			}
			switch b := v.Interface().(type) {
			case *turnBody:
				if req, err := b.request(); err == nil && len(req.Parts) == 0 {
					t.Error("a turn without a question")
				}
			case *againBody:
				asked := turnBody{Message: b.Message, Files: b.Files, Images: b.Images}
				var req engine.TurnRequest
				if err := errors.Join(asked.parts(&req), b.choose(&req)); err == nil && len(req.Parts) == 0 {
					t.Error("a question in no words")
				}
			}
		}
		var req engine.TurnRequest // that a command sends by the socket
		if json.Unmarshal(raw, &req) == nil {
			if _, err := json.Marshal(req); err != nil {
				t.Errorf("what was read can't be sent on: %v", err)
			}
		}
	})
}

// FuzzRange asks for parts of files of any size: a part is never outside of one.
func FuzzRange(f *testing.F) {
	f.Add("bytes=0-5", int64(10))
	f.Add("bytes=-5", int64(0))
	f.Add("bytes=9223372036854775807-", int64(1))
	f.Fuzz(func(t *testing.T, header string, size int64) {
		if size < 0 {
			return
		}
		s, part, ok := rangeOf(header, size)
		if ok && (s.from < 0 || s.size < 0 || s.from+s.size > size || !part && s.size != size) {
			t.Errorf("%q of %d: %+v", header, size, s)
		}
	})
}

// FuzzPath sends any path through the gate: it is let to a route, or refused.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"/", "/t/x/api/chats", "/l/1.x/api/chats/1/workspace/files/a", "/api/chats/1/workspace/files/a%2f..%2fb", "/%2e%2e/", "//x", "/t//", "/api/../metrics"} {
		f.Add(seed)
	}
	s, err := New(Options{Token: strings.Repeat("t", 40)})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(s.endStreams)
	s.gate.addHost("http", "127.0.0.1:1")
	f.Fuzz(func(t *testing.T, target string) {
		if !strings.HasPrefix(target, "/") || strings.ContainsAny(target, " \x00\r\n\t\x7f") {
			return
		}
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n")))
		if err != nil {
			return // net/http refuses it
		}
		c, err := s.gate.admit(r, s.table)
		if err == nil && !c.route.public {
			t.Errorf("%q got in without a token, to %s", target, c.route.op)
		}
	})
}

// FuzzCompat makes a turn of anything that a client of another API may send: it is
// refused, or it asks something and names no tool of fettle's as the client's.
func FuzzCompat(f *testing.F) {
	for _, seed := range []string{
		`{"model":"a/b","messages":[{"role":"user","content":"hi"}]}`,
		`{"model":"fettle/x","messages":[{"role":"system","content":"s"},{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"t","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"r"}],"tools":[{"type":"function","function":{"name":"t"}}]}`,
		`{"model":"m","input":[{"type":"function_call","call_id":"1","name":"t","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":"r"}]}`,
		`{"id":"x","messages":[{"role":"assistant","parts":[{"type":"tool-t","toolCallId":"1","state":"output-available","input":{},"output":1}]}]}`,
		`{"threadId":"t","runId":"r","messages":[{"id":"1","role":"tool","toolCallId":"1","content":"r"}]}`,
		`{"model":"m","messages":[{"role":"tool","content":"r"},{"role":"user","images":["aGk="]}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, n := range dialect.Names() {
			in, bad := dialect.Decode(n, raw)
			if bad != nil || len(in.Messages) == 0 {
				continue
			}
			req, err := compatRequest(httptest.NewRequest("POST", "/", nil), in)
			if err != nil {
				if status, body := explain(err); status < 400 || status > 499 || body.Message == "" {
					t.Errorf("%s: %d %q", n, status, body.Message)
				}
				continue
			}
			if len(req.Parts) == 0 || req.Agent == "" {
				t.Errorf("%s asks nothing, or nobody: %+v", n, req)
			}
			for _, m := range req.History {
				if len(m.Parts) == 0 || m.Role == "system" {
					t.Errorf("%s tells %+v", n, m)
				}
			}
		}
	})
}
