package dialect

import (
	"net/http"
	"strings"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
)

// anthropicObject gathers a turn for the object of /v1/messages.
type anthropicObject struct {
	o      Options
	first  first
	facts  facts
	blocks blocks
	// content are the blocks that have ended, as JSON with commas between them.
	content []byte
	kind    string          // of the open block
	text    strings.Builder // of the open block
	notes   []citation
	signed  string
	failed  *fault.Fault
	ended   bool
	most    int // bytes that may be kept
}

func newAnthropicObject(o Options) *anthropicObject {
	return &anthropicObject{o: o, blocks: blocks{tools: newTools(o.ClientTools)}, most: MaxAnswer}
}

func (a *anthropicObject) Add(e event.Event) error {
	if a.ended {
		return nil
	}
	a.first.see(e)
	a.facts.see(e)
	switch b := e.Body.(type) {
	case event.Complete:
		a.ended = true
		a.blocks.close(a)
	case event.Error:
		a.ended, a.failed = true, b.Fault()
	case event.Cancelled:
		a.ended, a.failed = true, wasCancelled()
	default:
		a.facts.calls += a.blocks.see(e, a)
	}
	if len(a.content)+a.text.Len() > a.most {
		a.ended, a.failed = true, tooLong()
		return errTooLong
	}
	return nil
}

func (a *anthropicObject) Failed() *fault.Fault {
	if !a.ended {
		return wasCut()
	}
	return a.failed
}

func (a *anthropicObject) Body() (int, []byte) {
	if f := a.Failed(); f != nil {
		status, _, body := Anthropic.Failure(f)
		return status, body
	}
	o := open(nil)
	anthropicHead(o, a.first, a.o, a.facts.model)
	o.key("content")
	o.b = append(append(append(o.b, '['), a.content...), ']')
	o.str("stop_reason", a.facts.anthropicStop()).lit("stop_sequence", "null").
		obj("usage", func(o *object) { anthropicUsage(o, a.facts.usage, "0") })
	return http.StatusOK, append(o.close(), '\n')
}

func (a *anthropicObject) begin(kind string) {
	a.kind, a.notes, a.signed = kind, nil, ""
	a.text.Reset()
}

func (a *anthropicObject) add(_, text string) { a.text.WriteString(text) }

func (a *anthropicObject) cite(c citation) { a.notes = append(a.notes, c) }

func (a *anthropicObject) sign(signature string) { a.signed = signature }

// end adds the block that was open. A block of thinking has a signature, even an empty one.
func (a *anthropicObject) end() {
	a.whole(a.kind, func(o *object) {
		o.str(a.kind, a.text.String())
		if a.kind == blockThinking {
			o.str("signature", a.signed)
		}
		if len(a.notes) > 0 {
			o.list("citations", len(a.notes), func(dst []byte, i int) []byte {
				c := open(dst)
				anthropicCitation(c, a.notes[i])
				return c.close()
			})
		}
	})
	a.text.Reset()
}

func (a *anthropicObject) whole(kind string, fill func(*object)) {
	if len(a.content) > 0 {
		a.content = append(a.content, ',')
	}
	o := open(a.content).str("type", kind)
	fill(o)
	a.content = o.close()
}

func (a *anthropicObject) call(b event.ToolStart) {
	a.whole(blockToolUse, func(o *object) {
		o.str("id", b.ToolUseID).str("name", b.Tool).lit("input", compact(b.Input))
	})
}
