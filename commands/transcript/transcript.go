package transcript

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/provider"
)

// Options say what is written beside the chat.
type Options struct {
	// Live says that a turn of the chat has not ended and isn't in it.
	Live bool
	// Argument gives the argument of a call that tells most, or "".
	Argument func(args json.RawMessage) string
	// Version is that of the program.
	Version string
}

// exchange is a message with what belongs together put together.
type exchange struct {
	chat.Message
	number  int
	results map[string]*provider.ToolResult // by the call's id
	decided map[string]chat.PayloadDecision
	apps    []chat.ToolCall // that pages of the message's calls have made
}

func exchanges(doc *chat.Document) []exchange {
	path := doc.Path()
	decided := map[string]chat.PayloadDecision{}
	for _, d := range doc.Payloads {
		decided[d.PayloadID] = d
	}
	apps := map[string][]chat.ToolCall{}
	for _, c := range doc.ToolCalls {
		if c.AppOf != "" {
			apps[c.MessageID] = append(apps[c.MessageID], c)
		}
	}
	out := make([]exchange, len(path))
	for i, m := range path {
		out[i] = exchange{Message: m, number: i + 1, results: map[string]*provider.ToolResult{}, decided: decided, apps: apps[m.ID]}
		for _, p := range m.Parts {
			if p.Result != nil {
				out[i].results[p.Result.ID] = p.Result
			}
		}
	}
	return out
}

func (x *exchange) asked() bool { return x.Role == provider.User }

// who spoke.
func (x *exchange) who() string {
	switch {
	case x.asked():
		return "You"
	case x.Model == "":
		return "Answer"
	}
	return term.Clean(x.Model)
}

// ending says why an answer is not whole; "" where it is.
func (x *exchange) ending() string {
	switch x.Status {
	case chat.Failed:
		if x.Error != nil {
			return "Stopped by an error: " + term.Clean(x.Error.Message)
		}
		return "Stopped by an error"
	case chat.Stopped:
		return "Cancelled"
	case chat.CutShort:
		return "Interrupted"
	}
	return ""
}

// verdict is what the person decided about a payload; "" where that is nothing.
func (x *exchange) verdict(p *provider.Payload) string {
	d, ok := x.decided[p.ID]
	if !ok {
		return ""
	}
	edited := ""
	if n := len(d.Edits); n > 0 {
		edited = "Edited " + stamp(d.Edits[n-1].At) + ": " + term.Clean(d.Edits[n-1].Text)
	}
	if d.Decision == "" {
		return edited
	}
	text := "Accepted " + stamp(d.At)
	if d.Decision == chat.Rejected {
		text = "Rejected " + stamp(d.At)
	}
	if d.Remark != "" {
		text += ": " + term.Clean(d.Remark)
	}
	if edited != "" {
		text += "; " + edited
	}
	return text
}

// summed says where a summary stands that the model is told; "" where none does.
func (x *exchange) summed() string {
	if x.Summary == nil {
		return ""
	}
	return fmt.Sprintf("The model is told a summary of the %s up to here, by %s",
		term.Count(x.Summary.Messages, "message", "messages"), term.Clean(x.Summary.Model))
}

// facts are what is said of the chat as a whole.
func facts(doc *chat.Document) []string {
	c := doc.Chat
	out := []string{"chat " + fmt.Sprint(c.Number), term.Clean(c.Model)}
	if stamp(c.CreatedAt) == stamp(c.UpdatedAt) {
		out = append(out, stamp(c.CreatedAt))
	} else {
		out = append(out, stamp(c.CreatedAt)+" to "+stamp(c.UpdatedAt))
	}
	if from := c.ForkedFrom; from != nil && from.Number > 0 {
		out = append(out, fmt.Sprintf("forked from chat %d", from.Number))
	}
	if c.Workspace != "" {
		out = append(out, "worked in "+term.Clean(c.Workspace))
	}
	return out
}

// remarks say what the document leaves out.
func remarks(doc *chat.Document, o Options) []string {
	var out []string
	if n := len(doc.Messages) - len(doc.Path()); n > 0 {
		out = append(out, term.Count(n, "message", "messages")+" on other branches are not shown here.")
		if n == 1 {
			out[0] = "One message on another branch is not shown here."
		}
	}
	if o.Live {
		out = append(out, "A turn has not ended yet and is not shown here.")
	}
	return out
}

// stamp is a time that reads the same everywhere.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// appCall is a call of a page, which no message has among its parts.
func appCall(c *chat.ToolCall) *provider.ToolCall {
	return &provider.ToolCall{ID: c.ToolUseID, Name: "page: " + c.ToolID, Args: c.Args}
}

// callMark tells how a call ended, in a sign and in words.
func callMark(res *provider.ToolResult) (sign, word string) {
	switch {
	case res == nil:
		return "→", "no result"
	case res.Error && res.Undone:
		return "✗", "failed, undone"
	case res.Error:
		return "✗", "failed"
	case res.Undone:
		return "↶", "undone"
	}
	return "✓", "done"
}

// payloadName is what stands above a payload.
func payloadName(p *provider.Payload) string {
	if p.Title == "" || p.Title == p.Type {
		return term.Clean(p.Type)
	}
	return term.Clean(p.Title + ", " + p.Type)
}

// indented is JSON for reading; what is none stands as it is.
func indented(raw json.RawMessage) string {
	var v any
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return term.CleanText(string(raw))
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if enc.Encode(v) != nil {
		return term.CleanText(string(raw))
	}
	return term.CleanText(strings.TrimSuffix(b.String(), "\n"))
}

// argument is what stands beside a tool's name.
func (o Options) argument(args json.RawMessage) string {
	if o.Argument == nil {
		return ""
	}
	return term.CutEnd(term.Clean(o.Argument(args)), maxArgument)
}

// maxArgument is how much of a call's argument stands on its line.
const maxArgument = 100
