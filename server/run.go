package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/fettle-cli/fettle/engine/store"
)

const (
	// foldTime bounds one fold of a server: others may write journals beside it
	// all the time.
	foldTime = 500 * time.Millisecond
	// foldEvery is how often journals of others are looked for, so that a chat
	// of `fettle ask` is in the list soon.
	foldEvery = 2 * time.Second
	// DrainTime is how long live turns get to end when the server is told to.
	DrainTime = 20 * time.Second
	// EndTime bounds the rest: turns that are ended get to write their end, and
	// clients to read their answers. The program has the remaining two of the ten
	// seconds after the drain time for what does not belong to the server.
	EndTime = 8 * time.Second
)

// errLeft is the error for work that did not end in time.
var errLeft = errors.New("the server ended while some of its work had not; the next start marks its turns as interrupted")

// RunOptions are how a server runs.
type RunOptions struct {
	// Certificate is set where clients speak TLS.
	Certificate *tls.Certificate
	// Drain is how long live turns get to end; less than 0 is not at all, 0 is
	// DrainTime.
	Drain time.Duration
	// End is how long everything after Drain may take; 0 is EndTime.
	End time.Duration
	// Ready is called once requests are answered.
	Ready func()
}

// secure has a listener speak TLS, where there is a certificate.
func (o RunOptions) secure(l net.Listener) net.Listener {
	if o.Certificate == nil {
		return l
	}
	return tls.NewListener(l, &tls.Config{
		Certificates: []tls.Certificate{*o.Certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
	})
}

// Run serves until ctx ends, then lets turns end, and closes the engine: a turn that is
// not done by then ends as interrupted, which its followers still see. It returns at
// the latest EndTime after Drain: work that does not end when it is cancelled, such as
// a tool that ignores its context, is left to the end of the process, and the error
// reports it.
func (s *Server) Run(ctx context.Context, l *Listening, o RunOptions) (err error) {
	defer func() { err = errors.Join(err, l.Close()) }()
	err = s.eng.Open(ctx)
	if err == nil {
		_, err = s.eng.Fold(ctx, store.FoldAll)
	}
	if err != nil {
		return errors.Join(err, s.eng.Close())
	}
	l.name(s.gate)
	if err := l.apart(s.gate); err != nil {
		return errors.Join(err, s.eng.Close())
	}
	s.artifacts.SetOrigin(l.artifactOrigin)
	s.forwards.SetOrigin(l.artifactOrigin)
	s.address = l.URL()
	if err := s.note(l); err != nil {
		return errors.Join(err, s.eng.Close())
	}
	defer func() { err = errors.Join(err, removeNote(s.o.DataDir)) }()
	main, pages := s.httpServer(s), s.httpServer(s.artifacts)
	failed := make(chan error, 3)
	running := 0
	serve := func(h *http.Server, on net.Listener) {
		running++
		go func() { failed <- h.Serve(on) }()
	}
	serve(main, o.secure(l.TCP))
	if l.Unix != nil {
		serve(main, l.Unix)
	}
	if l.Artifacts != nil {
		serve(pages, o.secure(l.Artifacts))
	}
	s.log.Info("serving", "address", l.URL(), "pid", os.Getpid(), "version", s.o.Version)
	if l.NoUnix != nil {
		s.log.Warn("there is no Unix socket", "error", clean(l.NoUnix.Error()))
	}
	if o.Ready != nil {
		o.Ready()
	}
	beating := s.beats()
	err = s.until(ctx, failed, &running)
	err = errors.Join(err, s.drain(o, main, pages))
	for range running {
		<-failed
	}
	<-beating
	return err
}

// beats has followers look after their silence until all streams are ended. Twice
// in the time that a stream may be silent, since each looks back to the last beat.
func (s *Server) beats() (ended <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(s.o.KeepAlive / 2)
		defer tick.Stop()
		for {
			select {
			case <-s.streams.Done():
				return
			case <-tick.C:
				s.beat.tick()
			}
		}
	}()
	return done
}

// until folds what others leave until ctx ends or a listener fails.
func (s *Server) until(ctx context.Context, failed <-chan error, running *int) error {
	tick := time.NewTicker(foldEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			*running--
			return err
		case <-tick.C:
			s.artifacts.Sweep()
			if _, err := s.eng.Fold(ctx, foldTime); err != nil && ctx.Err() == nil {
				s.log.Error("journals of other processes can't be taken into the store", "error", clean(err.Error()))
			}
		}
	}
}

// drain ends the server: nothing new, then the turns, then the followers.
func (s *Server) drain(o RunOptions, servers ...*http.Server) error {
	most := max(cmp.Or(o.Drain, DrainTime), 0)
	s.draining.Store(true)
	ids, _, _ := s.live.all()
	s.log.Info("ending", "live_turns", len(ids), "drain_seconds", most.Seconds())
	if left := s.waitTurns(most); left > 0 {
		s.log.Warn("turns are interrupted", "turns", left)
	}
	most = cmp.Or(o.End, EndTime)
	end, stop := context.WithTimeout(context.Background(), most)
	defer stop()
	var errs []error
	ended := func(ctx context.Context, what string, wait func() error) {
		err := within(ctx, wait)
		if errors.Is(err, errLeft) {
			s.log.Error("something does not end, and is left", "what", what)
		}
		errs = append(errs, err)
	}
	mcpEnds := goWait(func() error {
		if s.mcp != nil {
			s.mcp.Close()
		}
		return nil
	})
	closed := goWait(s.eng.Close) // followers see the ends of turns meanwhile
	turns, stopTurns := context.WithTimeout(end, most/2)
	defer stopTurns()
	ended(turns, "turns", func() error { s.watching.Wait(); return nil })
	// Answers that are being written get their time; followers end with their
	// turns, and those that take nothing are cut off.
	early := time.AfterFunc(followersTime, s.endStreams)
	for _, h := range servers {
		if err := h.Shutdown(end); err != nil {
			errs = append(errs, h.Close())
		}
	}
	ended(end, "connections of commands", func() error { s.lines.wait(end); return nil })
	early.Stop()
	s.endStreams()
	ended(end, "sessions of MCP clients", mcpEnds)
	ended(end, "the store", closed)
	ended(end, "uploads", func() error { s.uploading.Wait(); return nil })
	s.log.Info("ended")
	return errors.Join(errs...)
}

// goWait starts f and returns what waits for its end.
func goWait(f func() error) (wait func() error) {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return func() error { return <-done }
}

// within waits for wait to return, and returns errLeft if it does not in time. Then
// its goroutine is left to the end of the process.
func within(ctx context.Context, wait func() error) error {
	done := make(chan error, 1)
	go func() { done <- wait() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(endedTime):
		return errLeft
	}
}

// endedTime is how long a wait gets whose time has passed already: it may be for
// something that ended long ago.
const endedTime = 100 * time.Millisecond

// followersTime is how long followers get to take the end of their turns.
const followersTime = 2 * time.Second

// note says where the server is.
func (s *Server) note(l *Listening) error {
	n := Note{
		SchemaVersion: noteVersion, PID: os.Getpid(), Version: s.o.Version, Address: l.local(), StartedAt: s.now().UTC(),
	}
	if l.Unix != nil {
		n.Socket = l.Unix.Addr().String()
	}
	if l.behind != nil {
		n.URL = l.URL()
	}
	return writeNote(s.o.DataDir, n)
}

// httpServer is net/http's with our limits. Bodies and answers have their own.
func (s *Server) httpServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: timely{h, jsonTime}, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(quietHandler{s.log.Handler()}, slog.LevelDebug),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			ctx = withConn(ctx, c)
			if _, ok := c.(*net.UnixConn); ok {
				return withOwner(ctx)
			}
			return ctx
		},
	}
}

// timely bounds the time in which a body has to come, whoever reads it: one that is
// refused, or that nobody asked for, net/http waits for before it answers, and for
// ever. Handlers of files give theirs more.
type timely struct {
	http.Handler
	most time.Duration
}

// ServeHTTP passes a request on.
func (t timely) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 { // without one, the connection is listened to while it is answered
		rc := http.NewResponseController(w)
		_ = rc.SetReadDeadline(time.Now().Add(t.most)) // a server that can't has none to set
		r.Body = &timelyBody{r.Body, rc}
	}
	t.Handler.ServeHTTP(w, r)
}

// timelyBody takes the time limit away at its end: one that passed while the answer
// is written would end that.
type timelyBody struct {
	io.ReadCloser
	rc *http.ResponseController
}

// Read reads on.
func (b *timelyBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF { //nolint:errorlint // a reader's end is io.EOF itself
		_ = b.rc.SetReadDeadline(time.Time{})
	}
	return n, err
}

// quietHandler keeps net/http's own words at the level that they are given: they
// may quote what a client sent.
type quietHandler struct{ slog.Handler }

// Handle passes a record on without control characters.
func (q quietHandler) Handle(ctx context.Context, r slog.Record) error {
	r.Message = clean(r.Message)
	return q.Handler.Handle(ctx, r)
}
