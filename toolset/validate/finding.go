package validate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// Level is how bad a finding is.
type Level string

// The levels.
const (
	Error   Level = "error"
	Warning Level = "warning"
	Note    Level = "note"
)

// Finding is one thing to say of a bundle.
type Finding struct {
	// File is the path in the bundle; empty where the whole is meant. Line and
	// Column count from 1, columns in characters; 0 means the file as a whole.
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	// Pointer is the JSON pointer of a value of the manifest.
	Pointer string `json:"pointer,omitempty"`
	Level   Level  `json:"level"`
	Code    string `json:"code"`
	Message string `json:"message"`
	// Help says what the kind of finding is about, and what to do.
	Help string `json:"help,omitempty"`
}

// Report is what there is to say of one bundle.
type Report struct {
	// ID, Name and Version are the manifest's; empty where it can't be used.
	ID      string `json:"id,omitempty"`
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
	// Kind is toolset, mcpb or skill; empty for what was refused.
	Kind string `json:"kind,omitempty"`
	// Hash is the bundle's: of its files, however they are packed.
	Hash string `json:"hash,omitempty"`
	// Files and Bytes are what is in it.
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`

	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Notes    int `json:"notes"`
	// Findings are never nil.
	Findings []Finding `json:"findings"`

	// Manifest is nil where it can't be used.
	Manifest *manifest.Manifest `json:"-"`
}

// Counts tells how many findings count: errors, and with strict warnings.
func (r *Report) Counts(strict bool) int {
	if strict {
		return r.Errors + r.Warnings
	}
	return r.Errors
}

// MaxFindings bounds a report; who has more has one mistake in many places.
const MaxFindings = 200

// add takes a finding.
func (r *Report) add(f Finding) {
	switch f.Level {
	case Error:
		r.Errors++
	case Warning:
		r.Warnings++
	default:
		r.Notes++
	}
	if len(r.Findings) < MaxFindings {
		f.Message = printable(f.Message)
		f.Help = help(f.Code)
		r.Findings = append(r.Findings, f)
	}
}

// sort puts the findings into their order, and says how many are left out.
func (r *Report) sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(rank(a.File), rank(b.File)), cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(levelRank(a.Level), levelRank(b.Level)),
		)
	})
	if more := r.Errors + r.Warnings + r.Notes - len(r.Findings); more > 0 {
		r.Findings = append(r.Findings, Finding{
			Level: Note, Code: CodeMore, Message: fmt.Sprintf("there are %d more findings", more), Help: help(CodeMore),
		})
		r.Notes++
	}
}

func rank(file string) int {
	switch file {
	case "":
		return 2
	case manifest.FileName:
		return 0
	}
	return 1
}

func levelRank(l Level) int { return slices.Index([]Level{Error, Warning, Note}, l) }

// maxMessage is how many characters of a message are kept. What a bundle
// chooses of it is cut where it is put in; this is the last resort.
const maxMessage = 600

// printable replaces what could act on a terminal, and cuts what is endless.
func printable(s string) string { return sanitize.Brief(s, maxMessage) }

// maxShown is how many characters of a bundle's own text a message shows.
const maxShown = 60

// show is a text of the bundle for a message.
func show(s string) string { return sanitize.Brief(s, maxShown) }
