package ollama

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// chunk is one line of a response.
type chunk struct {
	Message    *message        `json:"message"`
	Done       bool            `json:"done"`
	DoneReason wire.String     `json:"done_reason"`
	PromptEval wire.Int        `json:"prompt_eval_count"`
	Eval       wire.Int        `json:"eval_count"`
	Error      json.RawMessage `json:"error"`
}

type message struct {
	Content   wire.Content `json:"content"`
	Thinking  wire.Content `json:"thinking"`
	ToolCalls []toolCall   `json:"tool_calls"`
}

type toolCall struct {
	ID       wire.String `json:"id"`
	Function *struct {
		Name      wire.String     `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

type decoderOptions struct {
	source    wire.Source
	names     *provider.Names
	notes     []string // footnotes of the request
	numCtx    int      // the context that the request asked for; 0 is the server's choice
	maxTokens int
	newID     func() string // nil is wire.NewCallID
	// thoughtEnd is provider.Request.ThoughtEnd.
	thoughtEnd string
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
}

// newDecoder makes the reader of a response with this Content-Type.
func newDecoder(body io.Reader, contentType string, o decoderOptions) (*decoder, error) {
	if o.newID == nil {
		o.newID = wire.NewCallID
	}
	if o.names == nil {
		o.names = provider.NewNames()
	}
	if err := notAPage(body, contentType); err != nil {
		return nil, err
	}
	d := &decoder{o: o, lines: lines{src: body}}
	d.think.Begin(o.thoughtEnd)
	return d, nil
}

// notAPage refuses what a browser would show: a router's or a proxy's words.
func notAPage(body io.Reader, contentType string) error {
	if !strings.HasPrefix(strings.ToLower(contentType), "text/html") {
		return nil
	}
	head, _ := io.ReadAll(io.LimitReader(body, 512))
	return &wire.FormatError{Chunk: head, Err: errors.New("it is a web page; does Ollama listen there?")}
}

// Read takes what one network read brought.
func (d *decoder) Read(dst []provider.Delta) (wire.Read, error) {
	got := wire.Read{Deltas: dst}
	line, open, err := d.lines.next()
	if err != nil {
		return got, err
	}
	for more := true; more && !got.Done; line, more = d.lines.buffered() {
		if open && !json.Valid(line) {
			return got, io.EOF // what the cut left of a line
		}
		if err := d.line(&got, line); err != nil {
			return got, err
		}
	}
	return got, nil
}

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
	if wire.Says(c.Error) {
		return d.o.source.InStream(line)
	}
	before := len(got.Deltas)
	if c.Message != nil {
		if err := d.message(got, c.Message); err != nil {
			return err
		}
	}
	if !c.Done {
		d.learn(line, c, got.Deltas[before:])
		return nil
	}
	got.Done = true
	return d.end(got, c)
}

// message takes what a line adds to the answer.
func (d *decoder) message(got *wire.Read, m *message) error {
	for _, piece := range m.Thinking {
		got.Progress = true
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

// end closes a response that has ended: what was held back, the calls, meta.
func (d *decoder) end(got *wire.Read, c chunk) error {
	dst := d.think.End(got.Deltas)
	for _, note := range d.o.notes {
		dst = append(dst, provider.Delta{Kind: provider.Footnote, Text: note})
	}
	meta := &event.Meta{StopReason: stopReason(string(c.DoneReason)), ContextLength: d.o.numCtx}
	before := len(dst)
	dst, err := wire.FinishCalls(dst, d.list(), wire.FinishOptions{
		Names: d.o.names, NewID: d.o.newID, Cut: meta.StopReason == provider.StopLength,
	})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(dst[before:], func(d provider.Delta) bool { return d.Kind == provider.CallDelta }) {
		meta.StopReason = provider.StopToolUse // the server says stop
	}
	if c.PromptEval.Set || c.Eval.Set {
		meta.Usage = &event.Usage{InputTokens: c.PromptEval.N, OutputTokens: c.Eval.N}
	}
	if meta.StopReason == provider.StopLength && d.full(c) {
		dst = append(dst, provider.Delta{Kind: provider.Footnote, Text: fmt.Sprintf(
			"the answer ends here because the context of %d tokens is full", d.o.numCtx)})
	}
	got.Deltas = append(dst, provider.Delta{Kind: provider.Meta, Meta: meta})
	return nil
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
		call := wire.Call{ID: string(c.ID)}
		if c.Function != nil {
			call.Name, call.Args = string(c.Function.Name), c.Function.Arguments
		}
		out = append(out, call)
	}
	return out
}

func stopReason(done string) string {
	switch done {
	case "", "stop":
		return provider.StopEnd
	case "length":
		return provider.StopLength
	}
	return provider.StopOther
}
