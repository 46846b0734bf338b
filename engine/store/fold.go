package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/journal"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

const (
	// FoldAll folds whatever there is.
	FoldAll time.Duration = 0
	// foldGroup is how many journals share one sync of the store; it bounds
	// the locks that are held.
	foldGroup = 32
	// foldBytes is how much of a group may be in memory at once. One journal
	// may have more; a group ends with the one that reaches it.
	foldBytes = 64 << 20
	// FoldBacklog is how many journals may wait before a command that has
	// answered folds some of them.
	FoldBacklog = 64
)

// Fold moves the journals of finished and abandoned turns into the store and
// tells how many. Any number of processes may fold at once; they do so one
// after the other.
//
// With FoldAll everything that had ended when Fold was called is in the store
// when it returns, whoever put it there. A budget bounds the time, by taking no
// further journal after it, and does nothing where somebody else folds.
func (s *Store) Fold(ctx context.Context, budget time.Duration) (int, error) {
	turns, err := s.foldable()
	if err != nil || len(turns) == 0 {
		return 0, err
	}
	letData, err := s.ShareData(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer letData()
	release, ok, err := s.BeginFold(ctx, budget)
	if err != nil || !ok {
		return 0, err
	}
	defer release()
	// Files that killed tools have left are removed before the state of a folder is
	// read.
	if _, err := s.Temporaries.Sweep(); err != nil {
		s.Options.Notice("some files of killed commands could not be removed: " + err.Error())
	}
	if turns, err = s.foldable(); err != nil { // anew: another may have folded meanwhile
		return 0, err
	}
	begun := time.Now()
	n, err := s.foldTurns(ctx, turns, func() bool { return budget == FoldAll || time.Since(begun) < budget })
	if err != nil && ctx.Err() == nil {
		err = s.StoreTrouble(err)
	}
	return n, err
}

// foldable lists the journals that may be folded: all but those of turns that
// live in this process.
func (s *Store) foldable() ([]string, error) {
	turns, err := s.Journals.Turns()
	if err != nil {
		return nil, StoreFault("list the journals", err)
	}
	return slices.DeleteFunc(turns, func(id string) bool {
		return s.Writes(TurnID(id))
	}), nil
}

// BeginFold lets the caller be the only one who folds, in this process and
// among all. ok is false where somebody else does and the caller has no time.
func (s *Store) BeginFold(ctx context.Context, budget time.Duration) (release func(), ok bool, err error) {
	var unlock func()
	if budget != FoldAll {
		select {
		case s.folding <- struct{}{}:
		default:
			return nil, false, nil
		}
		unlock, ok, err = s.Journals.TryFold()
	} else {
		select {
		case s.folding <- struct{}{}:
		case <-ctx.Done():
			return nil, false, context.Cause(ctx)
		}
		unlock, err = s.Journals.AcquireFold(ctx)
		ok = err == nil
	}
	if !ok {
		<-s.folding
		if err != nil && ctx.Err() == nil {
			err = s.StoreTrouble(err)
		}
		return nil, false, err
	}
	return func() { unlock(); <-s.folding }, true, nil
}

// foldTurns folds in groups: claim, write, sync, and only then unlink.
func (s *Store) foldTurns(ctx context.Context, turns []string, more func() bool) (folded int, err error) {
	var group []*Folding // whose locks are held
	size := 0
	defer func() {
		for _, f := range group {
			f.claim.Release()
		}
	}()
	store := func() error {
		stored, err := s.storeFoldings(ctx, group)
		for _, f := range stored {
			s.finish(f)
		}
		folded += len(stored)
		for _, f := range group {
			if !slices.Contains(stored, f) {
				f.claim.Release()
			}
		}
		group, size = nil, 0
		return err
	}
	for _, turn := range turns {
		if !more() {
			break
		}
		f, err := s.claim(ctx, turn)
		if err != nil && (ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded)) {
			return folded, err // the folder as a whole can't be read
		}
		if err != nil {
			s.Options.Notice("turn " + turn + " is not in the store yet: " + sanitize.Line(err.Error()))
			continue
		}
		if f == nil {
			continue
		}
		group, size = append(group, f), size+f.size
		if len(group) == foldGroup || size >= foldBytes {
			if err := store(); err != nil {
				return folded, err
			}
		}
	}
	return folded, store()
}

// storeFoldings stores a group. Where that fails, it stores one journal after the
// other, so that one that can't be stored holds up no other: that one is set aside or,
// where the cause may pass, left. It returns those that are done with. An error is
// about the store as a whole.
func (s *Store) storeFoldings(ctx context.Context, group []*Folding) (done []*Folding, err error) {
	if err = s.storeGroup(ctx, group); err == nil {
		return group, nil
	}
	for _, f := range group {
		if s.wholeStore(ctx, err) {
			return done, err
		}
		switch err = s.storeGroup(ctx, []*Folding{f}); {
		case err == nil:
			done = append(done, f)
		case ownTrouble(err):
			f.refused = err
			done = append(done, f)
		case !s.wholeStore(ctx, err):
			s.Options.Notice(fmt.Sprintf("a turn of %s is not in the store yet: %s; the next command tries again",
				f.Accept.Chat.Called(), sanitize.Line(err.Error())))
			err = nil
		}
	}
	if s.wholeStore(ctx, err) {
		return done, err
	}
	return done, nil
}

// ownTrouble reports whether an error of storing one journal comes from what is in it,
// or from a damaged record of its chat, so that the next try fails as well.
func ownTrouble(err error) bool {
	var big *kv.TooBigError
	var twice *kv.UniqueError
	var value *json.UnsupportedValueError
	var marshal *json.MarshalerError
	return Unreadable(err) || errors.As(err, &big) || errors.As(err, &twice) ||
		errors.As(err, &value) || errors.As(err, &marshal) || errors.Is(err, record.ErrFixed)
}

// wholeStore reports whether the store accepts no write at all, and not only the
// journal whose storing returned err.
func (s *Store) wholeStore(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || s.KV.UpdateSync(ctx, func(*kv.Tx) error { return nil }) != nil)
}

// finish removes a journal that is in the store. One that can't be removed now
// is met again by the next fold, which finds its turn recorded.
func (s *Store) finish(f *Folding) {
	s.Pause("fold:synced")
	if f.refused != nil {
		s.setAsideRefused(f)
		return
	}
	if f.damage != nil {
		s.setAside(f.claim, f.damage)
		return
	}
	if err := f.claim.Remove(); err != nil {
		s.Options.Notice(err.Error())
	}
}

// claim takes and reads one journal; nil where there is nothing to fold now.
func (s *Store) claim(ctx context.Context, turn string) (*Folding, error) {
	claim, ok, err := s.Journals.Claim(ctx, turn)
	if err != nil || !ok {
		return nil, err
	}
	s.Pause("fold:claimed")
	f, err := s.readFolding(claim)
	switch {
	case err == nil:
		return f, nil
	case errors.Is(err, journal.ErrDamaged):
		s.setAside(claim, err)
	default: // one that can't be read now must not hold up the others
		claim.Release()
		s.Options.Notice(err.Error())
	}
	return nil, nil
}

func (s *Store) setAside(claim *journal.Claimed, why error) {
	name, err := claim.SetAside()
	if err != nil {
		s.Options.Notice(err.Error())
		return
	}
	s.Options.Notice("set a damaged journal aside as " + name + ": " + why.Error())
}

// setAsideRefused keeps the file of a turn that can't be stored, out of the way of all
// others.
func (s *Store) setAsideRefused(f *Folding) {
	called := f.Accept.Chat.Called()
	name, err := f.claim.SetAside()
	if err != nil {
		s.Options.Notice(fmt.Sprintf("a turn of %s can't be stored: %s; %s", called, sanitize.Line(f.refused.Error()), sanitize.Line(err.Error())))
		return
	}
	s.Options.Notice(fmt.Sprintf("a turn of %s can't be stored: %s; it is kept as %s, and all else works. "+
		"When the cause is mended, rename the file to %s.jsonl to have it stored",
		called, sanitize.Line(f.refused.Error()), name, f.Accept.TurnID))
}

// Folding is one journal on its way into the store.
type Folding struct {
	claim    *journal.Claimed
	Accept   *chat.Acceptance
	answer   chat.Message
	calls    []chat.ToolCall
	tokens   TokensOf
	finished time.Time
	LastSeq  event.Seq
	Segments [][]byte
	size     int   // bytes of the events
	damage   error // why the journal was not read to its end
	refused  error // why it can't be stored, if so
	recorded bool  // its turn is in the store already
	// brought are the messages that a fork brings along.
	brought      []chat.Message
	broughtCalls []chat.ToolCall // of these, as records of the fork
	// decided are the decisions about their payloads.
	decided []chat.PayloadDecision
	// artifacts keep the pages that their calls are shown by.
	artifacts []keptArtifact
	// summaries are those that the turn has made of older messages.
	summaries []event.Summary
}

func (s *Store) readFolding(claim *journal.Claimed) (*Folding, error) {
	r, err := claim.Read()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f := &Folding{claim: claim, Accept: new(chat.Acceptance), tokens: TokensOf{}}
	if err := r.Accept(f.Accept); err != nil {
		return nil, fmt.Errorf("%w: %w", journal.ErrDamaged, err)
	}
	if f.Accept.Version == 0 || f.Accept.TurnID != claim.Turn {
		return nil, fmt.Errorf("%w: its first line is no acceptance of the turn", journal.ErrDamaged)
	}
	if f.Accept.Version > chat.AppVersion {
		return nil, fmt.Errorf("journal %s has version %d, and this fettle reads %d: use the newer fettle",
			claim.Turn, f.Accept.Version, chat.AppVersion)
	}
	red := chat.NewReducer(f.Accept)
	for line, err := range r.Events() {
		if errors.Is(err, journal.ErrDamaged) {
			f.damage = err // what came before was acknowledged and is kept
			break
		}
		if err != nil {
			return nil, err
		}
		red.Add(line.Event)
		f.tokens.add(line.Event)
		f.Keep(line.Raw)
	}
	if r.Torn {
		s.Options.Notice("turn " + claim.Turn + ": its last event was torn by a crash and is dropped")
	}
	for _, ev := range red.Interrupt(s.Options.Now()) {
		raw, err := ev.Append(nil)
		if err != nil {
			return nil, err
		}
		red.Add(ev)
		f.Keep(raw)
	}
	f.answer, f.calls = red.Message(), red.Calls
	f.finished, f.LastSeq = red.Last.Time, red.Last.Seq
	f.summaries = red.Summaries
	return f, nil
}

// Keep adds a line to the segments. A line that no value of the store could
// hold is cut into several.
func (f *Folding) Keep(raw []byte) {
	f.size += len(raw) + 1
	line := slices.Concat(raw, []byte{'\n'})
	for piece := range slices.Chunk(line, chat.LargestPiece) {
		n := len(f.Segments)
		if n == 0 || len(f.Segments[n-1])+len(piece) > segmentSize {
			f.Segments = append(f.Segments, nil)
			n++
		}
		f.Segments[n-1] = append(f.Segments[n-1], piece...)
	}
}

// byOrder sorts by acceptance.
func byOrder(a, b *Folding) int { return cmp.Compare(a.Accept.Order, b.Accept.Order) }

// added are the messages that the turn adds to its chat.
func (f *Folding) added() []chat.Message {
	if f.Accept.App != "" {
		return nil
	}
	out := slices.Clone(f.brought)
	if !f.Accept.Again {
		out = append(out, f.Accept.Question())
	}
	return append(out, f.answer)
}
