package python

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/toolset"
)

const (
	// endTime is how long a process whose channel is closed may take to end by
	// itself, so that how it ended is known.
	endTime = time.Second
	// drainTime is how long the channel may stay open after all processes are
	// gone. Only one that left a sandbox could hold it.
	drainTime = time.Second
	// updateBurst and updateEvery bound what of a tool's progress is reported:
	// so many at once, and one more in that time. The last before a pause may
	// be left out; what matters then comes with the result.
	updateBurst = 100
	updateEvery = 50 * time.Millisecond
	// pipeRoom is what an empty pipe takes without waiting, on every system.
	pipeRoom = 4 << 10
)

// outcome is how a process served its call.
type outcome struct {
	started bool     // that the tool's code was reached
	final   *message // what the runner said at the end, if it could
	fault   error    // why we stopped listening
	updates int
	exit    toolset.Exit
	root    string // of the toolset, by the name that the process knows
}

// session is one process and its one call.
type session struct {
	proc toolset.Process
	ch   *channel
	over chan struct{}
	work sync.WaitGroup
}

// conduct hands a request to a process and listens until the end. The process,
// and all that it started, is gone when it returns. It ends with ctx.
func conduct(ctx context.Context, proc toolset.Process, q request, report func(message)) outcome {
	s := &session{proc: proc, ch: newChannel(proc.Stdout()), over: make(chan struct{})}
	rand.Read(s.ch.key[:]) // never fails
	rand.Read(s.ch.last[:])
	data, err := q.encode(s.ch.key, s.ch.last)
	if err != nil {
		proc.Kill()
		proc.Stdin().Close()
		proc.Stdout().Close()
		return outcome{fault: err, started: true}
	}
	send := func() {
		proc.Stdin().Write(data) // it fails when the process ends, which is seen elsewhere
		proc.Stdin().Close()
	}
	if len(data) <= pipeRoom {
		send()
	} else {
		s.work.Go(send)
	}
	s.work.Go(func() { s.watch(ctx) })
	s.work.Go(s.drain)
	out := s.listen(report)
	if out.final == nil && out.fault == nil {
		waiting, cancel := context.WithTimeout(context.Background(), endTime)
		if _, err := proc.Wait(waiting); err != nil {
			out.fault = errors.New("it closed its channel to fettle before it gave a result")
		}
		cancel()
	}
	proc.Kill()
	close(s.over)
	s.work.Wait()
	proc.Stdout().Close()
	out.exit, _ = proc.Wait(context.Background()) // it has ended
	return out
}

// watch stops the process in order when ctx ends.
func (s *session) watch(ctx context.Context) {
	select {
	case <-ctx.Done():
		s.proc.Stop(context.Background()) // it bounds itself, and Kill cuts it short
	case <-s.over:
	}
}

// drain closes the channel when nobody is left who could write to it.
func (s *session) drain() {
	s.proc.Wait(context.Background()) // conduct ends the process
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-timer.C:
		s.proc.Stdout().Close()
	case <-s.over:
	}
}

// listen reads to the last message, to a fault, or to the end of the stream.
func (s *session) listen(report func(message)) (out outcome) {
	budget := newBudget()
	for {
		m, err := s.ch.next()
		switch {
		case errors.Is(err, errForged):
			out.fault = err
			return out
		case err != nil:
			return out // the stream ended, or was closed
		case m.T == started:
			out.started = true
		case m.T == progress:
			out.updates++
			if budget.spend() {
				report(m)
			}
		default:
			out.started, out.final = true, &m
			return out
		}
	}
}

// budget is how many updates may be reported.
type budget struct {
	left float64
	at   time.Time
}

func newBudget() *budget { return &budget{left: updateBurst, at: time.Now()} }

func (b *budget) spend() bool {
	now := time.Now()
	b.left = min(updateBurst, b.left+float64(now.Sub(b.at))/float64(updateEvery))
	b.at = now
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}
