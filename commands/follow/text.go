package follow

import (
	"io"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/term/markdown"
	"github.com/fettle-cli/fettle/commands/usage"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/store"
)

// Text prints the answer as it comes: Markdown on a terminal, the text
// itself into a pipe. All else goes to standard error, and only where somebody
// watches or asked for it.
type Text struct {
	// Results shows what calls gave, and Bare leaves out the line at the end.
	Results, Bare bool
	// Log keeps what a chat opens later, and shows more of a turn; nil for ask.
	Log *Log
	// Used are the tokens so far, nil where nobody told.
	Used *event.Usage

	progress
	rt     *workbench.Runtime
	o      Options
	talk   bool // say what happens on standard error
	whole  strings.Builder
	held   bool // the answer is printed at the end
	plain  bool // the answer is data or code, which is shown as it is
	out    answerWriter
	wrote  bool // some of the answer is out
	shown  bool // a payload was shown
	broken bool // a tool ran since: the next text begins a paragraph
	tail   string
	// thought is where reasoning is written to, nil where none is open;
	// thinking is the end of it, for the status.
	thought  *show.Aside
	thinking string
	inputs   map[string]string // arguments of running calls, on one line
	changed  map[string]bool   // paths that tools have changed
	more     bool              // and others, which no event lists
	steps    int               // calls that changed any: what undo takes
	cards    []show.Card       // to be shown with an answer that is held
	notes    []string
	endings  []string // remarks on an answer that did not end by itself
	begun    time.Time
}

// answerWriter takes the model's text; Close ends a piece of it.
type answerWriter interface {
	io.Writer
	Close() error
}

// NewText is a view of one turn.
func NewText(rt *workbench.Runtime, o Options, prices usage.Prices) *Text {
	return &Text{
		progress: progress{prices: prices, first: o.First, kept: o.First},
		rt:       rt, o: o, begun: time.Now(), held: o.NoStream || o.Extract, plain: o.Extract || o.Schema != nil,
		inputs: map[string]string{}, talk: !o.Quiet && (o.Verbose || rt.Streams.Err.IsTerminal()),
	}
}

// Status says on a terminal what is being waited for.
func (v *Text) Status(text string) {
	if v.talk {
		v.rt.Streams.Status().Set(text)
	}
}

// Clear takes the status away.
func (v *Text) Clear() { v.rt.Streams.Status().Clear() }

// Show takes each event in order.
func (v *Text) Show(e event.Event) {
	v.note(e)
	if _, more := e.Body.(event.Reasoning); !more {
		v.endThought()
	}
	switch b := e.Body.(type) {
	case event.TextDelta:
		v.text(b.Text, e.More)
	case event.Status:
		v.happens(b.Message)
	case event.Reasoning:
		v.reasoning(b.Text)
	case event.ConfirmRequest:
		v.pause()
	case event.ToolStart:
		v.pause()
		v.inputs[b.ToolUseID] = show.ArgLine(b.Input)
		v.calling(b)
	case event.ToolProgress:
		v.Status(b.Tool + ": " + b.Message)
	case event.ToolComplete:
		v.toolEnd(b)
	case event.AgentStart:
		v.agentLine("▶ " + b.Agent + " agent activated")
	case event.Handoff:
		v.agentLine("⇒ handing off to " + b.To)
	case event.Payload:
		v.payload(b)
	case event.Workflow:
		if b.State == store.StepRunning {
			v.broken = true
			v.happens("step " + b.Step)
		}
	case event.Footnote:
		v.footnote(b)
	case event.Meta:
		v.Used = v.Used.Add(b.Usage)
		v.Log.meta(b)
	}
}

// agentLine is a step of several agents that answer together, in document
// 003's form.
func (v *Text) agentLine(text string) {
	v.broken = true // what it says next is a paragraph of its own
	if !v.talk {
		return
	}
	v.pause()
	v.Clear()
	if v.Log != nil {
		v.Log.Step(v.rt.Streams.Err)
	}
	v.rt.Streams.Err.Printf("%s\n", v.rt.Streams.Err.Style().Dim(term.Clean(text)))
	v.Status("asking " + v.chat.Model)
}

// happens says what is going on, such as a retry: on the status line, or on a
// line of its own where there is no such line, or all is to be seen.
func (v *Text) happens(text string) {
	if v.talk && (v.o.Verbose || !v.rt.Streams.Status().Shows()) {
		v.rt.Streams.Err.Printf("%s\n", v.rt.Streams.Err.Style().Dim("· "+term.Clean(text)))
		return
	}
	v.Status(text)
}

// text prints a piece of the answer. Flushing waits while more is there.
func (v *Text) text(s string, more bool) {
	if s == "" {
		return
	}
	v.Clear()
	if v.broken {
		v.broken = false
		if gap := paragraphBreak(v.tail); v.wrote && v.rendered() && !v.held {
			v.rt.Streams.Out.WriteString(gap)
		} else if v.wrote {
			s = gap + s
		}
	}
	v.wrote = true
	if v.Log != nil {
		v.Log.apart(v.rt.Streams.Out, saidText)
		v.Log.Answer.WriteString(s)
	}
	v.tail = lastBytes(v.tail+s, 2)
	if v.held {
		v.whole.WriteString(s)
		return
	}
	if v.out == nil {
		v.out = v.newWriter()
	}
	if m, ok := v.out.(*markdown.Writer); ok {
		m.Resize(v.rt.Streams.Out.Width())
	}
	// A write that fails is remembered by the output, where follow finds it.
	_, _ = io.WriteString(v.out, s)
	if f, ok := v.out.(interface{ Flush() error }); ok && !more {
		_ = f.Flush()
	}
}

func paragraphBreak(tail string) string {
	switch {
	case strings.HasSuffix(tail, "\n\n"):
		return ""
	case strings.HasSuffix(tail, "\n"):
		return "\n"
	}
	return "\n\n"
}

func lastBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[len(s)-n:]
}

// newWriter begins a piece of the answer.
func (v *Text) newWriter() answerWriter {
	out := v.rt.Streams.Out
	if v.rendered() {
		return markdown.New(out, markdown.Options{Width: out.Width(), Style: out.Style(), Highlight: v.Log != nil})
	}
	return show.NewPlainWriter(out)
}

// rendered tells whether the answer is shown as Markdown.
func (v *Text) rendered() bool { return !v.plain && v.rt.Streams.Out.IsTerminal() }

// pause closes what was written so far, since something else is shown next.
func (v *Text) pause() {
	v.broken = true
	if v.out == nil || !v.rendered() {
		return
	}
	_ = v.out.Close() // this ends the line
	v.out = nil
	v.tail = "\n"
	if v.talk {
		v.wrote = false // what is shown next separates the paragraphs
	}
}

// reasoning shows the newest line of what the model thinks, or all of it.
func (v *Text) reasoning(text string) {
	if !v.talk || text == "" {
		return
	}
	if v.o.Verbose {
		if v.thought == nil {
			if v.rendered() {
				v.pause()
			}
			v.Clear()
			v.thought = &show.Aside{Out: v.rt.Streams.Err}
		}
		v.thought.Write(text)
		return
	}
	if v.Log != nil {
		v.Log.think(text)
	}
	const kept = 1000 // bytes, more than any line shows
	v.thinking = lastBytes(v.thinking+text, kept)
	if line := lastLine(v.thinking); line != "" {
		const label = "thinking: "
		v.Status(label + lastWords(line, v.rt.Streams.Err.Width()-len(label)-1))
	}
}

// endThought ends the line that reasoning was written to.
func (v *Text) endThought() {
	v.thinking = ""
	if v.Log != nil {
		if line := v.Log.fold(); line != "" {
			v.agentLine(line)
		}
	}
	if v.thought != nil {
		v.thought.Close()
		v.thought = nil
	}
}

func (v *Text) toolEnd(b event.ToolComplete) {
	v.Clear()
	v.broken = true
	args := v.inputs[b.ToolUseID]
	delete(v.inputs, b.ToolUseID)
	if !v.talk {
		return
	}
	out := v.rt.Streams.Err
	mark, what := out.Style().Green("✓"), term.Duration(time.Duration(b.DurationMS)*time.Millisecond)
	v.noteChanges(b.Changes)
	if n := len(b.Changes); n > 0 {
		what += ", " + show.ChangedText(n)
	}
	if b.Status == event.CallError {
		mark, what = out.Style().Red("✗"), show.ReasonOf(b.Error)
	}
	if v.Log != nil {
		v.Log.Step(out)
	}
	out.WriteString(show.Call{Mark: mark, Tool: b.Tool, Args: args, Note: what}.Line(out))
	if v.Log != nil {
		v.Log.ended(out, b)
	}
	if v.Results && b.Status != event.CallError {
		out.WriteString(show.ResultLines(out, b.Result))
	}
	v.Status("asking " + v.chat.Model)
}

// calling says that a call runs.
func (v *Text) calling(b event.ToolStart) {
	verb := "running "
	if v.Log != nil {
		v.Log.start(b)
		verb = "→ calling " // document 003's words
	}
	v.Status(verb + b.Tool + "  " + v.inputs[b.ToolUseID])
}

// lastLine is the last line of a text that has something in it.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// lastWords is the end of a line, as far as it fits.
func lastWords(line string, cells int) string {
	for term.Cells(line) > cells {
		_, rest, more := strings.Cut(line, " ")
		if !more {
			break
		}
		line = rest
	}
	return line
}
