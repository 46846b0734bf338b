package cas

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A scope says what comparing with each of its paths says.
func TestAScopeIsItsPaths(t *testing.T) {
	t.Parallel()
	path := rapid.Custom(func(t *rapid.T) string {
		p := ""
		for range rapid.IntRange(1, 4).Draw(t, "depth") {
			p = join(p, rapid.SampledFrom([]string{"a", "b", "a!", "a b", "ab", "A", "ü", "not\xffutf8"}).Draw(t, "name"))
		}
		return p
	})
	rapid.Check(t, func(t *rapid.T) {
		paths := rapid.SliceOfN(path, 0, 6).Draw(t, "paths")
		if rapid.IntRange(0, 9).Draw(t, "all") == 0 {
			paths = append(paths, "")
		}
		if paths == nil {
			paths = []string{}
		}
		at, s := path.Draw(t, "at"), scopeOf(paths)
		if got, want := s.covers(at), slices.ContainsFunc(paths, func(q string) bool { return within(at, q) }); got != want {
			t.Errorf("%q covers %q: %v", paths, at, got)
		}
		if got, want := s.reaches(at), slices.ContainsFunc(paths, func(q string) bool { return within(q, at) }); got != want {
			t.Errorf("%q reaches %q: %v", paths, at, got)
		}
	})
	if scopeOf(nil).covers("a") {
		t.Error("no scope covers something")
	}
}
