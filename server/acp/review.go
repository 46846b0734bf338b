package acp

import (
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/internal/consent"
)

// reviewed are the changes of a call that has run, as diffs of the parts that differ. Files
// without a diff are named.
func (s *session) reviewed(r *event.Review) (out []toolContent) {
	var named []string
	for _, f := range r.Files {
		path, ok := s.absolute(f.Path)
		if f.Diff == "" || !ok {
			named = append(named, f.Kind+" "+consent.Line(f.Path))
			continue
		}
		old, now := sides(f.Diff)
		c := toolContent{Type: "diff", Path: path, NewText: &now}
		if f.Kind != "added" {
			c.OldText = &old
		}
		out = append(out, c)
	}
	if r.More > 0 {
		named = append(named, fmt.Sprintf("%d more files", r.More))
	}
	if len(named) > 0 {
		out = append(out, shown(strings.Join(named, "\n")))
	}
	return out
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
