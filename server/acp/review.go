package acp

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/internal/consent"
	"github.com/fettle-cli/fettle/server/asking"
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
	if len(r.Groups()) > maxEach {
		list = append(list, "there are too many files to choose from: apply all and take calls back by /undo, or discard all and ask for less")
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

// A permission has no list of choices, so a part of a review is chosen by an option that
// leaves one file out, or by one permission for each file.
const (
	optionEach    = "each"
	optionWithout = "without:" // and the index of the group that is left out
	optionRest    = "allow_rest"
	optionNone    = "reject_rest"
)

const (
	// maxWithout is up to how many groups of files each has an option that leaves it out.
	maxWithout = 5
	// maxEach is up to how many groups of files the user can be asked about each.
	maxEach = 50
)

// reviewOptions are the answers to a review. Files that are applied together are one choice.
func reviewOptions(r *event.Review) []permissionOption {
	out := []permissionOption{{optionOnce, "Apply the changes", "allow_once"}}
	groups := r.Groups()
	if n := len(groups); n > 1 && n <= maxWithout {
		for i, g := range groups {
			out = append(out, permissionOption{optionWithout + strconv.Itoa(i), "Apply all but " + groupName(g), "allow_once"})
		}
	}
	if n := len(groups); n > 1 && n <= maxEach {
		out = append(out, permissionOption{optionEach, "Choose file by file", "allow_once"})
	}
	return append(out, permissionOption{optionReject, "Discard them", "reject_once"})
}

// groupName names the files that are applied together.
func groupName(g []event.ReviewedFile) string {
	name := consent.Line(g[0].Path)
	if n := len(g) - 1; n > 0 {
		name += " and " + count(n, "file", "files") + " that go with it"
	}
	return name
}

// reviewAnswer returns the answer to a review that an option stands for. p is the permission
// that offered it.
func (q *asker) reviewAnswer(ctx context.Context, c event.ConfirmRequest, p permissionParams, option string) engine.Confirmation {
	groups := c.Review.Groups()
	left := -1
	if n, ok := strings.CutPrefix(option, optionWithout); ok {
		if i, err := strconv.Atoi(n); err == nil {
			left = i
		}
	}
	switch {
	case option == optionOnce:
		return engine.Confirmation{ToolUseID: c.ToolUseID, Decision: event.Allow, All: true}
	case option == optionEach:
		return q.chooseFiles(ctx, c, p)
	case left >= 0 && left < len(groups):
		var only []string
		for i, g := range groups {
			if i != left {
				only = append(only, paths(g)...)
			}
		}
		return asking.Only(c.ToolUseID, only)
	}
	return asking.Deny(c.ToolUseID, "")
}

// chooseFiles asks about each group of files of a review. Without an answer nothing is
// applied.
func (q *asker) chooseFiles(ctx context.Context, c event.ConfirmRequest, p permissionParams) engine.Confirmation {
	groups := c.Review.Groups()
	only := []string{}
	p.Options = []permissionOption{
		{optionOnce, "Apply", "allow_once"}, {optionReject, "Leave out", "reject_once"},
		{optionRest, "Apply this and all that follow", "allow_once"}, {optionNone, "Leave out this and all that follow", "reject_once"},
	}
	for i, g := range groups {
		p.ToolCall.Title = strconv.Itoa(i+1) + " of " + strconv.Itoa(len(groups)) + ": " + g[0].Kind + " " + groupName(g)
		p.ToolCall.Outputs = q.session.reviewed(&event.Review{Files: g})
		got, err := q.permission(ctx, p)
		if err != nil || got.Outcome.Outcome != "selected" {
			return q.decision(c, got, err)
		}
		switch got.Outcome.OptionID {
		case optionOnce:
			only = append(only, paths(g)...)
		case optionRest:
			for _, rest := range groups[i:] {
				only = append(only, paths(rest)...)
			}
			return asking.Only(c.ToolUseID, only)
		case optionNone:
			return asking.Only(c.ToolUseID, only)
		}
	}
	return asking.Only(c.ToolUseID, only)
}

func paths(g []event.ReviewedFile) (out []string) {
	for _, f := range g {
		out = append(out, f.Path)
	}
	return out
}
