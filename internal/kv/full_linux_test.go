package kv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/fettle-cli/fettle/internal/needtest"
)

// childFull fills a small disk of its own: a tmpfs in its own mount namespace.
// It says what every write gave, and at the end how many records can be read.
func childFull(ctx context.Context, dir string) error {
	const megabytes = 72
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", megabytes)); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	store := filepath.Join(dir, "store")
	raw := NewRawTable("raw")
	s := Open(store, Options{})
	written := 0
	var err error
	for ; err == nil && written < megabytes; written++ {
		err = s.UpdateSync(ctx, func(tx *Tx) error { return raw.Put(tx, Int(int64(written)), make([]byte, 1<<20)) })
	}
	var full *FullError
	if !errors.As(err, &full) || full.Dir != store || full.Free >= full.Need || !strings.Contains(err.Error(), store) {
		return fmt.Errorf("after %d MB: %w", written, errors.Join(err, errors.New("not a FullError")))
	}
	if err := s.Close(); err != nil {
		return err
	}
	// The rest of the disk goes to somebody else: now it can't be opened for
	// writing, and still be read.
	other, err := os.Create(filepath.Join(dir, "other"))
	if err != nil {
		return err
	}
	for err == nil {
		_, err = other.Write(make([]byte, 1<<16))
	}
	if !isFull(err) {
		return fmt.Errorf("%w isn't known as a full disk", err)
	}
	_ = os.Remove(filepath.Join(store, sealName)) // as after a crash: opens for writing
	s = Open(store, Options{})
	if err := s.View(ctx, func(*Tx) error { return nil }); !errors.As(err, &full) {
		return fmt.Errorf("open on a full disk: %w", errors.Join(err, errors.New("not a FullError")))
	}
	if err := errors.Join(s.Close(), os.Truncate(other.Name(), 0)); err != nil {
		return err
	}
	s = Open(store, Options{})
	found := 0
	err = s.View(ctx, func(tx *Tx) error {
		for _, err := range raw.Scan(tx, Range{}) {
			if err != nil {
				return err
			}
			found++
		}
		return nil
	})
	fmt.Println(written-1, found)
	return errors.Join(err, s.Close())
}

// fillDisk writes a file until the disk is full. It returns how to free the room again.
func fillDisk(path string) (free func() error, err error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	for _, piece := range []int{1 << 20, 4 << 10} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, piece))
		}
	}
	if !isFull(err) {
		return nil, fmt.Errorf("%w isn't known as a full disk", err)
	}
	return func() error { return errors.Join(f.Truncate(0), f.Close()) }, nil
}

// childFilled has another program take all the room of a small disk at the worst moments:
// after the room was checked. Each is a FullError, also in the process that continues,
// and everything that was written can be read when there is room again.
func childFilled(ctx context.Context, dir string) error {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=160m"); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	raw := NewRawTable("raw")
	written := 0
	for _, hold := range []bool{false, true} {
		for _, at := range []string{"opening", "commit", "values", "closing"} {
			s := Open(filepath.Join(dir, "store"), Options{Hold: hold, Wait: patience})
			n, err := filledAt(ctx, s, at, written)
			if written += n; err != nil {
				return fmt.Errorf("filled at %s, hold %v: %w", at, hold, err)
			}
			found := 0
			err = s.View(ctx, func(tx *Tx) (err error) {
				found, err = raw.count(tx, Range{})
				return err
			})
			if err := errors.Join(err, s.Close()); err != nil || found != written {
				return fmt.Errorf("filled at %s, hold %v: %d of %d records: %w", at, hold, found, written, err)
			}
		}
	}
	fmt.Println("survived")
	return nil
}

// filledAt writes to a store of which the disk gets full, and again when there is room
// again. It returns how many of the records must exist.
func filledAt(ctx context.Context, s *Store, at string, from int) (written int, err error) {
	raw := NewRawTable("raw")
	put := func(size int) error {
		err := s.Update(ctx, func(tx *Tx) error {
			return raw.Put(tx, Int(int64(from+written)), make([]byte, size))
		})
		if err == nil {
			written++
		}
		return err
	}
	size := 100
	if at == "values" {
		size = 3 << 20
	}
	var free func() error
	var filling error
	fillOnce := sync.OnceFunc(func() { free, filling = fillDisk(filepath.Join(filepath.Dir(s.dir), "other")) })
	if at != "opening" {
		if err := put(size); err != nil {
			return written, err
		}
	}
	switch at {
	case "opening":
		s.opening = fillOnce
		err = put(size)
	case "closing":
		s.closing = func() error { fillOnce(); return nil }
		err = s.letGo()
	default:
		s.allocating = func(string, int64, int64) error { fillOnce(); return nil }
		for range 5000 { // until the blocks that it has are used up
			if err = put(max(size, 900)); err != nil {
				break
			}
		}
	}
	var full *FullError
	if filling != nil || free == nil || !errors.As(err, &full) {
		return written, fmt.Errorf("%w, and %v is not a FullError", filling, err)
	}
	if err := free(); err != nil {
		return written, err
	}
	return written, errors.Join(put(size), s.Sync(ctx))
}

// A disk that another program fills between a check for room and the write is an error,
// of one operation.
func TestDiskThatFillsMeanwhile(t *testing.T) {
	t.Parallel()
	if out := onItsOwnDisk(t, "filled"); out != "survived\n" {
		t.Errorf("child said %q", out)
	}
}

// A full disk is an error that says so, and not the SIGBUS with which Badger's
// mapped files meet it; what was written before is there.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	var written, found int
	out := onItsOwnDisk(t, "full")
	if _, err := fmt.Sscan(out, &written, &found); err != nil || written == 0 || found != written {
		t.Errorf("child said %q", out)
	}
}

// onItsOwnDisk runs a child in a separate mount namespace, where it can mount a small
// file system, and returns its output.
func onItsOwnDisk(t *testing.T, task string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+task+" "+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || strings.Contains(string(out), "mount: operation not permitted") {
		needtest.Lacking(t, "mount namespaces for a user")
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// An open store takes little memory of its own: the rest is mapped files.
func TestMemory(t *testing.T) {
	t.Parallel()
	p := start(t, "memory", filepath.Join(t.TempDir(), "store"))
	for _, what := range []string{"a record", "2000 records"} {
		line, err := p.out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		kb, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d KB with %s", kb, what)
		limit := 48 << 10 // two memtables, twice
		if underRace {
			limit *= 2
		}
		if kb > limit {
			t.Errorf("an open store with %s takes %d KB", what, kb)
		}
	}
}
