package engine

import (
	"encoding/json"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/render"
)

// planOf is the render plan of a call that succeeded; nil for a tool that has
// no renderer.
func (t *turn) planOf(c *call, res toolset.Result) json.RawMessage {
	r := c.entry.Tool.Renderer
	if r == nil && c.entry.Tool.App != "" {
		return appPlan(c.entry.Tool)
	}
	if r == nil {
		return nil
	}
	v := render.Values{Args: c.use.Args, Return: res.Data, ChatID: t.accept.Chat.ID, Toolset: c.entry.Dir}
	if t.ws != nil {
		v.Workspace = t.ws.Path
	}
	if len(res.Data) == 0 { // a text alone is {"text": …}
		v.Return, _ = record.Marshal(map[string]string{"text": clean(sanitize.Clip(res.Text, maxResult))}) // a string can't fail
	}
	return chat.EncodePlan(t.withArtifact(render.Make(r.Type, r.Config(), v)))
}

// appPlan has a call shown by the page that its MCP server has for it. The page is
// read when somebody looks at it.
func appPlan(t toolset.Tool) json.RawMessage {
	config, err := record.Marshal(map[string]string{"server_id": t.ToolsetID, "resource_uri": t.App})
	if err != nil { // strings can't fail
		return nil
	}
	return chat.EncodePlan(render.Plan{Renderer: toolset.RenderApp, Config: config})
}
