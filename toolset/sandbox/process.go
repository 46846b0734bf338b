package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox/supervisor"
)

const (
	// interruptTime and requestTime are what a process gets to end by itself,
	// first asked by an interrupt, which lets Python clean up, then told.
	interruptTime = 2 * time.Second
	requestTime   = time.Second
	// stopLimit is all of that together.
	stopLimit = interruptTime + requestTime + 2*supervisor.Patience
	// drainTime is how long a stream may stay open after all processes are
	// gone. Only a process that left the sandbox could hold it.
	drainTime = 5 * time.Second
)

// process is one supervisor and what it keeps.
type process struct {
	*plan
	level toolset.Level
	dial  dialer
	gone  func() // the launcher forgets it

	cgroups *cgroups
	group   group // the zero value where there is none

	cmd      *exec.Cmd
	control  control
	temp     string       // the folder for temporary files if there is no private one
	dropTemp func() error // removes it
	stdin    *os.File
	stdout   *os.File
	errPipe  *os.File
	stderr   *Capture

	answer chan error     // how the start went, once
	begun  chan struct{}  // closed by Begin
	over   chan struct{}  // closed when nothing that the keeper kept is left
	done   chan struct{}  // closed when exit is set, too
	buried chan struct{}  // closed when the keeper itself is gone
	work   sync.WaitGroup // goroutines that end with over, or with a stream
	exit   toolset.Exit
	facts  supervisor.Facts // valid once the start was answered

	mu     sync.Mutex
	cause  toolset.Cause // why we ended it, or ""
	detail string
	heard  bool      // that it ended by itself
	ending bool      // work takes on nothing more
	birth  time.Time // of the process, or of its call
	base   chan size // the workspace at that time, once it is measured

	ports ports // connections into it
}

var _ toolset.Process = (*process)(nil)

func newProcess(pl *plan, level toolset.Level, o Options) *process {
	return &process{
		plan: pl, level: level, dial: o.Dial, stderr: NewCapture(pl.limits.Output),
		answer: make(chan error, 1), begun: make(chan struct{}), over: make(chan struct{}), done: make(chan struct{}), buried: make(chan struct{}),
		base: make(chan size, 1),
	}
}

// open starts the supervisor and the goroutines that serve it.
func (p *process) open(o Options) error {
	if p.level != toolset.LevelFull {
		dir, remove, err := o.Temporaries.TempDir("", "fettle-tool-")
		if err != nil {
			return fmt.Errorf("make a folder for temporary files: %w", err)
		}
		p.temp, p.dropTemp = dir, remove
	}
	p.birth = time.Now()
	if !p.command.Spare {
		p.Begin()
	}
	if err := p.startKeeper(o); err != nil {
		close(p.over) // which ends a measurement
		p.work.Wait()
		p.removeTemp()
		return err
	}
	p.work.Go(func() { io.Copy(p.stderr, p.errPipe) }) // to its end, or to serve's deadline
	go p.serve()                                       // closes buried
	return nil
}

// feed gives the process what its command has for it. It ends with the pipe; a
// reader that never returns is the caller's own to end, as with [exec.Cmd].
func (p *process) feed() {
	io.Copy(p.stdin, p.command.Stdin)
	p.stdin.Close()
}

// programName is what a supervisor is called in a list of processes.
const programName = "fettle-keeper"

// startKeeper starts our own program as a supervisor, with pipes for the process's
// streams. Where it fails nothing stays open.
func (p *process) startKeeper(o Options) (err error) {
	var files pipes
	defer func() { files.close(err != nil) }()
	in := files.make(&p.stdin, toChild)
	out := files.make(&p.stdout, fromChild)
	errs := files.make(&p.errPipe, fromChild)
	if files.err != nil {
		return fmt.Errorf("make pipes: %w", files.err)
	}
	if p.command.Joined {
		errs = out
	}
	cmd, ctl, err := keeperCommand(p.level, p.policy)
	if err != nil {
		return err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	// Few threads: the process's limits are its supervisor's, too.
	cmd.Env = append([]string{"GOMAXPROCS=2"}, o.KeeperEnv...)
	err = cmd.Start()
	ctl.closeTheirs()
	if err != nil {
		ctl.Close()
		return refused(err)
	}
	p.cmd, p.control = cmd, ctl
	// The supervisor starts nothing before it has its spec. Without a group its checks limit
	// the process.
	p.group = p.cgroups.add(cmd.Process.Pid, p.limits)
	return nil
}

// await waits until the process runs, or has failed to. A process that it
// gives up on is gone when it returns.
func (p *process) await(ctx context.Context) error {
	var err error
	select {
	case err = <-p.answer:
	case <-ctx.Done():
		err = fmt.Errorf("start %s in a sandbox: %w", p.command.Args[0], context.Cause(ctx))
	}
	if err != nil {
		p.Kill()
		p.stdout.Close() // nobody else knows of it
	}
	return err
}

// serve talks to the supervisor from the spec to its end, and gathers how it went.
func (p *process) serve() {
	var end *supervisor.Ending
	group := 0
	err := supervisor.Send(p.control, p.at(p.level, p.temp))
	if err == nil {
		group, end, err = p.hear()
	}
	defer p.close()
	if end != nil && end.Alone {
		p.finish(end, nil) // the keeper's own end is not waited for
		p.bury(0, end)
		return
	}
	p.bury(group, end)
	p.finish(end, err)
}

// close forgets the process, whose supervisor is gone.
func (p *process) close() {
	p.gone()
	p.group.remove()
	close(p.buried)
}

// finish gathers how it went. Nothing that the supervisor kept is left.
func (p *process) finish(end *supervisor.Ending, err error) {
	select {
	case p.answer <- cmp.Or(err, p.tooEarly()):
	default: // the start was answered, and nobody asks again
	}
	p.mu.Lock()
	p.ending = true
	p.mu.Unlock()
	close(p.over)
	p.errPipe.SetReadDeadline(time.Now().Add(drainTime)) // where a system has none, the end of all processes ends it
	p.work.Wait()
	p.errPipe.Close()
	p.stdin.Close()
	p.removeTemp()
	p.removePlaceholders()
	p.exit = p.exitOf(end)
	close(p.done)
}

// tooEarly is for a supervisor that ended without a word, such as one that the
// system killed. If it said something after all, that is its own fault.
func (p *process) tooEarly() error {
	said, _, _ := strings.Cut(p.stderr.Output().String(), "\n")
	return fmt.Errorf("start a sandbox: its keeper ended at once: %q", said)
}

// hear reads what the supervisor says, until it says no more. group leads the
// process's group where its number means anything to us.
func (p *process) hear() (group int, end *supervisor.Ending, err error) {
	in := supervisor.NewFrames(p.control)
	for {
		var n supervisor.Notice
		if in.Next(&n) != nil {
			return group, end, nil
		}
		switch {
		case n.Listening:
			p.openProxy()
		case n.Failed != nil:
			return 0, nil, n.Failed
		case n.Started:
			group, p.facts = n.Group, n.Facts
			if p.command.Stdin != nil {
				go p.feed() // not before, since a start that fails may be tried again
			}
			p.work.Go(p.clock)
			p.work.Go(p.watchWorkspace)
			select {
			case p.answer <- nil:
			default: // a keeper says it once
			}
		case n.Dialed != nil:
			p.dialed(*n.Dialed)
		case n.Held:
			p.held()
		case n.Ended != nil:
			end = n.Ended
			p.mu.Lock()
			p.heard = true
			p.mu.Unlock()
			if end.Alone {
				return group, end, nil
			}
		}
	}
}

// bury waits for the supervisor's end, and helps it along.
func (p *process) bury(group int, end *supervisor.Ending) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.cmd.Wait() // its status says nothing that the socket didn't
	}()
	timer := time.NewTimer(supervisor.Patience)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		p.cmd.Process.Kill()
		<-ended
	}
	if end == nil && group > 0 && p.level != toolset.LevelFull {
		killGroup(group) // the keeper was killed, and couldn't end it
	}
	p.control.Close()
}

func (p *process) removeTemp() {
	if p.dropTemp != nil {
		_ = p.dropTemp() // what can't be removed is recorded, and removed by a sweep
	}
}

// removePlaceholders removes the empty folders that took the names of what a policy seals.
// If one is in use in another sandbox, the next start makes it again.
func (p *process) removePlaceholders() {
	if p.level != toolset.LevelFull {
		return
	}
	for _, g := range p.Grants {
		if g.Placeholder {
			os.Remove(p.written(g.Path)) // a folder that isn't empty stays
		}
	}
}

// written returns where a file of the workspace is if the process wrote it.
func (p *process) written(path string) string {
	if rel, ok := strings.CutPrefix(path, p.policy.Workspace+"/"); ok && p.policy.Layer != nil {
		return filepath.Join(p.policy.Layer.Upper, rel)
	}
	return path
}

func (p *process) exitOf(end *supervisor.Ending) toolset.Exit {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := toolset.Exit{Cause: p.cause, Code: -1, Detail: p.detail, Stderr: p.stderr.Output(), Took: time.Since(p.birth)}
	if end != nil {
		e.Code, e.Signal, e.Left, e.CPU = end.Code, end.Signal, end.Left, time.Duration(end.CPU)
	}
	switch {
	case e.Cause != "":
	case end == nil:
		e.Cause, e.Detail = toolset.Lost, "its sandbox went away"
	case end.Cause != "":
		e.Cause, e.Detail = toolset.Cause(end.Cause), end.Detail
	case end.Signal != "":
		e.Cause = toolset.Signalled
	default:
		e.Cause = toolset.Exited
	}
	if (e.Cause == toolset.Signalled || e.Cause == toolset.Exited && e.Code != 0 || e.Cause == toolset.Lost) && p.group.ended() {
		e.Cause, e.Detail = toolset.MemoryOver, fmt.Sprintf("its processes held more than the %d MB of memory that are allowed", p.limits.Memory>>20)
	}
	return e
}

// Level is how well it is contained.
func (p *process) Level() toolset.Level { return p.level }

// Stdin is the process's, to be written to and closed.
func (p *process) Stdin() io.WriteCloser { return p.stdin }

// Stdout is the process's, to be read to its end.
func (p *process) Stdout() io.ReadCloser { return p.stdout }

// Begin starts the time limit's clock, and measures the workspace that the call
// finds.
func (p *process) Begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.begun:
		return
	default:
	}
	p.birth = time.Now()
	if p.watches() && !p.ending {
		p.measure()
	}
	close(p.begun)
}

// clock ends the process when its time is over.
func (p *process) clock() {
	select {
	case <-p.begun:
	case <-p.over:
		return
	}
	limit := p.limits.Time
	if limit < 0 {
		return
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-timer.C:
		p.endInOrder(context.Background(), toolset.TimeOver, "it took longer than "+limit.String()) // over ends it
	case <-p.over:
	}
}

// Stop ends the process in order.
func (p *process) Stop(ctx context.Context) {
	p.endInOrder(ctx, toolset.Stopped, "it was stopped")
	<-p.done
}

// Kill ends it at once.
func (p *process) Kill() {
	p.because(toolset.Stopped, "it was stopped")
	p.force()
	<-p.done
}

// because notes why it is being ended; the first reason counts, and one that
// comes after its own end doesn't.
func (p *process) because(cause toolset.Cause, detail string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cause == "" && !p.heard {
		p.cause, p.detail = cause, detail
	}
}

// endInOrder asks, tells and forces. It returns when the supervisor is gone.
func (p *process) endInOrder(ctx context.Context, cause toolset.Cause, detail string) {
	p.because(cause, detail)
	for _, step := range []struct {
		signal string
		time   time.Duration
	}{{"INT", interruptTime}, {"TERM", requestTime}} {
		if ctx.Err() != nil || supervisor.Send(p.control, supervisor.Order{Signal: step.signal}) != nil {
			break
		}
		timer := time.NewTimer(step.time)
		select {
		case <-p.over:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		select {
		case <-p.over:
			return
		default:
		}
	}
	p.force()
}

// force lets the supervisor know that nobody listens any more, upon which it ends
// everything; then it ends the supervisor.
func (p *process) force() {
	p.control.CloseWrite()
	timer := time.NewTimer(supervisor.Patience)
	defer timer.Stop()
	select {
	case <-p.over:
		return
	case <-timer.C:
	}
	p.cmd.Process.Kill()
	<-p.over // serve waits for the same, and for nothing else
}

// Wait waits until all is gone.
func (p *process) Wait(ctx context.Context) (toolset.Exit, error) {
	select {
	case <-p.done:
		return p.exit, nil
	default:
	}
	select {
	case <-p.done:
		return p.exit, nil
	case <-ctx.Done():
		return toolset.Exit{}, context.Cause(ctx)
	}
}
