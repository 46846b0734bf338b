package wire

import (
	"context"
	"fmt"
	"time"
)

// The default limits, both configurable: a large model may load for minutes
// and read a long prompt for as long; once it speaks, two silent minutes mean
// that it is stuck.
const (
	DefaultFirst   = 10 * time.Minute
	DefaultBetween = 2 * time.Minute
	// DefaultGrace is how long the usage and the mark of the end may take
	// after the finish reason. Servers send them at once, or never.
	DefaultGrace = 2 * time.Second
)

// Limits bound the waits of an exchange; zero values mean the defaults.
type Limits struct {
	First   time.Duration // until the first delta
	Between time.Duration // from one piece of the answer to the next
	Grace   time.Duration // from the finish reason to the end
}

func (l Limits) orDefault() Limits {
	if l.First <= 0 {
		l.First = DefaultFirst
	}
	if l.Between <= 0 {
		l.Between = DefaultBetween
	}
	if l.Grace <= 0 {
		l.Grace = DefaultGrace
	}
	return l
}

// slowError is the cause of a context that a watch ended.
type slowError struct {
	limit time.Duration
	begun bool // something had come
}

func (e *slowError) Error() string {
	if e.begun {
		return fmt.Sprintf("nothing more came for %v", e.limit)
	}
	return fmt.Sprintf("no answer came for %v", e.limit)
}

// watch ends a context when nothing comes for too long.
type watch struct {
	limits Limits
	cancel context.CancelCauseFunc
	timer  *time.Timer
	ends   time.Time     // when the timer fires
	left   time.Duration // what was left of it when the clock was stopped
	begun  bool
	grace  bool // the finish reason has come
}

// watched derives a context that a watch ends. The caller calls stop.
func watched(ctx context.Context, l Limits) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watch{limits: l, cancel: cancel}
	w.arm(l.First)
	return ctx, w
}

func (w *watch) arm(d time.Duration) {
	slow := &slowError{limit: w.limits.First, begun: w.begun}
	if w.begun {
		slow.limit = w.limits.Between
	}
	w.ends = time.Now().Add(d)
	w.timer = time.AfterFunc(d, func() { w.cancel(slow) })
}

// pause stops the clock while somebody else is at work.
func (w *watch) pause() {
	w.timer.Stop()
	w.left = time.Until(w.ends)
}

// resume starts it again: from the beginning where a piece of the answer had
// come, else for what was left. After the finish reason it runs for the grace,
// which keep-alives and the usage don't extend.
func (w *watch) resume(got Read) {
	if got.Progress {
		w.begun = true
		w.left = w.limits.Between
	}
	if got.Finished && (got.Progress || !w.grace) {
		w.grace = true
		w.left = min(w.left, w.limits.Grace)
	}
	w.arm(w.left)
}

// stop ends the context and the clock.
func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(context.Canceled)
}

// Patient is the limits of a server that may be silent between two pieces for
// as long as before the first.
func (l Limits) Patient() Limits {
	l = l.orDefault()
	l.Between = max(l.Between, l.First)
	return l
}
