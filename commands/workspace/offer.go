package workspace

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/commands/follow"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/consent"
)

// Offers asks about what calls wrote that were cut off. The zero value is ready to use.
type Offers struct {
	later map[string]bool // the calls that the user decides about later
}

// Ask asks about each call that was cut off in a chat, or in the user's folder that the chat
// works in: the user applies its changes, discards them, or decides later, and is asked once
// a run. Where the terminal can't ask, nothing happens. What is shown goes to standard error.
// A failure to apply or to discard is shown, and the call stays.
func (o *Offers) Ask(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, c chat.Chat) error {
	if rt.Quiet || !rt.Streams.CanAsk() {
		return nil
	}
	all, err := eng.CutWritesOf(ctx, c)
	if err != nil {
		return err
	}
	for _, w := range all {
		if o.later[w.CallID] {
			continue
		}
		done, err := o.about(ctx, rt, eng, w.CallID)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if f := (*fault.Fault)(nil); errors.As(err, &f) {
			workbench.PrintFault(rt, f)
		} else if err != nil {
			rt.Notice(err.Error())
		}
		if !done {
			if o.later == nil {
				o.later = make(map[string]bool)
			}
			o.later[w.CallID] = true
		}
	}
	return nil
}

// about asks about one call, and reports whether its changes were applied or discarded.
func (o *Offers) about(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, call string) (done bool, err error) {
	cut, err := eng.ReviewCut(ctx, call, rt.Waiting)
	if err != nil {
		return false, err
	}
	text := offerText(cut, rt.PromptWidth())
	for {
		key, err := rt.Streams.Ask(ctx, term.Question{Text: text, Default: 'l', Choices: []term.Choice{
			{Key: 'a', Label: "apply", Commits: true}, {Key: 's', Label: "show diff"},
			{Key: 'd', Label: "discard", Commits: true}, {Key: 'l', Label: "later"},
		}})
		switch {
		case errors.Is(err, term.ErrNoAnswer), errors.Is(err, term.ErrNoTerminal):
			return false, nil
		case err != nil:
			return false, err
		}
		switch key {
		case 'a':
			err = applyCut(ctx, rt, eng, call, rt.Streams.Err)
			return err == nil, err
		case 'd':
			err = discardCut(ctx, rt, eng, call, rt.Streams.Err)
			return err == nil, err
		case 'l':
			return false, nil
		}
		for _, line := range follow.ReviewDiff(cut.Review) {
			rt.Streams.Err.Printf("%s\n", consent.Line(line))
		}
		text = ""
	}
}

// offeredFiles is how many files the question lists.
const offeredFiles = 5

// offerText describes a call that was cut off, and the files that it changed.
func offerText(cut *engine.CutReview, width int) string {
	var b strings.Builder
	wrapped := func(indent, text string) {
		for _, line := range term.Wrap(text, width-len(indent)) {
			b.WriteString(indent + line + "\n")
		}
	}
	wrapped("", "A call was cut off "+term.Ago(time.Now(), cut.Started)+". What it wrote is not in "+consent.Line(cut.Workspace)+" yet:")
	name := consent.Line(cut.ToolID)
	if name == "" {
		name = "call " + cut.CallID
	}
	b.WriteString("→ " + term.CutEnd(strings.TrimRight(name+"  "+show.ArgLine(cut.Args), " "), width-4) + "\n")
	if cut.Suspect {
		wrapped("  ", "The system was started again since then, so these files may be damaged.")
	}
	lines := follow.ReviewList(cut.Review)
	for _, line := range lines[:min(len(lines), offeredFiles)] {
		b.WriteString("  " + term.CutEnd(line, width-4) + "\n")
	}
	if more := len(lines) - offeredFiles; more > 0 {
		fmt.Fprintf(&b, "  and %s more\n", term.Number(int64(more)))
	}
	for _, note := range cut.Notes {
		wrapped("  ", consent.Line(note))
	}
	return b.String()
}
