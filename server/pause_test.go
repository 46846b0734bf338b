package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/internal/nodetest"
	"github.com/fettle-cli/fettle/server"
)

// parts are the data of a stream's frames.
func parts(t testing.TB, stream []byte) (out []doc) {
	t.Helper()
	for line := range strings.SplitSeq(string(stream), "\n") {
		if raw, ok := strings.CutPrefix(line, "data: "); ok && raw != "[DONE]" {
			var e doc
			must(t, json.Unmarshal([]byte(raw), &e))
			out = append(out, e)
		}
	}
	return out
}

// part is the first of a type.
func part(list []doc, kind string) doc {
	i := slices.IndexFunc(list, func(p doc) bool { return p["type"] == kind })
	if i < 0 {
		return doc{}
	}
	return list[i]
}

// pausedUI asks what wants an approval, as the AI SDK does, and gives the id of the
// approval, the message that it belongs to, and the turn.
func pausedUI(h *house, thread string) (approval, message, turn string) {
	h.t.Helper()
	a := h.ui(thread, doc{"confirm": true}, uiMessage("a", "user", "twice")).is(200, nil)
	list := parts(h.t, a.body)
	approval, _ = part(list, "tool-approval-request")["approvalId"].(string)
	message, _ = part(list, "start")["messageId"].(string)
	if approval == "" || part(list, "finish")["finishReason"] != "tool-calls" || !bytes.HasSuffix(a.body, []byte("data: [DONE]\n\n")) {
		h.t.Fatalf("it doesn't pause:\n%s", a.body)
	}
	return approval, message, a.header.Get("X-Fettle-Turn")
}

// answerUI answers as the AI SDK does: with the message that it has.
func (h *house) answerUI(thread, message, approval string, approved bool) answer {
	h.t.Helper()
	return h.ui(thread, doc{"confirm": true, "messageId": message}, uiMessage("a", "user", "twice"), doc{
		"id": message, "role": "assistant", "parts": []doc{{
			"type": "dynamic-tool", "toolName": "remove", "toolCallId": "call_0_0", "state": "approval-responded", "input": doc{"path": "a"},
			"approval": doc{"id": approval, "approved": approved, "reason": "my words"},
		}},
	})
}

// A stream of the AI SDK ends where it asks, and the answer's stream goes on with
// the same message. Whoever follows the turn otherwise sees the answer, too.
func TestTheAISDKAnswersByAnotherRequest(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: askScript, tools: removeTool()})
	for _, approved := range []bool{true, false} {
		thread := "thread-" + strconv.FormatBool(approved)
		approval, message, turn := pausedUI(h, thread)
		other := h.follow("GET", "/api/turns/"+turn+"/events", nil)
		// A page that is opened again is asked again.
		again := parts(t, h.call("GET", "/aisdk/"+thread+"/stream", nil).is(200, nil).body)
		if part(again, "tool-approval-request")["approvalId"] != approval || part(again, "finish")["finishReason"] != "tool-calls" {
			t.Errorf("opened again: %v", again)
		}
		h.ui(thread, nil, uiMessage("b", "user", "more")).is(409, nil)
		a := h.answerUI(thread, message, approval, approved).is(200, nil)
		list := parts(t, a.body)
		end := map[bool]string{true: "tool-output-available", false: "tool-output-denied"}[approved]
		if part(list, "start")["messageId"] != message || part(list, end)["toolCallId"] == nil || !strings.Contains(string(a.body), "Done.") ||
			part(list, "tool-approval-request")["approvalId"] != nil || part(list, "finish")["finishReason"] != "stop" {
			t.Errorf("approved %v:\n%s", approved, a.body)
		}
		if result := other.until("confirm_result"); result["decision"] != map[bool]string{true: "allow", false: "deny"}[approved] {
			t.Errorf("others see %v", result)
		}
		other.until("complete")
		late := h.answerUI(thread, message, approval, true).is(409, nil)
		if !strings.Contains(string(late.body), "already, by request ") || late.header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("a second answer: %s", late.body)
		}
	}
}

func TestAnswersThatAreRefused(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: askScript, tools: removeTool()})
	approval, message, turn := pausedUI(h, "mine")
	for name, c := range map[string]struct {
		thread, approval string
		status           int
	}{
		"of another conversation": {"mine-too", approval, 404},
		"to no such call":         {"mine", turn + ".other", 404},
		"to no such turn":         {"mine", "01ARZ3NDEKTSV4RRFFQ69G5FAV.call_1", 404},
		"to what has no turn":     {"mine", "call_1", 400},
		"to nothing":              {"mine", "", 400},
	} {
		if a := h.answerUI(c.thread, message, c.approval, true); a.status != c.status || len(a.body) == 0 {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	h.ui("mine-too", nil, uiMessage("a", "user", "hi")).is(200, nil)
	h.answerUI("mine-too", message, approval, true).is(404, nil) // which knows another turn
	h.answerUI("mine", message, approval, false).is(200, nil)
}

// Pages that answer at once: one of them has the turn's stream, the others are told
// who was first.
func TestTwoPagesAnswerByAPause(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: askScript, tools: removeTool()})
	approval, message, _ := pausedUI(h, "thread")
	var got [6]int
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() { got[i] = h.answerUI("thread", message, approval, i%2 == 0).status })
	}
	all.Wait()
	slices.Sort(got[:])
	if got != [6]int{200, 409, 409, 409, 409, 409} {
		t.Errorf("statuses %v", got)
	}
}

// A client that never comes back has its call denied in time, and is told so if it
// comes later.
func TestAPauseRunsOut(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: askScript, tools: removeTool(), change: func(o *server.Options) { o.ApprovalTime = time.Second }})
	approval, message, turn := pausedUI(h, "thread")
	events := h.follow("GET", "/api/turns/"+turn+"/events", nil).all()
	if k := kinds(events); !strings.HasSuffix(k, "complete") || strings.Count(k, "confirm_result") != 1 {
		t.Errorf("events %s", k)
	}
	if a := h.answerUI("thread", message, approval, true).is(409, nil); !strings.Contains(string(a.body), "was denied already, by the time limit of 1s") {
		t.Errorf("%s", a.body)
	}
}

// A run of AG-UI ends with an interrupt, and the next one resumes it.
func TestAGUIResumesAnInterrupt(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: askScript, tools: removeTool()})
	run := func(thread, run string, resume ...doc) answer {
		return h.call("POST", "/agui", doc{
			"threadId": thread, "runId": run, "state": doc{}, "tools": []doc{}, "context": []doc{}, "forwardedProps": doc{"confirm": true},
			"messages": []doc{{"id": "1", "role": "user", "content": "twice"}}, "resume": resume,
		})
	}
	for status, content := range map[string]string{"resolved": "removed", "cancelled": "error: denied by the user"} {
		var end struct {
			Outcome struct {
				Type       string
				Interrupts []struct{ ID string }
			}
		}
		list := parts(t, run(status, "r1").is(200, nil).body)
		raw, err := json.Marshal(list[len(list)-1])
		must(t, err)
		must(t, json.Unmarshal(raw, &end))
		if end.Outcome.Type != "interrupt" || len(end.Outcome.Interrupts) != 1 {
			t.Fatalf("it ends with %s", raw)
		}
		resume := doc{"interruptId": end.Outcome.Interrupts[0].ID, "status": status, "payload": doc{"approved": true}}
		a := run(status, "r2", resume).is(200, nil)
		list = parts(t, a.body)
		if list[0]["type"] != "RUN_STARTED" || list[0]["runId"] != "r2" || part(list, "TOOL_CALL_RESULT")["content"] != content ||
			!strings.Contains(string(a.body), `"outcome":{"type":"success"}`) {
			t.Errorf("%s:\n%s", status, a.body)
		}
		var failed struct {
			Error struct{ Code, Message string }
		}
		if run(status, "r3", resume).is(409, &failed); failed.Error.Code != "busy" || !strings.Contains(failed.Error.Message, "already") {
			t.Errorf("again: %+v", failed)
		}
	}
}

// clientTime bounds the scenarios of the real clients, which take a second or two
// on a quiet machine.
const clientTime = 3 * time.Minute

// The AI SDK's and AG-UI's own clients, unmodified.
func TestRealClientsAnswer(t *testing.T) {
	t.Parallel()
	modules, node := nodetest.Find(t, nodetest.Clients())
	dir := t.TempDir()
	must(t, errors.Join(os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "clients"))), os.Symlink(modules, filepath.Join(dir, "node_modules"))))
	h := open(t, plan{script: askScript, tools: removeTool()})
	ctx, cancel := context.WithTimeout(t.Context(), clientTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "approvals.mjs", h.url, h.token)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "NO_PROXY=127.0.0.1", "NODE_OPTIONS=")
	out, err := cmd.CombinedOutput()
	if n := bytes.Count(append([]byte("\n"), out...), []byte("\nok ")); err != nil || n != 5 {
		t.Errorf("%v\n%s", err, out)
	}
}
