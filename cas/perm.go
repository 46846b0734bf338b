package cas

import (
	"fmt"
	"io/fs"
)

// Perm holds the twelve permission bits of a file or a folder. The zero Perm is
// that of an entry without recorded bits: one of Windows, or of a tree of version 1.
type Perm uint16

const (
	permBits  = 0o7777
	permKnown = 1 << 12 // distinguishes recorded bits of 0000 from none
	idBits    = 0o6000  // setuid and setgid
)

// PermOf returns the Perm of the given bits.
func PermOf(bits uint32) Perm { return permKnown | Perm(bits&permBits) }

// Known reports whether the bits were recorded.
func (p Perm) Known() bool { return p&permKnown != 0 }

// Bits returns the permission bits, in the system's order.
func (p Perm) Bits() uint32 { return uint32(p & permBits) }

// FileMode returns the bits as package os has them.
func (p Perm) FileMode() fs.FileMode {
	mode := fs.FileMode(p & 0o777)
	if p&0o4000 != 0 {
		mode |= fs.ModeSetuid
	}
	if p&0o2000 != 0 {
		mode |= fs.ModeSetgid
	}
	if p&0o1000 != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}

// String returns the bits as four octal digits, or nothing where none were recorded.
func (p Perm) String() string {
	if !p.Known() {
		return ""
	}
	return fmt.Sprintf("%04o", p.Bits())
}

// fileKind returns the kind of a file with these bits.
func (p Perm) fileKind() Kind {
	if p&0o100 != 0 {
		return Executable
	}
	return File
}

// agrees reports whether two Perms may be of the same bits: bits that were not
// recorded agree with all.
func (p Perm) agrees(q Perm) bool { return p == q || !p.Known() || !q.Known() }

// usual reports whether a Perm is what most entries of a kind have, so that texts and
// JSON need not name it.
func (p Perm) usual(k Kind) bool {
	switch {
	case !p.Known():
		return true
	case k == File:
		return p.Bits() == 0o644
	}
	return p.Bits() == 0o755
}

// permOf returns the bits of a file or folder that a state records. Setuid and setgid
// give the rights of the file's owner and group, which a state does not have: they are
// recorded only where those are the ones that a restored file gets.
func permOf(st *stat) Perm {
	if !hasModes {
		return 0
	}
	bits := st.mode
	if st.form == regular && bits&idBits != 0 {
		bits &^= foreignIDs(st)
	}
	return PermOf(bits)
}
