package dialect

import (
	"errors"
	"net/http"
	"strings"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
)

// errTooLong is what Add gives for an answer past MaxAnswer.
var errTooLong = errors.New("the answer is longer than an object may be")

// answer gathers a turn for OpenAI's and Ollama's objects.
type answer struct {
	name      Name
	o         Options
	tools     tools
	first     first
	facts     facts
	clock     clock
	text      paragraphs
	content   strings.Builder
	reasoning strings.Builder
	calls     []event.ToolStart
	notes     []citation
	failed    *fault.Fault
	ended     bool
	size      int // of what is kept
	most      int // what may be
}

func newAnswer(n Name, o Options) *answer {
	return &answer{name: n, o: o, tools: newTools(o.ClientTools), most: MaxAnswer}
}

func (a *answer) Add(e event.Event) error {
	if a.ended {
		return nil
	}
	a.first.see(e)
	a.facts.see(e)
	a.clock.see(e)
	switch b := e.Body.(type) {
	case event.TextDelta:
		return a.write(&a.content, a.text.join(b.Added()))
	case event.Reasoning:
		return a.write(&a.reasoning, b.Text)
	case event.AgentStart:
		a.text.breaks()
	case event.ToolStart:
		a.text.breaks()
		if a.tools.clients(b.ToolID) {
			a.calls = append(a.calls, b)
			a.facts.calls++
			return a.grow(len(b.Input) + len(b.Extra))
		}
	case event.Annotations:
		a.notes = append(a.notes, citations(b.Annotations)...)
	case event.Complete:
		a.ended = true
	case event.Error:
		a.ended, a.failed = true, b.Fault()
	case event.Cancelled:
		a.ended, a.failed = true, wasCancelled()
	}
	return nil
}

func (a *answer) write(to *strings.Builder, text string) error {
	if err := a.grow(len(text)); err != nil {
		return err
	}
	to.WriteString(text)
	return nil
}

func (a *answer) grow(n int) error {
	if a.size += n; a.size > a.most {
		a.ended, a.failed = true, tooLong()
		return errTooLong
	}
	return nil
}

func (a *answer) Failed() *fault.Fault {
	if !a.ended {
		return wasCut()
	}
	return a.failed
}

func (a *answer) Body() (int, []byte) {
	if f := a.Failed(); f != nil {
		status, _, body := a.name.Failure(f)
		return status, body
	}
	if a.name == Ollama {
		return http.StatusOK, a.ollama()
	}
	return http.StatusOK, a.completion()
}

// completion is OpenAI's chat.completion.
func (a *answer) completion() []byte {
	model := a.o.Model
	if model == "" {
		model = a.facts.model
	}
	o := open(nil).str("id", "chatcmpl-"+a.first.turn).str("object", "chat.completion").
		int("created", unix(a.first.at)).str("model", model)
	o.key("choices")
	choice := open(append(o.b, '[')).int("index", 0).obj("message", a.message).lit("logprobs", "null").
		str("finish_reason", a.facts.finish(&a.o))
	o.b = append(choice.close(), ']')
	if a.facts.usage != nil {
		o.key("usage")
		o.b = appendUsage(o.b, a.facts.usage)
	}
	return append(o.close(), '\n')
}

func (a *answer) message(o *object) {
	o.str("role", "assistant")
	if a.content.Len() == 0 && len(a.calls) > 0 {
		o.lit("content", "null") // as OpenAI has it
	} else {
		o.str("content", a.content.String())
	}
	o.lit("refusal", "null").opt("reasoning_content", a.reasoning.String())
	if notes := openAICitations(a.notes); len(notes) > 0 {
		o.val("annotations", notes)
	}
	switch {
	case len(a.calls) == 0:
		return
	case a.o.Functions:
		o.functionCall(a.calls[0].Tool, a.calls[0].Input)
		return
	}
	o.key("tool_calls")
	o.b = append(o.b, '[')
	for i, c := range a.calls {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = open(o.b).str("id", c.ToolUseID).called(a.o.CallForms, c).close()
	}
	o.b = append(o.b, ']')
}

// ollama is the one object of /api/chat with stream off.
func (a *answer) ollama() []byte {
	model := a.o.Model
	if model == "" {
		model = a.facts.model
	}
	o := open(nil).str("model", model).str("created_at", stamp(a.clock.last))
	a.o.ollamaText(o, a.content.String(), a.reasoning.String(), a.calls)
	ollamaEnd(o, &a.facts, &a.clock)
	return append(o.close(), '\n')
}
