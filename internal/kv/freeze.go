package kv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4/table"
)

// Closed runs fn while no process has the database open, and none can open it:
// for work on the store's folder as a whole. fn must not start an operation of
// s, and be done in two seconds.
func (s *Store) Closed(ctx context.Context, fn func(dir string) error) error {
	if err := s.keepClosed(ctx); err != nil {
		return err
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.moving = false
		s.signal()
	}()
	now := time.Now()
	w := &waiting{store: s, start: now, since: now, onWait: s.opts.OnWait}
	release, err := w.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	return fn(s.dir)
}

// keepClosed closes this process's session and keeps operations from opening
// another one, by the mark of somebody who is opening it.
func (s *Store) keepClosed(ctx context.Context) error {
	for {
		s.mu.Lock()
		switch {
		case s.closed:
			s.mu.Unlock()
			return ErrClosed
		case s.sess == nil && !s.moving:
			s.moving = true
			s.mu.Unlock()
			return nil
		case s.sess != nil && !s.moving && s.running == 0:
			s.finish(s.sess)
			continue
		case s.sess != nil:
			s.draining = true
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("close store %s: %w", s.dir, ctx.Err())
		}
	}
}

// Freeze copies the database, as it is at one moment, into the folder to, and
// opens the copy before it returns: a copy that cannot be opened is an error. The
// folder is created, or is one that [Store.CopyAhead] has filled. Other processes
// wait for the store while the files are copied that CopyAhead has not copied.
//
// The copy must stay as it is while sessions of other processes write, merge and
// collect. Badger removes a file by truncating it and then unlinking it
// (ristretto's MmapFile.Delete), and a truncation reaches every hard link. So a
// file is linked only if nothing truncates it:
//
//   - Tables (.sst) are copied: every merge deletes tables in that way.
//   - A value log (.vlog) with entries is linked if the store was closed in order
//     and a later log exists. Badger appends only to the log that the same session
//     has created; it truncates only the last log, where an open finds it torn; and
//     it deletes only logs without entries, unless its own garbage collection runs,
//     which this package does not use. This package unlinks merged logs with
//     os.Remove (see removeDead), which leaves other links alone.
//   - Every other file is small or changes in place, and is copied.
//
// On Linux a copy is made by copy_file_range, which shares the blocks on file
// systems that can (Btrfs, XFS) as FICLONE does.
func (s *Store) Freeze(ctx context.Context, to string) error {
	if err := os.Mkdir(to, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return &DirError{Dir: to, Err: err}
	}
	for try := 1; ; try++ {
		// An opening for writing repairs what a crash has left, so that the copy is
		// of a store that was closed in order.
		if err := s.Update(ctx, func(*Tx) error { return nil }); err != nil {
			return err
		}
		done := false
		err := s.Closed(ctx, func(string) (err error) {
			done, err = s.freezeNow(to, try >= freezeTries)
			return err
		})
		if err != nil {
			return err
		}
		if done {
			return openFrozen(ctx, to, s.opts.Schema)
		}
	}
}

// freezeTries is how often Freeze waits for a store that was closed in order,
// which another process can prevent by being killed between the two steps. After
// that it copies every file of the store as it is: opening the copy repairs it.
const freezeTries = 3

// CopyAhead copies the tables of the store into the new folder to without
// keeping other processes waiting, so that a Freeze into the same folder has only
// those to copy that were made in between. Most of a large store are tables that
// no session changes any more.
func (s *Store) CopyAhead(ctx context.Context, to string) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return &DirError{Dir: to, Err: err}
	}
	manifest, err := s.readManifest(false, 0)
	if err != nil {
		return nil // Freeze reports what is wrong with it, if it still is
	}
	for id := range manifest.Tables { // these are complete
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("copy store %s: %w", s.dir, err)
		}
		name := filepath.Base(table.NewFilename(id, s.dir))
		err := copyFile(s.file(name), filepath.Join(to, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // merged in between
			return fmt.Errorf("copy store %s: %w", s.dir, err)
		}
	}
	return nil
}

// freezeNow completes the copy while no process has the store open. It returns
// false, and leaves the copy incomplete, if the store was not closed in order,
// unless any state will do.
func (s *Store) freezeNow(to string, any bool) (done bool, err error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return false, &DirError{Dir: s.dir, Err: err}
	}
	clean := closed(entries)
	if !clean && !any {
		return false, nil
	}
	if err := s.removeOther(to, entries); err != nil {
		return false, fmt.Errorf("copy store %s: %w", s.dir, err)
	}
	last := lastOf(entries)
	for _, e := range entries {
		if notFrozen(e) {
			continue
		}
		link := clean && filepath.Ext(e.Name()) == ".vlog" && e.Name() != last
		if err := freezeFile(s.file(e.Name()), filepath.Join(to, e.Name()), link); err != nil {
			return false, fmt.Errorf("copy store %s: %w", s.dir, err)
		}
	}
	return true, nil
}

// notFrozen reports whether a file in the store's folder belongs to the processes
// that use the store and not to the database: locks, and Badger's note of the pid
// that has it open.
func notFrozen(e fs.DirEntry) bool {
	return !e.Type().IsRegular() || e.Name() == "LOCK" || filepath.Ext(e.Name()) == lockSuffix
}

// lastOf returns the name of the value log that was written to last.
func lastOf(entries []fs.DirEntry) string {
	var p plan
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".vlog" {
			p.logs = append(p.logs, valueLog{path: e.Name()})
		}
	}
	return p.lastLog().path
}

// removeOther removes copies from to that are not, or are no longer, copies of a
// file in entries. A copy has the size and the modification time of its original.
func (s *Store) removeOther(to string, entries []fs.DirEntry) error {
	copies, err := os.ReadDir(to)
	if err != nil {
		return err
	}
	for _, c := range copies {
		i := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return e.Name() == c.Name() })
		if i >= 0 && filepath.Ext(c.Name()) == ".sst" && sameFile(entries[i], c) {
			continue
		}
		if err := os.Remove(filepath.Join(to, c.Name())); err != nil {
			return err
		}
	}
	return nil
}

func sameFile(a, b fs.DirEntry) bool {
	x, err := a.Info()
	if err != nil {
		return false
	}
	y, err := b.Info()
	return err == nil && x.Size() == y.Size() && x.ModTime().Equal(y.ModTime())
}

// freezeFile links or copies one file, unless its copy exists. A value log
// without entries is copied too: Badger deletes such a log when it opens.
func freezeFile(from, to string, link bool) error {
	if exists(to) {
		return nil
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if link && info.Size() > logHeader && os.Link(from, to) == nil {
		return nil // else the file system has no hard links
	}
	return copyFile(from, to)
}

// copyFile copies a file with its modification time.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// openFrozen opens a copy, which reads its manifest, the index of each table and
// the store's own records.
func openFrozen(ctx context.Context, dir string, schema int) error {
	s := Open(dir, Options{Schema: schema})
	err := s.View(ctx, func(*Tx) error { return nil })
	if err = errors.Join(err, s.Close()); err != nil {
		return fmt.Errorf("the copy of the store cannot be opened: %w", err)
	}
	return nil
}
