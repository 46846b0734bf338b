package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/commands/show"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workspace"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
)

const (
	// callDiffLines bounds the diff that is shown below a call; /diff has all of it.
	callDiffLines = 16
	// planLines bounds what a tool's own view shows below its call.
	planLines = 14
	// detailedCalls is how many calls of a turn are kept whole, for /render and
	// for details; their texts are bounded by the engine.
	detailedCalls = 200
	// maxThought bounds the reasoning that is kept to be unfolded.
	maxThought = 1 << 20
)

// chatLog is what a turn leaves to be opened: the answer, what was thought, and
// its calls. It also writes what a chat shows beside what ask shows.
type chatLog struct {
	talk    *talk
	begun   time.Time
	answer  strings.Builder
	thought strings.Builder // all of the turn
	part    int             // bytes of it that stand on their own fold
	since   time.Time       // when the part began
	calls   []doneCall
	inputs  map[string]json.RawMessage
	context int
	asked   int64
	next    []string // what the answer suggests to go on with
	said    said
	direct  bool // the calls are the person's own
}

// said is what was printed last of a turn: text and steps stand apart.
type said int

const (
	saidNothing said = iota
	saidText
	saidStep
)

// apart puts an empty line between text and steps.
func (l *chatLog) apart(out *term.Output, now said) {
	if l.said != saidNothing && l.said != now {
		out.WriteString("\n")
	}
	l.said = now
}

// doneCall is a call that has ended.
type doneCall struct {
	event.ToolComplete
	input json.RawMessage
}

// think keeps reasoning for the fold.
func (l *chatLog) think(text string) {
	if l.part == 0 {
		l.since = time.Now()
	}
	if l.thought.Len() < maxThought {
		l.thought.WriteString(text)
	}
	l.part += len(text)
}

// fold is the line that stands for a piece of reasoning; "" where there was
// none.
func (l *chatLog) fold() string {
	if l.part == 0 {
		return ""
	}
	all := l.thought.String()
	words := len(strings.Fields(all[max(0, len(all)-l.part):]))
	took := time.Since(l.since)
	l.part = 0
	l.thought.WriteString("\n\n")
	line := "∴ thought: " + term.Count(words, "word", "words")
	if took >= time.Second {
		line += ", " + term.Duration(took)
	}
	return line + " · Ctrl-O opens it"
}

// start keeps what a call was given.
func (l *chatLog) start(b event.ToolStart) {
	if l.inputs == nil {
		l.inputs = map[string]json.RawMessage{}
	}
	l.inputs[b.ToolUseID] = b.Input
}

// ended shows what a call gave below its line: the result's first line, the
// tool's own view, the diff of what it changed.
func (l *chatLog) ended(out *term.Output, b event.ToolComplete) {
	call := doneCall{b, l.inputs[b.ToolUseID]}
	delete(l.inputs, b.ToolUseID)
	if len(l.calls) < detailedCalls {
		l.calls = append(l.calls, call)
	}
	if b.Status == event.CallError {
		return
	}
	if l.direct {
		var text strings.Builder
		show.Detail(&text, "  ", strings.TrimPrefix(b.Result, "exit 0\n"), max(out.Width(), 20))
		out.WriteString(text.String())
	}
	shown := l.direct
	if strings.Contains(b.ToolID, ":") { // a toolset's: its view is why it has one
		shown = l.talk.showPlan(out, call, planLines)
	}
	if !shown && strings.TrimSpace(b.Result) != "" && len(b.Changes) == 0 {
		line := "← result: " + show.ResultNote(b.Result)
		out.Printf("  %s\n", out.Style().Dim(term.CutEnd(line, max(out.Width()-3, 1))))
	}
	if b.PreManifestID != "" && b.PostManifestID != "" && len(b.Changes) > 0 {
		l.talk.showDiff(out, b, callDiffLines)
	}
}

// showDiff shows what a call changed, in at most so many lines; 0 is all.
func (t *talk) showDiff(out *term.Output, b event.ToolComplete, most int) {
	ctx, cancel := context.WithTimeout(context.Background(), diffTime)
	defer cancel()
	lines, err := t.diffOf(ctx, b)
	if err != nil {
		show.ShowLabel(out, "  the diff can't be shown: "+err.Error())
		return
	}
	left := 0
	if most > 0 && len(lines) > most {
		left = len(lines) - most
		lines = lines[:most]
	}
	style := out.Style()
	for _, line := range lines {
		out.Printf("  %s\n", workspace.PatchLine(style, cutLine(line, out.Width()-3)))
	}
	if left > 0 {
		out.Printf("  %s\n", style.Dim(fmt.Sprintf("… %s more: /diff", term.Count(left, "line", "lines"))))
	}
}

// cutLine makes a line of a file harmless and no longer than a row.
func cutLine(line string, width int) string {
	line = strings.ReplaceAll(term.CleanText(strings.TrimRight(line, "\n")), "\t", "    ")
	if width > 0 {
		line = term.CutEnd(line, max(width, 8))
	}
	return line
}

// diffTime bounds how long a turn waits for the diff of a call, which only
// reads what was kept.
const diffTime = 5 * time.Second

// now is the chat, also while its first turn runs.
func (t *talk) now() engine.Chat {
	t.mu.Lock()
	id := t.turn
	t.mu.Unlock()
	if chat, ok := t.eng.TurnChat(id); ok {
		return chat
	}
	return t.chat
}

// diffOf is what a call changed, as lines of a diff without git's own.
func (t *talk) diffOf(ctx context.Context, b event.ToolComplete) ([]string, error) {
	d := &workspace.Differ{Rt: t.in, Eng: t.eng}
	chat := t.now()
	chat.ActiveManifest = b.PostManifestID // the chat's record gets it when the turn has ended
	var err error
	if d.From, err = t.eng.State(ctx, chat, b.PreManifestID); err != nil {
		return nil, err
	}
	if d.To, err = t.eng.State(ctx, chat, b.PostManifestID); err != nil {
		return nil, err
	}
	var lines []string
	for c, err := range d.Changes(ctx) {
		if err != nil {
			return nil, err
		}
		p, err := d.Compare(ctx, c)
		if err != nil {
			return nil, err
		}
		lines = append(lines, changeHead(c.Path, workspace.ChangeWord(c), p))
		lines = append(lines, diffBody(p.Text)...)
	}
	return lines, nil
}

// meta keeps how much of the model's context a request took. A nil log is ask's.
func (l *chatLog) meta(b event.Meta) {
	if l == nil {
		return
	}
	if b.ContextLength > 0 {
		l.context = b.ContextLength
	}
	if b.Usage != nil {
		l.asked = b.Usage.InputTokens + b.Usage.OutputTokens
	}
}

// suggest shows what the answer offers to go on with; Tab puts the first into an
// empty line.
func (l *chatLog) suggest(out *term.Output, p event.ResponsePayload) {
	for i, s := range show.Values(p.SuggestedValues) {
		l.next = append(l.next, s.Value)
		head, foot := "      ", ""
		if i == 0 {
			head, foot = "next  ", "   Tab"
		}
		out.Printf("  %s\n", out.Style().Dim(term.CutEnd(head+show.OneLine(s.Value)+foot, max(out.Width()-3, 8))))
	}
}
