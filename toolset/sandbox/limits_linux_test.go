package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// forks makes children that stay until a limit answers, and says how many
// there were.
const forks = `
import os, time
n = 0
try:
    for i in range(600):
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        n += 1
except OSError as e:
    print(e.strerror, end=" ")
print(n, flush=True)
time.sleep(1)
`

func TestLimits(t *testing.T) {
	t.Parallel()
	levels(t, func(t *testing.T, level toolset.Level) {
		l := newLauncher(t, sandbox.Options{})
		for _, c := range []struct {
			name   string
			limits toolset.Limits
			script string
			wants  string // a part of both streams
			cause  toolset.Cause
		}{
			// Below what the supervisor needs (more under -race) the limit comes a
			// moment after the start.
			{"data of a process", toolset.Limits{Memory: 400 << 20},
				"import time\ntime.sleep(1)\ntry: bytearray(500 << 20)\nexcept MemoryError: print('no memory')", "no memory", toolset.Exited},
			{"little data", toolset.Limits{Memory: 64 << 20},
				"import time\ntime.sleep(1)\ntry: bytearray(100 << 20)\nexcept MemoryError: print('no memory')", "no memory", toolset.Exited},
			{"shared memory", toolset.Limits{Memory: 100 << 20},
				"import mmap, time\nm = mmap.mmap(-1, 200 << 20)\nfor i in range(0, 200 << 20, 4096): m[i] = 1\ntime.sleep(60)", "", toolset.MemoryOver},
			{"all processes together", toolset.Limits{Memory: 100 << 20},
				"import os, time\nfor i in range(4): os.fork()\nb = bytearray(os.urandom(1 << 20) * 30)\ntime.sleep(60)", "", toolset.MemoryOver},
			{"file size", toolset.Limits{FileSize: 1 << 20},
				"import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\ntry: open('f', 'wb').write(b'x' * (2 << 20))\nexcept OSError as e: print(e.strerror)", "File too large", toolset.Exited},
			{"open files", toolset.Limits{OpenFiles: 50},
				"l = []\ntry:\n    while True: l.append(open('/dev/null'))\nexcept OSError as e: print(e.strerror, len(l) < 50)", "Too many open files True", toolset.Exited},
			{"core dumps", toolset.Limits{}, "import resource\nprint(resource.getrlimit(resource.RLIMIT_CORE))", "(0, 0)", toolset.Exited},
			{"time", toolset.Limits{Time: 500 * time.Millisecond}, "import time\ntime.sleep(60)", "KeyboardInterrupt", toolset.TimeOver},
		} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				p := policy(t, level)
				c.limits.FreeDisk = toolset.NoLimit
				p.Limits = c.limits
				ran := run(t, l, p, toolset.Command{Args: []string{python(t), "-c", c.script}})
				both := ran.Stdout.String() + ran.Exit.Stderr.String()
				if ran.Exit.Cause != c.cause || !strings.Contains(both, c.wants) {
					t.Errorf("%+v\n%s", ran.Exit, both)
				}
				if c.cause != toolset.Exited && ran.Exit.Detail == "" {
					t.Error("no detail")
				}
			})
		}
	})
}

func TestForkBomb(t *testing.T) {
	t.Parallel()
	levels(t, func(t *testing.T, level toolset.Level) {
		l := newLauncher(t, sandbox.Options{})
		p := policy(t, level)
		p.Limits.Processes = 40
		ran := run(t, l, p, toolset.Command{Args: []string{python(t), "-c", forks}})
		// The kernel's limit is for a namespace, and for real root another one
		// or none; then the supervisor's watch answers.
		var n int
		fmt.Sscanf(ran.Stdout.String(), "Resource temporarily unavailable %d", &n)
		switch {
		case ran.Exit.Cause == toolset.ProcessOver && (os.Getuid() == 0 || level < toolset.LevelFull):
		case ran.Exit.Cause != toolset.Exited || level < toolset.LevelFull || n == 0 || n >= 60:
			t.Errorf("%+v %s", ran.Exit, ran.Stdout)
		case ran.Exit.Left != n:
			t.Errorf("%d of %d were left", ran.Exit.Left, n)
		}
		again := run(t, l, p, shell(`echo works`))
		wantOutput(t, again, "works\n")
	})
}

func TestFullTemporaryFolders(t *testing.T) {
	t.Parallel()
	needLevel(t, toolset.LevelFull)
	l := newLauncher(t, sandbox.Options{})
	p := policy(t, toolset.LevelFull)
	p.Limits.Temp, p.Limits.TempFiles = 8<<20, 100
	ran := run(t, l, p, shell(`
for dir in /tmp /dev/shm; do
	head -c 20M /dev/zero > $dir/big 2>/dev/null || echo "$dir is full at $(stat -c %s $dir/big)"
	rm $dir/big
	for i in $(seq 200); do : 2>/dev/null > $dir/$i || { echo "$dir takes fewer than 100 files: $((i <= 100))"; break; }; done
done
echo x > still-works && cat still-works`))
	wantOutput(t, ran, "/tmp is full at 8388608\n/tmp takes fewer than 100 files: 1\n/dev/shm is full at 8388608\n/dev/shm takes fewer than 100 files: 1\nx\n")
}

func TestFloodOfOutput(t *testing.T) {
	t.Parallel()
	levels(t, func(t *testing.T, level toolset.Level) {
		l := newLauncher(t, sandbox.Options{})
		p := policy(t, level)
		p.Limits.Output = 1000
		ran := run(t, l, p, shell(`echo first; head -c 50M /dev/zero; echo last; echo e1 >&2; head -c 50M /dev/zero >&2; echo e2 >&2`))
		for _, c := range []struct {
			out         toolset.Output
			first, last string
		}{{ran.Stdout, "first\n", "last\n"}, {ran.Exit.Stderr, "e1\n", "e2\n"}} {
			if len(c.out.Head) != 500 || len(c.out.Tail) != 500 || c.out.Total != 50<<20+int64(len(c.first)+len(c.last)) ||
				!strings.HasPrefix(string(c.out.Head), c.first) || !strings.HasSuffix(string(c.out.Tail), c.last) {
				t.Errorf("%d %d %d", len(c.out.Head), len(c.out.Tail), c.out.Total)
			}
		}
	})
}

func TestJoinedOutput(t *testing.T) {
	t.Parallel()
	needLevel(t, toolset.LevelFull)
	l := newLauncher(t, sandbox.Options{})
	c := shell(`echo a; echo b >&2; echo c`)
	c.Joined = true
	wantOutput(t, run(t, l, policy(t, toolset.LevelFull), c), "a\nb\nc\n")
}

func TestGrowingWorkspace(t *testing.T) {
	t.Parallel()
	levels(t, func(t *testing.T, level toolset.Level) {
		l := newLauncher(t, sandbox.Options{})
		for _, c := range []struct {
			name   string
			limits toolset.Limits
			script string
			cause  toolset.Cause
		}{
			{"by bytes", toolset.Limits{Grown: 10 << 20, FreeDisk: toolset.NoLimit}, `head -c 30M /dev/urandom > big; sleep 60`, toolset.WorkspaceBig},
			{"by files", toolset.Limits{GrownFiles: 100, FreeDisk: toolset.NoLimit}, `mkdir d; cd d; sleep 0.3; touch $(seq 300); sleep 60`, toolset.WorkspaceBig},
			// It goes on, since others may free as much of the disk meanwhile.
			{"until the disk is full", toolset.Limits{FreeDisk: 1 << 60}, `while :; do head -c 10M /dev/zero >> big; sync big; sleep 0.1; done`, toolset.DiskFull},
			{"within its limits", toolset.Limits{Grown: 40 << 20, GrownFiles: 1000, FreeDisk: toolset.NoLimit}, `head -c 30M /dev/urandom > big; touch $(seq 300); sleep 0.7`, toolset.Exited},
			{"without limits", toolset.Limits{Grown: toolset.NoLimit, GrownFiles: toolset.NoLimit, FreeDisk: toolset.NoLimit}, `head -c 30M /dev/urandom > big`, toolset.Exited},
		} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				p := policy(t, level)
				p.Limits = c.limits
				if err := os.WriteFile(filepath.Join(p.Workspace, "before"), make([]byte, 20<<20), 0o600); err != nil {
					t.Fatal(err)
				}
				ran := run(t, l, p, shell(c.script))
				if ran.Exit.Cause != c.cause {
					t.Errorf("%+v", ran.Exit)
				}
			})
		}
	}, toolset.LevelFull)
}

func TestNoLimits(t *testing.T) {
	t.Parallel()
	levels(t, func(t *testing.T, level toolset.Level) {
		l := newLauncher(t, sandbox.Options{})
		p := policy(t, level)
		p.Limits = toolset.Limits{
			Time: toolset.NoLimit, Memory: toolset.NoLimit, Processes: toolset.NoLimit, FileSize: toolset.NoLimit,
			OpenFiles: toolset.NoLimit, Temp: toolset.NoLimit, TempFiles: toolset.NoLimit, Output: toolset.NoLimit,
			Grown: toolset.NoLimit, GrownFiles: toolset.NoLimit, FreeDisk: toolset.NoLimit,
		}
		ran := run(t, l, p, shell(`head -c 3M /dev/zero; ulimit -f; ulimit -d`))
		if out := ran.Stdout; ran.Exit.Code != 0 || int64(len(out.Head)) != out.Total || !strings.HasSuffix(string(out.Head), "unlimited\nunlimited\n") {
			t.Errorf("%+v %d", ran.Exit, out.Total)
		}
	})
}

// Memory counts regardless of its kind: also what a process can hold without having it
// mapped, and without a process.
func TestMemoryOutsideOfProcesses(t *testing.T) {
	t.Parallel()
	needLevel(t, toolset.LevelFull)
	l := newLauncher(t, sandbox.Options{})
	const segment = `
import ctypes, mmap, time
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
for i in range(20):
    id = libc.shmget(0, 20 << 20, 0o600 | 0o1000)
    at = libc.shmat(id, None, 0)
    ctypes.memset(at, 1, 20 << 20)
    libc.shmdt(ctypes.c_void_p(at))
time.sleep(60)`
	for _, c := range []struct{ name, script string }{
		{"segments that are attached to no process", segment},
		{"files in /dev/shm and /tmp", "import time\nfor d in ('/dev/shm', '/tmp'):\n    open(d + '/f', 'wb').write(b'x' * (80 << 20))\ntime.sleep(60)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := policy(t, toolset.LevelFull)
			p.Limits.Memory, p.Limits.Temp = 100<<20, 100<<20
			ran := run(t, l, p, toolset.Command{Args: []string{python(t), "-c", c.script}})
			if ran.Exit.Cause != toolset.MemoryOver {
				t.Errorf("%+v %s", ran.Exit, ran.Stdout)
			}
		})
	}
}

// What would get around limits and walls is refused, and what programs use instead works.
func TestCallsThatGetAroundLimitsAreRefused(t *testing.T) {
	t.Parallel()
	for _, level := range []toolset.Level{toolset.LevelFull, toolset.LevelReduced} {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			needLevel(t, level)
			l := newLauncher(t, sandbox.Options{})
			p := policy(t, level)
			ran := run(t, l, p, toolset.Command{Args: []string{python(t), "-c", `
import os, socket, ctypes
def t(name, f):
    try:
        f()
        print(name)
    except OSError as e:
        pass
def fail(n):
    if n < 0: raise OSError()
libc = ctypes.CDLL(None)
open("f", "w").close()
os.mkdir("d")
fd = os.open("f", os.O_RDWR)
t("memfd", lambda: os.memfd_create("x"))
t("setuid", lambda: os.chmod("f", 0o4755))
t("setgid", lambda: os.fchmod(fd, 0o2755))
t("setuid folder", lambda: os.chmod("d", 0o4755))
t("open", lambda: os.open("g", os.O_CREAT | os.O_WRONLY, 0o4755))
t("temporary", lambda: os.open(".", os.O_TMPFILE | os.O_RDWR, 0o4755))
t("mknod", lambda: os.mknod("n", 0o104755))
t("mkdir", lambda: fail(libc.mkdir(b"e", 0o6755)))
t("capability", lambda: os.setxattr("f", "security.capability", b"\x01\x00\x00\x02" + b"\xff" * 16))
t("pair of another family", lambda: socket.socketpair(30, socket.SOCK_STREAM))
t("chmod", lambda: os.chmod("f", 0o755))
t("sticky", lambda: os.chmod("d", 0o1755))
t("pair", lambda: socket.socketpair())
t("packets", lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET))
t("datagrams", lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
t("segment", lambda: fail(libc.shmget(0, 4096, 0o1600)))
`}})
			want := "chmod\nsticky\npair\npackets\n"
			if level == toolset.LevelFull {
				want += "datagrams\nsegment\n"
			}
			wantOutput(t, ran, want)
			for _, name := range []string{"f", "d"} {
				if info, err := os.Stat(filepath.Join(p.Workspace, name)); err != nil || info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
					t.Errorf("%s: %v %v", name, info.Mode(), err)
				}
			}
		})
	}
}

// Only seccomp keeps a tool from setting the set-user-id bit of a file, so without it no
// tool runs unless the user accepts a tool without a sandbox.
func TestWithoutSeccompNoToolRuns(t *testing.T) {
	t.Parallel()
	needLevel(t, toolset.LevelReduced)
	ws := tempDir(t)
	out, err := again(t, "without seccomp", ws).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"report: none: ", "no seccomp", "a tool can set the set-user-id bit of files"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "runs: ran") || strings.Count(string(out), "cannot contain imported tools: no seccomp") != 3 {
		t.Errorf("a tool ran, or the refusal does not name the reason:\n%s", out)
	}
	if left, err := os.ReadDir(ws); err != nil || len(left) != 0 {
		t.Errorf("the workspace has %v, %v", left, err)
	}
}

// The folder for temporary files is bounded where it isn't in memory, too.
func TestTemporaryFilesAreBoundedWithoutMounts(t *testing.T) {
	t.Parallel()
	needLevel(t, toolset.LevelReduced)
	l := newLauncher(t, sandbox.Options{})
	for _, script := range []string{`for i in 1 2 3; do head -c 10M /dev/zero > $TMPDIR/$i; done; sleep 60`, `cd $TMPDIR; touch $(seq 300); sleep 60`} {
		p := policy(t, toolset.LevelReduced)
		p.Limits.Temp, p.Limits.TempFiles = 20<<20, 200
		if ran := run(t, l, p, shell(script)); ran.Exit.Cause != toolset.WorkspaceBig || !strings.Contains(ran.Exit.Detail, "temporary files") {
			t.Errorf("%+v", ran.Exit)
		}
	}
}

// A process can't outrun the limits of a workspace that takes long to walk: what it
// writes shows in the disk's free space before the next walk.
func TestGrowthIsSeenBetweenWalks(t *testing.T) {
	t.Parallel()
	needLevel(t, toolset.LevelFull)
	l := newLauncher(t, sandbox.Options{})
	p := policy(t, toolset.LevelFull)
	for i := range 40 {
		dir := filepath.Join(p.Workspace, fmt.Sprint(i))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for j := range 100 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(j)), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.Limits.Grown, p.Limits.GrownFiles = 64<<20, 1000
	for _, script := range []string{
		`i=0; while :; do head -c 4M /dev/zero > big$i; sync big$i; i=$((i+1)); sleep 0.05; done`,
		`i=0; while :; do mkdir d$i; (cd d$i; touch $(seq 200)); i=$((i+1)); sleep 0.05; done`,
	} {
		ran := run(t, l, p, shell(script))
		if ran.Exit.Cause != toolset.WorkspaceBig {
			t.Errorf("%+v", ran.Exit)
		}
	}
}
