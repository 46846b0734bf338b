package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// What a schema may be. Tools have dozens of objects; the largest published
// schemas (OpenAI, ACP) have two to three thousand. The library finds a
// subschema again by a linear search, and copies its tables for each reference
// to a place that is no schema's, such as #/examples/0, so these bounds keep
// compiling under a second or two.
const (
	maxSize         = 1 << 20
	maxSchemaValues = 100_000
	maxObjects      = 5_000
	maxIDs          = 100
	maxAnchors      = 100
	maxOddPlaces    = 50
	// maxExpansion bounds the subschemas that one value can meet when
	// references are followed: ten lines of `allOf` can ask for 2^10.
	maxExpansion = 10_000
	// maxChain bounds how deep those are nested. With maxDepth it bounds the
	// library's recursion to some tens of megabytes of stack.
	maxChain = 200
)

// What one check may cost. A megabyte of arguments takes about a hundred
// thousand steps of a few hundred nanoseconds, and each can leave an error of
// half a kilobyte.
const (
	maxSteps     = 250_000
	maxCheckTime = 2 * time.Second
)

// documentURL is the base of relative references. Nothing is loaded from it.
const documentURL = "fettle://document/schema"

// Schema is a compiled schema.
type Schema struct {
	root *jsonschema.Schema
	// hooks and at are read-only once compiled; they serve the messages.
	hooks map[*jsonschema.Schema]*hook
	at    map[string]*jsonschema.Schema

	mu  sync.Mutex // guards run for the length of a check
	run *run
}

// CompileError says what is wrong with a schema, and where in it.
type CompileError struct {
	// Problems has at least one entry.
	Problems []Problem
}

// Error gives the first problem, and how many more there are.
func (e *CompileError) Error() string {
	msg := e.Problems[0].String()
	if more := len(e.Problems) - 1; more > 0 {
		msg += fmt.Sprintf(" (and %d more)", more)
	}
	return msg
}

func compileError(pointer, format string, args ...any) error {
	return &CompileError{Problems: []Problem{{Pointer: pointer, Message: fmt.Sprintf(format, args...)}}}
}

// Compile reads a schema. Errors are [*CompileError].
func Compile(raw []byte) (s *Schema, err error) {
	if len(raw) > maxSize {
		return nil, compileError("", "the schema has %d bytes; %d are allowed", len(raw), maxSize)
	}
	doc, err := decode(raw, maxSchemaValues)
	if err != nil {
		var de *DecodeError
		if errors.As(err, &de) && de.Line == 0 {
			return nil, compileError(de.Pointer, "%s", de.Message)
		}
		return nil, compileError("", "%v", err)
	}
	defer func() {
		if p := recover(); p != nil { // the library, on a schema that nobody foresaw
			s, err = nil, compileError("", "the schema can't be used: %v", p)
		}
	}()
	return compile(doc)
}

func compile(doc any) (*Schema, error) {
	switch doc.(type) {
	case map[string]any, bool:
	default:
		return nil, compileError("", "expected a schema (an object, true or false), got %s", typeName(doc))
	}
	var sv survey
	sv.walk(doc, nil)
	if err := sv.tooMuch(); err != nil {
		return nil, err
	}
	r := &run{}
	pats := &patterns{run: r, known: map[string]jsonschema.Regexp{}}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(pats.compile)
	if err := c.AddResource(documentURL, doc); err != nil {
		return nil, compileError("", "%v", err)
	}
	root, err := c.Compile(documentURL)
	if err != nil {
		return nil, sv.explain(err)
	}
	entries := []*jsonschema.Schema{root}
	for _, p := range sv.anchors {
		// Compiled again, the library gives the same schema. What isn't one,
		// but looks like one inside an enum, is of no interest.
		if a, err := c.Compile(documentURL + "#" + escapeFragment(p)); err == nil {
			entries = append(entries, a)
		}
	}
	all := reachable(entries)
	if err := checkExpansion(all); err != nil {
		return nil, err
	}
	return instrument(root, all, r), nil
}

// noLoader refuses every reference out of the document; the library resolves
// those inside it, and the metaschemas, without asking.
type noLoader struct{}

var errRemote = errors.New("references may only lead to a place in the same document, such as #/$defs/item")

func (noLoader) Load(string) (any, error) { return nil, errRemote }

// Validate checks one JSON document. No problems mean that it fits. What is no
// JSON, or breaks the strict rules of [Decode], is a problem too.
func (s *Schema) Validate(raw []byte) []Problem {
	v, err := Decode(raw)
	if err != nil {
		var de *DecodeError
		if errors.As(err, &de) && de.Line == 0 {
			return []Problem{{Pointer: de.Pointer, Message: de.Message}}
		}
		return []Problem{{Message: err.Error()}}
	}
	return s.check(v)
}

// ValidateValue checks a Go value as the JSON document that it encodes to.
func (s *Schema) ValidateValue(v any) []Problem {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return []Problem{{Message: "it can't be written as JSON: " + trimError(err.Error())}}
	}
	return s.Validate(buf.Bytes())
}

func (s *Schema) check(v any) (problems []Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run.begin()
	defer func() {
		switch p := recover().(type) {
		case nil:
		case stopped:
			problems = []Problem{{Message: "it can't be checked: " + string(p)}}
		default: // the library, on something that nobody foresaw
			problems = []Problem{{Message: fmt.Sprintf("it can't be checked: %v", p)}}
		}
	}()
	err := s.root.Validate(v)
	if err == nil {
		return nil
	}
	var verr *jsonschema.ValidationError
	if !errors.As(err, &verr) {
		return []Problem{{Message: err.Error()}}
	}
	return (&translator{schema: s}).problems(verr)
}
