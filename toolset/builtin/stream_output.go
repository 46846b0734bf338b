package builtin

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/toolset"
)

const (
	// reportEvery bounds how often running output is passed on; more often
	// nobody can read it.
	reportEvery = 100 * time.Millisecond
	// reportBytes bounds what one update holds; the end of a flood is what is
	// looked at.
	reportBytes = 4 << 10
	// drainTime is how long an output may stay open after all processes are
	// gone. Only one that left the sandbox could hold it.
	drainTime = 2 * time.Second
)

// attend reads what a process writes and passes it on as progress, until the
// process and all that it started are gone. When ctx ends, it is stopped.
func attend(ctx context.Context, proc toolset.Process, keep int64, call toolset.Call) (toolset.Exit, toolset.Output) {
	_ = proc.Stdin().Close() // it has nothing to read
	stopped := make(chan struct{})
	unhook := context.AfterFunc(ctx, func() {
		defer close(stopped)
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), endingTime)
		defer cancel()
		proc.Stop(stopping)
	})
	ended := make(chan toolset.Exit, 1)
	go func() {
		exit, _ := proc.Wait(context.WithoutCancel(ctx)) // it ends with the process, which has a time limit
		ended <- exit
	}()
	chunks := make(chan []byte)
	go readChunks(proc.Stdout(), chunks)

	a := &attendance{call: call, out: &ends{limit: int(keep)}}
	exit := a.follow(chunks, ended, proc)
	if !unhook() {
		<-stopped
	}
	_ = proc.Stdout().Close()
	return exit, a.out.output()
}

// readChunks sends what it reads, and closes the channel at the end.
func readChunks(r io.Reader, to chan<- []byte) {
	defer close(to)
	for {
		buf := make([]byte, 32<<10)
		n, err := r.Read(buf)
		if n > 0 {
			to <- buf[:n]
		}
		if err != nil {
			return
		}
	}
}

// attendance is one process's output on its way.
type attendance struct {
	call    toolset.Call
	out     *ends
	pending []byte // not reported yet
}

// follow returns when both the output and the process have ended.
func (a *attendance) follow(chunks <-chan []byte, ended <-chan toolset.Exit, proc toolset.Process) (exit toolset.Exit) {
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	var drain <-chan time.Time
	for chunks != nil || ended != nil {
		select {
		case chunk, ok := <-chunks:
			if !ok {
				chunks = nil
				continue
			}
			a.out.write(chunk)
			a.pending = append(a.pending, chunk...)
			a.pending = a.pending[max(0, len(a.pending)-2*reportBytes):]
		case exit = <-ended:
			ended = nil
			drain = time.After(drainTime)
		case <-drain:
			_ = proc.Stdout().Close() // which ends the reading
		case <-tick.C:
			a.report()
		}
	}
	a.report()
	return exit
}

// report passes on what came since the last time: the last line for people who
// watch, all of it for those who show more.
func (a *attendance) report() {
	if len(a.pending) == 0 {
		return
	}
	text := printable(a.pending[max(0, len(a.pending)-reportBytes):])
	a.pending = a.pending[:0]
	trimmed := strings.TrimSpace(text)
	data, err := encode(struct {
		Output string `json:"output"`
	}{text})
	if err != nil {
		data = json.RawMessage("{}")
	}
	a.call.Report(toolset.Progress{Stage: "output", Message: trimmed[strings.LastIndexByte(trimmed, '\n')+1:], Data: data})
}

// ends keeps the beginning and the end of what is written, half a limit each.
type ends struct {
	limit      int
	head, tail []byte
	total      int64
}

func (e *ends) write(p []byte) {
	e.total += int64(len(p))
	if e.limit < 0 {
		e.head = append(e.head, p...)
		return
	}
	half := e.limit / 2
	first := min(len(p), e.limit-half-len(e.head))
	e.head = append(e.head, p[:first]...)
	e.tail = append(e.tail, p[first:]...)
	if len(e.tail) > 2*half { // cut now and then, not with each write
		e.tail = append(e.tail[:0], e.tail[len(e.tail)-half:]...)
	}
}

func (e *ends) output() toolset.Output {
	tail := e.tail
	if e.limit >= 0 {
		tail = tail[max(0, len(tail)-e.limit/2):]
	}
	return toolset.Output{Head: e.head, Tail: tail, Total: e.total}
}
