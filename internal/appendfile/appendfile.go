package appendfile

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// Line appends a text, which ends with a line end, to a file that was opened
// with O_RDWR and O_APPEND. With an error the file has nothing of the text,
// unless another process appended after a part of it.
func Line(f *os.File, text []byte) error { return appendLine(f, text, f.Write) }

// appendLine is Line with the write as a parameter, for fault injection.
func appendLine(f *os.File, text []byte, write func([]byte) (int, error)) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	whole, err := endsLine(f, size)
	if err != nil {
		return err
	}
	if !whole {
		text = append([]byte{'\n'}, text...)
	}
	n, err := write(text)
	if err == nil && n < len(text) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return errors.Join(err, takeBack(f, size, text))
	}
	return nil
}

// endsLine reports whether the file is empty or ends with a line end.
func endsLine(f *os.File, size int64) (bool, error) {
	if size == 0 {
		return true, nil
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, size-1); err != nil {
		return false, err
	}
	return last[0] == '\n', nil
}

// takeBack removes the part of a text that a failed write has left. The count
// that the write returned is not used: Go returns 0 where the first part was
// written and the second failed.
func takeBack(f *os.File, size int64, text []byte) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	left := info.Size() - size
	if left <= 0 || left > int64(len(text)) {
		return nil // nothing was written, or another process has appended since
	}
	part := make([]byte, left)
	if _, err := f.ReadAt(part, size); err != nil {
		return err
	}
	if !bytes.Equal(part, text[:left]) {
		return nil // it is another process's
	}
	return f.Truncate(size)
}
