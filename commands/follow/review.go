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

// reviewLine describes one file of a review: what was done to it, and how much.
func reviewLine(f event.ReviewedFile) string {
	line := f.Kind + " " + consent.Line(f.Path)
	if f.Added+f.Removed > 0 {
		line += fmt.Sprintf("  +%s -%s", term.Number(int64(f.Added)), term.Number(int64(f.Removed)))
	}
	if f.Note != "" {
		line += "  (" + consent.Line(f.Note) + ")"
	}
	if f.Group != "" && f.Group != f.Path {
		line += "  (together with " + consent.Line(f.Group) + ")"
	}
	return line
}

// ReviewList lists the files of a review, a line each.
func ReviewList(r *event.Review) (lines []string) {
	for _, f := range r.Files {
		lines = append(lines, reviewLine(f))
	}
	return append(lines, reviewRest(r)...)
}

// reviewRest describes what a review has besides its files.
func reviewRest(r *event.Review) (lines []string) {
	if r.More > 0 {
		lines = append(lines, fmt.Sprintf("and %s more, which are not listed and are applied only with all others", term.Count(r.More, "file", "files")))
	}
	for _, c := range r.Conflicts {
		lines = append(lines, "not applied in any case, since it was changed meanwhile: "+consent.Line(c.Path)+" ("+consent.Line(c.Kind)+")")
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
	for _, line := range reviewRest(r) {
		lines = append(lines, "# "+line)
	}
	return lines
}

// ReviewChoices returns the answers to a review.
func ReviewChoices(r *event.Review) []term.Choice {
	out := []term.Choice{{Key: 'y', Label: "apply", Commits: true}}
	if len(r.Groups()) > 1 {
		out = append(out, term.Choice{Key: 's', Label: "some files", Commits: true})
	}
	return append(out, term.Choice{Key: 'n', Label: "discard"}, term.Choice{Key: 'r', Label: "discard, and say why"})
}

// ChooseFiles asks about each file of a review whether it is applied. Files that are applied
// together are one question.
func ChooseFiles(ctx context.Context, r *event.Review, ask func(context.Context, term.Question) (rune, error)) ([]string, error) {
	only := []string{}
	groups := r.Groups()
	key := rune(0)
	for i, group := range groups {
		if key != 'a' {
			var text strings.Builder
			fmt.Fprintf(&text, "%d of %d:", i+1, len(groups))
			for _, f := range group {
				text.WriteString(" " + reviewLine(f) + "\n")
			}
			var err error
			key, err = ask(ctx, term.Question{Text: text.String(), Choices: []term.Choice{
				{Key: 'y', Label: "apply", Commits: true}, {Key: 'n', Label: "leave out"},
				{Key: 'a', Label: "apply this and all that follow", Commits: true}, {Key: 'd', Label: "leave out this and all that follow"},
			}})
			if err != nil {
				return nil, err
			}
		}
		if key == 'd' {
			break
		}
		for _, f := range group {
			if key != 'n' {
				only = append(only, f.Path)
			}
		}
	}
	return only, nil
}

// ReviewAnswer is the answer to a question for a key: one that allows applies all changes of
// a call that has run.
func ReviewAnswer(ask event.ConfirmRequest, key rune) engine.Confirmation {
	a := engine.Confirmation{ToolUseID: ask.ToolUseID, Decision: DecisionOf(key)}
	a.All = ask.Review != nil && a.Decision.Allows()
	return a
}

// OnlySome returns the answer that applies the chosen files of a review.
func OnlySome(ask event.ConfirmRequest, only []string) engine.Confirmation {
	a := engine.Confirmation{ToolUseID: ask.ToolUseID, Decision: event.Allow, Only: only}
	if len(only) == 0 {
		a.Decision, a.Only = event.Deny, nil
	}
	return a
}
