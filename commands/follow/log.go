package follow

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/event"
)

const (
	// detailedCalls is how many calls of a turn are kept whole, for /render and
	// for details; their texts are bounded by the engine.
	detailedCalls = 200
	// maxThought bounds the reasoning that is kept to be unfolded.
	maxThought = 1 << 20
)

// Log is what a turn leaves to be opened: the answer, what was thought, and
// its calls. It also writes what a chat shows beside what ask shows.
type Log struct {
	// Plan shows a call in its tool's own view, and tells whether there is one. Diff
	// shows what a call has changed. Both stand below the call's line.
	Plan func(out *term.Output, call Call) bool
	Diff func(out *term.Output, b event.ToolComplete)
	// Direct tells that the calls are the person's own, and no model is asked.
	Direct bool

	Answer  strings.Builder
	Thought strings.Builder
	Calls   []Call   // those that have ended, at most 200
	Next    []string // what the answer suggests to go on with
	// Context is the room that the model has, and Asked what the last request and
	// its response took of it, in tokens; 0 where nobody told.
	Context int
	Asked   int64

	part   int       // bytes of Thought that stand on a fold of their own
	since  time.Time // when the part began
	inputs map[string]json.RawMessage
	said   said
}

// said is what was printed last of a turn: text and steps stand apart.
type said int

const (
	saidNothing said = iota
	saidText
	saidStep
)

// apart puts an empty line between text and steps.
func (l *Log) apart(out *term.Output, now said) {
	if l.said != saidNothing && l.said != now {
		out.WriteString("\n")
	}
	l.said = now
}

// Step sets what is printed next off from text.
func (l *Log) Step(out *term.Output) { l.apart(out, saidStep) }

// Call is a call that has ended.
type Call struct {
	event.ToolComplete
	Input json.RawMessage
}

// think keeps reasoning for the fold.
func (l *Log) think(text string) {
	if l.part == 0 {
		l.since = time.Now()
	}
	if l.Thought.Len() < maxThought {
		l.Thought.WriteString(text)
	}
	l.part += len(text)
}

// fold is the line that stands for a piece of reasoning; "" where there was
// none.
func (l *Log) fold() string {
	if l.part == 0 {
		return ""
	}
	all := l.Thought.String()
	words := len(strings.Fields(all[max(0, len(all)-l.part):]))
	took := time.Since(l.since)
	l.part = 0
	l.Thought.WriteString("\n\n")
	line := "∴ thought: " + term.Count(words, "word", "words")
	if took >= time.Second {
		line += ", " + term.Duration(took)
	}
	return line + " · Ctrl-O opens it"
}

// start keeps what a call was given.
func (l *Log) start(b event.ToolStart) {
	if l.inputs == nil {
		l.inputs = map[string]json.RawMessage{}
	}
	l.inputs[b.ToolUseID] = b.Input
}

// ended shows what a call gave below its line: the result's first line, the
// tool's own view, the diff of what it changed.
func (l *Log) ended(out *term.Output, b event.ToolComplete) {
	call := Call{b, l.inputs[b.ToolUseID]}
	delete(l.inputs, b.ToolUseID)
	if len(l.Calls) < detailedCalls {
		l.Calls = append(l.Calls, call)
	}
	if b.Status == event.CallError {
		return
	}
	if l.Direct {
		var text strings.Builder
		show.Detail(&text, "  ", strings.TrimPrefix(b.Result, "exit 0\n"), max(out.Width(), 20))
		out.WriteString(text.String())
	}
	shown := l.Direct
	if strings.Contains(b.ToolID, ":") { // a toolset's: its view is why it has one
		shown = l.Plan(out, call)
	}
	if !shown && strings.TrimSpace(b.Result) != "" && len(b.Changes) == 0 {
		line := "← result: " + show.ResultNote(b.Result)
		out.Printf("  %s\n", out.Style().Dim(term.CutEnd(line, max(out.Width()-3, 1))))
	}
	if b.PreManifestID != "" && b.PostManifestID != "" && len(b.Changes) > 0 {
		l.Diff(out, b)
	}
}

// meta keeps how much of the model's context a request took. A nil log is ask's.
func (l *Log) meta(b event.Meta) {
	if l == nil {
		return
	}
	if b.ContextLength > 0 {
		l.Context = b.ContextLength
	}
	if b.Usage != nil {
		l.Asked = b.Usage.InputTokens + b.Usage.OutputTokens
	}
}

// suggest shows what the answer offers to go on with; Tab puts the first into an
// empty line.
func (l *Log) suggest(out *term.Output, p event.ResponsePayload) {
	for i, s := range show.Values(p.SuggestedValues) {
		l.Next = append(l.Next, s.Value)
		head, foot := "      ", ""
		if i == 0 {
			head, foot = "next  ", "   Tab"
		}
		out.Printf("  %s\n", out.Style().Dim(term.CutEnd(head+show.OneLine(s.Value)+foot, max(out.Width()-3, 8))))
	}
}
