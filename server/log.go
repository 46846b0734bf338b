package server

import (
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
		s.failed(w, r, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
	}
	took := s.now().Sub(st.begun)
	s.count.request(st.route, w.status, took)
	level := levelOf(w.status)
	attrs := append(requestAttrs(r, st.err), slog.Int("status", w.status), slog.Int64("bytes", w.bytes),
		slog.Int64("duration_ms", took.Milliseconds()))
	s.log.LogAttrs(r.Context(), level, "request", attrs...)
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

func requestAttrs(r *http.Request, err error) []slog.Attr {
	st := stateOf(r)
	op := "none"
	if st.route != nil {
		op = st.route.op
	}
	attrs := []slog.Attr{slog.String("request_id", st.id), slog.String("method", clean(r.Method)), slog.String("op", op)}
	if err == nil {
		return attrs
	}
	var f *fault.Fault
	attrs = append(attrs, slog.String("error", clean(err.Error())))
	if errors.As(err, &f) && f.Err != nil {
		attrs = append(attrs, slog.String("cause", clean(f.Err.Error())))
	}
	return attrs
}
