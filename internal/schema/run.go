package schema

import (
	"fmt"
	"time"
)

// run counts what one check costs. It is used by one goroutine at a time.
type run struct {
	steps    int
	deadline time.Time
	// maxSteps and maxTime replace the constants where they are set.
	maxSteps int
	maxTime  time.Duration
}

// stopped is the panic by which a check ends early; the library has no other
// way out. Schema.check recovers it.
type stopped string

func (r *run) begin() {
	if r.maxSteps == 0 {
		r.maxSteps = maxSteps
	}
	if r.maxTime == 0 {
		r.maxTime = maxCheckTime
	}
	r.steps = 0
	r.deadline = time.Now().Add(r.maxTime)
}

func (r *run) stop(why string) { panic(stopped(why)) }

// clockEvery is how many steps pass between looks at the clock; a look costs a
// tenth of a step.
const clockEvery = 16

// step counts one subschema or pattern met by one value.
func (r *run) step() {
	r.steps++
	if r.steps > r.maxSteps {
		r.stop(fmt.Sprintf("the schema asks for more than %d steps on it", r.maxSteps))
	}
	if r.steps%clockEvery == 0 {
		r.look()
	}
}

// look stops a check that has taken too long.
func (r *run) look() {
	if time.Now().After(r.deadline) {
		r.stop("it takes longer than " + r.maxTime.String())
	}
}
