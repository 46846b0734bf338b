package input

import (
	"context"
	"io"
	"time"
)

// asyncReader reads in a goroutine of its own: the way where a read can't be
// waited for with anything else, on Windows. If the context ends, or the
// reader is closed before the end of its file, the goroutine stays in its last
// read until that returns or the process ends; what it read then is dropped.
type asyncReader struct {
	chunks chan chunk
	left   []byte        // of the last chunk
	err    error         // of the last chunk
	done   chan struct{} // closed by close
	ended  chan struct{} // closed by the goroutine
}

type chunk struct {
	data []byte
	err  error
}

func newAsyncReader(f io.Reader) *asyncReader {
	r := &asyncReader{chunks: make(chan chunk), done: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		for {
			buf := make([]byte, firstRead)
			n, err := f.Read(buf)
			select {
			case r.chunks <- chunk{buf[:n], err}:
			case <-r.done:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return r
}

func (r *asyncReader) read(ctx context.Context, buf []byte, patience time.Duration) (int, error) {
	var silence <-chan time.Time
	if patience >= 0 {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		silence = timer.C
	}
	for len(r.left) == 0 && r.err == nil {
		select {
		case c := <-r.chunks:
			r.left, r.err = c.data, c.err
		case <-silence:
			return 0, errSilent
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
	n := copy(buf, r.left)
	r.left = r.left[n:]
	if n > 0 {
		return n, nil
	}
	return 0, r.err
}

// close lets the goroutine go; it waits for it only where it is sure to end.
func (r *asyncReader) close() {
	close(r.done)
	if r.err != nil {
		<-r.ended
	}
}
