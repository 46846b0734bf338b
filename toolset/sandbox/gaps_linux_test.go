package sandbox

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox/supervisor"
)

// The documentation of the package lists the gaps that a report can name, each in the
// section of a level that has it, and no others.
func TestEachGapIsDocumentedAndReported(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "// # Gaps\n")
	if !found {
		t.Fatal("the package comment has no section Gaps")
	}
	section, _, _ = strings.Cut(section, "// # ")
	section = regexp.MustCompile(`\n//  +([^- ])`).ReplaceAllString(section, " $1") // one line each
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^//   - (.*)$`).FindAllStringSubmatch(section, -1) {
		gap, _, _ := strings.Cut(m[1], " (") // the condition
		documented[gap] = true
	}
	reported := map[string]bool{"a tool's process that leaves its group and its parent at once lives on": true} // of other systems
	for _, level := range []toolset.Level{toolset.LevelNone, toolset.LevelReduced, toolset.LevelFull} {
		for _, landlock := range []int{0, supervisor.LeastLandlock, supervisor.SignalLandlock} {
			for _, shared := range []bool{false, true} {
				for _, groups := range []bool{false, true} {
					for _, gap := range gaps(level, machineFacts{landlock, shared, groups}) {
						reported[gap] = true
					}
				}
			}
		}
	}
	if !maps.Equal(documented, reported) {
		t.Errorf("documented are\n%s\nreported are\n%s", strings.Join(slices.Sorted(maps.Keys(documented)), "\n"), strings.Join(slices.Sorted(maps.Keys(reported)), "\n"))
	}
}
