//go:build !linux && !darwin

package live

import (
	"errors"
	"os"
)

// TTY is the person's terminal; there is none here.
type TTY struct{}

// OpenTTY says that there is none.
func OpenTTY(_, _ *os.File) (*TTY, error) {
	return nil, errors.New("open the terminal: keys can't be read one by one on this system")
}

// Keys gives what is pressed.
func (*TTY) Keys() <-chan []Key { return nil }

// Resized tells that the size may have changed.
func (*TTY) Resized() <-chan os.Signal { return nil }

// Size gives columns and rows.
func (*TTY) Size() (int, int) { return 0, 0 }

// Lend runs do.
func (*TTY) Lend(do func() error) error { return do() }

// Stop does nothing.
func (*TTY) Stop() error { return nil }

// Close does nothing.
func (*TTY) Close() error { return nil }

// Here tells whether this system has a TTY.
const Here = false
