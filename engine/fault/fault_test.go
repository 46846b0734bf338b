package fault

import (
	"errors"
	"fmt"
	"testing"
)

func TestEveryCodeHasItsPlaces(t *testing.T) {
	t.Parallel()
	seen := map[Code]bool{}
	last := 0
	for _, c := range Codes() {
		if seen[c] {
			t.Errorf("%s is listed twice", c)
		}
		seen[c] = true
		if c.Exit() == 0 || c.Status() < 400 || c.Meaning() == "" {
			t.Errorf("%s: exit %d, status %d, meaning %q", c, c.Exit(), c.Status(), c.Meaning())
		}
		if c.Exit() < last {
			t.Errorf("%s is out of order", c)
		}
		last = c.Exit()
	}
	if Code("later").Exit() != 1 {
		t.Error("an unknown kind doesn't exit 1")
	}
}

// The statuses that scripts rely on.
func TestExitStatuses(t *testing.T) {
	t.Parallel()
	for code, want := range map[Code]int{
		Failed: 1, Usage: 2, Config: 3, Unavailable: 4, Unauthorised: 5, Overloaded: 6, Context: 7,
		Approval: 8, TurnLimit: 9, NoProgress: 9, Store: 10, NoAnswer: 11, Timeout: 124, Interrupted: 130,
	} {
		if got := code.Exit(); got != want {
			t.Errorf("%s exits %d, want %d", code, got, want)
		}
	}
}

// A list of a million things is told by its first, and how many there are.
func TestALongListIsCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		total, lines int
		last         string
	}{{0, 0, ""}, {1, 1, "thing 0"}, {20, 20, "thing 19"}, {21, 21, "and 1 more"}, {1000000, 21, "and 999980 more"}} {
		f := New(Failed, "x")
		f.List(c.total, func(i int) string { return fmt.Sprintf("thing %d", i) })
		last := ""
		if len(f.Detail) > 0 {
			last = f.Detail[len(f.Detail)-1]
		}
		if f.Total != c.total || len(f.Detail) != c.lines || last != c.last {
			t.Errorf("of %d: total %d, %d lines, the last is %q", c.total, f.Total, len(f.Detail), last)
		}
	}
}

func TestWrapKeepsTheFirstKind(t *testing.T) {
	t.Parallel()
	cause := errors.New("disk\nis full")
	f := Wrap(Store, "keep the turn", cause, Advise("hint"))
	if f.Error() != "keep the turn: disk is full" || !errors.Is(f, cause) || f.Remedies[0].Text != "hint" {
		t.Errorf("got %+v", f)
	}
	again := Wrap(Failed, "ask", fmt.Errorf("outer: %w", f))
	if again != f || CodeOf(again) != Store {
		t.Errorf("a fault was wrapped into %+v", again)
	}
	if CodeOf(cause) != Failed {
		t.Error("a plain error has another kind than failed")
	}
}
