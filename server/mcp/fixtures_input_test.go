//lint:file-ignore SA1019 the eras of MCP before 2026-07-28 have roots, sampling and logging, and fettle speaks both

package mcp_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// inputTools ask by their result, as the modern era has it.
func inputTools(s *sdk.Server) {
	const prefix = "test_input_required_result_"
	need := func(state string, requests sdk.InputRequestMap) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{InputRequests: requests, RequestState: state}, nil
	}
	add(s, prefix+"elicitation", anyObject, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if name, _ := accepted(req.Params.InputResponses, "user_name")["name"].(string); name != "" {
			return text("Hello, %s!", name), nil
		}
		return need("", sdk.InputRequestMap{"user_name": form("What is your name?", "name", "string")})
	})
	add(s, prefix+"sampling", anyObject, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if said, ok := sampled(req.Params.InputResponses, "capital_question"); ok {
			return text("Sampling response: %s", said), nil
		}
		return need("", sdk.InputRequestMap{"capital_question": sampling("What is the capital of France?")})
	})
	add(s, prefix+"list_roots", anyObject, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if roots, ok := req.Params.InputResponses["client_roots"].(*sdk.ListRootsResult); ok && roots != nil {
			return text("Client exposed %d root(s): %v", len(roots.Roots), roots.Roots), nil
		}
		return need("", sdk.InputRequestMap{"client_roots": &sdk.ListRootsParams{}})
	})
	for _, name := range []string{"request_state", "tampered_state"} {
		add(s, prefix+name, anyObject, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			switch state := req.Params.RequestState; {
			case state != "" && state != name+"-1":
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "invalid requestState"}
			case state != "" && accepted(req.Params.InputResponses, "confirm") != nil:
				return text("state-ok: requestState received and confirmation accepted"), nil
			}
			return need(name+"-1", sdk.InputRequestMap{"confirm": form("Please confirm", "ok", "boolean")})
		})
	}
	add(s, prefix+"multiple_inputs", anyObject, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		name, _ := accepted(req.Params.InputResponses, "user_name")["name"].(string)
		greeting, greeted := sampled(req.Params.InputResponses, "greeting")
		roots, _ := req.Params.InputResponses["client_roots"].(*sdk.ListRootsResult)
		if name != "" && greeted && roots != nil {
			return text("%s %s, %d roots", greeting, name, len(roots.Roots)), nil
		}
		return need("multiple_inputs", sdk.InputRequestMap{
			"user_name": form("What is your name?", "name", "string"), "greeting": sampling("Generate a greeting"), "client_roots": &sdk.ListRootsParams{},
		})
	})
	add(s, prefix+"multi_round", anyObject, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		state := req.Params.RequestState
		switch {
		case state == "":
			return need("round=1", sdk.InputRequestMap{"step1": form("What is your name?", "name", "string")})
		case state == "round=1":
			name := fmt.Sprint(accepted(req.Params.InputResponses, "step1")["name"])
			return need("round=2;name="+name, sdk.InputRequestMap{"step2": form("What is your favorite color?", "color", "string")})
		}
		return text("Multi-round complete: %s likes %v", strings.TrimPrefix(state, "round=2;name="), accepted(req.Params.InputResponses, "step2")["color"]), nil
	})
	add(s, prefix+"capabilities", anyObject, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		requests, caps := sdk.InputRequestMap{}, req.ClientCapabilities()
		if len(req.Params.InputResponses) > 0 || caps == nil {
			return text("fulfilled"), nil
		}
		if caps.Elicitation != nil {
			requests["user_name"] = form("What is your name?", "name", "string")
		}
		if caps.Sampling != nil {
			requests["greeting"] = sampling("Generate a short greeting")
		}
		if len(requests) == 0 {
			return text("nothing can be asked"), nil
		}
		return need("", requests)
	})
}
