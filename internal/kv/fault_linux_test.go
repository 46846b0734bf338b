package kv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// fault reads a page that its file does not have any more.
func fault() {
	f, err := os.CreateTemp("", "fault")
	if err != nil {
		panic(err)
	}
	defer func() { _ = f.Close(); _ = os.Remove(f.Name()) }()
	if err := f.Truncate(pageSize); err != nil {
		panic(err)
	}
	m, err := unix.Mmap(int(f.Fd()), 0, pageSize, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	defer func() { _ = unix.Munmap(m) }()
	if err := f.Truncate(0); err != nil {
		panic(err)
	}
	fmt.Fprint(new(strings.Builder), m[0])
}

// A fault of a mapped file is an error where it is guarded, and other panics stay what
// they are.
func TestFaultsAreErrors(t *testing.T) {
	t.Parallel()
	if err := guardMapped(func() error { fault(); return nil }); !errors.Is(err, errMapped) {
		t.Errorf("a fault gave %v", err)
	}
	if err := guard(func() error { fault(); return nil }); !errors.Is(err, errMapped) {
		t.Errorf("a fault of a read gave %v", err)
	}
	defer func() {
		if r := recover(); r != "mistake" {
			t.Errorf("a panic of the program became %v", r)
		}
	}()
	_ = guardMapped(func() error { panic("mistake") })
}

// childCut reads a value of which the file is cut off while it is mapped.
func childCut(ctx context.Context, dir string) error {
	s := Open(filepath.Join(dir, "store"), Options{Hold: true, Wait: patience})
	raw := NewRawTable("raw")
	err := s.UpdateSync(ctx, func(tx *Tx) error {
		return errors.Join(raw.Put(tx, Int(1), make([]byte, 1<<20)), raw.Put(tx, Int(2), []byte("small")))
	})
	if err != nil {
		return err
	}
	logs, err := s.logs(".vlog")
	if err != nil {
		return err
	}
	if err := os.Truncate(logs[0][len(logs[0])-1], pageSize); err != nil {
		return err
	}
	read := func(key int64) error {
		return s.View(ctx, func(tx *Tx) error { _, err := raw.Get(tx, Int(key)); return err })
	}
	var dirErr *DirError
	if err := read(1); !errors.As(err, &dirErr) || !errors.Is(err, errMapped) {
		return fmt.Errorf("the value that was cut off: %w", errors.Join(err, errors.New("not a DirError")))
	}
	if err := read(2); err != nil {
		return fmt.Errorf("another value: %w", err)
	}
	if err := s.Close(); !errors.Is(err, errMapped) {
		return fmt.Errorf("the close gave %w", errors.Join(err, errors.New("not the fault")))
	}
	fmt.Println("survived")
	return nil
}

// childBroken has a fault while Badger opens the database, after which Badger may
// continue to write: this process does not open it again, and no other one can.
func childBroken(ctx context.Context, dir string) error {
	dir = filepath.Join(dir, "store")
	s := Open(dir, Options{Wait: patience})
	s.opening = fault
	for range 3 {
		err := s.Update(ctx, func(*Tx) error { return nil })
		if !errors.Is(err, errMapped) {
			return fmt.Errorf("the opening gave %w", errors.Join(err, errors.New("not the fault")))
		}
	}
	if err := s.Close(); err != nil {
		return err
	}
	var busy *BusyError
	other := Open(dir, Options{Wait: 50 * time.Millisecond})
	if err := other.View(ctx, func(*Tx) error { return nil }); !errors.As(err, &busy) {
		return fmt.Errorf("the lock was given back: %w", errors.Join(err, errors.New("not a BusyError")))
	}
	fmt.Println("survived")
	return other.Close()
}

// A fault that can't be recovered from within Badger ends neither the process nor its
// other work.
func TestProcessSurvivesFaults(t *testing.T) {
	t.Parallel()
	for _, task := range []string{"cut", "broken"} {
		t.Run(task, func(t *testing.T) {
			t.Parallel()
			start(t, task, t.TempDir()).expect(t, "survived")
		})
	}
}

// If the system has no room for a log, the Update fails before anything is written, and
// the next one finds the store unchanged.
func TestNoRoomForALog(t *testing.T) {
	t.Parallel()
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT} {
		for _, size := range []int{10, 900, 100 << 10} {
			s := newStore(t, Options{})
			raw := NewRawTable("raw")
			put := func(key int64) error {
				return s.UpdateSync(t.Context(), func(tx *Tx) error { return raw.Put(tx, Int(key), make([]byte, size)) })
			}
			full := false
			s.allocating = func(string, int64, int64) error {
				if full {
					return errno
				}
				return nil
			}
			n := int64(0)
			for ; n < 10; n++ {
				if err := put(n); err != nil {
					t.Fatal(err)
				}
			}
			full = true
			var err error
			for ; n < 10_000 && err == nil; n++ {
				err = put(n)
			}
			if got := mustBe[*FullError](t, err); !errors.Is(got, errno) {
				t.Errorf("%v: %v", errno, err)
			}
			full = false
			if err := put(n); err != nil {
				t.Error(err)
			}
			letGo(t, s)
			view(t, s, func(tx *Tx) error {
				if got, err := raw.count(tx, Range{}); got != int(n) || err != nil { // all but the refused one
					t.Errorf("%d records, want %d (%v)", got, n, err)
				}
				return nil
			})
		}
	}
}

// For every order of Updates, what Badger writes of them is within what was reserved.
func TestLogsStayWithinTheirBlocks(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{Hold: true})
	s.memtable = 1 << 20
	s.small = 2 << 20
	raw := NewRawTable("raw")
	rolled := map[string]bool{}
	for i := range int64(several(400, 200)) {
		update(t, s, func(tx *Tx) error {
			for k := range i % 7 {
				size := []int{0, 30, 900, 1100, 5000, 70_000}[(i+k)%6]
				if err := raw.Put(tx, Int(i).Int(k), make([]byte, size)); err != nil {
					return err
				}
			}
			return nil
		})
		for _, b := range []blocks{s.sess.memory, s.sess.values} {
			if b.path == "" {
				continue
			}
			rolled[b.path] = true
			end := writtenUpTo(t, b.path)
			if end > b.used || b.used > b.to {
				t.Fatalf("after %d Updates %s is written to up to %d, counted are %d, reserved %d", i, b.path, end, b.used, b.to)
			}
		}
	}
	if len(rolled) < 4 {
		t.Errorf("only the logs %v were begun", rolled)
	}
}

// writtenUpTo is where a log ends. A removed log is no longer written to.
func writtenUpTo(t *testing.T, path string) int64 {
	t.Helper()
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return int64(len(strings.TrimRight(string(content), "\x00")))
}
