package dialect

import (
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
)

const aguiVersion = "1.0"

// aguiEncoder writes AG-UI events. Its clients raise on anything that is open
// when a run ends, so all that is open is known here.
type aguiEncoder struct {
	o     Options
	tools tools
	first first
	facts facts
	stage stage
	time  int64 // of the event, in ms

	root string // the agent that the turn entered by: the run itself
	sub  string // the subagent run that is open
	name string // its agent
	subs int    // subagent runs so far

	kind  string // the open message's kind: TEXT or REASONING
	open  string // its id
	said  string // the last text message, which calls belong to
	parts int    // messages and activities so far

	calls   map[string]*aguiCall // running calls that were shown
	pending []string             // calls of the client's tools
}

// aguiCall is a call that was shown and has no result yet.
type aguiCall struct {
	sub      string // the subagent run that it belongs to
	activity string // the id of its activity, once it has one
}

func newAGUI(o Options) *aguiEncoder {
	return &aguiEncoder{o: o, tools: newTools(o.ClientTools), calls: map[string]*aguiCall{}}
}

func (a *aguiEncoder) Append(dst []byte, e event.Event) ([]byte, error) {
	if a.stage == ended {
		return dst, nil
	}
	a.facts.see(e)
	a.time = max(0, e.Time.UnixMilli())
	if a.stage != streaming && e.Type() != event.TypeError {
		dst = a.begin(dst, e)
	}
	switch b := e.Body.(type) {
	case event.TextDelta:
		return a.say(dst, "TEXT", b.Text), nil
	case event.Reasoning:
		return a.say(dst, "REASONING", b.Text), nil
	case event.AgentStart:
		return a.agent(dst, b.Agent), nil
	case event.Handoff:
		return a.handoff(dst, b), nil
	case event.ToolStart:
		return a.show(dst, call{b.Tool, b.ToolID, b.ToolUseID, b.Input}), nil
	case event.ToolProgress:
		return a.progress(dst, b), nil
	case event.ToolComplete:
		return a.result(dst, b), nil
	case event.ConfirmRequest:
		if b.Form != nil {
			return dst, nil // this format has no place for forms, and its clients are asked none
		}
		return a.ask(dst, e.Seq, b), nil
	case event.Complete, event.Error, event.Cancelled:
		return a.end(dst, b), nil
	}
	return a.custom(dst, e.Body), nil
}

// event begins one event; tagged adds the subagent that it belongs to.
func (a *aguiEncoder) event(dst []byte, kind string) *object {
	return data(dst).str("type", kind).int("timestamp", a.time)
}

func (a *aguiEncoder) tagged(dst []byte, kind string) *object {
	return a.event(dst, kind).opt("subagentRunId", a.sub)
}

func (a *aguiEncoder) run(o *object) *object {
	thread, run := a.o.ThreadID, a.o.RunID
	if thread == "" {
		thread = a.first.turn
	}
	if run == "" {
		run = a.first.turn
	}
	return o.str("threadId", thread).str("runId", run)
}

func (a *aguiEncoder) begin(dst []byte, e event.Event) []byte {
	a.first.see(e)
	again := a.stage == paused
	a.stage = streaming
	dst = a.run(a.event(dst, "RUN_STARTED")).str("protocolVersion", aguiVersion).frame()
	if !again {
		return dst
	}
	// After a pause this is another run, and its agents are at it again.
	if a.root != "" {
		dst = a.event(dst, "STEP_STARTED").str("stepName", stepName(a.root)).frame()
	}
	if a.name != "" {
		dst = a.startSub(dst, a.name)
	}
	for _, c := range a.calls {
		c.sub, c.activity = a.sub, ""
	}
	return dst
}

func stepName(agent string) string { return "agent:" + agent }

func (a *aguiEncoder) agent(dst []byte, name string) []byte {
	dst = a.closeMessage(dst)
	a.said = "" // a call belongs to a message of its own agent
	switch {
	case a.root == "":
		a.root = name
		return a.event(dst, "STEP_STARTED").str("stepName", stepName(name)).frame()
	case name == a.root:
		return a.endSub(dst)
	case name != a.name:
		return a.startSub(a.endSub(dst), name)
	}
	return dst
}

func (a *aguiEncoder) handoff(dst []byte, b event.Handoff) []byte {
	dst = a.endSub(a.closeMessage(dst))
	return a.event(dst, "CUSTOM").str("name", "fettle.handoff").obj("value", func(o *object) {
		o.str("from", b.From).str("to", b.To).opt("reason", b.Reason)
	}).frame()
}

func (a *aguiEncoder) startSub(dst []byte, name string) []byte {
	a.subs++
	a.sub, a.name = a.id("s", a.subs), name
	return a.event(dst, "SUBAGENT_STARTED").str("subagentRunId", a.sub).str("name", name).frame()
}

func (a *aguiEncoder) endSub(dst []byte) []byte { return a.leaveSub(dst, "success") }

func (a *aguiEncoder) leaveSub(dst []byte, outcome string) []byte {
	if a.sub == "" {
		return dst
	}
	dst = a.event(dst, "SUBAGENT_FINISHED").str("subagentRunId", a.sub).
		obj("outcome", func(o *object) { o.str("type", outcome) }).frame()
	a.sub, a.name = "", ""
	return dst
}

// id makes an id that is unique in a thread.
func (a *aguiEncoder) id(kind string, n int) string {
	return a.first.turn + "-" + kind + strconv.Itoa(n)
}

func (a *aguiEncoder) say(dst []byte, kind, text string) []byte {
	if text == "" {
		return dst
	}
	if a.kind != kind {
		dst = a.closeMessage(dst)
	}
	if a.open == "" {
		a.parts++
		a.kind, a.open = kind, a.id(strings.ToLower(kind[:1]), a.parts)
		if kind == "TEXT" {
			a.said = a.open
			dst = a.tagged(dst, "TEXT_MESSAGE_START").str("messageId", a.open).str("role", "assistant").frame()
		} else {
			dst = a.tagged(dst, "REASONING_START").str("messageId", a.open).frame()
			dst = a.tagged(dst, "REASONING_MESSAGE_START").str("messageId", a.open).str("role", "reasoning").frame()
		}
	}
	return a.tagged(dst, kind+"_MESSAGE_CONTENT").str("messageId", a.open).str("delta", text).frame()
}

func (a *aguiEncoder) closeMessage(dst []byte) []byte {
	if a.open == "" {
		return dst
	}
	dst = a.tagged(dst, a.kind+"_MESSAGE_END").str("messageId", a.open).frame()
	if a.kind == "REASONING" {
		dst = a.tagged(dst, "REASONING_END").str("messageId", a.open).frame()
	}
	a.open, a.kind = "", ""
	return dst
}

// show tells of a call with its arguments, once.
func (a *aguiEncoder) show(dst []byte, c call) []byte {
	if a.calls[c.use] != nil {
		return dst
	}
	dst = a.closeMessage(dst)
	if a.tools.clients(c.toolID) {
		a.pending = append(a.pending, c.use)
	} else {
		a.calls[c.use] = &aguiCall{sub: a.sub}
	}
	dst = a.tagged(dst, "TOOL_CALL_START").str("toolCallId", c.use).str("toolCallName", c.tool).
		opt("parentMessageId", a.said).frame()
	dst = a.tagged(dst, "TOOL_CALL_ARGS").str("toolCallId", c.use).str("delta", compact(c.input)).frame()
	return a.tagged(dst, "TOOL_CALL_END").str("toolCallId", c.use).frame()
}

const progressActivity = "fettle.tool_progress"

// progress shows an activity, and then what changes of it. The patch adds
// rather than replaces, so that it fits whatever the client has.
func (a *aguiEncoder) progress(dst []byte, b event.ToolProgress) []byte {
	c := a.calls[b.ToolUseID]
	if c == nil {
		return dst
	}
	if c.activity == "" {
		a.parts++
		c.activity = a.id("a", a.parts)
		return a.event(dst, "ACTIVITY_SNAPSHOT").opt("subagentRunId", c.sub).str("messageId", c.activity).
			str("activityType", progressActivity).obj("content", func(o *object) {
			o.str("toolCallId", b.ToolUseID).str("tool", b.Tool)
			fillProgress(o, b)
		}).frame()
	}
	type op struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	patch := []op{{"add", "/stage", b.Stage}, {"add", "/message", b.Message}}
	if b.Progress != nil {
		patch = append(patch, op{"add", "/progress", *b.Progress})
	}
	if len(b.Data) > 0 {
		patch = append(patch, op{"add", "/data", b.Data})
	}
	return a.event(dst, "ACTIVITY_DELTA").opt("subagentRunId", c.sub).str("messageId", c.activity).
		str("activityType", progressActivity).val("patch", patch).frame()
}

func (a *aguiEncoder) result(dst []byte, b event.ToolComplete) []byte {
	c := a.calls[b.ToolUseID]
	if c == nil {
		return dst
	}
	delete(a.calls, b.ToolUseID)
	a.said = "" // what comes is another response
	a.parts++
	o := a.event(dst, "TOOL_CALL_RESULT").opt("subagentRunId", c.sub).str("messageId", a.id("t", a.parts)).
		str("toolCallId", b.ToolUseID).str("role", "tool").str("content", b.Result)
	if b.Status == event.CallError {
		o.obj("metadata", func(o *object) {
			o.obj("fettle", func(o *object) { o.str("status", string(b.Status)).str("error", b.Error) })
		})
	}
	return o.frame()
}

// approvalSchema is what answers an approval.
const approvalSchema = `{"type":"object","required":["approved"],"properties":{"approved":{"type":"boolean"},` +
	`"remember":{"enum":["chat","always"]},"reason":{"type":"string"}}}`

// ask shows that a call needs an approval. Where the client answers by a run
// that resumes this one, this one ends here.
func (a *aguiEncoder) ask(dst []byte, seq event.Seq, b event.ConfirmRequest) []byte {
	dst = a.show(dst, call{b.Tool, b.ToolID, b.ToolUseID, b.Input})
	if !a.o.pauses(seq) {
		return a.event(dst, "CUSTOM").str("name", "fettle.approval").obj("value", func(o *object) {
			o.str("toolCallId", b.ToolUseID).str("tool", b.Tool).str("reason", b.Reason).opt("rule", b.Rule)
		}).frame()
	}
	root, name := a.root, a.name
	dst = a.closeAll(a.leaveSub(a.closeMessage(dst), "suspended"))
	a.root, a.name, a.stage = root, name, paused
	o := a.run(a.event(dst, "RUN_FINISHED"))
	o.obj("outcome", func(o *object) {
		o.str("type", "interrupt").key("interrupts")
		one := open(append(o.b, '[')).str("id", ApprovalID(a.first.turn, b.ToolUseID)).str("reason", "tool_approval").
			str("message", b.Tool+" needs an approval: "+b.Reason).str("toolCallId", b.ToolUseID).
			lit("responseSchema", approvalSchema).
			obj("metadata", func(o *object) {
				o.str("tool", b.Tool).str("tool_id", b.ToolID).raw("input", b.Input).opt("rule", b.Rule)
			})
		o.b = append(one.close(), ']')
	})
	return o.frame()
}

// custom shows what AG-UI has no event for.
func (a *aguiEncoder) custom(dst []byte, b event.Body) []byte {
	var value any
	switch b := b.(type) {
	case event.Status, event.Payload, event.Workflow, event.Footnote:
		value = b
	case event.Annotations:
		value = b.Annotations
	default:
		return dst
	}
	return a.event(dst, "CUSTOM").str("name", "fettle."+string(b.Type())).val("value", value).frame()
}

// closeAll ends everything that is open in the run.
func (a *aguiEncoder) closeAll(dst []byte) []byte {
	dst = a.endSub(a.closeMessage(dst))
	if a.root != "" {
		dst = a.event(dst, "STEP_FINISHED").str("stepName", stepName(a.root)).frame()
		a.root = ""
	}
	a.said = ""
	return dst
}

func (a *aguiEncoder) end(dst []byte, b event.Body) []byte {
	dst = a.closeAll(dst)
	a.stage = ended
	switch b := b.(type) {
	case event.Error:
		return a.fail(dst, b.Fault())
	case event.Cancelled:
		return a.run(a.event(dst, "RUN_FINISHED")).lit("outcome", `{"type":"cancelled"}`).frame()
	case event.Complete:
		o := a.run(a.event(dst, "RUN_FINISHED")).obj("outcome", func(o *object) {
			o.str("type", "success")
			if len(a.pending) > 0 {
				o.val("pendingToolCallIds", a.pending)
			}
		})
		o.obj("result", func(o *object) {
			p := b.Payload
			o.int("conversation_id", p.ConversationID).str("chat_id", p.ChatID).str("message_id", p.MessageID)
		})
		return a.usage(o).frame()
	}
	return dst
}

func (a *aguiEncoder) usage(o *object) *object {
	u := a.facts.usage
	if u == nil {
		return o
	}
	provider, model, _ := strings.Cut(a.facts.model, "/")
	o.key("usage")
	one := open(append(o.b, '[')).opt("provider", provider).opt("model", model).
		int("inputTokens", u.InputTokens).int("outputTokens", u.OutputTokens).int("totalTokens", u.InputTokens+u.OutputTokens).
		int("reasoningTokens", u.ReasoningTokens).int("cachedInputTokens", u.CachedTokens).
		int("cacheWriteInputTokens", u.CacheWriteTokens)
	o.b = append(one.close(), ']')
	return o
}

func (a *aguiEncoder) fail(dst []byte, f *fault.Fault) []byte {
	return a.event(dst, "RUN_ERROR").str("message", f.Msg).str("code", string(f.Code)).frame()
}

func (a *aguiEncoder) End(dst []byte) []byte {
	switch a.stage {
	case ended, paused:
		return dst
	case streaming:
		dst = a.closeAll(dst)
	}
	a.stage = ended
	return a.fail(dst, wasCut())
}

func (a *aguiEncoder) KeepAlive(dst []byte) []byte { return append(dst, ping...) }

func (a *aguiEncoder) Paused() bool { return a.stage == paused }
