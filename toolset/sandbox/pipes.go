package sandbox

import (
	"errors"
	"os"
)

// direction is which way a pipe leads.
type direction bool

const (
	toChild   direction = false
	fromChild direction = true
)

// pipes are the child's ends, and ours, while a process is being started.
type pipes struct {
	theirs, ours []*os.File
	err          error
}

// make opens a pipe, keeps our end and gives the child's.
func (ps *pipes) make(keep **os.File, d direction) *os.File {
	r, w, err := os.Pipe()
	if err != nil {
		ps.err = errors.Join(ps.err, err)
		return nil
	}
	ours, theirs := w, r
	if d == fromChild {
		ours, theirs = r, w
	}
	*keep = ours
	ps.ours, ps.theirs = append(ps.ours, ours), append(ps.theirs, theirs)
	return theirs
}

func (ps *pipes) close(ours bool) {
	for _, f := range ps.theirs {
		f.Close()
	}
	if ours {
		for _, f := range ps.ours {
			f.Close()
		}
	}
}
