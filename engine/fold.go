package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/journal"
	"github.com/fettle-cli/fettle/internal/kv"
)

const (
	// FoldAll folds whatever there is.
	FoldAll time.Duration = 0
	// foldGroup is how many journals share one sync of the store; it bounds
	// the locks that are held and the size of one transaction.
	foldGroup = 32
	// FoldBacklog is how many journals may wait before a command that has
	// answered folds some of them.
	FoldBacklog = 64
)

// Fold moves the journals of finished and abandoned turns into the store and
// tells how many. budget bounds the time, by stopping between groups; FoldAll
// is no bound. Any number of processes may fold at once.
func (e *Engine) Fold(ctx context.Context, budget time.Duration) (int, error) {
	turns, err := e.journals.Turns()
	if err != nil {
		return 0, storeFault("list the journals", err)
	}
	begun := time.Now()
	folded := 0
	for group := range slices.Chunk(turns, foldGroup) {
		if budget > 0 && time.Since(begun) > budget {
			break
		}
		n, err := e.foldTurns(ctx, group)
		folded += n
		if err != nil {
			return folded, e.storeTrouble(err)
		}
	}
	return folded, nil
}

// Tidy is what a command does after it has answered: it folds for a little
// while where many journals wait, and removes what dead processes left.
func (e *Engine) Tidy(ctx context.Context, budget time.Duration) error {
	turns, err := e.journals.Turns()
	if err != nil || len(turns) <= FoldBacklog {
		return err
	}
	if _, err := e.Fold(ctx, budget); err != nil {
		return err
	}
	return e.journals.Sweep()
}

// foldTurns folds one group: claim, write, sync, and only then unlink.
func (e *Engine) foldTurns(ctx context.Context, turns []string) (int, error) {
	var group []*folding
	defer func() {
		for _, f := range group {
			f.claim.Release()
		}
	}()
	for _, turn := range turns {
		claim, ok, err := e.journals.Claim(turn)
		if err != nil {
			return 0, err
		}
		if !ok {
			continue
		}
		f, err := e.readFolding(claim)
		if errors.Is(err, journal.ErrDamaged) {
			e.setAside(claim, err)
			continue
		}
		if err != nil { // one that can't be read now must not hold up the others
			claim.Release()
			e.o.Notice(err.Error())
			continue
		}
		group = append(group, f)
	}
	if len(group) == 0 {
		return 0, nil
	}
	slices.SortFunc(group, func(a, b *folding) int { return int(a.accept.Order - b.accept.Order) })
	if err := e.storeGroup(ctx, group); err != nil {
		return 0, err
	}
	for _, f := range group {
		if err := f.claim.Remove(); err != nil {
			return 0, err
		}
	}
	n := len(group)
	group = nil
	return n, nil
}

func (e *Engine) setAside(claim *journal.Claimed, why error) {
	name, err := claim.SetAside()
	if err != nil {
		e.o.Notice(err.Error())
		return
	}
	e.o.Notice("set a journal aside that can't be read: " + name + ": " + why.Error())
}

// folding is one journal on its way into the store.
type folding struct {
	claim    *journal.Claimed
	accept   *acceptance
	answer   Message
	calls    []ToolCall
	finished time.Time
	lastSeq  event.Seq
	segments [][]byte
}

func (e *Engine) readFolding(claim *journal.Claimed) (*folding, error) {
	r, err := claim.Read()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f := &folding{claim: claim, accept: new(acceptance)}
	if err := r.Accept(f.accept); err != nil {
		return nil, fmt.Errorf("%w: %w", journal.ErrDamaged, err)
	}
	if f.accept.Version == 0 || f.accept.TurnID != claim.Turn {
		return nil, fmt.Errorf("%w: its first line is no acceptance of the turn", journal.ErrDamaged)
	}
	if f.accept.Version != journalVersion {
		return nil, fmt.Errorf("journal %s has version %d, and this fettle reads %d: use the newer fettle",
			claim.Turn, f.accept.Version, journalVersion)
	}
	red := newReducer(f.accept)
	for line, err := range r.Events() {
		if err != nil {
			return nil, err
		}
		red.add(line.Event)
		f.keep(line.Raw)
	}
	if r.Torn {
		e.o.Notice("turn " + claim.Turn + ": its last event was torn by a crash and is dropped")
	}
	for _, ev := range red.interrupt(e.o.Now()) {
		raw, err := ev.Append(nil)
		if err != nil {
			return nil, err
		}
		red.add(ev)
		f.keep(raw)
	}
	f.answer, f.calls = red.message(), red.calls
	f.finished, f.lastSeq = red.last.Time, red.last.Seq
	return f, nil
}

// keep adds a line to the segments.
func (f *folding) keep(raw []byte) {
	n := len(f.segments)
	if n == 0 || len(f.segments[n-1])+len(raw) >= segmentSize {
		f.segments = append(f.segments, nil)
		n++
	}
	f.segments[n-1] = append(append(f.segments[n-1], raw...), '\n')
}

// storeGroup writes a group, events first: a turn that has its record has all.
func (e *Engine) storeGroup(ctx context.Context, group []*folding) error {
	err := e.store.Batch(ctx, func(b *kv.Batch) error {
		for _, f := range group {
			for i, seg := range f.segments {
				key := kv.Str(f.accept.TurnID).Int(int64(i))
				if err := e.tables.events.Put(b, key, seg, kv.WithTTL(eventsKept)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, f := range group {
		if err := e.store.Update(ctx, func(tx *kv.Tx) error { return e.record(tx, f) }); err != nil {
			return err
		}
	}
	return e.store.Sync(ctx)
}

// record writes what a turn adds to its chat. A turn that is there already is
// left alone: a crash between sync and unlink makes a fold come twice.
func (e *Engine) record(tx *kv.Tx, f *folding) error {
	a := f.accept
	if done, err := e.tables.turns.Has(tx, kv.Str(a.TurnID)); err != nil || done {
		return err
	}
	chat, err := e.tables.chats.Get(tx, kv.Str(a.Chat.ID))
	if errors.Is(err, kv.ErrNotFound) {
		chat, err = e.newChat(tx, a)
	}
	if err != nil {
		return err
	}
	question, answer := a.question(), f.answer
	if err := errors.Join(e.tables.messages.Put(tx, &question), e.tables.messages.Put(tx, &answer)); err != nil {
		return err
	}
	for i := range f.calls {
		if err := e.tables.calls.Put(tx, &f.calls[i]); err != nil {
			return err
		}
	}
	chat.advance(a, f.finished)
	turn := Turn{
		ID: a.TurnID, ChatID: a.Chat.ID, Order: a.Order, ParentID: a.ParentID,
		UserMessageID: a.UserMessageID, MessageID: a.MessageID, Model: answer.Model, Status: answer.Status,
		StartedAt: a.Time, FinishedAt: f.finished, LastSeq: f.lastSeq, Segments: len(f.segments),
	}
	return errors.Join(e.tables.chats.Put(tx, chat), e.tables.turns.Put(tx, &turn))
}

// advance moves the chat on by a turn. The leaf moves only if it still is
// where the turn began; else the turn is a branch.
func (c *Chat) advance(a *acceptance, at time.Time) {
	if c.ActiveLeaf == a.ParentID {
		c.ActiveLeaf = a.MessageID
	}
	c.Messages += 2
	if a.Order > c.LastTurn {
		c.LastTurn, c.Model, c.System = a.Order, a.Chat.Model, a.Chat.System
	}
	if at.After(c.UpdatedAt) {
		c.UpdatedAt = at
	}
}

// newChat makes the chat of a first turn, with the messages that a fork
// brings along.
func (e *Engine) newChat(tx *kv.Tx, a *acceptance) (*Chat, error) {
	chat := a.Chat
	chat.ActiveLeaf, chat.Messages, chat.LastTurn = a.ParentID, 0, a.Order
	if from := chat.ForkedFrom; from != nil {
		path, err := e.pathTo(tx, from.ChatID, from.MessageID)
		if err != nil && !errors.Is(err, kv.ErrNotFound) { // the old chat may be gone by now
			return nil, err
		}
		for _, m := range path {
			m.ChatID = chat.ID
			if err := e.tables.messages.Put(tx, &m); err != nil {
				return nil, err
			}
		}
		chat.Messages = len(path)
	}
	return &chat, nil
}

// liveTurns gives the acceptances of the turns that have an owner.
func (e *Engine) liveTurns() ([]*acceptance, error) {
	turns, err := e.journals.Turns()
	if err != nil {
		return nil, storeFault("list the journals", err)
	}
	var out []*acceptance
	for _, turn := range turns {
		if _, live := e.journals.Owner(turn); !live {
			continue
		}
		a, err := e.acceptanceIn(turn)
		if errors.Is(err, journal.ErrNoJournal) || errors.Is(err, journal.ErrDamaged) {
			continue // folded meanwhile, or for Fold to set aside
		}
		if err != nil {
			return nil, storeFault("read a journal", err)
		}
		out = append(out, a)
	}
	return out, nil
}

func (e *Engine) acceptanceIn(turn string) (*acceptance, error) {
	r, err := e.journals.Read(turn)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	a := new(acceptance)
	return a, r.Accept(a)
}

// highest tells the highest numbers in store and journals, for a counter that
// was lost.
func (e *Engine) highest(ctx context.Context) (journal.Numbers, error) {
	var n journal.Numbers
	turns, err := e.journals.Turns()
	if err != nil {
		return n, err
	}
	for _, turn := range turns {
		if a, err := e.acceptanceIn(turn); err == nil {
			n.Turn, n.Chat = max(n.Turn, a.Order), max(n.Chat, a.Chat.Number)
		}
	}
	err = e.view(ctx, func(tx *kv.Tx) error {
		last := kv.Range{Reverse: true, Limit: 1}
		for t, err := range e.tables.turns.ByIndex(tx, "order", nil, last) {
			if err != nil {
				return err
			}
			n.Turn = max(n.Turn, t.Order)
		}
		for c, err := range e.tables.chats.ByIndex(tx, "number", nil, last) {
			if err != nil {
				return err
			}
			n.Chat = max(n.Chat, c.Number)
		}
		return nil
	})
	if errors.Is(err, kv.ErrNotFound) {
		return n, nil
	}
	return n, err
}

// view reads the store; its errors are faults, but for kv.ErrNotFound. A data
// directory without a store is not given one: nothing is found in it.
func (e *Engine) view(ctx context.Context, fn func(*kv.Tx) error) error {
	if _, err := os.Stat(e.storeDir()); errors.Is(err, fs.ErrNotExist) {
		return kv.ErrNotFound
	}
	err := e.store.View(ctx, fn)
	if err == nil || errors.Is(err, kv.ErrNotFound) || ctx.Err() != nil {
		return err
	}
	return e.storeTrouble(err)
}

// storeTrouble says what is wrong with the store and what to do.
func (e *Engine) storeTrouble(err error) error {
	var busy *kv.BusyError
	var corrupt *kv.CorruptError
	var newer *kv.VersionError
	switch {
	case errors.As(err, &busy):
		owner := "another process"
		if busy.PID != 0 {
			owner = fmt.Sprintf("pid %d", busy.PID)
		}
		return fault.Wrap(fault.Store, "the store is held by "+owner, err, "try again when it has ended")
	case errors.As(err, &corrupt):
		return fault.Wrap(fault.Store, "the store is damaged", err,
			"keep a copy of "+e.o.DataDir+", then set FETTLE_DATA to a new folder")
	case errors.As(err, &newer):
		return fault.Wrap(fault.Store, "the store", err, "use the newer fettle that wrote it")
	}
	return storeFault("the store", err)
}

// replay yields the events of a turn that isn't live here: of a journal, else
// of the store.
func (e *Engine) replay(ctx context.Context, id TurnID, after event.Seq, yield yieldFunc) error {
	if owner, live := e.journals.Owner(string(id)); live {
		return fault.New(fault.Busy, "turn "+string(id)+" belongs to another process, "+owner)
	}
	if _, err := e.Fold(ctx, FoldAll); err != nil {
		return err
	}
	turn, err := e.turnRecord(ctx, id)
	if err != nil {
		return err
	}
	for i := range turn.Segments {
		events, err := e.segment(ctx, id, i)
		if err != nil {
			return err
		}
		for _, ev := range events {
			if ev.Seq <= after {
				continue
			}
			ev.More = ev.Seq < turn.LastSeq
			if !yield(ev, nil) {
				return errStopped
			}
		}
	}
	return nil
}

func (e *Engine) turnRecord(ctx context.Context, id TurnID) (*Turn, error) {
	var turn *Turn
	err := e.view(ctx, func(tx *kv.Tx) (err error) {
		turn, err = e.tables.turns.Get(tx, kv.Str(string(id)))
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, fault.New(fault.NotFound, "no turn "+string(id))
	}
	return turn, err
}

// segment reads one piece of a turn's log; no transaction stays open while a
// follower takes its time.
func (e *Engine) segment(ctx context.Context, id TurnID, i int) ([]event.Event, error) {
	var raw []byte
	err := e.view(ctx, func(tx *kv.Tx) (err error) {
		raw, err = e.tables.events.Get(tx, kv.Str(string(id)).Int(int64(i)))
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, fault.New(fault.NotFound, "the events of turn "+string(id)+" are no longer kept",
			"fettle chats show still has its messages")
	}
	if err != nil {
		return nil, err
	}
	var events []event.Event
	for line := range bytes.Lines(raw) {
		var ev event.Event
		if err := json.Unmarshal(line, &ev); err != nil {
			return nil, fault.Wrap(fault.Store, "read the events of turn "+string(id), err)
		}
		events = append(events, ev)
	}
	return events, nil
}
