package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox/supervisor"
)

const (
	// dialTime bounds one connection to a port: the supervisor's own bound, and some
	// that wait before it.
	dialTime = 5 * time.Second
	// holdTime bounds the wait until a supervisor has stopped its processes; its own
	// patience is less.
	holdTime = 2 * time.Second
)

// ports are the connections into a process's network that are being made, and how
// often it is held.
type ports struct {
	mu      sync.Mutex
	last    uint64
	waiting map[uint64]chan dialed

	holding sync.Mutex // one talk with the keeper about it at a time
	holds   int
	answers chan struct{}
}

// dialed is what came of one.
type dialed struct {
	conn net.Conn
	err  error
}

var _ toolset.Reacher = (*process)(nil)

// OwnNetwork tells whether it is alone in its network.
func (p *process) OwnNetwork() bool {
	return p.level == toolset.LevelFull && p.policy.Network != toolset.NetworkAll
}

// DialPort connects to a port that the process listens on.
func (p *process) DialPort(ctx context.Context, port int) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	if p.OwnNetwork() {
		return p.dialInside(ctx, port)
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if errors.Is(err, syscall.ECONNREFUSED) {
		err = fmt.Errorf("connect to port %d of the sandbox: %w", port, toolset.ErrNotListening)
	}
	return conn, err
}

// dialInside has the supervisor make the connection, which is in the network.
func (p *process) dialInside(ctx context.Context, port int) (net.Conn, error) {
	id, answer := p.ports.expect()
	defer p.ports.forget(id)
	if err := supervisor.Send(p.control, supervisor.Order{Dial: &supervisor.Dial{ID: id, Port: port}}); err != nil {
		return nil, fmt.Errorf("connect to port %d of the sandbox: %w", port, err)
	}
	select {
	case d := <-answer:
		if d.err != nil {
			return nil, fmt.Errorf("connect to port %d of the sandbox: %w", port, d.err)
		}
		return d.conn, nil
	case <-p.over:
		return nil, fmt.Errorf("connect to port %d of the sandbox: it has ended", port)
	case <-ctx.Done():
		return nil, fmt.Errorf("connect to port %d of the sandbox: %w", port, context.Cause(ctx))
	}
}

func (c *ports) expect() (uint64, <-chan dialed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting == nil {
		c.waiting = map[uint64]chan dialed{}
	}
	c.last++
	answer := make(chan dialed, 1)
	c.waiting[c.last] = answer
	return c.last, answer
}

// forget gives up on an answer; a connection that came after all is closed.
func (c *ports) forget(id uint64) {
	c.mu.Lock()
	answer := c.waiting[id]
	delete(c.waiting, id)
	c.mu.Unlock()
	if answer == nil {
		return
	}
	select {
	case d := <-answer:
		if d.conn != nil {
			d.conn.Close()
		}
	default:
	}
}

// dialed takes the supervisor's answer. Each that is no error has one socket with it,
// and they come in order.
func (p *process) dialed(d supervisor.Dial) {
	var out dialed
	switch {
	case d.Refused:
		out.err = toolset.ErrNotListening
	case d.Error != "":
		out.err = errors.New(d.Error)
	default:
		out = p.received()
	}
	p.ports.mu.Lock()
	answer := p.ports.waiting[d.ID]
	delete(p.ports.waiting, d.ID)
	p.ports.mu.Unlock()
	if answer == nil {
		if out.conn != nil {
			out.conn.Close()
		}
		return
	}
	answer <- out // it has room for this one
}

// received is the connection whose socket came along.
func (p *process) received() (out dialed) {
	f := p.control.file()
	if f == nil {
		return dialed{err: errors.New("the socket didn't come along")}
	}
	out.conn, out.err = net.FileConn(f)
	f.Close() // the connection has its own
	return out
}

// Hold stops all that the supervisor keeps. Several may hold at once; the last release
// lets it go on.
func (p *process) Hold(ctx context.Context) (release func()) {
	if !canHold {
		return func() {}
	}
	p.ports.hold(ctx, p, 1)
	var once sync.Once
	return func() { once.Do(func() { p.ports.hold(context.Background(), p, -1) }) }
}

// hold counts who holds, and tells the supervisor of the first and of the last.
func (c *ports) hold(ctx context.Context, p *process, by int) {
	c.holding.Lock()
	defer c.holding.Unlock()
	before := c.holds
	c.holds += by
	if (before > 0) == (c.holds > 0) {
		return
	}
	c.mu.Lock()
	c.answers = make(chan struct{}, 1)
	answer := c.answers
	c.mu.Unlock()
	on := c.holds > 0
	if supervisor.Send(p.control, supervisor.Order{Hold: &on}) != nil {
		return // it has ended
	}
	timer := time.NewTimer(holdTime)
	defer timer.Stop()
	select {
	case <-answer:
	case <-p.over:
	case <-ctx.Done():
	case <-timer.C:
	}
}

// held takes the supervisor's answer to a hold.
func (p *process) held() {
	p.ports.mu.Lock()
	defer p.ports.mu.Unlock()
	select {
	case p.ports.answers <- struct{}{}:
	default: // nobody waits for it any more, or nobody asked
	}
}
