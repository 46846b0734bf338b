package cas

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// someEntries are entries as a tree has them, few enough that two folders meet.
func someEntries(t *rapid.T, label string) []Entry {
	n := rapid.IntRange(0, 8).Draw(t, label)
	byName := make(map[string]Entry)
	for range n {
		e := Entry{
			Name: rapid.SampledFrom([]string{"a", "b", "bb", "c", "é", "z\xff"}).Draw(t, "name"),
			Kind: rapid.SampledFrom([]Kind{File, Executable, Folder, Link, Special, Omitted, Failed}).Draw(t, "kind"),
		}
		some := rapid.IntRange(0, 2).Draw(t, "what")
		switch e.Kind {
		case File, Executable:
			e.Digest, e.Size = Sum([]byte{byte(some)}), int64(some)<<(7*some)
		case Folder:
			e.Digest = Sum([]byte{byte(some)})
		case Failed:
			e.Text, e.Size = reasonUnreadable, int64(some)
		default:
			e.Text = []string{"x", "../y", "z"}[some]
		}
		if e.Kind.withPerms() && rapid.Bool().Draw(t, "perms") {
			bits := uint32(some) << 8 &^ 0o100
			if e.Kind == Executable {
				bits |= 0o100
			}
			e.Perm = PermOf(bits)
		}
		byName[e.Name] = e
	}
	var out []Entry
	for _, e := range byName {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Entry) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	return out
}

// asRecord is a folder as it is known, in another order than a tree's.
func asRecord(entries []Entry) *dirRec {
	r := new(dirRec)
	for _, e := range slices.Backward(entries) {
		r.ents = append(r.ents, cached{Entry: e, ino: 7})
	}
	return r
}

// TestPairs compares the quick comparison, which makes nothing of what is alike,
// with the plain one.
func TestPairs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		olds, news := someEntries(rt, "olds"), someEntries(rt, "news")
		want := pairsOf(olds, news)
		got, err := asRecord(olds).pairsWith(encodeTree(news))
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(comparison{}, pair{})); diff != "" {
			rt.Fatalf("pairs (-want +got):\n%s", diff)
		}
	})
}

// FuzzPairs has the quick comparison take what decodeTree takes, and nothing else.
func FuzzPairs(f *testing.F) {
	d := Sum([]byte("x"))
	known := []Entry{
		{Name: "a", Kind: File, Digest: d, Size: 7}, {Name: "b", Kind: Folder, Digest: d},
		{Name: "c", Kind: Link, Text: "../x"}, {Name: "d", Kind: Executable, Digest: d, Size: 300},
		{Name: "p", Kind: File, Perm: PermOf(0o600), Digest: d, Size: 1}, {Name: "q", Kind: Folder, Perm: PermOf(0o700), Digest: d},
	}
	f.Add(encodeTree(nil))
	f.Add(encodeTree(known))
	f.Add(encodeTree(known[1:]))
	f.Add(encodeTree([]Entry{{Name: "a", Kind: Executable, Digest: d, Size: 7}, {Name: "e", Kind: Failed, Text: "r", Size: 3}}))
	f.Add(append(encodeTree(known), 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := asRecord(known).pairsWith(b)
		entries, wantErr := decodeTree(b)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: %v, and as a tree %v", b, err, wantErr)
		}
		if err != nil {
			return
		}
		if diff := cmp.Diff(pairsOf(known, entries), got, cmp.AllowUnexported(comparison{}, pair{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", b, diff)
		}
	})
}
