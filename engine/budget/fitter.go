package budget

import "sort"

// fitter takes away more and more from a request, always in the same order.
// How far it goes is all that a limit decides; so a lower one takes away what
// a higher one does.
type fitter struct {
	p        Policy
	messages []Size
	total    int
	question Range // the person's last message, with the files before it
	tail     int   // where the last steps begin
	// results are what each result has now; a copy.
	results [][]int
	trimmed map[[2]int]int // message and result → what is kept
	replace []Range
}

func newFitter(r Request, p Policy) *fitter {
	f := &fitter{p: p, total: max(r.Fixed, 0), trimmed: map[[2]int]int{}}
	f.messages = make([]Size, len(r.Messages))
	f.results = make([][]int, len(r.Messages))
	for i, m := range r.Messages {
		m.Tokens = max(m.Tokens, 0)
		f.messages[i] = m
		f.total += m.Tokens
		f.results[i] = make([]int, len(m.Results))
		left := m.Tokens // results can't be more than their message
		for j, n := range m.Results {
			f.results[i][j] = min(max(n, 0), left)
			left -= f.results[i][j]
		}
	}
	f.question = lastQuestion(f.messages)
	f.tail = tailOf(f.messages, p.KeepSteps)
	return f
}

// lastQuestion is the last run of the person's messages; empty, at the
// beginning, where there is none.
func lastQuestion(all []Size) Range {
	asked := func(i int) bool { return all[i].Role == User && !all[i].Summary }
	to := len(all)
	for to > 0 && !asked(to-1) {
		to--
	}
	from := to
	for from > 0 && asked(from-1) {
		from--
	}
	return Range{from, to}
}

// tailOf is where the last n steps begin.
func tailOf(all []Size, n int) int {
	at := len(all)
	for i := len(all) - 1; i >= 0 && n > 0; i-- {
		if all[i].Role == Assistant {
			at = i
			n--
		}
	}
	if n > 0 {
		return 0 // there aren't as many
	}
	return at
}

// keep leaves n tokens of a result.
func (f *fitter) keep(i, j, n, noted int) {
	f.total -= f.results[i][j] - n
	f.messages[i].Tokens -= f.results[i][j] - n
	f.results[i][j] = n
	f.trimmed[[2]int{i, j}] = noted
}

// capTail cuts results of the tail that would be too much by themselves.
func (f *fitter) capTail() {
	if f.p.MaxResult == 0 {
		return
	}
	f.cutTo(f.p.MaxResult)
}

// trimOld puts a line in the place of results before the tail.
func (f *fitter) trimOld(goal int) {
	for i := range f.tail {
		for j, n := range f.results[i] {
			if f.total <= goal {
				return
			}
			if n > 2*f.p.LeftOut { // else it is hardly worth it
				f.keep(i, j, f.p.LeftOut, 0)
			}
		}
	}
}

// sumUpBefore puts a summary in the place of the oldest turns.
func (f *fitter) sumUpBefore(goal int) {
	f.sumUp(0, f.question.From, goal, func(i int) bool {
		return i == f.question.From || f.messages[i].Role == User && f.messages[i-1].Role != User
	})
}

// sumUpSince puts one in the place of the oldest steps after the question.
func (f *fitter) sumUpSince(goal int) {
	f.sumUp(f.question.To, max(f.tail, f.question.To), goal, func(i int) bool {
		return f.messages[i].Role == Assistant
	})
}

// sumUp replaces messages from one place on up to the first at which the goal
// is met, else as many as it may. A range that isn't larger than its summary
// stays.
func (f *fitter) sumUp(from, most, goal int, begins func(i int) bool) {
	size, best, saved := 0, from, 0
	for i := from; i < most; i++ {
		size += f.messages[i].Tokens
		if i+1 < len(f.messages) && !begins(i+1) || size <= f.p.Summary {
			continue
		}
		best, saved = i+1, size-f.p.Summary
		if f.total-saved <= goal {
			break
		}
	}
	if best > from {
		f.replace = append(f.replace, Range{from, best})
		f.total -= saved
	}
}

// cutTail cuts the largest results that are left to the length at which the
// request fits.
func (f *fitter) cutTail(room int) {
	longest := 0
	f.each(func(_, _, n int) { longest = max(longest, n) })
	if longest <= f.p.MinResult {
		return
	}
	// The first length, going down, at which it fits.
	down := sort.Search(longest-f.p.MinResult, func(d int) bool {
		total := f.total
		f.each(func(_, _, n int) { total -= max(n-(longest-d), 0) })
		return total <= room
	})
	f.cutTo(longest - down)
}

// cutTo cuts all results of the tail that are longer.
func (f *fitter) cutTo(n int) {
	f.each(func(i, j, has int) {
		if has > n {
			f.keep(i, j, n, n)
		}
	})
}

// each calls with the results of the tail that no summary stands for.
func (f *fitter) each(do func(i, j, n int)) {
	for i := f.tail; i < len(f.messages); i++ {
		if f.replaced(i) {
			continue
		}
		for j, n := range f.results[i] {
			do(i, j, n)
		}
	}
}

func (f *fitter) replaced(i int) bool {
	for _, r := range f.replace {
		if r.holds(i) {
			return true
		}
	}
	return false
}

func (f *fitter) plan() Plan {
	plan := Plan{Replace: f.replace, Tokens: f.total}
	for i := range f.messages {
		if f.replaced(i) {
			continue
		}
		for j := range f.results[i] {
			if kept, ok := f.trimmed[[2]int{i, j}]; ok {
				plan.Trims = append(plan.Trims, Trim{Message: i, Result: j, Keep: kept})
			}
		}
	}
	return plan
}
