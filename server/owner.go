package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server/dialect"
)

// The operations of this file are for other processes of fettle's, by the Unix
// socket alone: server/client speaks them. They are no public API: both sides are
// the same version, or don't speak to each other.

// OwnerAPI rises when these operations change.
const OwnerAPI = 1

// MaxOwnerTurn bounds the JSON of a question that another process of the user's sends. It is
// more than a message may be anyway.
const MaxOwnerTurn = 256 << 20

func ownerRoutes() []route {
	const tag = "owner"
	return []route{
		{op: "get_server", method: http.MethodGet, path: "/api/owner/server", tag: tag, do: getServer, gives: Info{}, owner: true, summary: "Which server this is (Unix socket only)"},
		{
			op: "begin_turn", method: http.MethodPost, path: "/api/owner/turns", tag: tag, do: beginTurn, owner: true,
			summary: "Ask as a command of fettle does, which owns its turn: when it goes, the turn is cancelled (Unix socket only)",
			takes:   jsonBody(), max: MaxOwnerTurn, gives: TurnLine{}, media: mediaLines,
		},
		{
			op: "answer_call", method: http.MethodPost, path: "/api/owner/turns/{turn}/confirm", tag: tag, do: answerCall, owner: true,
			summary: "Allow or deny a call of a turn (Unix socket only)", body: answerBody{}, takes: jsonBody(), status: http.StatusNoContent,
		},
		{
			op: "share_store", method: http.MethodGet, path: "/api/owner/store", tag: tag, do: shareStore, owner: true,
			summary: "Have the store shared with other processes for as long as the answer isn't ended (Unix socket only)", media: mediaLines,
		},
	}
}

const mediaLines = "application/x-ndjson"

// Info says which server it is.
type Info struct {
	API     int    `json:"api"`
	PID     int    `json:"pid"`
	Version string `json:"version"`
	DataDir string `json:"data_dir"`
	WorkDir string `json:"work_dir,omitempty"`
	// Settings stands for the configuration, the keys and what of the environment
	// tools see: a turn of another process has the same answer here if it is that
	// process's own.
	Settings string `json:"settings"`
}

func getServer(s *Server, w http.ResponseWriter, _ *http.Request) error {
	out := Info{API: OwnerAPI, PID: os.Getpid(), Version: cmp.Or(s.o.Build, s.o.Version), DataDir: s.o.DataDir}
	if wd, err := os.Getwd(); err == nil { // a folder that is gone has no models to look for
		out.WorkDir = wd
	}
	if s.o.Settings != nil {
		out.Settings = s.o.Settings()
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// TurnLine is one line of what begin_turn answers: any number that say what is
// waited for, then one that the turn has begun or why not, and one when it has
// ended.
type TurnLine struct {
	Wait  string       `json:"wait,omitempty"`
	Turn  store.TurnID `json:"turn,omitempty"`
	Chat  *chat.Chat   `json:"chat,omitempty"`
	Fault *Failure     `json:"fault,omitempty"`
	// Refused says that the server begins no turn, for reasons of its own.
	Refused bool `json:"refused,omitempty"`
	Ended   bool `json:"ended,omitempty"`
	// Synced is how long the turn has waited for the disk, with Ended.
	Synced time.Duration `json:"synced,omitempty"`
}

// Failure is a fault as it goes over the wire.
type Failure struct {
	Code   fault.Code `json:"code"`
	Msg    string     `json:"message"`
	Detail []string   `json:"detail,omitempty"`
	Total  int        `json:"detail_total,omitempty"`
	// Input is the field of the request that is wrong.
	Input    string         `json:"input,omitempty"`
	Remedies []fault.Remedy `json:"remedies,omitempty"`
	// Hints are those of a server of an older version, which sends no remedies.
	Hints []string `json:"hints,omitempty"`
}

// Fault gives it back.
func (f *Failure) Fault() error {
	if len(f.Remedies) == 0 {
		f.Remedies = fault.Runs(f.Hints)
	}
	return &fault.Fault{Code: f.Code, Msg: strings.TrimPrefix(f.Msg, f.Input+": "), Detail: f.Detail, Total: f.Total, Input: f.Input, Remedies: f.Remedies}
}

// notBegun is the line that says why a turn has not begun. It is for the owner's
// eyes, so that it hides nothing.
func notBegun(err error) TurnLine {
	var f *fault.Fault
	var r *refusal
	switch {
	case errors.As(err, &f):
		return TurnLine{Fault: &Failure{Code: f.Code, Msg: f.Msg, Detail: f.Detail, Total: f.Total, Input: f.Input, Remedies: f.Remedies}}
	case errors.As(err, &r):
		return TurnLine{Refused: true}
	}
	return TurnLine{Fault: &Failure{Code: fault.Failed, Msg: clean(err.Error())}}
}

// beginTurn starts a turn that belongs to the client: the answer goes on until the
// turn has ended, and a client that closes it cancels the turn. The configuration
// is the client's: what it resolved is in the request.
func beginTurn(s *Server, w http.ResponseWriter, r *http.Request) error {
	raw, err := readBody(w, r)
	if err != nil {
		return err
	}
	var req engine.TurnRequest
	if err := json.Unmarshal(raw, &req); err != nil {
		return refuse(http.StatusBadRequest, "bad_request", "the body is no request of this version of fettle")
	}
	w.Header().Set("Content-Type", mediaLines)
	out := &lines{w: w, rc: http.NewResponseController(w)}
	id, chat, err := s.startBy(r.Context(), func(ctx context.Context, _ func(string)) (store.TurnID, error) {
		req.OnWait = func(what string) { out.write(TurnLine{Wait: what}) }
		return s.eng.Start(ctx, req)
	})
	if err != nil {
		out.write(notBegun(err))
		return nil
	}
	s.live.own(id)
	s.log.Info("turn begun by a command", "turn", string(id), "chat", chat.Number, "request_id", requestID(r))
	out.write(TurnLine{Turn: id, Chat: &chat})
	if s.attend(r.Context(), id) {
		out.write(TurnLine{Ended: true, Synced: s.eng.SyncTime(id)})
	}
	return nil
}

// attend waits for a turn's end, which it tells, or for the client to go, which
// cancels the turn.
func (s *Server) attend(client context.Context, id store.TurnID) bool {
	for {
		live, news := s.live.has(id)
		if !live {
			return true
		}
		select {
		case <-news:
		case <-client.Done():
			if err := s.eng.Cancel(context.WithoutCancel(client), id); err != nil {
				s.log.Error("a turn whose command has gone can't be cancelled", "turn", string(id), "error", clean(err.Error()))
			}
			return false
		case <-s.streams.Done():
			return false
		}
	}
}

// shareStore has the engine share the store until the client goes.
func shareStore(s *Server, w http.ResponseWriter, r *http.Request) error {
	if s.draining.Load() {
		return errDraining
	}
	end := s.eng.ShareStore()
	defer end()
	w.Header().Set("Content-Type", mediaLines)
	out := &lines{w: w, rc: http.NewResponseController(w)}
	out.write(struct {
		Shared bool `json:"shared"`
	}{true})
	select {
	case <-r.Context().Done():
	case <-s.streams.Done():
	}
	return nil
}

// lines writes a line of JSON at a time. Those who write are never two at once.
type lines struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

// write sends a line. One that can't be sent has nobody to be sent to.
func (l *lines) write(v any) {
	raw, err := json.Marshal(v)
	if err != nil { // strings and numbers can't fail
		return
	}
	_ = l.rc.SetWriteDeadline(time.Now().Add(jsonTime))
	_, _ = l.w.Write(append(raw, '\n'))
	_ = l.rc.Flush()
}

// eventEncoder writes events just as the engine has them, for clients that show
// what the shell shows. The name of a frame tells that another follows at once.
type eventEncoder struct{ ended bool }

var _ dialect.Encoder = (*eventEncoder)(nil)

// MoreName is the name of a frame that another one follows at once.
const MoreName = "more"

// Append appends one event's frame.
func (c *eventEncoder) Append(dst []byte, e event.Event) ([]byte, error) {
	if c.ended {
		return dst, nil
	}
	start := len(dst)
	if e.More {
		dst = append(dst, "event: "+MoreName+"\n"...)
	}
	dst = append(strconv.AppendInt(append(dst, "id: "...), int64(e.Seq), 10), "\ndata: "...)
	dst, err := e.Append(dst)
	if err != nil {
		return dst[:start], err
	}
	c.ended = e.Ends()
	return append(dst, "\n\n"...), nil
}

// End adds nothing: a client that resumes after the last id gets the rest.
func (*eventEncoder) End(dst []byte) []byte { return dst }

// KeepAlive appends a comment.
func (*eventEncoder) KeepAlive(dst []byte) []byte { return append(dst, ":\n\n"...) }

// Paused is never so.
func (*eventEncoder) Paused() bool { return false }
