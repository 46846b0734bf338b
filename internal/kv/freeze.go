package kv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
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

// Freeze makes a copy of the database as it is at one moment in a new folder,
// which is best on the same file system: there the large files, which Badger
// never changes once a session has ended, are shared by hard links, and the
// others copied. Other processes wait for no longer than that.
func (s *Store) Freeze(ctx context.Context, to string) error {
	// An opening for writing mends what a crash has left, so that the copy is
	// one that was closed in order.
	if err := s.Update(ctx, func(*Tx) error { return nil }); err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return &DirError{Dir: to, Err: err}
	}
	return s.Closed(ctx, func(dir string) error {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return &DirError{Dir: dir, Err: err}
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || e.Name() == "LOCK" { // the pid of who has it open
				continue
			}
			if err := freezeFile(s.file(e.Name()), filepath.Join(to, e.Name())); err != nil {
				return fmt.Errorf("copy store %s: %w", dir, err)
			}
		}
		return nil
	})
}

func freezeFile(from, to string) error {
	switch filepath.Ext(from) {
	case ".sst", ".vlog":
		if os.Link(from, to) == nil {
			return nil
		}
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
