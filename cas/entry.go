package cas

import "fmt"

// Kind says what stands under a name. It is stored.
type Kind byte

// The kinds of an Entry.
const (
	File       Kind = 'f' // a file
	Executable Kind = 'x' // a file that its owner may run
	Link       Kind = 'l' // a symbolic link, never followed
	Folder     Kind = 'd' // a folder; its content is a tree
	Special    Kind = 's' // a FIFO, socket or device: listed and left alone
	Failed     Kind = 'e' // something whose content isn't kept, and why: left alone
	Omitted    Kind = 'o' // left out by a rule: neither read nor touched
)

// String is the word for messages and JSON.
func (k Kind) String() string {
	switch k {
	case File:
		return "file"
	case Executable:
		return "executable"
	case Link:
		return "link"
	case Folder:
		return "folder"
	case Special:
		return "special"
	case Failed:
		return "failed"
	case Omitted:
		return "omitted"
	}
	return fmt.Sprintf("kind %#x", byte(k))
}

// Entry is one name of a folder. It is comparable: two equal entries have
// the same content. [Entry.Same] compares entries of which one may have
// no recorded permission bits.
type Entry struct {
	Name   string // raw bytes as the file system gives them
	Kind   Kind
	Perm   Perm   // File, Executable, Folder: the permission bits
	Digest Digest // File, Executable: of the content; Folder: of the tree
	Size   int64  // File, Executable: of the content; Failed: as it was seen
	// Linked is, of a File or Executable with other names in the workspace, a digest of the
	// paths of all of them; see links.go. States of older programs have none.
	Linked string
	// Text is a Link's target, what a Special is, and the reason why Failed
	// and Omitted are that.
	Text string
}

// kept tells whether the entry can be brought back.
func (e Entry) kept() bool {
	switch e.Kind {
	case File, Executable, Link, Folder:
		return true
	}
	return false
}

// Same reports whether two entries are equal, apart from their other names and from
// permission bits that one of them has not recorded.
func (e Entry) Same(o Entry) bool {
	if !e.Perm.agrees(o.Perm) {
		return false
	}
	e.Perm, e.Linked = o.Perm, o.Linked
	return e == o
}

// withPerms reports whether entries of this kind have permission bits.
func (k Kind) withPerms() bool { return k == File || k == Executable || k == Folder }

// content tells whether the entry has a blob.
func (e Entry) content() bool { return e.Kind == File || e.Kind == Executable }

// The reasons of Failed entries, which people read. A reason stays the same
// while the cause does, so that an unchanged folder gives an unchanged tree.
const (
	reasonUnreadable = "can't be read: permission denied"
	reasonUnstable   = "changed while it was read"
	reasonTooLarge   = "larger than the limit for one file"
	reasonTooDeep    = "its path is too long"
	reasonIO         = "can't be read: "
)
