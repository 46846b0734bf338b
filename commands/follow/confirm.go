package follow

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/consent"
	"github.com/fettle-cli/fettle/server/client"
)

// confirm asks the user at the terminal whether a call may run. A stray Enter allows
// nothing, and no answer is a no. Where the question leaves something out, nothing can
// be allowed before the details have been shown to their end.
func confirm(ctx context.Context, rt *workbench.Runtime, eng client.Turns, id store.TurnID, ask event.ConfirmRequest) error {
	if ask.Form != nil {
		return answerForm(ctx, rt, eng, id, ask)
	}
	if rt.Approve != nil {
		if asked, err := rt.Approve(ctx, id, ask); asked || err != nil {
			return err
		}
	}
	q := newCallQuestion(ask, rt.PromptWidth())
	for {
		key, err := rt.Streams.Ask(ctx, term.Question{Text: q.text, Choices: q.choices()})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		switch key {
		case '?':
			q.text = q.details.First()
		case 'm':
			q.text = q.details.Next()
		case 'e':
			q.text = q.details.Rest()
		default:
			answer, err := answerOf(ctx, rt, ask, key, err)
			if err != nil {
				return err
			}
			return eng.Confirm(ctx, id, answer)
		}
	}
}

// answerOf returns the answer for a key, after the questions that follow it. asked is the
// error of the question: without an answer nothing is allowed.
func answerOf(ctx context.Context, rt *workbench.Runtime, ask event.ConfirmRequest, key rune, asked error) (answer engine.Confirmation, err error) {
	switch {
	case asked != nil:
		answer = ReviewAnswer(ask, 'n')
	case key == 's':
		var only []string
		only, asked = ChooseFiles(ctx, ask.Review, rt.Streams.Ask)
		answer = OnlySome(ask, only)
	case key == 'r':
		answer = ReviewAnswer(ask, 'n')
		answer.Reason, asked = rt.Streams.AskLine(ctx, "  why not: ")
	default:
		answer = ReviewAnswer(ask, key)
	}
	if ctx.Err() != nil {
		return answer, context.Cause(ctx)
	}
	if asked != nil && answer.Reason == "" {
		answer.Reason = "nobody answered"
	}
	return answer, nil
}

// callQuestion is the question about a call.
type callQuestion struct {
	text    string
	rule    string // as the choice shows it; "" where it is in the text
	once    bool   // no rule can be made
	review  *event.Review
	cut     bool // the text leaves something out
	details *Details
}

// choices are the answers that can be given now.
func (q *callQuestion) choices() []term.Choice {
	no, details := term.Choice{Key: 'n', Label: "no"}, term.Choice{Key: '?', Label: "details"}
	switch {
	case q.details.Left() > 0:
		return append(MoreChoices(), no)
	case q.cut && !q.details.Seen:
		return []term.Choice{no, details}
	case q.review != nil:
		return append(ReviewChoices(q.review), details)
	case q.once:
		return []term.Choice{{Key: 'y', Label: "once", Commits: true}, no, details}
	}
	always := "always"
	if q.rule != "" {
		always += ": " + q.rule
	}
	return []term.Choice{
		{Key: 'y', Label: "once", Commits: true},
		{Key: 'c', Label: "this chat", Commits: true},
		{Key: 'a', Label: always, Commits: true},
		no, details,
	}
}

const (
	// askedLines is how many rows of a call's main argument are above the question.
	askedLines = 5
	// askedBytes bounds what is laid out for them.
	askedBytes = 4096
	// reviewLines is how many lines of changes are above the question about them.
	reviewLines = 30
	// ruleLines is how many rows of a rule are above the question.
	ruleLines = 4
)

// newCallQuestion makes the question: the call, and why it needs approval.
func newCallQuestion(ask event.ConfirmRequest, width int) *callQuestion {
	var b strings.Builder
	short := consent.Read(ask.Input).Summary(askedBytes)
	q := &callQuestion{cut: short.Cut, once: ask.Rule == "", details: NewDetails(ask, width)}
	head := strings.TrimRight(consent.Line(ask.Tool)+"  "+consent.Line(short.Main), " ")
	lines := term.Chop(head, width-4)
	if len(lines) > askedLines {
		lines, q.cut = lines[:askedLines-1], true
	}
	for i, line := range lines {
		if i == 0 {
			fmt.Fprintf(&b, "→ %s\n", line)
		} else {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	for _, other := range short.Others {
		indented(&b, "    ", other, width)
	}
	if q.review = ask.Review; q.review != nil {
		q.addReview(&b, width)
	}
	for _, line := range term.Wrap("needs your approval: "+consent.Line(ask.Reason), width-2) {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	q.addRule(&b, ask.Rule, width)
	if q.cut {
		b.WriteString("  … not all of it is shown: ? shows the rest, before you can allow it\n")
	}
	q.text = b.String()
	return q
}

// addReview shows the changes that a call has made, as far as they fit.
func (q *callQuestion) addReview(b *strings.Builder, width int) {
	lines := ReviewDiff(q.review)
	if len(lines) > reviewLines {
		lines, q.cut = ReviewList(q.review), true
		lines = lines[:min(len(lines), reviewLines)]
	}
	for _, line := range lines {
		indented(b, "    ", consent.Line(line), width)
	}
}

// addRule shows what always allows: in its choice, or above the question where it is
// long.
func (q *callQuestion) addRule(b *strings.Builder, rule string, width int) {
	rule = consent.Line(rule)
	if term.Cells(rule) <= max(width-16, 16) {
		q.rule = rule
		return
	}
	lines := term.Chop("c and a allow from now on "+rule, width-2)
	if len(lines) > ruleLines {
		lines, q.cut = lines[:ruleLines-1], true
	}
	for _, line := range lines {
		fmt.Fprintf(b, "  %s\n", line)
	}
}

// indented writes a line, broken into rows of a width.
func indented(b *strings.Builder, indent, line string, width int) {
	for _, part := range term.Chop(line, width-len(indent)) {
		b.WriteString(indent + part + "\n")
	}
}

// maxDenied is how many calls an error lists.
const maxDenied = 5

// deniedFault says which calls were not allowed, and what would allow them.
func deniedFault(p event.ResponsePayload) error {
	f := fault.New(fault.Approval, term.Count(p.Denied, "tool call", "tool calls")+" needed an approval that nobody could give")
	var allow []string
	mode := ""
	for _, h := range p.ToolHistory {
		if h.Status != event.CallError || !strings.Contains(h.Output, "nobody can be asked") {
			continue
		}
		if len(f.Detail) < maxDenied {
			f.Detail = append(f.Detail, term.CutEnd(show.OneLine(h.ToolID)+"  "+show.ArgLine(h.Input), 76))
		}
		if strings.Contains(h.Output, permission.AskAllReason) {
			mode = "--approvals calls " // no rule allows anything in that mode
		}
		if flag := "--allow " + h.ToolID; !slices.Contains(allow, flag) {
			allow = append(allow, flag)
		}
	}
	flags := mode + strings.Join(allow, " ")
	switch {
	case len(allow) == 0:
	case p.ConversationID > 0:
		f.Remedies = []fault.Remedy{fault.Run(fmt.Sprintf("fettle ask --chat %d %s \"go on\"", p.ConversationID, flags))}
	default:
		f.Remedies = []fault.Remedy{fault.Run("fettle ask " + flags + " …   runs them")}
	}
	return f
}
