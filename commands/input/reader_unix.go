//go:build unix

package input

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// classify tells what f is, without changing anything about it: f.Fd would
// make a descriptor blocking that other processes may share.
func classify(f *os.File) class {
	info, err := f.Stat()
	if err != nil {
		return none
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return regular
	case mode.IsDir():
		return folder
	case mode&(fs.ModeNamedPipe|fs.ModeSocket) != 0:
		return stream
	}
	isTerminal := false
	_ = control(f, func(fd int) { isTerminal = term.IsTerminal(fd) })
	if isTerminal {
		return terminal
	}
	return device
}

func control(f *os.File, do func(fd int)) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	return conn.Control(func(fd uintptr) { do(int(fd)) })
}

// closed tells whether an error is that of a descriptor that isn't open.
func closed(err error) bool { return errors.Is(err, unix.EBADF) || errors.Is(err, os.ErrClosed) }

// pollReader never blocks in a read: it waits for data or for the end of its
// context in poll, and reads when that says that it won't block.
type pollReader struct {
	f    *os.File
	wake *os.File // becomes readable when the context ends; nil: don't poll
	// release gives back what newReader took.
	release func()
}

// newReader makes a reader; ctx is the one that read is called with.
func newReader(ctx context.Context, f *os.File, c class) (reader, error) {
	// macOS can't poll devices; those that aren't terminals don't block there.
	if c == device && runtime.GOOS == "darwin" {
		return &pollReader{f: f, release: func() {}}, nil
	}
	wake, signal, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		_ = signal.Close() // its other end sees the hang-up
	})
	return &pollReader{f: f, wake: wake, release: func() {
		if stop() {
			_ = signal.Close()
		} else {
			<-done
		}
		_ = wake.Close()
	}}, nil
}

func (r *pollReader) close() { r.release() }

func (r *pollReader) read(ctx context.Context, buf []byte, patience time.Duration) (int, error) {
	until := time.Now().Add(patience)
	for {
		if r.wake != nil {
			left := time.Duration(-1)
			if patience >= 0 {
				left = max(time.Until(until), 0)
			}
			switch err := r.wait(ctx, left); {
			case errors.Is(err, unix.EINTR):
				continue
			case err != nil:
				return 0, err
			}
		}
		n, err := r.f.Read(buf)
		// Where others read the same pipe, the data may be gone again.
		if n <= 0 && (errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR)) {
			continue
		}
		return n, err
	}
}

// wait returns nil when a read will not block.
func (r *pollReader) wait(ctx context.Context, left time.Duration) error {
	timeout := -1
	if left >= 0 {
		timeout = int((left + time.Millisecond - 1) / time.Millisecond)
	}
	var fds [2]unix.PollFd
	var pollErr, wakeErr error
	err := control(r.f, func(fd int) {
		wakeErr = control(r.wake, func(wake int) {
			fds = [2]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: int32(wake), Events: unix.POLLIN}}
			_, pollErr = unix.Poll(fds[:], timeout)
		})
	})
	switch err = cmp.Or(err, wakeErr, pollErr); {
	case err != nil:
		return err
	case fds[1].Revents != 0:
		return context.Cause(ctx)
	case fds[0].Revents == 0:
		return errSilent
	}
	return nil
}
