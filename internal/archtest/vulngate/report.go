package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
)

// stdlib is what govulncheck calls the standard library's module.
const stdlib = "stdlib"

// finding is one fault in one module, with the way to it that was found first.
type finding struct {
	id, module, version, fixed string
	symbol                     string // the vulnerable function
	summary                    string
}

// report is what counts of govulncheck's output.
type report struct {
	scanned  string // what was looked at, for people
	findings []finding
}

// message is one value of govulncheck's JSON stream; the fields that it lacks
// here are not needed.
type message struct {
	Config *struct {
		ScannerVersion string `json:"scanner_version"`
		GoVersion      string `json:"go_version"`
		ScanLevel      string `json:"scan_level"`
	} `json:"config"`
	SBOM *struct {
		Modules []json.RawMessage `json:"modules"`
	} `json:"SBOM"`
	OSV *struct {
		ID      string `json:"id"`
		Summary string `json:"summary"`
	} `json:"osv"`
	Finding *struct {
		OSV          string `json:"osv"`
		FixedVersion string `json:"fixed_version"`
		Trace        []struct {
			Module   string `json:"module"`
			Version  string `json:"version"`
			Package  string `json:"package"`
			Function string `json:"function"`
			Receiver string `json:"receiver"`
		} `json:"trace"`
	} `json:"finding"`
}

// readReport gathers the findings whose code can be reached, one for each id
// and module, by id.
func readReport(in io.Reader) (report, error) {
	dec := json.NewDecoder(in)
	g := gathered{summaries: map[string]string{}, found: map[[2]string]finding{}}
	for {
		var m message
		err := dec.Decode(&m)
		if errors.Is(err, io.EOF) {
			return g.report()
		}
		if err != nil {
			return report{}, err
		}
		g.take(m)
	}
}

// gathered is a report that is being read.
type gathered struct {
	scanner, goVersion, level string
	modules                   int
	summaries                 map[string]string // of every fault of a linked module, found or not
	found                     map[[2]string]finding
}

func (g *gathered) take(m message) {
	if m.Config != nil {
		g.scanner, g.goVersion, g.level = m.Config.ScannerVersion, m.Config.GoVersion, m.Config.ScanLevel
	}
	if m.SBOM != nil {
		g.modules = len(m.SBOM.Modules)
	}
	if m.OSV != nil {
		g.summaries[m.OSV.ID] = m.OSV.Summary
	}
	if f, ok := m.reached(); ok {
		key := [2]string{f.id, f.module}
		if _, known := g.found[key]; !known {
			g.found[key] = f
		}
	}
}

// report ends the reading. It refuses what can't be a whole report: one that
// stopped before the packages were loaded, or was made with an empty list. A
// whole one always tells of old faults of the standard library.
func (g *gathered) report() (report, error) {
	if g.level != "symbol" {
		return report{}, fmt.Errorf("it was made at level %q, not of symbols", g.level)
	}
	if g.modules == 0 {
		return report{}, errors.New("it names no modules: govulncheck didn't come to its end")
	}
	if len(g.summaries) == 0 {
		return report{}, errors.New("it knows no fault of any module, not even an old one: was the list empty?")
	}
	rep := report{scanned: fmt.Sprintf("govulncheck %s, %s: %d modules, %d known faults of some version of them",
		g.scanner, g.goVersion, g.modules, len(g.summaries))}
	for _, f := range g.found {
		f.summary = g.summaries[f.id]
		rep.findings = append(rep.findings, f)
	}
	sort.Slice(rep.findings, func(i, j int) bool {
		a, b := rep.findings[i], rep.findings[j]
		return a.id < b.id || a.id == b.id && a.module < b.module
	})
	return rep, nil
}

// reached gives the message's finding, if it has one that names a function.
// The trace begins with the vulnerable end.
func (m message) reached() (finding, bool) {
	if m.Finding == nil || len(m.Finding.Trace) == 0 || m.Finding.Trace[0].Function == "" {
		return finding{}, false
	}
	end := m.Finding.Trace[0]
	symbol := end.Package + "." + end.Function
	if end.Receiver != "" {
		symbol = end.Package + "." + strings.TrimPrefix(end.Receiver, "*") + "." + end.Function
	}
	return finding{
		id: m.Finding.OSV, module: end.Module, version: end.Version,
		fixed: m.Finding.FixedVersion, symbol: symbol,
	}, true
}
