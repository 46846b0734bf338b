package manifest

import (
	"cmp"
	"strings"
)

// ValidVersion tells whether v is a semantic version.
func ValidVersion(v string) bool { return len(v) <= 128 && compiled().match(patternVersion, v) }

// CompareVersions orders two semantic versions as semver.org has it: build
// metadata doesn't count, and a pre-release comes before its release. A text
// that is no version comes before every one that is.
func CompareVersions(a, b string) int {
	if va, vb := ValidVersion(a), ValidVersion(b); !va || !vb {
		return cmp.Compare(boolRank(va), boolRank(vb))
	}
	coreA, preA := splitVersion(a)
	coreB, preB := splitVersion(b)
	if c := comparePieces(strings.Split(coreA, "."), strings.Split(coreB, ".")); c != 0 {
		return c
	}
	if preA == "" || preB == "" {
		return cmp.Compare(boolRank(preA == ""), boolRank(preB == ""))
	}
	return comparePieces(strings.Split(preA, "."), strings.Split(preB, "."))
}

func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}

func splitVersion(v string) (core, pre string) {
	v, _, _ = strings.Cut(v, "+")
	core, pre, _ = strings.Cut(v, "-")
	return core, pre
}

// comparePieces compares numbers as numbers, and puts them before words.
func comparePieces(a, b []string) int {
	for i := range min(len(a), len(b)) {
		na, nb := strings.Trim(a[i], "0123456789") == "", strings.Trim(b[i], "0123456789") == ""
		c := cmp.Compare(a[i], b[i])
		switch {
		case na && nb:
			c = cmp.Or(cmp.Compare(len(a[i]), len(b[i])), c) // there are no leading zeros
		case na != nb:
			c = cmp.Compare(boolRank(!na), boolRank(!nb))
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}
