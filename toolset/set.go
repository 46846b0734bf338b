package toolset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/internal/didyoumean"
)

// Entry is a tool with what runs it.
type Entry struct {
	Tool   Tool
	Runner Runner
	// Prepare is called before the state of the workspace is taken that undo of the call
	// returns to, with the call that Runner gets next. An error is why the call can't run,
	// for the model. It is nil where nothing has to be prepared.
	Prepare func(context.Context, Call) error
	// InTerminal reports that Runner runs commands in the terminal of a workspace that has
	// one.
	InTerminal bool
	// Dir is the absolute folder of the toolset's files, which an artifact's
	// path is meant from; empty for a builtin.
	Dir string
	// OwnProcess reports that each call runs in a process of its own, which has ended when
	// Run returns, and changes the workspace in no other way. Such calls can have a layer.
	OwnProcess bool
	// OwnLayer reports that Runner writes to [Workspace.Layer] if the workspace has one, and
	// changes the workspace in no other way. It is not given one together with an editor.
	OwnLayer bool
}

// Set is an immutable collection of entries with distinct ids, in the order
// in which they were given. A nil Set is an empty one.
type Set struct {
	entries []Entry
	byID    map[string]int
	byBare  map[string][]int
}

// ErrDuplicate is the cause where two entries have one id.
var ErrDuplicate = errors.New("the id is taken")

// NewSet makes a set. It refuses duplicates, ids that break the rules, a
// missing runner, and an input schema that is no JSON object; whether a schema
// compiles is not looked at, since that costs more than listing tools should.
func NewSet(entries ...Entry) (*Set, error) {
	s := &Set{
		entries: slices.Clone(entries),
		byID:    make(map[string]int, len(entries)),
		byBare:  make(map[string][]int, len(entries)),
	}
	for i, e := range s.entries {
		if err := checkEntry(e); err != nil {
			return nil, fmt.Errorf("add tool %q: %w", e.Tool.ID, err)
		}
		if _, taken := s.byID[e.Tool.ID]; taken {
			return nil, fmt.Errorf("add tool %q: %w", e.Tool.ID, ErrDuplicate)
		}
		s.byID[e.Tool.ID] = i
		bare := e.Tool.BareID()
		s.byBare[bare] = append(s.byBare[bare], i)
	}
	return s, nil
}

func checkEntry(e Entry) error {
	if err := CheckID(e.Tool.ID); err != nil {
		return err
	}
	toolset, _, scoped := strings.Cut(e.Tool.ID, ":")
	if !scoped {
		toolset = ""
	}
	if e.Tool.ToolsetID != toolset {
		return fmt.Errorf("its toolset_id is %q and should be %q", e.Tool.ToolsetID, toolset)
	}
	if e.Runner == nil {
		return errors.New("it has no runner")
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(e.Tool.InputSchema, &object); err != nil || object == nil {
		return errors.New("its input_schema is not a JSON object")
	}
	return nil
}

// maxIDPart bounds each part of an id. MCP allows names of 128 characters.
const maxIDPart = 128

// CheckID tells what is wrong with a tool id, by the rules in the package's
// documentation.
func CheckID(id string) error {
	toolset, bare, scoped := strings.Cut(id, ":")
	if !scoped {
		return checkIDPart("the id", toolset)
	}
	if err := checkIDPart("the toolset", toolset); err != nil {
		return err
	}
	return checkIDPart("the part after the colon", bare)
}

func checkIDPart(what, part string) error {
	switch {
	case part == "":
		return fmt.Errorf("%s is empty", what)
	case len(part) > maxIDPart:
		return fmt.Errorf("%s has %d characters; %d are allowed", what, len(part), maxIDPart)
	}
	for i := range len(part) {
		c := part[i]
		word := c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !word && (i == 0 || c != '-' && c != '.' && c != '/') {
			return fmt.Errorf("%s may hold letters, digits, _ - . and /, and begins with a letter, a digit or _", what)
		}
	}
	return nil
}

// Len is the number of entries.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return len(s.entries)
}

// All yields the entries in their order.
func (s *Set) All() iter.Seq[Entry] {
	if s == nil {
		return func(func(Entry) bool) {}
	}
	return slices.Values(s.entries)
}

// Get finds an entry by its tool id.
func (s *Set) Get(id string) (Entry, bool) {
	if s == nil {
		return Entry{}, false
	}
	i, ok := s.byID[id]
	if !ok {
		return Entry{}, false
	}
	return s.entries[i], true
}

// ByBareID finds the entries with this bare id, in their order.
func (s *Set) ByBareID(bare string) []Entry {
	if s == nil {
		return nil
	}
	var found []Entry
	for _, i := range s.byBare[bare] {
		found = append(found, s.entries[i])
	}
	return found
}

// With makes a set that has the entries too.
func (s *Set) With(entries ...Entry) (*Set, error) {
	return NewSet(slices.Concat(slices.Collect(s.All()), entries)...)
}

// Offered makes the set of the enabled tools.
func (s *Set) Offered() *Set {
	return s.subset(func(e Entry) bool { return e.Tool.Enabled })
}

// subset keeps what the function wants; a part of a valid set is valid.
func (s *Set) subset(keep func(Entry) bool) *Set {
	var kept []Entry
	for e := range s.All() {
		if keep(e) {
			kept = append(kept, e)
		}
	}
	sub, err := NewSet(kept...)
	if err != nil { // can't be: each entry was in a set before
		return &Set{}
	}
	return sub
}

// SelectError says which pattern means nothing, or too much.
type SelectError struct {
	Pattern string
	// Reason is a clause, such as "no tool matches it".
	Reason string
	// Candidates are tool ids that may have been meant, best first.
	Candidates []string
}

// Error names the pattern, the reason and the candidates.
func (e *SelectError) Error() string {
	msg := fmt.Sprintf("select tools %q: %s", e.Pattern, e.Reason)
	switch len(e.Candidates) {
	case 0:
		return msg
	case 1:
		return msg + "; did you mean " + e.Candidates[0] + "?"
	}
	return msg + "; it could be " + strings.Join(e.Candidates, " or ")
}

// Select makes the set of the tools that the patterns mean, in the order of
// this set. Patterns follow [Match], and:
//
//   - A pattern without wildcards that is no tool id may be a bare id, if
//     exactly one tool has it.
//   - `!pattern` takes tools away. Patterns apply from left to right, and a
//     list that begins with `!` begins with all tools.
//   - A pattern that means no tool at all is a [*SelectError]: it is a slip,
//     and a slip in what is taken away would go unseen.
//
// No patterns select nothing.
func (s *Set) Select(patterns ...string) (*Set, error) {
	chosen := make(map[string]bool)
	if len(patterns) > 0 && strings.HasPrefix(patterns[0], "!") {
		for e := range s.All() {
			chosen[e.Tool.ID] = true
		}
	}
	for _, p := range patterns {
		bare, without := strings.CutPrefix(p, "!")
		ids, err := s.meant(bare)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			chosen[id] = !without
		}
	}
	return s.subset(func(e Entry) bool { return chosen[e.Tool.ID] }), nil
}

// meant gives the ids that one pattern means; never none.
func (s *Set) meant(pattern string) ([]string, error) {
	var ids []string
	for e := range s.All() {
		ok, err := Match(pattern, e.Tool.ID)
		if err != nil {
			return nil, &SelectError{Pattern: pattern, Reason: err.Error()}
		}
		if ok {
			ids = append(ids, e.Tool.ID)
		}
	}
	if len(ids) > 0 {
		return ids, nil
	}
	if _, err := Match(pattern, "x"); err != nil { // a set without tools looked at nothing
		return nil, &SelectError{Pattern: pattern, Reason: err.Error()}
	}
	if literal(pattern) {
		for _, e := range s.ByBareID(pattern) {
			ids = append(ids, e.Tool.ID)
		}
		if len(ids) == 1 {
			return ids, nil
		}
		if len(ids) > 1 {
			return nil, &SelectError{Pattern: pattern, Reason: "several toolsets have it", Candidates: ids}
		}
	}
	return nil, &SelectError{Pattern: pattern, Reason: "no tool matches it", Candidates: s.near(pattern)}
}

func (s *Set) near(pattern string) []string {
	var names []string
	of := make(map[string]string)
	for e := range s.All() {
		for _, name := range []string{e.Tool.BareID(), e.Tool.ID} {
			names = append(names, name)
			of[name] = e.Tool.ID
		}
	}
	if n := didyoumean.Of(pattern, names); n != "" {
		return []string{of[n]}
	}
	return nil
}
