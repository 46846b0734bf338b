package acp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"sync"
)

// errGone is why a request of ours has no answer.
var errGone = errors.New("the editor is gone")

// conn writes messages, and waits for the answers to requests of ours. It is safe
// for concurrent use.
type conn struct {
	log *slog.Logger

	write sync.Mutex
	out   io.Writer
	// broken is closed when the editor can't be written to.
	broken chan struct{}
	err    error

	mu      sync.Mutex
	last    int64
	waiting map[string]chan *message // nil once nobody answers any more
}

func newConn(out io.Writer, log *slog.Logger) *conn {
	return &conn{log: log, out: out, broken: make(chan struct{}), waiting: map[string]chan *message{}}
}

// send writes one message, whole. What can't be written is known to broken.
func (c *conn) send(m outgoing) {
	line, err := encode(m)
	if err != nil { // what is sent is made here, and raw JSON in it was looked at
		c.log.Error("a message can't be written as JSON", "method", m.Method, "error", err.Error())
		if m.ID == nil || m.Method != "" {
			return
		}
		line, _ = encode(outgoing{ID: m.ID, Error: &rpcError{Code: codeInternal, Message: "the answer can't be written as JSON"}})
	}
	c.write.Lock()
	defer c.write.Unlock()
	if c.err != nil {
		return
	}
	if _, c.err = c.out.Write(line); c.err != nil {
		close(c.broken)
	}
}

func (c *conn) notify(method string, params any) { c.send(outgoing{Method: method, Params: params}) }

// respond answers a request of the editor's.
func (c *conn) respond(id json.RawMessage, result any, wrong *rpcError) {
	if wrong != nil {
		result = nil
	}
	c.send(outgoing{ID: id, Result: result, Error: wrong})
}

// call asks the editor for something. A request that ctx ends is withdrawn.
func (c *conn) call(ctx context.Context, method string, params, result any) error {
	c.mu.Lock()
	if c.waiting == nil {
		c.mu.Unlock()
		return errGone
	}
	c.last++
	id := strconv.FormatInt(c.last, 10)
	answer := make(chan *message, 1)
	c.waiting[id] = answer
	c.mu.Unlock()
	c.send(outgoing{ID: json.RawMessage(id), Method: method, Params: params})
	select {
	case m := <-answer:
		if m == nil {
			return errGone
		}
		if m.failed != nil {
			return m.failed
		}
		return json.Unmarshal(m.result, result)
	case <-ctx.Done():
		c.mu.Lock()
		_, open := c.waiting[id]
		delete(c.waiting, id)
		c.mu.Unlock()
		if open {
			c.notify("$/cancel_request", cancelRequest{RequestID: json.RawMessage(id)})
		}
		return context.Cause(ctx)
	}
}

// deliver takes the answer to a request of ours. One that nobody waits for is
// late, or made up.
func (c *conn) deliver(m *message) {
	c.mu.Lock()
	answer, ok := c.waiting[string(m.id)]
	delete(c.waiting, string(m.id))
	c.mu.Unlock()
	if ok {
		answer <- m // buffered, and taken out of the map: never blocks
	}
}

// hangUp ends all waits.
func (c *conn) hangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, answer := range c.waiting {
		answer <- nil
	}
	c.waiting = nil
}
