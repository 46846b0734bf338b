package sandbox_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

func TestEnvironment(t *testing.T) {
	t.Parallel()
	levels(t, func(t *testing.T, level toolset.Level) {
		l := newLauncher(t, sandbox.Options{})
		p := policy(t, level)
		p.Env = []string{"API_KEY=given", "LANG=theirs"}
		c := toolset.Command{Args: []string{"env"}, Env: []string{"LANG=ours", "FETTLE_CHAT=12"}, Path: []string{"/opt/bin"}}
		ran := run(t, l, p, c)
		var names []string
		got := map[string]string{}
		for line := range strings.Lines(ran.Stdout.String()) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			names = append(names, name)
			got[name] = value
		}
		slices.Sort(names)
		if want := []string{"API_KEY", "FETTLE_CHAT", "HOME", "LANG", "PATH", "PWD", "TMPDIR"}; !slices.Equal(names, want) {
			t.Errorf("%q", names)
		}
		if got["HOME"] != p.Workspace || got["PWD"] != p.Workspace || got["LANG"] != "ours" || got["API_KEY"] != "given" ||
			!strings.HasPrefix(got["PATH"], "/opt/bin:/usr/") {
			t.Errorf("%q", got)
		}
		if (got["TMPDIR"] == "/tmp") != (level == toolset.LevelFull) {
			t.Errorf("TMPDIR=%s", got["TMPDIR"])
		}
		if _, err := os.Stat(got["TMPDIR"]); level != toolset.LevelFull && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the folder for temporary files is still there: %v", err)
		}
	})
}

func TestGrants(t *testing.T) {
	t.Parallel()
	for _, level := range []toolset.Level{toolset.LevelFull, toolset.LevelReduced} {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			needLevel(t, level)
			l := newLauncher(t, sandbox.Options{})
			base := tempDir(t)
			for _, dir := range []string{"ws/sub", "read/deep", "write", "other"} {
				if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(base, dir, "f"), []byte(dir), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(base, "one"), []byte("one"), 0o644); err != nil {
				t.Fatal(err)
			}
			p := toolset.Policy{
				Workspace: filepath.Join(base, "ws"), Least: level, Most: level, Writable: []string{filepath.Join(base, "write")},
				Readable: []string{filepath.Join(base, "read"), filepath.Join(base, "one"), filepath.Join(base, "ws", "sub")},
			}
			try := `
r() { cat $1 >/dev/null 2>&1 && echo "read $1" || echo "no $1"; }
w() { echo x 2>/dev/null >> $1 && echo "wrote $1" || echo "kept $1"; }
for f in ws/sub/f read/deep/f write/f other/f one; do r BASE/$f; w BASE/$f; done`
			ran := run(t, l, p, shell(strings.ReplaceAll(try, "BASE", base)))
			want := strings.ReplaceAll("read BASE/ws/sub/f\nwrote BASE/ws/sub/f\nread BASE/read/deep/f\nkept BASE/read/deep/f\n"+
				"read BASE/write/f\nwrote BASE/write/f\nno BASE/other/f\nkept BASE/other/f\nread BASE/one\nkept BASE/one\n", "BASE", base)
			wantOutput(t, ran, want)

			p.ReadOnly = true
			ran = run(t, l, p, shell(`cat sub/f >/dev/null && echo read; echo x 2>/dev/null > new || echo kept; echo x > $HOME/y && echo home; [ "$HOME" = "$TMPDIR" ] && echo temp`))
			wantOutput(t, ran, "read\nkept\nhome\ntemp\n")
		})
	}
}

func TestWithoutAWorkspace(t *testing.T) {
	t.Parallel()
	levels(t, func(t *testing.T, level toolset.Level) {
		l := newLauncher(t, sandbox.Options{})
		p := policy(t, level)
		p.Workspace = ""
		wantOutput(t, run(t, l, p, shell(`[ "$PWD" = "$TMPDIR" ] && echo x > f && cat f`)), "x\n")
	})
}

func TestRefusedStarts(t *testing.T) {
	t.Parallel()
	needLevel(t, toolset.LevelFull)
	l := newLauncher(t, sandbox.Options{})
	ws := tempDir(t)
	script := filepath.Join(ws, "odd.sh")
	if err := os.WriteFile(script, []byte("#!/no/such/shell\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(ws, "plain"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		policy toolset.Policy
		args   []string
		dir    string
		says   string
	}{
		{"no program", toolset.Policy{}, nil, "", "no program was named"},
		{"an unknown program", toolset.Policy{}, []string{"no-such-program"}, "", "start no-such-program: no such program in the sandbox"},
		{"a program that isn't granted", toolset.Policy{}, []string{"/opt/x/bin"}, "", "no such program in the sandbox"},
		{"a file that can't be run", toolset.Policy{}, []string{filepath.Join(ws, "plain")}, "", "it can't be run"},
		{"a script without its shell", toolset.Policy{}, []string{script}, "", "first line"},
		{"a folder that isn't there", toolset.Policy{}, []string{"true"}, "/nowhere", "start in /nowhere: no such folder"},
		{"a NUL byte", toolset.Policy{}, []string{"true", "a\x00b"}, "", "NUL"},
		{"a grant that isn't there", toolset.Policy{Readable: []string{ws + "/gone"}}, []string{"true"}, "", "gone"},
		{"everything", toolset.Policy{Readable: []string{"/"}}, []string{"true"}, "", "whole file system"},
		{"the kernel's", toolset.Policy{Writable: []string{"/proc/sys"}}, []string{"true"}, "", "kernel's"},
		{"a loader's variable", toolset.Policy{Env: []string{"LD_PRELOAD=x"}}, []string{"true"}, "", "LD_PRELOAD"},
		{"hosts without a way", toolset.Policy{Network: toolset.NetworkHosts, Hosts: []string{"a.example"}}, []string{"true"}, "", "no way to dial"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.policy.Workspace = ws; c.args == nil {
				c.args = []string{}
			}
			_, err := l.Start(t.Context(), c.policy, toolset.Command{Args: c.args, Dir: c.dir})
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
		})
	}
	var start *sandbox.StartError
	if _, err := l.Start(t.Context(), toolset.Policy{}, toolset.Command{Args: []string{"no-such-program"}}); !errors.As(err, &start) || !start.NotFound {
		t.Errorf("%#v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Start(ctx, toolset.Policy{}, toolset.Command{Args: []string{"true"}}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// What fettle's own parent left open stays with fettle.
func TestDescriptorsStopAtTheKeeper(t *testing.T) {
	t.Parallel()
	fd, err := unix.Open("/dev/null", unix.O_RDONLY, 0) // without O_CLOEXEC
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	levels(t, func(t *testing.T, level toolset.Level) {
		l := newLauncher(t, sandbox.Options{})
		wantOutput(t, run(t, l, policy(t, level), shell(`for f in /proc/self/fd/*; do [ ${f##*/} -gt 2 ] && readlink $f; done; true`)), "")
	})
}

func TestStandardInput(t *testing.T) {
	t.Parallel()
	needLevel(t, toolset.LevelFull)
	l := newLauncher(t, sandbox.Options{})
	long := strings.Repeat("0123456789", 100_000)
	c := toolset.Command{Args: []string{"cat"}, Stdin: strings.NewReader(long)}
	ran := run(t, l, policy(t, toolset.LevelFull), c)
	if ran.Stdout.String() != long {
		t.Errorf("%+v, %d bytes", ran.Exit, ran.Stdout.Total)
	}
	c.Stdin = nil
	wantOutput(t, run(t, l, policy(t, toolset.LevelFull), c), "")
}

func TestExits(t *testing.T) {
	t.Parallel()
	levels(t, func(t *testing.T, level toolset.Level) {
		l := newLauncher(t, sandbox.Options{})
		ran := run(t, l, policy(t, level), shell(`echo oops >&2; exit 7`))
		if e := ran.Exit; e.Cause != toolset.Exited || e.Code != 7 || e.Stderr.String() != "oops\n" || e.String() != "exit status 7" || ran.Level != level {
			t.Errorf("%+v", ran)
		}
		ran = run(t, l, policy(t, level), shell(`kill -SEGV $$`))
		if e := ran.Exit; e.Cause != toolset.Signalled || e.Code != -1 || e.Signal != "SIGSEGV" {
			t.Errorf("%+v", e)
		}
	})
}

// client asks for what its arguments name, by the proxy of its environment, and
// then tries without it.
const client = `
import sys, urllib.request, urllib.error, http.client, os, socket
for url in sys.argv[2:]:
    try:
        print(urllib.request.urlopen(url, timeout=10).read().decode())
    except urllib.error.HTTPError as e:
        print(e.code)
host, port = os.environ["HTTPS_PROXY"].removeprefix("http://").split(":")
def tunnel(to):
    c = http.client.HTTPConnection(host, int(port), timeout=10)
    c.set_tunnel(to, 443)
    c.request("GET", "/tunnel")
    return c.getresponse().read().decode()
for to in ("api.example.com", "evil.example"):
    try:
        print(tunnel(to))
    except OSError as e:
        print(e)
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=5)
    print("out")
except OSError:
    print("no way out")
`

func TestHostsByProxyAlone(t *testing.T) {
	t.Parallel()
	needLevel(t, toolset.LevelFull)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s at %s", r.URL.Path, r.Host)
	}))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	dialled := make(chan string, 10)
	l := newLauncher(t, sandbox.Options{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		dialled <- address
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}})
	p := policy(t, toolset.LevelFull)
	p.Network, p.Hosts = toolset.NetworkHosts, []string{"api.example.com", "*.data.example:8080"}
	ran := run(t, l, p, toolset.Command{Args: []string{python(t), "-c", client, port,
		"http://api.example.com/plain", "http://x.data.example:8080/below", "http://evil.example/", "http://api.example.com:22/",
	}})
	wantOutput(t, ran, "/plain at api.example.com\n/below at x.data.example:8080\n403\n403\n/tunnel at api.example.com:443\n"+
		"Tunnel connection failed: 403 Forbidden\nno way out\n")
	close(dialled)
	var got []string
	for address := range dialled {
		got = append(got, address)
	}
	if want := []string{"api.example.com:80", "x.data.example:8080", "api.example.com:443"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// What is open through the proxy ends with the process, whoever else holds it.
func TestTunnelEndsWithItsProcess(t *testing.T) {
	t.Parallel()
	needLevel(t, toolset.LevelFull)
	far := make(chan net.Conn, 1)
	l := newLauncher(t, sandbox.Options{Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		far <- theirs
		return ours, nil
	}})
	p := policy(t, toolset.LevelFull)
	p.Network, p.Hosts = toolset.NetworkHosts, []string{"api.example.com"}
	proc, err := l.Start(t.Context(), p, shell(`at=${HTTP_PROXY#http://}; exec 3<>/dev/tcp/${at%:*}/${at#*:}
printf 'CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n' >&3; read line <&3; echo "$line"; sleep 3600`))
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(proc.Stdout()).ReadString('\n'); line != "HTTP/1.1 200 OK\r\n" {
		t.Fatalf("%q %v", line, err)
	}
	proc.Kill()
	there := <-far
	defer there.Close()
	if n, err := there.Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes from a process that is gone", n)
	}
}

func TestWholeNetwork(t *testing.T) {
	t.Parallel()
	levels(t, func(t *testing.T, level toolset.Level) {
		l := newLauncher(t, sandbox.Options{})
		at := answer(t, "tcp", "127.0.0.1:0").(*net.TCPAddr)
		p := policy(t, level)
		script := `import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1]))); print(s.recv(2).decode())
socket.getaddrinfo("localhost", 80)
for f in (socket.AF_UNIX, socket.AF_PACKET, socket.AF_ALG):
    try: socket.socket(f, socket.SOCK_RAW if f == socket.AF_PACKET else socket.SOCK_STREAM if f == socket.AF_UNIX else socket.SOCK_SEQPACKET); print("made", f.name)
    except OSError: print("no", f.name)`
		c := toolset.Command{Args: []string{python(t), "-c", script, fmt.Sprint(at.Port)}}
		p.Network = toolset.NetworkAll
		ran := run(t, l, p, c)
		if level > toolset.LevelNone {
			wantOutput(t, ran, "hi\nno AF_UNIX\nno AF_PACKET\nno AF_ALG\n")
		} else if !strings.HasPrefix(ran.Stdout.String(), "hi\n") {
			t.Errorf("%+v", ran.Exit)
		}
	})
}

func TestUnixSocketsWithinASandbox(t *testing.T) {
	t.Parallel()
	levels(t, func(t *testing.T, level toolset.Level) {
		l := newLauncher(t, sandbox.Options{})
		dir := tempDir(t)
		answerIn(t, dir)
		abstract := word(t)
		answer(t, "unix", "@"+abstract)
		script := `import multiprocessing, os, socket, sys
try: print(multiprocessing.Manager().list([1])[0])
except (PermissionError, EOFError): print("none")
try: os.chdir(sys.argv[2])
except OSError: pass
for at in ("\0" + sys.argv[1], "agent.sock"):
    try: socket.socket(socket.AF_UNIX).connect(at); print("out")
    except OSError: print("no way out")`
		for _, network := range []toolset.Network{toolset.NetworkNone, toolset.NetworkAll} {
			p := policy(t, level)
			p.UnixSockets, p.Network = true, network
			ran := run(t, l, p, toolset.Command{Args: []string{python(t), "-c", script, abstract, dir}})
			said := ran.Stdout.String()
			if !strings.HasSuffix(said, "no way out\nno way out\n") || level == toolset.LevelFull && !strings.HasPrefix(said, "1\n") {
				t.Errorf("network %q: %v %s%s", network, ran.Exit, said, ran.Exit.Stderr)
			}
		}
	}, toolset.LevelFull, toolset.LevelReduced)
}

func TestLadder(t *testing.T) {
	t.Parallel()
	needLevel(t, toolset.LevelFull)
	cmd := again(t, "poor")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		"full: this system can contain imported tools only in part: no user namespaces (no space left on device)",
		"hosts: this system can contain imported tools only in part: only some hosts of the network can be given at level full",
		"any: reduced exit status 0 <nil> input",
		"report: reduced: no user namespaces (no space left on device), Landlock ",
		"gaps: tools can see that files exist and change permissions of your files outside the workspace; ",
		"fix: sudo sysctl user.max_user_namespaces=15000",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("want %q in\n%s", want, out)
		}
	}
}

func TestRequiredLevel(t *testing.T) {
	t.Parallel()
	l := newLauncher(t, sandbox.Options{Require: toolset.LevelFull})
	p := policy(t, toolset.LevelReduced)
	_, err := l.Run(t.Context(), p, shell(`:`))
	var uncontained *toolset.UncontainedError
	if !errors.As(err, &uncontained) || !strings.Contains(err.Error(), "level reduced is the most that was asked for, and full the least") || uncontained.Want != toolset.LevelFull {
		t.Errorf("%v", err)
	}
	// None takes an explicit word, too.
	_, err = newLauncher(t, sandbox.Options{}).Run(t.Context(), toolset.Policy{Most: toolset.LevelNone}, shell(`:`))
	if !errors.As(err, &uncontained) || uncontained.Want != toolset.LevelReduced {
		t.Errorf("%v", err)
	}
}

func TestInAContainer(t *testing.T) {
	t.Parallel()
	needLevel(t, toolset.LevelFull)
	cmd := again(t, "contained", tempDir(t), fmt.Sprint(os.Getpid()))
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		"report: full: user namespaces, ", "gaps: tools can see which other programs run", "any: full exit status 0 <nil> fine\nkept\nkept\n",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("want %q in\n%s", want, out)
		}
	}
}
