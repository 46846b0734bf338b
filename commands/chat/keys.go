package chat

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/term/live"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/atomicfile"
)

// key does what a key means where the page is.
func (p *page) key(ctx context.Context, k live.Key) {
	again, chord := p.again, p.chord
	p.again, p.chord, p.hint = false, false, ""
	switch {
	case k.Is('c'):
		p.interrupt(again)
		return
	case k.Is('z'):
		p.suspend()
		return
	case k.Is('l'):
		p.screen.Clear()
		return
	}
	if p.asking != nil {
		if a, got := p.answerKey(k); a != nil {
			p.draw(true) // what the answer leads to isn't printed above a question that is gone
			a.answer <- got
		}
		return
	}
	switch {
	case p.find != nil && p.findKey(k):
	case chord && k.Is('e'):
		p.editOutside(ctx)
	case k.Is('x'):
		p.chord = true
	case p.menu.open() && p.menuKey(ctx, k):
	case k.Is('d') && p.line.Empty():
		p.quit = true
	case k.Is('o'):
		p.openLast()
	case k.Is('r'):
		p.find = &finder{before: p.line.Text()}
	case k.Name == live.BackTab:
		p.nextMode()
	case k.Name == live.Tab:
		p.complete(ctx, true)
	case k.Name == live.Escape:
		p.menu = menu{}
		p.stopLooking()
	case k.Name == live.Enter && !k.Alt && !k.Shift && !k.Ctrl:
		p.submit(ctx)
	case k.Name == live.Up || k.Is('p'), k.Name == live.Down || k.Is('n'):
		p.vertical(k)
	default:
		p.line.Key(k)
		p.complete(ctx, false)
	}
}

// interrupt is Ctrl-C: it stops what runs, or empties the line; again, it
// leaves.
func (p *page) interrupt(again bool) {
	p.again = true
	switch {
	case again:
		p.quit = true
	case p.busy:
		p.cancel()
		p.hint = "stopping · Ctrl-C again leaves"
	case p.find != nil:
		p.find = nil
	case !p.line.Empty():
		p.line.Reset()
		p.menu = menu{}
	default:
		p.hint = "Ctrl-C again leaves"
	}
}

// answerKey gives a key to the question; while somebody types, to the line. A
// question that it answers is gone, and comes back with the answer.
func (p *page) answerKey(k live.Key) (*asking, answered) {
	if !p.asking.armed {
		if k.Name != live.Enter {
			p.line.Key(k)
		}
		p.asking.since = time.Now()
		return nil, answered{}
	}
	if k.Name == live.Pasted && p.asking.why == nil {
		return nil, answered{} // a paste that happens to begin with a y is no yes
	}
	got, ok := p.asking.key(k)
	if !ok {
		return nil, answered{}
	}
	a := p.asking
	p.asking = nil
	return a, got
}

func (p *page) submit(ctx context.Context) {
	before := p.line.Before()
	if p.line.After() == "" && strings.HasSuffix(before, `\`) {
		p.line.Replace(1, "\n") // a line's end that was meant
		return
	}
	m := message{p.line.Text(), p.line.Shown()}
	if strings.TrimSpace(m.text) == "" {
		return
	}
	if err := p.hist.Add(m.text); err != nil {
		p.hint = err.Error()
	}
	p.line.Reset()
	p.menu = menu{}
	p.enter(ctx, m)
}

// vertical moves between the rows of the line, and beyond them through what was
// entered before.
func (p *page) vertical(k live.Key) {
	up := k.Name == live.Up || k.Is('p')
	step := live.Key{Name: live.Down}
	if up {
		step.Name = live.Up
	}
	if p.line.Key(step) {
		return
	}
	if up && p.line.Empty() && len(p.queue) > 0 {
		last := len(p.queue) - 1
		p.line.Set(p.queue[last].text)
		p.queue = p.queue[:last]
		return
	}
	var text string
	var ok bool
	if up {
		text, ok = p.hist.Older(p.line.Text())
	} else {
		text, ok = p.hist.Newer()
	}
	if ok {
		p.line.Set(text)
	}
}

// finder looks for what was entered before.
type finder struct {
	text   string
	n      int // which match, from the last
	before string
}

// findKey handles a key of the search; a key that isn't one ends it and is then
// the line's.
func (p *page) findKey(k live.Key) bool {
	f := p.find
	was := *f
	switch {
	case k.Is('r'):
		f.n++
	case k.Is('g'), k.Name == live.Escape:
		p.line.Set(f.before)
		p.find = nil
		return true
	case k.Name == live.Backspace:
		if r := []rune(f.text); len(r) > 0 {
			f.text = string(r[:len(r)-1])
		}
		f.n = 0
	case k.Name == live.Text && !k.Ctrl && !k.Alt:
		f.text, f.n = f.text+k.Text, 0
	default:
		p.find = nil
		return k.Name == live.Enter // found: it can be looked at before it is sent
	}
	if found, ok := p.hist.Search(f.text, f.n); ok && f.text != "" {
		p.line.Set(found)
	} else if f.text != "" {
		f.n = was.n // no more of them
	}
	return true
}

func (p *page) suspend() {
	p.screen.Hide()
	defer p.screen.Resume()
	if err := p.tty.Stop(); err != nil {
		p.hint = err.Error()
	}
}

// editOutside opens the line in the person's editor.
func (p *page) editOutside(ctx context.Context) {
	text, err := p.inEditor(ctx, p.line.Text())
	if err != nil {
		p.hint = err.Error()
		return
	}
	p.line.Set(strings.TrimRight(text, "\n"))
}

// inEditor has a text edited in the person's editor.
func (t *talk) inEditor(ctx context.Context, text string) (string, error) {
	const most = 1 << 20              // of the text that the editor returns
	var unrecorded *atomicfile.Ledger // what the user wrote is never swept: the editor outlives a killed command
	f, remove, err := unrecorded.TempFile("", "fettle-message-", ".md")
	if err != nil {
		return "", fault.Wrap(fault.Failed, "edit the message", err)
	}
	defer func() { _ = remove() }() // a sweep tries again
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fault.Wrap(fault.Failed, "edit the message", err)
	}
	if err := t.lend(func() error { return t.rt.Edit(ctx, f.Name()) }); err != nil {
		return "", err
	}
	raw, err := os.ReadFile(f.Name())
	switch {
	case err != nil:
		return "", fault.Wrap(fault.Failed, "edit the message", err)
	case len(raw) > most:
		return "", fault.New(fault.Failed, "the message is larger than "+term.Size(most))
	}
	return string(raw), nil
}
