package engine

import (
	"context"

	"github.com/fettle-cli/fettle/engine/chat"
)

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
