package server

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// A conflict of many files is answered with the first of them, and how many there are.
func TestAConflictIsAnsweredInBounds(t *testing.T) {
	t.Parallel()
	f := fault.New(fault.Failed, "30 files can't be brought back as they were; nothing was changed")
	f.Err = new(cas.ConflictError)
	f.List(30, func(i int) string { return fmt.Sprintf("f%d", i) })
	status, body := explain(f)
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Detail []string
		Total  int `json:"detail_total"`
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if status != 409 || got.Total != 30 || len(got.Detail) != fault.Listed+1 || got.Detail[fault.Listed] != "and 10 more" {
		t.Errorf("status %d, %s", status, text)
	}
}

// What was done and can't be told is answered as done, with a warning.
func TestWhatCannotBeToldIsAWarning(t *testing.T) {
	t.Parallel()
	done := &workspace.Restored{
		Before: &cas.Manifest{ID: "A"}, After: &cas.Manifest{ID: "B"},
		Untold: fault.New(fault.Store, "tell what was changed: the store is damaged"),
	}
	got := toRestored(done)
	if got.Before != "A" || got.After != "B" || len(got.Changes) != 0 || got.Warning != "it is done, but not told: tell what was changed: the store is damaged" {
		t.Errorf("%+v", got)
	}
}

// The answer to a restore has all that it did, within the bounds of every listing: of
// more it says that there is more.
func TestARestoreIsAnsweredInBounds(t *testing.T) {
	t.Parallel()
	for n, more := range map[int]bool{maxListed: false, maxListed + 1: true} {
		got := toRestored(&workspace.Restored{Changes: make([]cas.Change, n)})
		if len(got.Changes) != maxListed || got.Truncated != more {
			t.Errorf("of %d changes: %d, truncated %t", n, len(got.Changes), got.Truncated)
		}
	}
}
