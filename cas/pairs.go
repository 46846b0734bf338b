package cas

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
)

// pair is what two folders have under one name, where that differs; nil is nothing.
type pair struct{ was, is *Entry }

// pairsOf compares two folders, and gives what differs in the order of names.
func pairsOf(olds, news []Entry) []pair {
	var out []pair
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
		if order != 0 || *p.was != *p.is {
			out = append(out, p)
		}
	}
	return out
}

// pairsWith is pairsOf with the encoding of the second folder's tree, whose entries
// are only made where they differ: in most folders that is one of many. It takes
// the encodings that decodeTree takes.
func (r *dirRec) pairsWith(enc []byte) ([]pair, error) {
	if !bytes.HasPrefix(enc, []byte(treeMagic)) {
		return nil, fmt.Errorf("%w: it begins otherwise", errTree)
	}
	m := &treeMerge{olds: r.ents, order: r.order, in: fields{rest: enc[len(treeMagic):]}}
	if m.order == nil {
		m.order = sortNames(r.ents)
	}
	n := m.in.uvarint()
	if n > uint64(len(m.in.rest)) { // an entry takes three bytes at least
		return nil, fmt.Errorf("%w: it can't hold %d entries", errTree, n)
	}
	for range n {
		if err := m.next(); err != nil {
			return nil, err
		}
	}
	m.skipTo(nil)
	if m.in.bad == nil && len(m.in.rest) > 0 {
		m.in.fail("bytes behind the last entry")
	}
	return m.out, m.in.bad
}

// treeMerge goes through a known folder and an encoded one side by side.
type treeMerge struct {
	olds  []cached
	order []int32 // places in olds, by name, of those that are still to come
	in    fields
	last  []byte // the name before
	out   []pair
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
	if was == nil || *was != is {
		m.out = append(m.out, pair{was, &is})
	}
	return nil
}

// skipTo gives out what of the known folder comes before a name; nil is its end.
func (m *treeMerge) skipTo(name []byte) {
	for len(m.order) > 0 {
		e := &m.olds[m.order[0]].Entry
		if name != nil && e.Name >= string(name) {
			return
		}
		m.out = append(m.out, pair{was: e})
		m.order = m.order[1:]
	}
}

// skip passes what follows an entry's name if it is what e has, for the common kinds.
func (r *fields) skip(kind Kind, e *Entry) bool {
	if kind != e.Kind || e.Text != "" || len(r.rest) < len(e.Digest) || !bytes.Equal(r.rest[:len(e.Digest)], e.Digest[:]) {
		return false
	}
	rest := r.rest[len(e.Digest):]
	switch kind {
	case Folder:
		r.rest = rest
		return e.Size == 0
	case File, Executable:
		var size [binary.MaxVarintLen64]byte
		want := binary.AppendUvarint(size[:0], uint64(e.Size))
		if bytes.HasPrefix(rest, want) {
			r.rest = rest[len(want):]
			return true
		}
	}
	return false
}

// treeAgainst compares a folder that is known with a tree of the store.
func (s *Store) treeAgainst(val []byte, d Digest, known *dirRec) ([]pair, error) {
	if Sum(val) != d {
		return nil, &DamageError{Digest: d, What: "tree", Reason: "its content is another one"}
	}
	pairs, err := known.pairsWith(val)
	if err != nil {
		return nil, &DamageError{Digest: d, What: "tree", Reason: err.Error()}
	}
	return pairs, nil
}
