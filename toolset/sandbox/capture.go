package sandbox

import (
	"sync"

	"github.com/fettle-cli/fettle/toolset"
)

// Capture keeps the beginning and the end of what is written to it, and counts
// the rest: a flood costs no memory. It is safe for concurrent use.
type Capture struct {
	mu    sync.Mutex
	limit int64
	head  []byte
	tail  []byte // a ring once it is full
	at    int    // where the ring begins
	total int64
}

// NewCapture makes one that keeps limit bytes, half from each end; a negative
// limit keeps everything.
func NewCapture(limit int64) *Capture { return &Capture{limit: limit} }

// Write takes everything and never fails.
func (c *Capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	c.total += int64(n)
	if c.limit < 0 {
		c.head = append(c.head, p...)
		return n, nil
	}
	size := int(c.limit / 2)
	first := min(len(p), int(c.limit)-size-len(c.head))
	c.head = append(c.head, p[:first]...)
	p = p[first:]
	if size == 0 {
		return n, nil
	}
	p = p[max(0, len(p)-size):]
	grow := min(len(p), size-len(c.tail))
	c.tail = append(c.tail, p[:grow]...)
	for p = p[grow:]; len(p) > 0; {
		k := copy(c.tail[c.at:], p)
		p, c.at = p[k:], (c.at+k)%size
	}
	return n, nil
}

// Output is what was kept so far.
func (c *Capture) Output() toolset.Output {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := toolset.Output{Head: append([]byte(nil), c.head...), Total: c.total}
	out.Tail = append(append(out.Tail, c.tail[c.at:]...), c.tail[:c.at]...)
	return out
}
