package server_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"mime/multipart"
	"os"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/toolset"
)

// Document 000's event flow begins with a status, which belongs to no event of the turn.
func TestAStreamBeginsWithAStatus(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	s := h.follow("POST", "/api/stream", doc{"message": "hello"})
	first, ok := s.next()
	if !ok || first["type"] != "status" || first["message"] != "Thinking..." || s.last != "" {
		t.Errorf("the first frame is %v, with the id %q", first, s.last)
	}
	if rest := s.all(); rest[len(rest)-1]["type"] != "complete" {
		t.Errorf("then %s", kinds(rest))
	}
}

// Who aborts the stream cancels its turn, as document 000's client does; `detach` keeps it.
func TestAnAbortedStreamCancelsItsTurn(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	begin := func(body doc) string {
		s := h.follow("POST", "/api/stream", body)
		s.until("text_delta")
		turn := s.res.Header.Get("X-Fettle-Turn")
		s.close()
		return turn
	}
	aborted, kept := begin(doc{"message": "slow"}), begin(doc{"message": "slow", "detach": true})
	if e := h.follow("GET", "/api/turns/"+aborted+"/events", nil).all(); e[len(e)-1]["type"] != "cancelled" {
		t.Errorf("the aborted turn: %s", kinds(e))
	}
	s := h.follow("GET", "/api/turns/"+kept+"/events", nil)
	s.until("text_delta")
	h.call("POST", "/api/turns/"+kept+"/cancel", nil).is(204, nil) // 404 of one that has ended
	s.until("cancelled")
}

// Document 003's page reads frames and nothing else, so a failure before the turn is one.
func TestFailuresOfChatAreErrorFrames(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	for accept, frames := range map[string]bool{"*/*": true, "text/event-stream": true, "application/json": false, "": false} {
		a := h.call("POST", "/chat", doc{"session_id": "s", "message": ""}, "Accept", accept)
		isFrame := strings.HasPrefix(a.header.Get("Content-Type"), "text/event-stream") && strings.HasPrefix(string(a.body), "event: error\ndata: {\"message\":")
		if a.status != 400 || isFrame != frames {
			t.Errorf("Accept %q: %d %s\n%s", accept, a.status, a.header.Get("Content-Type"), a.body)
		}
	}
}

// The end of a stream has document 001's payload, and the tool history next to it.
func TestTheEndHasThePayloadAndTheHistory(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: resultsScript, runs: map[string]toolset.RunnerFunc{
		"reviews:analyze_reviews": func(context.Context, toolset.Call) (toolset.Result, error) {
			return toolset.Result{Text: "Analyzed.", Payload: json.RawMessage(`{"type":"note","data":{"n":1}}`)}, nil
		},
	}})
	h.install("reviews")
	end := h.follow("POST", "/api/stream", doc{"message": "review", "allow": []string{"*"}}).until("complete")["payload"].(doc)
	custom, _ := end["custom_payload"].(doc)
	history, _ := end["tool_history"].([]any)
	if custom["type"] != "note" || len(history) != 1 {
		t.Errorf("the end is %v", end)
	}
	var m generalDoc
	h.call("GET", "/api/chats/1/messages", nil).is(200, &m)
	if a := m.Messages[1]; a.Custom == nil || a.Custom.Type != "note" || len(a.History) != 1 || a.Workspace == nil || a.Workspace.Type != "note" {
		t.Errorf("the message is %+v", a)
	}
}

// A form with a file is a bundle, and the file's name is the toolset's source.
func TestABundleIsUploadedAsAForm(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	zip := zipped(t, needtest.Toolset(t, "reviews"))
	send := func(query string) answer {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		part, err := form.CreateFormFile("file", "reviews 2.zip")
		must(t, err)
		_, err = part.Write(zip)
		must(t, err)
		must(t, form.Close())
		return h.call("POST", "/api/toolsets"+query, body.String(), "Content-Type", form.FormDataContentType())
	}
	var looked struct{ Approve, ID string }
	send("").is(200, &looked)
	send("?approve="+looked.Approve).is(201, nil)
	var list struct {
		Toolsets []struct {
			ID  string
			Ref string `json:"source_ref"`
		}
	}
	h.call("GET", "/api/toolsets", nil).is(200, &list)
	found := false
	for _, s := range list.Toolsets {
		found = found || s.ID == "reviews" && s.Ref == "upload:reviews 2.zip"
	}
	if !found {
		t.Errorf("toolsets %+v", list)
	}
	h.call("POST", "/api/toolsets", "--x--\r\n", "Content-Type", "multipart/form-data; boundary=x").is(400, nil)
}

// zipped is a folder as a ZIP, as its sender's own program writes one.
func zipped(t testing.TB, dir string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	must(t, z.AddFS(os.DirFS(dir)))
	must(t, z.Close())
	return b.Bytes()
}

// While a call runs its record is there, with what is known by then.
func TestARunningCallHasARecord(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	h := open(t, plan{script: resultsScript, runs: map[string]toolset.RunnerFunc{
		"reviews:analyze_reviews": func(ctx context.Context, _ toolset.Call) (toolset.Result, error) {
			select {
			case <-release:
			case <-ctx.Done():
			}
			return toolset.Result{Text: "Analyzed."}, nil
		},
	}})
	h.install("reviews")
	turn, _ := h.start(doc{"message": "review", "allow": []string{"*"}})
	s := h.follow("GET", "/api/turns/"+turn+"/events", nil)
	id, _ := s.until("tool_start")["tool_call_id"].(string)
	var call struct {
		Status string
		ToolID string `json:"tool_id"`
		Args   struct {
			Business string `json:"business_name"`
		}
	}
	h.call("GET", "/api/tool-calls/"+id, nil).is(200, &call)
	if call.Status != "running" || call.ToolID != "reviews:analyze_reviews" || call.Args.Business != "Blue Door" {
		t.Errorf("while it runs: %+v", call)
	}
	close(release)
	s.until("complete")
	h.call("GET", "/api/tool-calls/"+id, nil).is(200, &call)
	if call.Status != "success" {
		t.Errorf("after its end: %+v", call)
	}
}

const contextScript = `
responses:
  - {when: "", system: "selected_business.*Blue Door", text: It is the Blue Door.}
  - {when: "", system: "SUGGESTED_VALUES", text: Nothing is selected.}
  - {when: "", text: Nothing is offered.}
`

// A client's context reaches the model without a page; a page that no toolset has is an
// error; suggestions are offered to a client that shows more than text.
func TestTheClientsContextReachesTheModel(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: contextScript})
	for want, body := range map[string]doc{
		"It is the Blue Door.": {"message": "which?", "context": doc{"selected_business": "Blue Door"}},
		"Nothing is selected.": {"message": "which?"},
		"Nothing is offered.":  {"message": "which?", "text_alone": true},
	} {
		end := h.follow("POST", "/api/stream", body).until("complete")["payload"].(doc)
		if end["message"] != want {
			t.Errorf("%v: %v, want %q", body, end["message"], want)
		}
	}
	a := h.call("POST", "/api/turns", doc{"message": "which?", "context": doc{"page": "nowhere"}})
	if _, message := a.failure(); a.status != 404 || !strings.Contains(message, "nowhere") {
		t.Errorf("an unknown page: %d %s", a.status, a.body)
	}
}
