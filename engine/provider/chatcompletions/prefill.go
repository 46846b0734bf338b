package chatcompletions

import (
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// NoteAnswered adds the footnote that the last message is not continued, if it is the
// assistant's.
func (b *Built) NoteAnswered(req *provider.Request) {
	if wire.Begun(req) != "" {
		b.Notes = append(b.Notes, wire.Notef("the last message was not continued: "+req.Model+" answers it with another message at this address", provider.PrefillParam))
	}
}

// templateArgs are the arguments of a model's template.
type templateArgs struct {
	Thinking bool `json:"enable_thinking"`
}

// unthinking has a model continue the last message without reasoning: llama.cpp refuses to do
// both.
func (b *Built) unthinking(out *chatRequest, req *provider.Request) {
	out.Template = &templateArgs{}
	if req.Think != nil && *req.Think {
		b.Notes = append(b.Notes, wire.Notef("reasoning was not asked for: "+req.Model+" can't think and continue an answer", provider.EffortParam))
	}
}

// continueLast has the model continue the last message, if it is the assistant's.
func (b *Built) continueLast(out *chatRequest, req *provider.Request, how Prefill) {
	n := len(out.Messages) - 1
	if n < 0 || out.Messages[n].Role != "assistant" || len(out.Messages[n].ToolCalls) > 0 {
		return
	}
	yes, no := true, false
	switch how {
	case PrefillNone:
		b.NoteAnswered(req)
	case PrefillPrefix, PrefillRepeated:
		out.Messages[n].Prefix = true
	case PrefillPartial:
		out.Messages[n].Partial = true
	case PrefillFinal:
		out.Final, out.Begin, b.Sent.Final = &yes, &no, true
	}
}
