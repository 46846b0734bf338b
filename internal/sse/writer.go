package sse

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Writer writes events to a stream. Each method is one Write to the
// underlying writer, which flushes as its owner sees fit.
type Writer struct {
	dst io.Writer
	buf []byte
}

// NewWriter makes a Writer to dst.
func NewWriter(dst io.Writer) *Writer { return &Writer{dst: dst} }

// Event writes one event. Its Data may have several lines; a name or an id
// that would break the stream is an error and writes nothing.
func (w *Writer) Event(e Event) error {
	buf, err := Append(w.buf[:0], e)
	if err != nil {
		return err
	}
	w.buf = buf
	_, err = w.dst.Write(buf)
	return err
}

// Ping writes a keep-alive comment. No blank line follows it: some clients
// decode an empty event from one.
func (w *Writer) Ping() error {
	_, err := io.WriteString(w.dst, ": ping\n")
	return err
}

// Retry asks the client to wait so long before it reconnects.
func (w *Writer) Retry(d time.Duration) error {
	_, err := io.WriteString(w.dst, "retry: "+strconv.FormatInt(d.Milliseconds(), 10)+"\n\n")
	return err
}

// Append appends one event to dst, for writers that send several at once. A
// name of "message" is left out, being what a nameless event has. An error
// leaves dst as it was.
func Append(dst []byte, e Event) ([]byte, error) {
	if strings.ContainsAny(e.Name, "\r\n") {
		return dst, fmt.Errorf("write event %q: its name has a line break", e.Name)
	}
	if e.HasID && strings.ContainsAny(e.ID, "\r\n\x00") {
		return dst, fmt.Errorf("write event %q: its id has a line break or a NUL", e.Name)
	}
	if e.HasID {
		dst = append(append(append(dst, "id: "...), e.ID...), '\n')
	}
	if e.Name != "" && e.Name != "message" {
		dst = append(append(append(dst, "event: "...), e.Name...), '\n')
	}
	data := e.Data
	for {
		n := bytes.IndexAny(data, "\r\n")
		if n < 0 {
			break
		}
		dst = append(append(append(dst, "data: "...), data[:n]...), '\n')
		if data[n] == '\r' && n+1 < len(data) && data[n+1] == '\n' {
			n++
		}
		data = data[n+1:]
	}
	dst = append(append(append(dst, "data: "...), data...), '\n', '\n')
	return dst, nil
}
