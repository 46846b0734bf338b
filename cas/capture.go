package cas

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fettle-cli/fettle/internal/kv"
)

const (
	// maxReads is how often a file is read again that changed meanwhile.
	maxReads = 3
	// groupBlobs and groupBytes bound what is looked up in one View, and is in
	// memory until then.
	groupBlobs = 256
	groupBytes = 4 << 20
	// waitingBlobs is how many contents may wait for the writer; with groupBytes
	// and a worker's own it bounds memory to some 30 MB.
	waitingBlobs = 16
)

// errUnstable is a file that changed each time it was read.
var errUnstable = errors.New(reasonUnstable)

// capturer reads files and keeps their content.
type capturer struct {
	s       *Store
	scan    *scanner
	limits  Limits
	used    int64 // bytes that count for the chat already
	all     int64 // … and for the store
	found   present
	foreign bool // the folder's file system has its own clock
	moved   func(files int, bytes int64)

	blobs chan blob
	added atomic.Int64
	read  atomic.Int64
}

// blob is content on its way to the store.
type blob struct {
	digest Digest
	record []byte // encRaw and the content
}

// run reads all entries that the scan has left to do, and writes their blobs to
// b, which takes one writer.
func (c *capturer) run(ctx context.Context, b *kv.Batch, found map[string]*folderScan) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	type job struct {
		path string
		scan *folderScan
	}
	jobs := make(chan job)
	c.blobs = make(chan blob, waitingBlobs)
	var readers sync.WaitGroup
	for range c.s.workers {
		readers.Go(func() {
			for j := range jobs {
				if err := c.folder(ctx, j.path, j.scan); err != nil {
					cancel(err)
				}
			}
		})
	}
	go func() { // ends with the readers, which end with the jobs
		for path, f := range found {
			if len(f.todo) == 0 {
				continue
			}
			select {
			case jobs <- job{path, f}:
			case <-ctx.Done():
			}
		}
		close(jobs)
		readers.Wait()
		close(c.blobs)
	}()
	if err := c.write(ctx, b); err != nil {
		cancel(err)
		for range c.blobs { // until the readers have ended
		}
	}
	return context.Cause(ctx)
}

// write keeps the blobs that the store doesn't have.
func (c *capturer) write(ctx context.Context, b *kv.Batch) error {
	seen := make(map[Digest]bool)
	var group []blob
	size := 0
	for bl := range c.blobs {
		if seen[bl.digest] {
			continue
		}
		seen[bl.digest] = true
		group = append(group, bl)
		if size += len(bl.record); size < groupBytes && len(group) < groupBlobs {
			continue
		}
		if err := c.writeGroup(ctx, b, group); err != nil {
			return err
		}
		group, size = group[:0], 0
	}
	return c.writeGroup(ctx, b, group)
}

func (c *capturer) writeGroup(ctx context.Context, b *kv.Batch, group []blob) error {
	if len(group) == 0 {
		return nil
	}
	has := make([]bool, len(group))
	err := c.s.kv.View(ctx, func(tx *kv.Tx) (err error) {
		for i := range group {
			if has[i], err = c.s.blobs.Has(tx, group[i].digest.key()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, bl := range group {
		if has[i] {
			continue
		}
		if err := c.account(int64(len(bl.record) - 1)); err != nil {
			return err
		}
		if err := c.s.blobs.Put(b, bl.digest.key(), bl.record); err != nil {
			return err
		}
	}
	c.s.pause("blobs")
	return nil
}

// account counts what is brought into the store, up to the quota.
func (c *capturer) account(n int64) error {
	added := c.added.Add(n)
	if limit := c.limits.Chat; limit > 0 && c.used+added > limit {
		return &QuotaError{What: "the files of this chat", Have: c.used + added, Limit: limit}
	}
	if limit := c.limits.Total; limit > 0 && c.all+added > limit {
		return &QuotaError{What: "the files of all chats", Have: c.all + added, Limit: limit}
	}
	return nil
}

// folder reads the files of one folder.
func (c *capturer) folder(ctx context.Context, path string, f *folderScan) error {
	d, err := c.scan.t.dir(path)
	if err != nil {
		if path == "" {
			return err
		}
		f.rec, f.gone = nil, gone(err)
		if !f.gone {
			f.fail = reasonOf(err)
		}
		return nil
	}
	defer d.close()
	lost := false
	first := int64(0)
	if old := c.scan.old.dirs.get(path); old != nil {
		first = old.scanned
	}
	for _, i := range f.todo {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		e := &f.rec.ents[i]
		err := c.file(ctx, d, e, first)
		switch {
		case err == nil:
		case isFault(err):
			return fmt.Errorf("%s: %w", EscapePath(join(path, e.Name)), err)
		case gone(err):
			e.Kind = 0
			lost = true
		default:
			st, _ := d.lstat(e.Name)
			*e = cached{Entry: Entry{Name: e.Name, Kind: Failed, Text: reasonOf(err), Size: st.size}}
		}
	}
	if lost {
		f.rec.dropEmpty()
	}
	return nil
}

// dropEmpty removes the entries that turned out to be gone.
func (r *dirRec) dropEmpty() {
	kept := r.ents[:0]
	for _, e := range r.ents {
		if e.Kind != 0 {
			kept = append(kept, e)
		}
	}
	r.ents = kept
}

// storeError marks a fault of the store, which ends a snapshot, among those of
// a file, which become an entry.
type storeError struct{ error }

func (e storeError) Unwrap() error { return e.error }

func isFault(err error) bool {
	var store storeError
	return errors.As(err, &store) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// file reads a file until it didn't change meanwhile, and fills its entry.
func (c *capturer) file(ctx context.Context, d *dir, e *cached, first int64) error {
	for try := range maxReads {
		if try > 0 && !rest(ctx, time.Millisecond<<try) { // let a quick writer finish
			return storeError{context.Cause(ctx)}
		}
		err := c.fileOnce(ctx, d, e, first)
		if !errors.Is(err, errUnstable) {
			return err
		}
	}
	return errUnstable
}

// rest waits, and tells whether ctx let it.
func rest(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (c *capturer) fileOnce(ctx context.Context, d *dir, e *cached, first int64) error {
	h, err := d.handle(e.Name)
	if err != nil {
		return err
	}
	whose := h.close
	defer func() { whose() }()
	st, err := h.stat()
	if err != nil {
		return err
	}
	if st.form != regular {
		return errUnstable
	}
	if st.size > c.limits.MaxFile {
		*e = cached{Entry: Entry{Name: e.Name, Kind: Failed, Text: reasonTooLarge, Size: st.size}}
		return nil
	}
	if err := c.s.check("read", e.Name); err != nil {
		return err
	}
	known := e.unchanged(&st)
	var sum Digest
	if st.size <= smallBlob {
		sum, err = c.small(ctx, h, &st, e)
	} else {
		f := h.file()
		whose = func() { _ = f.Close() }
		sum, err = c.large(ctx, f, &st, e)
	}
	if err != nil {
		return err
	}
	if !known {
		first = 0
	}
	e.remember(&st)
	e.Digest, e.Text = sum, ""
	e.racy = racy(&st, c.scan.now, first, c.foreign || c.scan.elsewhere(&st))
	c.moved(1, st.size)
	c.read.Add(1)
	return nil
}

// settled checks that a file of n bytes, which has the stat after now, didn't change
// since st.
func settled(after stat, err error, st *stat, n int64) error {
	if err != nil {
		return err
	}
	if n != st.size || !st.same(&after) {
		return errUnstable
	}
	return nil
}

// small reads a file whole and hands it to the writer.
func (c *capturer) small(ctx context.Context, h handle, st *stat, e *cached) (Digest, error) {
	record := make([]byte, 1+st.size+1) // one more, to see that it has grown
	record[0] = encRaw
	n, err := io.ReadAtLeast(h, record[1:], int(st.size)) // that its end is there its stat tells
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return Digest{}, err
	}
	after, err := h.stat()
	if err := settled(after, err, st, int64(n)); err != nil {
		return Digest{}, err
	}
	record = record[:1+n]
	sum := Sum(record[1:])
	if e.content() && e.Digest == sum {
		return sum, nil // the store has it
	}
	select {
	case c.blobs <- blob{sum, record}:
		return sum, nil
	case <-ctx.Done():
		return sum, storeError{context.Cause(ctx)}
	}
}

// large streams a file into the store. Where the file system can, the store
// shares its blocks, and what is summed can't change any more.
func (c *capturer) large(ctx context.Context, f *os.File, st *stat, e *cached) (Digest, error) {
	if e.content() && e.Size == st.size && c.s.hasFile(e.Digest, e.Size) {
		cp := copier{ctx: ctx, sum: sha256.New()}
		n, err := cp.copy(nil, f)
		if err == nil {
			after, serr := fstat(f)
			err = settled(after, serr, st, n)
		}
		if err != nil || cp.digest() == e.Digest {
			return e.Digest, err
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return Digest{}, err
		}
	}
	if err := c.s.roomFor(st.size, c.limits.KeepFree); err != nil {
		return Digest{}, storeError{err}
	}
	tmp, err := c.s.tempFile()
	if err != nil {
		return Digest{}, storeError{err}
	}
	sum, err := c.stream(ctx, tmp, f, st)
	err = errors.Join(err, tmp.Close())
	kept := false
	if err == nil {
		if kept, err = c.keep(tmp, sum, st.size); err != nil {
			err = storeError{err}
		}
	}
	if !kept {
		err = errors.Join(err, os.Remove(tmp.Name()))
	}
	return sum, err
}

// keep keeps a written and closed temporary file as a blob, unless there is that blob.
func (c *capturer) keep(tmp *os.File, d Digest, size int64) (kept bool, err error) {
	there, err := c.found.has(d, size)
	if there || err != nil {
		return false, err
	}
	if err := c.account(size); err != nil {
		return false, err
	}
	if err := c.s.keepFile(tmp, d); err != nil {
		return false, err
	}
	return true, nil
}

// stream copies a file to a temporary one and gives its digest.
func (c *capturer) stream(ctx context.Context, tmp, f *os.File, st *stat) (Digest, error) {
	cp := copier{ctx: ctx, sum: sha256.New()}
	var n int64
	var err error
	if c.s.check("clone", "") == nil && clone(tmp, f) == nil {
		n, err = cp.copy(nil, tmp)
	} else {
		n, err = c.copyIn(&cp, tmp, f)
	}
	if err == nil {
		after, serr := fstat(f)
		err = settled(after, serr, st, n)
	}
	if err != nil {
		return Digest{}, err
	}
	if err := errors.Join(tmp.Chmod(0o400), tmp.Sync()); err != nil {
		return Digest{}, storeError{err}
	}
	return cp.digest(), nil
}

// copyIn copies, and tells a fault of the store from one of the file.
func (c *capturer) copyIn(cp *copier, tmp, f *os.File) (int64, error) {
	in := &markedReader{r: f}
	n, err := cp.copy(tmp, in)
	if err != nil && in.err == nil {
		return n, storeError{fmt.Errorf("write blob: %w", err)}
	}
	return n, err
}

// markedReader keeps the error of a reader.
type markedReader struct {
	r   io.Reader
	err error
}

func (m *markedReader) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		m.err = err
	}
	return n, err
}

// roomFor asks whether the disk of the store can take n bytes and keep some.
func (s *Store) roomFor(n, keep int64) error {
	free, _, err := kv.Free(s.dir)
	if err != nil {
		return fmt.Errorf("look for room on the disk: %w", err)
	}
	if free-n < keep {
		return &QuotaError{What: "room on the disk after it", Have: free - n, Limit: keep}
	}
	return nil
}
