package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// asNobody marks the test binary that TestAsNobody runs.
const asNobody = "FETTLE_TEST_AS_NOBODY"

// need skips a test that needs something the machine lacks. On a machine that
// claims to have everything a skip is a failure.
func need(t *testing.T, ok bool, what string) {
	t.Helper()
	if !ok {
		needtest.Lacking(t, what)
	}
}

func newLauncher(t *testing.T, o sandbox.Options) *sandbox.Launcher {
	t.Helper()
	o.KeeperEnv = keeperEnv()
	l := sandbox.New(o)
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// machine is what can be had here; it is looked at once.
var machine = sync.OnceValue(func() sandbox.Report {
	l := sandbox.New(sandbox.Options{KeeperEnv: keeperEnv()})
	defer l.Close()
	r, err := l.Report(context.Background())
	if err != nil {
		panic(err)
	}
	return r
})

// levels runs a test at each level, or at those given, each by name.
func levels(t *testing.T, test func(t *testing.T, level toolset.Level), which ...toolset.Level) {
	if which == nil {
		which = []toolset.Level{toolset.LevelFull, toolset.LevelReduced, toolset.LevelNone}
	}
	for _, level := range which {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			needLevel(t, level)
			test(t, level)
		})
	}
}

func needLevel(t *testing.T, level toolset.Level) {
	t.Helper()
	r := machine()
	switch level {
	case toolset.LevelFull:
		need(t, r.Level == toolset.LevelFull, "user namespaces for a sandbox at full: "+r.String())
	case toolset.LevelReduced:
		need(t, strings.Contains(r.String(), ", Landlock ") && strings.Contains(r.String(), ", seccomp"), "Landlock: "+r.String())
	}
}

// python is an interpreter that every user can reach.
func python(t *testing.T) string {
	t.Helper()
	const path = "/usr/bin/python3"
	_, err := os.Stat(path)
	need(t, err == nil, path)
	return path
}

// tempDir is like t.TempDir without the links that some systems have there.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// policy is one for a workspace of its own, at one level and no other.
func policy(t *testing.T, level toolset.Level) toolset.Policy {
	t.Helper()
	return toolset.Policy{Workspace: tempDir(t), Least: level, Most: level, Limits: toolset.Limits{FreeDisk: toolset.NoLimit}}
}

func shell(script string) toolset.Command {
	return toolset.Command{Args: []string{"bash", "-c", script}}
}

func run(t *testing.T, l *sandbox.Launcher, p toolset.Policy, c toolset.Command) toolset.Ran {
	t.Helper()
	ran, err := l.Run(t.Context(), p, c)
	if err != nil {
		t.Fatal(err)
	}
	return ran
}

// wantOutput fails unless a process ended well and wrote exactly that.
func wantOutput(t *testing.T, ran toolset.Ran, want string) {
	t.Helper()
	if ran.Exit.Cause != toolset.Exited || ran.Exit.Code != 0 || ran.Stdout.String() != want {
		t.Errorf("%v, %q, want %q\n%s", ran.Exit, ran.Stdout, want, ran.Exit.Stderr)
	}
}

// marked are the processes of the machine that carry a word in their arguments
// or environment and haven't ended.
func marked(t *testing.T, word string) []string {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, dir := range dirs {
		if dir == "/proc/"+strconv.Itoa(os.Getpid()) {
			continue
		}
		args, _ := os.ReadFile(dir + "/cmdline") // empty once it has ended
		env, _ := os.ReadFile(dir + "/environ")
		if bytes.Contains(args, []byte(word)) || bytes.Contains(env, []byte(word)) {
			out = append(out, fmt.Sprintf("%s %q", filepath.Base(dir), args))
		}
	}
	return out
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// parentOf gives the parent of a process of bash, sleep and the like, whose
// names hold no brackets.
func parentOf(t *testing.T, pid string) string {
	t.Helper()
	data, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	return strings.Fields(rest)[1]
}

// wantGone fails unless no process with the word is alive soon. They sleep for an
// hour, so a long wait hides none of them; how soon the kernel and a loaded machine
// get to the end of a killed one is not what is tested.
func wantGone(t *testing.T, word string) {
	t.Helper()
	var left []string
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if left = marked(t, word); len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("still alive: %s", left)
		}
	}
}

// word is one that no other process has.
func word(t *testing.T) string {
	return fmt.Sprintf("fettle-%d-%d", os.Getpid(), time.Now().UnixNano())
}

// answer serves "hi" to whoever connects.
func answer(t *testing.T, network, address string) net.Addr {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			io.WriteString(c, "hi")
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr()
}

// answerIn serves at agent.sock in a folder, whose path may be too long for a
// socket's address.
func answerIn(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() }) // after the listener, which removes the socket
	answer(t, "unix", fmt.Sprintf("/proc/self/fd/%d/agent.sock", f.Fd()))
}

func answerUDP(t *testing.T) net.Addr {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		b := make([]byte, 16)
		for {
			_, from, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			c.WriteTo([]byte("hi"), from)
		}
	}()
	t.Cleanup(func() { c.Close(); <-done })
	return c.LocalAddr()
}

// mode is what the test binary does instead of running tests.
const mode = "FETTLE_TEST_MODE"

// again runs the test binary in another mode, as a program of its own.
func again(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), mode+"="+name)
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// TestAsNobody runs every test once more as uid 65534, since much is different
// for root.
func TestAsNobody(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 || os.Getenv(asNobody) != "" {
		t.Skip("needs root, who alone can become someone else")
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.v", "-test.timeout=5m", "-test.parallel=12")
	if testing.Short() {
		cmd.Args = append(cmd.Args, "-test.short")
	}
	cmd.Env = append(os.Environ(), asNobody+"=1", "HOME=/tmp", "TMPDIR=/tmp")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	passed := strings.Count(string(out), "--- PASS: ")
	if err != nil {
		t.Fatalf("%v\n%s", err, failures(string(out)))
	}
	if passed < 40 {
		t.Errorf("only %d tests passed:\n%s", passed, out)
	}
	t.Logf("%d passed", passed)
}

// failures leaves out what passed.
func failures(out string) string {
	var lines []string
	for line := range strings.Lines(out) {
		if !strings.Contains(line, "--- PASS") && !strings.HasPrefix(line, "===") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// probeWorld is what probe.py attacks.
func probeWorld(t *testing.T) (base string, args string) {
	t.Helper()
	base = tempDir(t)
	for _, dir := range []string{"home/.ssh", "ws/sub", "toolset", "outside"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"home/.ssh/id_rsa", "toolset/t.py", "outside/f", "outside/gone"} {
		if err := os.WriteFile(filepath.Join(base, file), []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../outside", filepath.Join(base, "ws/link")); err != nil {
		t.Fatal(err)
	}
	victim := exec.CommandContext(t.Context(), "sleep", "3600")
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { victim.Process.Kill(); victim.Wait() })
	answerIn(t, filepath.Join(base, "home"))
	abstract := word(t)
	answer(t, "unix", "@"+abstract)
	given := map[string]any{
		"base": base, "victim": victim.Process.Pid, "abstract": abstract,
		"tcp": answer(t, "tcp", "127.0.0.1:0").(*net.TCPAddr).Port, "udp": answerUDP(t).(*net.UDPAddr).Port,
		"machine": map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH],
	}
	text, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	return base, string(text)
}
