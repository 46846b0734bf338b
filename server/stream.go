package server

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/server/dialect"
)

// following is one stream to one client.
type following struct {
	turn  engine.TurnID
	after event.Seq // what the client has
	enc   dialect.Encoder
	// fromStart feeds the encoder what the client has already, for encoders that
	// have to know what is open.
	fromStart bool
	// approvals adds frames with the nonces of approvals.
	approvals bool
	header    map[string]string
}

var (
	errStalled  = errors.New("the client took nothing for too long")
	errStopping = errors.New("the server ends")
)

// stream writes a turn's events until it ends, the client goes, or the server
// ends. It holds one event at a time: the log waits for the client, and the turn
// for neither.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, f following) error {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(s.streams, func() { cancel(errStopping) })()
	out := &frames{
		w: w, rc: http.NewResponseController(w), stall: s.o.StallTime, stop: cancel, header: f.header, enc: f.enc,
	}
	s.count.followers.Add(1)
	defer s.count.followers.Add(-1)
	if s.turns.Live(f.turn) {
		// Its next event may take minutes, and the client wants to know that it is
		// followed.
		out.flush()
	}
	idle := out.keepAlive(ctx, s.o.KeepAlive)
	err := s.pump(ctx, out, f)
	cancel(nil)
	<-idle
	if errors.Is(out.err, errStalled) { // first: net/http takes it for a client that went away
		s.count.stalled.Add(1)
		return errStalled
	}
	if context.Cause(r.Context()) != nil {
		return nil // it went away, which is its right
	}
	if err != nil && !out.begun {
		return err
	}
	return s.endStream(out, f, err)
}

// endStream says that a stream stops before its turn, or that there was nothing
// to stream.
func (s *Server) endStream(out *frames, f following, err error) error {
	switch {
	case err == nil && !out.begun: // 204 ends an EventSource's reconnecting
		out.w.Header().Set("Content-Type", "text/plain")
		out.w.WriteHeader(http.StatusNoContent)
		return nil
	case err == nil:
		return nil
	}
	out.write(func(dst []byte) []byte { return f.enc.End(dst) }, true)
	return err
}

// pump writes what the engine yields.
func (s *Server) pump(ctx context.Context, out *frames, f following) error {
	from := f.after
	if f.fromStart {
		from = 0
	}
	for e, err := range s.turns.Follow(ctx, f.turn, from) {
		if err != nil {
			return err
		}
		shown := e.Seq > f.after
		var failed error
		out.write(func(dst []byte) []byte {
			longer, err := f.enc.Append(dst, e)
			if failed = err; !shown {
				return dst
			}
			return longer
		}, shown && !e.More)
		if failed != nil {
			s.log.Error("an event can't be encoded", "turn", string(f.turn), "seq", int64(e.Seq), "error", clean(failed.Error()))
		}
		if shown {
			s.count.events.Add(1)
			if ask, ok := e.Body.(event.ConfirmRequest); ok && f.approvals {
				s.showApproval(out, f.turn, ask)
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// showApproval adds the frame that a client answers by. Clients ignore types
// that they don't know.
func (s *Server) showApproval(out *frames, turn engine.TurnID, ask event.ConfirmRequest) {
	a := s.ask(turn, ask)
	if a == nil {
		return
	}
	out.write(func(dst []byte) []byte { return appendData(dst, a.json(turn)) }, true)
}

// frames writes to the client. The follower and the keep-alive share it.
type frames struct {
	mu     sync.Mutex
	w      http.ResponseWriter
	rc     *http.ResponseController
	enc    dialect.Encoder
	stall  time.Duration
	stop   context.CancelCauseFunc
	header map[string]string
	begun  bool
	busy   bool // something was written since the last look
	err    error
	buf    []byte
}

// write appends frames and sends them, by a deadline: who takes nothing for that
// long is dropped.
func (f *frames) write(add func([]byte) []byte, flush bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return
	}
	f.buf = add(f.buf[:0])
	if len(f.buf) > 0 {
		f.begin()
		_, err := f.w.Write(f.buf)
		f.fail(err)
	}
	if flush && f.begun && f.err == nil {
		f.fail(f.rc.Flush())
	}
	if cap(f.buf) > keptBuffer {
		f.buf = nil
	}
}

// keptBuffer is the buffer that a client keeps between two frames: most are a few
// hundred bytes, and a thousand clients wait at once.
const keptBuffer = 4 << 10

// begin sends the header, before the first frame.
func (f *frames) begin() {
	f.busy = true
	_ = f.rc.SetWriteDeadline(time.Now().Add(f.stall)) // a server that can't has none to set
	if f.begun {
		return
	}
	f.begun = true
	for name, value := range f.header {
		f.w.Header().Set(name, value)
	}
	f.w.WriteHeader(http.StatusOK)
}

// flush sends the header at once.
func (f *frames) flush() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begin()
	f.fail(f.rc.Flush())
}

// fail ends the stream. The caller has f.mu.
func (f *frames) fail(err error) {
	if err == nil {
		return
	}
	f.err = err
	if isTimeout(err) {
		f.err = errStalled
	}
	f.stop(f.err)
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// keepAlive writes something wherever nothing was written for a while. What it
// gives is closed when it has ended, which it does with ctx.
func (f *frames) keepAlive(ctx context.Context, every time.Duration) <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			f.mu.Lock()
			silent := !f.busy
			f.busy = false
			f.mu.Unlock()
			if silent {
				f.write(f.enc.KeepAlive, true)
			}
		}
	}()
	return gone
}

// headerOf is the header of a dialect's streams.
func headerOf(n dialect.Name) map[string]string {
	f := n.Form()
	out := map[string]string{"Content-Type": f.ContentType}
	maps.Copy(out, f.Header)
	return out
}

// chatStream follows a turn in the dialect of this API, which document 000 has.
// long puts the turn's id before the number in the ids of frames: in the streams
// of chats a client may come back when another turn runs.
func chatStream(turn engine.TurnID, after event.Seq, long bool) following {
	return following{
		turn: turn, after: after, approvals: true, header: headerOf(dialect.Chat),
		enc: dialect.NewEncoder(dialect.Chat, dialect.Options{LongIDs: long}),
	}
}

// appendData appends a frame that has no place in the turn, and so no id.
func appendData(dst []byte, v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil { // strings and valid JSON can't fail
		return dst
	}
	return append(append(append(dst, "data: "...), raw...), "\n\n"...)
}

// resumeFrom reads Last-Event-ID, or `after` for clients that can't send it: a
// sequence number, with the turn before a dot in the streams of chats.
func resumeFrom(r *http.Request) (turn engine.TurnID, after event.Seq, err error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("after")
	}
	if text == "" {
		return "", 0, nil
	}
	if id, rest, ok := strings.Cut(text, "."); ok {
		if !isID(id) {
			return "", 0, badEventID(text)
		}
		turn, text = engine.TurnID(id), rest
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return "", 0, badEventID(text)
	}
	return turn, event.Seq(n), nil
}

func badEventID(text string) error {
	return fault.New(fault.Usage, quoted(text)+" is not the id of an event of this stream")
}
