package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/lockfile"
)

// Replay yields the events of a turn that isn't live here.
func (s *Store) Replay(ctx context.Context, id TurnID, after event.Seq, yield Yield) error {
	after, whole, err := s.replayJournal(ctx, id, after, yield)
	if err != nil || whole {
		return err
	}
	turn, err := s.endedTurn(ctx, id)
	if err != nil {
		return err
	}
	var rest []byte // a line that goes on in the next segment
	for i := range turn.Segments {
		raw, err := s.segment(ctx, id, i)
		if err != nil {
			return err
		}
		whole := bytes.LastIndexByte(raw, '\n') + 1
		lines := append(rest, raw[:whole]...)
		if whole == 0 {
			rest = append(rest, raw...)
			continue
		}
		rest = bytes.Clone(raw[whole:])
		for line := range bytes.Lines(lines) {
			var ev event.Event
			if err := json.Unmarshal(line, &ev); err != nil {
				return fault.Wrap(fault.Store, "read the events of turn "+string(id), err)
			}
			if ev.Seq <= after {
				continue
			}
			ev.More = ev.Seq < turn.LastSeq
			if !yield(ev, nil) {
				return ErrStopped
			}
		}
	}
	return nil
}

// replayJournal yields the events of a journal that nobody holds: whoever is a
// little late for a turn's end doesn't wait for its fold. whole is set where the
// turn's end was among them; else what follows upTo is for the store to tell.
func (s *Store) replayJournal(ctx context.Context, id TurnID, after event.Seq, yield Yield) (upTo event.Seq, whole bool, err error) {
	if _, held, err := s.Journals.Owner(ctx, string(id)); held || err != nil {
		return after, false, nil // which endedTurn tells of
	}
	r, err := s.Journals.Read(string(id))
	if err != nil { // none, or a damaged one
		return after, false, nil
	}
	defer r.Close()
	var held *event.Event // back until it is known whether another one follows
	for line, err := range r.Events() {
		if err != nil {
			break
		}
		if line.Event.Seq <= after {
			whole = line.Event.Ends()
			continue
		}
		if held != nil {
			held.More = true
			if upTo = held.Seq; !yield(*held, nil) {
				return upTo, false, ErrStopped
			}
		}
		held = &line.Event
	}
	if held == nil {
		return after, whole, nil
	}
	if !yield(*held, nil) {
		return held.Seq, false, ErrStopped
	}
	return held.Seq, held.Ends(), nil
}

// endedTurn gives the record of a turn that has ended, which may have to be folded
// first. Busy says that another process has it.
func (s *Store) endedTurn(ctx context.Context, id TurnID) (*chat.Turn, error) {
	for {
		_, held, err := s.Journals.Owner(ctx, string(id))
		if err != nil {
			return nil, StoreFault("look at turn "+string(id), err)
		}
		if _, err := s.Fold(ctx, FoldAll); err != nil {
			return nil, err
		}
		turn, err := s.TurnRecord(ctx, id)
		if err == nil || fault.CodeOf(err) != fault.NotFound || !held {
			return turn, err
		}
		// Somebody had it: its owner, who has it still or has just ended.
		if busy := s.NotMine(ctx, id); fault.CodeOf(busy) != fault.NotFound {
			return nil, busy
		}
	}
}

// NotMine says why a turn isn't live here.
func (s *Store) NotMine(ctx context.Context, id TurnID) error {
	owner, held, err := s.Journals.Owner(ctx, string(id))
	if err != nil {
		return StoreFault("look at turn "+string(id), err)
	}
	if held {
		return fault.New(fault.Busy, "turn "+string(id)+" belongs to another process, "+owner)
	}
	return fault.New(fault.NotFound, "no turn "+string(id)+" is running")
}

// TurnRecord returns the record of a turn that is in the store.
func (s *Store) TurnRecord(ctx context.Context, id TurnID) (*chat.Turn, error) {
	var turn *chat.Turn
	err := s.View(ctx, func(tx *kv.Tx) (err error) {
		turn, err = s.Tables.Turns.Get(tx, kv.Str(string(id)))
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, fault.New(fault.NotFound, "no turn "+string(id))
	}
	return turn, err
}

// segment reads one piece of a turn's log; no transaction stays open while a
// follower takes its time.
func (s *Store) segment(ctx context.Context, id TurnID, i int) (raw []byte, err error) {
	err = s.View(ctx, func(tx *kv.Tx) (err error) {
		raw, err = s.Tables.Events.Get(tx, kv.Str(string(id)).Int(int64(i)))
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, fault.New(fault.NotFound, "the events of turn "+string(id)+" are no longer kept",
			fault.Try(fault.ShowChat).That("still has its messages"))
	}
	return raw, err
}

// View reads the store; its errors are faults, but for kv.ErrNotFound. A data
// directory without a store is not given one: nothing is found in it.
func (s *Store) View(ctx context.Context, fn func(*kv.Tx) error) error {
	if _, err := os.Stat(s.StoreDir()); errors.Is(err, fs.ErrNotExist) {
		return kv.ErrNotFound
	}
	err := s.KV.View(ctx, fn)
	if err == nil || errors.Is(err, kv.ErrNotFound) || ctx.Err() != nil {
		return err
	}
	return s.StoreTrouble(err)
}

// StoreTrouble says what is wrong with the store and what to do.
func (s *Store) StoreTrouble(err error) error {
	var busy *kv.BusyError
	var locked *lockfile.BusyError
	var corrupt *kv.CorruptError
	var newer *kv.VersionError
	switch {
	case errors.Is(err, kv.ErrClosed):
		return fault.Wrap(fault.Interrupted, "use the store", ErrClosed)
	case errors.As(err, &busy):
		owner := cmp.Or(lockfile.Process(busy.PID), "another process")
		return fault.Wrap(fault.Store, "the store is held by "+owner, err, fault.Advise(whenBusy(owner)))
	case errors.As(err, &locked):
		return busyFault("the store is kept busy by "+locked.Owner, locked, err)
	case errors.As(err, &corrupt):
		return fault.Wrap(fault.Store, "the store is damaged", err,
			fault.Advise("keep a copy of "+s.Options.DataDir+", then set FETTLE_DATA to a new folder"))
	case errors.As(err, &newer):
		return fault.Wrap(fault.Store, "the store", err, fault.Advise("use the newer fettle that wrote it"))
	}
	return StoreFault("the store", err)
}

// busyFault is the fault of a lock that was not free in time.
func busyFault(msg string, busy *lockfile.BusyError, err error) error {
	return fault.Wrap(fault.Store, msg, err, fault.Advise(whenBusy(busy.Owner)))
}

// whenBusy returns the hint for a lock that a process holds for too long.
func whenBusy(owner string) string {
	if strings.HasSuffix(owner, "stopped") {
		return "continue the stopped process, or end it, and try again"
	}
	return "try again when it has ended"
}

// AnsweredTurn is what a turn that has ended made of a chat.
type AnsweredTurn struct {
	Chat chat.Chat
	// Asked are its messages before the answer: none where a question is asked again.
	Asked  []chat.Message
	Answer chat.Message
	// Before is the turn that it goes on from; empty where it begins its chat.
	Before TurnID
}

// ReadTurn reads a turn's messages, from its answer back.
func (s *Store) ReadTurn(tx *kv.Tx, out *AnsweredTurn, answer string, id TurnID) error {
	m, err := s.Message(tx, out.Chat.ID, answer)
	if err != nil {
		return err
	}
	out.Answer = *m
	seen := map[string]bool{} // a loop of parents would be damage
	for next := m.ParentID; next != "" && !seen[next]; {
		seen[next] = true
		link, err := s.Tables.links.Get(tx, MessageKey(out.Chat.ID, next))
		if err != nil {
			return err
		}
		if link.TurnID != string(id) {
			out.Before = TurnID(link.TurnID)
			break
		}
		asked, err := s.Message(tx, out.Chat.ID, next)
		if err != nil {
			return err
		}
		out.Asked, next = append(out.Asked, *asked), link.ParentID
	}
	slices.Reverse(out.Asked)
	return nil
}

// ErrStopped says that the follower wants no more.
var ErrStopped = errors.New("the follower stopped")

// Yield takes an event or an error; false ends what calls it.
type Yield func(event.Event, error) bool
