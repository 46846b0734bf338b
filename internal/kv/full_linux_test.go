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
	"syscall"
	"testing"
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

// A full disk is an error that says so, and not the SIGBUS with which Badger's
// mapped files meet it; what was written before is there.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=full "+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || strings.Contains(string(out), "mount: operation not permitted") {
		t.Skip("this system lets nobody mount a file system of his own")
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var written, found int
	if _, err := fmt.Sscan(string(out), &written, &found); err != nil || written == 0 || found != written {
		t.Errorf("child said %q", out)
	}
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
