package server

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server/asking"
)

// liveTurns are the turns that were begun here and have not ended: by chat, and
// with the approvals that they wait for.
type liveTurns struct {
	mu      sync.Mutex
	turns   map[store.TurnID]*liveTurn
	byChat  map[string]store.TurnID
	numbers map[int64]store.TurnID
	started int     // being started, so that the bound holds
	old     []ended // the last ones with questions, the oldest first
	// makeAsks makes the questions of a turn that begins.
	makeAsks func(store.TurnID) *asking.Questions
	// gone is closed and replaced when one ends.
	gone chan struct{}
}

// liveTurn is one of them.
type liveTurn struct {
	id   store.TurnID
	chat chat.Chat
	asks *asking.Questions
	news *relay
	// pauses is set where the client that began it answers approvals by another
	// request.
	pauses bool
}

// maxOldApprovals bounds how many approvals of ended turns are remembered, for
// answers that come late.
const maxOldApprovals = 256

// ended are the approvals of a turn that has ended.
type ended struct {
	turn store.TurnID
	asks *asking.Questions
	n    int
}

func newLiveTurns(questions func(store.TurnID) *asking.Questions) *liveTurns {
	return &liveTurns{
		turns: map[store.TurnID]*liveTurn{}, byChat: map[string]store.TurnID{}, numbers: map[int64]store.TurnID{},
		gone: make(chan struct{}), makeAsks: questions,
	}
}

// reserve takes a place for a turn that is about to start.
func (l *liveTurns) reserve() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.turns)+l.started >= maxTurns {
		return false
	}
	l.started++
	return true
}

// add takes the place for a turn, or gives it back where id is empty.
func (l *liveTurns) add(id store.TurnID, chat chat.Chat) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.started--
	if id == "" {
		l.wake()
		return
	}
	l.turns[id] = &liveTurn{id: id, chat: chat, asks: l.makeAsks(id), news: newRelay()}
	l.byChat[chat.ID] = id
	if chat.Number != 0 {
		l.numbers[chat.Number] = id
	}
}

// own marks a turn as a command's, at whose terminal a user is asked for as long as they
// take.
func (l *liveTurns) own(id store.TurnID) {
	if t := l.turn(id); t != nil {
		t.asks.Patient()
	}
}

// has tells whether a turn lives, and news is closed when one has ended.
func (l *liveTurns) has(id store.TurnID) (live bool, news <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.turns[id] != nil, l.gone
}

func (l *liveTurns) remove(id store.TurnID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.turns[id]
	if t == nil {
		return
	}
	delete(l.turns, id)
	if l.byChat[t.chat.ID] == id { // the chat's next one may be there already
		delete(l.byChat, t.chat.ID)
	}
	if l.numbers[t.chat.Number] == id {
		delete(l.numbers, t.chat.Number)
	}
	l.remember(ended{id, t.asks, t.asks.End()})
	l.wake()
}

// remember keeps the questions of a turn that has ended, and drops older ones. The
// caller has l.mu.
func (l *liveTurns) remember(e ended) {
	if e.n == 0 {
		return
	}
	l.old = append(l.old, e)
	n := 0
	for i, e := range slices.Backward(l.old) {
		if n += e.n; n > maxOldApprovals && i < len(l.old)-1 {
			l.old = slices.Clone(l.old[i+1:])
			return
		}
	}
}

// questions returns the questions of a turn, also of one that has ended; nil for none.
func (l *liveTurns) questions(id store.TurnID) *asking.Questions {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.turns[id]; t != nil {
		return t.asks
	}
	for _, e := range l.old {
		if e.turn == id {
			return e.asks
		}
	}
	return nil
}

// wake tells who waits for turns to end. The caller has l.mu.
func (l *liveTurns) wake() {
	close(l.gone)
	l.gone = make(chan struct{})
}

// of gives the live turn of a chat.
func (l *liveTurns) of(ref store.ChatRef) (store.TurnID, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id, ok := l.byChat[ref.ID]
	if ref.Number != 0 {
		id, ok = l.numbers[ref.Number]
	}
	return id, ok
}

// turn gives a live turn; nil for one that has ended.
func (l *liveTurns) turn(id store.TurnID) *liveTurn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.turns[id]
}

// first gives a chat that has no more than a live turn begun here, where err is that
// of asking the engine for it: such a chat appears in the store with its first answer.
func (l *liveTurns) first(ref store.ChatRef, err error) (chat chat.Chat, id store.TurnID, ok bool) {
	if fault.CodeOf(err) != fault.Busy {
		return chat, "", false
	}
	if id, ok = l.of(ref); !ok {
		return chat, "", false
	}
	t := l.turn(id)
	if t == nil { // it has just ended
		return chat, "", false
	}
	return t.chat, id, true
}

// firsts are the turns that begin a chat that is kept, the latest first.
func (l *liveTurns) firsts() []*liveTurn {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []*liveTurn
	for _, t := range l.turns {
		if t.chat.Number != 0 && t.chat.Messages == 0 {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b *liveTurn) int { return strings.Compare(string(b.id), string(a.id)) })
	return out
}

// relay is where followers of a live turn hear of it; nil for one that has ended.
func (l *liveTurns) relay(id store.TurnID) *relay {
	if t := l.turn(id); t != nil {
		return t.news
	}
	return nil
}

// all are the ids of the live turns, and news is closed when one has ended.
func (l *liveTurns) all() (ids []store.TurnID, starting int, news <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.turns {
		ids = append(ids, id)
	}
	return ids, l.started, l.gone
}

// start begins a turn and looks after it to its end.
func (s *Server) start(ctx context.Context, req engine.TurnRequest) (store.TurnID, chat.Chat, error) {
	return s.startBy(ctx, func(ctx context.Context, onWait func(string)) (store.TurnID, error) {
		req.OnWait = onWait
		return s.eng.Start(ctx, req)
	})
}

// startBy is start for what begins a turn by another way. begin may begin none,
// and gives an empty id then. It has onWait told of what it has to wait for.
func (s *Server) startBy(
	ctx context.Context, begin func(ctx context.Context, onWait func(string)) (store.TurnID, error),
) (store.TurnID, chat.Chat, error) {
	if s.draining.Load() {
		return "", chat.Chat{}, errDraining
	}
	if !s.live.reserve() {
		return "", chat.Chat{}, slowDown("there are as many turns as may run at once")
	}
	var id store.TurnID
	err := atOnce(ctx, func(ctx context.Context, onWait func(string)) (err error) {
		id, err = begin(ctx, onWait)
		return err
	})
	if err != nil || id == "" {
		s.live.add("", chat.Chat{})
		return "", chat.Chat{}, err
	}
	chat, _ := s.eng.TurnChat(id)
	s.live.add(id, chat)
	s.count.turnsBegun.Add(1)
	s.watching.Add(1)
	go s.watch(id)
	return id, chat, nil
}

var errDraining = &refusal{status: 503, code: "draining", msg: "fettle is about to end and begins nothing more", retry: 5 * time.Second}

// watch follows a turn for the server itself and for all who follow it here:
// approvals run out, and counters hear of its end. It ends with the turn, which the engine ends at the latest
// when it is closed.
func (s *Server) watch(id store.TurnID) {
	defer s.watching.Done()
	defer s.live.remove(id)
	news, asks, began := s.live.relay(id), s.live.questions(id), s.now()
	defer news.end()
	var batch []event.Event
	for e, err := range s.eng.Follow(context.Background(), id, 0) {
		if err != nil {
			s.log.Error("a turn can't be followed", "turn", string(id), "error", clean(err.Error()))
			return
		}
		switch b := e.Body.(type) {
		case event.ConfirmRequest:
			s.ask(id, e.Seq, b)
		case event.ConfirmResult:
			asks.Settled(b)
		case event.ToolComplete:
			s.count.call(b)
		}
		if e.Ends() {
			s.count.turn(e, s.now().Sub(began))
			s.log.Info("turn ended", "turn", string(id), "end", string(e.Type()), "events", int64(e.Seq))
		}
		if batch = append(batch, e); e.More && len(batch) < relayEvents {
			continue
		}
		if err := news.show(batch); err != nil {
			s.unencoded(id, err)
		}
		batch = batch[:0]
	}
}

// waitTurns waits for all live turns to end, for a time at most, and tells how
// many have not.
func (s *Server) waitTurns(most time.Duration) int {
	limit := time.NewTimer(most)
	defer limit.Stop()
	for {
		ids, starting, news := s.live.all()
		if len(ids)+starting == 0 {
			return 0
		}
		select {
		case <-news:
		case <-limit.C:
			return len(ids) + starting
		}
	}
}
