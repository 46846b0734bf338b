package cas

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/fettle-cli/fettle/internal/kv"
)

// Contents become separate states, which are read, verified and collected as those of
// folders are.
func TestKeepFilesMakesAStateOfEachContent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	large := bytes.Repeat([]byte("0123456789abcdef"), 100<<10)
	contents := [][]byte{[]byte("one"), {}, large, []byte("one"), []byte("two")}
	about := About{ChatID: "documents", Source: UserUpload}
	kept, err := b.s.KeepFiles(t.Context(), about, "content", contents, Limits{KeepFree: -1})
	if err != nil || len(kept) != len(contents) {
		t.Fatalf("%d states, %v", len(kept), err)
	}
	ids := map[string]bool{}
	for i, m := range kept {
		ids[m.ID] = true
		got, err := b.s.Manifest(t.Context(), m.ID)
		if err != nil || got.Source != UserUpload || got.ChatID != "documents" || got.Files != 1 || got.Bytes != int64(len(contents[i])) || !got.Complete {
			t.Errorf("state %d: %+v, %v", i, got, err)
		}
		e, err := b.s.Lookup(t.Context(), m.Root, "content")
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := b.s.Read(t.Context(), &text, e); err != nil || !bytes.Equal(text.Bytes(), contents[i]) {
			t.Errorf("content %d has %d bytes, %v", i, text.Len(), err)
		}
	}
	if len(ids) != len(contents) {
		t.Errorf("the ids are %v", ids)
	}
	if report, err := b.s.Verify(t.Context(), nil); err != nil || len(report.Problems) > 0 {
		t.Errorf("%+v, %v", report, err)
	}
	gone := kept[2].ID
	report, err := b.s.GC(t.Context(), GCOptions{Live: fixed(func(m *Manifest) bool { return m.ID != gone })})
	if err != nil || report.Manifests != 1 || report.Blobs != 1 || report.Bytes != int64(len(large)) {
		t.Errorf("%+v, %v", report, err)
	}
}

// A call that fails keeps nothing that a state reaches, and a quota counts.
func TestKeepFilesIsAllOrNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	about := About{ChatID: "documents", Source: UserUpload}
	contents := [][]byte{[]byte("small"), bytes.Repeat([]byte("x"), 4000)}
	_, err := b.s.KeepFiles(t.Context(), about, "content", contents, Limits{KeepFree: -1, Chat: 1000})
	var quota *QuotaError
	if !errors.As(err, &quota) {
		t.Errorf("beyond the quota: %v", err)
	}
	if list, err := b.s.Manifests(t.Context(), "documents"); err != nil || len(list) != 0 {
		t.Errorf("%d states, %v", len(list), err)
	}
}

// One call syncs the store as often for many contents as for one.
func TestKeepFilesSyncsOnce(t *testing.T) {
	t.Parallel()
	steps := map[int]int{}
	for _, n := range []int{1, 200} {
		b := newBench(t)
		b.s.pause = func(string) { steps[n]++ }
		var contents [][]byte
		for i := range n {
			contents = append(contents, fmt.Appendf(nil, "content %d", i))
		}
		if _, err := b.s.KeepFiles(t.Context(), About{ChatID: "documents", Source: UserUpload}, "content", contents, Limits{KeepFree: -1}); err != nil {
			t.Fatal(err)
		}
		n := 0
		err := b.s.kv.View(t.Context(), func(tx *kv.Tx) (err error) { n, err = b.s.manifests.Count(tx, kv.Range{}); return err })
		if err != nil || n != len(contents) {
			t.Errorf("%d states, %v", n, err)
		}
	}
	if steps[1] != steps[200] {
		t.Errorf("one content takes %d steps, 200 take %d", steps[1], steps[200])
	}
}
