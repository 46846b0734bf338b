package cas

// groupsOf returns a number for each item: items with the same one land together. These are
// the items of a unit, the names of one file, and what is below a path that states leave out.
func groupsOf(items []item) []int {
	group := make([]int, len(items)) // the index of an earlier item of the group, or its own
	first := func(i int) int {
		for group[i] != i {
			group[i] = group[group[i]]
			i = group[i]
		}
		return i
	}
	units, omitted, files := make(map[string]int), make(map[string]int), make(map[*node]int)
	for i, it := range items {
		group[i] = i
		joinGroup(group, first, units, it.unit, i)
		joinGroup(group, first, omitted, it.n.omittedBy, i)
		joinGroup(group, first, files, it.n.twin, i)
	}
	for i := range group {
		group[i] = first(i)
	}
	return group
}

// joinGroup joins item i with the items that have the same key. The zero key is none.
func joinGroup[K comparable](group []int, first func(int) int, seen map[K]int, key K, i int) {
	var none K
	if key == none {
		return
	}
	other, ok := seen[key]
	if !ok {
		seen[key] = i
		return
	}
	a, b := first(i), first(other)
	group[max(a, b)] = min(a, b)
}

// Together returns the changes that land only with others: for each path, a path that stands
// for its group. Folders that the call replaced as a whole, changes of a path's type, and the
// names of one file are such groups.
func (p *LandingPlan) Together() map[string]string {
	groups := groupsOf(p.items)
	size := make(map[int]int)
	for i, it := range p.items {
		if it.n.omittedBy == "" {
			size[groups[i]]++
		}
	}
	out := make(map[string]string)
	for i, it := range p.items {
		if it.n.omittedBy == "" && size[groups[i]] > 1 {
			out[it.c.Path] = p.items[groups[i]].c.Path
		}
	}
	return out
}
