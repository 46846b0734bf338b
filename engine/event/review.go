package event

// Review lists the changes that a call made, apart from the workspace.
type Review struct {
	// Files are the changes: first all removals, then the others. More counts changes that
	// are not listed; no removal is among them. They are applied only with all others.
	Files []ReviewedFile `json:"files"`
	More  int            `json:"more,omitempty"`
	// Conflicts are changes that no answer applies, since another program or the user has
	// changed the same while the call ran.
	Conflicts []Conflict `json:"conflicts,omitempty"`
	// Output is what the call printed, cut to a length that can be shown.
	Output string `json:"output,omitempty"`
}

// Empty reports whether there is nothing to decide.
func (r *Review) Empty() bool { return len(r.Files) == 0 }

// Count returns the number of changes, listed or not.
func (r *Review) Count() int { return len(r.Files) + r.More }

// Groups returns the listed changes; those that are applied together or not at all are in one
// group.
func (r *Review) Groups() (groups [][]ReviewedFile) {
	at := make(map[string]int)
	for _, f := range r.Files {
		i, ok := at[f.Group]
		if f.Group == "" || !ok {
			i = len(groups)
			groups = append(groups, nil)
		}
		if f.Group != "" {
			at[f.Group] = i
		}
		groups[i] = append(groups[i], f)
	}
	return groups
}

// ReviewedFile is one change of a [Review].
type ReviewedFile struct {
	Path string `json:"path"`
	Kind string `json:"kind"` // added, modified, removed
	// Group is set for changes that are applied together or not at all: those with the same
	// group, which is the path of one of them.
	Group string `json:"group,omitempty"`
	// Diff is a unified diff of a text, from its first hunk on. It is empty where lines were
	// not compared; Note then says why.
	Diff string `json:"diff,omitempty"`
	Note string `json:"note,omitempty"`
	// Added and Removed count lines of the whole difference.
	Added   int `json:"added,omitempty"`
	Removed int `json:"removed,omitempty"`
}
