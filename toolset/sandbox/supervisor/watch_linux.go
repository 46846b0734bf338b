package supervisor

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// watchEvery is how often the supervisor looks: a tenth of a second of filling
	// memory is some hundred megabytes, and a look costs microseconds.
	watchEvery = 100 * time.Millisecond
	// endTime bounds how long what is left is stopped and killed. Two rounds
	// do, unless there is a chain of forks; then each still shortens it. It is
	// less than the launcher's own patience.
	endTime = Patience - time.Second
	// endPause is between two rounds: what was killed needs a moment to go.
	endPause = 2 * time.Millisecond
	// slack is by how many processes the watch lets the limit be passed: the
	// kernel's own limit answers first, and more kindly.
	slack = 16
)

// watch ends the process when all together use too much.
func (k *supervisor) watch(done <-chan struct{}) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		if e, over := k.tooMuch(); over {
			k.ended <- e
			return
		}
	}
}

func (k *supervisor) tooMuch() (Ending, bool) {
	pids := k.descendants()
	if n := k.Limits.Processes; n >= 0 && len(pids) > n+slack {
		return Ending{Code: -1, Cause: ProcessOver, Detail: fmt.Sprintf("it had %d processes, and %d are allowed", len(pids), n)}, true
	}
	limit := k.Limits.Memory
	if limit < 0 {
		return Ending{}, false
	}
	files, segments := k.inFiles(), k.inSegments()
	if sum(pids, resident)+files+segments <= limit {
		return Ending{}, false
	}
	// Pages that several share were counted for each: look closely.
	var own, shared int64
	for _, pid := range pids {
		a, s := proportional(pid)
		own, shared = own+a, shared+s
	}
	// A file in memory may be mapped, too, and then is in shared already.
	if used := own + max(shared, files) + segments; used > limit {
		return Ending{Code: -1, Cause: MemoryOver, Detail: fmt.Sprintf("its processes held %d MB of memory, and %d MB are allowed", used>>20, limit>>20)}, true
	}
	return Ending{}, false
}

func sum(pids []int, of func(int) int64) int64 {
	var total int64
	for _, pid := range pids {
		total += of(pid)
	}
	return total
}

// resident is what a process holds in memory, but for its files, in bytes.
func resident(pid int) int64 {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	fields := bytes.Fields(data)
	if err != nil || len(fields) < 3 {
		return 0 // it has just ended
	}
	all, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	// The third counts files and shared memory alike, so that it can't be
	// taken off: a tool could hold all in shared memory.
	return all * int64(os.Getpagesize())
}

// proportional is the same with shared pages divided among those who share,
// and without the files, which the system can drop.
func proportional(pid int) (own, shared int64) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
	if err != nil {
		return resident(pid), 0
	}
	for line := range bytes.Lines(data) {
		for name, to := range map[string]*int64{"Pss_Anon:": &own, "SwapPss:": &own, "Pss_Shmem:": &shared} {
			if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
				n, _ := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte("kB")))), 10, 64)
				*to += n << 10
			}
		}
	}
	return own, shared
}

// inFiles is what the private /tmp and /dev/shm hold, which is memory. They are the
// sandbox's own at level full alone; elsewhere the launcher watches the folder.
func (k *supervisor) inFiles() int64 {
	if k.Level != Full {
		return 0
	}
	var total int64
	for _, dir := range []string{"/tmp", "/dev/shm"} {
		var st unix.Statfs_t
		if unix.Statfs(dir, &st) == nil {
			total += int64(st.Blocks-st.Bfree) * int64(st.Bsize) //nolint:unconvert
		}
	}
	return total
}

// inSegments is what System V shared memory and messages hold, whether or not a process
// has them attached. Only level full has a separate namespace for them, and elsewhere
// no process can make any.
func (k *supervisor) inSegments() int64 {
	if k.Level != Full {
		return 0
	}
	return columns("shm", "rss", "swap") + columns("msg", "cbytes")
}

// columns adds up columns of a table of /proc/sysvipc.
func columns(table string, names ...string) int64 {
	data, err := os.ReadFile("/proc/sysvipc/" + table)
	if err != nil {
		return 0
	}
	var at []int
	var total int64
	for line := range bytes.Lines(data) {
		fields := bytes.Fields(line)
		if at == nil {
			for i, field := range fields {
				if slices.Contains(names, string(field)) {
					at = append(at, i)
				}
			}
			continue
		}
		for _, i := range at {
			if i < len(fields) {
				n, _ := strconv.ParseInt(string(fields[i]), 10, 64)
				total += n
			}
		}
	}
	return total
}

// endAll ends all that is left and says how many there were, and whether the
// supervisor is known to be alone in a process namespace of its own. What it can't
// end there ends with the supervisor.
func (k *supervisor) endAll() (left int, alone bool) {
	if k.Level == Full {
		return k.endNamespace()
	}
	return k.endTree(), false
}

// endNamespace kills everybody in the namespace but the supervisor, its process 1.
func (k *supervisor) endNamespace() (left int, alone bool) {
	if childless() {
		return 0, true
	}
	left = len(k.descendants())
	unix.Kill(-1, unix.SIGKILL) // one that is just forking is hit, too: the kernel has it begin anew
	gone := make(chan struct{})
	go func() { // ends with the last child, or with the supervisor
		defer close(gone)
		for {
			if _, err := unix.Wait4(-1, nil, 0, nil); err != nil && !errors.Is(err, unix.EINTR) {
				return
			}
		}
	}()
	timer := time.NewTimer(endTime)
	defer timer.Stop()
	select {
	case <-gone:
		return left, childless()
	case <-timer.C:
		return left, false
	}
}

// endTree kills what is below the supervisor where that has no namespace.
func (k *supervisor) endTree() int {
	killed := map[int]bool{}
	for end := time.Now().Add(endTime); ; {
		pids := k.descendants()
		// Stopping first beats those that fork: none goes on while others end.
		for _, pid := range pids {
			unix.Kill(pid, unix.SIGSTOP)
		}
		for _, pid := range pids {
			if unix.Kill(pid, unix.SIGKILL) == nil {
				killed[pid] = true
			}
		}
		// What loses its parent becomes our child. So having none is the proof;
		// a list may have missed one that was forked while it was made.
		if childless() || time.Now().After(end) {
			return len(killed)
		}
		unix.Nanosleep(&unix.Timespec{Nsec: int64(endPause)}, nil)
	}
}

// childless takes in what has ended and tells whether there is nothing else.
func childless() bool {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return true
		case pid == 0:
			return false
		}
	}
}

// descendants are all processes below the supervisor that haven't ended.
func (k *supervisor) descendants() []int {
	parent := map[int]int{}
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if up, state := parentOf(name); up != 0 && state != 'Z' && state != 'X' {
			parent[pid] = up
		}
	}
	var out []int
	self := os.Getpid()
	for pid := range parent {
		up := parent[pid]
		for range len(parent) {
			if up == self {
				out = append(out, pid)
				break
			}
			if up = parent[up]; up == 0 {
				break
			}
		}
	}
	return out
}

// parentOf reads a process's parent and state; 0 is none, or it has ended.
func parentOf(name string) (parent int, state byte) {
	data, err := os.ReadFile("/proc/" + name + "/stat")
	if err != nil {
		return 0, 0
	}
	// The program's name is in brackets and may hold anything.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 2 {
		return 0, 0
	}
	parent, _ = strconv.Atoi(string(fields[1]))
	return parent, fields[0][0]
}
