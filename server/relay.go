package server

import (
	"slices"
	"sync"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/server/dialect"
)

const (
	// relayEvents and relayBytes are how much of a live turn its followers share.
	// Who keeps up needs the last event alone; a hundred turns hold a megabyte or
	// two. Who is further behind reads what the engine has.
	relayEvents = 32
	relayBytes  = 32 << 10
)

// shared is an event as all followers of a turn have it.
type shared struct {
	event.Event
	size int // bytes of memory, as an estimate

	once sync.Once
	data []byte
}

// chat returns the part of the chat dialect's frame that does not differ between followers;
// nil if the event can't be encoded. The first call encodes it, and calls failed with an
// error. Several goroutines may call it.
func (e *shared) chat(failed func(error)) []byte {
	e.once.Do(func() {
		data, err := dialect.AppendChatData(make([]byte, 0, e.size), e.Event)
		if err != nil {
			failed(err)
			return
		}
		e.data = data
	})
	return e.data
}

// frameRoom is about what a frame has besides its text, in bytes.
const frameRoom = 128

// delta returns the length of a delta's text.
func delta(e event.Event) (n int, ok bool) {
	switch b := e.Body.(type) {
	case event.TextDelta:
		return len(b.Text), true
	case event.Reasoning:
		return len(b.Text) + len(b.Details), true
	}
	return 0, false
}

// relay holds the last events of one live turn, which its followers share. Each is encoded at
// most once. Deltas are encoded when the first follower of the chat dialect reads them: most
// turns have none. The goroutine that watches the turn fills it, and does not wait for
// followers.
type relay struct {
	mu     sync.Mutex
	window []*shared
	size   int // of the events in it, in bytes
	done   bool
	news   chan struct{} // closed and replaced when something comes
}

func newRelay() *relay { return &relay{news: make(chan struct{})} }

// show adds the turn's next events. err is why one of them can't be encoded.
func (l *relay) show(events []event.Event) (err error) {
	more := make([]shared, len(events))
	size := 0
	for i, e := range events {
		s := &more[i]
		s.Event = e
		if n, ok := delta(e); ok {
			s.size = n + frameRoom
		} else {
			s.size = len(s.chat(func(failed error) { err = failed }))
		}
		size += s.size
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range more {
		l.window = append(l.window, &more[i])
	}
	if l.size += size; len(l.window) > 2*relayEvents || l.size > 2*relayBytes {
		l.cut()
	}
	l.wake()
	return err
}

// cut keeps the last events, the very last one in any case. Followers may hold
// the old window, so what stays is copied. The caller has l.mu.
func (l *relay) cut() {
	from, size := len(l.window)-1, l.window[len(l.window)-1].size
	for from > 0 && len(l.window)-from < relayEvents && size+l.window[from-1].size <= relayBytes {
		from--
		size += l.window[from].size
	}
	l.window, l.size = slices.Clone(l.window[from:]), size
}

// wake tells followers to look again. The caller has l.mu.
func (l *relay) wake() {
	close(l.news)
	l.news = make(chan struct{})
}

// end says that nothing more comes.
func (l *relay) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = true
	l.wake()
}

// heard is what a follower learns of a relay.
type heard struct {
	events []*shared
	behind bool // the next event is no longer here
	done   bool
	news   <-chan struct{} // closed when there is more to learn
}

// after gives the events behind seq.
func (l *relay) after(seq event.Seq) heard {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := heard{done: l.done, news: l.news}
	if len(l.window) == 0 {
		return h
	}
	first := l.window[0].Seq
	if h.behind = seq+1 < first; h.behind {
		return h
	}
	from := min(int(seq+1-first), len(l.window))
	h.events = l.window[from:len(l.window):len(l.window)]
	return h
}

// has tells whether a follower that has seq can go on from here.
func (l *relay) has(seq event.Seq) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.window) == 0 || seq+1 >= l.window[0].Seq
}

// last is the last event that followers have seen.
func (l *relay) last() event.Seq {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.window) == 0 {
		return 0
	}
	return l.window[len(l.window)-1].Seq
}

// beat wakes all followers now and then, so that each sees whether its client has
// heard nothing for a while: one clock for all of them.
type beat struct {
	mu   sync.Mutex
	next chan struct{}
}

func newBeat() *beat { return &beat{next: make(chan struct{})} }

func (b *beat) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.next
}

func (b *beat) tick() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.next)
	b.next = make(chan struct{})
}
