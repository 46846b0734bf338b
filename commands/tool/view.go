package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/commands/follow"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
)

// CallJSON is what `tool call --output json` prints.
type CallJSON struct {
	SchemaVersion    int              `json:"schema_version"`
	Status           event.CallStatus `json:"status"`
	Tool             string           `json:"tool_id"`
	Args             json.RawMessage  `json:"args"`
	Result           string           `json:"result"`
	Data             json.RawMessage  `json:"data,omitempty"`
	WorkspacePayload json.RawMessage  `json:"workspace_payload,omitempty"`
	Payload          json.RawMessage  `json:"payload,omitempty"`
	RenderPlan       json.RawMessage  `json:"render_plan,omitempty"`
	Error            string           `json:"error,omitempty"`
	Changes          []event.Change   `json:"changes"`
	SharedChanges    bool             `json:"shared_changes,omitempty"`
	Conflicts        []event.Conflict `json:"conflicts,omitempty"`
	Footnotes        []string         `json:"footnotes,omitempty"`
	DurationMS       int64            `json:"duration_ms"`
	Chat             int64            `json:"chat,omitempty"`
	ChatID           string           `json:"chat_id,omitempty"`
	CallID           string           `json:"tool_call_id"`
	PreManifestID    string           `json:"pre_manifest_id,omitempty"`
	PostManifestID   string           `json:"post_manifest_id,omitempty"`
	CallManifestID   string           `json:"call_manifest_id,omitempty"`
}

// toolView shows the turn of one call of a person's.
type toolView struct {
	rt    *workbench.Runtime
	o     toolCallOptions
	talk  bool // say on standard error how far it is, and what it changed
	chat  chat.Chat
	start event.ToolStart
	done  event.ToolComplete
	notes []string
}

func newToolView(rt *workbench.Runtime, o toolCallOptions) follow.View {
	if o.output == "events" {
		return &eventsOfCall{Events: follow.NewEvents(rt)}
	}
	return &toolView{rt: rt, o: o, talk: !o.quiet && (o.verbose || rt.Streams.Err.IsTerminal())}
}

func (v *toolView) Status(string)     {} // says who is asked, and here nobody is
func (v *toolView) Clear()            { v.rt.Streams.Status().Clear() }
func (v *toolView) Began(c chat.Chat) { v.chat = c }

func (v *toolView) Show(e event.Event) {
	switch b := e.Body.(type) {
	case event.ToolStart:
		v.start = b
		v.progress("running " + b.ToolID)
	case event.ToolProgress:
		v.progress(progressText(b))
	case event.Status:
		v.progress(b.Message)
	case event.ToolComplete:
		v.done = b
	case event.Footnote:
		v.notes = append(v.notes, b.Text)
	}
}

// progress shows what is going on: on the status line, or on a line of its own
// where there is none.
func (v *toolView) progress(text string) {
	switch {
	case !v.talk:
	case v.rt.Streams.Status().Shows():
		v.rt.Streams.Status().Set(text)
	case v.o.verbose:
		v.rt.Streams.Err.Printf("%s\n", v.rt.Streams.Err.Style().Dim("· "+term.Clean(text)))
	}
}

// progressText is an update of a tool on one line.
func progressText(p event.ToolProgress) string {
	text := strings.TrimSpace(p.Stage + ": " + p.Message)
	if p.Stage == "" || p.Message == "" {
		text = p.Stage + p.Message
	}
	if p.Progress != nil {
		text = fmt.Sprintf("%.0f %%  %s", 100**p.Progress, text)
	}
	return p.Tool + ": " + text
}

func (v *toolView) End() error {
	if v.start.ToolID == "" && v.done.ToolID == "" { // it ended before the call did
		return nil
	}
	if v.o.output == "json" {
		if err := workbench.PrintJSON(v.rt, v.json()); err != nil {
			return err
		}
		return v.failure(nil)
	}
	out := v.rt.Streams.Out
	if v.done.Status == event.CallSuccess {
		text := v.done.Result
		if out.IsTerminal() {
			text = indented(text)
		}
		w := show.NewPlainWriter(out)
		_, _ = w.Write([]byte(text)) // a write that fails is remembered by the output
		_ = w.Close()
		if text != "" && !strings.HasSuffix(text, "\n") {
			out.WriteString("\n")
		}
	}
	v.remarks()
	return v.failure(tracebackOf(v.done.RenderPlan))
}

// remarks are the notes, and what was changed and how to take it back.
func (v *toolView) remarks() {
	if !v.talk {
		return
	}
	errs := v.rt.Streams.Err
	for _, note := range v.notes {
		errs.Printf("%s\n", errs.Style().Dim("note: "+term.Clean(note)))
	}
	if n := len(v.done.Changes); n > 0 {
		errs.Printf("  %s\n", errs.Style().Dim(show.ChangedText(n)+" in "+
			term.Duration(time.Duration(v.done.DurationMS)*time.Millisecond)+" · fettle undo reverts this"))
	}
}

// failure is the fault of a call that failed; detail are further lines.
func (v *toolView) failure(detail []string) error {
	if v.done.Status != event.CallError {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(v.done.Error), "\n")
	f := fault.New(fault.Failed, v.done.ToolID+": "+show.OneLine(lines[0]))
	f.Detail = append(lines[1:], detail...)
	return f
}

// tracebackOf takes the traceback out of the render plan of a failed call.
func tracebackOf(plan json.RawMessage) []string {
	var p struct {
		Error struct {
			Traceback string `json:"traceback"`
		} `json:"error"`
	}
	if json.Unmarshal(plan, &p) != nil || p.Error.Traceback == "" {
		return nil
	}
	return strings.Split(strings.TrimRight(p.Error.Traceback, "\n"), "\n")
}

// indented makes JSON readable, and leaves any other text as it is.
func indented(text string) string {
	trimmed := strings.TrimSpace(text)
	if !strings.HasPrefix(trimmed, "{") && !strings.HasPrefix(trimmed, "[") || !json.Valid([]byte(trimmed)) {
		return text
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if enc.Encode(json.RawMessage(trimmed)) != nil {
		return text
	}
	return b.String()
}

func (v *toolView) json() CallJSON {
	d := v.done
	out := CallJSON{
		SchemaVersion: workbench.OutputVersion, Status: d.Status, Tool: v.start.ToolID, Args: v.start.Input, Result: d.Result, Data: d.Data,
		WorkspacePayload: d.WorkspacePayload, Payload: d.Payload, RenderPlan: d.RenderPlan, Error: d.Error,
		Changes: d.Changes, SharedChanges: d.SharedChanges, Conflicts: d.Conflicts, Footnotes: v.notes, DurationMS: d.DurationMS, CallID: v.start.CallID,
		PreManifestID: d.PreManifestID, PostManifestID: d.PostManifestID, CallManifestID: d.CallManifestID,
	}
	if !v.o.ephemeral {
		out.Chat, out.ChatID = v.chat.Number, v.chat.ID
	}
	if out.Changes == nil {
		out.Changes = []event.Change{}
	}
	return out
}

// FollowCall shows the turn of one call of a person's, as tool call does.
func FollowCall(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, id store.TurnID) error {
	return follow.Turn(ctx, rt, eng, id, newToolView(rt, toolCallOptions{}))
}

// GatherCall takes in the turn of one call, and prints nothing of it. The call is nil
// where the turn ended before it; one that failed is given with its fault.
func GatherCall(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, id store.TurnID) (*CallJSON, error) {
	v := &gatheringView{toolView: &toolView{rt: rt, o: toolCallOptions{output: "json", quiet: true}}}
	err := follow.Turn(ctx, rt, eng, id, v)
	if v.start.ToolID == "" {
		return nil, err
	}
	call := v.json()
	if err == nil {
		err = v.failure(nil)
	}
	return &call, err
}

// gatheringView takes in a call and prints nothing of it.
type gatheringView struct{ *toolView }

func (v *gatheringView) End() error { return nil }

// eventsOfCall are the events of a call, whose failure is the program's.
type eventsOfCall struct {
	*follow.Events
	done event.ToolComplete
}

func (v *eventsOfCall) Show(e event.Event) {
	if b, ok := e.Body.(event.ToolComplete); ok {
		v.done = b
	}
	v.Events.Show(e)
}

func (v *eventsOfCall) End() error {
	if err := v.Events.End(); err != nil || v.done.Status != event.CallError {
		return err
	}
	return fault.New(fault.Failed, v.done.ToolID+": "+show.OneLine(v.done.Error))
}
