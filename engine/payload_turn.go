package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/payloads"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// cards are the payloads of one turn: what the model may write, what came, and
// what the chat has of them from before.
type cards struct {
	shows     *catalog.Payloads
	collected *payloads.Collector
	// parser finds payloads in the answer; nil where none are offered.
	parser *payloads.Parser
	// context and instructions are what the system prompt gets of the page.
	context, instructions string
	before                cardsTold
}

// deal makes the turn's cards: what holds on the request's page and tab. A
// structured answer is data and has no cards in it.
func (t *turn) deal() error {
	if err := t.readContext(); err != nil {
		return err
	}
	shows := t.box.Payloads
	c := &cards{shows: shows, collected: payloads.NewCollector(shows.Registry), before: cardsTold{reg: shows.Registry}}
	if err := shows.Registry.CheckPage(t.req.Page); err != nil {
		return fault.New(fault.NotFound, err.Error())
	}
	offer := shows.Registry.Offer(payloads.Where{Page: t.req.Page, Tab: t.req.Tab, Suggestions: t.req.Suggestions})
	var err error
	if c.context, err = offer.Context(t.req.Context); err != nil {
		return fault.Wrap(fault.Usage, "the context of page "+t.req.Page, err)
	}
	if rest := offer.Rest(t.req.Context); rest != "" {
		c.context = strings.TrimSpace(c.context + "\n\n" + rest)
	}
	if !t.req.TextAlone && t.schema == nil {
		if c.instructions = offer.Instructions(); c.instructions != "" {
			c.parser = offer.Parser(payloads.ParserOptions{Parse: func(set string, cfg payloads.Config, text string) (string, json.RawMessage, error) {
				return shows.Parse(t.ctx, set, cfg, text)
			}})
		}
	}
	t.cards = c
	return t.checkAction()
}

// readContext checks the request's context and brings page and tab into line
// with it: whichever of both has them tells the other.
func (t *turn) readContext() error {
	const hint = `fettle ask --page PAGE --context '{"tab": "…"}' …`
	values := map[string]json.RawMessage{}
	if raw := bytes.TrimSpace(t.req.Context); len(raw) > 0 && string(raw) != "null" {
		if len(raw) > payloads.MaxContext {
			return fault.New(fault.Usage, fmt.Sprintf("the context has %d KB; %d are allowed", len(raw)>>10, payloads.MaxContext>>10), hint)
		}
		if json.Unmarshal(raw, &values) != nil {
			return fault.New(fault.Usage, "the context is no JSON object", hint)
		}
	}
	for name, field := range map[string]*string{"page": &t.req.Page, "tab": &t.req.Tab} {
		var given string
		if json.Unmarshal(values[name], &given) == nil && *field == "" {
			*field = given
		}
		*field = sanitize.Clip(sanitize.Line(*field), chat.MaxName)
		if *field != "" {
			values[name], _ = record.Marshal(*field) // a string can't fail
		}
	}
	if len(values) == 0 {
		t.req.Context = nil
		return nil
	}
	var err error
	if t.req.Context, err = record.Marshal(values); err != nil { // numbers as they were written
		return fault.Wrap(fault.Usage, "read the context", err, hint)
	}
	return nil
}

// checkAction holds an action that was taken to what suggestions may be.
func (t *turn) checkAction() error {
	kind, data := t.req.InteractionType, t.req.ActionMetadata
	switch {
	case kind == "" && len(data) == 0:
		return nil
	case !payloads.IsType(kind):
		return fault.New(fault.Usage, "the interaction_type "+chat.Short(kind)+" is none: it is an id of letters, digits, - and _")
	case len(data) > chat.MaxMetadata:
		return fault.New(fault.Usage, fmt.Sprintf("the action_metadata has %d KB; %d are allowed", len(data)>>10, chat.MaxMetadata>>10))
	case len(data) > 0 && !record.IsObject(data):
		return fault.New(fault.Usage, "the action_metadata is no JSON object")
	}
	return nil
}

// withCards is the system prompt with what the page adds to it. What isn't part
// of the answer can't show a card.
func (t *turn) withCards(system string) string {
	all := []string{system, t.cards.context}
	if t.answers() {
		all = append(all, t.cards.instructions)
	}
	var b strings.Builder
	for _, text := range all {
		if text == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(text)
	}
	return b.String()
}

// said gives the events of a piece of the answer, as far as it is decided what
// it is.
func (t *turn) said(piece string) []event.Body {
	if t.cards.parser == nil {
		return []event.Body{event.TextDelta{Text: piece, Agent: t.speaker()}}
	}
	return t.itemBodies(t.cards.parser.Feed(piece))
}

// heldBack ends a response: what was held back of it is shown as what it is.
func (t *turn) heldBack() []event.Body {
	if t.cards.parser == nil {
		return nil
	}
	return t.itemBodies(t.cards.parser.Finish())
}

// itemBodies makes events of what a parser found. Text that comes together is
// one event.
func (t *turn) itemBodies(items []payloads.Item) []event.Body {
	var bodies []event.Body
	for _, it := range items {
		switch {
		case it.Found != nil:
			if p := t.cards.collected.Model(*it.Found); p != nil {
				bodies = append(bodies, t.shownPayload(*p, it.Found.From))
			}
		case it.Note != "":
			bodies = append(bodies, event.Footnote{Text: it.Note})
		default:
			if n := len(bodies); n > 0 {
				if text, ok := bodies[n-1].(event.TextDelta); ok {
					text.Text += it.Text
					bodies[n-1] = text
					continue
				}
			}
			bodies = append(bodies, event.TextDelta{Text: it.Text, Agent: t.speaker()})
		}
	}
	return bodies
}

// reportEnd emits the end of a call and, after it, the payload that the call gave. The
// end has the workspace_payload as it is shown: one that was left out is in a note alone.
func (t *turn) reportEnd(end event.ToolComplete) {
	bodies := []event.Body{nil}
	if end.Status == event.CallSuccess {
		set := chat.ToolsetOf(end.ToolID)
		took := t.cards.collected.Tool(payloads.ToolOutput{
			Tool: end.Tool, Set: set, Data: end.Data, WorkspacePayload: end.WorkspacePayload, Payload: end.Payload,
		})
		end.WorkspacePayload = took.Workspace
		end.WorkspacePlan = t.planOfWorkspace(&end)
		for _, note := range took.Notes {
			bodies = append(bodies, event.Footnote{Text: note})
		}
		if took.Shown != nil {
			bodies = append(bodies, t.shownPayload(*took.Shown, set))
		}
	}
	bodies[0] = end
	if err := t.emit(bodies...); err != nil {
		t.cancel(err)
	}
}

// shownPayload completes the event of a payload; set is whose tool gave it, or
// whose marker it was.
func (t *turn) shownPayload(p event.Payload, set string) event.Payload {
	p.PayloadID = t.eng.NewID()
	p.Toolset = t.cards.shows.Owner(set, p.Kind)
	p.Title = t.cards.shows.Registry.Title(p.Kind, set)
	p.RenderPlan = t.planOfPayload(p)
	return p
}

// planOfPayload is how a payload is shown, with its page in the store.
func (t *turn) planOfPayload(p event.Payload) json.RawMessage {
	plan := t.cards.shows.Plan(p, t.accept.Chat.ID, t.ws)
	if plan == nil {
		return nil
	}
	return chat.EncodePlan(t.withArtifact(*plan))
}

// planOfWorkspace is how the workspace_payload of a call is shown, where a toolset's
// renderer shows its type.
func (t *turn) planOfWorkspace(end *event.ToolComplete) json.RawMessage {
	shown, ok := chat.WorkspaceOf(end.WorkspacePayload)
	if !ok {
		return nil
	}
	set := chat.ToolsetOf(end.ToolID)
	return t.planOfPayload(event.Payload{Kind: shown.Type, Data: shown.Data, Toolset: t.cards.shows.Owner(set, shown.Type)})
}

// remember takes in what people decided about the chat's payloads. A new chat
// has none, and opens no store for it.
func (t *turn) remember(ctx context.Context, conv *store.OpenChat) error {
	t.older = conv.Older()
	if len(conv.Path) == 0 && t.older.Leaf == "" {
		return nil
	}
	decided, err := t.eng.Decisions(ctx, conv.RecordsOf())
	if err != nil {
		return err
	}
	untold, err := t.eng.Untold(ctx, t.older, decided, conv.Path)
	if err != nil {
		return err
	}
	t.cards.before.place(decided, untold, append(conv.Path[:len(conv.Path):len(conv.Path)], t.accept.Question()))
	return nil
}
