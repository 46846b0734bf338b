package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

// A full disk: the turn ends with code store, what was acknowledged stays,
// nothing half is taken for whole, and the next turn works once there is room.
// The disk is a small one of a child's own.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	onSmallDisk(t, "full")
}

// onSmallDisk runs a child's task that mounts a disk of its own.
func onSmallDisk(t *testing.T, task string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+task+" "+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || strings.Contains(string(out), "mount: operation not permitted") {
		t.Skip("this system lets nobody mount a file system of his own")
	}
	if err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// disk is the child's: what fills it, and an engine on it.
type disk struct {
	*Engine
	ctx    context.Context
	filler *os.File // takes the room
	after  func()   // called by the model once its first words were taken
	calls  bool     // the model's next response calls a tool
}

func childFull(ctx context.Context, dir string) error {
	const size = 96 << 20 // the store wants some tens of megabytes free
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	filler, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		return err
	}
	d := &disk{ctx: ctx, filler: filler, after: func() {}}
	model := &rogue{stream: func(ctx context.Context, _ int, yield func([]provider.Delta, error) bool) {
		if !yield([]provider.Delta{says("First words. ")}, nil) {
			return
		}
		d.after()
		if d.calls {
			d.calls = false
			yield([]provider.Delta{calls("1", "fill", `{}`), stops("tool_use")}, nil)
			return
		}
		if yield([]provider.Delta{says(strings.Repeat("Many more words. ", 1<<12))}, nil) {
			yield([]provider.Delta{stops("stop")}, nil)
		}
	}}
	fill := tool("fill", func(ctx context.Context, c toolset.Call) (toolset.Result, error) {
		err := d.fill()
		for i := range 10_000 { // until the turn can't be kept, and its context ends
			if ctx.Err() != nil {
				return toolset.Result{}, ctx.Err()
			}
			c.Report(toolset.Progress{Stage: strings.Repeat("x", 1000), Message: fmt.Sprint(i)})
		}
		<-ctx.Done()
		return toolset.Result{}, errors.Join(err, ctx.Err())
	})
	d.Engine = New(rogueOptions(crashT{}, dir, model, []toolset.Entry{fill}))
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"in an answer", d.inAnAnswer}, {"in a tool", d.inATool}, {"at the start", d.atTheStart}, {"in a fold", d.inAFold},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return d.Close()
}

// fill takes all room that is left, once the store has been let go: a database
// that is open has mapped files, which want their room when they are written.
func (d *disk) fill() error {
	if err := errors.Join(d.KV.LetGo(), d.KV.Sync(d.ctx)); err != nil {
		return err
	}
	chunk := make([]byte, 1<<20)
	for len(chunk) > 0 {
		if _, err := d.filler.Write(chunk); err != nil {
			if !errors.Is(err, syscall.ENOSPC) {
				return err
			}
			chunk = chunk[:len(chunk)/2]
		}
	}
	return nil
}

func (d *disk) empty() error {
	_, err := d.filler.Seek(0, 0)
	return errors.Join(err, d.filler.Truncate(0))
}

// turn runs one and gives what was shown.
func (d *disk) turn(req TurnRequest) ([]event.Event, error) {
	id, err := d.Start(d.ctx, req)
	if err != nil {
		return nil, err
	}
	var events []event.Event
	for e, err := range d.Follow(d.ctx, id, 0) {
		if err != nil {
			return events, err
		}
		if e.Seq != event.Seq(len(events)+1) {
			return events, fmt.Errorf("event %d has seq %d", len(events)+1, e.Seq)
		}
		events = append(events, e)
	}
	return events, nil
}

// failed checks that followers of a turn were notified that it can't be kept, by its
// last event if that could be written and by an error otherwise; and that what was
// shown is what is kept, byte for byte, as something unfinished.
func (d *disk) failed(events []event.Event, err error) error {
	if err == nil {
		end, ok := events[len(events)-1].Body.(event.Error)
		if !ok {
			return fmt.Errorf("the turn ended with %+v", events[len(events)-1].Body)
		}
		err = &fault.Fault{Code: fault.Code(end.Code), Msg: end.Message, Remedies: end.Remedies}
	} else if len(events) > 0 && events[len(events)-1].Ends() {
		return fmt.Errorf("an error after the turn's end: %w", err)
	}
	var f *fault.Fault
	if !errors.As(err, &f) || f.Code != fault.Store || !strings.Contains(err.Error(), "no space left") || len(f.Remedies) == 0 {
		return fmt.Errorf("the turn ended with %w", err)
	}
	if err := d.empty(); err != nil {
		return err
	}
	kept := 0
	for e, err := range d.replayed(store.TurnID(events[0].TurnID)) {
		if err != nil {
			return err
		}
		if kept++; kept <= len(events) {
			was, _ := events[kept-1].Append(nil)
			if is, _ := e.Append(nil); string(was) != string(is) {
				return fmt.Errorf("shown %s, kept %s", was, is)
			}
		}
		if e.Ends() && e.Type() != event.TypeError {
			return fmt.Errorf("kept as ended with %s", e.Type())
		}
	}
	if kept < len(events) {
		return fmt.Errorf("%d of %d events are kept", kept, len(events))
	}
	req := ask("and now?")
	req.Chat.Last = true
	next, err := d.turn(req)
	if err != nil || next[len(next)-1].Type() != event.TypeComplete {
		return fmt.Errorf("the next turn: %s, %w", outline(next), err)
	}
	return nil
}

// replayed is a turn as another process reads it.
func (d *disk) replayed(id store.TurnID) func(func(event.Event, error) bool) {
	return func(yield func(event.Event, error) bool) {
		if err := d.Replay(d.ctx, id, 0, yield); err != nil && !errors.Is(err, store.ErrStopped) {
			yield(event.Event{}, err)
		}
	}
}

func (d *disk) inAnAnswer() error {
	d.after = func() {
		if err := d.fill(); err != nil {
			panic(err)
		}
		d.after = func() {}
	}
	events, err := d.turn(ask("go"))
	if got := outline(events); !strings.HasPrefix(got, `"First words. "`) || strings.Contains(got, "Many") {
		return fmt.Errorf("shown: %.200s", got)
	}
	return d.failed(events, err)
}

func (d *disk) inATool() error {
	d.calls = true
	events, err := d.turn(ask("go"))
	open := 0
	for _, e := range events {
		switch e.Type() {
		case event.TypeToolStart:
			open++
		case event.TypeToolComplete:
			open--
		}
	}
	if ended := err == nil; ended && open != 0 {
		return fmt.Errorf("%d calls without an end", open)
	}
	return d.failed(events, err)
}

func (d *disk) atTheStart() error {
	before, err := d.Chats(d.ctx, store.ListChats{})
	if err != nil {
		return err
	}
	if err := d.fill(); err != nil {
		return err
	}
	for range 3 {
		_, err := d.turn(ask(strings.Repeat("a long question ", 1000)))
		if fault.CodeOf(err) != fault.Store || !strings.Contains(err.Error(), "no space left") {
			return fmt.Errorf("start: %w", err)
		}
	}
	if err := d.empty(); err != nil {
		return err
	}
	after, err := d.Chats(d.ctx, store.ListChats{})
	if err != nil || len(after.Chats) != len(before.Chats) {
		return fmt.Errorf("%d chats were kept of questions that were not accepted, %w", len(after.Chats)-len(before.Chats), err)
	}
	_, err = d.turn(ask("go"))
	return err
}

func (d *disk) inAFold() error {
	events, err := d.turn(ask("keep me"))
	if err != nil {
		return err
	}
	if err := d.fill(); err != nil {
		return err
	}
	if _, err := d.Fold(d.ctx, store.FoldAll); fault.CodeOf(err) != fault.Store {
		return fmt.Errorf("fold: %w", err)
	}
	if err := d.empty(); err != nil {
		return err
	}
	kept := 0
	for _, err := range d.replayed(store.TurnID(events[0].TurnID)) {
		if err != nil {
			return err
		}
		kept++
	}
	if kept != len(events) {
		return fmt.Errorf("%d of %d events are kept", kept, len(events))
	}
	return nil
}
