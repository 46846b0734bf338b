package cas

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/record/recordtest"
)

// longText is far longer than any bound.
var longText = strings.Repeat("long <&>\x01 ", 1<<20)

// Each text of a manifest and of a restore's journal is refused or cut when it is too
// long, and the error names the field. Other chats are recorded, listed, collected and
// verified as before.
func TestEveryTextOfARecordIsBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one")
	first := b.snap()
	check := func(field string, stored any, err error) {
		t.Helper()
		if err != nil {
			if !strings.Contains(err.Error(), " bytes, and the limit is ") || len(err.Error()) > 200 {
				t.Errorf("%s: the error is %.300q", field, err)
			}
			return
		}
		if text, err := json.Marshal(stored); err != nil || len(text) > 16<<10 {
			t.Errorf("%s is stored with %d bytes (%v)", field, len(text), err)
		}
	}
	m := *first
	recordtest.EachText(&m, func(field string, set func(string)) {
		set(longText)
		err := b.s.commit(t.Context(), &m, nil)
		var got *Manifest
		if err == nil {
			got, err = b.s.Manifest(t.Context(), m.ID)
		}
		check(field, got, err)
	})
	j := unfinished{Workspace: "elsewhere", Path: "/elsewhere", Record: "r", Done: true}
	recordtest.EachText(&j, func(field string, set func(string)) {
		set(longText)
		err := b.s.beginJournal(t.Context(), &j, nil)
		var got *unfinished
		if err == nil {
			got, err = b.s.journal(t.Context(), j.Workspace)
			if derr := b.s.endJournal(t.Context(), &j, false); derr != nil {
				t.Fatal(derr)
			}
		}
		check(field, got, err)
	})
	b.write("a.txt", "two")
	second := b.snap()
	all, err := b.s.Manifests(t.Context(), "c")
	if err != nil || !slices.ContainsFunc(all, func(m *Manifest) bool { return m.ID == second.ID }) {
		t.Errorf("%d states are listed: %v", len(all), err)
	}
	if _, err := b.s.GC(t.Context(), GCOptions{Live: fixed(func(*Manifest) bool { return true })}); err != nil {
		t.Error(err)
	}
	if report, err := b.s.Verify(t.Context(), nil); err != nil || len(report.Problems) > 0 {
		t.Errorf("verify: %+v, %v", report, err)
	}
	if _, err := b.s.Stats(t.Context()); err != nil {
		t.Error(err)
	}
}

// A manifest with a text that is too long to be stored keeps nothing of the operation.
func TestARefusedManifestIsNotCounted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one")
	m := b.snap()
	before, err := b.s.Summary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := *m
	other.ID, other.SourceRef = "another", strings.Repeat("x", maxID+1)
	if err := b.s.commit(t.Context(), &other, func(*kv.Tx) error { return nil }); err == nil || !strings.Contains(err.Error(), "source_ref has 1025 bytes, and the limit is 1024") {
		t.Errorf("the error is %v", err)
	}
	if after, err := b.s.Summary(t.Context()); err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("%+v became %+v, %v", before, after, err)
	}
}
