package cas

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/fettle-cli/fettle/internal/kv"
)

// The stored form of the stat cache. A folder has a record, or several where it
// is large, and possibly a patch: the entries that have changed since those were
// written, so that one edit among many files doesn't write all of them again.
// What was written by parts before a crash is found when it is loaded, by what
// the parts say of each other.

const (
	// cacheMagic begins a record of the stat cache, and its version follows. A record
	// that begins otherwise is as good as none.
	cacheMagic = "fstat"
	// cachePlain is the version of records without permission bits of their own, and
	// cachePerms that of records without Linked, which older programs wrote; cacheVersion is
	// what is written.
	cachePlain, cachePerms, cacheVersion = 2, 3, 4
	// cachePiece is how many entries a record holds: 20,000 of ordinary names
	// are 2 MB.
	cachePiece = 20_000
	// patchPiece is the number of a folder's patch among its records.
	patchPiece = 1 << 30
	// patchShare is how many of a folder's entries a patch may have: one in so
	// many. More are written with all others.
	patchShare = 8
	// maxCachedPath bounds what can be a key of the store. A folder with a
	// longer path is read anew each time.
	maxCachedPath = 4096
	// headDir is the key of the record about the workspace. No folder is
	// called so, for a path doesn't begin with a slash.
	headDir = "/"
)

func cacheKey(ws, dir string, piece int) kv.Key { return kv.Str(ws).Str(dir).Int(int64(piece)) }

// baseOf names the state of a folder that its pieces are of.
type baseOf struct {
	tree    Digest
	scanned int64
	entries int
}

// stamp names the folder's state as it is.
func (r *dirRec) stamp() baseOf { return baseOf{r.tree, r.scanned, len(r.ents)} }

// encode gives the records of a folder.
func (r *dirRec) encode() [][]byte {
	var out [][]byte
	for rest, first := r.ents, true; first || len(rest) > 0; first = false {
		n := min(len(rest), cachePiece)
		b := r.begin(n)
		b = binary.AppendUvarint(b, uint64(n))
		for i := range rest[:n] {
			b = appendCached(b, &rest[i])
		}
		out = append(out, b)
		rest = rest[n:]
	}
	return out
}

// encodePatch gives the record of the entries at some places.
func (r *dirRec) encodePatch(places []int32, base baseOf) []byte {
	b := r.begin(len(places))
	b = append(b, base.tree[:]...)
	b = binary.AppendVarint(b, base.scanned)
	b = binary.AppendUvarint(b, uint64(base.entries))
	b = binary.AppendUvarint(b, uint64(len(places)))
	for _, at := range places {
		b = binary.AppendUvarint(b, uint64(at))
		b = appendCached(b, &r.ents[at])
	}
	return b
}

// begin begins a record of n entries with what is said of the folder itself.
func (r *dirRec) begin(n int) []byte {
	b := beginCache(128 + n*96)
	b = append(b, r.tree[:]...)
	b = binary.AppendVarint(b, r.scanned)
	b = binary.AppendUvarint(b, uint64(len(r.ents)))
	b = binary.AppendVarint(b, r.listed.mtime)
	b = binary.AppendVarint(b, r.listed.ctime)
	return binary.AppendUvarint(b, r.listed.ino)
}

// beginCache begins a record of the stat cache of about size bytes.
func beginCache(size int) []byte {
	return append(append(make([]byte, 0, size), cacheMagic...), cacheVersion)
}

func appendCached(b []byte, c *cached) []byte {
	b = append(b, byte(c.Kind))
	b = appendString(b, c.Name)
	if c.Kind.withPerms() {
		b = binary.AppendUvarint(b, uint64(c.Perm))
	}
	switch c.Kind {
	case File, Executable:
		racy := byte(0)
		if c.racy {
			racy = 1
		}
		b = append(b, racy)
		b = append(b, c.Digest[:]...)
		b = binary.AppendUvarint(b, uint64(c.Size))
		b = binary.AppendUvarint(b, uint64(c.mode))
		b = binary.AppendVarint(b, c.mtime)
		b = binary.AppendVarint(b, c.ctime)
		b = binary.AppendUvarint(b, c.ino)
		return appendString(b, c.Linked)
	case Folder:
		return append(b, c.Digest[:]...)
	}
	b = appendString(b, c.Text)
	return binary.AppendUvarint(b, uint64(c.Size))
}

func (r *fields) cached() (c cached) {
	c.Kind = Kind(r.byte())
	c.Name = r.string(maxName)
	if r.perms && c.Kind.withPerms() {
		c.Perm = r.perm(c.Kind)
	}
	switch c.Kind {
	case File, Executable:
		c.racy = r.byte() != 0
		r.digest(&c.Digest)
		c.Size = r.size()
		c.mode = uint32(r.uvarint())
		c.mtime, c.ctime = r.varint(), r.varint()
		c.ino = r.uvarint()
		if r.links {
			c.Linked = r.linked()
		}
	case Folder:
		r.digest(&c.Digest)
	default:
		c.Text = r.string(maxText)
		c.Size = r.size()
	}
	return c
}

// about is what a record says of its folder.
func (r *fields) about() (of baseOf, l listing) {
	of = r.base()
	l.mtime, l.ctime = r.varint(), r.varint()
	l.ino = r.uvarint()
	return of, l
}

func (r *fields) base() (of baseOf) {
	r.digest(&of.tree)
	of.scanned = r.varint()
	of.entries = int(min(r.uvarint(), math.MaxInt32))
	return of
}

func (r *fields) varint() int64 {
	n, used := binary.Varint(r.rest)
	if used <= 0 {
		r.fail("a number can't be read")
		return 0
	}
	r.rest = r.rest[used:]
	return n
}

// cacheFields begins to read a record of the stat cache.
func cacheFields(b []byte) *fields {
	f := &fields{rest: b}
	head := len(cacheMagic) + 1
	if len(b) < head || string(b[:len(cacheMagic)]) != cacheMagic || b[head-1] < cachePlain || b[head-1] > cacheVersion {
		f.fail("it begins otherwise")
		return f
	}
	f.rest, f.perms, f.links = b[head:], b[head-1] >= cachePerms, b[head-1] == cacheVersion
	return f
}

// decode adds a stored piece to the folder. All pieces say the same of it, or a
// crash came between them.
func (r *dirRec) decode(b []byte) error {
	f := cacheFields(b)
	of, listed := f.about()
	if r.pieces > 0 && of != r.base {
		return errTree
	}
	r.tree, r.scanned, r.listed, r.base = of.tree, of.scanned, listed, of
	n := f.uvarint()
	if n > uint64(len(f.rest)) || n > cachePiece {
		return errTree
	}
	r.ents = slices.Grow(r.ents, int(n))
	for range n {
		r.ents = append(r.ents, f.cached())
	}
	r.pieces++
	return f.bad
}

// decodePatch puts the entries of a patch in their places.
func (r *dirRec) decodePatch(b []byte) error {
	f := cacheFields(b)
	of, listed := f.about()
	if base := f.base(); r.pieces == 0 || base != r.base || of.entries != len(r.ents) {
		return errTree
	}
	r.tree, r.scanned, r.listed = of.tree, of.scanned, listed
	n := f.uvarint()
	if n > uint64(len(r.ents)) {
		return errTree
	}
	r.patch = make([]int32, 0, n)
	for range n {
		at := f.uvarint()
		c := f.cached()
		if f.bad != nil || at >= uint64(len(r.ents)) || r.ents[at].Name != c.Name {
			return errTree
		}
		r.ents[at] = c
		r.patch = append(r.patch, int32(at))
	}
	return f.bad
}

// loadIndex reads a workspace's stat cache. If any of it can't be read, all of
// it is dropped: files are read anew then.
func (s *Store) loadIndex(ctx context.Context, ws string) (*index, error) {
	ix, recs, err := s.readRecords(ctx, ws)
	if errors.Is(err, errTree) {
		return new(index), s.dropCache(ctx, ws)
	}
	if err != nil {
		return nil, err
	}
	ix.dirs = foldersOf(recs)
	return ix, nil
}

// readRecords reads the head of a workspace's stat cache, and the records of all folders. The
// error is errTree if one of them can't be read, or they are not of one moment.
func (s *Store) readRecords(ctx context.Context, ws string) (*index, map[string]*dirRec, error) {
	ix, recs, bad := new(index), make(map[string]*dirRec), false
	err := s.kv.View(ctx, func(tx *kv.Tx) error {
		for item, err := range s.cache.Scan(tx, kv.Range{Prefix: kv.Str(ws)}) {
			var corrupt *kv.CorruptError
			if errors.As(err, &corrupt) {
				bad = true
				return nil
			}
			if err != nil {
				return err
			}
			bad = bad || !ix.add(item, recs)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if bad || !whole(recs) {
		return nil, nil, errTree
	}
	for _, r := range recs {
		r.count()
	}
	return ix, recs, nil
}

// add reads a stored record into the index's head or into recs, and reports whether it could
// be read.
func (ix *index) add(item kv.RawItem, recs map[string]*dirRec) bool {
	parts, err := item.Key.Parts()
	if err != nil || len(parts) != 3 {
		return false
	}
	dir, _ := parts[1].(string)
	piece, _ := parts[2].(int64)
	if dir == headDir {
		ix.readHead(item.Value)
		return true
	}
	r := recs[dir]
	if r == nil {
		r = new(dirRec)
		recs[dir] = r
	}
	if piece == patchPiece {
		return r.decodePatch(item.Value) == nil
	}
	return int(piece) == r.pieces && r.decode(item.Value) == nil
}

// whole reports whether the folders' records are of one moment: what a folder has
// of those in it is what they are. They are mostly written in one step; where
// they are too many for that a crash may come in between.
func whole(recs map[string]*dirRec) bool {
	for path, r := range recs {
		if len(r.ents) != r.base.entries {
			return false // a piece is missing
		}
		for i := range r.ents {
			e := &r.ents[i].Entry
			if e.Kind != Folder {
				continue
			}
			if below := recs[join(path, e.Name)]; below != nil && below.tree != e.Digest {
				return false
			}
		}
	}
	return true
}

func (ix *index) encodeHead() []byte {
	b := beginCache(160)
	b = binary.AppendUvarint(b, ix.root.dev)
	b = binary.AppendUvarint(b, ix.root.ino)
	t := ix.totals()
	return t.append(appendString(b, ix.epoch))
}

// readHead reports whether the head has totals, which those of older programs do not have.
func (ix *index) readHead(b []byte) bool {
	f := cacheFields(b)
	dev, ino, epoch := f.uvarint(), f.uvarint(), f.string(maxText)
	if f.bad == nil {
		ix.root.dev, ix.root.ino, ix.epoch = dev, ino, epoch
	}
	ix.head.read(f)
	return f.bad == nil
}

// cacheWrite is a change to the stored index: nothing but a patch, or all pieces
// of a folder, or its removal.
type cacheWrite struct {
	dir      string
	patch    []byte
	pieces   [][]byte // none removes the folder
	had      int      // how many pieces are stored
	hadPatch bool
}

func (c cacheWrite) size() int {
	n := len(c.dir) + len(c.patch)
	for _, p := range c.pieces {
		n += len(p)
	}
	return n
}

// changes lists what must be written so that the store has ix instead of old.
func (ix *index) changes(old *index) []cacheWrite {
	var out []cacheWrite
	if ix.epoch != old.epoch || ix.root.ino != old.root.ino || ix.root.dev != old.root.dev || ix.totals() != old.totals() {
		out = append(out, cacheWrite{dir: headDir, pieces: [][]byte{ix.encodeHead()}})
	}
	for _, dir := range ix.dirs.differing(&old.dirs) {
		r, was := ix.dirs.get(dir), old.dirs.get(dir)
		switch {
		case r == nil && was.pieces > 0:
			out = append(out, cacheWrite{dir: dir, had: was.pieces, hadPatch: was.patch != nil})
		case r != nil && len(dir) <= maxCachedPath:
			out = append(out, r.replacing(dir, was))
		}
	}
	return out
}

// replacing gives what must be written so that the store has r instead of was,
// which is nil where it has nothing of the folder.
func (r *dirRec) replacing(dir string, was *dirRec) cacheWrite {
	w := cacheWrite{dir: dir}
	if was != nil {
		w.had, w.hadPatch = was.pieces, was.patch != nil
	}
	if places, ok := r.differing(was); ok {
		r.pieces, r.patch, r.base = was.pieces, places, was.base
		w.patch = r.encodePatch(places, was.base)
		return w
	}
	w.pieces = r.encode()
	r.pieces, r.patch, r.base = len(w.pieces), nil, r.stamp()
	return w
}

// differing lists the places that a patch of was must have, if few enough are.
func (r *dirRec) differing(was *dirRec) (places []int32, ok bool) {
	if was == nil || was.pieces == 0 || !sameNames(r.ents, was.ents) {
		return nil, false
	}
	places = make([]int32, 0, len(r.ents)/patchShare+1)
	had := was.patch
	for i := range r.ents {
		patched := len(had) > 0 && int(had[0]) == i
		if patched {
			had = had[1:]
		}
		if !patched && r.ents[i] == was.ents[i] {
			continue
		}
		if len(places) == cap(places) {
			return nil, false
		}
		places = append(places, int32(i))
	}
	return places, len(places)*patchShare <= len(r.ents)
}

func (s *Store) writeCache(w kv.Writer, ws string, changes []cacheWrite) error {
	for _, c := range changes {
		if c.patch != nil {
			if err := s.cache.Put(w, cacheKey(ws, c.dir, patchPiece), c.patch); err != nil {
				return err
			}
			continue
		}
		if c.hadPatch {
			if err := s.cache.Delete(w, cacheKey(ws, c.dir, patchPiece)); err != nil {
				return err
			}
		}
		for i, p := range c.pieces {
			if err := s.cache.Put(w, cacheKey(ws, c.dir, i), p); err != nil {
				return err
			}
		}
		for i := len(c.pieces); i < c.had; i++ {
			if err := s.cache.Delete(w, cacheKey(ws, c.dir, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropCache removes all that is stored of a workspace's stats.
func (s *Store) dropCache(ctx context.Context, ws string) error {
	var keys []kv.Key
	err := s.kv.View(ctx, func(tx *kv.Tx) error {
		keys = nil
		for k, err := range s.cache.Keys(tx, kv.Range{Prefix: kv.Str(ws)}) {
			if err != nil {
				return err
			}
			keys = append(keys, k)
		}
		return nil
	})
	if err != nil || len(keys) == 0 {
		return err
	}
	return s.kv.Batch(ctx, func(b *kv.Batch) error {
		for _, k := range keys {
			if err := s.cache.Delete(b, k); err != nil {
				return err
			}
		}
		return nil
	})
}
