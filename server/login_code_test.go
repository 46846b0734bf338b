package server

import (
	"testing"
	"testing/synctest"
	"time"
)

// A code is good once, and for two minutes; the oldest gives way to a 17th.
func TestOpenings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := &openings{now: time.Now}
		first := o.issue()
		if o.spend("") || o.spend(first+"x") || !o.spend(first) || o.spend(first) {
			t.Error("a code is not good exactly once")
		}
		late := o.issue()
		time.Sleep(openTime)
		if o.spend(late) {
			t.Error("a code is good after its time")
		}
		oldest := o.issue()
		var last string
		for range maxOpenings {
			last = o.issue()
		}
		if o.spend(oldest) || !o.spend(last) {
			t.Error("the oldest of too many is kept, or the last is not")
		}
	})
}
