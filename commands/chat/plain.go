package chat

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
)

// maxPlainLine bounds a message in plain mode.
const maxPlainLine = 1 << 20

// runPlain talks by lines: each that is read is a message, and what is printed
// is never taken back. It is the mode for pipes, dumb terminals and screen
// readers. Its status is that of the last message.
func (t *talk) runPlain(ctx context.Context) error {
	// A message is stopped by a signal and the chat is not, so the signals are
	// looked at here: the program's own context ends with the first.
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	p := &plain{talk: t, signals: signals, told: t.rt.Streams.In.IsTerminal()}
	ended := ctx.Done()
	ctx = context.WithoutCancel(ctx)
	select {
	case <-ended:
		return workbench.ErrSignal
	default:
	}
	return p.run(ctx)
}

// plain is a chat without a page.
type plain struct {
	*talk
	signals chan os.Signal
	told    bool // a person types
}

func (p *plain) run(ctx context.Context) error {
	if p.told {
		if err := p.greet(ctx); err != nil {
			return err
		}
	}
	var last error
	if p.o.first != "" {
		left, err := p.message(ctx, p.o.first)
		if left {
			return err
		}
		last = err
	}
	lines, want, stop := readLines(p.rt.Streams.In)
	defer stop()
	for {
		p.prompt()
		want <- struct{}{}
		select {
		case line, ok := <-lines:
			if !ok {
				return last
			}
			if line.err != nil {
				return line.err
			}
			left, err := p.message(ctx, line.text)
			if left {
				return err
			}
			last = err
		case <-p.signals:
			return workbench.ErrSignal
		}
	}
}

func (p *plain) prompt() {
	if p.told {
		mode := p.modeLabel(p.heldMode())
		if mode != "" {
			mode = "[" + mode + "] "
		}
		p.rt.Streams.Err.WriteString(mode + "> ")
	}
}

// message takes a line, and tells whether the chat is over.
func (p *plain) message(ctx context.Context, text string) (left bool, err error) {
	if text = strings.TrimSpace(text); text == "" {
		return false, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan error, 1)
	go func() { done <- p.take(ctx, text) }()
	stopped := false
	for {
		select {
		case err = <-done:
			p.sayFault(err)
			if err != nil && !stopped {
				err = workbench.ExitError{Status: statusOf(err)}
			}
			if p.fill != "" {
				p.say("the question was: " + p.fill)
				p.fill = ""
			}
			return p.leave, err
		case s := <-p.signals:
			if stopped || s != os.Interrupt {
				p.stop(context.Background())
				cancel(workbench.ErrSignal)
				<-done // the second cancel kills, so this is soon
				return true, workbench.ErrSignal
			}
			stopped = true
			cancel(context.Canceled)
		}
	}
}

// statusOf is the exit status of what was shown already.
func statusOf(err error) int {
	var said workbench.ExitError
	var f *fault.Fault
	switch {
	case errors.As(err, &said):
		return said.Status
	case errors.As(err, &f):
		return f.Code.Exit()
	}
	return fault.Failed.Exit()
}

// line is one that was read.
type line struct {
	text string
	err  error
}

// readLines reads a line each time that one is wanted, until the end of the input,
// or until stop is called; a read that waits then is left behind, since nothing ends
// it but input. Nothing is read ahead: a question reads the same terminal.
func readLines(in io.Reader) (lines <-chan line, want chan<- struct{}, stop func()) {
	out, done, wanted := make(chan line), make(chan struct{}), make(chan struct{}, 1)
	next := func() bool {
		select {
		case <-wanted:
			return true
		case <-done:
			return false
		}
	}
	send := func(l line) bool {
		select {
		case out <- l:
			return true
		case <-done:
			return false
		}
	}
	go func() {
		defer close(out)
		sc := bufio.NewScanner(in)
		sc.Buffer(nil, maxPlainLine)
		for next() && sc.Scan() {
			if !send(line{text: sc.Text()}) {
				return
			}
		}
		if err := sc.Err(); err != nil && !errors.Is(err, os.ErrClosed) {
			send(line{err: cmdline.Usagef("", "read a message: %v", err)})
		}
	}()
	return out, wanted, sync.OnceFunc(func() { close(done) })
}
