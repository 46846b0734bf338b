package soak

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/internal/needtest"
)

const (
	// diskSize is the size of the small disk. The store needs some 50 MB to begin.
	diskSize = 130 << 20
	// noMount is what the child prints where it may not mount.
	noMount = "the system doesn't allow to mount a file system"
)

// TestSoakOnASmallDisk runs rounds on a file system that is filled and made read-only
// meanwhile. It is mounted in the separate namespaces of a child process.
func TestSoakOnASmallDisk(t *testing.T) {
	t.Parallel()
	if os.Getenv(diskEnv) != "" {
		onDisk(t)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestSoakOnASmallDisk$", "-test.v", "-test.timeout=0")
	cmd.Env = append(os.Environ(), diskEnv+"="+build(t), "TMPDIR="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || strings.Contains(string(out), noMount) {
		needtest.Lacking(t, "a small disk: "+noMount)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
		return
	}
	t.Logf("%s", out)
}

// onDisk is the child's part.
func onDisk(t *testing.T) {
	s := newSoak(t)
	s.time /= 4 // concurrently with the other test
	for round := 0; ; round++ {
		s.diskRound(round)
		if t.Failed() || time.Since(s.begun) > s.time {
			t.Logf("%d rounds in %s", round+1, time.Since(s.begun).Round(time.Second))
			return
		}
	}
}

// diskRound runs a load on a separate disk, which is nearly full most of the time.
func (s *soak) diskRound(round int) {
	dir := folder(s.t)
	disk := filepath.Join(dir, "disk")
	if err := os.MkdirAll(disk, 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, fmt.Sprintf("size=%d", diskSize)); err != nil {
		s.t.Fatal(noMount + ": " + err.Error())
	}
	w := newWorld(s.t, s.bin, dir, s.model, s.seed+uint64(round))
	w.data, w.fills = filepath.Join(disk, "data"), true
	w.env = append(w.env, "FETTLE_DATA="+w.data)
	ctx, cancel := context.WithTimeout(context.Background(), loadTime)
	defer cancel()
	done := make(chan struct{})
	go func() { defer close(done); w.fill(ctx, disk) }()
	w.load(ctx)
	cancel()
	<-done
	w.powerOff(true)
	w.check(s.model)
	name := fmt.Sprintf("round %d, disk, %s=%d", round, seedEnv, s.seed)
	w.report(name)
	s.t.Logf("%s: %d commands, %d ended by a signal, %d turns seen", name, len(w.log), w.killed, len(w.events))
	if !s.t.Failed() || os.Getenv(keepEnv) == "" {
		_ = syscall.Unmount(disk, syscall.MNT_DETACH) // it ends with the child anyway
	}
}

// fill takes the room of the disk, more or less of it, and makes the disk read-only for
// moments, until ctx ends. Then there is room again.
func (w *world) fill(ctx context.Context, disk string) {
	path := filepath.Join(disk, "filler")
	defer func() {
		_ = syscall.Mount("", disk, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%d", diskSize)) // it may be so already
		if err := os.Remove(path); err != nil {
			w.fault("remove what fills the disk: %v", err)
		}
	}()
	filler, err := os.Create(path)
	if err != nil {
		w.fault("fill the disk: %v", err)
		return
	}
	defer filler.Close()
	for ctx.Err() == nil {
		room := int64(w.n(64) << 20)
		if w.n(3) == 0 {
			room = 0
		}
		w.note("the disk has %d MB", room>>20)
		w.fillTo(filler, disk, room)
		wait(ctx, time.Duration(50+w.n(400))*time.Millisecond)
		if w.n(6) == 0 && syscall.Mount("", disk, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, "") == nil {
			w.note("the disk is read-only")
			wait(ctx, time.Duration(50+w.n(300))*time.Millisecond)
			_ = syscall.Mount("", disk, "tmpfs", syscall.MS_REMOUNT, "") // checked at the end
		}
	}
}

// fillTo makes the file as large as leaves so much room.
func (w *world) fillTo(filler *os.File, disk string, room int64) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(disk, &fs); err != nil {
		w.fault("look at the disk: %v", err)
		return
	}
	info, err := filler.Stat()
	if err != nil {
		w.fault("look at what fills the disk: %v", err)
		return
	}
	size := max(info.Size()+int64(fs.Bavail)*fs.Bsize-room, 0)
	if size < info.Size() {
		_ = filler.Truncate(size) // a disk that is read-only now stays as it is
		return
	}
	_ = syscall.Fallocate(int(filler.Fd()), 0, 0, size) // as much as there is
}

// wait waits, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
