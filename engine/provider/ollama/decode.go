package ollama

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// chunk is one line of a response. Only what an answer consists of has to be of
// the documented form.
type chunk struct {
	Message    *message         `json:"message"`
	Response   wire.Content     `json:"response"` // of /api/generate, as is Thinking
	Thinking   wire.Content     `json:"thinking"`
	Done       wire.Maybe[bool] `json:"done"`
	DoneReason wire.String      `json:"done_reason"`
	PromptEval wire.Int         `json:"prompt_eval_count"`
	Eval       wire.Int         `json:"eval_count"`
}

type message struct {
	Content   wire.Content        `json:"content"`
	Thinking  wire.Content        `json:"thinking"`
	ToolCalls wire.List[toolCall] `json:"tool_calls"`
}

// toolCall is a call, with the members that are not known; see provider.ToolCall.Extra.
type toolCall = wire.CallPiece

type decoderOptions struct {
	source    wire.Source
	names     *provider.Names
	notes     []provider.Note // footnotes of the request
	numCtx    int             // the context that the request asked for; 0 is the server's choice
	maxTokens int
	newID     func() string // nil is wire.NewCallID
	// thoughtEnd is provider.Request.ThoughtEnd.
	thoughtEnd string
	// verbatim passes text on as it is: it has no reasoning in it.
	verbatim bool
}

// decoder reads one response.
type decoder struct {
	o     decoderOptions
	lines lines

	text    wire.Template // lines that hold a piece of content and no more
	thought wire.Template // the same for thinking
	think   wire.Thinking
	halves  wire.Halves
	calls   []toolCall

	begun    bool // a line was read
	answered bool // and was a part of an answer
	said     bool // text came
	thinking bool // so did thinking, in its field
	finished bool // the reason of the end has come, in the line last
	last     chunk
}

// newDecoder makes the reader of a response.
func newDecoder(body io.Reader, o decoderOptions) *decoder {
	if o.newID == nil {
		o.newID = wire.NewCallID
	}
	if o.names == nil {
		o.names = provider.NewNames()
	}
	d := &decoder{o: o, lines: lines{src: wire.JSONBody(body, o.source, page)}}
	if d.think.Begin(o.thoughtEnd); o.verbatim {
		d.think.Off()
	}
	return d
}

// Read takes what one network read brought.
func (d *decoder) Read(dst []provider.Delta) (wire.Read, error) {
	got := wire.Read{Deltas: dst, Finished: d.finished}
	line, open, err := d.lines.next()
	if err != nil {
		return got, err
	}
	if !d.begun && !open && !json.Valid(line) {
		line, open = d.lines.rest(line), true // one value over several lines, or no JSON
		if !json.Valid(line) {
			first, _, _ := bytes.Cut(line, []byte("\n"))
			return got, &wire.FormatError{Chunk: bytes.Clone(first), Err: errNotJSON}
		}
	}
	d.begun = true
	for more := true; more && !got.Done; line, more = d.lines.buffered() {
		if open && !json.Valid(line) {
			return got, io.EOF // what the cut left of a line
		}
		err = d.line(&got, line)
		if got.Finished = d.finished; err != nil {
			return got, err
		}
	}
	return got, nil
}

// fieldThinking is the field of a message in which reasoning comes, and is sent back with
// calls by later processes too.
const fieldThinking = "thinking"

// page is the question that the error of a web page ends with.
const page = "does Ollama listen there?"

var errNotJSON = errors.New("it is not JSON")

// line takes one line.
func (d *decoder) line(got *wire.Read, line []byte) error {
	line = d.halves.Join(line)
	if text, ok := d.text.Match(line); ok {
		got.Progress = true
		got.Deltas = d.content(got.Deltas, text)
		return nil
	}
	if text, ok := d.thought.Match(line); ok {
		got.Progress = true
		got.Deltas = append(got.Deltas, provider.Delta{Kind: provider.Reasoning, Text: text})
		return nil
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	var c chunk
	if err := json.Unmarshal(line, &c); err != nil {
		return &wire.FormatError{Chunk: bytes.Clone(line), Err: err}
	}
	if said := wire.ErrorIn(line); said != nil {
		return d.failure(said)
	}
	before := len(got.Deltas)
	switch {
	case c.Message != nil:
		if err := d.message(got, c.Message); err != nil {
			return err
		}
	case len(c.Response)+len(c.Thinking) > 0:
		if err := d.message(got, &message{Content: c.Response, Thinking: c.Thinking}); err != nil {
			return err
		}
	case !c.Done.V && !d.answered:
		return d.o.source.InBody(line) // an error of another form
	}
	d.answered = true
	if c.DoneReason != "" || c.Done.V {
		d.last, d.finished = c, true
	}
	if !c.Done.V {
		d.learn(line, c, got.Deltas[before:])
		return nil
	}
	got.Done = true
	var err error
	got.Deltas, err = d.End(got.Deltas)
	return err
}

// failure is the error of a line. One without an answer ahead of it is that of
// the whole body.
func (d *decoder) failure(said []byte) error {
	if !d.answered {
		return d.o.source.InBody(said)
	}
	return d.o.source.InStream(said)
}

// message takes what a line adds to the answer.
func (d *decoder) message(got *wire.Read, m *message) error {
	for _, piece := range m.Thinking {
		got.Progress, d.thinking = true, true
		got.Deltas = append(got.Deltas, provider.Delta{Kind: provider.Reasoning, Text: piece.Text})
		d.think.Off()
	}
	for _, piece := range m.Content {
		got.Progress = true
		if piece.Reasoning {
			got.Deltas = append(got.Deltas, provider.Delta{Kind: provider.Reasoning, Text: piece.Text})
		} else {
			got.Deltas = d.content(got.Deltas, piece.Text)
		}
	}
	d.calls = append(d.calls, m.ToolCalls...)
	got.Progress = got.Progress || len(m.ToolCalls) > 0
	if len(d.calls) > wire.MaxCalls {
		return &wire.FormatError{Err: errors.New("it calls tools without end")}
	}
	return nil
}

func (d *decoder) content(dst []provider.Delta, text string) []provider.Delta {
	d.said = d.said || text != ""
	if d.think.Over() && text != "" {
		return append(dst, provider.Delta{Kind: provider.Content, Text: text})
	}
	return d.think.Add(dst, text)
}

// learn remembers a line that was one piece of text and nothing else.
func (d *decoder) learn(line []byte, c chunk, gave []provider.Delta) {
	if c.Message == nil || len(c.Message.ToolCalls) > 0 || c.PromptEval.Set || c.Eval.Set {
		return
	}
	const stamp = "created_at"
	m := c.Message
	switch {
	case len(m.Content) == 1 && !m.Content[0].Reasoning && len(m.Thinking) == 0:
		d.text.Learn(line, "content", m.Content[0].Text, stamp)
	case len(m.Content) == 0 && len(m.Thinking) == 1 && len(gave) == 1:
		d.thought.Learn(line, "thinking", gave[0].Text, stamp)
	}
}

// End closes a response that has ended: what was held back, the calls, meta.
func (d *decoder) End(dst []provider.Delta) ([]provider.Delta, error) {
	c, before := d.last, len(dst)
	dst = d.think.End(dst)
	dst = wire.Footnotes(dst, d.o.notes)
	length := wire.StopReason(string(c.DoneReason)) == provider.StopLength
	dst = wire.FinishCalls(dst, d.list(), wire.FinishOptions{Names: d.o.names, NewID: d.o.newID, Cut: length})
	var used *event.Usage
	if c.PromptEval.Set || c.Eval.Set {
		used = &event.Usage{InputTokens: c.PromptEval.N, OutputTokens: c.Eval.N}
	}
	if length && d.full(c) {
		dst = append(dst, provider.Delta{Kind: provider.Footnote, Text: fmt.Sprintf(
			"the answer ends here because the context of %d tokens is full", d.o.numCtx)})
	}
	out, err := wire.Ending{Finish: string(c.DoneReason), Usage: used}.Close(dst[before:], d.o.source, d.said)
	if err == nil {
		out[len(out)-1].Meta.ContextLength = d.o.numCtx
		if d.thinking {
			out[len(out)-1].Field = fieldThinking
		}
	}
	return append(dst[:before], out...), err
}

// full tells whether an answer stopped because prompt and answer fill the
// context, not because it reached its own limit.
func (d *decoder) full(c chunk) bool {
	if d.o.maxTokens > 0 && c.Eval.N >= int64(d.o.maxTokens) {
		return false
	}
	return d.o.numCtx > 0 && c.PromptEval.N+c.Eval.N >= int64(d.o.numCtx)-1
}

// list gives the calls, which arrive whole.
func (d *decoder) list() []wire.Call {
	out := make([]wire.Call, 0, len(d.calls))
	for _, c := range d.calls {
		out = append(out, wire.Call{ID: string(c.ID), Name: string(c.Function.V.Name), Args: c.Function.V.Arguments, Extra: c.Extra})
	}
	return out
}
