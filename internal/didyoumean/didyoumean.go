package didyoumean

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// longest is the longest name that is compared, in runes: the work grows with
// the square of it, and names may come from a stranger.
const longest = 200

// Of returns the name that is nearest to word, or "" if none is near enough to be
// suggested: at most a third of the longer of the two may differ. A difference in case
// counts half, since it is the likeliest slip. Among equals, the first wins.
func Of(word string, names []string) string {
	if near := Few(word, names, 1); len(near) > 0 {
		return near[0]
	}
	return ""
}

// Few returns up to limit names that are near enough to word, the nearest first.
func Few(word string, names []string, limit int) []string {
	type scored struct {
		name string
		cost int
	}
	var near []scored
	for _, name := range names {
		n := max(utf8.RuneCountInString(word), utf8.RuneCountInString(name))
		if n > longest || name == word {
			continue
		}
		if cost := distance(word, name); cost*3 <= n*unit {
			near = append(near, scored{name, cost})
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int { return a.cost - b.cost })
	few := make([]string, min(len(near), limit))
	for i := range few {
		few[i] = near[i].name
	}
	return few
}

// unit is the cost of one edit, so that a change of case can cost half.
const unit = 2

// distance is the optimal string alignment distance: insertions, deletions,
// substitutions, and swaps of neighbours.
func distance(a, b string) int {
	ra, rb := []rune(a), []rune(b)
	before, prev, cur := make([]int, len(rb)+1), make([]int, len(rb)+1), make([]int, len(rb)+1)
	for j := range prev {
		prev[j] = j * unit
	}
	for i := 1; i <= len(ra); i++ {
		cur[0] = i * unit
		for j := 1; j <= len(rb); j++ {
			cur[j] = min(prev[j]+unit, cur[j-1]+unit, prev[j-1]+change(ra[i-1], rb[j-1]))
			if i > 1 && j > 1 && ra[i-1] == rb[j-2] && ra[i-2] == rb[j-1] {
				cur[j] = min(cur[j], before[j-2]+unit)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(rb)]
}

func change(a, b rune) int {
	switch {
	case a == b:
		return 0
	case strings.EqualFold(string(a), string(b)):
		return unit / 2
	}
	return unit
}
