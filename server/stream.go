package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server/dialect"
)

// following is one stream to one client.
type following struct {
	turn  store.TurnID
	after event.Seq // what the client has
	// enc writes the stream. nil is the dialect of this API, whose frames all
	// followers share but for their ids, which have the turn's before them where
	// long is set.
	enc  dialect.Encoder
	long bool
	// fromStart feeds the encoder what the client has already, for encoders that
	// have to know what is open.
	fromStart bool
	// approvals adds frames with the nonces of approvals.
	approvals bool
	// opening is written before the first frame, and belongs to no event.
	opening []byte
	// cancels has the turn cancelled when the client goes away.
	cancels bool
	header  map[string]string
}

var (
	errStalled  = errors.New("the client took nothing for too long")
	errStopping = errors.New("the server ends")
)

// follow is the last that a handler does: it has a turn's events written like
// stream, and need not wait for it. The stream of a live turn lasts, so it gets its
// connection for itself where that can be had.
func (s *Server) follow(w http.ResponseWriter, r *http.Request, f following) error {
	from := s.live.relay(f.turn)
	if from == nil || !s.runs(f.turn) {
		return s.stream(w, r, f)
	}
	l := s.takeLine(w, r)
	if l == nil {
		return s.stream(w, r, f)
	}
	go l.run(f, from)
	return nil
}

// stream writes a turn's events until it ends, the client goes, or the server
// ends. The turn waits for none of its followers.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, f following) error {
	defer narrow(r)()
	return s.write(r.Context(), &frames{s: s, w: w, rc: http.NewResponseController(w), f: f}, s.live.relay(f.turn))
}

// write is stream, for whatever the frames go to. ctx ends when the client goes.
func (s *Server) write(ctx context.Context, out *frames, from *relay) error {
	s.count.followers.Add(1)
	defer s.count.followers.Add(-1)
	if !out.begun && from != nil && s.runs(out.f.turn) {
		// Its next event may take minutes, and the client wants to know that it is
		// followed.
		out.begin()
		out.flush()
	}
	err := s.pump(ctx, out, from)
	if out.f.cancels && (ctx.Err() != nil || out.err != nil) && s.streams.Err() == nil {
		s.cancelUnread(ctx, out.f.turn)
	}
	if errors.Is(out.err, errStalled) { // first: net/http takes it for a client that went away
		s.count.stalled.Add(1)
		return errStalled
	}
	if ctx.Err() != nil || out.err != nil {
		return nil // it went away, which is its right
	}
	if err != nil && !out.begun {
		return err
	}
	return out.end(err)
}

// pump writes what the relay has, as long as there is one, and what the engine
// has wherever the follower is further behind than that.
func (s *Server) pump(ctx context.Context, out *frames, from *relay) error {
	at := out.f.after
	if out.f.fromStart {
		at = 0
	}
	for from != nil && !out.over {
		beat := s.beat.wait()
		h := from.after(at)
		switch {
		case h.behind:
			var err error
			if at, err = s.catchUp(ctx, out, at, from); err != nil {
				return err
			}
			continue
		case len(h.events) > 0:
			out.show(h.events)
			at = h.events[len(h.events)-1].Seq
			if out.err != nil || s.streams.Err() != nil {
				return cmp.Or(out.err, errStopping)
			}
			continue
		case h.done:
			from = nil
			continue
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.streams.Done():
			return errStopping
		case <-h.news:
		case <-beat:
			out.keepAlive()
		}
		if out.err != nil {
			return out.err
		}
	}
	if out.over {
		return nil
	}
	_, err := s.catchUp(ctx, out, at, nil) // it has ended: the rest, if there is one
	return err
}

// catchUp writes what the engine has, as far as to where the relay goes on. Each
// event is written before the next one is read.
func (s *Server) catchUp(ctx context.Context, out *frames, at event.Seq, to *relay) (event.Seq, error) {
	for e, err := range s.eng.Follow(ctx, out.f.turn, at) {
		if err != nil {
			return at, err
		}
		at = e.Seq
		out.show([]*shared{{Event: e}})
		switch {
		case out.err != nil:
			return at, out.err
		case s.streams.Err() != nil:
			return at, errStopping
		case out.over, to != nil && to.has(at):
			return at, nil
		}
	}
	return at, nil
}

func (s *Server) unencoded(turn store.TurnID, err error) {
	s.log.Error("an event can't be encoded", "turn", string(turn), "error", clean(err.Error()))
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
func chatStream(turn store.TurnID, after event.Seq, long bool) following {
	return following{
		turn: turn, after: after, approvals: true, header: headerOf(dialect.Chat), long: long,
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
func resumeFrom(r *http.Request) (turn store.TurnID, after event.Seq, err error) {
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
		turn, text = store.TurnID(id), rest
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
