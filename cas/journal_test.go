package cas

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/internal/kv"
)

// cutShort leaves what a restore leaves that dies when its first names are moved:
// its journal, the manifest with it, and a stage.
func (b *bench) cutShort(to *Manifest) (record string) {
	b.t.Helper()
	now := b.snap()
	record = b.s.newID(b.s.now())
	j := &unfinished{
		Workspace: b.ws.key(), Path: b.ws.Path, Before: now.Root, Target: to.Root, ChatID: "c",
		Stages: []string{stagePrefix + b.s.newID(b.s.now())}, Record: record,
	}
	m := b.s.manifestAs(to, &About{ID: record, ChatID: "c", Source: Restored, ParentID: now.ID})
	if err := b.s.beginJournal(b.t.Context(), j, m); err != nil {
		b.t.Fatal(err)
	}
	b.write(j.Stages[0]+"/"+heldName("n", "edited"), "now different") // names were exchanged
	return record
}

// A store that comes back from a copy has the journals of what was under way when
// it was copied: the folders have moved on, and nothing in them is taken back.
func TestForgetRestores(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, _, to := b.scene()
	record := b.cutShort(to)
	if _, err := b.s.Manifest(t.Context(), record); !errors.Is(err, ErrNotFound) {
		t.Errorf("what isn't done is shown: %v", err)
	}
	b.restoreByHand(to)
	b.write("edited", "since then")
	want := b.look()
	if err := b.s.ForgetRestores(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.snap()
	if diff := cmp.Diff(want, b.look()); diff != "" {
		t.Errorf("the folder is another one (-want +got):\n%s", diff)
	}
	if _, err := b.s.Manifest(t.Context(), record); !errors.Is(err, ErrNotFound) || b.restores() != 0 {
		t.Errorf("the record of a forgotten restore: %v", err)
	}
	if left, err := b.s.journals(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("journals: %v, %v", left, err)
	}
	b.mustCount()
	b.mustBeSound()
}

// restoreByHand gives the folder the target's files as a person would, so that all
// is as a restore that was cut short wanted it.
func (b *bench) restoreByHand(to *Manifest) {
	b.t.Helper()
	b.write("edited", "the target's")
	b.remove("extra")
	if got := b.entries(to.Root)["edited"]; got != b.look()["edited"] {
		b.t.Fatalf("edited is %q, and was to be %q", b.look()["edited"], got)
	}
}

// Without that it is taken back, and its record goes.
func TestARestoreThatWasCutShort(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	before, _, to := b.scene()
	record := b.cutShort(to)
	b.write("edited", "the target's")
	b.snap()
	if diff := cmp.Diff(before, b.look()); diff != "" {
		t.Errorf("taken back (-want +got):\n%s", diff)
	}
	if _, err := b.s.Manifest(t.Context(), record); !errors.Is(err, ErrNotFound) || b.restores() != 0 {
		t.Errorf("the record of what was taken back: %v", err)
	}
	b.mustCount()
}

func TestJournalsOfOneFolder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, _, to := b.scene()
	record := b.cutShort(to)
	other := &unfinished{Workspace: b.ws.key(), Path: b.ws.Path, Record: b.s.newID(b.s.now())}
	if err := b.s.beginJournal(t.Context(), other, nil); !errors.Is(err, errUnderWay) {
		t.Errorf("a second one is begun: %v", err)
	}
	if err := b.s.endJournal(t.Context(), other, false); err != nil {
		t.Fatal(err)
	}
	if j, err := b.s.journal(t.Context(), b.ws.key()); err != nil || j == nil || j.Record != record {
		t.Errorf("the first one is %+v, %v", j, err)
	}
}

// What is removed with all that is in it must be a stage, whatever a store says.
func TestAJournalOfOtherFolders(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{"", ".", "..", "src", stagePrefix + "x/../../home"} {
		b := newBench(t)
		b.write("src/kept", "by a person")
		want := b.look()
		j := &unfinished{Workspace: b.ws.key(), Path: b.ws.Path, Stages: []string{stage}, Record: "r", Done: true}
		if err := b.s.kv.Update(t.Context(), func(tx *kv.Tx) error { return b.s.restores.Put(tx, j) }); err != nil {
			t.Fatal(err)
		}
		_, err := b.s.Snapshot(t.Context(), b.ws, SnapshotOptions{About: About{ChatID: "c"}})
		var stuck *UnfinishedError
		if !errors.As(err, &stuck) || !strings.Contains(err.Error(), "not a folder of a restore") {
			t.Errorf("%q: %v", stage, err)
		}
		if diff := cmp.Diff(want, b.look()); diff != "" {
			t.Errorf("%q: the folder (-want +got):\n%s", stage, diff)
		}
	}
}
