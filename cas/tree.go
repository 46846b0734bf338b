package cas

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	// treeMagic begins every tree, so that no tree is taken for another
	// object. The version follows.
	treeMagic = "ftree"
	// treePlain is the version of trees without permission bits, treePerms that of
	// trees in which one entry has them at least, and treeLinks that of trees in which one
	// file at least has other names.
	treePlain, treePerms, treeLinks = 1, 2, 3
	// maxName bounds a name. File systems take 255 bytes or UTF-16 units,
	// which are at most 765 bytes.
	maxName = 1024
	// maxText bounds a link's target, which systems hold to 4 KB, and reasons.
	maxText = 16 << 10
	// maxTree bounds a tree that is read: a million names of ordinary length.
	maxTree = 64 << 20
)

// errTree is what is wrong with the bytes of a tree.
var errTree = errors.New("not a tree")

// encodeTree gives the canonical encoding of a folder; entries are sorted by
// name. The encoding is documented in doc.go.
func encodeTree(entries []Entry) []byte {
	return encodeEntries(len(entries), func(i int) *Entry { return &entries[i] })
}

// encodeEntries is encodeTree of n entries, wherever they are.
func encodeEntries(n int, entry func(i int) *Entry) []byte {
	size := len(treeMagic) + 1 + binary.MaxVarintLen64
	version := byte(treePlain)
	for i := range n {
		e := entry(i)
		size += len(e.Name) + len(e.Text) + len(Digest{}) + 10
		switch {
		case e.Linked != "" && e.content():
			version = treeLinks
			size += linkedSize + 1
		case e.Perm.Known():
			version = max(version, treePerms)
		}
	}
	b := append(make([]byte, 0, size), treeMagic...)
	b = append(b, version)
	b = binary.AppendUvarint(b, uint64(n))
	for i := range n {
		e := entry(i)
		b = append(b, byte(e.Kind))
		b = appendString(b, e.Name)
		switch e.Kind {
		case File, Executable:
			b = append(b, e.Digest[:]...)
			b = binary.AppendUvarint(b, uint64(e.Size))
		case Folder:
			b = append(b, e.Digest[:]...)
		case Failed:
			b = appendString(b, e.Text)
			b = binary.AppendUvarint(b, uint64(e.Size))
		default:
			b = appendString(b, e.Text)
		}
		if version >= treePerms && e.Kind.withPerms() {
			b = binary.AppendUvarint(b, uint64(e.Perm))
		}
		if version == treeLinks && e.content() {
			b = appendString(b, e.Linked)
		}
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// decodeTree is the strict reverse of encodeTree: it takes nothing that
// encodeTree would not have written, so a folder has one encoding only.
func decodeTree(b []byte) ([]Entry, error) {
	r, n, err := treeFields(b)
	if err != nil {
		return nil, err
	}
	r.text = string(r.rest) // the names are parts of one text: a text each took half of the time
	entries := make([]Entry, 0, n)
	for range n {
		e := r.entry()
		if r.bad != nil {
			return nil, r.bad
		}
		if err := checkName(e.Name); err != nil {
			return nil, err
		}
		if k := len(entries); k > 0 && entries[k-1].Name >= e.Name {
			return nil, fmt.Errorf("%w: %.80q isn't in order", errTree, e.Name)
		}
		entries = append(entries, e)
	}
	r.end()
	return entries, r.bad
}

// treeFields starts to read a tree and returns its number of entries.
func treeFields(b []byte) (r *fields, n uint64, err error) {
	head := len(treeMagic) + 1
	if len(b) < head || string(b[:len(treeMagic)]) != treeMagic {
		return nil, 0, fmt.Errorf("%w: it begins otherwise", errTree)
	}
	version := b[head-1]
	if version < treePlain || version > treeLinks {
		return nil, 0, fmt.Errorf("%w: version %d is not one that this program reads", errTree, version)
	}
	r = &fields{rest: b[head:], perms: version >= treePerms, links: version == treeLinks}
	if n = r.uvarint(); n > uint64(len(r.rest)) { // an entry takes three bytes at least
		return nil, 0, fmt.Errorf("%w: it can't hold %d entries", errTree, n)
	}
	return r, n, r.bad
}

// end checks what only the end of a tree shows.
func (r *fields) end() {
	if r.bad == nil && len(r.rest) > 0 {
		r.fail("bytes behind the last entry")
	}
	if r.bad == nil && r.perms && !r.links && !r.someKnown {
		r.fail("a version for permission bits without any")
	}
	if r.bad == nil && r.links && !r.someLinked {
		r.fail("a version for files with several names without any")
	}
}

// checkName refuses what can't be the name of a file in a folder.
func checkName(name string) error {
	switch {
	case name == "", name == ".", name == "..":
		return fmt.Errorf("%w: %q is no name", errTree, name)
	case len(name) > maxName:
		return fmt.Errorf("%w: a name of %d bytes", errTree, len(name))
	case strings.ContainsAny(name, "/\x00"):
		return fmt.Errorf("%w: %.80q is no name", errTree, name)
	}
	return nil
}

// fields reads the parts of an encoding; after the first fault it gives zeros.
type fields struct {
	rest []byte
	text string // if not empty, ends with what rest is
	bad  error

	perms      bool // entries have permission bits
	someKnown  bool // one of them has recorded ones
	links      bool // files have Linked
	someLinked bool // one of them has other names
}

func (r *fields) fail(what string) {
	if r.bad == nil {
		r.bad = fmt.Errorf("%w: %s", errTree, what)
	}
	r.rest = nil
}

func (r *fields) entry() Entry {
	var e Entry
	e.Kind = Kind(r.byte())
	e.Name = r.string(maxName)
	switch e.Kind {
	case File, Executable:
		r.digest(&e.Digest)
		e.Size = r.size()
	case Folder:
		r.digest(&e.Digest)
	case Failed:
		e.Text = r.string(maxText)
		e.Size = r.size()
	case Link, Special, Omitted:
		e.Text = r.string(maxText)
	default:
		r.fail("an unknown kind of entry")
	}
	if r.perms && e.Kind.withPerms() {
		e.Perm = r.perm(e.Kind)
	}
	if r.links && e.content() {
		e.Linked = r.linked()
	}
	if e.Kind == Link && (e.Text == "" || strings.Contains(e.Text, "\x00")) {
		r.fail("a link that leads nowhere")
	}
	return e
}

// perm reads permission bits. Those of a file decide whether it is executable.
func (r *fields) perm(k Kind) Perm {
	n := r.uvarint()
	p := Perm(n)
	switch {
	case r.bad != nil || n == 0:
		return 0
	case n > permKnown|permBits || !p.Known():
		r.fail("permission bits that can't be")
	case k != Folder && (p&0o100 != 0) != (k == Executable):
		r.fail("permission bits that contradict the kind of entry")
	}
	r.someKnown = true
	return p
}

// linked reads the Linked of a file.
func (r *fields) linked() string {
	s := r.string(linkedSize)
	if s != "" && len(s) != linkedSize {
		r.fail("other names that can't be")
	}
	r.someLinked = r.someLinked || s != ""
	return s
}

func (r *fields) byte() byte {
	if len(r.rest) == 0 {
		r.fail("it ends too early")
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

// uvarint takes the shortest form only, or there would be two encodings.
func (r *fields) uvarint() uint64 {
	n, used := binary.Uvarint(r.rest)
	if used <= 0 || (used > 1 && r.rest[used-1] == 0) {
		r.fail("a number can't be read")
		return 0
	}
	r.rest = r.rest[used:]
	return n
}

func (r *fields) size() int64 {
	n := r.uvarint()
	if n > 1<<62 {
		r.fail("a size that can't be")
		return 0
	}
	return int64(n)
}

func (r *fields) string(limit uint64) string {
	b := r.bytes(limit)
	if r.text == "" || b == nil {
		return string(b)
	}
	at := len(r.text) - len(r.rest) - len(b)
	return r.text[at : at+len(b)]
}

// bytes is string without a copy: a part of what is read. After a fault it is nil.
func (r *fields) bytes(limit uint64) []byte {
	n := r.uvarint()
	if n > limit || n > uint64(len(r.rest)) {
		r.fail("a text that is too long")
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

func (r *fields) digest(d *Digest) {
	if len(r.rest) < len(d) {
		r.fail("it ends too early")
		return
	}
	r.rest = r.rest[copy(d[:], r.rest):]
}

// findEntry finds a name among sorted entries.
func findEntry(entries []Entry, name string) (Entry, bool) {
	i, ok := slices.BinarySearchFunc(entries, name, func(e Entry, name string) int { return strings.Compare(e.Name, name) })
	if !ok {
		return Entry{}, false
	}
	return entries[i], true
}
