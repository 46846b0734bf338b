package acp

import (
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/internal/consent"
)

// reviewed shows the changes of a call that has run: a list of all, removals first, and the
// diffs of the parts that differ.
func (s *session) reviewed(r *event.Review) []toolContent {
	var list []string
	var diffs []toolContent
	for _, f := range r.Files {
		line := f.Kind + " " + consent.Line(f.Path)
		if f.Note != "" {
			line += " (" + consent.Line(f.Note) + ")"
		}
		list = append(list, line)
		path, ok := s.absolute(f.Path)
		if f.Diff == "" || !ok {
			continue
		}
		old, now := sides(f.Diff)
		c := toolContent{Type: "diff", Path: path, NewText: &now}
		if f.Kind != "added" {
			c.OldText = &old
		}
		diffs = append(diffs, c)
	}
	if r.More > 0 {
		list = append(list, fmt.Sprintf("%d more files", r.More))
	}
	for _, c := range r.Conflicts {
		list = append(list, "not applied in any case, since it was changed meanwhile: "+consent.Line(c.Path))
	}
	return append([]toolContent{shown(strings.Join(list, "\n"))}, diffs...)
}

// sides returns the lines of a unified diff as they were and as they are.
func sides(diff string) (old, now string) {
	var a, b strings.Builder
	for line := range strings.Lines(diff) {
		switch text := line[1:]; line[0] {
		case '-':
			a.WriteString(text)
		case '+':
			b.WriteString(text)
		case ' ':
			a.WriteString(text)
			b.WriteString(text)
		}
	}
	return a.String(), b.String()
}
