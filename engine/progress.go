package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

const (
	// DefaultMaxRepeats is how often a turn that names no bound may see the same
	// calls with the same results in a row. A model that waits for something
	// looks a few times; one that goes round looks for ever.
	DefaultMaxRepeats = 5
	// DefaultMaxFailures is how many calls in a row may fail in one that names
	// none: models mend a wrong argument in two or three.
	DefaultMaxFailures = 12
	// longestRound is how many responses a round may have that is looked for.
	longestRound = 3
)

// progress watches a turn's calls for signs that the model gets nowhere. The
// step limit ends what it doesn't see.
type progress struct {
	seen     int        // calls that it has looked at
	rounds   [][32]byte // what each response called and got
	failures int        // calls that failed, since one that didn't
	denied   int        // those of them that needed an approval that nobody could give
	before   int        // how many the turn had denied so, when it last looked
}

// look takes the calls of a response that have ended since the last look, and
// gives the fault that ends the turn where they lead nowhere. denied is how many
// of the turn's calls nobody could approve.
func (p *progress) look(calls []chat.ToolCall, req *TurnRequest, denied int) error {
	fresh := calls[p.seen:]
	p.seen = len(calls)
	if len(fresh) == 0 {
		return nil
	}
	p.denied, p.before = p.denied+denied-p.before, denied
	h := sha256.New()
	for _, c := range fresh {
		if c.Status == event.CallError {
			p.failures++
		} else {
			p.failures, p.denied = 0, 0
		}
		for _, field := range [][]byte{[]byte(c.ToolID), compactArgs(c.Args), c.Result} {
			fmt.Fprintf(h, "%d:%s", len(field), field)
		}
	}
	p.rounds = append(p.rounds, [32]byte(h.Sum(nil)))
	last := fresh[len(fresh)-1]
	if most := orDefault(req.MaxRepeats, DefaultMaxRepeats); p.repeats(most) {
		if p.failures >= most && p.failures == p.denied {
			return p.unapproved(last)
		}
		return fault.New(fault.NoProgress, fmt.Sprintf("the model called %s %d times in a row with the same result",
			last.ToolID, most), fault.Try(fault.Rephrase))
	}
	if most := orDefault(req.MaxFailures, DefaultMaxFailures); p.failures >= most {
		if p.failures == p.denied {
			return p.unapproved(last)
		}
		f := fault.New(fault.NoProgress, fmt.Sprintf("%d calls in a row failed, the last one of %s", p.failures, last.ToolID),
			fault.Try(fault.TryTool, last.ToolID).That("shows what it says"))
		if last.Error != "" {
			f.Detail = []string{sanitize.Shorten(sanitize.Line(last.Error), 200)}
		}
		return f
	}
	return nil
}

// unapproved is the end where all that failed was in want of an approval: the
// model can't do better, and who asked can.
func (p *progress) unapproved(last chat.ToolCall) error {
	return fault.New(fault.Approval, fmt.Sprintf("%s in a row needed an approval that nobody could give, the last one of %s", fault.Plural(p.denied, "call"), last.ToolID),
		fault.Try(fault.AllowTool, last.ToolID))
}

// repeats tells whether the responses have been the same so often, or have gone
// round in a short circle.
func (p *progress) repeats(most int) bool {
	for length := 1; length <= longestRound; length++ {
		n := length * most
		if len(p.rounds) < n {
			return false
		}
		end := p.rounds[len(p.rounds)-n:]
		same := true
		for i := length; i < n && same; i++ {
			same = end[i] == end[i-length]
		}
		if same {
			return true
		}
	}
	return false
}

// compactArgs are arguments without what makes no difference.
func compactArgs(args json.RawMessage) []byte {
	var v any
	if json.Unmarshal(args, &v) == nil {
		if out, err := json.Marshal(v); err == nil { // keys in order
			return out
		}
	}
	return bytes.TrimSpace(args)
}

func orDefault(n, value int) int {
	if n > 0 {
		return n
	}
	return value
}
