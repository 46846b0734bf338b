package doctor

import (
	"strconv"
	"strings"
)

// The levels of the sandbox for tools.
const (
	levelFull    = "full"
	levelReduced = "reduced"
	levelNone    = "none"
)

// layers are what a sandbox on Linux can rest on.
type layers struct {
	namespaces error // why user namespaces can't be used; nil where they can
	landlock   int   // the ABI's version; 0 where there is none
	seccomp    bool
}

// leastLandlock is the version from which on Landlock alone keeps files safe:
// before it a file could be truncated.
const leastLandlock = 3

// level is what these layers would do for a sandbox.
func (l layers) level() string {
	switch {
	case l.namespaces == nil && l.seccomp:
		return levelFull
	case l.landlock >= leastLandlock && l.seccomp:
		return levelReduced
	}
	return levelNone
}

func (l layers) result() Result {
	r := Result{ID: "sandbox", Title: "sandbox", Status: Warning, Detail: l.level() + ": " + strings.Join(l.words(), ", ")}
	switch l.level() {
	case levelFull:
		r.Status = OK
	case levelReduced:
		r.More = []string{"imported tools could see that files outside of their folder exist, and change their permissions"}
	default:
		r.More = []string{"imported tools couldn't be contained here"}
	}
	return r
}

func (l layers) words() []string {
	var out []string
	if l.namespaces == nil {
		out = append(out, "user namespaces")
	} else {
		out = append(out, "no user namespaces ("+l.namespaces.Error()+")")
	}
	switch {
	case l.landlock == 0:
		out = append(out, "no Landlock")
	default:
		out = append(out, "Landlock "+strconv.Itoa(l.landlock))
	}
	if l.seccomp {
		return append(out, "seccomp")
	}
	return append(out, "no seccomp")
}
