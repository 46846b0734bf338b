package cas

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
)

// ErrNotFound means that the store has no such manifest, or that a manifest has
// no such path.
var ErrNotFound = errors.New("not found")

// DamageError means that an object of the store is missing or isn't what was
// stored. [Store.Verify] tells what it belongs to.
type DamageError struct {
	Digest Digest
	What   string // "blob", "tree"
	Reason string // a clause, such as "it is missing"
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("read %s %s: %s", e.What, e.Digest, e.Reason)
}

// QuotaError means that a snapshot would take more room than it may. Nothing
// was recorded and nothing dropped.
type QuotaError struct {
	What        string // "the chat's files", "the store", "free space on the disk"
	Have, Limit int64  // bytes
}

func (e *QuotaError) Error() string {
	return fmt.Sprintf("snapshot: %s: %s, the limit is %s", e.What, sizeText(e.Have), sizeText(e.Limit))
}

// FolderError means that a folder has more names than a state can have of one folder.
// Nothing was recorded.
type FolderError struct {
	Path        string // "" is the folder of the workspace itself
	Size, Limit int64  // bytes
}

func (e *FolderError) Error() string {
	name := "the folder " + EscapePath(e.Path)
	if e.Path == "" {
		name = "the workspace's own folder"
	}
	return fmt.Sprintf("snapshot: %s has %s of names, the limit of one folder is %s", name, sizeText(e.Size), sizeText(e.Limit))
}

// SpaceError means that the disk of a folder has too little room for what is to
// be written into it. Nothing was changed.
type SpaceError struct {
	Free, Need int64
}

func (e *SpaceError) Error() string {
	return fmt.Sprintf("restore: %s free on the disk, %s needed", sizeText(e.Free), sizeText(e.Need))
}

// Blocked is a path that a restore can't change, and why.
type Blocked struct {
	Path   string
	Reason string // a clause, such as "someone else changed it since"
	// Firm tells that Overwrite doesn't help: the system doesn't allow it.
	Firm bool
}

// ConflictError lists the paths that keep a restore from being done. Nothing
// was changed. Those in question can be kept as they are by
// [RestoreOptions.Keep], and edits of others replaced by
// [RestoreOptions.Overwrite].
type ConflictError struct {
	Paths []Blocked
}

func (e *ConflictError) Error() string {
	const shown = 3
	var b strings.Builder
	fmt.Fprintf(&b, "restore: %d paths can't be changed", len(e.Paths))
	for i, p := range e.Paths {
		if i == shown {
			fmt.Fprintf(&b, ", and %d more", len(e.Paths)-shown)
			break
		}
		fmt.Fprintf(&b, "; %s: %s", EscapePath(p.Path), p.Reason)
	}
	return b.String()
}

// UnfinishedError means that a restore was cut short, and neither it nor its
// taking back could be finished. Nothing is lost: the next operation on the
// folder tries again.
type UnfinishedError struct {
	Path string // the folder
	Err  error
}

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("finish the restore of %s: %v", e.Path, e.Err)
}

// Unwrap gives what is in the way.
func (e *UnfinishedError) Unwrap() error { return e.Err }

// ImportError says what is wrong with a file that was to be imported.
type ImportError struct {
	Member string // of the archive; empty for the archive itself
	Reason string

	whole bool // it is about the archive, though a member shows it
}

func (e *ImportError) Error() string { return "import history: " + e.Why() }

// Why is what is wrong, as a clause for messages that say themselves what was done.
func (e *ImportError) Why() string {
	if e.Member == "" {
		return e.Reason
	}
	return fmt.Sprintf("%.120q: %s", e.Member, e.Reason)
}

// reasonOf is the reason of a Failed entry.
func reasonOf(err error) string {
	switch {
	case errors.Is(err, errUnstable), errors.Is(err, errLink):
		return reasonUnstable
	case errors.Is(err, fs.ErrPermission):
		return reasonUnreadable
	}
	var no syscall.Errno
	if errors.As(err, &no) {
		return reasonIO + no.Error()
	}
	return reasonIO + "an input or output error"
}

// sizeText is a number of bytes for people.
func sizeText(n int64) string {
	const units = "kMGTPE"
	if n < 1000 {
		return fmt.Sprintf("%d bytes", n)
	}
	f, u := float64(n)/1000, 0
	for f >= 999.5 && u < len(units)-1 {
		f, u = f/1000, u+1
	}
	if f < 10 {
		return fmt.Sprintf("%.1f %cB", f, units[u])
	}
	return fmt.Sprintf("%.0f %cB", f, units[u])
}
