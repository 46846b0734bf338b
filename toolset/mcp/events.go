package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// decodableBody makes the body of an answer decodable; see [decodable].
func (b *bounded) decodableBody(resp *http.Response) {
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return
	}
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	switch strings.TrimSpace(strings.ToLower(kind)) {
	case "text/event-stream":
		resp.Body = &filtered{from: resp.Body, next: (&events{in: bufio.NewReader(resp.Body), guard: b.guard, log: b.conn.skipped}).next}
	case "application/json":
		from := resp.Body
		read := false
		resp.Body = &filtered{from: from, next: func() ([]byte, error) {
			if read {
				return nil, io.EOF
			}
			read = true
			text, err := io.ReadAll(from)
			if err != nil {
				return nil, err
			}
			if messages, notes := decodable(text); len(messages) == 1 {
				b.conn.skipped(notes...)
				return messages[0], nil
			}
			return bytes.TrimPrefix(text, bom), nil // not a message: the reader of the answer decides
		}}
		resp.ContentLength = -1
		resp.Header.Del("Content-Length")
	}
}

// filtered is a body that comes in pieces.
type filtered struct {
	from io.Closer
	next func() ([]byte, error)
	rest []byte
	err  error
}

// Read reads from the current piece, or from the next one.
func (f *filtered) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		f.rest, f.err = f.next()
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// Close closes the body.
func (f *filtered) Close() error { return f.from.Close() }

// events makes the messages in a stream of server-sent events decodable.
type events struct {
	in    *bufio.Reader
	guard *guard
	log   func(...string)
	begun bool
}

// next returns the next event with its blank line.
func (e *events) next() ([]byte, error) {
	var whole, fields, data []byte
	name, hasData := "", false
	for {
		line, err := e.line()
		if !e.begun {
			line, e.begun = bytes.TrimPrefix(line, bom), true
		}
		if whole = append(whole, line...); len(whole) > maxMessage {
			return nil, e.guard.broken(&FloodError{fmt.Sprintf("a message of more than %d MB", maxMessage>>20)})
		}
		text := bytes.TrimRight(line, "\r\n")
		switch value, isData := bytes.CutPrefix(text, []byte("data:")); {
		case isData:
			if hasData {
				data = append(data, '\n')
			}
			data, hasData = append(data, bytes.TrimPrefix(value, []byte(" "))...), true
		default:
			if value, ok := bytes.CutPrefix(text, []byte("event:")); ok {
				name = string(bytes.TrimSpace(value))
			}
			if len(text) > 0 {
				fields = append(append(fields, text...), '\n')
			}
		}
		if err != nil {
			return whole, err // an event without its end
		}
		if len(text) == 0 {
			if len(data) == 0 || name != "" && name != "message" {
				return whole, nil
			}
			return e.message(fields, data), nil
		}
	}
}

// message returns the event of a message, and nothing for data that is not a message: its
// id, without which the stream could not be resumed, stays.
func (e *events) message(fields, data []byte) []byte {
	messages, notes := decodable(data)
	e.log(notes...)
	var out []byte
	for _, m := range messages {
		out = append(append(append(append(out, fields...), "data: "...), m...), "\n\n"...)
	}
	if len(messages) == 0 {
		out = append(append(out, fields...), '\n')
	}
	return out
}

// line reads one line with its end.
func (e *events) line() ([]byte, error) {
	var out []byte
	for {
		part, err := e.in.ReadSlice('\n')
		if out = append(out, part...); len(out) > maxMessage || !errors.Is(err, bufio.ErrBufferFull) {
			return out, err
		}
	}
}
