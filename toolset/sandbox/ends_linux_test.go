package sandbox_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// stragglers are ways to outlive what started one. WORD marks the processes.
func stragglers() map[string]string {
	return map[string]string{
		"in the background":    `sleep 3600 WORD & echo .`,
		"without a hangup":     `nohup sleep 3600 WORD >/dev/null 2>&1 & echo .`,
		"in another session":   `setsid sh -c 'sleep 3600; : WORD' & echo .`,
		"daemonised":           `python3 -c 'import os,time; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); time.sleep(3600)' WORD; echo .`,
		"heeding no signal":    `bash -c 'trap "" HUP INT TERM QUIT PIPE; while :; do sleep 1; done; : WORD' & echo .`,
		"stopped":              `bash -c 'kill -STOP $$; : WORD' & echo .`,
		"a chain of forks":     `python3 -c 'import os,time` + "\n" + `t=time.time()+20` + "\n" + `while time.time()<t: os.fork() and os._exit(0)' WORD & echo .`,
		"holding the pipe":     `(exec sleep 3600 WORD) & disown; echo .`,
		"many":                 `for i in $(seq 30); do setsid sleep 3600 WORD & done; echo .`,
		"under another parent": `(setsid sh -c '(sleep 3600 WORD &) ; exit 0' &) ; echo .`,
	}
}

// marking puts a word for WORD, in such a way that sleep doesn't take it for a
// time.
func marking(script, word string) string {
	script = strings.ReplaceAll(script, "sleep 3600 WORD", "env MARK=WORD sleep 3600")
	return strings.ReplaceAll(script, "WORD", word)
}

func TestNothingOutlivesItsCall(t *testing.T) {
	t.Parallel()
	python(t)
	levels(t, func(t *testing.T, level toolset.Level) {
		l := newLauncher(t, sandbox.Options{})
		for name, script := range stragglers() {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				word := word(t)
				ran := run(t, l, policy(t, level), shell(marking(script, word)))
				if ran.Exit.Cause != toolset.Exited || ran.Exit.Code != 0 || !strings.HasPrefix(ran.Stdout.String(), ".") {
					t.Errorf("%v %q %s", ran.Exit, ran.Stdout, ran.Exit.Stderr)
				}
				wantGone(t, word)
			})
		}
	})
}

func TestNothingOutlivesFettle(t *testing.T) {
	t.Parallel()
	python(t)
	levels(t, func(t *testing.T, level toolset.Level) {
		for name, script := range stragglers() {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				word := word(t)
				parent := again(t, "parent", level.String(), "bash", "-c", marking(script, word)+"; sleep 3600")
				out, err := parent.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := parent.Start(); err != nil {
					t.Fatal(err)
				}
				line, err := bufio.NewReader(out).ReadString('\n')
				if err != nil || line != "ready\n" {
					t.Errorf("%q %v", line, err)
				}
				parent.Process.Kill()
				parent.Wait() // it was killed
				wantGone(t, word)
			})
		}
	})
}

func TestStopAsksTellsAndForces(t *testing.T) {
	t.Parallel()
	levels(t, func(t *testing.T, level toolset.Level) {
		l := newLauncher(t, sandbox.Options{})
		for _, c := range []struct {
			name, script, says string
			code               int
		}{
			{"at an interrupt", `trap 'echo bye; exit 3' INT; echo .; while :; do sleep 0.05; done`, "bye\n", 3},
			{"at a request", `trap '' INT; trap 'echo bye; exit 4' TERM; echo .; while :; do sleep 0.05; done`, "bye\n", 4},
			{"by force", `trap '' INT TERM; echo .; while :; do sleep 0.05; done`, "", -1},
		} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				p, err := l.Start(t.Context(), policy(t, level), shell(c.script))
				if err != nil {
					t.Fatal(err)
				}
				out := bufio.NewReader(p.Stdout())
				if line, err := out.ReadString('\n'); line != ".\n" {
					t.Fatal(line, err)
				}
				p.Stop(t.Context())
				rest, err := io.ReadAll(out)
				exit, waitErr := p.Wait(t.Context())
				if string(rest) != c.says || err != nil || waitErr != nil || exit.Cause != toolset.Stopped || exit.Code != c.code {
					t.Errorf("%q %v %v %+v", rest, err, waitErr, exit)
				}
				p.Stop(t.Context()) // once more does nothing
				p.Kill()
			})
		}
	}, toolset.LevelFull, toolset.LevelNone)
}

func TestAnEndedContextStopsARun(t *testing.T) {
	t.Parallel()
	needLevel(t, toolset.LevelFull)
	l := newLauncher(t, sandbox.Options{})
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	p := policy(t, toolset.LevelFull)
	go func() {
		for t.Context().Err() == nil {
			if _, err := os.Stat(p.Workspace + "/begun"); err == nil {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		cancel(enough)
	}()
	ran, err := l.Run(ctx, p, shell(`trap 'echo cleaned; exit 1' INT; sleep 0.3; touch begun; while :; do sleep 0.05; done`))
	if !errors.Is(err, enough) || ran.Exit.Cause != toolset.Stopped || ran.Stdout.String() != "cleaned\n" {
		t.Errorf("%v %+v %s", err, ran.Exit, ran.Stdout)
	}
}

func TestKilledKeeper(t *testing.T) {
	t.Parallel()
	levels(t, func(t *testing.T, level toolset.Level) {
		l := newLauncher(t, sandbox.Options{})
		word := word(t)
		p, err := l.Start(t.Context(), policy(t, level), shell(marking(`echo $PPID; sleep 3600 WORD`, word)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(p.Stdout()).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		killKeeper(t, word)
		exit, err := p.Wait(t.Context())
		if err != nil || exit.Cause != toolset.Lost {
			t.Errorf("%+v %v", exit, err)
		}
		wantGone(t, word)
	})
}

// killKeeper kills the parent of the process with a word, as a system that is
// out of memory might.
func killKeeper(t *testing.T, word string) {
	t.Helper()
	// While a program becomes another one it has no name for a moment.
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		for _, p := range marked(t, word) {
			pid, _, _ := strings.Cut(p, " ")
			up := parentOf(t, pid)
			if name, _ := os.ReadFile("/proc/" + up + "/cmdline"); strings.Contains(string(name), "__sandbox") {
				if err := syscall.Kill(atoi(t, up), syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				return
			}
		}
	}
	t.Fatal("no keeper was found")
}

func TestCloseEndsAll(t *testing.T) {
	t.Parallel()
	needLevel(t, toolset.LevelFull)
	l := newLauncher(t, sandbox.Options{})
	word := word(t)
	var all []toolset.Process
	for range 3 {
		p, err := l.Start(t.Context(), policy(t, toolset.LevelFull), shell(marking(`sleep 3600 WORD`, word)))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	wantGone(t, word)
	for _, p := range all {
		if exit, err := p.Wait(t.Context()); err != nil || exit.Cause != toolset.Stopped {
			t.Errorf("%+v %v", exit, err)
		}
	}
	if _, err := l.Run(t.Context(), policy(t, toolset.LevelFull), shell(`:`)); !errors.Is(err, sandbox.ErrClosed) {
		t.Error(err)
	}
}

func TestASpareWaitsForItsCall(t *testing.T) {
	t.Parallel()
	levels(t, func(t *testing.T, level toolset.Level) {
		l := newLauncher(t, sandbox.Options{})
		p := policy(t, level)
		p.Limits.Time = 300 * time.Millisecond
		c := shell(`read line; echo "got $line"; sleep 3600`)
		c.Spare = true
		proc, err := l.Start(t.Context(), p, c)
		if err != nil {
			t.Fatal(err)
		}
		waited, cancel := context.WithTimeout(t.Context(), 2*p.Limits.Time)
		defer cancel()
		if exit, err := proc.Wait(waited); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("a spare ended: %+v %v", exit, err)
		}
		if proc.Level() != level {
			t.Error(proc.Level())
		}
		proc.Begin()
		proc.Begin()
		if _, err := io.WriteString(proc.Stdin(), "a call\n"); err != nil {
			t.Error(err)
		}
		out, err := io.ReadAll(proc.Stdout())
		exit, waitErr := proc.Wait(t.Context())
		if string(out) != "got a call\n" || err != nil || waitErr != nil || exit.Cause != toolset.TimeOver {
			t.Errorf("%q %v %v %+v", out, err, waitErr, exit)
		}
	}, toolset.LevelFull)
}
