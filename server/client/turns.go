package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server"
)

// Turns begins turns and follows them, in this process or by a server.
// *engine.Engine, *Local and *Remote are three of them, and what they promise is
// what the engine's methods promise.
type Turns interface {
	// Start begins a turn, and returns once its question is accepted.
	Start(context.Context, engine.TurnRequest) (store.TurnID, error)
	// Follow yields the events of a turn after one, to its end.
	Follow(context.Context, store.TurnID, event.Seq) iter.Seq2[event.Event, error]
	// Cancel stops a turn; a second time waits for no tool.
	Cancel(context.Context, store.TurnID) error
	// Confirm answers a call that waits for an approval.
	Confirm(context.Context, store.TurnID, engine.Confirmation) error
	// TurnChat is the chat of a turn that was started here.
	TurnChat(store.TurnID) (chat.Chat, bool)
	// SyncTime is how long a turn that was started here has waited for the disk.
	SyncTime(store.TurnID) time.Duration
}

var (
	_ Turns = (*engine.Engine)(nil)
	_ Turns = (*Local)(nil)
	_ Turns = (*Remote)(nil)
)

// begun is a turn that was started here: the answer of begin_turn stays open for
// as long as it lives, and the server cancels it when that is closed.
type begun struct {
	chat  chat.Chat
	body  io.Closer
	lines *bufio.Reader
	stop  context.CancelFunc

	once   sync.Once
	synced time.Duration
}

// close ends the answer, and so the turn, if it lives.
func (b *begun) close() {
	b.stop()
	b.body.Close()
}

// Start begins a turn on the server. It is this process's own: the server cancels
// it when the process ends.
func (l *Local) Start(ctx context.Context, req engine.TurnRequest) (store.TurnID, error) {
	raw, err := json.Marshal(req)
	if err != nil {
		return "", fault.Wrap(fault.Failed, "write the question", err)
	}
	if len(raw) > server.MaxOwnerTurn {
		return "", ErrRefused
	}
	held, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, cancel)() // no longer than until it has begun
	res, err := l.send(held, http.MethodPost, "/api/owner/turns", bytes.NewReader(raw))
	if err != nil {
		cancel()
		var way *net.OpError
		if errors.As(err, &way) && way.Op == "dial" {
			err = fmt.Errorf("%w: %w", ErrRefused, err)
		}
		return "", ended(ctx, err)
	}
	b := &begun{body: res.Body, lines: bufio.NewReader(res.Body), stop: cancel}
	for {
		line, err := readLine(b.lines)
		switch {
		case err != nil:
			b.close()
			return "", ended(ctx, fmt.Errorf("%w: %w", ErrGone, err))
		case line.Refused:
			b.close()
			return "", ended(ctx, ErrRefused)
		case line.Fault != nil:
			b.close()
			return "", ended(ctx, heard(*line.Fault))
		case line.Turn != "" && line.Chat != nil:
			b.chat = *line.Chat
			l.mu.Lock()
			l.begun[line.Turn] = b
			l.mu.Unlock()
			return line.Turn, nil
		case line.Wait != "" && req.OnWait != nil:
			req.OnWait(server.CleanText(line.Wait))
		}
	}
}

// ended is err, or why ctx ended if it has.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func readLine(r *bufio.Reader) (line server.TurnLine, err error) {
	raw, err := r.ReadBytes('\n')
	if err != nil {
		return line, err
	}
	return line, json.Unmarshal(raw, &line)
}

// heard makes a fault of what a server says: its words are shown on a terminal.
func heard(f server.Failure) error {
	f.Msg = server.CleanText(f.Msg)
	for i := range f.Detail {
		f.Detail[i] = server.CleanText(f.Detail[i])
	}
	for i := range f.Hints {
		f.Hints[i] = server.CleanText(f.Hints[i])
	}
	f.Input, f.Remedies = server.CleanText(f.Input), server.CleanRemedies(f.Remedies)
	return f.Fault()
}

// TurnChat is the chat of a turn that was started here.
func (l *Local) TurnChat(id store.TurnID) (chat.Chat, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.begun[id]
	if b == nil {
		return chat.Chat{}, false
	}
	return b.chat, true
}

// endTime bounds the wait for the server's last word on a turn that has ended.
const endTime = time.Second

// SyncTime is how long a turn that has ended waited for the disk.
func (l *Local) SyncTime(id store.TurnID) time.Duration {
	l.mu.Lock()
	b := l.begun[id]
	l.mu.Unlock()
	if b == nil {
		return 0
	}
	b.once.Do(func() {
		defer time.AfterFunc(endTime, b.stop).Stop()
		for {
			line, err := readLine(b.lines)
			if err != nil {
				return
			}
			if line.Ended {
				b.synced = line.Synced
				return
			}
		}
	})
	return b.synced
}

// Cancel stops a turn.
func (l *Local) Cancel(ctx context.Context, id store.TurnID) error {
	return l.call(ctx, http.MethodPost, "/api/turns/"+string(id)+"/cancel", nil, nil)
}

// Confirm answers a call that waits for an approval.
func (l *Local) Confirm(ctx context.Context, id store.TurnID, a engine.Confirmation) error {
	raw, err := json.Marshal(struct {
		ToolUseID string          `json:"tool_use_id"`
		Decision  event.Decision  `json:"decision"`
		Reason    string          `json:"reason,omitempty"`
		Content   json.RawMessage `json:"content,omitempty"`
		All       bool            `json:"all,omitempty"`
		Only      *[]string       `json:"only,omitempty"`
	}{a.ToolUseID, a.Decision, a.Reason, a.Content, a.All, onlyOf(a)})
	if err != nil {
		return err
	}
	return l.call(ctx, http.MethodPost, "/api/owner/turns/"+string(id)+"/confirm", bytes.NewReader(raw), nil)
}

// Follow yields a turn's events. A stream that breaks is taken up again, also from
// a server that was started anew; ErrGone ends the sequence where that can't be.
func (l *Local) Follow(ctx context.Context, id store.TurnID, after event.Seq) iter.Seq2[event.Event, error] {
	open := func(ctx context.Context, after event.Seq) (*http.Response, error) {
		return l.send(ctx, http.MethodGet, eventsPath(id, after), nil)
	}
	return follow(ctx, after, source{open: open, again: l.again, most: resumeHere})
}

func eventsPath(id store.TurnID, after event.Seq) string {
	return fmt.Sprintf("/api/turns/%s/events?form=events&after=%d", id, after)
}

// gone tells errors that a server gives from those of the way to it.
func gone(err error) bool {
	var f *fault.Fault
	return !errors.As(err, &f) || errors.Is(err, ErrOther)
}
