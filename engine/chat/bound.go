package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/internal/record"
)

// Bounded returns the call without what is too long for its record. The message of the
// call and the turn's events have its arguments and its result whole. A result's text and
// data are cut first: the chat shows its payloads for as long as it exists.
func (c ToolCall) Bounded() *ToolCall {
	if n := len(c.Args); n > largestArgs {
		c.Args = json.RawMessage(fmt.Sprintf(`{"cut":"%d bytes"}`, n))
	}
	n := len(c.Result)
	if n <= largestArgs {
		return &c
	}
	var fields map[string]json.RawMessage
	left := json.RawMessage(fmt.Sprintf(`{"cut":"%d bytes"}`, n))
	if json.Unmarshal(c.Result, &fields) == nil {
		delete(fields, "text")
		delete(fields, "data")
		fields["cut"], _ = record.Marshal(fmt.Sprintf("%d bytes", n)) // a string can't fail
		if kept, err := record.Marshal(fields); err == nil && len(kept) <= largestPayloads {
			left = kept
		}
	}
	c.Result = left
	return &c
}

// BoundRemarks cuts what a message has in addition to its parts to largestRemarks,
// notes that in a footnote of the message, and returns the names of the fields.
func (m *Message) BoundRemarks() ([]string, error) {
	beside := *m
	beside.Parts = nil
	cut, err := record.Bound(&beside, largestRemarks)
	if len(cut) == 0 || err != nil {
		return nil, err
	}
	beside.Parts = m.Parts
	beside.Notes = append(slices.Clone(beside.Notes), "too long to be kept whole; what was cut: "+strings.Join(cut, ", "))
	*m = beside
	return cut, nil
}

// largestRemarks bounds what a message has in addition to its parts, as encoded:
// notes, citations, suggestions, an error.
const largestRemarks = 4 << 20

// largestPayloads bounds the two payloads of a result of which nothing else is
// kept: each has up to 1 MB.
const largestPayloads = 2<<20 + 4<<10
