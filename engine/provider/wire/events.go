package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/sse"
)

// maxWords bounds the text that a server sends in place of an event stream.
const maxWords = 4 << 10

// Event is one event of a response.
type Event struct {
	sse.Event
	// Whole reports that the data came without an event stream around it: a
	// whole completion, an error, or one chunk of several.
	Whole bool
}

// Format is the part of a decoder that knows one wire format.
type Format interface {
	// Take takes one event; done reports that the response has ended.
	Take(dst []provider.Delta, e Event) (_ []provider.Delta, done bool, err error)
	// State reports whether the last events brought a piece of the answer, and
	// whether the finish reason has come.
	State() (progress, finished bool)
}

// EventsOptions are what Events needs to know of a response.
type EventsOptions struct {
	Source Source
	// Page is the question that the error of a web page asks about the address.
	Page string
}

// Events reads the body of a response with status 200 as the events of a
// stream, whatever its Content-Type is. A body that is no event stream is
// judged by its first bytes: each JSON value in it is one event, text is the
// server's error in its own words, and a web page, compressed or binary data
// are errors that name it.
type Events struct {
	o      EventsOptions
	body   opened
	judged bool

	stream *sse.Reader
	values *json.Decoder // where the body is JSON without a stream around it
	list   []json.RawMessage

	any    bool   // an event came
	words  []byte // lines that are no part of an event stream
	failed error  // from a line that is an error
}

// NewEvents makes the reader of a body.
func NewEvents(body io.Reader, o EventsOptions) *Events {
	return &Events{o: o, body: opened{src: body}}
}

// Read passes the events of one network read to a Format.
func (s *Events) Read(dst []provider.Delta, f Format) (Read, error) {
	e, err := s.Next()
	done := false
	for more := err == nil; more && !done && err == nil && s.failed == nil; e, more = s.Buffered() {
		dst, done, err = f.Take(dst, e)
	}
	if err == nil && !done {
		err = s.failed
	}
	got := Read{Deltas: dst, Done: done && err == nil}
	got.Progress, got.Finished = f.State()
	return got, err
}

// Next waits for the next event.
func (s *Events) Next() (Event, error) {
	if !s.judged {
		s.judged = true
		if err := s.judge(); err != nil {
			return Event{}, err
		}
	}
	if s.values != nil {
		return s.value()
	}
	e, err := s.stream.Next()
	switch {
	case err == nil:
		if !s.any {
			s.any, s.words = true, nil
		}
		return Event{Event: e}, nil
	case s.failed != nil:
		return Event{}, s.failed
	case err == io.EOF && len(s.words) > 0 && !s.any:
		return Event{}, s.o.Source.InBody(s.words)
	case err == io.EOF && len(s.words) > 0:
		return Event{}, s.o.Source.InStream(s.words)
	}
	return Event{}, err
}

// Buffered returns the next event if it has been read already.
func (s *Events) Buffered() (Event, bool) {
	if s.stream == nil {
		return Event{}, false
	}
	e, ok := s.stream.Buffered()
	return Event{Event: e}, ok
}

// judge looks at the first bytes of the body.
func (s *Events) judge() error {
	kind, err := s.body.judge(s.o.Page)
	switch {
	case err != nil:
		return err
	case kind == jsonBody:
		s.values = json.NewDecoder(&bounded{src: &s.body, left: MaxBody})
		return nil
	}
	s.stream = sse.NewReader(&s.body, sse.Options{Open: true, Unknown: s.unknown, Whole: wholeChunk})
	return nil
}

// value returns the next JSON value of a body that is no stream.
func (s *Events) value() (Event, error) {
	if len(s.list) == 0 {
		var raw json.RawMessage
		if err := s.values.Decode(&raw); err != nil {
			return Event{}, s.notJSON(err)
		}
		s.any = true
		if raw[0] != '[' || json.Unmarshal(raw, &s.list) != nil || len(s.list) == 0 {
			s.list = []json.RawMessage{raw}
		}
	}
	raw := s.list[0]
	s.list = s.list[1:]
	if raw[0] != '{' {
		return Event{}, s.o.Source.InBody(raw)
	}
	return Event{Event: sse.Event{Name: "message", Data: raw}, Whole: true}, nil
}

// notJSON is the error of a body that begins like JSON and is none, or that
// ends.
func (s *Events) notJSON(err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	rest, _ := io.ReadAll(io.LimitReader(s.values.Buffered(), maxWords))
	if s.any {
		return s.o.Source.InStream(rest)
	}
	return s.o.Source.InBody(rest)
}

// unknown takes a line whose field the standard does not define. Older
// llama.cpp servers report errors in a field of their own, and others write
// their error into the stream as it is.
func (s *Events) unknown(line []byte) {
	name, value, field := bytes.Cut(line, []byte(":"))
	if field && strings.EqualFold(string(name), "error") && s.failed == nil && json.Valid(bytes.TrimSpace(value)) {
		s.failed = s.o.Source.InStream(value)
		return
	}
	text := bytes.TrimSpace(line)
	isField := field && !bytes.ContainsAny(name, " \"{[<") && !strings.EqualFold(string(name), "error")
	if s.any && isField || len(text) == 0 || len(s.words)+len(text) > maxWords {
		return
	}
	if len(s.words) > 0 {
		s.words = append(s.words, '\n')
	}
	s.words = append(s.words, text...)
}

// wholeChunk reports whether data is a whole chunk, so that what follows it is
// another event also where the blank line between them is missing.
func wholeChunk(data []byte) bool {
	data = bytes.TrimSpace(data)
	return string(data) == "[DONE]" || len(data) > 1 && data[0] == '{' && data[len(data)-1] == '}' && json.Valid(data)
}
