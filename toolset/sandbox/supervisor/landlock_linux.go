package supervisor

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// LeastLandlock is the version from which on Landlock alone keeps files safe:
// before it a file could be truncated.
const LeastLandlock = 3

const (
	// SignalLandlock is the version from which on signals, and sockets without a
	// path, stay within the sandbox.
	SignalLandlock = 6
	// socketLandlock is the version from which on sockets with a path do.
	socketLandlock = 9
)

// What Landlock can forbid, by the version that brought it.
const (
	fsExecute = 1 << iota
	fsWriteFile
	fsReadFile
	fsReadDir
	fsRemoveDir
	fsRemoveFile
	fsMakeChar
	fsMakeDir
	fsMakeReg
	fsMakeSock
	fsMakeFifo
	fsMakeBlock
	fsMakeSym
	fsRefer       // 2
	fsTruncate    // 3
	fsIoctlDev    // 5
	fsResolveUnix // 9

	fsVersion1 = fsRefer - 1
	fsOfFile   = fsExecute | fsWriteFile | fsReadFile | fsTruncate | fsIoctlDev
	fsOfReader = fsExecute | fsReadFile | fsReadDir

	netTCP    = 1<<2 - 1 // 4: bind, connect
	netUDP    = 1<<2 | 1<<3
	scopeBoth = 1<<2 - 1 // 6: abstract sockets, signals
)

type rulesetAttr struct{ fs, net, scoped uint64 }

type pathBeneathAttr struct {
	access uint64
	fd     int32
}

// LandlockVersion asks the kernel; 0 is none. Go's constants need no newer
// kernel, and securityfs isn't needed.
func LandlockVersion() int {
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// handled is all that a version can forbid, and the size of its struct.
func (k *supervisor) handled(version int) (rulesetAttr, uintptr) {
	attr, size := rulesetAttr{fs: fsVersion1}, unsafe.Sizeof(uint64(0))
	for _, v := range []struct {
		since  int
		access uint64
	}{{2, fsRefer}, {3, fsTruncate}, {5, fsIoctlDev}, {socketLandlock, fsResolveUnix}} {
		if version >= v.since {
			attr.fs |= v.access
		}
	}
	if version >= 4 {
		size = 2 * unsafe.Sizeof(uint64(0))
		if k.Network == NetworkNone && !k.Serves { // what serves has a network with nobody else in it
			attr.net = netTCP
			if version >= 10 {
				attr.net |= netUDP
			}
		}
	}
	if version >= SignalLandlock {
		size, attr.scoped = unsafe.Sizeof(attr), scopeBoth
	}
	return attr, size
}

// landlock binds this thread to the grants.
func (k *supervisor) landlock(version int) error {
	attr, size := k.handled(version)
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return errno
	}
	defer unix.Close(int(fd))
	writer := attr.fs &^ (fsMakeChar | fsMakeBlock | fsIoctlDev)
	allow := func(path string, access uint64) error { return allowBeneath(int(fd), path, access&attr.fs) }
	var errs []error
	if k.Level == Full {
		// The root holds nothing else, so that reading needs no list.
		errs = append(errs, allow("/", fsOfReader), allow("/tmp", writer), allow("/dev/shm", writer))
	} else {
		errs = append(errs, allow("/proc", fsOfReader), allow("/etc/passwd", fsReadFile), allow("/etc/group", fsReadFile),
			allow("/etc/nsswitch.conf", fsReadFile), allow("/etc/hosts", fsReadFile), allow(k.Temp, writer))
		if k.Network == NetworkAll {
			errs = append(errs, allow("/etc/resolv.conf", fsReadFile))
		}
	}
	for _, dev := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		errs = append(errs, allow("/dev/"+dev, fsReadFile|fsWriteFile|fsIoctlDev))
	}
	for _, g := range k.Grants {
		switch {
		case g.Link, g.Hidden, g.Placeholder, g.Made: // a link grants nothing; for the others the grant above counts, or separate mounts, which are read-only
		case g.Write:
			errs = append(errs, allow(g.Path, writer))
		case k.Level != Full:
			errs = append(errs, allow(g.Path, fsOfReader))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// allowBeneath adds a rule; what isn't there needs none.
func allowBeneath(ruleset int, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) || path == "" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("stat %s: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= fsOfFile
	}
	rule := pathBeneathAttr{access: access, fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("allow %s: %w", path, errno)
	}
	return nil
}
