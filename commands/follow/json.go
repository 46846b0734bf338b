package follow

import (
	"bufio"
	"encoding/json"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/usage"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

// Events prints each event as a line of canonical JSON.
type Events struct {
	rt  *workbench.Runtime
	buf *bufio.Writer
	err error
}

// NewEvents is a view of one turn.
func NewEvents(rt *workbench.Runtime) *Events { return &Events{rt: rt} }

// Status does nothing, as Clear and Began: events are all that is printed.
func (v *Events) Status(string)   {}
func (v *Events) Clear()          {}
func (v *Events) Began(chat.Chat) {}

// Show prints an event.
func (v *Events) Show(e event.Event) {
	if v.buf == nil {
		v.buf = bufio.NewWriterSize(v.rt.Streams.Out, show.PipeBuffer)
	}
	line, err := e.Append(nil)
	if err != nil {
		v.err = err
		return
	}
	// A write that fails is remembered by the output, where follow finds it.
	_, _ = v.buf.Write(append(line, '\n'))
	if !e.More {
		_ = v.buf.Flush()
	}
}

// End tells what went wrong with an event.
func (v *Events) End() error { return v.err }

// Answer is what --output json prints: one object. The page "output" of the
// help says what its fields mean.
type Answer struct {
	SchemaVersion int            `json:"schema_version"`
	Status        string         `json:"status"` // complete, error, cancelled
	Answer        string         `json:"answer"`
	Value         any            `json:"value,omitempty"` // the answer itself, under --schema
	Chat          int64          `json:"chat,omitempty"`
	ChatID        string         `json:"chat_id,omitempty"`
	TurnID        string         `json:"turn_id"`
	MessageID     string         `json:"message_id,omitempty"`
	Model         string         `json:"model"`
	Usage         *event.Usage   `json:"usage,omitempty"`
	Cost          []usage.Amount `json:"cost,omitempty"` // all of it, or nothing
	StopReason    string         `json:"stop_reason,omitempty"`
	Ending        event.Ending   `json:"ending,omitempty"`
	Reasoning     string         `json:"reasoning,omitempty"`
	ToolCalls     []toolCallJSON `json:"tool_calls"`
	// Payloads are those that were shown, and the suggestions what the answer
	// offers to go on with.
	Payloads         []event.Payload      `json:"payloads,omitempty"`
	SuggestedValues  []json.RawMessage    `json:"suggested_values,omitempty"`
	SuggestedActions []json.RawMessage    `json:"suggested_actions,omitempty"`
	Footnotes        []string             `json:"footnotes,omitempty"`
	Timing           timingJSON           `json:"timing"`
	Error            *workbench.FaultBody `json:"error,omitempty"`
}

// timingJSON is where the time went, in milliseconds; the syncs overlap the
// Model's answer.
type timingJSON struct {
	Total float64 `json:"total_ms"`
	Sync  float64 `json:"sync_ms"`
}

type toolCallJSON struct {
	Tool       string           `json:"tool"`
	Input      json.RawMessage  `json:"input"`
	Status     event.CallStatus `json:"status"`
	Result     string           `json:"result"`
	Error      string           `json:"error,omitempty"`
	DurationMS int64            `json:"duration_ms"`
}

type jsonView struct {
	progress
	rt     *workbench.Runtime
	o      Options
	out    Answer
	text   strings.Builder
	think  strings.Builder
	broken bool
	inputs map[string]json.RawMessage
	begun  time.Time
}

func newJSONView(rt *workbench.Runtime, o Options, prices usage.Prices) *jsonView {
	return &jsonView{
		progress: progress{prices: prices, first: o.First, kept: o.First},
		rt:       rt, o: o, inputs: map[string]json.RawMessage{}, begun: time.Now(),
		out: Answer{SchemaVersion: workbench.OutputVersion, ToolCalls: []toolCallJSON{}},
	}
}

func (v *jsonView) Status(string) {}
func (v *jsonView) Clear()        {}

func (v *jsonView) Show(e event.Event) {
	v.note(e)
	v.out.TurnID = e.TurnID
	switch b := e.Body.(type) {
	case event.TextDelta:
		if v.broken && v.text.Len() > 0 {
			v.text.WriteString(paragraphBreak(lastBytes(v.text.String(), 2)))
		}
		v.broken = false
		v.text.WriteString(b.Text)
	case event.Reasoning:
		v.think.WriteString(b.Text)
	case event.ToolStart:
		v.inputs[b.ToolUseID] = b.Input
	case event.ToolComplete:
		v.broken = true
		v.out.ToolCalls = append(v.out.ToolCalls, toolCallJSON{
			Tool: b.ToolID, Input: v.inputs[b.ToolUseID], Status: b.Status, Result: b.Result,
			Error: b.Error, DurationMS: b.DurationMS,
		})
	case event.Meta:
		v.out.StopReason = b.StopReason
		v.out.Usage = v.out.Usage.Add(b.Usage)
	case event.Payload:
		v.out.Payloads = append(v.out.Payloads, b)
	case event.Footnote:
		v.out.Footnotes = append(v.out.Footnotes, b.Text)
		if b.Ending != "" {
			v.out.Ending = b.Ending
		}
	case event.Complete:
		v.out.Status, v.out.MessageID = "complete", b.Payload.MessageID
		v.out.SuggestedValues, v.out.SuggestedActions = b.Payload.SuggestedValues, b.Payload.SuggestedActions
	case event.Error:
		v.out.Status = "error"
		body := workbench.BodyOf(v.failure(b))
		v.out.Error = &body
	case event.Cancelled:
		v.out.Status = "cancelled"
	}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (v *jsonView) End() error {
	thought, answer, _ := provider.CutThought(v.text.String())
	v.out.Answer, v.out.Reasoning = answer, v.think.String()+thought
	v.out.Model = v.chat.Model
	if v.out.Status == "complete" && v.cost.Whole() {
		v.out.Cost = v.cost.JSON()
	}
	if v.out.Chat = v.Number(); v.out.Chat > 0 {
		v.out.ChatID = v.chat.ID
	}
	if v.o.Extract {
		block, ok := show.FirstBlock(v.out.Answer)
		if !ok && v.out.Status == "complete" && !v.out.Ending.NoAnswer() {
			return noBlock(v.out.Chat)
		}
		v.out.Answer = block
	}
	if v.o.Schema != nil && v.out.Status == "complete" && v.out.Answer != "" {
		v.out.Value = json.RawMessage(v.out.Answer)
	}
	v.out.Timing = timingJSON{
		Total: millis(time.Since(v.begun)),
		Sync:  millis(v.rt.Turns.SyncTime(store.TurnID(v.out.TurnID))),
	}
	enc := json.NewEncoder(v.rt.Streams.Out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v.out)
}
