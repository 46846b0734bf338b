package term

import (
	"os"

	"github.com/mattn/go-isatty"
	"golang.org/x/sys/windows"
)

// enableEscapes switches virtual terminal processing on for a console, which
// older Windows versions refuse. It stays on, as it does after other programs.
func enableEscapes(f *os.File) bool {
	if isatty.IsCygwinTerminal(f.Fd()) {
		return true
	}
	h := windows.Handle(f.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(h, &mode); err != nil {
		return false
	}
	if mode&windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING != 0 {
		return true
	}
	return windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}

// sameTerminal: a process has one console.
func sameTerminal(_, _ *os.File) bool { return true }

// isNull: what is a character device but no console is NUL.
func isNull(os.FileInfo) bool { return true }
