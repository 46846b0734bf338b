package cireport

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/schema"
)

var update = flag.Bool("update", false, "write the golden files")

// findings have what the formats escape.
func findings() []Finding {
	return []Finding{
		{Path: "tools/csv/toolset.yaml", Line: 14, Column: 19, Level: Error, Code: "function", Message: `entrypoint tools.a:rnu: tools/a.py has no function rnu (did you mean run?)`, Help: "An entrypoint names a function."},
		{Path: "tools/csv/art,if:acts/50%.html", Line: 2, Column: 1, Level: Warning, Code: "html-outside", Message: "100% of it, \"quoted\" <b>&amp;</b>: ::error::no\nnext\r\nline"},
		{Path: "tools/csv/toolset.yaml", Level: Note, Code: "no-readme", Message: "there is no README.md"},
		{Level: Error, Code: "bundle-format", Message: "it is no ZIP \x1b[31m\x00 \xff"},
		{Path: "/tmp/elsewhere/a b.zip", Level: Error, Code: "function", Message: "elsewhere"},
	}
}

func suites() []Suite {
	return []Suite{
		{Name: "csv-tools", Cases: []Case{
			{Name: "counts", Class: "csv-tools:count", File: "toolset.yaml", Line: 40, Seconds: 0.25},
			{Name: "writes <a> table", Class: "csv-tools:table", Seconds: 1.5, Failure: &Trouble{Type: "return/rows", Message: "it is 3, and \"2\" was expected", Text: "return/rows: it is 3\n]]> & more \x1b[31m"}, Output: "a & b"},
			{Name: "starts", Class: "csv-tools:start", Error: &Trouble{Type: "broken", Message: "no runtime"}},
		}},
		{Name: "empty"},
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(path, got, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is\n%s\nwant\n%s", name, got, want)
	}
}

func TestGitHub(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := GitHub(&b, findings()); err != nil {
		t.Fatal(err)
	}
	golden(t, "github.txt", b.Bytes())
	if n := strings.Count(b.String(), "\n"); n != len(findings()) {
		t.Errorf("%d lines", n)
	}
}

// sarifSubset is what SARIF 2.1.0 requires of the objects that are written, and
// the values that it allows.
const sarifSubset = `{
  "type": "object", "required": ["version", "runs"], "additionalProperties": false,
  "properties": {
    "$schema": {"type": "string"}, "version": {"const": "2.1.0"},
    "runs": {"type": "array", "items": {
      "type": "object", "required": ["tool"], "additionalProperties": false,
      "properties": {
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        "tool": {"type": "object", "required": ["driver"], "additionalProperties": false, "properties": {"driver": {
          "type": "object", "required": ["name"], "additionalProperties": false,
          "properties": {"name": {"type": "string"}, "version": {"type": "string"}, "informationUri": {"type": "string", "pattern": "^https://"},
            "rules": {"type": "array", "uniqueItems": true, "items": {"type": "object", "required": ["id"], "additionalProperties": false,
              "properties": {"id": {"type": "string"}, "shortDescription": {"$ref": "#/$defs/text"}, "help": {"$ref": "#/$defs/text"}}}}}
        }}},
        "results": {"type": "array", "items": {"type": "object", "required": ["message"], "additionalProperties": false, "properties": {
          "ruleId": {"type": "string"}, "ruleIndex": {"type": "integer", "minimum": -1}, "level": {"enum": ["none", "note", "warning", "error"]},
          "message": {"$ref": "#/$defs/text"},
          "locations": {"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {"physicalLocation": {
            "type": "object", "required": ["artifactLocation"], "additionalProperties": false, "properties": {
              "artifactLocation": {"type": "object", "additionalProperties": false, "properties": {"uri": {"type": "string", "pattern": "^[^ \\\\]*$"}, "uriBaseId": {"type": "string"}}},
              "region": {"type": "object", "additionalProperties": false, "required": ["startLine"], "properties": {"startLine": {"type": "integer", "minimum": 1}, "startColumn": {"type": "integer", "minimum": 1}}}
            }}}}}
        }}}
      }}}
  },
  "$defs": {"text": {"type": "object", "required": ["text"], "additionalProperties": false, "properties": {"text": {"type": "string", "minLength": 1}}}}
}`

// TestSARIF holds what is written against the standard's requirements; with
// FETTLE_SARIF_SCHEMA also against the published schema in that file.
func TestSARIF(t *testing.T) {
	t.Parallel()
	schemas := map[string][]byte{"the requirements": []byte(sarifSubset)}
	if path := os.Getenv("FETTLE_SARIF_SCHEMA"); path != "" {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		schemas["the published schema"] = raw
	}
	for _, list := range [][]Finding{findings(), nil} {
		var b bytes.Buffer
		if err := SARIF(&b, Tool{Name: "fettle", Version: "1.2.3", URI: "https://fettle.example"}, list); err != nil {
			t.Fatal(err)
		}
		if list != nil {
			golden(t, "findings.sarif", b.Bytes())
		}
		for what, raw := range schemas {
			s, err := schema.Compile(raw)
			if err != nil {
				t.Fatal(what, err)
			}
			for _, p := range s.Validate(b.Bytes()) {
				t.Errorf("%s: %s", what, p)
			}
		}
		var log struct {
			Runs []struct {
				Tool struct {
					Driver struct{ Rules []struct{ ID string } }
				}
				Results []struct {
					RuleID    string
					RuleIndex int
				}
			}
		}
		if err := json.Unmarshal(b.Bytes(), &log); err != nil || len(log.Runs) != 1 || len(log.Runs[0].Results) != len(list) {
			t.Fatalf("%+v, %v", log, err)
		}
		for _, r := range log.Runs[0].Results {
			if log.Runs[0].Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
				t.Errorf("%+v", r)
			}
		}
	}
}

func TestJUnit(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := JUnit(&b, "fettle", suites()); err != nil {
		t.Fatal(err)
	}
	golden(t, "junit.xml", b.Bytes())
	var doc junitSuites
	if err := xml.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Tests != 3 || doc.Failures != 1 || doc.Errors != 1 || doc.Time != "1.750" || len(doc.Suites) != 2 {
		t.Errorf("%+v", doc)
	}
	if got := doc.Suites[0].Cases[1].Failure.Text; got != "return/rows: it is 3\n]]> & more \ufffd[31m" {
		t.Errorf("the text is %q", got)
	}
}

// shut takes no bytes.
type shut struct{}

func (shut) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestLostWritesAreErrors(t *testing.T) {
	t.Parallel()
	for _, err := range []error{GitHub(shut{}, findings()), SARIF(shut{}, Tool{}, nil), JUnit(shut{}, "x", nil)} {
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("got %v", err)
		}
	}
}

func FuzzTextsStayInTheirFields(f *testing.F) {
	f.Add("a::b", "100%\n::error::x", "]]><x>")
	f.Fuzz(func(t *testing.T, path, message, code string) {
		list := []Finding{{Path: path, Line: 1, Column: 1, Level: Error, Code: code, Message: message}}
		var b bytes.Buffer
		if err := GitHub(&b, list); err != nil || strings.Count(b.String(), "\n") != 1 || strings.Contains(b.String(), "\r") {
			t.Errorf("%q, %v", b.String(), err)
		}
		b.Reset()
		if err := JUnit(&b, message, []Suite{{Name: path, Cases: []Case{{Name: code, Failure: &Trouble{Message: message, Text: message}}}}}); err != nil {
			t.Fatal(err)
		}
		var doc junitSuites
		if err := xml.Unmarshal(b.Bytes(), &doc); err != nil || len(doc.Suites) != 1 || len(doc.Suites[0].Cases) != 1 {
			t.Errorf("%q: %v", b.String(), err)
		}
		b.Reset()
		if err := SARIF(&b, Tool{}, list); err != nil || !json.Valid(b.Bytes()) {
			t.Errorf("%q, %v", b.String(), err)
		}
	})
}
