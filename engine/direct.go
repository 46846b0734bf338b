package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/internal/schema"
)

// directParts is the question of a turn whose calls the user makes: each tool, with its
// arguments in words.
func directParts(calls []DirectCall) []provider.Part {
	lines := make([]string, len(calls))
	for i, c := range calls {
		lines[i] = "Run " + c.Tool + argumentLines(c.Args)
	}
	return []provider.Part{{Kind: provider.TextPart, Text: strings.Join(lines, "\n")}}
}

// maxArgumentLines is more arguments than a tool has as a rule.
const maxArgumentLines = 20

// argumentLines lists the members of a JSON object as lines that follow a title, each bounded. The
// chat shows them as what the user asked. Anything else is left out.
func argumentLines(object json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(object))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return ""
	}
	var out strings.Builder
	for n := 0; dec.More(); n++ {
		if n == maxArgumentLines {
			return out.String() + "\n…"
		}
		name, err := dec.Token()
		if err != nil {
			break
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			break
		}
		fmt.Fprintf(&out, "\n%s: %s", sanitize.Line(fmt.Sprint(name)), sanitize.Shorten(sanitize.Line(argumentText(value)), chat.MaxName))
	}
	return out.String()
}

// argumentText is a text or a list of texts without the marks of JSON, and other JSON on one line.
func argumentText(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	var texts []string
	if json.Unmarshal(value, &texts) == nil {
		return strings.Join(texts, ", ")
	}
	return compactJSON(value)
}

// checkCalls finds the tools of the person's own calls and looks at their
// arguments, before anything is begun.
func (t *turn) checkCalls() error {
	for i := range t.req.Calls {
		if err := t.checkCall(&t.req.Calls[i]); err != nil {
			return err
		}
	}
	return nil
}

func (t *turn) checkCall(c *DirectCall) error {
	entry, known := t.names.Lookup(c.Tool)
	if all := t.offer.ByBareID(c.Tool); !known && len(all) == 1 {
		entry, known = all[0], true
	}
	if !known {
		return t.noTool(c.Tool)
	}
	c.Tool = entry.Tool.ID
	if len(c.Args) == 0 {
		c.Args = json.RawMessage("{}")
	}
	if !record.IsObject(c.Args) {
		return fault.New(fault.Usage, c.Tool+": the arguments are no JSON object", fmt.Sprintf("fettle tool call %s '{…}'", c.Tool))
	}
	s, err := t.eng.Schemas.Compile(entry.Tool.InputSchema)
	if err != nil {
		return fault.Wrap(fault.Failed, c.Tool+": its input_schema can't be used", err)
	}
	if problems := s.Validate(c.Args); len(problems) > 0 {
		f := fault.New(fault.Usage, c.Tool+": the arguments don't fit its input_schema", "fettle tool show "+c.Tool)
		f.Detail = strings.Split(schema.Explain(problems), "\n")
		return f
	}
	return nil
}

// noTool says why a tool can't be called: there is none, or it is switched off.
func (t *turn) noTool(name string) error {
	if e, ok := t.box.Tools.Get(name); ok && !e.Tool.Enabled {
		return fault.New(fault.Failed, "the tool "+name+" is disabled", "fettle tool enable "+name)
	}
	if why := t.box.Unusable[name]; why != "" {
		hint := "fettle tool show " + name
		if why == catalog.DisabledTool {
			hint = "fettle tool enable " + name
		}
		return fault.New(fault.Failed, "the tool "+name+" can't be used: "+why, hint)
	}
	if n := len(t.offer.ByBareID(name)); n > 1 {
		f := fault.New(fault.Usage, fmt.Sprintf("%d toolsets have a tool %s; name it with its toolset", n, name))
		for _, e := range t.offer.ByBareID(name) {
			f.Detail = append(f.Detail, e.Tool.ID)
		}
		return f
	}
	msg := "no tool " + name
	if near := t.names.Nearest(name); near != "" {
		msg += "; did you mean " + near + "?"
	}
	return fault.New(fault.NotFound, msg, "fettle tool list")
}

// runDirect runs the person's own calls.
func (t *turn) runDirect() error {
	uses := make([]provider.ToolCall, len(t.req.Calls))
	for i, c := range t.req.Calls {
		uses[i] = provider.ToolCall{ID: "call_" + t.eng.NewID(), Name: c.Tool, Args: c.Args}
	}
	t.begun = true // from here on there is something to keep
	return t.runCalls(uses)
}
