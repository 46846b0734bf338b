package supervisor

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// local is what the supervisor remembers on Linux.
type local struct {
	lower bool      // the process's memory is bounded once it is there
	dials chan Dial // to the goroutine that makes connections; nil before the first
}

func dup(from, to int) { unix.Dup3(from, to, 0) } // both are open: it can't fail

// keepOut shuts out whoever has the same user: what the process starts can't
// look into the supervisor or take a descriptor of it. Descriptors that fettle
// itself was given by its parent stop here.
func keepOut() {
	unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	if unix.CloseRange(ControlFD, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	entries, err := os.ReadDir("/proc/self/fd") // a kernel before 5.11
	for _, e := range entries {
		if fd, convErr := strconv.Atoi(e.Name()); err == nil && convErr == nil && fd >= ControlFD {
			unix.CloseOnExec(fd)
		}
	}
}

// start builds the sandbox and starts the process in it.
func (k *supervisor) start() error {
	if k.Level != Full {
		// What is orphaned comes to us rather than to process 1.
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			return &Failure{Step: "become a subreaper", Text: errText(err)}
		}
	}
	mask := unix.Umask(0)
	if k.Level == Full {
		if err := k.buildRoot(); err != nil {
			return err
		}
		if k.Probe {
			if err := k.replaceFolder(); err != nil {
				return err
			}
		}
		switch {
		case k.Network == NetworkHosts:
			if err := k.openProxy(); err != nil {
				return err
			}
		case k.Network == NetworkNone && k.Serves:
			if err := raiseLoopback(); err != nil {
				return Lack("start the loopback network", err)
			}
		}
	} else {
		preferToKill()
	}
	unix.Umask(mask)
	takeThreads()
	result := make(chan error, 1)
	offLeader(func() { result <- k.confineAndLaunch() })
	err := <-result
	if err == nil && !k.Probe {
		err = k.tighten()
	}
	return err
}

// keeperThreads is how many threads the supervisor has at most: some to wait, two
// to work, some of the runtime's own.
const keeperThreads = 16

// takeThreads makes the runtime have the threads that it may want later. Once
// the process has used up what there is, none could be made, and the runtime
// ends a program that it can't make a thread for.
func takeThreads() {
	const spare = 8
	var here, gone sync.WaitGroup
	here.Add(spare)
	for range spare {
		gone.Go(func() {
			runtime.LockOSThread() // so that each has one of its own
			defer runtime.UnlockOSThread()
			here.Done()
			here.Wait()
		})
	}
	gone.Wait()
}

// offLeader runs f on a thread that is not the process's first one, and that
// ends with it. What confines the process binds the thread that starts it; had
// a thread of the supervisor's the same confinement as the process, that could
// send it signals.
func offLeader(f func()) {
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends here
		if unix.Gettid() != unix.Getpid() {
			f()
			return
		}
		passed := make(chan struct{})
		offLeader(func() { f(); close(passed) })
		<-passed // hold this thread meanwhile; the first one can't end
		runtime.UnlockOSThread()
	}()
}

// confineAndLaunch binds this thread, and so what is started from it.
func (k *supervisor) confineAndLaunch() error {
	if err := k.limit(); err != nil {
		return err
	}
	if k.Level > None || k.Harden {
		if err := k.confine(); err != nil {
			return err
		}
	}
	if k.Probe {
		return nil
	}
	return k.launch()
}

// confine gives up every power and puts up the walls. Where the level is none,
// one that isn't to be had is left out.
func (k *supervisor) confine() error {
	if err := dropPowers(); err != nil {
		return &Failure{Step: "give up capabilities", Text: errText(err)}
	}
	version := LandlockVersion()
	switch {
	case k.Level == Reduced && version < LeastLandlock:
		return &Failure{Lack: true, Step: "landlock", Text: landlockText(version)}
	case version > 0:
		err := k.landlock(version)
		// In a root of its own Landlock is the second wall; at most sixteen of
		// them can be stacked.
		if err != nil && (k.Level == Reduced || k.Level == Full && !errors.Is(err, unix.E2BIG)) {
			return Lack("landlock", err)
		}
	}
	if err := k.seccomp(); err != nil && k.Level > None {
		return Lack("seccomp", err)
	}
	return nil
}

// dropPowers leaves this thread without capabilities and without ways to any.
func dropPowers() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	for c := range uintptr(unix.CAP_LAST_CAP + 1) {
		unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) // who may not has nothing to drop
	}
	unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	const noRoot = 0x2f // uid 0 is nothing special, all of it locked
	unix.Prctl(unix.PR_SET_SECUREBITS, noRoot, 0, 0, 0)
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return err
	}
	var now [2]unix.CapUserData
	if err := unix.Capget(&header, &now[0]); err != nil {
		return err
	}
	if now != none {
		return errors.New("some are left")
	}
	return nil
}

// roomForUser is how many threads a user may start beside a tool that isn't in
// a namespace of its own, before one of the two is refused.
const roomForUser = 1000

// roomForKeeper is how much more memory the supervisor may come to need: its own
// limits are the process's, and can't be raised again.
const roomForKeeper = 256 << 20

// leastData is the smallest limit of memory that the supervisor can bear.
func leastData() int64 {
	data, err := os.ReadFile("/proc/self/statm")
	fields := bytes.Fields(data)
	if err != nil || len(fields) < 6 {
		return roomForKeeper
	}
	pages, _ := strconv.ParseInt(string(fields[5]), 10, 64)
	return pages*int64(os.Getpagesize()) + roomForKeeper
}

// limit sets what the kernel bounds for each process.
func (k *supervisor) limit() error {
	set := func(what string, resource int, value int64) error {
		if value < 0 {
			return nil
		}
		var now unix.Rlimit
		if err := unix.Getrlimit(resource, &now); err != nil {
			return &Failure{Step: "read the limit of " + what, Text: errText(err)}
		}
		v := min(uint64(value), now.Max)
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: v, Max: v}); err != nil {
			return &Failure{Step: "limit " + what, Text: errText(err)}
		}
		return nil
	}
	memory := k.Limits.Memory
	if memory >= 0 {
		if least := leastData(); memory < least {
			memory, k.lower = least, true
		}
	}
	processes := int64(k.Limits.Processes)
	switch {
	case processes < 0:
	case k.Level == Full:
		processes += keeperThreads // the limit counts all in the namespace
	default:
		// It counts all of a user's, who may start more at any time; the watch
		// is exact.
		processes += int64(threadsOf(unix.Getuid())) + roomForUser
	}
	return errors.Join(
		set("memory", unix.RLIMIT_DATA, memory),
		set("processes", unix.RLIMIT_NPROC, processes),
		set("file size", unix.RLIMIT_FSIZE, k.Limits.FileSize),
		set("open files", unix.RLIMIT_NOFILE, int64(k.Limits.OpenFiles)),
		set("core dumps", unix.RLIMIT_CORE, 0),
	)
}

// tighten brings the process's memory below what the supervisor needs. It comes
// after the start, when the new program has hardly been mapped.
func (k *supervisor) tighten() error {
	if !k.lower {
		return nil
	}
	v := uint64(k.Limits.Memory)
	err := unix.Prlimit(int(k.pid.Load()), unix.RLIMIT_DATA, &unix.Rlimit{Cur: v, Max: v}, nil)
	if err != nil && !errors.Is(err, unix.ESRCH) {
		return &Failure{Step: "limit memory", Text: errText(err)}
	}
	return nil
}

// preferToKill tells the kernel which processes to end first where memory runs
// out: a tool's before fettle. Raising it needs no power.
func preferToKill() { os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0) }

// threadsOf counts the threads of a user, whole machine over.
func threadsOf(uid int) int {
	n := 0
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		var st unix.Stat_t
		if unix.Stat(dir, &st) == nil && int(st.Uid) == uid {
			tasks, _ := os.ReadDir(dir + "/task")
			n += len(tasks)
		}
	}
	return n
}

func landlockText(version int) string {
	if version <= 0 {
		return "the kernel has no Landlock, or it is switched off"
	}
	return fmt.Sprintf("its version is %d, which can't keep files from being truncated; %d can", version, LeastLandlock)
}
