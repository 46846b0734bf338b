package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox/supervisor"
)

// Options are what a launcher is made of.
type Options struct {
	// Dial connects a tool to a host that its policy names; it refuses
	// addresses that no tool may reach, after the name was looked up. Without
	// it no process with [toolset.NetworkHosts] starts.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Require is a containment below which nothing starts, whatever a policy
	// says; the zero value leaves that to the policy.
	Require toolset.Level
	// Own is fettle's own state, which no grant reaches.
	Own toolset.OwnState
	// KeeperEnv is the environment of the supervisor itself, not of what it
	// starts. Programs have none; tests set the race detector's options.
	KeeperEnv []string
	// Temporaries records the folders for temporary files of tools; nil records
	// nothing.
	Temporaries *atomicfile.Ledger
	// Tried is a file that keeps where overlays could be mounted, until the system is started
	// again; empty keeps nothing.
	Tried string
	// Cgroups is the folder of Linux's control groups (version 2) in which each process
	// gets a group of its own, with limits that the kernel enforces. Empty takes the one
	// that is delegated to this process, if any.
	Cgroups string
}

// Launcher starts processes in sandboxes.
type Launcher struct {
	o       Options
	cgroups cgroups

	mu      sync.Mutex
	lacks   map[toolset.Level]*supervisor.Failure // what the machine refused, by the level it is needed for
	running map[*process]bool
	closed  bool
	probe   sync.Mutex // one look at the machine at a time
	report  *Report
	layers  map[devices]string // why overlays can't be had there, or ""; of probe
}

var _ toolset.Launcher = (*Launcher)(nil)

// New makes a launcher. Nothing is tried or started before it is asked.
func New(o Options) *Launcher {
	return &Launcher{o: o, cgroups: cgroups{dir: o.Cgroups}, lacks: map[toolset.Level]*supervisor.Failure{}, running: map[*process]bool{}, layers: map[devices]string{}}
}

// ErrClosed says that a launcher was closed.
var ErrClosed = errors.New("the sandbox is closed")

// startLimit bounds building a sandbox, which takes milliseconds; on a machine
// that swaps it may take seconds.
const startLimit = 20 * time.Second

// Start starts a process at the best level that the machine and the policy
// allow. Errors are a [*toolset.UncontainedError], a [*toolset.LayerError], a [*StartError],
// or ctx's.
func (l *Launcher) Start(ctx context.Context, p toolset.Policy, c toolset.Command) (toolset.Process, error) {
	proc, err := l.start(ctx, p, c)
	if err != nil {
		return nil, err
	}
	return proc, nil
}

func (l *Launcher) start(ctx context.Context, p toolset.Policy, c toolset.Command) (*process, error) {
	plan, err := resolve(p, c, l.o.Own)
	if err != nil {
		return nil, err
	}
	if p.Network == toolset.NetworkHosts && l.o.Dial == nil {
		return nil, errors.New("start a sandbox: no way to dial its hosts was given")
	}
	if plan.unlayered != "" {
		return nil, &toolset.LayerError{Why: "the folder " + plan.unlayered + ", which was granted too, contains the workspace"}
	}
	least := max(l.o.Require, p.Least)
	if least == toolset.LevelUnset {
		least = toolset.LevelReduced
	}
	if p.Most != toolset.LevelUnset && p.Most < least {
		return nil, &toolset.UncontainedError{Have: p.Most, Want: least, Why: fmt.Sprintf("level %s is the most that was asked for, and %s the least", p.Most, least)}
	}
	for level := l.best(p.Most); level >= least; level-- {
		if p.Network == toolset.NetworkHosts && level < toolset.LevelFull {
			return nil, l.uncontained(toolset.LevelReduced, toolset.LevelFull, "only some hosts of the network can be given at level full, so that a tool gets all or none here")
		}
		if p.Serves && p.Network == toolset.NetworkNone && level == toolset.LevelReduced {
			return nil, l.uncontained(toolset.LevelReduced, toolset.LevelFull, "a service gets a network that it is alone in, and only level full has one")
		}
		if plan.hides != "" && level == toolset.LevelReduced {
			return nil, l.uncontained(toolset.LevelReduced, toolset.LevelFull, "fettle's own state is inside of "+plan.hides+", which was granted, and only level full can keep a tool from a part of a folder")
		}
		if p.Layer != nil && level < toolset.LevelFull {
			return nil, &toolset.LayerError{Why: "only a sandbox at level full has one, and tools run at level " + level.String() + " here"}
		}
		proc, err := l.startAt(ctx, level, plan)
		f, lacks := supervisor.IsLack(err)
		if lacks && level > toolset.LevelNone {
			l.remember(level, f)
			continue
		}
		if f != nil && f.Layer {
			return nil, &toolset.LayerError{Why: f.Text}
		}
		if f != nil {
			return nil, &StartError{Step: f.Step, Text: f.Text, NotFound: f.NotFound}
		}
		return proc, err
	}
	return nil, l.uncontained(l.best(p.Most), least, "")
}

// StartError says why a process wasn't started in a sandbox that was built.
type StartError struct {
	Step, Text string
	// NotFound tells that the program isn't there, or isn't in the sandbox.
	NotFound bool
}

// Error says what went wrong.
func (e *StartError) Error() string { return e.Step + ": " + e.Text }

// best is the highest level that wasn't refused yet.
func (l *Launcher) best(most toolset.Level) toolset.Level {
	if most == toolset.LevelUnset {
		most = toolset.LevelFull
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for most > toolset.LevelNone && l.lacks[most] != nil {
		most--
	}
	return min(most, highestLevel)
}

func (l *Launcher) remember(level toolset.Level, f *supervisor.Failure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lacks[level] = f
}

// uncontained words what is missing for a level.
func (l *Launcher) uncontained(have, want toolset.Level, why string) error {
	r := l.known()
	if why == "" {
		why = r.Why()
	}
	return &toolset.UncontainedError{Have: have, Want: want, Why: why, Fix: r.Fix}
}

// startAt starts a process at one level; a *supervisor.Failure is the supervisor's.
func (l *Launcher) startAt(ctx context.Context, level toolset.Level, plan *plan) (*process, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	proc := newProcess(plan, level, l.o)
	proc.gone, proc.cgroups = func() { l.forget(proc) }, &l.cgroups
	if err := l.admit(proc, func() error { return proc.open(l.o) }); err != nil {
		return nil, err
	}
	if err := proc.await(ctx); err != nil {
		return nil, err
	}
	return proc, nil
}

// admit opens a process unless the launcher was closed, and in such a way that
// Close misses none.
func (l *Launcher) admit(p *process, open func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	if err := open(); err != nil {
		return err
	}
	l.running[p] = true
	return nil
}

func (l *Launcher) forget(p *process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.running, p)
}

// Close ends every process and waits until they are gone. Nothing starts
// after it.
func (l *Launcher) Close() error {
	l.mu.Lock()
	l.closed = true
	left := make([]*process, 0, len(l.running))
	for p := range l.running {
		left = append(left, p)
	}
	l.mu.Unlock()
	var wg sync.WaitGroup
	for _, p := range left {
		wg.Go(func() {
			p.Kill()
			<-p.buried // serve bounds it
		})
	}
	wg.Wait()
	return nil
}

// Run starts a process, waits for it, and gives what it wrote.
func (l *Launcher) Run(ctx context.Context, p toolset.Policy, c toolset.Command) (toolset.Ran, error) {
	proc, err := l.start(ctx, p, c)
	if err != nil {
		return toolset.Ran{}, err
	}
	if c.Stdin == nil {
		proc.stdin.Close() // it has nothing to read
	}
	out := NewCapture(proc.limits.Output)
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		io.Copy(out, proc.stdout)
	}()
	exit, err := proc.Wait(ctx)
	if err != nil { // ctx ended
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
		proc.Stop(stopping)
		cancel()
		exit = proc.exit
	}
	// What is in the pipe is read in a moment; a process that got away, where
	// one can, must not hold us up.
	timer := time.AfterFunc(drainTime, func() {
		if proc.level < toolset.LevelFull {
			proc.stdout.Close()
		}
	})
	<-copied
	timer.Stop()
	proc.stdout.Close()
	ran := toolset.Ran{Exit: exit, Level: proc.level, Stdout: out.Output()}
	if err != nil {
		err = fmt.Errorf("run %s: %w", c.Args[0], context.Cause(ctx))
	}
	return ran, err
}
