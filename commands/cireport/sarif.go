package cireport

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"
)

// Tool is the program that found something.
type Tool struct {
	Name, Version string
	URI           string // an absolute address of its page
}

// The parts of SARIF 2.1.0 that are written, by its own names.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri,omitempty"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string     `json:"id"`
		ShortDescription *sarifText `json:"shortDescription,omitempty"`
		Help             *sarifText `json:"help,omitempty"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string       `json:"ruleId"`
		RuleIndex int          `json:"ruleIndex"`
		Level     string       `json:"level"`
		Message   sarifText    `json:"message"`
		Locations []sarifPlace `json:"locations,omitempty"`
	}
	sarifPlace struct {
		PhysicalLocation sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		ArtifactLocation sarifLocation `json:"artifactLocation"`
		Region           *sarifRegion  `json:"region,omitempty"`
	}
	sarifLocation struct {
		URI       string `json:"uri,omitempty"`
		URIBaseID string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
)

const (
	sarifSchema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	sarifVersion = "2.1.0"
	// srcRoot is the base that GitHub and others take for the repository's root.
	srcRoot = "%SRCROOT%"
)

// SARIF writes findings as one log with one run.
func SARIF(w io.Writer, tool Tool, findings []Finding) error {
	run := sarifRun{
		Tool:       sarifTool{sarifDriver{Name: tool.Name, Version: tool.Version, InformationURI: tool.URI, Rules: []sarifRule{}}},
		ColumnKind: "unicodeCodePoints", Results: []sarifResult{},
	}
	rules := map[string]int{}
	codes := []string{}
	for _, f := range findings {
		if _, known := rules[f.Code]; !known {
			rules[f.Code] = 0
			codes = append(codes, f.Code)
		}
	}
	slices.Sort(codes)
	for i, code := range codes {
		rules[code] = i
		rule := sarifRule{ID: code}
		at := slices.IndexFunc(findings, func(f Finding) bool { return f.Code == code && f.Help != "" })
		if at >= 0 {
			rule.ShortDescription, rule.Help = &sarifText{findings[at].Help}, &sarifText{findings[at].Help}
		}
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, rule)
	}
	for _, f := range findings {
		run.Results = append(run.Results, sarifOf(f, rules[f.Code]))
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(sarifLog{Schema: sarifSchema, Version: sarifVersion, Runs: []sarifRun{run}}); err != nil {
		return fmt.Errorf("write SARIF: %w", err)
	}
	return nil
}

func sarifOf(f Finding, rule int) sarifResult {
	r := sarifResult{RuleID: f.Code, RuleIndex: rule, Level: f.Level, Message: sarifText{f.Message}}
	if f.Path == "" {
		return r
	}
	place := sarifPlace{sarifPhysical{ArtifactLocation: location(f.Path)}}
	if f.Line > 0 {
		place.PhysicalLocation.Region = &sarifRegion{StartLine: f.Line, StartColumn: f.Column}
	}
	r.Locations = []sarifPlace{place}
	return r
}

// location is a path as an address: relative to the repository, or of a file
// that lies elsewhere.
func location(p string) sarifLocation {
	u := url.URL{Path: p}
	if path.IsAbs(p) || len(p) > 2 && p[1] == ':' {
		return sarifLocation{URI: (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(p, "/")}).String()}
	}
	return sarifLocation{URI: strings.TrimPrefix(u.String(), "./"), URIBaseID: srcRoot}
}
