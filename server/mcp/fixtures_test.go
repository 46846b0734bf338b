//lint:file-ignore SA1019 the eras of MCP before 2026-07-28 have roots, sampling and logging, and fettle speaks both

package mcp_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The fixtures have the names and the answers that the conformance suites look
// for, as the SDK's own conformance server has them. They are put into fettle's
// server, beside its own tools.

// png and wav are the smallest of their kind.
const (
	png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
	wav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
)

func decoded(text string) []byte {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err) // it is written here
	}
	return data
}

func text(format string, args ...any) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

func embedded(uri, body string) *sdk.EmbeddedResource {
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri, MIMEType: "text/plain", Text: body}}
}

const anyObject = `{"type":"object"}`

// fixtures extends a server.
func fixtures(o *sdk.ServerOptions) func(*sdk.Server) {
	o.Capabilities.Logging = &sdk.LoggingCapabilities{}
	o.Capabilities.Prompts = &sdk.PromptCapabilities{ListChanged: true}
	o.CompletionHandler = func(context.Context, *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
		return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}, nil
	}
	return func(s *sdk.Server) {
		plainTools(s)
		askingTools(s)
		inputTools(s)
		fixtureResources(s)
		fixturePrompts(s)
	}
}

func add(s *sdk.Server, name, schema string, h sdk.ToolHandler) {
	s.AddTool(&sdk.Tool{Name: name, Description: "A fixture.", InputSchema: json.RawMessage(schema)}, h)
}

func constant(res *sdk.CallToolResult) sdk.ToolHandler {
	return func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return res, nil }
}

const schema202012 = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},
"phone":{"type":"string"},"email":{"type":"string"}},
"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}`

func plainTools(s *sdk.Server) {
	image := &sdk.ImageContent{Data: decoded(png), MIMEType: "image/png"}
	add(s, "test_simple_text", anyObject, constant(text("This is a simple text response for testing.")))
	add(s, "test_image_content", anyObject, constant(&sdk.CallToolResult{Content: []sdk.Content{image}}))
	add(s, "test_audio_content", anyObject, constant(&sdk.CallToolResult{Content: []sdk.Content{&sdk.AudioContent{Data: decoded(wav), MIMEType: "audio/wav"}}}))
	add(s, "test_embedded_resource", anyObject, constant(&sdk.CallToolResult{Content: []sdk.Content{embedded("test://embedded-resource", "This is an embedded resource")}}))
	add(s, "test_multiple_content_types", anyObject, constant(&sdk.CallToolResult{Content: []sdk.Content{
		&sdk.TextContent{Text: "This is text content"}, image, embedded("test://embedded-in-multiple", "This is an embedded resource"),
	}}))
	add(s, "test_error_handling", anyObject, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		res := new(sdk.CallToolResult)
		res.SetError(errors.New("this tool intentionally returns an error for testing"))
		return res, nil
	})
	add(s, "json_schema_2020_12_tool", schema202012, constant(text("called")))
	add(s, "test_x_mcp_header", `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}}}`, constant(text("called")))
	add(s, "test_streaming_elicitation", anyObject, constant(text("only results were streamed")))
	add(s, "test_tool_with_logging", anyObject, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for _, line := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
			_ = req.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: line})
			time.Sleep(50 * time.Millisecond) // so that they can be seen to come one by one
		}
		return text("logged"), nil
	})
	add(s, "test_logging_tool", anyObject, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		_ = req.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: "test_logging_tool executed"})
		return text("logged"), nil
	})
	add(s, "test_tool_with_progress", anyObject, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		token := req.Params.GetProgressToken()
		for _, at := range []float64{0, 50, 100} {
			_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: at, Total: 100, Message: "a step"})
			time.Sleep(50 * time.Millisecond) // so that they can be seen to come one by one
		}
		return text("%v", token), nil
	})
	add(s, "test_reconnection", anyObject, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if req.Extra != nil && req.Extra.CloseSSEStream != nil {
			req.Extra.CloseSSEStream(sdk.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
		}
		time.Sleep(100 * time.Millisecond) // the client comes back meanwhile
		return text("reconnected"), nil
	})
	add(s, "test_trigger_tool_change", anyObject, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		add(s, "transient_tool", anyObject, constant(text("here")))
		return text("changed"), nil
	})
	add(s, "test_trigger_prompt_change", anyObject, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		s.AddPrompt(&sdk.Prompt{Name: "transient_prompt", Description: "A fixture."}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return &sdk.GetPromptResult{}, nil
		})
		return text("changed"), nil
	})
}

// askingTools ask in the middle of a call, as the legacy era has it.
func askingTools(s *sdk.Server) {
	elicit := func(name, input, message, schema string) {
		add(s, name, input, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			res, err := req.Session.Elicit(ctx, &sdk.ElicitParams{Message: message, RequestedSchema: json.RawMessage(schema)})
			if err != nil {
				return nil, err
			}
			return text("Elicitation result: action=%s, content=%v", res.Action, res.Content), nil
		})
	}
	elicit("test_elicitation", `{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`, "Who are you?",
		`{"type":"object","properties":{"username":{"type":"string","description":"Your preferred username"}},"required":["username"]}`)
	elicit("test_elicitation_sep1034_defaults", anyObject, "Test defaults", `{"type":"object","properties":{
"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},
"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}}`)
	titled := `[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]`
	elicit("test_elicitation_sep1330_enums", anyObject, "Test enums", `{"type":"object","properties":{
"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},"titledSingle":{"type":"string","oneOf":`+titled+`},
"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
"untitledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","enum":["option1","option2","option3"]}},
"titledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"anyOf":`+titled+`}}}}`)
	add(s, "test_sampling", `{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}`, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var in struct{ Prompt string }
		if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
			return nil, err
		}
		res, err := req.Session.CreateMessage(ctx, sampling(in.Prompt))
		if err != nil {
			return nil, err
		}
		said, _ := res.Content.(*sdk.TextContent)
		return text("LLM response: %s", said.Text), nil
	})
	add(s, "test_missing_capability", anyObject, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if caps := req.ClientCapabilities(); caps != nil && caps.Sampling != nil {
			return text("the client has sampling"), nil
		}
		data, err := json.Marshal(sdk.MissingRequiredClientCapabilityData{RequiredCapabilities: &sdk.ClientCapabilities{Sampling: &sdk.SamplingCapabilities{}}})
		if err != nil {
			return nil, err
		}
		return nil, &jsonrpc.Error{Code: sdk.CodeMissingRequiredClientCapabilities, Message: "sampling is required", Data: data}
	})
}

func sampling(prompt string) *sdk.CreateMessageParams {
	return &sdk.CreateMessageParams{MaxTokens: 100, Messages: []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: prompt}}}}
}

func form(message, field, kind string) *sdk.ElicitParams {
	return &sdk.ElicitParams{Message: message, RequestedSchema: json.RawMessage(
		fmt.Sprintf(`{"type":"object","properties":{%q:{"type":%q}},"required":[%q]}`, field, kind, field))}
}

// accepted is the content of an answer; nil where it is none or no yes.
func accepted(all sdk.InputResponseMap, key string) map[string]any {
	answer, ok := all[key].(*sdk.ElicitResult)
	if !ok || answer == nil || answer.Action != "accept" {
		return nil
	}
	return answer.Content
}

func sampled(all sdk.InputResponseMap, key string) (string, bool) {
	answer, ok := all[key].(*sdk.CreateMessageWithToolsResult)
	if !ok || answer == nil {
		return "", false
	}
	for _, c := range answer.Content {
		if said, ok := c.(*sdk.TextContent); ok {
			return said.Text, true
		}
	}
	return "", true
}

func fixtureResources(s *sdk.Server) {
	give := func(kind, body string, blob []byte) sdk.ResourceHandler {
		return func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: req.Params.URI, MIMEType: kind, Text: body, Blob: blob}}}, nil
		}
	}
	s.AddResource(&sdk.Resource{Name: "static-text", MIMEType: "text/plain", URI: "test://static-text"}, give("text/plain", "This is the content of the static text resource.", nil))
	s.AddResource(&sdk.Resource{Name: "static-binary", MIMEType: "image/png", URI: "test://static-binary"}, give("image/png", "", decoded(png)))
	s.AddResource(&sdk.Resource{Name: "watched-resource", MIMEType: "text/plain", URI: "test://watched-resource"}, give("text/plain", "Watched resource content", nil))
	s.AddResourceTemplate(&sdk.ResourceTemplate{Name: "template", MIMEType: "application/json", URITemplate: "test://template/{id}/data"},
		func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
			return give("application/json", fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id), nil)(ctx, req)
		})
}

func fixturePrompts(s *sdk.Server) {
	user := func(c sdk.Content) *sdk.PromptMessage { return &sdk.PromptMessage{Role: "user", Content: c} }
	prompt := func(name string, make func(args map[string]string) []*sdk.PromptMessage, args ...string) {
		p := &sdk.Prompt{Name: name, Description: "A fixture."}
		for _, arg := range args {
			p.Arguments = append(p.Arguments, &sdk.PromptArgument{Name: arg, Required: true})
		}
		s.AddPrompt(p, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return &sdk.GetPromptResult{Messages: make(req.Params.Arguments)}, nil
		})
	}
	prompt("test_simple_prompt", func(map[string]string) []*sdk.PromptMessage {
		return []*sdk.PromptMessage{user(&sdk.TextContent{Text: "This is a simple prompt for testing."})}
	})
	prompt("test_prompt_with_arguments", func(args map[string]string) []*sdk.PromptMessage {
		return []*sdk.PromptMessage{user(&sdk.TextContent{Text: fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", args["arg1"], args["arg2"])})}
	}, "arg1", "arg2")
	prompt("test_prompt_with_embedded_resource", func(args map[string]string) []*sdk.PromptMessage {
		return []*sdk.PromptMessage{user(embedded(args["resourceUri"], "Embedded resource content for testing.")), user(&sdk.TextContent{Text: "Please process it."})}
	}, "resourceUri")
	prompt("test_prompt_with_image", func(map[string]string) []*sdk.PromptMessage {
		return []*sdk.PromptMessage{user(&sdk.ImageContent{Data: decoded(png), MIMEType: "image/png"}), user(&sdk.TextContent{Text: "Please analyze it."})}
	})
	s.AddPrompt(&sdk.Prompt{Name: "test_input_required_result_prompt", Description: "A fixture."}, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		if given := accepted(req.Params.InputResponses, "user_context"); given != nil {
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{user(&sdk.TextContent{Text: fmt.Sprintf("Context: %v", given["context"])})}}, nil
		}
		return &sdk.GetPromptResult{InputRequests: sdk.InputRequestMap{"user_context": form("Please provide context", "context", "string")}}, nil
	})
}
