//go:build unix

package input

import (
	"context"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// openFile opens what name names for reading. A FIFO blocks until someone
// opens it for writing; waiting is called if that takes a while, and the end
// of ctx ends it.
func openFile(ctx context.Context, name string, waiting func()) (*os.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeNamedPipe != 0 {
		return openFIFO(ctx, name, waiting)
	}
	return os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
}

// openBeneath opens a file of a folder; one that has become a FIFO since it
// was listed doesn't hold us up.
func openBeneath(root *os.Root, name string) (*os.File, error) {
	return root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
}

// openFIFO opens a FIFO in a goroutine and waits for it. Opening without
// blocking would not do: some systems then take "nobody writes yet" for the
// end of the data.
func openFIFO(ctx context.Context, name string, waiting func()) (*os.File, error) {
	result := make(chan opened, 1)
	go func() {
		f, err := os.Open(name)
		result <- opened{f, err}
	}()
	silence := time.NewTimer(firstSilence)
	defer silence.Stop()
	for {
		select {
		case r := <-result:
			return r.f, r.err
		case <-silence.C:
			waiting()
		case <-ctx.Done():
			r, ok := release(name, result)
			if ok && r.err == nil {
				_ = r.f.Close()
			}
			return nil, context.Cause(ctx)
		}
	}
}

type opened struct {
	f   *os.File
	err error
}

const (
	// openRetry is the pause between attempts to free a blocked open: short
	// beside the time in which a cancel shows, long beside a system call.
	openRetry = 5 * time.Millisecond
	// openTries bounds them to half a second. They fail only where the FIFO
	// was replaced under its name; then the goroutine stays in its open.
	openTries = 100
)

// release frees an open that waits for a writer by being one for a moment. The
// open may not have begun yet, hence the attempts.
func release(name string, result <-chan opened) (opened, bool) {
	for range openTries {
		if fd, err := unix.Open(name, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err == nil {
			_ = unix.Close(fd)
		}
		select {
		case r := <-result:
			return r, true
		case <-time.After(openRetry):
		}
	}
	return opened{}, false
}
