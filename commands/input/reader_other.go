//go:build !unix

package input

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/mattn/go-isatty"
)

// classify tells what f is. A terminal of MSYS or Cygwin is a pipe with a
// certain name.
func classify(f *os.File) class {
	info, err := f.Stat()
	if err != nil {
		return none
	}
	if conn, err := f.SyscallConn(); err == nil {
		isTerminal := false
		_ = conn.Control(func(fd uintptr) { isTerminal = isatty.IsTerminal(fd) || isatty.IsCygwinTerminal(fd) })
		if isTerminal {
			return terminal
		}
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return regular
	case mode.IsDir():
		return folder
	case mode&(fs.ModeDevice|fs.ModeCharDevice) != 0:
		return device
	}
	return stream
}

// closed tells whether an error is that of a handle that isn't open.
func closed(err error) bool {
	const invalidHandle = syscall.Errno(6) // ERROR_INVALID_HANDLE
	return errors.Is(err, os.ErrClosed) || errors.Is(err, invalidHandle)
}

func newReader(_ context.Context, f *os.File, _ class) (reader, error) { return newAsyncReader(f), nil }

// openFile opens what name names; opening doesn't block here.
func openFile(_ context.Context, name string, _ func()) (*os.File, error) { return os.Open(name) }

// openBeneath opens a file of a folder.
func openBeneath(root *os.Root, name string) (*os.File, error) { return root.Open(name) }
