package show

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/provider"
)

const (
	// CardLines bounds a card within an answer; payloads show has all of it.
	CardLines = 30
	// cardDepth is how deep data is laid out; below that it is JSON.
	cardDepth = 6
	// cardWidth is the widest that a card gets: longer lines are hard to read.
	cardWidth = 100
)

// Card is a payload as a terminal shows it: framed, with its title, its data in
// words, and what can be done with it.
type Card struct {
	Payload provider.Payload
	Plan    json.RawMessage // its render plan, where it has one
	Foot    string
	Lines   int // at most so many; 0 is all
}

// Print writes the card. A write that fails is remembered by the output.
func (c Card) Print(out *term.Output) {
	style := out.Style()
	width := cardWidth
	if w := out.Width(); w > 0 {
		width = min(w, cardWidth)
	}
	title, kind := OneLine(c.Payload.Title), OneLine(c.Payload.Type)
	if title == "" {
		title, kind = kind, ""
	}
	head := style.Bold(term.CutEnd(title, width-2))
	if kind != "" && term.Cells(title)+term.Cells(kind)+4 <= width {
		head += "  " + style.Dim(kind)
	}
	out.Printf("%s %s\n", style.Dim("┌"), head)
	lines := c.body(width - 2)
	more := 0
	if c.Lines > 0 && len(lines) > c.Lines {
		more = len(lines) - c.Lines
		lines = lines[:c.Lines]
	}
	for _, line := range lines {
		out.Printf("%s %s\n", style.Dim("│"), line)
	}
	foot := c.Foot
	if more > 0 {
		foot = strings.TrimSuffix("and "+term.Count(more, "line", "lines")+" more: fettle payloads show · "+foot, " · ")
	}
	rows := term.Wrap(foot, width-2)
	if foot == "" {
		rows = []string{""}
	}
	for i, row := range rows {
		edge := "└"
		if i > 0 {
			edge = " "
		}
		out.Printf("%s\n", style.Dim(strings.TrimRight(edge+" "+row, " ")))
	}
}

// body lays the data out in lines of a width: by the renderer, where that shows
// text, else by its structure.
func (c Card) body(width int) []string {
	var plan struct {
		Renderer string `json:"renderer"`
		Config   struct {
			Content string `json:"content"`
		} `json:"config"`
	}
	if len(c.Plan) > 0 && json.Unmarshal(c.Plan, &plan) == nil && (plan.Renderer == "code" || plan.Renderer == "document") && plan.Config.Content != "" {
		var lines []string
		for line := range strings.Lines(strings.ReplaceAll(term.CleanText(plan.Config.Content), "\t", "    ")) {
			lines = append(lines, term.Chop(strings.TrimSuffix(line, "\n"), width)...)
		}
		return lines
	}
	l := &layout{width: max(width, 20)}
	l.value(json.RawMessage(c.Payload.Data), "", "", 0)
	return l.lines
}

// layout turns JSON into lines that a person reads.
type layout struct {
	width int
	lines []string
}

// value writes a value behind a name, which is empty for none.
func (l *layout) value(raw json.RawMessage, indent, name string, depth int) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) > 0 && raw[0] == '{' && depth < cardDepth:
		l.object(raw, indent, name, depth)
	case len(raw) > 0 && raw[0] == '[' && depth < cardDepth:
		l.list(raw, indent, name, depth)
	default:
		l.text(indent, name, Scalar(raw))
	}
}

func (l *layout) object(raw json.RawMessage, indent, name string, depth int) {
	fields := OrderedFields(raw)
	if len(fields) == 0 {
		l.text(indent, name, "none")
		return
	}
	if name != "" {
		l.lines = append(l.lines, indent+name)
		indent += "  "
	}
	for _, f := range fields {
		l.value(f.Value, indent, OneLine(f.Name), depth+1)
	}
}

func (l *layout) list(raw json.RawMessage, indent, name string, depth int) {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil || len(items) == 0 {
		l.text(indent, name, "none")
		return
	}
	if short, ok := inRow(items); ok {
		l.text(indent, name, short)
		return
	}
	if name != "" {
		l.lines = append(l.lines, indent+name)
		indent += "  "
	}
	for _, item := range items {
		at := len(l.lines)
		l.value(item, indent+"  ", "", depth+1)
		if at < len(l.lines) { // its first line begins the item
			l.lines[at] = indent + "· " + strings.TrimPrefix(l.lines[at], indent+"  ")
		}
	}
}

// inRow is a list of short values in one text.
func inRow(items []json.RawMessage) (string, bool) {
	const short = 40
	words := make([]string, len(items))
	for i, item := range items {
		item = bytes.TrimSpace(item)
		if len(item) == 0 || item[0] == '{' || item[0] == '[' || len(item) > short {
			return "", false
		}
		words[i] = Scalar(item)
	}
	return strings.Join(words, ", "), true
}

// text writes a text behind its name; what doesn't fit goes below it.
func (l *layout) text(indent, name, value string) {
	const column = 14 // names are padded to it, so that short values stand in line
	head := indent + name
	if name != "" {
		head += strings.Repeat(" ", max(2, column-term.Cells(name)))
	}
	hang := strings.Repeat(" ", min(term.Cells(head), l.width/2))
	first := true
	for line := range strings.Lines(value) {
		for _, part := range term.Wrap(strings.TrimRight(line, "\n"), max(l.width-term.Cells(hang), 10)) {
			if first && term.Cells(head) > term.Cells(hang) {
				l.lines = append(l.lines, strings.TrimRight(head, " "))
			} else if first {
				l.lines = append(l.lines, head+part)
				first = false
				continue
			}
			first = false
			l.lines = append(l.lines, hang+part)
		}
	}
	if value == "" {
		l.lines = append(l.lines, strings.TrimRight(head, " "))
	}
}

// Scalar is a value as a text: strings without quotes, yes and no for booleans.
func Scalar(raw json.RawMessage) string {
	var s string
	switch text := string(raw); {
	case json.Unmarshal(raw, &s) == nil && len(raw) > 0 && raw[0] == '"':
		return strings.ReplaceAll(strings.TrimRight(term.CleanText(s), "\n"), "\t", "    ")
	case text == "true":
		return "yes"
	case text == "false":
		return "no"
	case text == "null" || text == "":
		return "none"
	default:
		return term.Clean(text)
	}
}

// JSONField is a field of an object, in the order in which they were written.
type JSONField struct {
	Name  string
	Value json.RawMessage
}

// OrderedFields are an object's fields as they stand there.
func OrderedFields(raw json.RawMessage) []JSONField {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil
	}
	var out []JSONField
	for dec.More() {
		key, err := dec.Token()
		name, ok := key.(string)
		var value json.RawMessage
		if err != nil || !ok || dec.Decode(&value) != nil {
			return out
		}
		out = append(out, JSONField{name, value})
	}
	return out
}

// DecisionFoot says what became of a payload, or what can be done with it.
func DecisionFoot(p provider.Payload, number int) string {
	if p.Source != "model" {
		return ""
	}
	which := ""
	if number > 0 {
		which = " " + strconv.Itoa(number)
	}
	return "fettle payloads accept" + which + " · fettle payloads reject" + which
}

// CardName is a payload in a word or two.
func CardName(p provider.Payload) string {
	if p.Title != "" {
		return p.Title
	}
	return p.Type
}

// DecisionWords returns a decision in words, or that the payload's text was edited.
func DecisionWords(d chat.PayloadDecision) string {
	if d.Decision == "" {
		return EditWords(d.Edits[len(d.Edits)-1])
	}
	text := string(d.Decision) + " " + term.Ago(time.Now(), d.At)
	if d.Remark != "" {
		text += ": " + term.Clean(d.Remark)
	}
	return text
}

// EditWords returns when the user edited the text of a payload.
func EditWords(e chat.PayloadEdit) string { return "edited " + term.Ago(time.Now(), e.At) }
