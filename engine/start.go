package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/journal"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/lockfile"
	"github.com/fettle-cli/fettle/internal/schema"
	"github.com/fettle-cli/fettle/toolset"
)

// Start begins a turn. It returns once the person's message is accepted, that
// is, durable in the turn's journal; by then the model has been asked. An
// error means that nothing was written. ctx bounds the start alone: the turn
// lives until it ends, is cancelled, or the Engine is closed.
//
// A chat has one live turn at a time; Start waits for it and says so through
// OnWait.
func (e *Engine) Start(ctx context.Context, req TurnRequest) (TurnID, error) {
	t, err := e.prepare(ctx, req)
	if err != nil {
		return "", err
	}
	err = t.upload()
	if err == nil {
		err = e.accept(ctx, t)
	}
	if err != nil {
		t.unlock()
		return "", err
	}
	return t.id, nil
}

// prepare checks the request and gathers what the turn needs; it holds the
// chat's lock when it returns without an error.
func (e *Engine) prepare(ctx context.Context, req TurnRequest) (*turn, error) {
	t := &turn{
		eng: e, req: req, useIDs: map[string]bool{}, asking: map[string]chan Confirmation{},
		abandon: make(chan struct{}), followed: make(chan struct{}),
	}
	if err := t.checkRequest(); err != nil {
		return nil, err
	}
	conv, err := e.converse(ctx, req)
	if err != nil {
		return nil, err
	}
	t.unlock = conv.unlock
	if err := t.chooseModel(ctx, conv); err != nil {
		conv.unlock()
		return nil, err
	}
	t.path = conv.path
	t.policy = t.policy.With(e.granted(conv.chat.ID))
	t.accept = e.acceptanceOf(t, conv)
	t.id = TurnID(t.accept.TurnID)
	t.red = newReducer(t.accept)
	for _, m := range t.path {
		t.reserveIDs(m)
	}
	return t, nil
}

func (t *turn) checkRequest() error {
	if len(t.req.Parts) == 0 {
		return fault.New(fault.Usage, "there is nothing to ask", `fettle ask "why is the sky blue?"`)
	}
	t.policy = t.eng.o.Policy.With(t.req.Policy)
	if err := t.policy.Check(); err != nil {
		return fault.Wrap(fault.Usage, "read the rules", err, `fettle ask --allow 'write_file(path=notes/**)' …`)
	}
	if t.req.Schema != nil {
		s, err := schema.Compile(t.req.Schema)
		if err != nil {
			return fault.Wrap(fault.Usage, "--schema", err, "a JSON Schema is wanted, such as {\"type\":\"object\"}")
		}
		t.schema = s
	}
	return t.chooseTools()
}

func (t *turn) chooseTools() error {
	t.offer = t.eng.o.Tools.Offered()
	if t.req.Tools != nil {
		var err error
		if t.offer, err = t.offer.Select(t.req.Tools...); err != nil {
			return fault.Wrap(fault.Usage, "--tool", err, "fettle ask --tool 'read_*' …")
		}
		if len(t.req.Tools) == 0 {
			t.offer, _ = toolset.NewSet() // no entries, nothing to refuse
		}
	}
	t.names = t.offer.Names()
	return nil
}

func (t *turn) chooseModel(ctx context.Context, conv *conversation) error {
	ref := t.req.Model
	if ref == "" {
		ref = conv.chat.Model
	}
	var err error
	if ref == "" {
		if ref, err = t.eng.o.Models.Default(ctx); err != nil {
			return err
		}
	}
	t.model, err = t.eng.choose(ctx, ref, t.req.Fallback)
	if err != nil {
		return Explain(ref, err)
	}
	if t.model.model.Tools == provider.No {
		t.model.without[provider.FeatureTools] = true
	}
	if t.model.model.Images == provider.No {
		t.model.without[provider.FeatureImages] = true
	}
	return nil
}

// reserveIDs keeps new calls from taking the id of one in the history.
func (t *turn) reserveIDs(m Message) {
	for _, p := range m.Parts {
		if p.Call != nil {
			t.useIDs[p.Call.ID] = true
		}
	}
}

func (e *Engine) acceptanceOf(t *turn, conv *conversation) *acceptance {
	now := e.o.Now()
	chat := conv.chat
	chat.Model, chat.UpdatedAt = t.model.ref, now
	if t.req.System != "" {
		chat.System = t.req.System
	}
	if conv.isNew {
		chat.CreatedAt, chat.Title = now, title(t.req.Parts)
		chat.Workspace = t.req.Workspace
	}
	return &acceptance{
		Version: journalVersion, TurnID: e.newID(), Chat: chat, NewChat: conv.isNew, ParentID: conv.parent,
		UserMessageID: e.newID(), MessageID: e.newID(), Parts: t.req.Parts, Model: t.model.ref,
		Time: now, PID: os.Getpid(),
	}
}

// titleLength is what fits a list beside the other columns.
const titleLength = 80

// title is the first line of the prompt, else the first file's name.
func title(parts []provider.Part) string {
	text := ""
	for _, p := range parts {
		if p.Kind == provider.TextPart {
			text = p.Text
		}
	}
	for _, p := range parts {
		if strings.TrimSpace(text) == "" {
			text = p.Name
		}
	}
	for line := range strings.Lines(text) {
		if line = cleanLine(line); line != "" {
			return cutRunes(line, titleLength)
		}
	}
	return "untitled"
}

func cleanLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

func cutRunes(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return strings.TrimSpace(string(runes[:n-1])) + "…"
}

// accept makes the turn durable while the model is asked.
func (e *Engine) accept(ctx context.Context, t *turn) error {
	t.ctx, t.cancel = context.WithCancelCause(e.base)
	published := make(chan error, 1)
	if err := t.openLog(ctx); err != nil {
		t.cancel(err)
		return err
	}
	if err := e.remember(t); err != nil {
		t.cancel(err)
		return errors.Join(err, t.log.Discard())
	}
	t.syncSoon(func() error {
		err := t.log.Publish()
		published <- err
		return err
	})
	go t.run() // retire, at its end, tells Close
	if err := <-published; err != nil {
		t.cancel(err)
		<-t.followed
		e.forget(t)
		return fault.Wrap(fault.Store, "keep the question", err, "free disk space or set FETTLE_DATA to another folder")
	}
	return nil
}

// openLog gives the turn its numbers and its journal.
func (t *turn) openLog(ctx context.Context) error {
	if t.req.Ephemeral {
		t.log, t.feed = noLog{}, newFeed(0)
		return nil
	}
	n, syncNumbers, err := t.eng.counter.Next(ctx, t.accept.NewChat)
	if err != nil {
		return storeFault("give the chat a number", err)
	}
	t.accept.Order, t.accept.Chat.LastTurn = n.Turn, n.Turn
	if t.accept.NewChat {
		t.accept.Chat.Number = n.Chat
	}
	w, err := t.eng.journals.Create(ctx, string(t.id), t.accept)
	if err != nil {
		return errors.Join(storeFault("keep the question", err), syncNumbers())
	}
	t.log, t.feed = &numbered{Writer: w, numbers: syncNumbers}, newFeed(feedWindow)
	return nil
}

func storeFault(doing string, err error) error {
	return fault.Wrap(fault.Store, doing, err, "fettle needs to write below FETTLE_DATA; set it to a folder with room")
}

// numbered is a journal whose numbers are made durable together with it.
type numbered struct {
	*journal.Writer
	numbers func() error
}

// Publish syncs both at once: they are different files, and a disk does two
// syncs in little more than the time of one.
func (n *numbered) Publish() error {
	counted := make(chan error, 1)
	go func() { counted <- n.numbers() }()
	err := n.Writer.Publish()
	return errors.Join(err, <-counted)
}

// noLog keeps nothing: an ephemeral turn's events live in memory alone.
type noLog struct{}

func (noLog) Publish() error              { return nil }
func (noLog) Append(...event.Event) error { return nil }
func (noLog) Sync() error                 { return nil }
func (noLog) SyncTime() time.Duration     { return 0 }
func (noLog) Close() error                { return nil }
func (noLog) Discard() error              { return nil }

// Cancel stops a live turn. The first cancel closes the model's stream and
// gives running tools a moment to end; a second one waits for nothing. The
// turn's stream ends with its cancelled event. A turn that has ended is left
// as it is.
func (e *Engine) Cancel(_ context.Context, id TurnID) error {
	t := e.turn(id)
	if t == nil {
		return e.notMine(id)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cancels++
	t.cancel(errCancelled)
	if t.cancels == 2 {
		close(t.abandon)
	}
	return nil
}

// notMine says why a turn isn't live here.
func (e *Engine) notMine(id TurnID) error {
	if owner, live := e.journals.Owner(string(id)); live {
		return fault.New(fault.Busy, "turn "+string(id)+" belongs to another process, "+owner)
	}
	return fault.New(fault.NotFound, "no turn "+string(id)+" is running")
}

// SyncTime is how long a turn of this process has spent in file syncs.
func (e *Engine) SyncTime(id TurnID) time.Duration {
	if t := e.turn(id); t != nil {
		return t.log.SyncTime()
	}
	return 0
}

// lockChat takes the lock that a turn of the chat holds to its end.
func (e *Engine) lockChat(ctx context.Context, id string, onWait func(string)) (func(), error) {
	return e.lock(ctx, "chat-"+id, onWait)
}

func (e *Engine) lock(ctx context.Context, name string, onWait func(string)) (func(), error) {
	dir := filepath.Join(e.o.DataDir, "locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, storeFault("make the folder of locks", err)
	}
	release, err := lockfile.Acquire(ctx, filepath.Join(dir, name), onWait)
	if err != nil && ctx.Err() == nil {
		return nil, storeFault("take the lock "+name, err)
	}
	return release, err
}
