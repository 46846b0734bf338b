package chat

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/oklog/ulid/v2"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// check refuses a document that could not be one of ours.
func (d *Document) check() error {
	if d.Chat.ID != "" {
		if id, err := ulid.ParseStrict(d.Chat.ID); err != nil || id.String() != d.Chat.ID {
			return fmt.Errorf("its id %q is none that fettle makes", Short(d.Chat.ID))
		}
	}
	if n := len(d.Chat.System); n > MaxSystem {
		return fmt.Errorf("its system prompt has %d bytes; %d are allowed", n, MaxSystem)
	}
	switch n := len(d.Messages); {
	case n == 0:
		return errors.New("it has no messages")
	case n > maxImportMessages:
		return fmt.Errorf("it has %d messages; %d are allowed", n, maxImportMessages)
	}
	if err := checkName("the model", d.Chat.Model); err != nil {
		return err
	}
	if err := d.checkTree(); err != nil {
		return err
	}
	for i := range d.Messages {
		if err := d.Messages[i].check(); err != nil {
			return fmt.Errorf("message %d: %w", i+1, err)
		}
	}
	return errors.Join(d.CheckCalls(), d.CheckPayloads(), d.CheckArtifacts())
}

// checkTree refuses messages that are no tree: ids that are none or not their
// own, parents that aren't there, and circles.
func (d *Document) checkTree() error {
	parent := make(map[string]string, len(d.Messages))
	for i, m := range d.Messages {
		if err := errors.Join(checkID("id", m.ID), checkID("parent_id", orDash(m.ParentID)), checkID("turn_id", orDash(m.TurnID))); err != nil {
			return fmt.Errorf("message %d: %w", i+1, oneOf(err))
		}
		if _, twice := parent[m.ID]; twice {
			return fmt.Errorf("message %d has the id %s of an earlier one", i+1, m.ID)
		}
		parent[m.ID] = m.ParentID
	}
	for i, m := range d.Messages {
		if _, ok := parent[m.ParentID]; m.ParentID != "" && !ok {
			return fmt.Errorf("message %d follows %s, which isn't there", i+1, m.ParentID)
		}
	}
	if _, ok := parent[d.Chat.ActiveLeaf]; !ok {
		return fmt.Errorf("its active message %q isn't there", Short(d.Chat.ActiveLeaf))
	}
	reaches := map[string]bool{"": true} // messages whose way leads to a root
	for _, m := range d.Messages {
		var way []string
		for id := m.ID; !reaches[id]; id = parent[id] {
			if len(way) > len(d.Messages) {
				return fmt.Errorf("its messages go round in a circle at %s", id)
			}
			way = append(way, id)
		}
		for _, id := range way {
			reaches[id] = true
		}
	}
	return nil
}

func orDash(id string) string {
	if id == "" {
		return "-"
	}
	return id
}

// oneOf is the first of joined errors: one line says enough.
func oneOf(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()[0]
	}
	return err
}

// checkID takes what ids are made of: it becomes a key of the store and a part
// of messages.
func checkID(what, id string) error {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	if id == "" || len(id) > 64 || strings.Trim(id, letters) != "" {
		return fmt.Errorf("its %s %q is none", what, Short(id))
	}
	return nil
}

// checkName bounds a text of one line. Control characters in it are removed by
// settle.
func checkName(what, s string) error {
	if len(s) > maxLineText {
		return fmt.Errorf("%s has %d bytes; %d are allowed", what, len(s), maxLineText)
	}
	return nil
}

func (m *Message) check() error {
	if m.Role != provider.User && m.Role != provider.Assistant {
		return fmt.Errorf("its role %q is none", Short(string(m.Role)))
	}
	if !slices.Contains([]Status{Answered, Failed, Stopped, CutShort}, m.Status) {
		return fmt.Errorf("its status %q is none", Short(string(m.Status)))
	}
	if m.Usage != nil && negative(*m.Usage) {
		return errors.New("its usage is below zero")
	}
	if len(m.Parts) > maxImportParts {
		return fmt.Errorf("it has %d parts; %d are allowed", len(m.Parts), maxImportParts)
	}
	if max(len(m.Notes), len(m.Citations), len(m.SuggestedValues), len(m.SuggestedActions)) > maxRemarks {
		return errors.New("it has too many remarks or citations")
	}
	if err := errors.Join(checkName("its model", m.Model), checkName("its stop_reason", m.StopReason)); err != nil {
		return oneOf(err)
	}
	if err := m.checkInteraction(); err != nil {
		return err
	}
	beside := *m
	beside.Parts = nil
	if text, err := record.Marshal(beside); err != nil || len(text) > LargestPiece {
		return errors.New("what it has beside its parts is too long to be kept")
	}
	return m.checkParts()
}

func negative(u event.Usage) bool {
	return min(u.InputTokens, u.OutputTokens, u.CachedTokens, u.ReasoningTokens) < 0
}

// checkParts holds the parts to what a turn leaves: a provider refuses a whole
// history for a result without its call.
func (m *Message) checkParts() error {
	open, seen, step := map[string]int{}, map[string]bool{}, 0
	for i := range m.Parts {
		p := &m.Parts[i]
		err := CheckPart(p, m.Role)
		switch {
		case err != nil:
		case p.Step < step:
			err = errors.New("its step is before that of the part above it")
		case p.Kind == provider.ToolCallPart && seen[p.Call.ID]:
			err = fmt.Errorf("the call %s is there twice", Short(p.Call.ID))
		case p.Kind == provider.ToolCallPart:
			open[p.Call.ID], seen[p.Call.ID] = p.Step, true
		case p.Kind == provider.ToolResultPart && m.Role == provider.User: // of a call that the client ran
		case p.Kind == provider.ToolResultPart:
			at, ok := open[p.Result.ID]
			if delete(open, p.Result.ID); !ok || at != p.Step {
				err = fmt.Errorf("the result of %s has no call before it", Short(p.Result.ID))
			}
		}
		if err != nil {
			return fmt.Errorf("part %d: %w", i+1, err)
		}
		step = p.Step
	}
	return nil
}

// CheckPart checks that a part has what its kind needs, and nothing that
// belongs to another.
func CheckPart(p *provider.Part, role provider.Role) error {
	if err := errors.Join(checkName("its name", p.Name), checkName("its model", p.Model), checkName("its field", p.Field), checkName("its agent", p.Agent), checkName("its mime", p.MIME)); err != nil {
		return oneOf(err)
	}
	isCall, isResult := p.Kind == provider.ToolCallPart, p.Kind == provider.ToolResultPart
	if (p.Kind == provider.PayloadPart) != (p.Payload != nil) {
		return fmt.Errorf("a part of type %q has too little or too much", Short(string(p.Kind)))
	}
	if isCall != (p.Call != nil) || isResult != (p.Result != nil) || p.Kind != provider.ImagePart && len(p.Data) > 0 {
		return fmt.Errorf("a part of type %q has too little or too much", Short(string(p.Kind)))
	}
	if isCall && role == provider.User {
		return errors.New("a person's message calls no tools")
	}
	switch p.Kind {
	case provider.TextPart, provider.ReasoningPart, provider.FilePart:
		return nil
	case provider.AgentStartPart, provider.AgentTextPart, provider.HandoffPart:
		if p.Agent == "" || role == provider.User {
			return fmt.Errorf("a part of type %q names no agent, or is a person's", Short(string(p.Kind)))
		}
		return nil
	case provider.ImagePart:
		if len(p.Data) == 0 || !strings.HasPrefix(p.MIME, "image/") {
			return errors.New("an image has no data or no type of an image")
		}
		return nil
	case provider.PayloadPart:
		return checkPayload(p.Payload, role)
	case provider.ToolCallPart:
		if len(p.Call.Extra) > 0 && !record.IsObject(p.Call.Extra) {
			return fmt.Errorf("the extra of a call of %s is not a JSON object", Short(p.Call.Name))
		}
		return CheckCall(p.Call.ID, p.Call.Name, p.Call.Args)
	case provider.ToolResultPart:
		return oneOf(errors.Join(CheckCall(p.Result.ID, p.Result.Name, []byte("{}")), CheckMedia(p.Result.Media)))
	}
	return fmt.Errorf("this fettle knows no part of type %q", Short(string(p.Kind)))
}

// CheckMedia checks that the media of a result are images and sounds.
func CheckMedia(all []provider.Part) error {
	for _, m := range all {
		class, _, _ := strings.Cut(m.MIME, "/")
		if len(m.Data) == 0 || class != string(m.Kind) || m.Kind != provider.ImagePart && m.Kind != provider.AudioPart {
			return fmt.Errorf("a result has media of type %q without data or with the MIME type %q", Short(string(m.Kind)), Short(m.MIME))
		}
		if err := checkName("its mime", m.MIME); err != nil {
			return err
		}
	}
	return nil
}

// OwnMedia returns the media of a result with their types, data and nothing else.
func OwnMedia(all []provider.Part) []provider.Part {
	var out []provider.Part
	for _, m := range all {
		out = append(out, provider.Part{Kind: m.Kind, MIME: sanitize.Line(m.MIME), Data: m.Data})
	}
	return out
}

// CheckCall checks a tool call that a file or a client brings: its id, the tool's name and the
// arguments.
func CheckCall(id, name string, args json.RawMessage) error {
	var object map[string]json.RawMessage
	switch {
	case id == "" || name == "":
		return errors.New("a call or a result has no id or no name")
	case len(args) > 0 && (json.Unmarshal(args, &object) != nil || object == nil):
		return fmt.Errorf("the arguments of %s are not a JSON object", Short(name))
	}
	return oneOf(errors.Join(checkName("a call's id", id), checkName("a tool's name", name)))
}

// CheckCalls holds the records of tool calls to the messages.
func (d *Document) CheckCalls() error {
	if n := len(d.ToolCalls); n > maxImportMessages {
		return fmt.Errorf("it has %d tool calls; %d are allowed", n, maxImportMessages)
	}
	ids := make(map[string]bool, len(d.Messages))
	for _, m := range d.Messages {
		ids[m.ID] = true
	}
	calls := make(map[string]string, len(d.ToolCalls))
	for _, c := range d.ToolCalls {
		calls[c.ID] = c.MessageID
	}
	for i, c := range d.ToolCalls {
		err := oneOf(errors.Join(checkID("turn_id", orDash(c.TurnID)), CheckCall(c.ToolUseID, c.ToolID, c.Args)))
		switch {
		case err != nil:
		case !ids[c.MessageID]:
			err = fmt.Errorf("its message %q isn't there", Short(c.MessageID))
		case c.AppOf != "" && (c.AppOf == c.ID || calls[c.AppOf] != c.MessageID):
			err = fmt.Errorf("the call %q, whose page made it, isn't there", Short(c.AppOf))
		case c.Status == event.CallPending && IsClientTool(c.ToolID):
		case c.Status != event.CallSuccess && c.Status != event.CallError:
			err = fmt.Errorf("its status %q is none of a call that has ended", Short(string(c.Status)))
		case len(c.RenderPlan) > largestPlan || len(c.WorkspacePlan) > largestPlan || len(c.Error) > largestArgs || c.Index < 0:
			err = errors.New("it has more than can be kept")
		}
		if err != nil {
			return fmt.Errorf("tool call %d: %w", i+1, err)
		}
	}
	return nil
}

// settle makes what was checked fit to be stored here, and says what was left
// out: where the chat worked, since a file from elsewhere must not choose a
// folder of this machine.
func (d *Document) settle() (notes []string) {
	c := &d.Chat
	c.Title = CleanTitle(c.Title)
	if c.Title == "" {
		c.Title = "untitled"
	}
	if c.Workspace != "" {
		notes = append(notes, fmt.Sprintf("%q worked in %s; here it has a folder of its own", c.Title, Short(c.Workspace)))
	}
	c.Model = sanitize.Line(c.Model)
	c.Workspace, c.ActiveManifest, c.DeletedAt = "", "", nil
	c.Number, c.LastTurn, c.Messages = 0, 0, len(d.Messages)
	if from := c.ForkedFrom; from != nil && errors.Join(checkID("", from.ChatID), checkID("", from.MessageID)) != nil {
		c.ForkedFrom = nil
	}
	for i := range d.Messages {
		d.Messages[i].settle()
	}
	d.settlePayloads()
	for i := range d.ToolCalls {
		call := &d.ToolCalls[i]
		call.PreManifestID, call.PostManifestID = "", ""
		call.ToolID = sanitize.Line(call.ToolID)
		if len(call.Args) == 0 {
			call.Args = json.RawMessage("{}")
		}
	}
	return notes
}

func (m *Message) settle() {
	m.Pieces, m.ManifestID, m.LeftManifestID, m.ChatID = 0, "", "", ""
	m.Summary = nil // a model would be sent what the messages do not show
	m.Model, m.StopReason = sanitize.Line(m.Model), sanitize.Line(m.StopReason)
	for i := range m.Parts {
		p := &m.Parts[i]
		p.Name, p.MIME, p.Agent = strip(p.Name), sanitize.Line(p.MIME), sanitize.Line(p.Agent)
		if p.Result != nil { // it was not made here
			p.Result.Outside = cmp.Or(BareID(sanitize.Line(p.Result.Name)), "an imported chat")
		}
		if p.Call != nil {
			p.Call.Name = sanitize.Line(p.Call.Name)
			if len(p.Call.Args) == 0 {
				p.Call.Args = json.RawMessage("{}")
			}
		}
		if p.Result != nil {
			p.Result.Name, p.Result.Media = sanitize.Line(p.Result.Name), OwnMedia(p.Result.Media)
		}
	}
}

// strip takes control characters out of a name, and leaves its blanks.
func strip(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}
