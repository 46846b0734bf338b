package cas

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
)

// pair is what two folders have under one name, where that differs; nil is nothing.
type pair struct{ was, is *Entry }

// comparison is what differs between two folders, in the order of names.
type comparison struct {
	pairs []pair
	// loose reports that the folders have entries that were taken for the same although
	// only one of them has recorded permission bits, or their other names differ, so that
	// their trees differ.
	loose bool
}

// note adds what two folders have under one name, unless it is the same.
func (c *comparison) note(p pair) {
	if p.was == nil || p.is == nil || !p.was.Same(*p.is) {
		c.pairs = append(c.pairs, p)
		return
	}
	c.loose = c.loose || p.was.Perm != p.is.Perm || p.was.Linked != p.is.Linked
}

// pairsOf compares two folders.
func pairsOf(olds, news []Entry) (out comparison) {
	for len(olds) > 0 || len(news) > 0 {
		var p pair
		order := 0
		switch {
		case len(olds) == 0:
			order = 1
		case len(news) == 0:
			order = -1
		default:
			order = strings.Compare(olds[0].Name, news[0].Name)
		}
		if order <= 0 {
			p.was, olds = &olds[0], olds[1:]
		}
		if order >= 0 {
			p.is, news = &news[0], news[1:]
		}
		out.note(p)
	}
	return out
}

// pairsWith is pairsOf with the encoding of the second folder's tree, whose entries
// are only made where they differ: in most folders that is one of many. It takes
// the encodings that decodeTree takes.
func (r *dirRec) pairsWith(enc []byte) (comparison, error) {
	in, n, err := treeFields(enc)
	if err != nil {
		return comparison{}, err
	}
	m := &treeMerge{olds: r.ents, order: r.order, in: *in}
	if m.order == nil {
		m.order = sortNames(r.ents)
	}
	for range n {
		if err := m.next(); err != nil {
			return comparison{}, err
		}
	}
	m.skipTo(nil)
	m.in.end()
	return m.out, m.in.bad
}

// treeMerge goes through a known folder and an encoded one side by side.
type treeMerge struct {
	olds  []cached
	order []int32 // places in olds, by name, of those that are still to come
	in    fields
	last  []byte // the name before
	out   comparison
}

// next takes one entry of the encoding.
func (m *treeMerge) next() error {
	begin := m.in.rest
	kind := Kind(m.in.byte())
	name := m.in.bytes(maxName)
	if m.in.bad != nil {
		return m.in.bad
	}
	if m.last != nil && bytes.Compare(m.last, name) >= 0 {
		return fmt.Errorf("%w: %.80q isn't in order", errTree, name)
	}
	m.last = name
	m.skipTo(name)
	var was *Entry
	if len(m.order) > 0 {
		if e := &m.olds[m.order[0]].Entry; e.Name == string(name) {
			was, m.order = e, m.order[1:]
			if m.in.skip(kind, e) {
				m.out.loose = m.out.loose || !m.in.perms && e.Perm.Known() || !m.in.links && e.Linked != ""
				return nil
			}
		}
	}
	m.in.rest = begin
	is := m.in.entry()
	if m.in.bad != nil {
		return m.in.bad
	}
	if err := checkName(is.Name); err != nil {
		return err
	}
	m.out.note(pair{was, &is})
	return nil
}

// skipTo gives out what of the known folder comes before a name; nil is its end.
func (m *treeMerge) skipTo(name []byte) {
	for len(m.order) > 0 {
		e := &m.olds[m.order[0]].Entry
		if name != nil && e.Name >= string(name) {
			return
		}
		m.out.note(pair{was: e})
		m.order = m.order[1:]
	}
}

// skip passes what follows an entry's name if it is what e has, for the common kinds.
func (r *fields) skip(kind Kind, e *Entry) bool {
	if kind != e.Kind || e.Text != "" || len(r.rest) < len(e.Digest) || !bytes.Equal(r.rest[:len(e.Digest)], e.Digest[:]) {
		return false
	}
	var buf [2*binary.MaxVarintLen64 + 1 + linkedSize]byte
	want := buf[:0]
	switch kind {
	case File, Executable:
		want = binary.AppendUvarint(want, uint64(e.Size))
	case Folder:
		if e.Size != 0 {
			return false
		}
	default:
		return false
	}
	known := r.perms && e.Perm.Known()
	if r.perms {
		want = binary.AppendUvarint(want, uint64(e.Perm))
	}
	if r.links && e.content() {
		want = appendString(want, e.Linked)
	}
	rest := r.rest[len(e.Digest):]
	if !bytes.HasPrefix(rest, want) {
		return false
	}
	r.rest, r.someKnown = rest[len(want):], r.someKnown || known
	r.someLinked = r.someLinked || r.links && e.Linked != ""
	return true
}

// treeAgainst compares a folder that is known with a tree of the store.
func (s *Store) treeAgainst(val []byte, d Digest, known *dirRec) (comparison, error) {
	if Sum(val) != d {
		return comparison{}, &DamageError{Digest: d, What: "tree", Reason: "its content is another one"}
	}
	out, err := known.pairsWith(val)
	if err != nil {
		return comparison{}, &DamageError{Digest: d, What: "tree", Reason: err.Error()}
	}
	return out, nil
}
