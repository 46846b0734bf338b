package cas

import (
	"errors"
	"io/fs"
	"syscall"
)

// effectError is what kept one path of a restore from being changed.
type effectError struct {
	path string
	err  error
}

func (e *effectError) Error() string { return EscapePath(e.path) + ": " + e.err.Error() }
func (e *effectError) Unwrap() error { return e.err }

// refusedAt tells of an error of a restore, all of which was taken back, what is in
// the way of it, if that is a path that can be left out.
func refusedAt(t *tree, err error) (Blocked, bool) {
	var at *effectError
	if !errors.As(err, &at) {
		return Blocked{}, false
	}
	switch {
	case errors.Is(err, errForeign):
		return Blocked{Path: at.path, Reason: errForeign.Error()}, true
	case errors.Is(err, syscall.EXDEV):
		return Blocked{Path: mountAbove(t, at.path), Reason: reasonDevice, Firm: true}, true
	case errors.Is(err, syscall.EROFS):
		return Blocked{Path: at.path, Reason: reasonReadOnly, Firm: true}, true
	case errors.Is(err, syscall.EBUSY):
		return Blocked{Path: at.path, Reason: reasonMount, Firm: true}, true
	case errors.Is(err, fs.ErrPermission):
		return Blocked{Path: at.path, Reason: "the system doesn't let it be changed", Firm: true}, true
	}
	return Blocked{}, false
}

// mountAbove is the first folder on the way to a path that lies on another file system
// than the root, or the path itself where none is found.
func mountAbove(t *tree, path string) string {
	top, ok := deviceOf(t, "")
	for i := range path {
		if !ok || path[i] != '/' {
			continue
		}
		var dev uint64
		if dev, ok = deviceOf(t, path[:i]); ok && dev != top {
			return path[:i]
		}
	}
	return path
}

func deviceOf(t *tree, folder string) (uint64, bool) {
	d, err := t.dir(folder)
	if err != nil {
		return 0, false
	}
	defer d.close()
	st, err := d.self()
	return st.dev, err == nil
}
