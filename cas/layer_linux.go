package cas

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// attr is an extended attribute of a file.
type attr struct {
	name  string
	value []byte
}

const (
	// overlayAttr begins the names of what overlayfs notes in its upper layer.
	overlayAttr = "user.overlay."
	attrOpaque  = overlayAttr + "opaque"
	attrOrigin  = overlayAttr + "origin"
	// attrWhiteout is another form of a deletion. The mount that fettle makes does not
	// write it, so it is a forgery.
	attrWhiteout = overlayAttr + "whiteout"
	// attrEscape begins the names of what a program in the overlay set under a name of
	// overlayfs.
	attrEscape = overlayAttr + "overlay."
	// maxAttrs bounds the names, and each value, of a file's extended attributes; so
	// does the kernel.
	maxAttrs = 64 << 10
)

// attrsOf returns the extended attributes of an open file or folder.
func attrsOf(fd int) ([]attr, error) {
	buf := make([]byte, 1<<10)
	n, err := retry(func() (int, error) { return unix.Flistxattr(fd, buf) })
	if errors.Is(err, unix.ERANGE) {
		buf = make([]byte, maxAttrs)
		n, err = retry(func() (int, error) { return unix.Flistxattr(fd, buf) })
	}
	if errors.Is(err, unix.ENOTSUP) || n == 0 && err == nil {
		return nil, nil
	}
	if err != nil {
		return nil, &fs.PathError{Op: "listxattr", Path: ".", Err: err}
	}
	var all []attr
	value := make([]byte, 1<<10)
	for name := range strings.SplitSeq(strings.TrimSuffix(string(buf[:n]), "\x00"), "\x00") {
		if !strings.HasPrefix(name, "user.") && name != "system.posix_acl_access" {
			continue
		}
		n, err := retry(func() (int, error) { return unix.Fgetxattr(fd, name, value) })
		if errors.Is(err, unix.ERANGE) {
			value = make([]byte, maxAttrs)
			n, err = retry(func() (int, error) { return unix.Fgetxattr(fd, name, value) })
		}
		if err != nil {
			return nil, &fs.PathError{Op: "getxattr", Path: name, Err: err}
		}
		all = append(all, attr{name, slices.Clone(value[:n])})
	}
	return all, nil
}

// attrs returns the extended attributes of the folder.
func (d *dir) attrs() ([]attr, error) {
	if err := d.t.check("listxattr", "."); err != nil {
		return nil, err
	}
	return attrsOf(d.fd)
}

// attrs returns the extended attributes of an open file.
func (h handle) attrs() ([]attr, error) { return attrsOf(h.fd) }

// setAttrs gives a file the attributes that a call gave it. A file system that can't hold
// one has refused it to the call already, or is another one.
func setAttrs(f *os.File, attrs []attr) error {
	for _, a := range attrs {
		err := unix.Fsetxattr(int(f.Fd()), a.name, a.value, 0)
		if err != nil && !errors.Is(err, unix.ENOTSUP) && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EACCES) {
			return &fs.PathError{Op: "setxattr", Path: f.Name(), Err: err}
		}
	}
	return nil
}

// takeAttrs reads what overlayfs noted about an entry, and keeps the attributes that are
// the call's own.
func (n *node) takeAttrs(attrs []attr) (forged bool) {
	for _, a := range attrs {
		switch {
		case a.name == attrOpaque:
			n.opaque = string(a.value) == "y"
		case a.name == attrOrigin:
			n.origin = true
		case a.name == attrWhiteout:
			forged = true
		case strings.HasPrefix(a.name, attrEscape):
			n.attrs = append(n.attrs, attr{overlayAttr + strings.TrimPrefix(a.name, attrEscape), a.value})
		case !strings.HasPrefix(a.name, overlayAttr):
			n.attrs = append(n.attrs, a)
		}
	}
	return forged
}

// bootID returns what identifies this run of the system.
func bootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// clocks returns the clock and the time since the start of the system at one moment. On a
// busy machine the process may be suspended between the two, so that it looks again.
func clocks() (now time.Time, uptime time.Duration) {
	const tries, near = 20, time.Millisecond
	for range tries {
		before := sinceBoot()
		now, uptime = time.Now(), sinceBoot()
		if uptime-before < near {
			break
		}
	}
	return now.UTC().Round(0), uptime
}

func sinceBoot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
