package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset/render"
)

const (
	// viewedChanges bounds the paths of one call in a list of calls: who wants all
	// compares the states.
	viewedChanges = 50
	// ViewedPlan bounds the render plan of one call in a list: a plan may have the
	// data of a whole page in it, and most calls are never opened.
	ViewedPlan = 64 << 10
	// ViewedPlans bounds the plans of all calls in a list.
	ViewedPlans = 1 << 20
	// countedChanges bounds how far changes are counted: states that have nothing in
	// common may differ in as many paths as a disk holds.
	countedChanges = 10_000
)

// ViewCalls gives the calls of some messages of a chat, the first made first,
// without their arguments and results: the messages have these. What a call gave for the
// workspace panel is in WorkspacePayload, always whole. Messages are in the order of their
// ids.
func (w *Folders) ViewCalls(ctx context.Context, chatID string, messages []chat.Message) ([]chat.CallView, error) {
	of, left := map[string]int{}, map[chat.Use]int{}
	for i, m := range messages {
		for _, p := range m.Parts {
			if p.Kind == provider.ToolCallPart && p.Call != nil {
				of[m.ID] = i
				left[chat.Use{MessageID: m.ID, ID: p.Call.ID}]++
			}
		}
	}
	if len(of) == 0 {
		return nil, nil
	}
	calls, err := w.callsOf(ctx, chatID, chat.TimeOfID(messages[0].ID), left)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(calls, func(a, b chat.ToolCall) int {
		return cmp.Or(cmp.Compare(of[a.MessageID], of[b.MessageID]), cmp.Compare(a.Index, b.Index))
	})
	calls, made, err := w.WithApps(ctx, chatID, calls)
	if err != nil {
		return nil, err
	}
	if err := w.MarkUndoneCalls(ctx, chatID, messages[0].ID, calls); err != nil {
		return nil, err
	}
	out, room := make([]chat.CallView, 0, len(calls)), ViewedPlans
	for _, c := range calls {
		v, err := w.CallView(ctx, c)
		if err != nil {
			return nil, err
		}
		v.AppCalls = made[c.ID]
		if c.AppOf == "" {
			v.Result = nil
		}
		if v.PlanOmitted = len(v.RenderPlan) > min(ViewedPlan, room); v.PlanOmitted {
			v.RenderPlan = nil
		}
		room -= len(v.RenderPlan)
		if len(v.WorkspacePlan) > min(ViewedPlan, room) {
			v.WorkspacePlan = withoutConfig(v.WorkspacePlan)
		}
		room -= len(v.WorkspacePlan)
		out = append(out, *v)
	}
	return out, nil
}

// withoutConfig returns a plan without what it fills in: its renderer and its look are
// what a card needs, and get_payload has all of it.
func withoutConfig(raw json.RawMessage) json.RawMessage {
	var plan render.Plan
	if json.Unmarshal(raw, &plan) != nil {
		return nil
	}
	plan.Config, plan.Problems = nil, nil
	return chat.EncodePlan(plan)
}

// callsOf reads the records of some uses, each as often as left says, from a time on.
// It ends with the last of them: the calls of what came later may be many.
func (w *Folders) callsOf(ctx context.Context, chatID, from string, left map[chat.Use]int) (calls []chat.ToolCall, err error) {
	err = w.View(ctx, func(tx *kv.Tx) error {
		calls = nil
		left := maps.Clone(left)
		for c, err := range store.Legible(w.Store, w.Tables.Calls.ByIndex(tx, "chat", kv.Str(chatID), kv.Range{From: kv.FromPrimary(kv.Str(from))})) {
			if err != nil {
				return err
			}
			u := chat.Use{MessageID: c.MessageID, ID: c.ToolUseID}
			if left[u] == 0 {
				continue
			}
			if c.Args = nil; chat.ToolsetOf(c.ToolID) == "" { // no builtin gives a payload
				c.Result = nil
			}
			calls = append(calls, *c)
			if left[u]--; left[u] == 0 {
				delete(left, u)
			}
			if len(left) == 0 {
				break
			}
		}
		return nil
	})
	if errors.Is(err, kv.ErrNotFound) {
		err = nil
	}
	return calls, err
}

// CallView adds to a call what its record doesn't say.
func (w *Folders) CallView(ctx context.Context, c chat.ToolCall) (*chat.CallView, error) {
	v := &chat.CallView{ToolCall: c, Changes: []event.Change{}}
	if c.AppOf == "" {
		if _, ok := c.WorkspacePayload(); ok {
			v.WorkspacePayload, v.PayloadID = c.GivenWorkspace(), chat.CallPayloadID(c.MessageID, c.ToolUseID)
		}
	}
	var plan render.Plan
	if len(c.RenderPlan) > 0 && json.Unmarshal(c.RenderPlan, &plan) == nil {
		v.Renderer = plan.Renderer
	}
	if c.FinishedAt != nil {
		ms := c.FinishedAt.Sub(c.StartedAt).Milliseconds()
		v.DurationMS = &ms
	}
	if c.PreManifestID == c.PostManifestID {
		return v, nil
	}
	pre, err := w.Manifest(ctx, c.PreManifestID)
	if err != nil {
		return nil, err
	}
	post, err := w.Manifest(ctx, c.PostManifestID)
	if err != nil || pre == nil || post == nil || pre.Root == post.Root {
		return v, err // of states that are collected, nothing is known
	}
	v.Changes, v.Changed, err = w.changesBetween(ctx, pre, post, viewedChanges)
	v.SharedChanges = post.Shared
	return v, err
}

// changesBetween lists what differs between two states, and counts the rest, up to
// countedChanges. Folders whose files say the same are left out.
func (w *Folders) changesBetween(ctx context.Context, from, to *cas.Manifest, most int) ([]event.Change, int, error) {
	out, n := []event.Change{}, 0
	for c, err := range w.DiffStates(ctx, from, to) {
		if err != nil {
			return nil, 0, store.StateFault("compare two states", err)
		}
		if c.FoldersOnly() {
			continue
		}
		if n++; len(out) < most {
			out = append(out, toChange(c))
		}
		if n == countedChanges {
			break
		}
	}
	return out, n, nil
}

// StateChanges lists what a state changed of the one before it, at most so many
// paths, and counts all.
func (w *Folders) StateChanges(ctx context.Context, m *cas.Manifest, most int) ([]event.Change, int, error) {
	before, err := w.StateBefore(ctx, m)
	if err != nil || before == nil || before.Root == m.Root {
		return []event.Change{}, 0, err
	}
	return w.changesBetween(ctx, before, m, most)
}
