package python_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/python"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// counting is a launcher that knows what it started.
type counting struct {
	toolset.Launcher
	mu    sync.Mutex
	cold  int
	spare []toolset.Process
	ready atomic.Int32
}

func (c *counting) Start(ctx context.Context, p toolset.Policy, cmd toolset.Command) (toolset.Process, error) {
	proc, err := c.Launcher.Start(ctx, p, cmd)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err != nil:
	case cmd.Spare:
		c.spare = append(c.spare, proc)
		c.ready.Add(1)
	default:
		c.cold++
	}
	return proc, err
}

func (c *counting) counts() (cold, spares int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cold, len(c.spare)
}

// last is the spare that was started last.
func (c *counting) last() toolset.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spare[len(c.spare)-1]
}

func newCounting(t *testing.T) *counting {
	t.Helper()
	l := sandbox.New(sandbox.Options{KeeperEnv: []string{"GORACE=" + strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0")}})
	t.Cleanup(func() { l.Close() })
	return &counting{Launcher: l}
}

// waitSpares waits until so many spares were started in all, and the last of
// them can be taken.
func (c *counting) waitSpares(t *testing.T, n int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		if int(c.ready.Load()) >= n {
			time.Sleep(20 * time.Millisecond) // the runtime hears of it a moment later
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d spares were started, want %d", c.ready.Load(), n)
		}
	}
}

// ended waits for the end of a process.
func ended(t *testing.T, p toolset.Process) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := p.Wait(ctx); err != nil {
		t.Errorf("a process is still there: %v", err)
	}
}

const stateful = `
import os, sys
COUNT = 0

def run(workspace, **kwargs):
    global COUNT
    COUNT += 1
    with open("/tmp/left", "a") as f:
        f.write("x")
    os.environ["LEFT"] = os.environ.get("LEFT", "") + "x"
    sys.left = getattr(sys, "left", 0) + 1
    import json
    return {"count": COUNT, "temp": os.path.getsize("/tmp/left"), "env": os.environ["LEFT"], "sys": sys.left,
            "files": sorted(os.listdir(workspace)), "kwargs": kwargs, "here": os.path.samefile(".", workspace)}
`

func TestSpareServesTheNextCallAndNoMore(t *testing.T) {
	t.Parallel()
	l := newCounting(t)
	w := newWorld(t, python.Options{Launcher: l})
	s, ws := source(t, stateful), workspace(t)
	for n := range 3 {
		res := mustRun(t, w, s, call(ws, `{"n":1}`))
		if want := `{"count":1,"temp":1,"env":"x","sys":1,"files":[],"kwargs":{"n":1},"here":true}`; string(res.Data) != want {
			t.Errorf("call %d: %s", n, res.Data)
		}
		l.waitSpares(t, n+1)
	}
	if cold, spares := l.counts(); cold != 1 || spares != 3 {
		t.Errorf("%d cold starts, %d spares", cold, spares)
	}
	// A failing call leaves one behind, too.
	mustFail(t, w, source(t, "def run(workspace):\n    raise ValueError(1)\n"), call(ws, `{}`))
	l.waitSpares(t, 4)
}

// A spare serves nothing but what it was started for.
func TestSpareIsNotTakenForAnythingElse(t *testing.T) {
	t.Parallel()
	s := source(t, stateful)
	for name, change := range map[string]func(*testing.T, *python.Spec, *toolset.Call){
		"another workspace": func(t *testing.T, _ *python.Spec, c *toolset.Call) { c.Workspace = workspace(t) },
		"no workspace":      func(_ *testing.T, _ *python.Spec, c *toolset.Call) { c.Workspace = nil },
		"another policy":    func(_ *testing.T, s *python.Spec, _ *toolset.Call) { s.Policy.Env = []string{"TOKEN=1"} },
		"another limit":     func(_ *testing.T, s *python.Spec, _ *toolset.Call) { s.Policy.Limits.Time = time.Hour },
		"another version": func(t *testing.T, s *python.Spec, _ *toolset.Call) {
			s.Dir = source(t, stateful).Dir
		},
		"a workspace that was replaced": func(t *testing.T, _ *python.Spec, c *toolset.Call) {
			if err := errors.Join(os.Rename(c.Workspace.Path, c.Workspace.Path+".old"), os.Mkdir(c.Workspace.Path, 0o700)); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(c.Workspace.Path, "new"), "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newCounting(t)
			w := newWorld(t, python.Options{Launcher: l})
			s, c := s, call(workspace(t), `{}`)
			mustRun(t, w, s, c)
			l.waitSpares(t, 1)
			change(t, &s, &c)
			res := mustRun(t, w, s, c)
			if cold, _ := l.counts(); cold != 2 {
				t.Errorf("%d cold starts", cold)
			}
			if name == "a workspace that was replaced" && !strings.Contains(res.Text, `"files":["new"]`) {
				t.Error(res.Text)
			}
		})
	}
}

// A spare that died is no reason for a call to fail.
func TestSpareThatDied(t *testing.T) {
	t.Parallel()
	l := newCounting(t)
	w := newWorld(t, python.Options{Launcher: l})
	s, ws := source(t, stateful), workspace(t)
	mustRun(t, w, s, call(ws, `{}`))
	l.waitSpares(t, 1)
	l.last().Kill()
	mustRun(t, w, s, call(ws, `{}`))
	if cold, _ := l.counts(); cold != 2 {
		t.Errorf("%d cold starts", cold)
	}
}

func TestSpareEndsWhenItWasIdleTooLong(t *testing.T) {
	t.Parallel()
	l := newCounting(t)
	w := newWorld(t, python.Options{Launcher: l, SpareIdle: 50 * time.Millisecond})
	mustRun(t, w, source(t, stateful), call(workspace(t), `{}`))
	l.waitSpares(t, 1)
	ended(t, l.last())
}

func TestSparesAreBounded(t *testing.T) {
	t.Parallel()
	l := newCounting(t)
	w := newWorld(t, python.Options{Launcher: l})
	s := source(t, stateful)
	for n := range python.MaxSpares + 2 {
		mustRun(t, w, s, call(workspace(t), `{}`))
		l.waitSpares(t, n+1)
	}
	l.mu.Lock()
	first := l.spare[:2]
	l.mu.Unlock()
	for _, p := range first {
		ended(t, p)
	}
}

func TestCloseEndsSparesAndLetsNothingBegin(t *testing.T) {
	t.Parallel()
	l := newCounting(t)
	w := newWorld(t, python.Options{Launcher: l})
	s, ws := source(t, stateful), workspace(t)
	mustRun(t, w, s, call(ws, `{}`))
	l.waitSpares(t, 1)
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended(t, l.last())
	if _, err := w.Runner(s).Run(t.Context(), call(ws, `{}`)); !errors.Is(err, python.ErrClosed) {
		t.Error(err)
	}
}

// Close waits for calls, but not for ever.
func TestCloseWaitsForCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{})
	ws := workspace(t)
	s := source(t, "import time\ndef run(workspace):\n    (workspace / 'begun').touch()\n    time.sleep(3600)\n")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Runner(s).Run(ctx, call(ws, `{}`))
	}()
	waitFor(t, filepath.Join(ws.Path, "begun"))
	gone, end := context.WithCancel(t.Context())
	end()
	if err := w.Close(gone); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	cancel()
	<-done
}

// Many calls at once, of several chats, don't see each other.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{})
	s := source(t, "def run(workspace, n):\n    p = workspace / 'n'\n    old = p.read_text() if p.exists() else ''\n    p.write_text(str(n))\n    return {'n': n, 'old': old}\n")
	var wg sync.WaitGroup
	for chat := range 4 {
		ws := workspace(t)
		wg.Go(func() {
			old := ""
			for n := range 3 {
				raw, _ := json.Marshal(map[string]int{"n": chat*10 + n})
				res, err := w.Runner(s).Run(t.Context(), call(ws, string(raw)))
				if err != nil {
					t.Error(explain(err))
					return
				}
				var got struct {
					N   int
					Old string
				}
				if err := json.Unmarshal(res.Data, &got); err != nil || got.N != chat*10+n || got.Old != old {
					t.Errorf("chat %d: %s", chat, res.Data)
				}
				old = string(raw[5 : len(raw)-1])
			}
		})
	}
	wg.Wait()
}

// A call with a layer writes there and not to the folder, in a process that serves no other.
func TestACallWithALayerHasNoSpare(t *testing.T) {
	t.Parallel()
	l := newCounting(t)
	w := newWorld(t, python.Options{Launcher: l})
	s, ws := source(t, "def run(workspace):\n    open('made', 'w').write('1')\n    return {'ok': True}\n"), workspace(t)
	layers := realDir(t)
	if why, err := l.Launcher.(*sandbox.Launcher).Layers(t.Context(), ws.Path, layers); err != nil || why != "" {
		need(t, false, "overlays in user namespaces: "+why)
	}
	for range 2 {
		call := call(ws, `{}`)
		own, dir := *ws, filepath.Join(layers, "call")
		own.Layer = &toolset.Layer{Upper: filepath.Join(dir, "upper"), Work: filepath.Join(dir, "work")}
		if err := errors.Join(os.MkdirAll(own.Layer.Upper, 0o700), os.MkdirAll(own.Layer.Work, 0o700)); err != nil {
			t.Fatal(err)
		}
		call.Workspace = &own
		mustRun(t, w, s, call)
		if text, err := os.ReadFile(filepath.Join(own.Layer.Upper, "made")); err != nil || string(text) != "1" {
			t.Errorf("the layer has %q: %v", text, err)
		}
		if _, err := os.Stat(filepath.Join(ws.Path, "made")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the folder was written: %v", err)
		}
		if err := atomicfile.RemoveAll(dir); err != nil {
			t.Error(err)
		}
		layers = realDir(t)
	}
	if cold, spares := l.counts(); cold != 2 || spares != 0 {
		t.Errorf("%d cold starts and %d spares", cold, spares)
	}
}
