package dialect

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/engine/event"
)

// serverLabel is the MCP server that fettle's own tools are shown as: that is
// the form which the API has for tools that somebody else ran.
const serverLabel = "fettle"

// textItem is a message or a reasoning on its way.
type textItem struct {
	kind  string // message, reasoning
	id    string
	index int
	text  strings.Builder
	notes []json.RawMessage
}

// mcpItem is a running call of a tool of fettle's.
type mcpItem struct {
	id    string
	index int
	tool  string
	args  string
}

// newItem takes the next place in the output.
func (r *responsesEncoder) newItem(prefix string) (id string, index int) {
	index = len(r.items)
	r.items = append(r.items, nil)
	return prefix + "_" + r.first.turn + "_" + strconv.Itoa(index), index
}

// keep counts what the encoder holds on to.
func (r *responsesEncoder) keep(index int, item []byte) {
	r.items[index] = item
	r.size += len(item)
}

func (r *responsesEncoder) item(dst []byte, kind string, index int, item []byte) []byte {
	return r.event(dst, kind).int("output_index", int64(index)).lit("item", string(item)).frame()
}

func (r *responsesEncoder) say(dst []byte, kind, text string) []byte {
	if text == "" {
		return dst
	}
	if r.open != nil && r.open.kind != kind {
		dst = r.closeItem(dst)
	}
	if r.open == nil {
		dst = r.openItem(dst, kind)
	}
	it := r.open
	it.text.WriteString(text)
	r.size += len(text)
	if kind == "reasoning" {
		return r.at(dst, "response.reasoning_summary_text.delta", it.id, it.index).
			int("summary_index", 0).str("delta", text).frame()
	}
	return r.at(dst, "response.output_text.delta", it.id, it.index).
		int("content_index", 0).str("delta", text).lit("logprobs", "[]").frame()
}

func (r *responsesEncoder) openItem(dst []byte, kind string) []byte {
	prefix := "msg"
	if kind == "reasoning" {
		prefix = "rs"
	}
	id, index := r.newItem(prefix)
	r.open = &textItem{kind: kind, id: id, index: index}
	if kind == "reasoning" {
		item := open(nil).str("type", kind).str("id", id).lit("summary", "[]").close()
		dst = r.item(dst, "response.output_item.added", index, item)
		return r.at(dst, "response.reasoning_summary_part.added", id, index).int("summary_index", 0).
			lit("part", `{"type":"summary_text","text":""}`).frame()
	}
	item := open(nil).str("type", kind).str("id", id).str("status", "in_progress").str("role", "assistant").
		lit("content", "[]").close()
	dst = r.item(dst, "response.output_item.added", index, item)
	return r.at(dst, "response.content_part.added", id, index).int("content_index", 0).
		lit("part", `{"type":"output_text","text":"","annotations":[],"logprobs":[]}`).frame()
}

// closeItem ends the open message or reasoning.
func (r *responsesEncoder) closeItem(dst []byte) []byte { return r.leaveItem(dst, "completed") }

func (r *responsesEncoder) leaveItem(dst []byte, status string) []byte {
	it := r.open
	if it == nil {
		return dst
	}
	r.open = nil
	text := it.text.String()
	var item []byte
	if it.kind == "reasoning" {
		part := string(open(nil).str("type", "summary_text").str("text", text).close())
		dst = r.at(dst, "response.reasoning_summary_text.done", it.id, it.index).int("summary_index", 0).
			str("text", text).frame()
		dst = r.at(dst, "response.reasoning_summary_part.done", it.id, it.index).int("summary_index", 0).
			lit("part", part).frame()
		item = open(nil).str("type", it.kind).str("id", it.id).lit("summary", "["+part+"]").close()
	} else {
		part := string(open(nil).str("type", "output_text").str("text", text).val("annotations", list(it.notes)).
			lit("logprobs", "[]").close())
		dst = r.at(dst, "response.output_text.done", it.id, it.index).int("content_index", 0).
			str("text", text).lit("logprobs", "[]").frame()
		dst = r.at(dst, "response.content_part.done", it.id, it.index).int("content_index", 0).lit("part", part).frame()
		item = open(nil).str("type", it.kind).str("id", it.id).str("status", status).str("role", "assistant").
			lit("content", "["+part+"]").close()
	}
	r.size -= len(text)
	r.keep(it.index, item)
	return r.item(dst, "response.output_item.done", it.index, item)
}

// list is never null.
func list(raw []json.RawMessage) []json.RawMessage {
	if raw == nil {
		return []json.RawMessage{}
	}
	return raw
}

// annotate adds citations to the message that is being written; those that
// come when none is have no place.
func (r *responsesEncoder) annotate(dst []byte, b event.Annotations) []byte {
	if r.open == nil || r.open.kind != "message" {
		return dst
	}
	for _, c := range citations(b.Annotations) {
		if c.URL == "" {
			continue
		}
		note := open(nil).str("type", "url_citation").str("url", c.URL).int("start_index", c.Start).
			int("end_index", c.End).str("title", c.Title).close()
		dst = r.at(dst, "response.output_text.annotation.added", r.open.id, r.open.index).int("content_index", 0).
			int("annotation_index", int64(len(r.open.notes))).lit("annotation", string(note)).frame()
		r.open.notes = append(r.open.notes, note)
		r.size += len(note)
	}
	return dst
}

// functionCall is a call of a client's tool, whole at once.
func (r *responsesEncoder) functionCall(dst []byte, b event.ToolStart) []byte {
	form, ok := r.o.CallForms[b.Tool]
	if ok && form.Custom {
		return r.customCall(dst, b, form)
	}
	if !ok {
		form.Name = b.Tool
	}
	r.facts.calls++
	id, index := r.newItem("fc")
	args := compact(b.Input)
	item := func(args, status string) []byte {
		return open(nil).str("type", "function_call").str("id", id).str("call_id", b.ToolUseID).opt("namespace", form.Namespace).
			str("name", form.Name).str("arguments", args).str("status", status).extra(b.Extra).close()
	}
	dst = r.item(dst, "response.output_item.added", index, item("", "in_progress"))
	dst = r.at(dst, "response.function_call_arguments.delta", id, index).str("delta", args).frame()
	dst = r.at(dst, "response.function_call_arguments.done", id, index).str("name", form.Name).str("arguments", args).frame()
	whole := item(args, "completed")
	r.keep(index, whole)
	return r.item(dst, "response.output_item.done", index, whole)
}

// customCall is a call of a client's tool whose input is text, whole at once.
func (r *responsesEncoder) customCall(dst []byte, b event.ToolStart, form CallForm) []byte {
	r.facts.calls++
	id, index := r.newItem("ctc")
	item := func(input, status string) []byte {
		return open(nil).str("type", "custom_tool_call").str("id", id).str("call_id", b.ToolUseID).opt("namespace", form.Namespace).
			str("name", form.Name).str("input", input).str("status", status).close()
	}
	input := customInput(b.Input)
	dst = r.item(dst, "response.output_item.added", index, item("", "in_progress"))
	dst = r.at(dst, "response.custom_tool_call_input.delta", id, index).str("delta", input).frame()
	dst = r.at(dst, "response.custom_tool_call_input.done", id, index).str("input", input).frame()
	whole := item(input, "completed")
	r.keep(index, whole)
	return r.item(dst, "response.output_item.done", index, whole)
}

func (m *mcpItem) json(status string, fill func(*object)) []byte {
	o := open(nil).str("type", "mcp_call").str("id", m.id).str("server_label", serverLabel).str("name", m.tool).
		str("arguments", m.args).str("status", status)
	fill(o)
	return o.close()
}

func (r *responsesEncoder) mcpStart(dst []byte, b event.ToolStart) []byte {
	m := &mcpItem{tool: b.Tool}
	m.id, m.index = r.newItem("mcp")
	r.calls[b.ToolUseID] = m
	dst = r.item(dst, "response.output_item.added", m.index, m.json("in_progress", func(*object) {}))
	dst = r.at(dst, "response.mcp_call.in_progress", m.id, m.index).frame()
	m.args = compact(b.Input)
	r.size += len(m.args)
	dst = r.at(dst, "response.mcp_call_arguments.delta", m.id, m.index).str("delta", m.args).frame()
	return r.at(dst, "response.mcp_call_arguments.done", m.id, m.index).str("arguments", m.args).frame()
}

func (r *responsesEncoder) mcpEnd(dst []byte, b event.ToolComplete) []byte {
	m := r.calls[b.ToolUseID]
	if m == nil {
		return dst
	}
	delete(r.calls, b.ToolUseID)
	var item []byte
	if b.Status == event.CallError {
		item = m.json("failed", func(o *object) {
			o.lit("output", "null").obj("error", func(o *object) {
				o.str("type", "mcp_tool_execution_error").val("content", []map[string]string{{"type": "text", "text": b.Result}})
			})
		})
		dst = r.at(dst, "response.mcp_call.failed", m.id, m.index).frame()
	} else {
		item = m.json("completed", func(o *object) { o.str("output", b.Result).lit("error", "null") })
		dst = r.at(dst, "response.mcp_call.completed", m.id, m.index).frame()
	}
	r.size -= len(m.args)
	r.keep(m.index, item)
	return r.item(dst, "response.output_item.done", m.index, item)
}
