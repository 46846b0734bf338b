package server

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"time"
)

// line is the connection of one stream, taken from net/http, which keeps some ten
// kilobytes of buffers for an answer and the stack of all that leads to a handler.
// A stream lasts, and waits most of the time: here it has a small stack, and a
// buffer while it writes. Its answer is the last one on its connection.
//
// It is an http.ResponseWriter for one goroutine, that of its follower. Another one
// reads, to hear that the client went away.
type line struct {
	s    *Server
	conn net.Conn
	st   *state
	head http.Header
	// held is the header of the answer until something is sent.
	held   []byte
	status int
	bytes  int64
	whole  bool // the answer may end as one that is all there
	// bodyless is an answer whose status has no body, and so no chunks.
	bodyless bool
}

// takeLine takes the connection of a request. nil says that the answer has to go
// through net/http: to a client of HTTP/1.0, which knows no chunks, on a server that
// gives no connections away, as of HTTP/2, or while this one ends.
func (s *Server) takeLine(w http.ResponseWriter, r *http.Request) *line {
	if r.ProtoMajor != 1 || r.ProtoMinor < 1 || r.Method == http.MethodHead {
		return nil
	}
	l := &line{s: s, st: stateOf(r), head: w.Header().Clone()}
	if !s.lines.add(l, func() (err error) {
		l.conn, _, err = http.NewResponseController(w).Hijack()
		return err
	}) {
		return nil
	}
	l.st.taken, l.st.method = true, r.Method
	if c := narrowable(l.conn); c != nil {
		_ = c.SetWriteBuffer(streamBuffer) // where it can't be set it is the system's
	}
	return l
}

// Header is that of the answer.
func (l *line) Header() http.Header { return l.head }

// WriteHeader makes the answer's header, which goes with what is written first.
func (l *line) WriteHeader(status int) {
	if l.status != 0 {
		return
	}
	l.status = status
	l.head.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	l.head.Set("Connection", "close")
	if l.bodyless = status == http.StatusNoContent || status == http.StatusNotModified; !l.bodyless {
		l.head.Set("Transfer-Encoding", "chunked")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	_ = l.head.Write(&b) // a buffer takes everything
	b.WriteString("\r\n")
	l.held, l.head = b.Bytes(), nil
}

// Write sends a chunk at once.
func (l *line) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	buf := append(l.s.borrow(), l.held...)
	defer func() { l.s.giveBack(buf) }()
	l.held = nil
	buf = append(strconv.AppendInt(buf, int64(len(p)), 16), "\r\n"...)
	if len(p) > pieceSize { // not worth a copy
		parts := net.Buffers{buf, p, []byte("\r\n")}
		_, err := parts.WriteTo(l.conn)
		return l.wrote(p, err)
	}
	buf = append(append(buf, p...), "\r\n"...)
	_, err := l.conn.Write(buf)
	return l.wrote(p, err)
}

func (l *line) wrote(p []byte, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	l.bytes += int64(len(p))
	return len(p), nil
}

// FlushError sends the header, if nothing took it along.
func (l *line) FlushError() error {
	if l.held == nil {
		return nil
	}
	_, err := l.conn.Write(l.held)
	l.held = nil
	return err
}

// SetWriteDeadline is for the ResponseController.
func (l *line) SetWriteDeadline(at time.Time) error { return l.conn.SetWriteDeadline(at) }

// listen reads until the client goes away, or the line is closed. What it says has
// no place in a stream.
func (l *line) listen(gone context.CancelFunc) {
	defer gone()
	var some [64]byte
	for {
		if _, err := l.conn.Read(some[:]); err != nil {
			return
		}
	}
}

// close ends the answer, and the connection. One that isn't whole has no end.
func (l *line) close() {
	if l.status == 0 { // it failed before anything was said
		l.head.Del("Content-Type")
		l.WriteHeader(http.StatusInternalServerError)
		l.whole = true
	}
	if l.whole {
		end := l.held
		if !l.bodyless {
			end = append(end, "0\r\n\r\n"...)
		}
		_, _ = l.conn.Write(end) // whoever went away misses it
	}
	_ = l.conn.Close()
}

// run writes the stream, and tells of the request when it has ended, like finish
// does of others.
func (l *line) run(f following, from *relay) {
	defer l.s.lines.all.Done()
	defer l.finish()
	ctx, gone := context.WithCancel(context.Background())
	defer gone()
	l.s.lines.all.Go(func() { l.listen(gone) })
	out := &frames{s: l.s, w: l, rc: http.NewResponseController(l), f: f}
	// The turn ran when the connection was taken for it: whether it has ended since is
	// nothing that the answer's kind may hang on.
	out.begin()
	out.flush()
	l.st.err = l.s.write(ctx, out, from)
	l.whole = l.st.err == nil
}

func (l *line) finish() {
	if p := recover(); p != nil {
		l.st.err = &panicked{p, debug.Stack()}
	}
	l.close()
	l.s.lines.remove(l)
	l.s.tell(context.Background(), l.st, l.status, l.bytes)
}

// openLines are those that a server has now.
type openLines struct {
	mu    sync.Mutex
	open  map[*line]struct{}
	ended bool
	// all are the goroutines of lines; none begins once ended is set.
	all sync.WaitGroup
}

// add has take get the connection of a line, unless no more are taken.
func (s *openLines) add(l *line, take func() error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || take() != nil {
		return false
	}
	if s.open == nil {
		s.open = map[*line]struct{}{}
	}
	s.open[l] = struct{}{}
	s.all.Add(1) // the follower's, which begins when the handler says so
	return true
}

func (s *openLines) remove(l *line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, l)
}

// wait returns when all lines are closed; those that are open when ctx ends are
// closed then.
func (s *openLines) wait(ctx context.Context) {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	defer context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for l := range s.open {
			_ = l.conn.Close()
		}
	})()
	s.all.Wait()
}
