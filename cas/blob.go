package cas

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/kv"
)

const (
	// smallBlob is the size up to which a blob is a record; larger ones are
	// files, which are streamed and can share blocks with the workspace.
	smallBlob = 1 << 20
	// copyBuffer is how much of a large file is in memory at once.
	copyBuffer = 1 << 20

	// encRaw is the first byte of a blob's record: the content as it is. Other
	// values are kept for compressed content and lists of chunks.
	encRaw = 0x00
)

func (s *Store) blobDir() string { return filepath.Join(s.dir, "blobs") }

func (s *Store) blobPath(d Digest) string {
	name := d.String()
	return filepath.Join(s.blobDir(), name[:2], name)
}

// tempDir holds what is being written. The collector removes what a crash has
// left there.
func (s *Store) tempDir() string { return filepath.Join(s.blobDir(), "tmp") }

func (s *Store) tempFile() (*os.File, error) {
	if err := s.check("tempfile", ""); err != nil {
		return nil, err
	}
	err := makeDir(s.blobDir())
	if err == nil {
		err = os.MkdirAll(s.tempDir(), 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("make folder for blobs: %w", err)
	}
	return os.CreateTemp(s.tempDir(), "blob-*")
}

// Scratch makes a file for what is on its way into a workspace, and removes it
// when done is called. Read it by its handle: a collection may take its name away
// meanwhile, and takes what a crash has left.
func (s *Store) Scratch() (f *os.File, done func(), err error) {
	if f, err = s.tempFile(); err != nil {
		return nil, nil, err
	}
	return f, func() {
		_ = f.Close()
		_ = os.Remove(f.Name()) // the next collection tries again
	}, nil
}

func (s *Store) check(call, name string) error {
	if s.fault == nil {
		return nil
	}
	return s.fault(call, name)
}

// keepFile gives a written and closed temporary file its name as a blob.
func (s *Store) keepFile(f *os.File, d Digest) error {
	path := s.blobPath(d)
	dir := filepath.Dir(path)
	err := os.Mkdir(dir, 0o700)
	made := err == nil
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	if err == nil {
		err = s.check("keepfile", path)
	}
	if err == nil {
		err = atomicfile.Rename(f.Name(), path)
	}
	if err == nil {
		err = s.syncNames(dir)
	}
	if err == nil && made {
		err = s.syncNames(s.blobDir())
	}
	if err != nil {
		return fmt.Errorf("keep blob %s: %w", d, err)
	}
	return nil
}

// makeDir makes a folder of the store that isn't there, and brings its name to the
// disk: what is synced in it would be lost with it.
func makeDir(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(path))
}

// hasFile tells whether a large blob is there with its size; whether its bytes
// are right is found when it is read.
func (s *Store) hasFile(d Digest, size int64) bool {
	info, err := os.Lstat(s.blobPath(d))
	return err == nil && info.Mode().IsRegular() && info.Size() == size
}

// syncNames brings the names of a folder of the store to the disk.
func (s *Store) syncNames(dir string) error {
	if err := s.check("syncnames", dir); err != nil {
		return err
	}
	return atomicfile.SyncDir(dir)
}

// present makes sure, for one operation, that large blobs which it finds in the store
// are on the disk. The process that made one may have been killed before it had synced
// the folder, or may not have come to that yet.
type present struct {
	s *Store

	mu     sync.Mutex
	synced map[string]bool // folders of blobs
}

// has is [Store.hasFile] for a blob that is going to be recorded. It syncs each folder
// once, and syncs nothing if the blob does not exist.
func (p *present) has(d Digest, size int64) (bool, error) {
	if !p.s.hasFile(d, size) {
		return false, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, dir := range []string{filepath.Dir(p.s.blobPath(d)), p.s.blobDir()} {
		if p.synced[dir] {
			continue
		}
		if err := p.s.syncNames(dir); err != nil {
			return false, fmt.Errorf("keep blob %s: %w", d, err)
		}
		if p.synced == nil {
			p.synced = map[string]bool{}
		}
		p.synced[dir] = true
	}
	return true, nil
}

// writeBlob streams a large blob to w and fails if its bytes aren't those that
// were stored; what was written by then is worth nothing.
func (s *Store) writeBlob(ctx context.Context, w io.Writer, d Digest, size int64) error {
	f, err := atomicfile.Open(s.blobPath(d))
	if errors.Is(err, fs.ErrNotExist) {
		return &DamageError{Digest: d, What: "blob", Reason: "it is missing"}
	}
	if err != nil {
		return fmt.Errorf("read blob %s: %w", d, err)
	}
	defer func() { _ = f.Close() }()
	c := copier{ctx: ctx, sum: sha256.New()}
	n, err := c.copy(w, f)
	if err != nil {
		return fmt.Errorf("read blob %s: %w", d, err)
	}
	return c.matches(d, n, size)
}

func (c *copier) matches(d Digest, n, size int64) error {
	if n != size {
		return &DamageError{Digest: d, What: "blob", Reason: fmt.Sprintf("it has %d bytes instead of %d", n, size)}
	}
	if c.digest() != d {
		return &DamageError{Digest: d, What: "blob", Reason: "its content is another one"}
	}
	return nil
}

// copier copies and sums. Long runs of zeros become holes where the target is a
// file that was empty.
type copier struct {
	ctx context.Context
	sum hash.Hash
	buf []byte
	// moved is called with the bytes of each piece; it may be nil.
	moved func(n int64)
}

func (c *copier) digest() (d Digest) {
	c.sum.Sum(d[:0])
	return d
}

// copy copies r to w, which may be nil to sum only.
func (c *copier) copy(w io.Writer, r io.Reader) (int64, error) {
	if c.buf == nil {
		c.buf = make([]byte, copyBuffer)
	}
	file, _ := w.(*os.File)
	var total int64
	hole := false
	for {
		if err := c.ctx.Err(); err != nil {
			return total, err
		}
		n, err := io.ReadFull(r, c.buf)
		piece := c.buf[:n]
		_, _ = c.sum.Write(piece)
		total += int64(n)
		if c.moved != nil {
			c.moved(int64(n))
		}
		if n > 0 && w != nil {
			var werr error
			if hole = file != nil && zeros(piece); hole {
				_, werr = file.Seek(int64(n), io.SeekCurrent)
			} else {
				_, werr = w.Write(piece)
			}
			if werr != nil {
				return total, werr
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			if hole && file != nil {
				return total, file.Truncate(total)
			}
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

// zeros tells whether b is all zeros; in most files the first byte answers.
func zeros(b []byte) bool {
	const step = 4096
	var none [step]byte
	for len(b) >= step {
		if [step]byte(b) != none {
			return false
		}
		b = b[step:]
	}
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// smallBlobOf reads a blob that is a record.
func (s *Store) smallBlobOf(tx *kv.Tx, d Digest, use func(content []byte) error) error {
	err := s.blobs.Read(tx, d.key(), func(val []byte) error {
		if len(val) == 0 || val[0] != encRaw {
			return &DamageError{Digest: d, What: "blob", Reason: "its encoding is unknown"}
		}
		if Sum(val[1:]) != d {
			return &DamageError{Digest: d, What: "blob", Reason: "its content is another one"}
		}
		return use(val[1:])
	})
	return damaged(err, d, "blob")
}

// damaged names the object that a fault of the records is about.
func damaged(err error, d Digest, what string) error {
	var corrupt *kv.CorruptError
	switch {
	case errors.Is(err, kv.ErrNotFound):
		return &DamageError{Digest: d, What: what, Reason: "it is missing"}
	case errors.As(err, &corrupt):
		return &DamageError{Digest: d, What: what, Reason: oneLine(corrupt)}
	}
	return err
}

// treeOf reads a tree. One that is too large for a record is a file, and its
// record is empty.
func (s *Store) treeOf(tx *kv.Tx, d Digest) ([]Entry, error) {
	val, err := s.trees.Get(tx, d.key())
	if err != nil {
		return nil, damaged(err, d, "tree")
	}
	if len(val) == 0 {
		if val, err = s.treeFile(d); err != nil {
			return nil, err
		}
	}
	return checkTree(d, val)
}

// checkTree decodes a tree that is what its digest says.
func checkTree(d Digest, val []byte) ([]Entry, error) {
	if Sum(val) != d {
		return nil, &DamageError{Digest: d, What: "tree", Reason: "its content is another one"}
	}
	entries, err := decodeTree(val)
	if err != nil {
		return nil, &DamageError{Digest: d, What: "tree", Reason: err.Error()}
	}
	return entries, nil
}

func (s *Store) treeFile(d Digest) ([]byte, error) {
	info, err := os.Lstat(s.blobPath(d))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &DamageError{Digest: d, What: "tree", Reason: "its file is missing"}
	case err != nil:
		return nil, fmt.Errorf("read tree %s: %w", d, err)
	case info.Size() > maxTree:
		return nil, &DamageError{Digest: d, What: "tree", Reason: "its file is too large"}
	}
	return atomicfile.ReadFile(s.blobPath(d))
}

// maxTreeRecord is the largest tree that is a record.
const maxTreeRecord = 8 << 20

// putTree stores a tree's encoding.
func (s *Store) putTree(w kv.Writer, t newTree) error {
	d, enc := t.digest, t.enc
	if len(enc) <= maxTreeRecord {
		return s.trees.Put(w, d.key(), enc)
	}
	if len(enc) > maxTree {
		return &FolderError{Path: t.path, Size: int64(len(enc)), Limit: maxTree}
	}
	there, err := (&present{s: s}).has(d, int64(len(enc)))
	if err == nil && !there {
		err = s.writeFileBlob(d, enc)
	}
	if err != nil {
		return err
	}
	return s.trees.Put(w, d.key(), nil)
}

// writeFileBlob makes a file of bytes that are in memory.
func (s *Store) writeFileBlob(d Digest, content []byte) error {
	f, err := s.tempFile()
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = s.keepFile(f, d)
	}
	if err != nil {
		return errors.Join(err, ignoreMissing(os.Remove(f.Name())))
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
