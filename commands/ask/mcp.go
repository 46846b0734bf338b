package ask

import (
	"context"
	"strings"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/question"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/server/client"
)

// serverPrompt is a prompt of an MCP server, as -p names it: SERVER/NAME. A stored
// prompt's name has no slash.
type serverPrompt struct {
	server, name string
	args         map[string]string
}

// useServerPrompt takes the prompt that -p names where it is a server's. It is asked
// for later, when there is an engine.
func (o *askOptions) useServerPrompt() (bool, error) {
	server, name, ok := strings.Cut(o.named, "/")
	if !ok || server == "" || name == "" {
		return false, nil
	}
	args, err := readVars(o.vars, "")
	o.fromServer = &serverPrompt{server, name, args}
	return true, err
}

// fillFromServer puts what the server makes of the prompt before the question's own
// words, and what it attaches before the files.
func (o *askOptions) fillFromServer(ctx context.Context, rt *workbench.Runtime, cfg *config.Config, turns client.Turns, req *engine.TurnRequest) error {
	p := o.fromServer
	if p == nil {
		return nil
	}
	eng, err := rt.EngineBeside(cfg, turns)
	if err != nil {
		return err
	}
	filled, err := eng.FillMCP(ctx, p.server, p.name, p.args)
	if err != nil {
		return err
	}
	parts, text, err := question.PromptParts(p.server, p.name, filled, cfg.Limits.FileBytes)
	if err != nil {
		return err
	}
	parts = append(parts, req.Parts...)
	last := len(parts) - 1
	switch {
	case text == "":
	case last >= 0 && parts[last].Kind == provider.TextPart:
		parts[last].Text = text + "\n\n" + parts[last].Text
	default:
		parts = append(parts, provider.Part{Kind: provider.TextPart, Text: text})
	}
	req.Parts = parts
	return nil
}
