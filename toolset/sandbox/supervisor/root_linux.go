package supervisor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	// oldRoot is where the machine's files are while the new root is built.
	oldRoot = "/.old"
	// plain is what holds of every mount of ours.
	plain = unix.MS_NOSUID | unix.MS_NODEV
	// rootSize bounds the new root, which holds folders and a few small files.
	rootSize = "size=4m,nr_inodes=8k,mode=0755"
)

// buildRoot makes a root that holds what is granted, and moves into it.
func (k *supervisor) buildRoot() error {
	for _, step := range []func() error{
		k.enterRoot, k.mountTemp, k.mountGrants, k.makeDevices, k.mountProc, k.writeStubs, k.leaveOldRoot,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// enterRoot turns an empty file system into the root, with the old one in it.
func (k *supervisor) enterRoot() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return Lack("make mounts private", err)
	}
	base := ""
	for _, dir := range []string{"/tmp", "/usr", "/dev"} {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			base = dir
			break
		}
	}
	if base == "" {
		return &Failure{Lack: true, Step: "build a root", Text: "there is neither /tmp nor /usr"}
	}
	if err := unix.Mount("tmpfs", base, "tmpfs", plain, rootSize); err != nil {
		return Lack("mount a root", err)
	}
	if err := os.Mkdir(base+oldRoot, 0o700); err != nil {
		return fmt.Errorf("build a root: %w", err)
	}
	if err := unix.PivotRoot(base, base+oldRoot); err != nil {
		return Lack("change the root", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return fmt.Errorf("enter the root: %w", err)
	}
	return nil
}

// mountTemp gives the private /tmp and /dev/shm.
func (k *supervisor) mountTemp() error {
	options := "mode=1777"
	if n := k.Limits.Temp; n >= 0 {
		options += ",size=" + strconv.FormatInt(n, 10)
	}
	if n := k.Limits.TempFiles; n >= 0 {
		options += ",nr_inodes=" + strconv.Itoa(n)
	}
	for _, dir := range []string{"/tmp", "/dev/shm"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make %s: %w", dir, err)
		}
		if err := unix.Mount("tmpfs", dir, "tmpfs", plain, options); err != nil {
			return Lack("mount "+dir, err)
		}
	}
	return nil
}

func (k *supervisor) mountGrants() error {
	for _, g := range k.Grants {
		show := bind
		switch {
		case g.Hidden:
			show = hide
		case g.Placeholder:
			show = placehold
		case g.Upper != "":
			show = mountLayer
		}
		err := show(g)
		if g.System && errors.Is(err, os.ErrNotExist) {
			continue
		}
		var f *Failure
		if err != nil && !errors.As(err, &f) {
			err = &Failure{Step: "grant " + g.Path, Text: errText(err)}
		}
		if err != nil {
			return err
		}
	}
	return k.closeHidden()
}

// hide mounts an empty folder, or /dev/null, over a part of a grant. What is granted
// inside of it is mounted there afterwards.
func hide(g Grant) error {
	info, err := os.Lstat(oldRoot + g.Path)
	if errors.Is(err, os.ErrNotExist) {
		if !g.Write {
			return nil // it does not exist, and no process can change that
		}
		if err := os.MkdirAll(g.Path, 0o700); err != nil {
			return err
		}
		info, err = os.Lstat(g.Path)
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		return unix.Mount("tmpfs", g.Path, "tmpfs", plain|unix.MS_NOEXEC, rootSize)
	}
	if err := unix.Mount(oldRoot+"/dev/null", g.Path, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	// A device can't be opened on a mount without devices.
	return restrict(g.Path, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_RDONLY})
}

// closeHidden makes the empty folders read-only, once all mount points in them are made.
func (k *supervisor) closeHidden() error {
	for _, g := range k.Grants {
		if info, err := os.Stat(g.Path); !g.Hidden || err != nil || !info.IsDir() {
			continue
		}
		if err := unix.Mount("", g.Path, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|plain|unix.MS_NOEXEC, ""); err != nil {
			return Lack("make "+g.Path+" read-only", err)
		}
	}
	return nil
}

// placehold makes an empty folder that nothing can be written to.
func placehold(g Grant) error {
	if err := os.Mkdir(g.Path, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Lstat(g.Path)
	if err != nil || !info.IsDir() {
		return err // it was made just now, and is not a folder: the check after the call detects it
	}
	return unix.Mount("tmpfs", g.Path, "tmpfs", unix.MS_RDONLY|plain|unix.MS_NOEXEC, "size=4k,nr_inodes=1,mode=0555")
}

// bind shows a path of the machine at the same place in the new root. A grant
// may lie in another one, and is then there already as a mount point.
func bind(g Grant) error {
	from := oldRoot + g.Path
	if g.Made {
		if err := os.Mkdir(g.Path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(g.Path), 0o755); err != nil {
		return err
	}
	switch {
	case g.Link && info.Mode()&os.ModeSymlink == 0:
		return nil // it was replaced, and grants nothing
	case info.Mode()&os.ModeSymlink != 0:
		if !g.System {
			return &Failure{Step: "grant " + g.Path, Text: "it became a link"}
		}
		target, err := os.Readlink(from)
		if err == nil {
			err = os.Symlink(target, g.Path)
		}
		if errors.Is(err, os.ErrExist) {
			return nil
		}
		return err
	case info.IsDir():
		err = os.MkdirAll(g.Path, 0o755)
	default:
		err = touch(g.Path)
	}
	if err != nil {
		return err
	}
	if err := unix.Mount(from, g.Path, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	if !g.Write {
		attr.Attr_set |= unix.MOUNT_ATTR_RDONLY
	}
	return restrict(g.Path, &attr)
}

// restrict changes a mount and all mounts below it. Before Linux 5.12 there is
// no way to do that which couldn't miss one.
func restrict(path string, attr *unix.MountAttr) error {
	err := unix.MountSetattr(unix.AT_FDCWD, path, unix.AT_RECURSIVE, attr)
	if errors.Is(err, unix.ENOSYS) {
		return Lack("restrict mounts", err)
	}
	return err
}

func touch(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// makeDevices shows the devices that programs count on, and nothing that leads
// to hardware. The process has no terminal, so that /dev/tty opens none.
func (k *supervisor) makeDevices() error {
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		path := "/dev/" + name
		if _, err := os.Stat(oldRoot + path); errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err := touch(path); err != nil {
			return fmt.Errorf("make %s: %w", path, err)
		}
		if err := unix.Mount(oldRoot+path, path, "", unix.MS_BIND, ""); err != nil {
			return Lack("bind "+path, err)
		}
		attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC}
		if err := restrict(path, &attr); err != nil {
			return err
		}
	}
	for name, target := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	} {
		if err := os.Symlink(target, "/dev/"+name); err != nil {
			return fmt.Errorf("make /dev/%s: %w", name, err)
		}
	}
	return nil
}

// mountProc gives a /proc that knows only the sandbox's processes. All of it
// is read-only: to the kernel, root in here is root when it comes to
// /proc/sys. Where a container forbids a new one, the machine's is shown,
// which lists other processes and keeps their secrets.
func (k *supervisor) mountProc() error {
	if err := os.Mkdir("/proc", 0o555); err != nil {
		return fmt.Errorf("make /proc: %w", err)
	}
	const flags = plain | unix.MS_NOEXEC
	if err := unix.Mount("proc", "/proc", "proc", flags, ""); err != nil {
		if err := unix.Mount(oldRoot+"/proc", "/proc", "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return Lack("mount /proc", err)
		}
		k.SharedProc = true
		attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOEXEC}
		return restrict("/proc", &attr)
	}
	preferToKill()
	if unix.Getuid() == 0 {
		k.boundProcesses()
		if err := maskProc(); err != nil {
			return err
		}
	}
	if err := unix.Mount("", "/proc", "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|flags, ""); err != nil {
		return Lack("make /proc read-only", err)
	}
	return nil
}

// boundProcesses bounds the numbers of processes in this pid namespace, since
// the limit of processes doesn't hold for real root. Numbers up to 300 are
// given out once only; what follows is used over and over. Before Linux 6.14
// the setting is the whole machine's, and left alone.
func (k *supervisor) boundProcesses() {
	const firstReused = 300
	if n := k.Limits.Processes; n > 0 && kernelAtLeast(6, 14) {
		os.WriteFile("/proc/sys/kernel/pid_max", []byte(strconv.Itoa(firstReused+keeperThreads+n)), 0) // the watch is behind it
	}
}

// kernelAtLeast reads the kernel's version.
func kernelAtLeast(major, minor int) bool {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return false
	}
	var a, b int
	if _, err := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &a, &b); err != nil {
		return false
	}
	return a > major || a == major && b >= minor
}

// maskProc hides what only root may read, and what leads to the machine's
// insides, as container engines do.
func maskProc() error {
	for _, name := range []string{
		"kcore", "keys", "key-users", "timer_list", "kpagecount", "kpageflags", "kpagecgroup", "vmallocinfo",
		"slabinfo", "kallsyms", "kmsg", "sched_debug", "latency_stats", "sysrq-trigger", "acpi", "asound", "bus", "scsi",
	} {
		path := "/proc/" + name
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		if info.IsDir() {
			err = unix.Mount("tmpfs", path, "tmpfs", unix.MS_RDONLY|plain|unix.MS_NOEXEC, "size=0,nr_inodes=1,mode=0555")
		} else {
			err = unix.Mount("/dev/null", path, "", unix.MS_BIND, "")
		}
		if err != nil {
			return Lack("hide "+path, err)
		}
	}
	return nil
}

// writeStubs writes the small files, unless a grant has shown one already.
func (k *supervisor) writeStubs() error {
	for _, s := range k.Files {
		if _, err := os.Lstat(s.Path); err == nil {
			continue
		}
		err := os.MkdirAll(filepath.Dir(s.Path), 0o755)
		if err == nil {
			err = os.WriteFile(s.Path, []byte(s.Text), 0o644)
		}
		if err != nil && !errors.Is(err, unix.EROFS) {
			return fmt.Errorf("write %s: %w", s.Path, err)
		}
	}
	return nil
}

// leaveOldRoot cuts the way back and makes the root itself read-only.
func (k *supervisor) leaveOldRoot() error {
	if err := unix.Unmount(oldRoot, unix.MNT_DETACH); err != nil {
		return Lack("leave the old root", err)
	}
	if err := os.Remove(oldRoot); err != nil {
		return fmt.Errorf("leave the old root: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|plain, ""); err != nil {
		return Lack("make the root read-only", err)
	}
	return nil
}
