package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/engine/fault"
)

// class is what kind of thing an open file is.
type class int

const (
	none     class = iota // closed, or no descriptor at all
	terminal              // never read
	regular
	stream // a pipe, a FIFO, a socket
	device // such as /dev/null
	folder
)

// source is something to be read to its end.
type source struct {
	name  string // for errors
	limit int64
	class class
	// waiting is called once, when nothing has come for a while; got is what
	// has been read by then.
	waiting func(got int64)
	// tooLarge makes the error for more than limit bytes; known is the size
	// where it is known, else 0.
	tooLarge func(known int64) error
	silence  [2]time.Duration // in tests
	// reader replaces newReader in tests.
	reader func(context.Context, *os.File, class) (reader, error)
}

// reader reads a file so that a context can end it.
type reader interface {
	// read waits for data, for the end of ctx, or for patience unless that is
	// negative (errSilent), and reads what is there. The ctx is the one that
	// the reader was made with.
	read(ctx context.Context, buf []byte, patience time.Duration) (int, error)
	close()
}

// The sizes of reads: what a pipe holds at first, and what is worth a system
// call later.
const (
	firstRead = 64 << 10
	mostRead  = 1 << 20
)

// readAll reads f to its end or to the limit.
func (s source) readAll(ctx context.Context, f *os.File) ([]byte, error) {
	data := make([]byte, 0, firstRead)
	if s.class == regular {
		left := remaining(f)
		if left > s.limit {
			return nil, s.tooLarge(left)
		}
		data = make([]byte, 0, max(left, 0)+512) // room to meet the end without growing
	}
	if s.reader == nil {
		s.reader = newReader
	}
	r, err := s.reader(ctx, f, s.class)
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	defer r.close()
	for {
		if len(data) == cap(data) {
			data = slices.Grow(data, min(len(data), mostRead))
		}
		n, err := s.next(ctx, r, data[len(data):cap(data)], int64(len(data)))
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > s.limit:
			return nil, s.tooLarge(0)
		case errors.Is(err, io.EOF), closed(err):
			return data, nil
		case err != nil:
			return nil, s.failed(ctx, err)
		}
	}
}

// next reads once, after announcing a silence if there is one.
func (s *source) next(ctx context.Context, r reader, buf []byte, got int64) (int, error) {
	if err := context.Cause(ctx); err != nil {
		return 0, err
	}
	for {
		n, err := r.read(ctx, buf, s.patience(got))
		if !errors.Is(err, errSilent) {
			return n, err
		}
		s.waiting(got)
		s.waiting = nil
	}
}

// patience is how long to wait before the announcement; negative is for ever,
// once it was made.
func (s *source) patience(got int64) time.Duration {
	if s.waiting == nil {
		return -1
	}
	i := 0
	if got > 0 {
		i = 1
	}
	if s.silence[i] > 0 {
		return s.silence[i]
	}
	return [2]time.Duration{firstSilence, laterSilence}[i]
}

// errSilent is that nothing came for as long as was asked for.
var errSilent = errors.New("nothing came")

// failed is a read's error for people; the end of ctx stays what it is.
func (s source) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("read %s: %w", s.name, context.Cause(ctx))
	}
	return &fault.Fault{Code: fault.Usage, Msg: fmt.Sprintf("%s can't be read: %v", s.name, reason(err)), Err: err}
}

// remaining is how many bytes of a regular file lie before us; another process
// may have read its beginning.
func remaining(f *os.File) int64 {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0
	}
	return max(info.Size()-at, 0)
}

// reason is an error without the operation and the path, which the message
// names already.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
