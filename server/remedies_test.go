package server

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/fault"
)

// Each kind of remedy has a hint for an HTTP client, without a command or a flag, and names
// only operations that there are.
func TestHintsAreOfThisAPI(t *testing.T) {
	t.Parallel()
	shell := regexp.MustCompile(`fettle [a-z]+ |(^|\s)--?[a-z]`)
	operation := regexp.MustCompile(`(GET|POST) (/\S+)`)
	var known []string
	for _, r := range routes() {
		known = append(known, r.method+" "+regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(r.path, "*"))
	}
	for _, kind := range fault.Kinds() {
		got := hintLines([]fault.Remedy{fault.Try(kind, "ONE", "TWO")})
		if kind == fault.Command {
			if len(got) > 0 {
				t.Errorf("%s: %q", kind, got)
			}
			continue
		}
		if len(got) != 1 || kind != fault.Diagnose && shell.MatchString(got[0]) {
			t.Errorf("%s: %q", kind, got)
		}
		for _, m := range operation.FindAllStringSubmatch(got[0], -1) {
			path := strings.TrimRight(regexp.MustCompile(`ONE|TWO|CHAT`).ReplaceAllString(m[2], "*"), ",")
			if !slices.Contains(known, m[1]+" "+path) {
				t.Errorf("%s: there is no operation %s %s", kind, m[1], path)
			}
		}
	}
	for kind := range operations() {
		if !slices.Contains(fault.Kinds(), kind) {
			t.Errorf("%s is no kind of remedy", kind)
		}
	}
}
