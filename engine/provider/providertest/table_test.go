package providertest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The table in the package's comment names every case, and nothing else.
func TestTheTableHasEveryCase(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for line := range strings.Lines(string(raw)) {
		row, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "//\t")
		if !ok {
			continue
		}
		const first = 19 // the column in which the cases begin
		for name := range strings.SplitSeq(row[min(first, len(row)):], ";") {
			if name = strings.TrimSpace(name); name != "" {
				listed = append(listed, name)
			}
		}
	}
	var have []string
	for _, c := range cases() {
		have = append(have, c.name)
		if !slices.Contains(listed, c.name) {
			t.Errorf("the table lacks %q", c.name)
		}
	}
	for _, name := range listed {
		if !slices.Contains(have, name) {
			t.Errorf("the table has %q, which is no case", name)
		}
	}
	if slices.Sort(have); len(slices.Compact(have)) != len(cases()) {
		t.Error("two cases have one name")
	}
}

// Whatever streams as a provider does runs the suite.
func TestEveryProviderRunsTheSuite(t *testing.T) {
	t.Parallel()
	rooms, err := filepath.Glob("../*/*.go")
	if err != nil || len(rooms) == 0 {
		t.Fatal(rooms, err)
	}
	streams, runs := map[string]bool{}, map[string]bool{}
	for _, path := range rooms {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		room := filepath.Base(filepath.Dir(path))
		switch {
		case strings.HasSuffix(path, "_test.go"):
			runs[room] = runs[room] || bytes.Contains(raw, []byte("providertest.Run("))
		case room == "chatcompletions": // its adapters run it
		case bytes.Contains(raw, []byte("*Provider) Stream(")), bytes.Contains(raw, []byte("\t*chatcompletions.Provider\n")):
			streams[room] = true
		}
	}
	for room := range streams {
		if !runs[room] {
			t.Errorf("%s is a provider and doesn't run the suite", room)
		}
	}
	if len(streams) < 5 {
		t.Errorf("only %d providers were found", len(streams))
	}
}
