package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/server/dialect"
)

const (
	// streamBuffer is what the system holds of a stream that its client doesn't
	// take; without it that is some megabytes for each. It is more than a stream
	// has under way. What comes after it on the connection may be a file, which
	// gets as much as the system gives.
	streamBuffer, fileBuffer = 32 << 10, 1 << 20
	// pieceSize is about how much is written at once; a client that catches up is
	// written many such pieces.
	pieceSize = 32 << 10
	// keptPiece is the largest buffer that is kept for the next one who writes: a
	// single event may have megabytes.
	keptPiece = 2 * pieceSize
)

// frames writes to one client. Only the follower's goroutine uses it. Buffers are
// borrowed for each write: a thousand clients wait at once, and few write.
type frames struct {
	s  *Server
	w  http.ResponseWriter
	rc *http.ResponseController
	f  following

	begun   bool
	busy    bool // something was written since the last look
	over    bool // the stream has ended, whatever the turn does
	renewed time.Time
	err     error
}

// show writes events, in pieces, and sends them once. Those that the client has
// are only told to the encoder.
func (o *frames) show(events []*shared) {
	buf := o.s.borrow()
	defer func() { o.s.giveBack(buf) }()
	shown := int64(0)
	for _, e := range events {
		if e.Seq <= o.f.after {
			o.tell(e)
			continue
		}
		buf = o.frame(buf, e)
		shown++
		if len(buf) >= pieceSize {
			o.write(buf)
			buf = buf[:0]
		}
		if o.over || o.err != nil {
			break
		}
	}
	o.write(buf)
	if shown > 0 {
		o.s.count.events.Add(shown)
	}
	if last := events[len(events)-1]; o.begun && (!last.More || o.over) {
		o.flush()
	}
}

// tell has the encoder know of an event that the client has.
func (o *frames) tell(e *shared) {
	o.over = e.Ends()
	if o.f.enc != nil {
		_, _ = o.f.enc.Append(nil, e.Event) // what can't be encoded was told of when it was shown
	}
}

// frame appends the frames of an event. A large one that is shared is written as
// it is, without a copy.
func (o *frames) frame(dst []byte, e *shared) []byte {
	o.over = e.Ends()
	if o.f.enc != nil {
		longer, err := o.f.enc.Append(dst, e.Event)
		if err != nil {
			o.s.unencoded(o.f.turn, err)
		}
		o.over = o.over || o.f.enc.Paused()
		return longer
	}
	data := e.chat(func(err error) { o.s.unencoded(o.f.turn, err) })
	if data == nil {
		return dst
	}
	dst = dialect.AppendChatID(dst, e.Event, o.f.long)
	if len(data) > pieceSize {
		o.write(dst)
		o.write(data)
		dst = dst[:0]
	} else {
		dst = append(dst, data...)
	}
	if ask, ok := e.Body.(event.ConfirmRequest); ok && o.f.approvals {
		// Clients ignore types that they don't know.
		if a := o.s.ask(o.f.turn, e.Seq, ask); a != nil {
			dst = appendData(dst, approvalOf(a, o.f.turn))
		}
	}
	return dst
}

// end says that a stream stops before its turn, or that there was nothing to
// stream.
func (o *frames) end(err error) error {
	switch {
	case err == nil && !o.begun: // 204 ends an EventSource's reconnecting
		o.w.Header().Set("Content-Type", "text/plain")
		o.w.WriteHeader(http.StatusNoContent)
	case err != nil && o.f.enc != nil: // the chat dialect's clients come back
		o.write(o.f.enc.End(nil))
		o.flush()
	}
	return err
}

// keepAlive is called now and then, and writes where nothing else was written.
func (o *frames) keepAlive() {
	if o.busy {
		o.busy = false
		return
	}
	if o.f.enc != nil {
		o.write(o.f.enc.KeepAlive(nil))
	} else {
		o.write(dialect.AppendChatKeepAlive(nil))
	}
	o.flush()
}

// write hands over what is to be sent, by a deadline: who takes nothing for that
// long is dropped.
func (o *frames) write(p []byte) {
	if len(p) == 0 || o.err != nil {
		return
	}
	o.begin()
	_, err := o.w.Write(p)
	o.fail(err)
}

// flush sends what was written.
func (o *frames) flush() {
	if o.err == nil {
		o.fail(o.rc.Flush())
	}
}

// begin sends the header, before the first frame, and renews the deadline where
// that is worth it.
func (o *frames) begin() {
	o.busy = true
	if now := time.Now(); now.Sub(o.renewed) > o.s.o.StallTime/8 {
		o.renewed = now
		_ = o.rc.SetWriteDeadline(now.Add(o.s.o.StallTime)) // a server that can't has none to set
	}
	if o.begun {
		return
	}
	o.begun = true
	for name, value := range o.f.header {
		o.w.Header().Set(name, value)
	}
	o.w.WriteHeader(http.StatusOK)
	o.f.header = nil
	if len(o.f.opening) > 0 {
		_, err := o.w.Write(o.f.opening)
		o.fail(err)
		o.f.opening = nil
	}
}

func (o *frames) fail(err error) {
	if err == nil {
		return
	}
	o.err = err
	if isTimeout(err) {
		o.err = errStalled
	}
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// borrow gives a buffer to write one piece with.
func (s *Server) borrow() []byte {
	if b, ok := s.pieces.Get().(*[]byte); ok {
		return (*b)[:0]
	}
	return nil
}

func (s *Server) giveBack(b []byte) {
	if cap(b) > 0 && cap(b) <= keptPiece {
		s.pieces.Put(&b)
	}
}

type connKey struct{}

// withConn lets a handler find its connection.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// narrow bounds what the system holds of a stream, until widen is called.
func narrow(r *http.Request) (widen func()) {
	conn, _ := r.Context().Value(connKey{}).(net.Conn)
	c := narrowable(conn)
	if c == nil {
		return func() {}
	}
	_ = c.SetWriteBuffer(streamBuffer) // where it can't be set it is the system's
	return func() { _ = c.SetWriteBuffer(fileBuffer) }
}

type writeBuffered interface{ SetWriteBuffer(int) error }

// narrowable is what has the buffers of a connection; nil where that isn't known.
func narrowable(conn net.Conn) writeBuffered {
	if t, ok := conn.(interface{ NetConn() net.Conn }); ok { // TLS
		conn = t.NetConn()
	}
	c, _ := conn.(writeBuffered)
	return c
}
