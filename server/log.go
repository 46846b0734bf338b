package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/fettle-cli/fettle/engine/fault"
)

// finish is told of every request when it ends: a panic of a handler becomes an
// answer, and log and counters hear of it. Nothing of a request is logged that
// may be a secret or a person's: no token, no query, no body, and of the path
// only which route has it.
func (s *Server) finish(w *recorder, r *http.Request, st *state) {
	if p := recover(); p != nil {
		s.failed(w, r, &panicked{p, debug.Stack()})
	}
	if st.taken {
		return // its line tells of it
	}
	st.method = r.Method
	s.tell(r.Context(), st, w.status, w.bytes)
}

// panicked is what a handler that panicked ended with, and where.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// maxStack bounds what the log has of a stack: its begin, where the mistake is.
const maxStack = 8 << 10

// tell has log and counters hear of a request that has ended.
func (s *Server) tell(ctx context.Context, st *state, status int, size int64) {
	took := s.now().Sub(st.begun)
	s.count.request(st.route, status, took)
	attrs := append(requestAttrs(st), slog.Int("status", status), slog.Int64("bytes", size),
		slog.Int64("duration_ms", took.Milliseconds()))
	s.log.LogAttrs(ctx, levelOf(status), "request", attrs...)
}

func levelOf(status int) slog.Level {
	switch {
	case status >= http.StatusInternalServerError:
		return slog.LevelError
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusTooManyRequests:
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// requestAttrs tell which request it was. What went wrong with it is told in words
// where that is the server's own trouble, or the gate's; else by its kind.
func requestAttrs(st *state) []slog.Attr {
	op := "none"
	if st.route != nil {
		op = st.route.op
	}
	attrs := []slog.Attr{slog.String("request_id", st.id), slog.String("method", clean(st.method)), slog.String("op", op)}
	err := st.err
	if err == nil {
		return attrs
	}
	status, body := explain(err)
	attrs = append(attrs, slog.String("code", body.Code))
	var r *refusal
	if status < http.StatusInternalServerError && (levelOf(status) < slog.LevelWarn || !errors.As(err, &r)) {
		return attrs // the words are the client's own: they quote what it sent
	}
	var f *fault.Fault
	attrs = append(attrs, slog.String("error", clean(err.Error())))
	if p := (*panicked)(nil); errors.As(err, &p) { // of this program's own words
		attrs = append(attrs, slog.String("stack", string(p.stack[:min(len(p.stack), maxStack)])))
	}
	if errors.As(err, &f) && f.Err != nil {
		attrs = append(attrs, slog.String("cause", clean(f.Err.Error())))
	}
	return attrs
}
