package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset"
)

const (
	// maxPrompts bounds the answers of models that one call has.
	maxPrompts = 8
	// maxPrompted and defaultPrompted bound the tokens of one.
	maxPrompted     = 4096
	defaultPrompted = 1024
	// maxPromptText bounds what a model is told, which a person has to read.
	maxPromptText = 128 << 10
	// promptTime bounds an answer.
	promptTime = 5 * time.Minute
)

// AskModel has a model answer for a server, where the person or a rule allows it. It
// is offered no tools, and knows nothing of the chat.
func (q *caller) AskModel(ctx context.Context, p toolset.Prompting) (toolset.Prompted, error) {
	q.mu.Lock()
	q.prompts++
	n := q.prompts
	q.mu.Unlock()
	if n > maxPrompts {
		return toolset.Prompted{}, &toolset.NotAllowedError{Why: fmt.Sprintf("a call may ask a model %d times", maxPrompts)}
	}
	model, err := q.promptModel(ctx)
	if err != nil {
		return toolset.Prompted{}, err
	}
	req, err := promptRequest(p)
	if err != nil {
		return toolset.Prompted{}, err
	}
	defer q.clock.stand()()
	if err := q.consent(ctx, p, model.ref, req); err != nil {
		return toolset.Prompted{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, promptTime)
	defer cancel()
	req.Model = model.model.Name
	req.Tokens = estimate(req)
	text, meta, err := promptReply(ctx, provider.Retry(model.prov, q.t.eng.o.Retry), req)
	if err != nil {
		return toolset.Prompted{}, err
	}
	q.run.inTurn(func() {
		q.t.report(event.Prompted{ToolUseID: q.c.use.ID, Server: p.Server, Model: model.ref, Usage: meta.Usage})
	})
	return toolset.Prompted{Model: model.ref, Text: text, Stop: meta.StopReason}, nil
}

// promptModel is the turn's model, or the one that would be asked where a turn asks
// none.
func (q *caller) promptModel(ctx context.Context) (*choice, error) {
	if q.model != nil && q.model.prov != nil {
		return q.model, nil
	}
	ref, err := q.t.req.Model, error(nil)
	if ref == "" {
		if ref, err = q.t.eng.o.Models.Default(ctx); err != nil {
			return nil, err
		}
	}
	return q.t.eng.choose(ctx, ref, nil)
}

// promptRequest makes a request of a server's prompt.
func promptRequest(p toolset.Prompting) (*provider.Request, error) {
	req := &provider.Request{System: sanitize.Text(p.System), MaxTokens: p.MaxTokens, Temperature: p.Temperature, Sampling: provider.Sampling{Stop: p.Stop}}
	if req.MaxTokens <= 0 {
		req.MaxTokens = defaultPrompted
	}
	req.MaxTokens = min(req.MaxTokens, maxPrompted)
	size := len(req.System)
	for _, m := range p.Messages {
		msg := provider.Message{Role: provider.User, Parts: []provider.Part{{Kind: provider.TextPart, Text: sanitize.Text(m.Text)}}}
		if m.Role == string(provider.Assistant) {
			msg.Role = provider.Assistant
		}
		size += len(msg.Parts[0].Text)
		req.Messages = append(req.Messages, msg)
	}
	switch {
	case len(req.Messages) == 0:
		return nil, errors.New("the prompt has no message")
	case size > maxPromptText:
		return nil, fmt.Errorf("the prompt has %d KB; %d KB are allowed", size>>10, maxPromptText>>10)
	}
	return req, nil
}

// consent has a rule or a person allow a prompt, which they see whole.
func (q *caller) consent(ctx context.Context, p toolset.Prompting, model string, req *provider.Request) error {
	rule := permission.SamplingRule(p.Server)
	q.t.mu.Lock()
	allowed := q.t.prompting[p.Server]
	q.t.mu.Unlock()
	v, why := q.rules.DecidePrompt(p.Server)
	switch {
	case v == permission.Run || allowed && v != permission.Refuse:
		return nil
	case v == permission.Refuse:
		return &toolset.NotAllowedError{Why: why}
	case !q.t.req.CanAnswer:
		return &toolset.NotAllowedError{Why: "nobody can be asked here whether it may ask a model; a rule that allows " + rule + " lets it"}
	}
	shown := &event.FormPrompt{Model: model, System: req.System, MaxTokens: req.MaxTokens}
	for _, m := range req.Messages {
		shown.Messages = append(shown.Messages, event.FormPromptMessage{Role: string(m.Role), Text: m.Parts[0].Text})
	}
	a, err := q.put(ctx, event.ConfirmRequest{Rule: rule, Form: &event.Form{
		Kind: event.SamplingForm, Server: p.Server, Message: "It wants a model to answer the following.", Prompt: shown,
	}})
	switch {
	case err != nil:
		return err
	case !a.Decision.Allows():
		return &toolset.NotAllowedError{Why: strings.TrimSuffix("the user doesn't allow it: "+a.Reason, ": ")}
	case a.Decision != event.Allow:
		q.t.mu.Lock()
		if q.t.prompting == nil {
			q.t.prompting = map[string]bool{}
		}
		q.t.prompting[p.Server] = true
		q.t.mu.Unlock()
		if err := q.t.eng.Grant(ctx, a.Decision, q.t.accept.Chat.ID, rule); err != nil {
			q.run.inTurn(func() { q.t.report(event.Status{Message: "the approval is not remembered: " + err.Error()}) })
		}
	}
	return nil
}

// promptReply gets one whole answer.
func promptReply(ctx context.Context, p provider.Provider, req *provider.Request) (string, *event.Meta, error) {
	var text strings.Builder
	var meta *event.Meta
	for batch, err := range p.Stream(ctx, req) {
		if err != nil {
			return "", nil, err
		}
		for _, d := range batch {
			switch d.Kind {
			case provider.Content:
				text.WriteString(d.Text)
			case provider.Meta:
				meta = d.Meta
			}
		}
		if text.Len() > maxResult {
			return "", nil, fmt.Errorf("the answer went past %d MB", maxResult>>20)
		}
	}
	if err := context.Cause(ctx); err != nil {
		return "", nil, err
	}
	if meta == nil {
		return "", nil, provider.ErrCut
	}
	return clean(text.String()), meta, nil
}
