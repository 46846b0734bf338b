package engine

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// The bounds of a conversation that a request tells.
const (
	maxGiven      = 10_000
	maxGivenBytes = 64 << 20
)

// checkHistory refuses a history where the engine knows better.
func (t *turn) checkHistory() error {
	switch {
	case len(t.req.History) == 0:
		return nil
	case !t.req.Ephemeral || !t.req.Chat.IsNew():
		return fault.New(fault.Usage, "only a turn that keeps nothing can be told what was said before")
	case len(t.req.Calls) > 0 || t.req.workflow != nil:
		return fault.New(fault.Usage, "a turn that asks no model has no history")
	}
	return nil
}

// given makes messages of a conversation that a request tells: those of its
// answers that belong to one question are one.
func given(history []provider.Message) ([]chat.Message, error) {
	if len(history) > maxGiven {
		return nil, fault.New(fault.Usage, fmt.Sprintf("the conversation has %d messages; %d are allowed", len(history), maxGiven))
	}
	var out []chat.Message
	size := 0
	for i, m := range history {
		size += givenSize(m.Parts)
		if size > maxGivenBytes {
			return nil, fault.New(fault.Usage, fmt.Sprintf("the conversation has more than %d MB", maxGivenBytes>>20))
		}
		var err error
		if out, err = addGiven(out, m); err != nil {
			return nil, fault.Wrap(fault.Usage, fmt.Sprintf("read message %d of the conversation", i+1), err)
		}
	}
	return out, nil
}

func givenSize(parts []provider.Part) int {
	n := 0
	for _, p := range parts {
		n += len(p.Text) + len(p.Data) + len(p.Details)
		if p.Call != nil {
			n += len(p.Call.Args)
		}
		if p.Result != nil {
			n += len(p.Result.Text)
		}
	}
	return n
}

// addGiven adds a message behind those that are there.
func addGiven(out []chat.Message, m provider.Message) ([]chat.Message, error) {
	parts, err := givenParts(m)
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		return out, nil // nothing was said
	}
	last := len(out) - 1
	goesOn := last >= 0 && out[last].Role == provider.Assistant
	switch m.Role {
	case provider.User:
		return append(out, chat.Message{ID: fmt.Sprintf("given-%d", last+2), Role: provider.User, Parts: parts, Status: chat.UserMessage}), nil
	case provider.Assistant:
		if goesOn {
			step := nextStep(out[last].Parts)
			if len(pendingCalls(out[last])) > 0 { // the rest of a response that some tell in pieces
				step--
			}
			out[last].Parts = append(out[last].Parts, shifted(parts, step)...)
			return out, nil
		}
		return append(out, chat.Message{ID: fmt.Sprintf("given-%d", last+2), Role: provider.Assistant, Parts: parts, Status: chat.Answered}), nil
	}
	if !goesOn {
		return nil, fmt.Errorf("the result of %s has no call before it", parts[0].Result.ID)
	}
	pending := pendingCalls(out[last])
	for i := range parts {
		r := parts[i].Result
		id, ok := pending[r.ID]
		if !ok {
			return nil, fmt.Errorf("the result of %s has no call before it", r.ID)
		}
		delete(pending, r.ID)
		r.Name, r.Outside = id, chat.BareID(id)
	}
	for i := range parts {
		parts[i].Step = max(0, nextStep(out[last].Parts)-1)
	}
	out[last].Parts = append(out[last].Parts, parts...)
	return out, nil
}

// givenParts are the parts of a message, checked and made our own.
func givenParts(m provider.Message) ([]provider.Part, error) {
	if m.Role != provider.User && m.Role != provider.Assistant && m.Role != provider.Tool {
		return nil, fmt.Errorf("there is no role %q", chat.Short(string(m.Role)))
	}
	var out []provider.Part
	for _, p := range m.Parts {
		q := provider.Part{Kind: p.Kind, Text: clean(p.Text), Name: sanitize.Line(p.Name), MIME: sanitize.Line(p.MIME), Data: p.Data}
		fits := false
		switch p.Kind {
		case provider.TextPart:
			fits = m.Role != provider.Tool
		case provider.ImagePart:
			fits = m.Role == provider.User && len(p.Data) > 0 && strings.HasPrefix(p.MIME, "image/")
		case provider.FilePart:
			fits = m.Role == provider.User
		case provider.ReasoningPart:
			if fits = m.Role == provider.Assistant; len(p.Details) > 0 && json.Valid(p.Details) {
				q.Details = p.Details
			}
		case provider.ToolCallPart:
			if fits = m.Role == provider.Assistant && p.Call != nil; fits {
				call := *p.Call
				call.ID, call.Name = sanitize.Line(call.ID), sanitize.Line(call.Name)
				if err := chat.CheckCall(call.ID, call.Name, call.Args); err != nil {
					return nil, err
				}
				if !record.IsObject(call.Extra) {
					call.Extra = nil
				}
				q.Call = &call
			}
		case provider.ToolResultPart:
			if fits = m.Role == provider.Tool && p.Result != nil; fits {
				r := *p.Result
				if err := chat.CheckMedia(r.Media); err != nil {
					return nil, err
				}
				r.ID, r.Text, r.Media = sanitize.Line(r.ID), clean(sanitize.Clip(r.Text, maxResult)), chat.OwnMedia(r.Media)
				q.Result = &r
			}
		}
		if !fits {
			return nil, fmt.Errorf("a message of %s can't have a part of type %q there", m.Role, chat.Short(string(p.Kind)))
		}
		out = append(out, q)
	}
	return out, nil
}

// ownParts makes the model that is asked the author of the calls and the reasoning details
// of a history that a client sent, where they name no model: the client passes back what
// that model's provider sent.
func (t *turn) ownParts(path []chat.Message) {
	for _, m := range path {
		for i := range m.Parts {
			p := &m.Parts[i]
			if p.Model == "" && (len(p.Details) > 0 || p.Call != nil && len(p.Call.Extra) > 0) {
				p.Model = t.model.ref
			}
		}
	}
}

// giveHistory has the turn go on from what its request tells.
func (t *turn) giveHistory(conv *store.OpenChat) error {
	if len(t.req.History) > 0 {
		path, err := given(t.req.History)
		if err != nil {
			return err
		}
		conv.Path = path
		t.req.History = nil // it is in path, and may be large
	}
	return t.checkResults(conv.Path)
}
