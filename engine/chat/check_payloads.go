package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/engine/payloads"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// checkPayload holds a payload of an imported message to what turns leave.
func checkPayload(p *provider.Payload, role provider.Role) error {
	switch {
	case role == provider.User:
		return errors.New("a person's message shows no payload")
	case p.Source != payloads.FromTool && p.Source != payloads.FromModel:
		return fmt.Errorf("a payload's source %q is none", Short(p.Source))
	case !payloads.IsType(p.Type):
		return fmt.Errorf("a payload's type %q is none", Short(p.Type))
	case len(p.RenderPlan) > largestPlan:
		return fmt.Errorf("the plan of a payload has %d bytes; %d are allowed", len(p.RenderPlan), largestPlan)
	case len(p.Data) == 0 || len(p.Data) > MaxData:
		return fmt.Errorf("a payload has %d bytes of data; 1 to %d are allowed", len(p.Data), MaxData)
	}
	return oneOf(errors.Join(checkID("payload id", p.ID), checkName("a payload's toolset", p.Toolset), checkName("a payload's title", p.Title)))
}

// CheckPayloads holds decisions to the messages.
func (d *Document) CheckPayloads() error {
	if n := len(d.Payloads); n > maxImportMessages {
		return fmt.Errorf("it has %d decisions about payloads; %d are allowed", n, maxImportMessages)
	}
	shown := map[string]bool{}
	for _, m := range d.Messages {
		for _, id := range m.PayloadIDs() {
			shown[id] = true
		}
	}
	for i, p := range d.Payloads {
		var err error
		switch {
		case !shown[p.PayloadID]:
			err = fmt.Errorf("its payload %q isn't there", Short(p.PayloadID))
		case p.Decision != Accepted && p.Decision != Rejected && (p.Decision != "" || len(p.Edits) == 0):
			err = fmt.Errorf("its decision %q is none", Short(string(p.Decision)))
		case len(p.Remark) > 4*MaxRemark:
			err = errors.New("its remark is too long")
		case p.tooMuchEdited():
			err = fmt.Errorf("its edits are more than %d, or one is longer than %d KB", MaxEdits, MaxEdit>>10)
		default:
			err = oneOf(errors.Join(checkID("message_id", orDash(p.MessageID)), checkID("turn_id", orDash(p.TurnID)),
				checkName("its type", p.Type), checkName("its toolset", p.Toolset)))
		}
		if err != nil {
			return fmt.Errorf("decision %d: %w", i+1, err)
		}
	}
	return nil
}

// settlePayloads makes payloads and decisions fit to be stored here.
func (d *Document) settlePayloads() {
	for i := range d.Messages {
		for j := range d.Messages[i].Parts {
			if p := d.Messages[i].Parts[j].Payload; p != nil {
				p.Title, p.Toolset = sanitize.Line(p.Title), sanitize.Line(p.Toolset)
			}
		}
	}
	for i := range d.Payloads {
		p := &d.Payloads[i]
		p.Remark, p.Type, p.Toolset = sanitize.Line(strings.TrimSpace(p.Remark)), sanitize.Line(p.Type), sanitize.Line(p.Toolset)
		p.Title = sanitize.Shorten(sanitize.Line(p.Title), MaxName)
		p.Reaction = nil // what was done with it was done elsewhere
	}
}

// checkInteraction drops nothing and believes nothing: an action that a file
// says was taken is held to what one can be.
func (m *Message) checkInteraction() error {
	switch data := m.ActionMetadata; {
	case m.InteractionType == "" && len(data) == 0:
		return nil
	case m.Role != provider.User || !payloads.IsType(m.InteractionType):
		return fmt.Errorf("its interaction_type %q is none", Short(m.InteractionType))
	case len(data) > MaxMetadata || len(data) > 0 && !record.IsObject(json.RawMessage(data)):
		return errors.New("its action_metadata is no JSON object, or too long")
	}
	return nil
}
