package commands

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/term/markdown"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
)

// textView prints the answer as it comes: Markdown on a terminal, the text
// itself into a pipe. All else goes to standard error, and only where somebody
// watches or asked for it.
type textView struct {
	rt     *runtime
	o      askOptions
	talk   bool // say what happens on standard error
	whole  strings.Builder
	held   bool // the answer is printed at the end
	out    answerWriter
	wrote  bool // some of the answer is out
	broken bool // a tool ran since: the next text begins a paragraph
	tail   string
	// thought is what the reasoning on standard error ended with; empty where
	// none is open.
	thought string
	inputs  map[string]string // arguments of running calls, on one line
	notes   []string
	chat    int64
	meta    event.Meta
	usage   *event.Usage
	begun   time.Time
	last    event.Body
}

// answerWriter takes the model's text; Close ends a piece of it.
type answerWriter interface {
	io.Writer
	Close() error
}

func newTextView(rt *runtime, o askOptions) *textView {
	return &textView{
		rt: rt, o: o, begun: time.Now(), held: o.noStream || o.extract, inputs: map[string]string{},
		talk: !o.quiet && (o.verbose || rt.streams.Err.IsTerminal()),
	}
}

func (v *textView) status(text string) {
	if v.talk {
		v.rt.streams.Status().Set(text)
	}
}

func (v *textView) clear() { v.rt.streams.Status().Clear() }

func (v *textView) show(e event.Event) {
	v.last = e.Body
	if _, more := e.Body.(event.Reasoning); !more {
		v.endThought()
	}
	switch b := e.Body.(type) {
	case event.TextDelta:
		v.text(b.Text, e.More)
	case event.Status:
		v.status(b.Message)
	case event.Reasoning:
		v.reasoning(b.Text)
	case event.ConfirmRequest:
		v.pause()
	case event.ToolStart:
		v.pause()
		v.inputs[b.ToolUseID] = argLine(b.Input)
		v.status("running " + b.Tool + "  " + v.inputs[b.ToolUseID])
	case event.ToolProgress:
		v.status(b.Tool + ": " + b.Message)
	case event.ToolComplete:
		v.toolEnd(b)
	case event.Footnote:
		v.notes = append(v.notes, b.Text)
	case event.Meta:
		v.meta = b
		v.usage = v.usage.Add(b.Usage)
	case event.Complete:
		v.chat = b.Payload.ConversationID
	}
}

// endThought ends the line that reasoning was written to.
func (v *textView) endThought() {
	if v.thought != "" && !strings.HasSuffix(v.thought, "\n") {
		v.rt.streams.Err.WriteString("\n")
	}
	v.thought = ""
}

// text prints a piece of the answer. Flushing waits while more is there.
func (v *textView) text(s string, more bool) {
	if s == "" {
		return
	}
	v.clear()
	if v.broken {
		v.broken = false
		if v.wrote {
			s = paragraphBreak(v.tail) + s
		}
	}
	v.wrote = true
	v.tail = lastBytes(v.tail+s, 2)
	if v.held {
		v.whole.WriteString(s)
		return
	}
	if v.out == nil {
		v.out = v.newWriter()
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

func (v *textView) newWriter() answerWriter {
	out := v.rt.streams.Out
	if out.IsTerminal() {
		return markdown.New(out, markdown.Options{Width: out.Width(), Style: out.Style()})
	}
	return newPipeWriter(out)
}

// pause closes what was written so far, since something else is shown next.
func (v *textView) pause() {
	v.broken = true
	if v.out != nil && v.rt.streams.Out.IsTerminal() {
		_ = v.out.Close()
		v.out, v.wrote = nil, false // the terminal's writer has ended the paragraph
	}
}

// reasoning shows the newest line of what the model thinks, or all of it.
func (v *textView) reasoning(text string) {
	if !v.talk || text == "" {
		return
	}
	if v.o.verbose {
		v.thought = text
		v.rt.streams.Err.WriteString(v.rt.streams.Err.Style().Dim(term.CleanText(text)))
		return
	}
	line := strings.TrimSpace(text)
	if i := strings.LastIndexByte(line, '\n'); i >= 0 {
		line = line[i+1:]
	}
	v.status("thinking: " + line)
}

func (v *textView) toolEnd(b event.ToolComplete) {
	v.clear()
	v.broken = true
	if !v.talk {
		return
	}
	style := v.rt.streams.Err.Style()
	mark, what := style.Green("✓"), term.Duration(time.Duration(b.DurationMS)*time.Millisecond)
	if b.Status == event.CallError {
		mark, what = style.Red("✗"), term.Clean(firstOf(b.Error))
	}
	call := term.Clean(b.Tool)
	if args := v.inputs[b.ToolUseID]; args != "" {
		call += "  " + args
	}
	delete(v.inputs, b.ToolUseID)
	v.rt.streams.Err.Printf("%s %s  %s\n", mark, call, style.Dim(what))
	v.status("asking " + v.meta.Model)
}

func firstOf(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

func (v *textView) end() error {
	var err error
	if v.held {
		err = v.printWhole()
	} else if v.out != nil {
		_ = v.out.Close()
		if !v.rt.streams.Out.IsTerminal() && !strings.HasSuffix(v.tail, "\n") {
			v.rt.streams.Out.WriteString("\n")
		}
	}
	v.remarks()
	return err
}

func (v *textView) printWhole() error {
	s := v.whole.String()
	if v.o.extract {
		block, ok := firstBlock(s)
		if _, whole := v.last.(event.Complete); !ok && whole {
			return fault.New(fault.InvalidReply, "the answer has no code block", fmt.Sprintf("fettle chats show %d   shows it", v.chat))
		}
		s = block
	}
	if s == "" {
		return nil
	}
	w := v.newWriter()
	if v.o.extract { // code is printed as it is
		w = newPipeWriter(v.rt.streams.Out)
	}
	_, _ = io.WriteString(w, s)
	_ = w.Close()
	if !strings.HasSuffix(s, "\n") && (v.o.extract || !v.rt.streams.Out.IsTerminal()) {
		v.rt.streams.Out.WriteString("\n")
	}
	return nil
}

// remarks are footnotes, usage and the way back to the chat.
func (v *textView) remarks() {
	style := v.rt.streams.Err.Style()
	if v.talk {
		for _, n := range v.notes {
			v.rt.streams.Err.Printf("  %s\n", style.Dim("note: "+term.Clean(n)))
		}
	}
	var line []string
	if v.o.usage && v.usage != nil {
		line = append(line, usageLine(v.usage), term.Duration(time.Since(v.begun)))
	} else if v.o.usage {
		line = append(line, "the provider told no usage")
	}
	if v.talk && v.chat > 0 {
		if v.meta.Model != "" {
			line = append([]string{v.meta.Model}, line...)
		}
		line = append(line, fmt.Sprintf("chat %d", v.chat))
	}
	if len(line) > 0 {
		v.rt.streams.Err.Printf("  %s\n", style.Dim(term.Clean(strings.Join(line, " · "))))
	}
}

func usageLine(u *event.Usage) string {
	s := fmt.Sprintf("%s in, %s out", number(u.InputTokens), number(u.OutputTokens))
	if u.CachedTokens > 0 {
		s += ", " + number(u.CachedTokens) + " cached"
	}
	return s + " tokens"
}

// number writes a count with thousands apart.
func number(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
