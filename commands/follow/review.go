package follow

import (
	"context"
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/internal/consent"
)

// reviewLine is one file of a review: what was done to it, and how much.
func reviewLine(f event.ReviewedFile) string {
	line := f.Kind + " " + consent.Line(f.Path)
	if f.Added+f.Removed > 0 {
		line += fmt.Sprintf("  +%s -%s", term.Number(int64(f.Added)), term.Number(int64(f.Removed)))
	}
	if f.Note != "" {
		line += "  (" + consent.Line(f.Note) + ")"
	}
	return line
}

// ReviewList lists the files of a review, a line each.
func ReviewList(r *event.Review) (lines []string) {
	for _, f := range r.Files {
		lines = append(lines, reviewLine(f))
	}
	if r.More > 0 {
		lines = append(lines, fmt.Sprintf("and %s more, which are not listed", term.Count(r.More, "file", "files")))
	}
	return lines
}

// ReviewDiff returns the diffs of a review, each below a line with its file.
func ReviewDiff(r *event.Review) (lines []string) {
	for _, f := range r.Files {
		lines = append(lines, "# "+reviewLine(f))
		for line := range strings.Lines(f.Diff) {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

// ReviewChoices are the answers to a review.
func ReviewChoices(r *event.Review) []term.Choice {
	out := []term.Choice{{Key: 'y', Label: "apply", Commits: true}}
	if len(r.Files) > 1 {
		out = append(out, term.Choice{Key: 's', Label: "some files", Commits: true})
	}
	return append(out, term.Choice{Key: 'n', Label: "discard"})
}

// ChooseFiles asks about each file of a review whether it is applied.
func ChooseFiles(ctx context.Context, r *event.Review, ask func(context.Context, term.Question) (rune, error)) ([]string, error) {
	only := []string{}
	for i, f := range r.Files {
		key, err := ask(ctx, term.Question{
			Text:    fmt.Sprintf("%d of %d: %s\n", i+1, len(r.Files), reviewLine(f)),
			Choices: []term.Choice{{Key: 'y', Label: "apply", Commits: true}, {Key: 'n', Label: "leave out"}},
		})
		if err != nil {
			return nil, err
		}
		if key == 'y' {
			only = append(only, f.Path)
		}
	}
	return only, nil
}

// OnlySome is the answer that applies the chosen files of a review.
func OnlySome(answer engine.Confirmation, only []string) engine.Confirmation {
	answer.Decision, answer.Only = event.Allow, only
	if len(only) == 0 {
		answer.Decision, answer.Only = event.Deny, nil
	}
	return answer
}
