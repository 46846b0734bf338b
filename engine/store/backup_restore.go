package store

import (
	"slices"
	"time"
)

// RestoreMark is the journal of an exchange. While it is there, names are moved
// forward: what is in the stage goes to its place, and what was there to the old
// ones.
type RestoreMark struct {
	Version int       `json:"version"`
	Stage   string    `json:"stage"`
	Old     string    `json:"old"`
	Was     []string  `json:"was"` // names that are there, and those of the stage
	New     []string  `json:"new"`
	State   string    `json:"state,omitempty"`
	Begun   time.Time `json:"begun"`
}

const RestoreMarkVersion = 1

func union(a, b []string) []string {
	out := append([]string(nil), a...)
	for _, name := range b {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
