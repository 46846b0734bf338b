package mcp

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"html"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

const (
	// pageType is what a page of an MCP App is.
	pageType = "text/html;profile=mcp-app"
	// pageDataKey is where a result has the data of its tool's page.
	pageDataKey = "fettle/page"
)

// bridge is what a toolset's page needs to get its data from an MCP client.
//
//go:embed bridge.js
var bridge string

// addPage offers the page of a tool as an MCP App.
func (sv *served) addPage(p page) {
	about := sdk.Meta{"ui": map[string]any{"csp": map[string]any{}, "prefersBorder": true}} // it may reach nothing
	sv.sdk.AddResource(&sdk.Resource{
		URI: p.uri, Name: sanitize.Line(p.name), MIMEType: pageType, Meta: about,
		Description: "Shows what a tool gave.",
	}, func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		content, err := sv.h.eng.ToolPage(ctx, p.toolID)
		if fault.CodeOf(err) == fault.NotFound {
			return nil, sdk.ResourceNotFoundError(req.Params.URI)
		}
		if err != nil {
			return nil, internal(err)
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{
			{URI: p.uri, MIMEType: pageType, Meta: about, Text: appPage(p.name, content)},
		}}, nil
	})
}

// appPage is a page that waits for the result of its tool and then becomes the
// toolset's page, which finds the data where document 004, §5.4, has it. The
// toolset's page stands in it as a JSON text, in which nothing is markup.
func appPage(title string, content []byte) string {
	var out bytes.Buffer
	text, err := json.Marshal(string(content)) // escapes <, > and &
	if err != nil {                            // a string can't fail
		text = []byte(`""`)
	}
	out.WriteString("<!doctype html>\n<html><head><meta charset=\"utf-8\"><title>" + html.EscapeString(sanitize.Line(title)) + "</title></head><body>\n")
	out.WriteString(`<script type="application/json" id="fettle-page">`)
	out.Write(text)
	out.WriteString("</script>\n<script>\n" + bridge + "</script>\n</body></html>\n")
	return out.String()
}

// pageData is the data that a render plan gives to a page; nil for other plans.
func pageData(plan json.RawMessage) json.RawMessage {
	var p struct {
		Renderer string `json:"renderer"`
		Config   struct {
			Data json.RawMessage `json:"data"`
		} `json:"config"`
	}
	if json.Unmarshal(plan, &p) != nil || p.Renderer != "html" {
		return nil
	}
	if len(p.Config.Data) == 0 {
		return json.RawMessage("null")
	}
	return p.Config.Data
}
