package mcp

import (
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/internal/consent"
)

// canVisit tells whether the client can show its user an address to visit.
func (c *call) canVisit() bool {
	caps := c.req.ClientCapabilities()
	return caps != nil && caps.Elicitation != nil && caps.Elicitation.URL != nil
}

// ofForm is what the user is asked where a tool asks something itself: what it asks,
// in the name of its server. nil says that this client can't.
func (c *call) ofForm(ask event.ConfirmRequest) *sdk.ElicitParams {
	f := ask.Form
	head := "The MCP server " + consent.Line(f.Server) + " asks: "
	switch f.Kind {
	case event.FieldsForm:
		return &sdk.ElicitParams{Mode: "form", Message: head + consent.Text(f.Message), RequestedSchema: f.Schema()}
	case event.URLForm:
		if !c.canVisit() {
			return nil
		}
		return &sdk.ElicitParams{Mode: "url", Message: head + consent.Text(f.Message), URL: f.URL, ElicitationID: ask.ToolUseID}
	case event.SamplingForm:
		text := head + consent.Text(f.Message) + "\nModel: " + consent.Line(f.Prompt.Model)
		if f.Prompt.System != "" {
			text += "\nSystem: " + consent.Text(f.Prompt.System)
		}
		for _, m := range f.Prompt.Messages {
			text += "\n" + consent.Line(m.Role) + ": " + consent.Text(m.Text)
		}
		p := question(ask)
		p.Message = text
		return p
	}
	return nil
}

// questionOf is what the user is asked about a call, or by it.
func (c *call) questionOf(ask event.ConfirmRequest) *sdk.ElicitParams {
	switch {
	case ask.Form != nil:
		return c.ofForm(ask)
	case ask.Review != nil:
		return reviewQuestion(ask)
	}
	return question(ask)
}

// answerOf reads the user's answer to a question.
func answerOf(ask *event.ConfirmRequest, answer *sdk.ElicitResult) engine.Confirmation {
	out := engine.Confirmation{ToolUseID: ask.ToolUseID, Decision: event.Deny}
	switch form := ask.Form; {
	case ask.Review != nil:
		return reviewAnswer(ask, answer)
	case form == nil || form.Kind == event.SamplingForm:
		out.Decision = decisionOf(answer)
	case answer != nil && answer.Action == "accept":
		raw, err := json.Marshal(answer.Content)
		if _, problems := form.Fill(raw); err == nil && len(problems) == 0 { // else the client has shown another form
			out.Decision, out.Content = event.Allow, raw
		}
	}
	return out
}
