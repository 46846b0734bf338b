package machine

import (
	"fmt"
	"time"
)

// Clock is what the clock can be held against.
type Clock struct {
	Now time.Time
	// Built is when the program was made, and Written when it last wrote
	// something here; zero where that isn't known.
	Built, Written time.Time
}

const (
	// early is how much before the program was made a clock may be: builds
	// are dated by other machines' clocks.
	early = 24 * time.Hour
	// back is how much a clock may go back: corrections of that size are
	// ordinary.
	back = 5 * time.Minute
)

// Check tells whether the clock can be right. One that is days off has every
// certificate refused.
func (c Clock) Check() Result {
	r := Result{ID: "clock", Title: "clock", Status: OK, Detail: c.Now.Format("2006-01-02 15:04 -07:00")}
	switch {
	case !c.Built.IsZero() && c.Now.Before(c.Built.Add(-early)):
		r.Status = Error
		r.Detail += fmt.Sprintf(", before this fettle was made (%s)", c.Built.Format(time.DateOnly))
		r.Try("set the clock: addresses with https refuse a wrong one")
	case !c.Written.IsZero() && c.Now.Before(c.Written.Add(-back)):
		r.Status = Warning
		r.Detail += fmt.Sprintf(", before what fettle has written here (%s)", c.Written.Local().Format("2006-01-02 15:04"))
		r.Try("set the clock: days of the usage and times of chats go by it")
	}
	return r
}
