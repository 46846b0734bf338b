package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/follow"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/server"
)

// openLast prints what was folded in the last answer: what was thought, and each
// call with all that it was given and gave.
func (p *page) openLast() {
	if p.busy {
		p.hint = "Ctrl-O opens the answer when it is there"
		return
	}
	p.talk.open()
}

func (t *talk) open() {
	out, l := t.in.Streams.Out, t.log
	style := out.Style()
	thought := strings.TrimSpace(l.Thought.String())
	if thought == "" && len(l.Calls) == 0 {
		t.say("nothing is folded in the last answer")
		return
	}
	if thought != "" {
		out.Printf("\n%s\n", style.Dim("── thought"))
		a := &show.Aside{Out: out}
		a.Write(thought)
		a.Close()
	}
	for i, c := range l.Calls {
		out.Printf("\n%s\n", style.Dim(term.CutEnd(fmt.Sprintf("── call %d: %s", i+1, term.Clean(c.ToolID)), max(out.Width()-1, 20))))
		t.openCall(out, c)
	}
}

// openCall prints a call: its input, and its view, diff, result or error.
func (t *talk) openCall(out *term.Output, c follow.Call) {
	width := max(out.Width(), 20)
	var b strings.Builder
	var fields map[string]json.RawMessage
	if json.Unmarshal(c.Input, &fields) == nil {
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			var s string
			if json.Unmarshal(fields[name], &s) != nil {
				s = string(fields[name])
			}
			fmt.Fprintf(&b, "  %s:\n", show.OneLine(name))
			show.Detail(&b, "    ", s, width)
		}
	}
	b.WriteString("  ← result:\n")
	text := c.Result
	if c.Error != "" {
		text = c.Error
	}
	show.Detail(&b, "    ", text, width)
	out.WriteString(b.String())
	if len(c.Changes) > 0 && c.PreManifestID != "" {
		t.showDiff(out, c.ToolComplete, 0)
	}
}

// doRender shows what a call gave as its renderer has it.
func (t *talk) doRender(_ context.Context, arg string) error {
	call, err := t.callOf(arg)
	if err != nil {
		return err
	}
	if !t.showPlan(t.in.Streams.Out, call, 0) {
		t.openCall(t.in.Streams.Out, call)
	}
	return nil
}

// showPlan shows a call by its render plan: code and documents here, tables as
// tables, and a page by the address that serve has it at. It tells whether it
// showed anything; most bounds the lines, and 0 is all.
func (t *talk) showPlan(out *term.Output, c follow.Call, most int) bool {
	var plan struct {
		Renderer string `json:"renderer"`
		Config   struct {
			Content string `json:"content"`
		} `json:"config"`
	}
	if rows, ok := tableOf(c.Data); ok {
		return t.showTable(out, rows, most)
	}
	if len(c.RenderPlan) == 0 || json.Unmarshal(c.RenderPlan, &plan) != nil {
		return false
	}
	switch plan.Renderer {
	case "html", "frame":
		if c.CallID == "" {
			return false
		}
		line := "a page: fettle serve shows it at /api/tool-calls/" + c.CallID + "/render"
		if base := t.served(); base != "" {
			line = "a page: " + base + "/api/tool-calls/" + c.CallID + "/render, with /t/TOKEN before /api"
		}
		show.ShowLabel(out, "  "+line)
		return true
	case "code", "document":
		lines := strings.Split(strings.TrimRight(plan.Config.Content, "\n"), "\n")
		t.showLines(out, lines, most)
		return true
	}
	return false
}

// served is the address of the server that runs here; "" where none does.
func (t *talk) served() string {
	dirs, err := t.rt.Dirs()
	if err != nil {
		return ""
	}
	note, err := server.ReadNote(dirs.Data)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(term.Clean(note.Address), "/")
}

func (t *talk) showLines(out *term.Output, lines []string, most int) {
	more := 0
	if most > 0 && len(lines) > most {
		more = len(lines) - most
		lines = lines[:most]
	}
	for _, line := range lines {
		out.Printf("  %s\n", cutLine(line, out.Width()-3))
	}
	if more > 0 {
		show.ShowLabel(out, fmt.Sprintf("  … %s more: /render", term.Count(more, "line", "lines")))
	}
}

// maxColumns is how many columns a table may have here; more of them are no
// table on a terminal.
const maxColumns = 12

// tableOf finds a table in what a call gave: a list of flat objects, alone or as
// the only list of an object.
func tableOf(data json.RawMessage) ([][]show.JSONField, bool) {
	data = bytes.TrimSpace(data)
	if len(data) > 0 && data[0] == '{' {
		var list json.RawMessage
		for _, f := range show.OrderedFields(data) {
			if v := bytes.TrimSpace(f.Value); len(v) > 0 && v[0] == '[' {
				if list != nil {
					return nil, false
				}
				list = v
			}
		}
		data = list
	}
	var items []json.RawMessage
	if len(data) == 0 || json.Unmarshal(data, &items) != nil || len(items) == 0 {
		return nil, false
	}
	var rows [][]show.JSONField
	for _, item := range items {
		item = bytes.TrimSpace(item)
		if len(item) == 0 || item[0] != '{' {
			return nil, false
		}
		fields := show.OrderedFields(item)
		if len(fields) == 0 || len(fields) > maxColumns {
			return nil, false
		}
		for _, f := range fields {
			if v := bytes.TrimSpace(f.Value); len(v) > 0 && (v[0] == '{' || v[0] == '[') {
				return nil, false
			}
		}
		rows = append(rows, fields)
	}
	return rows, true
}

func (t *talk) showTable(out *term.Output, rows [][]show.JSONField, most int) bool {
	var cols []term.Column
	at := map[string]int{}
	for _, f := range rows[0] {
		at[f.Name] = len(cols)
		cols = append(cols, term.Column{Title: show.OneLine(f.Name), Cut: true})
	}
	table := term.NewTable(out, cols...)
	more := 0
	if most > 0 && len(rows) > most {
		more = len(rows) - most
		rows = rows[:most]
	}
	for _, row := range rows {
		cells := make([]string, len(cols))
		for _, f := range row {
			if i, ok := at[f.Name]; ok {
				cells[i] = show.OneLine(show.Scalar(bytes.TrimSpace(f.Value)))
			}
		}
		table.Row(cells...)
	}
	_ = table.Flush() // the output keeps the error
	if more > 0 {
		show.ShowLabel(out, fmt.Sprintf("  … %s more: /render", term.Count(more, "row", "rows")))
	}
	return true
}

// callOf is the call of the last turn that a number names; none names the last.
func (t *talk) callOf(arg string) (follow.Call, error) {
	n := len(t.log.Calls)
	if arg != "" {
		var err error
		if n, err = strconv.Atoi(arg); err != nil {
			return follow.Call{}, cmdline.Usagef("/render 1", "/render wants the number of a call of the last answer")
		}
	}
	if n < 1 || n > len(t.log.Calls) {
		return follow.Call{}, fault.New(fault.NotFound, "the last answer has "+term.Count(len(t.log.Calls), "call", "calls"))
	}
	return t.log.Calls[n-1], nil
}
