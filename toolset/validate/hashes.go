package validate

import (
	"strconv"
	"strings"
)

// hashes holds the requirements against what pip asks of a list with hashes:
// one for each package, of one version.
func (v *validator) hashes() {
	hashed := 0
	for _, r := range v.m.Requirements {
		if strings.Contains(r, " --hash=") {
			hashed++
		}
	}
	if hashed == 0 {
		return
	}
	for i, r := range v.m.Requirements {
		at := "/requirements/" + strconv.Itoa(i)
		switch name, _, has := strings.Cut(r, " --hash="); {
		case !has:
			v.at(at, Error, CodeRequirement, "it has no hash, and %d of the %d requirements have: give hashes to all, dependencies included, or to none", hashed, len(v.m.Requirements))
		case !pinned(name):
			v.at(at, Error, CodeRequirement, "it has hashes and no single version: they are those of one version's files, so write NAME==VERSION")
		}
	}
}

// pinned tells whether a requirement names one version.
func pinned(requirement string) bool {
	name, _, _ := strings.Cut(requirement, ";")
	return strings.Contains(name, "==") && !strings.ContainsAny(name, ",*~!<>")
}
