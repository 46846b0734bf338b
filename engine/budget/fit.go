package budget

import "errors"

// ErrTooLarge says that a request doesn't fit whatever is left out: the system
// message, the tools, the question and the last steps are too much.
var ErrTooLarge = errors.New("the request doesn't fit the model's context")

// Role says whose message a Size is of.
type Role int

// The roles. Results of tools are Tool messages here, also where the request
// tells them in words as the person's.
const (
	User Role = iota
	Assistant
	Tool
)

// Size is what Fit knows of one message.
type Size struct {
	Role Role
	// Tokens is all of the message, its results among it.
	Tokens int
	// Results are the tokens of each tool result of a Tool message.
	Results []int
	// Summary tells that the message stands for others: it is none of the
	// person's, and is summed up again with what follows it.
	Summary bool
}

// Request is what Fit knows of a request.
type Request struct {
	// Fixed is what goes with every request: system message, tools, schema.
	Fixed    int
	Messages []Size
}

// Total is the tokens of the request as it is.
func (r Request) Total() int {
	n := max(r.Fixed, 0)
	for _, m := range r.Messages {
		n += max(m.Tokens, 0)
	}
	return n
}

// Policy is what a fit has to keep to. All numbers are tokens.
type Policy struct {
	// Limit is the context's length; Reserve is left free of it.
	Limit, Reserve int
	// Goal is the part of the room, in percent, that a request that didn't fit
	// is brought down to; 0 is 70.
	Goal int
	// KeepSteps is how many of the last steps are the tail; 0 is 2.
	KeepSteps int
	// Summary is what a summary may take; 0 is 800.
	Summary int
	// LeftOut is what the line takes that stands for a result; 0 is 40.
	LeftOut int
	// MaxResult is what one result of the tail may take once the request
	// doesn't fit, whatever else gives way; 0 bounds none.
	MaxResult int
	// MinResult is the least that a result of the tail is cut to; 0 is 200.
	MinResult int
}

// PolicyFor is a Policy for a context of limit tokens, of which maxAnswer may
// be wanted for the answer; 0 is unknown.
func PolicyFor(limit, maxAnswer int) Policy {
	reserve := min(max(limit/8, 256), 8192)
	if maxAnswer > 0 {
		reserve = min(maxAnswer, limit/2)
	}
	return Policy{
		Limit: limit, Reserve: reserve, MaxResult: max((limit-reserve)/2, 200),
		Summary: min(max(limit/10, 200), 1200),
	}
}

func (p Policy) withDefaults() Policy {
	set := func(n *int, low, value int) {
		if *n < low {
			*n = value
		}
	}
	set(&p.Goal, 1, 70)
	p.Goal = min(p.Goal, 100)
	set(&p.KeepSteps, 1, 2)
	set(&p.Summary, 1, 800)
	set(&p.LeftOut, 1, 40)
	set(&p.MinResult, 1, 200)
	p.MinResult = max(p.MinResult, p.LeftOut)
	if p.MaxResult > 0 {
		p.MaxResult = max(p.MaxResult, p.MinResult)
	}
	return p
}

// Range is the messages From to To, without To.
type Range struct{ From, To int }

func (r Range) holds(i int) bool { return r.From <= i && i < r.To }

// Trim is a result that gives way.
type Trim struct {
	Message, Result int // places in Request.Messages and Size.Results
	// Keep is the tokens that stay of it ([Shorten]); 0 is a line in its place
	// ([LeftOut]).
	Keep int
}

// Plan is what to do to a request. The zero Plan is nothing.
type Plan struct {
	// Trims are in the order of the messages; none is within Replace.
	Trims []Trim
	// Replace are the messages that a summary each stands for: what was before
	// the question, then what was done since. Both are whole turns or steps.
	Replace []Range
	// Tokens is what the request has then, if each summary keeps to
	// Policy.Summary.
	Tokens int
}

// Empty tells whether the request can go as it is.
func (p Plan) Empty() bool { return len(p.Trims)+len(p.Replace) == 0 }

// Fit decides what gives way so that the request fits. With ErrTooLarge the
// Plan says how far it could be brought down. It is a pure function; sizes
// below zero count as nothing.
func Fit(r Request, p Policy) (Plan, error) {
	p = p.withDefaults()
	room := max(p.Limit-p.Reserve, 0)
	if total := r.Total(); total <= room {
		return Plan{Tokens: total}, nil
	}
	f := newFitter(r, p)
	goal := int(int64(room) * int64(p.Goal) / 100)
	f.capTail()
	for _, giveWay := range []func(goal int){f.trimOld, f.sumUpBefore, f.sumUpSince} {
		if f.total <= room {
			break
		}
		giveWay(goal)
	}
	if f.total > room {
		f.cutTail(room)
	}
	plan := f.plan()
	if f.total > room {
		return plan, ErrTooLarge
	}
	return plan, nil
}
