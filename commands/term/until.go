package term

import (
	"bytes"
	"context"
	"io"
)

// Until returns a writer to o whose writes end with ctx, also while the reader of a
// pipe reads nothing: for a long result, whose command has to clean up when it is
// cancelled. o must not be a terminal.
//
// A write that ctx has ended continues in its goroutine until the reader closes the
// pipe or the program ends: the system cannot cancel it.
func (o *Output) Until(ctx context.Context) io.Writer { return &until{ctx: ctx, o: o} }

type until struct {
	ctx context.Context
	o   *Output
}

// Write writes p in one write.
func (u *until) Write(p []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	p = bytes.Clone(p) // the caller may use its buffer again
	go func() {
		n, err := u.o.w.Write(p)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		u.o.screen.mu.Lock()
		defer u.o.screen.mu.Unlock()
		return r.n, u.o.keep(r.err)
	case <-u.ctx.Done():
		return 0, context.Cause(u.ctx)
	}
}
