package engine

import (
	"context"
	"maps"
	"slices"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/store"
)

// noteCall keeps the record of a call that has begun or ended for those who look at it
// while the turn runs.
func (t *turn) noteCall(body event.Body) {
	id := ""
	switch b := body.(type) {
	case event.ToolStart:
		id = b.ToolUseID
	case event.ToolComplete:
		id = b.ToolUseID
	}
	i, ok := t.red.ByUse[id]
	if id == "" || !ok {
		return
	}
	t.callsMu.Lock()
	defer t.callsMu.Unlock()
	if t.callsNow == nil {
		t.callsNow = map[string]chat.ToolCall{}
	}
	t.callsNow[t.red.Calls[i].ID] = t.red.Calls[i]
}

// liveCall returns the record of a call of a turn that runs in this process.
func (e *Engine) liveCall(id string) *chat.ToolCall {
	e.mu.Lock()
	turns := slices.Collect(maps.Values(e.turns))
	e.mu.Unlock()
	for _, t := range turns {
		t.callsMu.Lock()
		call, ok := t.callsNow[id]
		t.callsMu.Unlock()
		if ok {
			return &call
		}
	}
	return nil
}

// writesJournal reports whether a turn runs here and still writes to its journal.
func (e *Engine) writesJournal(id store.TurnID) bool {
	t := e.turn(id)
	return t != nil && !t.gone.Load()
}

// ViewCall returns a call whole: one that has ended, or that runs in this process.
func (e *Engine) ViewCall(ctx context.Context, id string) (*chat.CallView, error) {
	call, err := e.toolCall(ctx, id)
	if err != nil {
		return nil, err
	}
	calls := []chat.ToolCall{*call}
	if err := e.MarkUndoneCalls(ctx, call.ChatID, call.ID, calls); err != nil {
		return nil, err
	}
	return e.CallView(ctx, calls[0])
}
