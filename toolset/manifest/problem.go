package manifest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

// Level is how bad a problem is.
type Level string

// The levels. A warning lets the manifest be used.
const (
	LevelError   Level = "error"
	LevelWarning Level = "warning"
)

// The codes of problems. They are stable: people silence them and tools count
// them.
const (
	CodeYAML          = "yaml"              // it isn't YAML, or isn't UTF-8
	CodeTooLarge      = "too-large"         // bytes, levels or values
	CodeAlias         = "yaml-alias"        // an alias or a merge key
	CodeTag           = "yaml-tag"          // a tag
	CodeKey           = "yaml-key"          // a key that isn't text
	CodeDuplicateKey  = "yaml-duplicate"    // one key twice
	CodeNumber        = "yaml-number"       // a number that readers differ on, or that isn't one
	CodeUnknownField  = "unknown-field"     // structural
	CodeMissingField  = "missing-field"     // structural
	CodeWrongType     = "wrong-type"        // structural
	CodeWrongValue    = "wrong-value"       // structural
	CodeFieldChoice   = "field-choice"      // structural: one of several, or one without its other
	CodeControl       = "control-character" // in a text that people will see
	CodeDuplicateID   = "duplicate-id"
	CodeReservedID    = "reserved-id"
	CodeEntrypoint    = "entrypoint"
	CodePath          = "path"
	CodeSchema        = "schema"       // a JSON Schema that can't be used
	CodeMarker        = "marker"       // one that prose or JSON would hold
	CodeReference     = "reference"    // $args.x and its like
	CodeUnknownName   = "unknown-name" // an agent, tool or payload that isn't there
	CodeValueRange    = "range"        // a duration past its bounds
	CodeHost          = "host"         // a host that may not be reached
	CodeURL           = "url"          // an address that may not be used
	CodeVariable      = "variable"     // ${NAME} where none may be, or a loader's variable
	CodeShell         = "mcp-shell"    // a server that runs a shell or code given inline
	CodeUnpinned      = "mcp-unpinned" // a package runner without a version
	CodeSecretName    = "env-secret"   // asks for a variable that holds a key
	CodeSecret        = "secret"       // a secret in plain text
	CodeInjection     = "instructions" // a description that gives orders to the model
	CodeTest          = "test"         // a test whose arguments can't be right
	CodeTooMany       = "more"         // what is beyond the bound of problems
	CodeEmptyManifest = "empty"        // a toolset with nothing in it
)

// structural are the codes that the published schema stands for.
func structural(code string) bool {
	switch code {
	case CodeUnknownField, CodeMissingField, CodeWrongType, CodeWrongValue, CodeFieldChoice:
		return true
	}
	return false
}

// Problem is one thing that is wrong with a manifest.
type Problem struct {
	// File is the name that the reader was given. Line and Column count from
	// 1, columns in characters; they are 0 where the file as a whole is meant.
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	// Pointer is the JSON pointer of the value, such as /tools/0/entrypoint.
	Pointer string `json:"pointer,omitempty"`
	Level   Level  `json:"level"`
	Code    string `json:"code"`
	// Message says what is wrong and what was expected, on one line.
	Message string `json:"message"`
	// Nearest is the known name that was most likely meant; the message has it.
	Nearest string `json:"did_you_mean,omitempty"`
}

// String is the problem as compilers write it.
func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s: %s", p.File, p.Level, p.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s: %s", p.File, p.Line, p.Column, p.Level, p.Message)
}

// Structural tells whether the published JSON Schema finds the problem too.
func (p Problem) Structural() bool { return structural(p.Code) }

// Error is a manifest that can't be used. It has one problem at least; its
// errors stand before its warnings.
type Error struct{ Problems []Problem }

// Error is the first problem, and how many more there are.
func (e *Error) Error() string {
	if len(e.Problems) == 0 {
		return "the manifest can't be used"
	}
	first := e.Problems[0]
	msg := fmt.Sprintf("%s: %s", first.File, first.Message)
	if first.Line > 0 {
		msg = fmt.Sprintf("%s:%d:%d: %s", first.File, first.Line, first.Column, first.Message)
	}
	if more := len(e.Problems) - 1; more > 0 {
		msg += fmt.Sprintf(" (and %d more)", more)
	}
	return msg
}

// maxProblems bounds what one file can make us hold; who has a hundred
// mistakes in a file has one mistake about the file.
const maxProblems = 100

// sink gathers the problems of one file.
type sink struct {
	problems []Problem
	dropped  int
	failed   bool // one at least is an error
}

// full tells that a further problem is only counted, so that whoever finds it
// need not look for its place and its words.
func (s *sink) full(level Level) bool {
	s.failed = s.failed || level == LevelError
	if len(s.problems) < maxProblems {
		return false
	}
	s.dropped++
	return true
}

func (s *sink) add(p Problem) {
	if s.full(p.Level) {
		return
	}
	p.Message = sanitize.Mask(p.Message)
	s.problems = append(s.problems, p)
}

// sorted gives the problems in the file's order, and says how many there are
// beyond the bound.
func (s *sink) sorted(file string) []Problem {
	slices.SortStableFunc(s.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if s.dropped == 0 {
		return s.problems
	}
	more := Problem{File: file, Level: LevelWarning, Code: CodeTooMany, Message: fmt.Sprintf("and %d more problems", s.dropped)}
	if s.failed {
		more.Level = LevelError
	}
	return append(s.problems, more)
}

// maxShown is how many characters of a value a message shows.
const maxShown = 60

// show quotes a value of the file for a message.
func show(s string) string { return sanitize.Quote(s, maxShown) }
