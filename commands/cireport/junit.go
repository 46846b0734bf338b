package cireport

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

// The elements of JUnit's XML, as the schemas of its readers have them.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		File    string        `xml:"file,attr,omitempty"`
		Line    int           `xml:"line,attr,omitempty"`
		Time    string        `xml:"time,attr"`
		Failure *junitTrouble `xml:"failure"`
		Error   *junitTrouble `xml:"error"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitTrouble struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes suites as one document.
func JUnit(w io.Writer, name string, suites []Suite) error {
	doc := junitSuites{Name: plain(name)}
	total := 0.0
	for _, s := range suites {
		out, took := junitOf(s)
		doc.Tests, doc.Failures, doc.Errors = doc.Tests+out.Tests, doc.Failures+out.Failures, doc.Errors+out.Errors
		doc.Suites, total = append(doc.Suites, out), total+took
	}
	doc.Time = seconds(total)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("write JUnit's XML: %w", err)
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("write JUnit's XML: %w", err)
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return fmt.Errorf("write JUnit's XML: %w", err)
	}
	return nil
}

func junitOf(s Suite) (junitSuite, float64) {
	out := junitSuite{Name: plain(s.Name), Tests: len(s.Cases)}
	total := 0.0
	for _, c := range s.Cases {
		one := junitCase{
			Name: plain(c.Name), Class: plain(c.Class), File: plain(c.File), Line: c.Line, Time: seconds(c.Seconds),
			Failure: trouble(c.Failure), Error: trouble(c.Error), Output: plain(c.Output),
		}
		if one.Failure != nil {
			out.Failures++
		}
		if one.Error != nil {
			out.Errors++
		}
		out.Cases, total = append(out.Cases, one), total+c.Seconds
	}
	out.Time = seconds(total)
	return out, total
}

func trouble(t *Trouble) *junitTrouble {
	if t == nil {
		return nil
	}
	return &junitTrouble{Message: plain(t.Message), Type: plain(t.Type), Text: plain(t.Text)}
}

func seconds(s float64) string { return fmt.Sprintf("%.3f", s) }

// plain masks what XML 1.0 can't hold, what acts on a terminal, and what hides or reorders
// text. Lines remain lines.
func plain(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = sanitize.Mask(line)
	}
	return strings.Join(lines, "\n")
}
