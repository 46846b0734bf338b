package budget

import "errors"

// ErrCannotShrink says that another round of making a request smaller would
// not help: the last one didn't, or there were too many.
var ErrCannotShrink = errors.New("the conversation can't be made to fit: summing it up no longer makes it smaller")

const (
	// maxRounds is how often a request is made smaller before it is sent; each
	// can cost a call of the model. Estimates are right after one or two.
	maxRounds = 6
	// leastShrink is what a round has to save, as a part of the request, for
	// another one to be worth it.
	leastShrink = 50 // one fiftieth
)

// Guard watches the rounds between two responses of the model. The zero Guard
// has seen none.
type Guard struct {
	rounds int
	last   int
}

// Round takes the tokens of the request that a round has come to. It is called
// with the request as it is first, then after each plan that was carried out,
// and fails where the last one made it hardly smaller.
func (g *Guard) Round(tokens int) error {
	g.rounds++
	if g.rounds > 1 && (g.rounds > maxRounds+1 || tokens > g.last-max(g.last/leastShrink, 1)) {
		return ErrCannotShrink
	}
	g.last = tokens
	return nil
}

// Answered forgets the rounds: the model took the request.
func (g *Guard) Answered() { *g = Guard{} }
