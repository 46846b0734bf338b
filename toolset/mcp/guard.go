package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

const (
	// maxMessage bounds one message: the largest result that events can hold,
	// with the overhead of base64 and JSON.
	maxMessage = 12 << 20
	// messageBurst and messageRate bound how many messages come in: a burst of
	// progress is fine, more of it all the time than anybody could show is not.
	messageBurst = 2_000
	messageRate  = 100
	// byteBurst and byteRate bound how much comes in.
	byteBurst = 64 << 20
	byteRate  = 8 << 20
)

// FloodError says that a server sent more than anybody could read.
type FloodError struct{ What string }

// Error says of what it was too much.
func (e *FloodError) Error() string { return "it floods: " + e.What }

// meter is a bucket that fills with time: what takes more than is in it floods.
type meter struct {
	mu          sync.Mutex
	left        float64
	burst, rate float64
	last        time.Time
}

func newMeter(burst, rate float64) *meter { return &meter{left: burst, burst: burst, rate: rate} }

// take tells whether n more are within bounds.
func (m *meter) take(n int, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.last.IsZero() {
		m.left = min(m.burst, m.left+now.Sub(m.last).Seconds()*m.rate)
	}
	m.last = now
	m.left -= float64(n)
	return m.left >= 0
}

// guard holds the bounds of one connection, and the first breach of them.
type guard struct {
	messages, bytes *meter
	now             func() time.Time
	trip            func()        // ends the connection; called once
	patience        time.Duration // with a server that doesn't read

	mu     sync.Mutex
	breach error
}

func newGuard(trip func()) *guard {
	return &guard{messages: newMeter(messageBurst, messageRate), bytes: newMeter(byteBurst, byteRate), now: time.Now, trip: trip}
}

// message counts one message.
func (g *guard) message() error {
	if g.messages.take(1, g.now()) {
		return nil
	}
	return g.broken(&FloodError{fmt.Sprintf("more than %d messages a second", messageRate)})
}

// read counts bytes.
func (g *guard) read(n int) error {
	if g.bytes.take(n, g.now()) {
		return nil
	}
	return g.broken(&FloodError{fmt.Sprintf("more than %d MB a second", byteRate>>20)})
}

// broken notes a breach, and ends the connection.
func (g *guard) broken(err error) error {
	g.mu.Lock()
	first := g.breach == nil
	if first {
		g.breach = err
	}
	g.mu.Unlock()
	if first && g.trip != nil {
		g.trip()
	}
	return err
}

// cause is the breach, if there was one.
func (g *guard) cause() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.breach
}

// lines passes on the messages that a server writes to its standard output. Lines that
// are not messages, such as banners and logs, are skipped: the rate of bytes bounds them.
type lines struct {
	in    *bufio.Reader
	from  io.Closer
	guard *guard
	rest  []byte // of the lines that are being passed on
	log   func(...string)
}

func newLines(from io.ReadCloser, g *guard, log func(...string)) *lines {
	return &lines{in: bufio.NewReaderSize(from, 64<<10), from: from, guard: g, log: log}
}

// Read reads bytes of messages alone.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.line()
		if err != nil {
			return 0, err
		}
		messages, notes := decodable(line)
		l.log(notes...)
		for _, m := range messages {
			l.rest = append(append(l.rest, m...), '\n')
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// maxSkipped is how many notes on skipped texts of one connection are logged.
const maxSkipped = 200

// skipLog returns what logs the texts of a connection that are skipped.
func skipLog(log func(string)) func(...string) {
	var logged atomic.Int64
	return func(notes ...string) {
		for _, note := range notes {
			switch n := logged.Add(1); {
			case n < maxSkipped:
				log(note)
			case n == maxSkipped:
				log("it writes more that is not a message; the rest is not logged")
			}
		}
	}
}

// line reads one line, within the bound of a message. A longer one is skipped where it
// cannot be a message.
func (l *lines) line() ([]byte, error) {
	var out []byte
	skipped := false
	for {
		part, err := l.in.ReadSlice('\n')
		if counted := l.guard.read(len(part)); counted != nil {
			return nil, counted
		}
		if !skipped {
			out = append(out, part...)
		}
		if len(out) > maxMessage {
			if start := bytes.TrimSpace(bytes.TrimPrefix(out[:min(len(out), maxTitle)], bom)); len(start) > 0 && (start[0] == '{' || start[0] == '[') {
				return nil, l.guard.broken(&FloodError{fmt.Sprintf("a message of more than %d MB", maxMessage>>20)})
			}
			out, skipped = out[:maxLogLine], true
		}
		switch {
		case err == nil || errors.Is(err, io.EOF) && len(out) > 0:
			return out, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// Close closes what it reads.
func (l *lines) Close() error { return l.from.Close() }

// maxLogLine bounds one line of a server's log.
const maxLogLine = 2000

// plain returns a server's text as one line, and bounds it.
func plain(text string, most int) string { return sanitize.Cut(sanitize.Line(text), most) }

// visible removes what hides or reorders a part of a server's text, and bounds it.
func visible(text string, most int) string { return sanitize.Cut(sanitize.Text(text), most) }
