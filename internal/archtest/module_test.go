package archtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const (
	// goLine is the Go that a fresh machine must have; a patch release more
	// or less in go.mod's line is fine.
	goLine = "1.26"
	// The archiver's only version that compiles with the rest, and the module
	// that breaks it from 0.2 on. Neither may drift with an upgrade.
	archiver, archiverVersion = "github.com/mholt/archiver/v4", "v4.0.0-alpha.9"
	archiverZip, zipVersion   = "github.com/STARRY-S/zip", "v0.1.0"
)

// goMod is go.mod as `go mod edit -json` prints it.
type goMod struct {
	Module    struct{ Path string }
	Go        string
	Toolchain string
	Require   []struct{ Path, Version string }
	Exclude   []json.RawMessage
	Replace   []struct{ Old struct{ Path string } }
}

// checkModule wants a go.mod that means the same to everyone who installs the
// program by its name.
func checkModule(m goMod) []string {
	var out []string
	if m.Module.Path != modulePath {
		out = append(out, fmt.Sprintf("go.mod: the module is %q, want %q", m.Module.Path, modulePath))
	}
	if m.Go != goLine && !strings.HasPrefix(m.Go, goLine+".") {
		out = append(out, fmt.Sprintf("go.mod: go %s, want go %s", m.Go, goLine))
	}
	if m.Toolchain != "" {
		out = append(out, fmt.Sprintf("go.mod: toolchain %s: a fresh machine's Go must do", m.Toolchain))
	}
	for _, r := range m.Replace {
		out = append(out, fmt.Sprintf("go.mod: replace %s: go install ignores it or refuses", r.Old.Path))
	}
	if len(m.Exclude) != 0 {
		out = append(out, "go.mod: exclude: go install ignores it or refuses")
	}
	pinned := map[string]string{archiver: archiverVersion, archiverZip: zipVersion}
	for _, r := range m.Require {
		if want, ok := pinned[r.Path]; ok && r.Version != want {
			out = append(out, fmt.Sprintf("go.mod: %s %s, want exactly %s", r.Path, r.Version, want))
		}
	}
	return out
}

func TestModule(t *testing.T) {
	t.Parallel()
	var m goMod
	if err := json.Unmarshal(run(t, "go", "mod", "edit", "-json"), &m); err != nil {
		t.Fatal(err)
	}
	report(t, checkModule(m))
}

func TestCheckModule(t *testing.T) {
	t.Parallel()
	decode := func(text string) (m goMod) {
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	good := `{"Module":{"Path":"` + modulePath + `"},"Go":"1.26.0","Require":[{"Path":"` + archiver + `","Version":"` + archiverVersion + `"}]}`
	wantComplaints(t, checkModule(decode(good)))
	bad := `{"Module":{"Path":"example.com/other"},"Go":"1.27.1","Toolchain":"go1.27.3","Exclude":[{}],
		"Replace":[{"Old":{"Path":"example.com/x"}}],
		"Require":[{"Path":"` + archiver + `","Version":"v4.0.0-alpha.8"},{"Path":"` + archiverZip + `","Version":"v0.2.3"}]}`
	wantComplaints(t, checkModule(decode(bad)),
		`the module is`, `go 1.27.1`, `toolchain`, `exclude`, `replace example.com/x`, `alpha.8, want exactly`, `v0.2.3, want exactly`)
}
