package engine

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/record"
)

const (
	// maxCitations and maxCited bound the citations of one turn, in number and in
	// bytes. Search results cite tens of sources.
	maxCitations = 1000
	maxCited     = 1 << 20
	// maxProviderNotes bounds the footnotes of one turn that come from a provider,
	// and maxNote the bytes of one.
	maxProviderNotes = 100
	maxNote          = 4 << 10
	// maxIgnored bounds the parts of a request that one footnote names.
	maxIgnored = 100
	// maxModelRef bounds the name of a model, which keys of records contain.
	maxModelRef = 1 << 10
	// maxErrorText bounds the text of an error event, and maxErrorLines the lines of
	// its details and of its hints.
	maxErrorText  = 64 << 10
	maxErrorLines = 100
)

// cited counts the remarks of a turn's provider.
type cited struct {
	citations, size int
	notes           int
	left            int // remarks that were left out of the response
}

// take returns the citations that the turn still has room for.
func (c *cited) take(all []json.RawMessage) []json.RawMessage {
	kept := validJSON(all)
	for i, raw := range kept {
		if c.citations == maxCitations || c.size+len(raw) > maxCited {
			c.left += len(kept) - i
			return kept[:i]
		}
		c.citations, c.size = c.citations+1, c.size+len(raw)
	}
	return kept
}

// note reports whether the turn has room for one more footnote of its provider.
func (c *cited) note() bool {
	if c.notes == maxProviderNotes {
		c.left++
		return false
	}
	c.notes++
	return true
}

// leftOut is the footnote about remarks that were left out since its last call, or nil
// if none were.
func (c *cited) leftOut() []event.Body {
	if c.left == 0 {
		return nil
	}
	n := c.left
	c.left = 0
	return []event.Body{event.Footnote{Text: fmt.Sprintf(
		"%s of the answer were left out: %d citations, %d KB of them, and %d notes are kept",
		fault.Plural(n, "citation or note"), maxCitations, maxCited>>10, maxProviderNotes)}}
}

// boundRemedies drops the remedies after the first of a list, and those with an argument
// too long for an event.
func boundRemedies(all []fault.Remedy) []fault.Remedy {
	out := slices.Clone(all[:min(len(all), maxErrorLines)])
	return slices.DeleteFunc(out, func(r fault.Remedy) bool {
		return len(r.Text)+len(r.Effect) > maxErrorText || slices.ContainsFunc(r.Args, func(a string) bool { return len(a) > maxErrorText })
	})
}

// boundLines cuts a list of lines, and each of them.
func boundLines(lines []string) []string {
	if n := len(lines); n > maxErrorLines {
		lines = append(slices.Clone(lines[:maxErrorLines]), fmt.Sprintf("[%d more lines were cut]", n-maxErrorLines))
	}
	out := slices.Clone(lines)
	for i := range out {
		out[i] = record.Clip(out[i], maxErrorText)
	}
	return out
}
