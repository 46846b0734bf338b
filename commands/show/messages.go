package show

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/term/markdown"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

// ShowChat prints a chat for reading: who said what, which tools ran, and what
// went wrong. A write that fails is remembered by the output.
func ShowChat(out *term.Output, conv store.Conversation) {
	now, style := time.Now(), out.Style()
	c := conv.Chat
	title := term.Clean(c.Title)
	if width := out.Width(); width > 0 {
		title = term.CutEnd(title, width)
	}
	out.Printf("%s\n", style.Bold(title))
	facts := []string{fmt.Sprintf("chat %d", c.Number)}
	if c.Model != "" {
		facts = append(facts, c.Model)
	}
	facts = append(facts, term.Ago(now, c.UpdatedAt))
	if c.Workspace != "" {
		facts = append(facts, "works in "+c.Workspace)
	}
	if c.ForkedFrom != nil && c.ForkedFrom.Number > 0 {
		facts = append(facts, fmt.Sprintf("forked from chat %d", c.ForkedFrom.Number))
	}
	ShowLabel(out, strings.Join(facts, " · "))
	decided := map[string]chat.PayloadDecision{}
	for _, d := range conv.Decisions {
		decided[d.PayloadID] = d
	}
	apps := map[string][]chat.ToolCall{}
	for _, a := range conv.AppCalls {
		apps[a.MessageID] = append(apps[a.MessageID], a)
	}
	for _, m := range conv.Messages {
		who, when := style.Cyan("you"), ""
		if m.Role != provider.User {
			who = style.Green(cmp.Or(term.Clean(m.Model), "tools")) // without a model the person's own calls
		} else {
			when = style.Dim(", " + term.Ago(now, m.CreatedAt))
		}
		out.Printf("\n%s %s%s\n", style.Dim("──"), who, when)
		ShowMessage(out, m, decided)
		for _, a := range apps[m.ID] {
			showCall(out, provider.ToolCall{Name: a.ToolID, Args: a.Args}, a.Outcome(), "page: ")
		}
		if m.Summary != nil {
			out.WriteString("\n")
			ShowLabel(out, summaryLine(m.Summary))
		}
	}
}

// ShowMessage prints a message, with what was decided about its payloads.
func ShowMessage(out *term.Output, m chat.Message, decided map[string]chat.PayloadDecision) {
	results := map[string]*provider.ToolResult{}
	for _, p := range m.Parts {
		if p.Result != nil {
			results[p.Result.ID] = p.Result
		}
	}
	if m.InteractionType != "" {
		ShowLabel(out, strings.TrimSpace("took the action "+m.InteractionType+" "+ArgLine(m.ActionMetadata)))
	}
	for i, p := range m.Parts {
		switch p.Kind {
		case provider.TextPart:
			if i > 0 && m.Parts[i-1].Kind == provider.TextPart {
				out.WriteString("\n")
			}
			ShowText(out, p.Text, m.Role)
		case provider.FilePart:
			ShowLabel(out, "file "+p.Name+", "+term.Size(int64(len(p.Text))))
		case provider.ImagePart:
			ShowLabel(out, "image "+p.Name+", "+term.Size(int64(len(p.Data))))
		case provider.AgentStartPart:
			ShowLabel(out, "▶ "+p.Agent+" agent activated")
		case provider.AgentTextPart:
			ShowLabel(out, p.Agent+": "+strings.TrimSpace(p.Text))
		case provider.HandoffPart:
			ShowLabel(out, "⇒ handing off to "+p.Name)
		case provider.PayloadPart:
			if p.Payload != nil {
				c := Card{Payload: *p.Payload, Lines: CardLines}
				if d, ok := decided[p.Payload.ID]; ok {
					c.Foot = DecisionWords(d)
				}
				c.Print(out)
			}
		case provider.ToolCallPart:
			showCall(out, *p.Call, results[p.Call.ID], "")
		}
	}
	showEnd(out, m)
}

// ShowLabel prints who speaks, or what follows.
func ShowLabel(out *term.Output, text string) {
	for _, line := range term.Wrap(term.Clean(text), out.Width()) {
		out.Printf("%s\n", out.Style().Dim(line))
	}
}

// showCall shows a call together with its result, as a turn does while it
// runs.
func showCall(out *term.Output, call provider.ToolCall, res *provider.ToolResult, by string) {
	mark, note := out.Style().Cyan("→"), ""
	switch {
	case res == nil:
	case res.Error:
		mark, note = out.Style().Red("✗"), ReasonOf(strings.TrimPrefix(res.Text, "error: "))
	default:
		mark, note = out.Style().Green("✓"), ResultNote(res.Text)
	}
	if res != nil && res.Undone {
		note = strings.TrimSuffix("undone, "+note, ", ")
	}
	out.WriteString(Call{mark, by + call.Name, ArgLine(call.Args), note}.Line(out))
}

// ResultNote is what a result says where it is one line, else how long it is.
func ResultNote(text string) string {
	text = strings.TrimSpace(text)
	if n := strings.Count(text, "\n"); n > 0 {
		return term.Count(n+1, "line", "lines")
	}
	return term.CutEnd(OneLine(text), 60)
}

// ShowText shows what a model wrote as Markdown on a terminal, and what a
// person wrote as it is.
func ShowText(out *term.Output, text string, role provider.Role) {
	if out.IsTerminal() && role != provider.User {
		w := markdown.New(out, markdown.Options{Width: out.Width(), Style: out.Style()})
		_, _ = w.Write([]byte(text))
		_ = w.Close()
		return
	}
	w := NewPlainWriter(out)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	if text != "" && !strings.HasSuffix(text, "\n") {
		out.WriteString("\n")
	}
}

// showEnd says why an answer is not whole, and what was remarked on it.
func showEnd(out *term.Output, m chat.Message) {
	style := out.Style()
	for _, note := range m.Notes {
		ShowLabel(out, "note: "+note)
	}
	switch m.Status {
	case chat.Failed:
		why := "an error"
		if m.Error != nil {
			why = "an error: " + m.Error.Message
		}
		for _, line := range term.Wrap("stopped by "+term.Clean(why), out.Width()) {
			out.Printf("%s\n", style.Red(line))
		}
	case chat.Stopped:
		out.Printf("%s\n", style.Yellow("cancelled"))
	case chat.CutShort:
		out.Printf("%s\n", style.Yellow("interrupted"))
	}
}

// summaryLine tells where a summary stands.
func summaryLine(s *chat.Summary) string {
	return fmt.Sprintf("── the model is told a summary of the %s up to here, by %s",
		term.Count(s.Messages, "message", "messages"), s.Model)
}
