package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/commands/follow"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/term/live"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/commands/workspace"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/consent"
)

const (
	// jobEnd bounds how long leaving waits for a job: a tool has 3.5 s to end.
	jobEnd = 5 * time.Second
	// tick is how often the time that a job has taken is drawn.
	tick = time.Second
	// calm is how long nobody may have typed before a question takes keys: what
	// was meant for the line must not answer it.
	calm = 400 * time.Millisecond
)

// page is a chat on a terminal that can be drawn on. One goroutine, that of run,
// owns all but what is under mu.
type page struct {
	*talk
	tty    *live.TTY
	screen *live.Screen
	line   live.Editor
	hist   *live.History

	jobs   chan error // the end of the job that runs
	cancel context.CancelFunc
	busy   bool
	began  time.Time
	queue  []message
	asks   chan *asking // from the job
	asking *asking      // that is shown
	menu   menu
	values foundValues
	// looking is the list that the menu waits for, nil for none; found brings it.
	looking *looking
	found   chan *looking
	lookers sync.WaitGroup
	find    *finder
	again   bool // the last key was Ctrl-C
	chord   bool // the last key was Ctrl-X
	hint    string
	quit    bool
	foot    string // the footer, the chat's folder and its mode, as they were before the job
	dir     string
	held    modeState

	poke   chan struct{} // something of mu has changed
	mu     sync.Mutex
	status string
	verb   string
}

// message is what was entered: as it is sent, and as it is shown.
type message struct{ text, shown string }

func (t *talk) runPage(ctx context.Context) error {
	tty, err := live.OpenTTY(t.rt.Streams.In.File(), t.rt.Streams.Out.File())
	if err != nil {
		return t.runPlain(ctx)
	}
	dirs, err := t.rt.Dirs()
	if err != nil {
		return errors.Join(err, tty.Close())
	}
	p := &page{
		talk: t, tty: tty, hist: live.NewHistory(filepath.Join(dirs.Data, "chat_history")),
		jobs: make(chan error, 1), asks: make(chan *asking), poke: make(chan struct{}, 1),
		found: make(chan *looking),
	}
	p.screen = live.NewScreen(live.Options{
		Out: t.rt.Streams.Out, Size: p.size, Reflows: live.Reflows(t.rt.Streams.Getenv),
	})
	t.in = t.within(t.rt.Streams.Within(term.Host{
		Out: p.screen, Width: func() int { w, _ := p.size(); return w }, Status: p.setStatus, Ask: p.askPlain, Line: p.askLine,
	}))
	t.choose, t.copied, t.lend = p.askCall, p.toClipboard, p.lendTerminal
	t.rt.Page.Store(&workbench.Drawn{Outside: t.rt.Streams, Inside: t.in.Streams})
	err = p.run(ctx)
	if !p.busy { // else a job that did not end has the chat
		err = errors.Join(err, p.saveModeAtEnd())
	}
	t.rt.Page.Store(nil)
	return errors.Join(err, p.close())
}

func (p *page) size() (int, int) {
	w, h := p.tty.Size()
	if w <= 0 {
		w = p.rt.Streams.Out.Width()
	}
	if h <= 0 {
		h = 24
	}
	return w, h
}

// close takes the live rows off, gives the terminal back and says how to return.
func (p *page) close() error {
	if p.chat.Number > 0 {
		show.ShowLabel(p.in.Streams.Out, fmt.Sprintf("fettle chat %d goes on", p.chat.Number))
	}
	return errors.Join(p.screen.Close(), p.tty.Close())
}

// run is the page's loop, until the person leaves or ctx ends.
func (p *page) run(ctx context.Context) error {
	if err := p.greet(ctx); err != nil {
		return err
	}
	if p.o.first != "" {
		p.enter(ctx, message{p.o.first, p.o.first})
	}
	p.draw(true)
	for !p.quit {
		var ticks, calmed <-chan time.Time
		if p.busy && p.asking == nil {
			ticks = time.After(tick - time.Since(p.began)%tick)
		}
		if p.asking != nil && !p.asking.armed {
			calmed = time.After(time.Until(p.asking.since.Add(calm)))
		}
		select {
		case keys, ok := <-p.tty.Keys():
			if !ok {
				return p.end(errors.New("the terminal is gone"))
			}
			for _, k := range keys {
				p.key(ctx, k)
			}
		case err := <-p.jobs:
			p.ended(ctx, err)
		case a := <-p.asks:
			p.asking = a
			a.since = time.Now()
		case l := <-p.found:
			p.foundList(ctx, l)
		case <-calmed:
			p.asking.armed = true
		case <-p.poke:
		case <-ticks:
		case <-p.tty.Resized():
			p.screen.Resized()
		case <-ctx.Done():
			return p.end(context.Cause(ctx))
		}
		if p.asking != nil && p.asking.ctx.Err() != nil {
			p.asking = nil
		}
		p.lookOn()
		p.draw(false)
	}
	return p.end(nil)
}

// end stops what runs, and waits for it.
func (p *page) end(err error) error {
	p.quit = true
	defer p.lookersEnd()
	p.stopLooking()
	if !p.busy {
		return err
	}
	p.cancel()
	limit := time.After(jobEnd)
	for {
		select {
		case <-p.jobs:
			p.busy = false
			return err
		case a := <-p.asks:
			a.answer <- answered{err: context.Canceled}
		case <-limit:
			p.stop(context.Background()) // the second time ends it at once
			return err
		}
	}
}

// start runs a job beside the loop.
func (p *page) start(ctx context.Context, verb string, do func(context.Context) error) {
	ctx, p.cancel = context.WithCancel(ctx)
	p.busy, p.began, p.hint = true, time.Now(), ""
	p.mu.Lock()
	p.verb = verb
	p.mu.Unlock()
	go func() { p.jobs <- do(ctx) }()
}

// ended shows how a job went, and begins what waited for it.
func (p *page) ended(ctx context.Context, err error) {
	stopped := errors.Is(err, context.Canceled)
	var said workbench.ExitError
	stopped = stopped || errors.As(err, &said)
	p.cancel()
	p.busy, p.hint = false, ""
	if ofChats(p.values.name) { // there may be one more now
		p.values = foundValues{}
	}
	p.setStatus("")
	p.screen.EndLine()
	p.sayFault(err)
	if p.leave {
		p.quit = true
		return
	}
	if p.fill != "" {
		p.line.Set(p.fill)
		p.fill = ""
	}
	if stopped {
		p.unqueue()
	}
	if len(p.queue) > 0 && !p.busy {
		next := p.queue[0]
		p.queue = p.queue[1:]
		p.enter(ctx, next)
	}
}

// unqueue brings what waits back into the line, so that it isn't sent after an
// answer that nobody wanted.
func (p *page) unqueue() {
	var texts []string
	for _, m := range p.queue {
		texts = append(texts, m.text)
	}
	if !p.line.Empty() {
		texts = append(texts, p.line.Text())
	}
	if p.queue = nil; len(texts) > 0 {
		p.line.Set(strings.Join(texts, "\n"))
	}
}

// enter takes a message: it is begun, or waits.
func (p *page) enter(ctx context.Context, m message) {
	text := strings.TrimSpace(m.text)
	if text == "" {
		return
	}
	if name, arg, ok := slash(text); ok && now(name) {
		p.leave = false
		p.sayFault(p.command(ctx, name, arg))
		p.quit = p.quit || p.leave
		return
	}
	if p.busy {
		p.queue = append(p.queue, m)
		return
	}
	p.in.Streams.Out.WriteString("\n")
	p.showAsked(m.shown)
	p.in.Streams.Out.WriteString("\n")
	p.start(ctx, "", func(ctx context.Context) error { return p.take(ctx, text) })
}

func (p *page) setStatus(text string) {
	p.mu.Lock()
	changed := p.status != text
	p.status = text
	p.mu.Unlock()
	if changed {
		p.nudge()
	}
}

// nudge has the loop look again.
func (p *page) nudge() {
	select {
	case p.poke <- struct{}{}:
	default: // it will look anyway
	}
}

// lendTerminal runs a program that wants the terminal for itself.
func (p *page) lendTerminal(do func() error) error {
	p.screen.Hide()
	defer p.screen.Resume()
	return p.tty.Lend(do)
}

// toClipboard asks the terminal to keep a text, by OSC 52: it works over SSH,
// where the terminal allows it. The answer isn't waited for.
func (p *page) toClipboard(text string) {
	p.screen.Control(clipboardCode(text))
}

// askCall asks about a call and gives the turn its answer.
func (p *page) askCall(ctx context.Context, id store.TurnID, ask event.ConfirmRequest) error {
	a := newCallQuestion(p.talk, ask)
	for {
		got := p.putQuestion(ctx, a)
		if got.err != nil {
			return got.err
		}
		if got.key == '?' {
			diff := a.diff
			if ask.Review != nil {
				diff = nil // the details have it
			}
			seen, err := p.showDetails(ctx, ask, diff)
			if err != nil {
				return err
			}
			a.seen = a.seen || seen
			continue
		}
		answer := follow.ReviewAnswer(ask, got.key)
		answer.Reason = got.reason
		if got.key == 's' {
			only, err := follow.ChooseFiles(ctx, ask.Review, p.askPlain)
			if err != nil {
				return err
			}
			answer = follow.OnlySome(ask, only)
		}
		if l := p.showing; l != nil {
			l.Step(p.in.Streams.Out)
		}
		show.ShowLabel(p.in.Streams.Out, approvalLine(ask, answer))
		return p.eng.Confirm(ctx, id, answer)
	}
}

// showDetails writes the whole call into the transcript, a screen at a time, and reports
// whether the user saw its end.
func (p *page) showDetails(ctx context.Context, ask event.ConfirmRequest, diff []string) (seen bool, err error) {
	out := p.in.Streams.Out
	d := follow.NewDetails(ask, max(out.Width(), 20))
	for out.WriteString(d.First()); d.Left() > 0; {
		got := p.putQuestion(ctx, &asking{
			text:    []string{"the details of " + consent.Line(ask.Tool)},
			choices: append(follow.MoreChoices(), term.Choice{Key: 'b', Label: "back"}),
		})
		switch {
		case got.err != nil:
			return false, got.err
		case got.key == 'm':
			out.WriteString(d.Next())
		case got.key == 'e':
			out.WriteString(d.Rest())
		default:
			return false, nil
		}
	}
	for _, line := range diff {
		for _, row := range term.Chop(consent.Line(line), max(out.Width()-3, 8)) {
			out.Printf("  %s\n", workspace.PatchLine(out.Style(), row))
		}
	}
	return d.Seen, nil
}

// askPlain puts a question of a command's.
func (p *page) askPlain(ctx context.Context, q term.Question) (rune, error) {
	got := p.putQuestion(ctx, &asking{text: strings.Split(strings.TrimRight(term.CleanText(q.Text), "\n"), "\n"), choices: q.Choices})
	switch {
	case got.err != nil:
		return 0, got.err
	case got.key == 0:
		return 0, term.ErrNoAnswer
	}
	return got.key, nil
}

// askLine asks for a line of a command's.
func (p *page) askLine(ctx context.Context, prompt string) (string, error) {
	lines := strings.Split(prompt, "\n")
	last := len(lines) - 1
	a := &asking{text: lines[:last], why: &words{first: lines[last], hint: "  Enter takes it, Esc answers no"}}
	got := p.putQuestion(ctx, a)
	switch {
	case got.err != nil:
		return "", got.err
	case got.key == escaped:
		return "", term.ErrNoAnswer
	}
	return got.reason, nil
}

// putQuestion has the loop show a question, and waits for its answer.
func (p *page) putQuestion(ctx context.Context, a *asking) answered {
	one := *a // the loop's own
	one.ctx, one.answer = ctx, make(chan answered, 1)
	one.armed = a.why != nil // a line of a form that was begun, in which nothing is a yes
	select {
	case p.asks <- &one:
	case <-ctx.Done():
		return answered{err: context.Cause(ctx)}
	}
	select {
	case got := <-one.answer:
		return got
	case <-ctx.Done():
		p.nudge() // the loop takes the question off
		return answered{err: context.Cause(ctx)}
	}
}

var _ io.Writer = (*live.Screen)(nil)
