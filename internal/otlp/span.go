package otlp

import (
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// Kind tells on which side of a call a span is.
type Kind int

// The kinds that OTLP numbers so.
const (
	Internal Kind = 1
	Server   Kind = 2
	Client   Kind = 3
)

// maxAttrs bounds the attributes of a span, maxText the bytes of a name and of
// each value: what a span says is short, whatever it was made of.
const (
	maxAttrs = 64
	maxText  = 1 << 10
)

// Parent is the span of another program that one of ours is within.
type Parent struct {
	trace   [16]byte
	span    [8]byte
	sampled bool
}

// ParseParent reads W3C's traceparent; ok is false where it is none.
func ParseParent(s string) (p Parent, ok bool) {
	parts := strings.Split(s, "-")
	// A later version may add parts.
	if len(parts) < 4 || len(parts[0]) != 2 || len(parts[3]) != 2 || parts[0] == "ff" || parts[0] == "00" && len(parts) != 4 {
		return Parent{}, false
	}
	var version, flags [1]byte
	ok = fromHex(version[:], parts[0]) && fromHex(p.trace[:], parts[1]) && fromHex(p.span[:], parts[2]) && fromHex(flags[:], parts[3])
	if !ok || p.trace == [16]byte{} || p.span == [8]byte{} {
		return Parent{}, false
	}
	p.sampled = flags[0]&1 != 0
	return p, true
}

// fromHex fills dst from lower-case digits, just as many as it has room for.
func fromHex(dst []byte, s string) bool {
	if len(s) != 2*len(dst) || strings.ToLower(s) != s {
		return false
	}
	_, err := hex.Decode(dst, []byte(s))
	return err == nil
}

// Start is how a span begins.
type Start struct {
	Name string
	Kind Kind
	// At is when it began; zero is now.
	At    time.Time
	Attrs []slog.Attr
}

// record is a span as it is sent.
type record struct {
	trace        [16]byte
	id, parent   [8]byte
	name         string
	kind         Kind
	begun, ended time.Time
	attrs        []slog.Attr
	failed       bool
}

// Span is something that takes time, until End.
type Span struct {
	e    *Exporter
	mu   sync.Mutex
	done bool
	r    record
}

// Begin begins a span within parent, or the first one of a trace where that is
// zero. It is nil where the parent's program records none.
func (e *Exporter) Begin(s Start, parent Parent) *Span {
	if parent != (Parent{}) && !parent.sampled {
		return nil
	}
	if parent == (Parent{}) {
		_, _ = rand.Read(parent.trace[:]) // it never fails
	}
	return e.begin(s, parent)
}

func (e *Exporter) begin(s Start, parent Parent) *Span {
	if s.At.IsZero() {
		s.At = e.o.Now()
	}
	span := &Span{e: e, r: record{trace: parent.trace, parent: parent.span, name: clip(s.Name), kind: s.Kind, begun: s.At}}
	_, _ = rand.Read(span.r.id[:]) // it never fails
	span.Set(s.Attrs...)
	return span
}

// Begin begins a span within this one.
func (s *Span) Begin(start Start) *Span {
	if s == nil {
		return nil
	}
	return s.e.begin(start, Parent{trace: s.r.trace, span: s.r.id})
}

// Set adds attributes, until the end. Of two of one name the later counts.
func (s *Span) Set(attrs ...slog.Attr) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range attrs {
		if !s.done {
			s.set(a)
		}
	}
}

func (s *Span) set(a slog.Attr) {
	for i := range s.r.attrs {
		if s.r.attrs[i].Key == a.Key {
			s.r.attrs[i] = a
			return
		}
	}
	if a.Key != "" && len(s.r.attrs) < maxAttrs {
		s.r.attrs = append(s.r.attrs, a)
	}
}

// End ends the span. failed is the kind of a failure, as error.type; empty is none.
// Only the first End counts.
func (s *Span) End(failed string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		return
	}
	s.done = true
	if failed != "" {
		s.r.failed = true
		s.set(slog.String("error.type", failed))
	}
	s.r.ended = s.e.o.Now()
	s.e.add(s.r)
}

// clip bounds a text, and makes it what OTLP takes for one.
func clip(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxText)], "")
}
