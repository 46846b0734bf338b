package follow

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/usage"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// End prints what was held back, and what there is to say about the turn.
func (v *Text) End() error {
	v.endThought()
	var err error
	if v.held {
		err = v.printWhole()
	} else {
		v.endAnswer()
	}
	if err == nil {
		for _, c := range v.cards {
			c.Print(v.rt.Streams.Out)
		}
		v.suggestions()
		v.remarks()
	}
	return err
}

// endAnswer ends the answer's last line.
func (v *Text) endAnswer() {
	if v.out == nil {
		return
	}
	_ = v.out.Close()
	if !v.rendered() && !strings.HasSuffix(v.tail, "\n") {
		v.rt.Streams.Out.WriteString("\n")
	}
}

func (v *Text) printWhole() error {
	_, s, _ := provider.CutThought(v.whole.String())
	if v.o.Extract {
		block, ok := show.FirstBlock(s)
		if _, whole := v.last.(event.Complete); !ok && whole {
			return noBlock(v.Number())
		}
		s = block
	}
	if s == "" {
		return nil
	}
	v.out, v.tail = v.newWriter(), lastBytes(s, 1)
	_, _ = io.WriteString(v.out, s)
	v.endAnswer()
	return nil
}

// noBlock is the fault of an answer that -x finds nothing in.
func noBlock(chat int64) error {
	f := fault.New(fault.InvalidReply, "the answer has no code block")
	if chat > 0 {
		f.Remedies = []fault.Remedy{fault.Run(fmt.Sprintf("fettle chats show %d   shows it", chat))}
	}
	return f
}

// remarks are footnotes, usage and the way back to the chat.
func (v *Text) remarks() {
	out := v.rt.Streams.Err
	dim := out.Style().Dim
	if !v.talk && !v.o.Quiet {
		for _, n := range v.endings {
			out.Printf("note: %s\n", term.Clean(n))
		}
	}
	if v.talk {
		for _, n := range append(v.notes, v.endings...) {
			for _, line := range term.Wrap("note: "+term.Clean(n), out.Width()-2) {
				out.Printf("  %s\n", dim(line))
			}
		}
	}
	var line []string
	if v.talk && !v.Bare && v.Number() > 0 {
		line = v.wayBack()
	}
	if v.o.Usage && v.Used != nil {
		line = append(line, usage.Line(v.Used))
		if _, whole := v.last.(event.Complete); whole && v.cost.Known() {
			line = append(line, v.cost.String())
		}
		line = append(line, term.Duration(time.Since(v.begun)))
	} else if v.o.Usage && v.kept {
		line = append(line, "the provider told no usage")
	}
	if len(line) == 0 {
		return
	}
	for _, l := range term.Wrap(term.Clean(strings.Join(line, " · ")), out.Width()-2) {
		out.Printf("  %s\n", dim(l))
	}
}

// footnote takes a remark. One on an answer that ends the program with a failure
// is the failure's text.
func (v *Text) footnote(b event.Footnote) {
	switch {
	case b.Warning: // it is printed already
	case b.Ending == "":
		v.notes = append(v.notes, b.Text)
	case b.Ending == event.EndLength:
		v.endings = append(v.endings, b.Text+v.words(`; fettle ask -c "go on" continues it`, "; ask the model to go on"))
	case !b.Ending.NoAnswer():
		v.endings = append(v.endings, b.Text)
	}
}

// words are the ones for ask, or those for a chat.
func (v *Text) words(ask, chat string) string {
	if v.Log != nil {
		return chat
	}
	return ask
}

// wayBack names the chat.
func (v *Text) wayBack() []string {
	if v.Log != nil {
		return v.sum()
	}
	chat := fmt.Sprintf("chat %d", v.Number())
	switch v.last.(type) {
	case event.Cancelled:
		return []string{"stopped", chat + " keeps what came"}
	case event.Error:
		return []string{chat + " keeps what came"}
	}
	if undo := v.wayOut(); undo != "" {
		return []string{undo, chat}
	}
	return []string{v.chat.Model, chat}
}

// noteChanges keeps what a call has changed, for the way out of it.
func (v *Text) noteChanges(changes []event.Change) {
	if len(changes) == 0 {
		return
	}
	v.steps++
	v.more = v.more || len(changes) >= workspace.MaxChanges
	for _, c := range changes {
		if v.changed == nil {
			v.changed = map[string]bool{}
		}
		v.changed[c.Path] = true
	}
}

// wayOut returns the command that reverts what the turn has done to files; "" if that is
// nothing.
func (v *Text) wayOut() string {
	command := v.words("fettle undo", "/undo")
	switch {
	case v.steps == 0:
		return ""
	case v.steps > 1:
		command += fmt.Sprintf(" %d", v.steps)
	}
	n := term.Number(int64(len(v.changed)))
	switch {
	case v.more:
		return command + " reverts " + n + " files or more"
	case len(v.changed) == 1:
		return command + " reverts 1 file"
	}
	return command + " reverts " + n + " files"
}

// sum is the line below an answer in a chat: how it ended, what it took.
func (v *Text) sum() []string {
	var line []string
	switch v.last.(type) {
	case event.Cancelled:
		line = append(line, "stopped; what came is kept")
	case event.Error:
		line = append(line, "what came is kept")
	}
	if undo := v.wayOut(); undo != "" {
		line = append(line, undo)
	}
	if v.chat.Model != "" && !v.Log.Direct {
		line = append(line, v.chat.Model)
	}
	if v.Used != nil {
		line = append(line, usage.Line(v.Used))
		if v.cost.Known() {
			line = append(line, v.cost.String())
		}
	}
	return append(line, term.Duration(time.Since(v.begun)))
}
