package engine

import (
	"encoding/json"

	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/render"
)

// maxTraceback bounds a traceback that is kept with its call, and the message that
// its plan shows; the call's own error is whole.
const maxTraceback = 64 << 10

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
		v.Return, _ = record.Marshal(map[string]string{"text": clean(clip(res.Text, maxResult))}) // a string can't fail
	}
	return encodePlan(t.withArtifact(render.Make(r.Type, r.Config(), v)))
}

// appPlan has a call shown by the page that its MCP server has for it. The page is
// read when somebody looks at it.
func appPlan(t toolset.Tool) json.RawMessage {
	config, err := record.Marshal(map[string]string{"server_id": t.ToolsetID, "resource_uri": t.App})
	if err != nil { // strings can't fail
		return nil
	}
	return encodePlan(render.Plan{Renderer: toolset.RenderApp, Config: config})
}

// failedPlan shows a failure, whatever the tool's own renderer is.
func failedPlan(message, traceback string) json.RawMessage {
	return encodePlan(render.MakeFailed(render.Failure{
		Message: clean(clip(message, maxTraceback)), Traceback: clean(clip(traceback, maxTraceback)),
	}))
}

func encodePlan(p render.Plan) json.RawMessage {
	raw, err := record.Marshal(p)
	if err != nil { // a plan holds strings and valid JSON alone
		return nil
	}
	return raw
}
