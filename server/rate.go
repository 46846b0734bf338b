package server

import (
	"sync"
	"time"
)

// The rates. They are there for what goes astray; people and pages don't come
// near them. A thousand pages that reconnect at once are let in.
const (
	requestsAtOnce, requestsPerSecond = 4000, 1000
	wrongAtOnce, wrongPerSecond       = 20, 2
	// maxTurns bounds the turns that live at once: each holds a chat, a journal
	// and a connection to a model.
	maxTurns = 256
)

// bucket lets a number of things happen at once, and then so many a second.
type bucket struct {
	mu    sync.Mutex
	most  float64
	rate  float64 // a second
	there float64
	at    time.Time
	now   func() time.Time
}

func newBucket(most, rate float64, now func() time.Time) *bucket {
	return &bucket{most: most, rate: rate, there: most, at: now(), now: now}
}

// take tells whether one more may happen now.
func (b *bucket) take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if past := now.Sub(b.at).Seconds(); past > 0 {
		b.there = min(b.most, b.there+past*b.rate)
	}
	b.at = now
	if b.there < 1 {
		return false
	}
	b.there--
	return true
}
