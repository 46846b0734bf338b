package mcp

import (
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/server/asking"
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
	head := asking.FormHead(f)
	switch f.Kind {
	case event.FieldsForm:
		return &sdk.ElicitParams{Mode: "form", Message: head, RequestedSchema: f.Schema()}
	case event.URLForm:
		if !c.canVisit() {
			return nil
		}
		return &sdk.ElicitParams{Mode: "url", Message: head, URL: f.URL, ElicitationID: ask.ToolUseID}
	case event.SamplingForm:
		p := question(ask)
		p.Message = head + "\n" + strings.Join(asking.PromptLines(f.Prompt), "\n")
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
	switch form := ask.Form; {
	case ask.Review != nil:
		return reviewAnswer(ask, answer)
	case form == nil || form.Kind == event.SamplingForm:
		return engine.Confirmation{ToolUseID: ask.ToolUseID, Decision: decisionOf(answer)}
	case answer != nil && answer.Action == "accept":
		if raw, err := json.Marshal(answer.Content); err == nil {
			return asking.Filled(ask, raw, "")
		}
	}
	return asking.Deny(ask.ToolUseID, "")
}
