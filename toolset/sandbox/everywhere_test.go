package sandbox_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// asTool is what the test binary does as a tool, on every system.
const asTool = "FETTLE_TEST_TOOL"

// toolMode does what asTool says.
func toolMode() (status int, done bool) {
	switch os.Getenv(asTool) {
	case "":
		return 0, false
	case "echo":
		text, err := io.ReadAll(os.Stdin)
		fmt.Printf("%s%q %v\n", text, os.Args[1:], err)
		fmt.Fprintln(os.Stderr, "oops")
		return 3, true
	case "tree": // leaves a child behind, which holds a connection
		child := exec.Command(os.Args[0], os.Args[1])
		child.Env = append(os.Environ(), asTool+"=leaf")
		if err := child.Start(); err != nil {
			fmt.Println(err)
			return 1, true
		}
		io.Copy(io.Discard, os.Stdin)
		return 0, true
	case "leaf":
		c, err := net.Dial("tcp", os.Args[1])
		if err != nil {
			return 1, true
		}
		io.WriteString(c, ".")
		time.Sleep(time.Hour)
	}
	return 0, true
}

// anyLevel is a policy that every system can meet.
func anyLevel() toolset.Policy {
	return toolset.Policy{Least: toolset.LevelNone, Most: toolset.LevelNone}
}

func ownProgram(t *testing.T, mode string, args ...string) toolset.Command {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "linux" {
		path = "/proc/self/exe" // the same, wherever it lies
	}
	return toolset.Command{Args: append([]string{path}, args...), Env: []string{asTool + "=" + mode}}
}

func TestRunEverywhere(t *testing.T) {
	t.Parallel()
	l := sandbox.New(sandbox.Options{KeeperEnv: keeperEnv()})
	defer l.Close()
	c := ownProgram(t, "echo", "a b", "c")
	c.Stdin = strings.NewReader("in\n")
	ran, err := l.Run(t.Context(), anyLevel(), c)
	if err != nil {
		t.Fatal(err)
	}
	if e := ran.Exit; e.Cause != toolset.Exited || e.Code != 3 || !strings.HasPrefix(e.Stderr.String(), "oops") || ran.Level != toolset.LevelNone ||
		ran.Stdout.String() != "in\n[\"a b\" \"c\"] <nil>\n" {
		t.Errorf("%+v\n%s", ran, ran.Stdout)
	}
}

func TestAChildEndsWithItsCallEverywhere(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(toolset.Process){
		"by itself": func(p toolset.Process) { p.Stdin().Close() },
		"by force":  func(p toolset.Process) { p.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := sandbox.New(sandbox.Options{KeeperEnv: keeperEnv()})
			defer l.Close()
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			p, err := l.Start(t.Context(), anyLevel(), ownProgram(t, "tree", listener.Addr().String()))
			if err != nil {
				t.Fatal(err)
			}
			leaf, err := listener.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer leaf.Close()
			if _, err := io.ReadFull(leaf, make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			end(p)
			if _, err := p.Wait(t.Context()); err != nil {
				t.Error(err)
			}
			leaf.SetReadDeadline(time.Now().Add(5 * time.Second))
			if _, err := leaf.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
				t.Errorf("the child lives on: %v", err)
			}
		})
	}
}

func TestReportEverywhere(t *testing.T) {
	t.Parallel()
	l := sandbox.New(sandbox.Options{KeeperEnv: keeperEnv()})
	defer l.Close()
	first, err := l.Report(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again, err := l.Report(t.Context())
	if err != nil || again.String() != first.String() || first.Level == toolset.LevelUnset || len(first.Layers) == 0 {
		t.Errorf("%v, then %v %v", first, again, err)
	}
	if first.Level < toolset.LevelFull && (len(first.Gaps) == 0 || first.Why() == "") {
		t.Errorf("%+v", first)
	}
}
