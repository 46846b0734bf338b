package cas

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/internal/kv"
)

// index is the stat cache of one workspace: what each file's stat was when its
// digest was taken. It is a hint. Dropping it costs a reading of every file.
type index struct {
	epoch string // of the store, when all its digests were known to be there
	root  stat   // the folder that it was taken of; only ino and dev count
	dirs  map[string]*dirRec
	// stale is the index that the store has where this one isn't made of it by
	// a scan; it tells what must be removed there.
	stale *index
}

// dirRec is what is known of one folder. It is not changed once it is in an
// index: snapshots share it.
type dirRec struct {
	ents    []cached // in the order in which the system lists them
	tree    Digest
	scanned int64 // when the folder was read, by our clock
	pieces  int   // in how many records it is stored; 0 where it isn't

	files  int
	bytes  int64
	failed int
	others int // entries that can't be brought back: failed and left out
}

// cached is an entry with the stat by which it is known again.
type cached struct {
	Entry
	mode  uint32
	mtime int64
	ctime int64
	ino   uint64
	// racy marks a digest that was taken so soon after a change that another
	// change needn't show in the stat. It is taken anew the next time.
	racy bool
}

// clean tells whether a file still is what the cache has of it.
func (c *cached) clean(st *stat) bool {
	return !c.racy && c.unchanged(st)
}

func (c *cached) unchanged(st *stat) bool {
	return c.content() && c.Size == st.size && c.mtime == st.mtime && c.ctime == st.ctime &&
		c.ino == st.ino && c.mode == st.mode && st.form == regular
}

// remember notes the stat that belongs to an entry's content.
func (c *cached) remember(st *stat) {
	c.Kind, c.Size, c.mode = st.fileKind(), st.size, st.mode
	c.mtime, c.ctime, c.ino = st.mtime, st.ctime, st.ino
}

// sorted gives the folder's entries as a tree has them.
func (r *dirRec) sorted() []Entry {
	out := make([]Entry, len(r.ents))
	for i := range r.ents {
		out[i] = r.ents[i].Entry
	}
	slices.SortFunc(out, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// count sums up the folder's own entries.
func (r *dirRec) count() {
	r.files, r.bytes, r.failed, r.others = 0, 0, 0, 0
	for i := range r.ents {
		e := &r.ents[i].Entry
		switch e.Kind {
		case File, Executable:
			r.files++
			r.bytes += e.Size
		case Failed:
			r.failed++
		}
		if !e.kept() {
			r.others++
		}
	}
}

const (
	// cacheMagic begins a record of the stat cache; its last byte is the
	// version. A record that begins otherwise is as good as none.
	cacheMagic = "fstat\x01"
	// cachePiece is how many entries a record holds: 20,000 of ordinary names
	// are 2 MB.
	cachePiece = 20_000
	// maxCachedPath bounds what can be a key of the store. A folder with a
	// longer path is read anew each time.
	maxCachedPath = 4096
	// headDir is the key of the record about the workspace. No folder is
	// called so, for a path doesn't begin with a slash.
	headDir = "/"
)

func cacheKey(ws, dir string, piece int) kv.Key { return kv.Str(ws).Str(dir).Int(int64(piece)) }

// encode gives the records of a folder.
func (r *dirRec) encode() [][]byte {
	var out [][]byte
	for rest, first := r.ents, true; first || len(rest) > 0; first = false {
		n := min(len(rest), cachePiece)
		out = append(out, r.piece(rest[:n]))
		rest = rest[n:]
	}
	return out
}

func (r *dirRec) piece(ents []cached) []byte {
	b := append(make([]byte, 0, 64+len(ents)*96), cacheMagic...)
	b = append(b, r.tree[:]...)
	b = binary.AppendVarint(b, r.scanned)
	b = binary.AppendUvarint(b, uint64(len(ents)))
	for i := range ents {
		c := &ents[i]
		b = append(b, byte(c.Kind))
		b = appendString(b, c.Name)
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
		case Folder:
			b = append(b, c.Digest[:]...)
		default:
			b = appendString(b, c.Text)
			b = binary.AppendUvarint(b, uint64(c.Size))
		}
	}
	return b
}

// decode adds a stored piece to the folder.
func (r *dirRec) decode(b []byte) error {
	if !strings.HasPrefix(string(b[:min(len(b), len(cacheMagic))]), cacheMagic) {
		return errTree
	}
	f := &fields{rest: b[len(cacheMagic):]}
	f.digest(&r.tree)
	r.scanned = f.varint()
	n := f.uvarint()
	if n > uint64(len(f.rest)) {
		return errTree
	}
	r.ents = slices.Grow(r.ents, int(n))
	for range n {
		var c cached
		c.Kind = Kind(f.byte())
		c.Name = f.string(maxName)
		switch c.Kind {
		case File, Executable:
			c.racy = f.byte() != 0
			f.digest(&c.Digest)
			c.Size = f.size()
			c.mode = uint32(f.uvarint())
			c.mtime, c.ctime = f.varint(), f.varint()
			c.ino = f.uvarint()
		case Folder:
			f.digest(&c.Digest)
		default:
			c.Text = f.string(maxText)
			c.Size = f.size()
		}
		r.ents = append(r.ents, c)
	}
	r.pieces++
	return f.bad
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

// loadIndex reads a workspace's stat cache. If any of it can't be read, all of
// it is dropped: files are read anew then.
func (s *Store) loadIndex(ctx context.Context, ws string) (*index, error) {
	ix := &index{dirs: make(map[string]*dirRec)}
	bad := false
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
			bad = bad || !ix.add(item)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if bad {
		return &index{dirs: make(map[string]*dirRec)}, s.dropCache(ctx, ws)
	}
	for _, r := range ix.dirs {
		r.count()
	}
	return ix, nil
}

// add takes a stored record in, and tells whether it could be read.
func (ix *index) add(item kv.RawItem) bool {
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
	r := ix.dirs[dir]
	if r == nil {
		r = new(dirRec)
		ix.dirs[dir] = r
	}
	return int(piece) == r.pieces && r.decode(item.Value) == nil
}

func (ix *index) head() []byte {
	b := append([]byte(nil), cacheMagic...)
	b = binary.AppendUvarint(b, ix.root.dev)
	b = binary.AppendUvarint(b, ix.root.ino)
	return appendString(b, ix.epoch)
}

func (ix *index) readHead(b []byte) {
	if !strings.HasPrefix(string(b[:min(len(b), len(cacheMagic))]), cacheMagic) {
		return
	}
	f := &fields{rest: b[len(cacheMagic):]}
	dev, ino, epoch := f.uvarint(), f.uvarint(), f.string(maxText)
	if f.bad == nil {
		ix.root.dev, ix.root.ino, ix.epoch = dev, ino, epoch
	}
}

// cacheWrite is a change to the stored index.
type cacheWrite struct {
	dir    string
	pieces [][]byte // none removes the folder
	had    int      // how many pieces are stored
}

func (c cacheWrite) size() int {
	n := len(c.dir)
	for _, p := range c.pieces {
		n += len(p)
	}
	return n
}

// changes lists what must be written so that the store has ix instead of old.
func (ix *index) changes(old *index) []cacheWrite {
	var out []cacheWrite
	if ix.epoch != old.epoch || ix.root.ino != old.root.ino || ix.root.dev != old.root.dev {
		out = append(out, cacheWrite{dir: headDir, pieces: [][]byte{ix.head()}})
	}
	for dir, r := range ix.dirs {
		was := old.dirs[dir]
		if was == r || len(dir) > maxCachedPath {
			continue
		}
		w := cacheWrite{dir: dir, pieces: r.encode()}
		if was != nil {
			w.had = was.pieces
		}
		r.pieces = len(w.pieces)
		out = append(out, w)
	}
	for dir, was := range old.dirs {
		if ix.dirs[dir] == nil && was.pieces > 0 {
			out = append(out, cacheWrite{dir: dir, had: was.pieces})
		}
	}
	return out
}

func (s *Store) writeCache(w kv.Writer, ws string, changes []cacheWrite) error {
	for _, c := range changes {
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

// lookup finds what is known under a path.
func (ix *index) lookup(path string) (cached, bool) {
	dir, name := split(path)
	if r := ix.dirs[dir]; r != nil {
		for i := range r.ents {
			if r.ents[i].Name == name {
				return r.ents[i], true
			}
		}
	}
	return cached{}, false
}
