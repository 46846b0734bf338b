package server

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/fettle-cli/fettle/engine"
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
	// endTime bounds the rest: turns that are ended get to write their end, and
	// answers to be taken.
	endTime = 10 * time.Second
)

// RunOptions are how a server runs.
type RunOptions struct {
	// Certificate is set where clients speak TLS.
	Certificate *tls.Certificate
	// Drain is how long live turns get to end; less than 0 is not at all, 0 is
	// DrainTime.
	Drain time.Duration
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

// Run serves until ctx ends, then lets turns end, and closes the engine: a turn
// that is not done by then ends as interrupted, which its followers still see. It
// returns at the latest endTime after Drain.
func (s *Server) Run(ctx context.Context, l *Listening, o RunOptions) (err error) {
	defer func() { err = errors.Join(err, l.Close()) }()
	err = s.store.Open(ctx)
	if err == nil {
		_, err = s.store.Fold(ctx, engine.FoldAll)
	}
	if err != nil {
		return errors.Join(err, s.store.Close())
	}
	l.name(s.gate)
	if err := l.apart(s.gate); err != nil {
		return errors.Join(err, s.store.Close())
	}
	s.artifacts.at(l.artifactOrigin)
	s.forwards.at(l.artifactOrigin)
	s.address = l.URL()
	if err := s.note(l); err != nil {
		return errors.Join(err, s.store.Close())
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
	err = errors.Join(err, s.drain(o.Drain, main, pages))
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
			s.artifacts.sweep()
			if _, err := s.store.Fold(ctx, foldTime); err != nil && ctx.Err() == nil {
				s.log.Error("journals of other processes can't be taken into the store", "error", clean(err.Error()))
			}
		}
	}
}

// drain ends the server: nothing new, then the turns, then the followers.
func (s *Server) drain(most time.Duration, servers ...*http.Server) error {
	if most == 0 {
		most = DrainTime
	}
	s.draining.Store(true)
	ids, _, _ := s.live.all()
	s.log.Info("ending", "live_turns", len(ids), "drain_seconds", most.Seconds())
	ctx, cancel := context.WithTimeout(context.Background(), max(most, 0)+endTime)
	defer cancel()
	if left := s.waitTurns(ctx, max(most, 0)); left > 0 {
		s.log.Warn("turns are interrupted", "turns", left)
	}
	if s.mcp != nil {
		s.mcp.Close()
	}
	closed := make(chan error, 1)
	go func() { closed <- s.store.Close() }() // followers see the ends of turns meanwhile
	s.watching.Wait()
	end, stop := context.WithTimeout(context.Background(), endTime)
	defer stop()
	var errs []error
	// Answers that are being written get their time; followers end with their
	// turns, and those that take nothing are cut off.
	early := time.AfterFunc(followersTime, s.endStreams)
	for _, h := range servers {
		if err := h.Shutdown(end); err != nil {
			errs = append(errs, h.Close())
		}
	}
	s.lines.wait(end)
	early.Stop()
	s.endStreams()
	s.uploading.Wait()
	errs = append(errs, <-closed)
	s.log.Info("ended")
	return errors.Join(errs...)
}

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
