package chat

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/commands/suggest"
	"github.com/fettle-cli/fettle/commands/term"
)

const (
	// lookTime bounds the wait for a list: a server that is started first may have to
	// be fetched, and nobody waits for it here who could not do something else.
	lookTime = 20 * time.Second
	// lookEnd bounds how long leaving waits for a list that nobody wants any more: a
	// server's process has 3.5 s to end.
	lookEnd = 5 * time.Second
)

// looking is a list for the menu that is looked for beside the page's loop, so that
// keys don't wait for a server or for the store.
type looking struct {
	name   string // what the list is of, as in listNamed
	asked  bool   // a person asked for it
	cancel context.CancelFunc
	list   []suggest.Value // once it was found
}

// listNamed names the list that may take its time and that the cursor stands at:
// chats, agents, or the resources of a server; "" where it is none.
func listNamed(before, word string) string {
	switch {
	case strings.HasPrefix(before, "/") && word == before:
		return ""
	case strings.HasPrefix(before, "/"):
		if name, _, _ := slash(before); name == "chats" || name == "agent" {
			return name
		}
		return ""
	case strings.HasPrefix(word, "@chat:"):
		return "@chat:"
	}
	server, _, named := strings.Cut(word, ":")
	if !named || !strings.HasPrefix(server, "@") || server == "@" {
		return ""
	}
	return server
}

// look gives a list that was found a moment ago. Else it has it looked for, unless
// that is done already, and the menu opens when it is there.
func (p *page) look(ctx context.Context, name string, asked bool, find func(context.Context) []suggest.Value) []suggest.Value {
	if p.values.name == name && time.Since(p.values.at) <= valuesFresh {
		return p.values.list
	}
	if p.looking != nil && p.looking.name == name {
		p.looking.asked = p.looking.asked || asked
		return nil
	}
	p.stopLooking()
	ctx, cancel := context.WithCancel(ctx)
	l := &looking{name: name, asked: asked, cancel: cancel}
	p.looking = l
	p.lookers.Go(func() {
		bounded, done := context.WithTimeout(ctx, lookTime)
		l.list = find(bounded)
		done()
		select {
		case p.found <- l:
		case <-ctx.Done():
		}
	})
	return nil
}

// stopLooking ends what is looked for.
func (p *page) stopLooking() {
	if p.looking != nil {
		p.looking.cancel()
		p.looking = nil
	}
}

// lookOn ends what is looked for where the cursor has left the word that it is for.
func (p *page) lookOn() {
	if p.looking != nil && listNamed(p.atCursor()) != p.looking.name {
		p.stopLooking()
	}
}

// foundList opens the menu with a list that was found. An entry that was chosen
// meanwhile stays so.
func (p *page) foundList(ctx context.Context, l *looking) {
	if l != p.looking {
		return // nobody waits for it any more
	}
	p.stopLooking()
	if len(l.list) == 0 { // and is looked for anew when somebody asks again
		if l.asked && !p.menu.open() {
			p.hint = "nothing came from " + l.of()
		}
		return
	}
	p.values = foundValues{l.name, time.Now(), l.list}
	if p.find != nil {
		return // it is what keys are for now
	}
	chosen := ""
	if p.menu.open() {
		chosen = p.menu.list[p.menu.at].Text
	}
	p.complete(ctx, l.asked)
	if i := slices.IndexFunc(p.menu.list, func(s suggest.Value) bool { return s.Text == chosen }); i >= 0 {
		p.menu.at = i
	}
}

// ofChats tells whether a list is of chats.
func ofChats(name string) bool { return name == "chats" || name == "@chat:" }

// of names what gives the list.
func (l *looking) of() string {
	switch {
	case ofChats(l.name):
		return "the list of chats"
	case l.name == "agent":
		return "the list of agents"
	}
	return "the MCP server " + term.Clean(l.name[1:])
}

// waits says whom a person waits for.
func (l *looking) waits() string { return "waiting for " + l.of() + " · Esc leaves it" }

// lookersEnd waits, for a while, until nothing is looked for any more.
func (p *page) lookersEnd() {
	p.stopLooking()
	done := make(chan struct{})
	go func() {
		p.lookers.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(lookEnd):
	}
}
