package bundle

import (
	"errors"
	"fmt"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

// Code is why a bundle is refused. Codes are stable.
type Code string

// The codes.
const (
	Path      Code = "path"      // a path that leads elsewhere
	Name      Code = "name"      // a name that isn't portable
	Depth     Code = "depth"     // too many levels
	Type      Code = "type"      // neither a file nor a folder
	Duplicate Code = "duplicate" // two entries that are one place
	Mismatch  Code = "mismatch"  // two readers would see different things
	Checksum  Code = "checksum"  // the contents aren't what the archive says
	Size      Code = "size"      // more bytes than allowed
	Bomb      Code = "bomb"      // grows far beyond what it is
	Count     Code = "count"     // too many entries, or another number than told
	Encrypted Code = "encrypted"
	Method    Code = "method"   // a compression that isn't read here
	Format    Code = "format"   // no archive, or a broken or ambiguous one
	TopLevel  Code = "toplevel" // something that has no place in a toolset
	Manifest  Code = "manifest" // no manifest, or one that is too large
	Address   Code = "address"  // an address that isn't fetched from
	Changed   Code = "changed"  // other contents than when it was opened
)

// Error is a bundle that is refused.
type Error struct {
	Code Code
	// Path is the entry, as it is written in the archive; it may hold anything.
	// Empty where the whole is meant.
	Path string
	Msg  string
	Err  error
}

// Error names the entry, printably, and says what is wrong with it.
func (e *Error) Error() string {
	msg := e.Msg
	if e.Err != nil {
		msg += ": " + e.Err.Error()
	}
	if e.Path == "" {
		return msg
	}
	return Printable(e.Path) + ": " + msg
}

// Unwrap gives the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf is the code of a refusal; empty for any other error.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func refuse(code Code, path, format string, args ...any) error {
	return &Error{Code: code, Path: path, Msg: fmt.Sprintf(format, args...)}
}

// maxShown is how many characters of a path a message shows.
const maxShown = 120

// Printable returns a path for a message: on one line, of bounded length, without
// characters that act on a terminal.
func Printable(path string) string { return sanitize.Brief(path, maxShown) }

// Note is something worth knowing about a bundle that stops nothing.
type Note struct {
	// Code is the kind of note; codes are stable.
	Code string
	// Path is the entry, or empty.
	Path string
	Msg  string
}

// The codes of notes.
const (
	NoteLeftOut    = "left-out"      // it isn't part of the bundle
	NoteFolder     = "in-one-folder" // a folder around everything was taken off
	NoteShadow     = "shadows"       // it has the name of a module of Python's own
	NoteExecutable = "executable"    // modes were dropped
	NoteNames      = "unmarked-names"
	NoteSigned     = "signed"
)

// String is the note on one line.
func (n Note) String() string {
	if n.Path == "" {
		return n.Msg
	}
	return Printable(n.Path) + ": " + n.Msg
}
