package serve

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
)

// Logger writes the log to standard error: in lines for people where one looks at
// it, unless another form was asked for.
func Logger(rt *workbench.Runtime, format string) *slog.Logger {
	switch {
	case format == "json":
		return slog.New(slog.NewJSONHandler(rt.Streams.Err, nil))
	case format == "off":
		return slog.New(slog.DiscardHandler)
	case format == "auto" && rt.Streams.Err.IsTerminal():
		return slog.New(&screenLog{out: rt.Streams.Err})
	}
	return slog.New(slog.NewTextHandler(rt.Streams.Err, nil))
}

// screenLog writes one line a record: the time of day, what happened, and of a
// request what a person looks for. Its id is there where it failed.
type screenLog struct {
	out   *term.Output
	attrs []slog.Attr
}

// Enabled leaves out what is for those who look for faults of fettle itself.
func (*screenLog) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

// WithAttrs adds attributes to all that is written.
func (s *screenLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &screenLog{s.out, append(s.attrs[:len(s.attrs):len(s.attrs)], attrs...)}
}

// WithGroup has no use here: nothing that is logged has groups.
func (s *screenLog) WithGroup(string) slog.Handler { return s }

// Handle writes a record.
func (s *screenLog) Handle(_ context.Context, r slog.Record) error {
	attrs := s.attrs[:len(s.attrs):len(s.attrs)]
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, a)
		return true
	})
	text := r.Message
	switch r.Message {
	case "serving":
		return nil // which the command has said
	case "request":
		text = requestLine(attrs, r.Level)
	default:
		for _, a := range attrs {
			// Ids are for those who look for what went wrong.
			if r.Level > slog.LevelInfo || a.Key != "request_id" && a.Key != "turn" {
				text += fmt.Sprintf("  %s %s", strings.ReplaceAll(a.Key, "_", " "), a.Value)
			}
		}
	}
	style := s.out.Style()
	text = term.Clean(text)
	switch {
	case r.Level >= slog.LevelError:
		text = style.Red(text)
	case r.Level >= slog.LevelWarn:
		text = style.Yellow(text)
	}
	_, err := fmt.Fprintf(s.out, "%s  %s\n", style.Dim(r.Time.Format("15:04:05")), text)
	return err
}

// requestLine is what a person wants to know of a request.
func requestLine(attrs []slog.Attr, level slog.Level) string {
	of := map[string]string{}
	for _, a := range attrs {
		of[a.Key] = a.Value.String()
	}
	line := fmt.Sprintf("%s %s  %s  %s ms", of["method"], of["op"], of["status"], of["duration_ms"])
	if said := cmp.Or(of["error"], of["code"]); said != "" {
		line += "  " + said
	}
	if of["cause"] != "" {
		line += ": " + of["cause"]
	}
	if level > slog.LevelInfo {
		line += "  id " + of["request_id"]
	}
	return line
}
