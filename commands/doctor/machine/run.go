package machine

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Status says how well something is.
type Status string

// The statuses. A warning is worth a look and stops nothing; with an error
// something can't work.
const (
	OK      Status = "ok"
	Warning Status = "warning"
	Error   Status = "error"
)

// Result is what was found of one thing.
type Result struct {
	ID     string `json:"id"` // the same in every version: "python", "provider.openai"
	Title  string `json:"title"`
	Status Status `json:"status"`
	// Detail says what was found, on one line; More are further lines.
	Detail string   `json:"detail"`
	More   []string `json:"more,omitempty"`
	// Hints are ways to do something about it, the best first.
	Hints []string `json:"hints,omitempty"`
}

// Try adds what to do; what is empty or there already adds nothing.
func (r *Result) Try(hints ...string) {
	for _, hint := range hints {
		if hint != "" && !slices.Contains(r.Hints, hint) {
			r.Hints = append(r.Hints, hint)
		}
	}
}

// Worst is the worst status of results.
func Worst(results []Result) Status {
	worst := OK
	for _, r := range results {
		switch {
		case r.Status == Error:
			return Error
		case r.Status == Warning:
			worst = Warning
		}
	}
	return worst
}

// Check looks at something.
type Check struct {
	// ID and Title are for the result where the check ran out of time.
	ID, Title string
	// Limit bounds Look; 0 is [Limit].
	Limit time.Duration
	// Look gives what was found. It returns soon after ctx has ended.
	Look func(ctx context.Context) []Result
}

const (
	// Limit is what a check may take: what asks this machine alone answers in
	// milliseconds, and a person waits for all of them.
	Limit = 5 * time.Second
	// grace is what a check may take to notice that its time is over.
	grace = 500 * time.Millisecond
)

// Run makes all checks side by side and gives their results in the order of
// the checks.
func Run(ctx context.Context, checks []Check) []Result {
	found := make([]chan []Result, len(checks))
	for i, c := range checks {
		found[i] = make(chan []Result, 1)
		go func() {
			limited, cancel := context.WithTimeout(ctx, c.limit())
			defer cancel()
			found[i] <- c.Look(limited)
		}()
	}
	begun := time.Now()
	var out []Result
	for i, c := range checks {
		out = append(out, c.await(found[i], begun)...)
	}
	return out
}

func (c Check) limit() time.Duration {
	if c.Limit > 0 {
		return c.Limit
	}
	return Limit
}

func (c Check) await(found <-chan []Result, begun time.Time) []Result {
	timer := time.NewTimer(time.Until(begun.Add(c.limit() + grace)))
	defer timer.Stop()
	select {
	case results := <-found:
		return results
	case <-timer.C:
	}
	select {
	case results := <-found: // both were ready
		return results
	default:
	}
	return []Result{{
		ID: c.ID, Title: c.Title, Status: Error,
		Detail: fmt.Sprintf("no answer within %s", c.limit()),
	}}
}
