//go:build unix && !linux

package supervisor

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// watchEvery is how often the supervisor looks at who is there. A process that
// leaves its group and its parent within that time isn't found again.
const watchEvery = 100 * time.Millisecond

// local remembers processes below us, since the system forgets whose they
// were when their parent ends.
type local struct {
	mu   sync.Mutex
	seen map[int]unix.Timeval
}

func dup(from, to int) { unix.Dup2(from, to) } // both are open: it can't fail

// keepOut has nothing to do: Go marks what it opens, and nothing is contained.
func keepOut() {}

// start sets the limits that there are, and starts the process.
func (k *supervisor) start() error {
	set := func(what string, resource int, value int64) error {
		var now unix.Rlimit
		if value < 0 || unix.Getrlimit(resource, &now) != nil {
			return nil
		}
		lower(&now.Cur, value)
		lower(&now.Max, value)
		if err := unix.Setrlimit(resource, &now); err != nil {
			return &Failure{Step: "limit " + what, Text: errText(err)}
		}
		return nil
	}
	if err := errors.Join(
		set("file size", unix.RLIMIT_FSIZE, k.Limits.FileSize),
		set("open files", unix.RLIMIT_NOFILE, int64(k.Limits.OpenFiles)),
		set("core dumps", unix.RLIMIT_CORE, 0),
	); err != nil {
		return err
	}
	if k.Probe {
		return nil
	}
	return k.launch()
}

// dial is the launcher's own to do here: the process has the machine's network.
func (k *supervisor) dial(d Dial) {
	d.Error = "the process has no network of its own"
	Send(k.control, Notice{Dialed: &d})
}

// hold stops the process's group, or lets it go on.
func (k *supervisor) hold(on bool) {
	sig := unix.SIGCONT
	if on {
		sig = unix.SIGSTOP
	}
	if pid := int(k.pid.Load()); pid > 0 {
		unix.Kill(-pid, sig) // it may have ended by now
	}
}

// lower brings a limit down; systems disagree about its type.
func lower[T int64 | uint64](limit *T, value int64) {
	if uint64(*limit) > uint64(value) {
		*limit = T(value)
	}
}

// watch learns who belongs to the process while that can be told, and counts.
func (k *supervisor) watch(done <-chan struct{}) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		now := family()
		k.mu.Lock()
		if k.seen == nil {
			k.seen = map[int]unix.Timeval{}
		}
		for pid, start := range now {
			k.seen[pid] = start
		}
		k.mu.Unlock()
		if n := k.Limits.Processes; n >= 0 && len(now) > n {
			k.ended <- Ending{Code: -1, Cause: ProcessOver, Detail: fmt.Sprintf("it had %d processes, and %d are allowed", len(now), n)}
			return
		}
	}
}

// endAll ends the process's group and all that were ever seen below us.
// Nothing there proves that it is alone.
func (k *supervisor) endAll() (left int, alone bool) {
	if pid := int(k.pid.Load()); pid > 0 {
		unix.Kill(-pid, unix.SIGKILL)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	n := 0
	for pid, start := range family() {
		if k.seen == nil {
			k.seen = map[int]unix.Timeval{}
		}
		k.seen[pid] = start
	}
	for pid, start := range k.seen {
		if now, ok := startOf(pid); ok && now == start && unix.Kill(pid, unix.SIGKILL) == nil {
			n++
		}
	}
	return n, false
}
