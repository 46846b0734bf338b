package server

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/server/artifacts"
)

// appProxy is the script of the page between the server's own page and an app's.
//
//go:embed app_proxy.js
var appProxy string

// openApp adds to an artifact what the host of an MCP App needs, with the address of
// a proxy that is made for it: its policy is the app's.
func (s *Server) openApp(r *http.Request, callID string, out *artifactJSON) error {
	opened, err := s.eng.OpenApp(r.Context(), callID)
	if err != nil {
		return err
	}
	csp := appCSPJSON{
		ConnectDomains: artifacts.GrantOrigins(opened.CSP.ConnectDomains, true), ResourceDomains: artifacts.GrantOrigins(opened.CSP.ResourceDomains, false),
		FrameDomains: artifacts.GrantOrigins(opened.CSP.FrameDomains, false), BaseURIDomains: artifacts.GrantOrigins(opened.CSP.BaseURIDomains, false),
	}
	t := opened.Tool
	out.App = &appJSON{
		ServerID: opened.ServerID, ResourceURI: opened.URI, HTML: opened.HTML, CSP: csp, Permissions: opened.Permissions, PrefersBorder: opened.PrefersBorder,
		Tool:      appToolInfoJSON{t.Name, t.Title, t.Description, t.InputSchema, t.OutputSchema},
		ToolInput: opened.Input, ToolResult: opened.Result, Tools: opened.Tools,
	}
	if len(out.App.ToolInput) == 0 {
		out.App.ToolInput = json.RawMessage("{}")
	}
	host := s.hostOf(r)
	s.show(out, proxyPage(host), appPolicy(csp, host), sandboxProxy)
	return nil
}

// openPayloadApp gives the page of a bundle for a payload an address. The page gets the
// payload's data as the result of a call; there is no server, so it calls no tool.
func (s *Server) openPayloadApp(r *http.Request, p chat.ShownPayload, shown *engine.RenderedCall, out *artifactJSON) {
	none := []string{}
	csp := appCSPJSON{none, none, none, none}
	out.App = &appJSON{
		HTML: string(shown.Document), CSP: csp, Permissions: none, Tools: none,
		Tool:      appToolInfoJSON{Name: p.Type, Title: p.Title, InputSchema: json.RawMessage(`{"type":"object"}`)},
		ToolInput: json.RawMessage("{}"), ToolResult: payloadResult(shown.Plan),
	}
	host := s.hostOf(r)
	s.show(out, proxyPage(host), appPolicy(csp, host), sandboxProxy)
}

// payloadResult returns the data of a plan as MCP's CallToolResult: as text, and as
// structured content where it is an object, which MCP wants.
func payloadResult(raw json.RawMessage) json.RawMessage {
	var plan struct {
		Config struct {
			Data json.RawMessage `json:"data"`
		} `json:"config"`
	}
	_ = json.Unmarshal(raw, &plan) // artifactOf has read it
	data := plan.Config.Data
	if len(data) == 0 {
		data = json.RawMessage("null")
	}
	result := map[string]any{"content": []map[string]string{{"type": "text", "text": string(data)}}}
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) == nil && object != nil {
		result["structuredContent"] = data
	}
	out, err := json.Marshal(result)
	if err != nil { // text and valid JSON can't fail
		return json.RawMessage(`{"content":[]}`)
	}
	return out
}

// hostOf is the origin of the page that asks: the only one that the proxy listens to.
func (s *Server) hostOf(r *http.Request) string {
	if origin := r.Header.Get("Origin"); origin != "" { // the gate has let it through
		return origin
	}
	return s.address
}

// proxyPage is the proxy for one host.
func proxyPage(host string) []byte {
	var b bytes.Buffer
	name, err := json.Marshal(host) // escapes <, > and &
	if err != nil {                 // a string can't fail
		name = []byte(`""`)
	}
	b.WriteString("<!doctype html>\n<html><head><meta charset=\"utf-8\"><title>app</title>\n")
	b.WriteString("<style>html,body,iframe{margin:0;padding:0;border:0;width:100%;height:100%;overflow:hidden;background:transparent;color-scheme:light dark}iframe{display:block}</style></head><body>\n")
	b.WriteString(`<script type="application/json" id="fettle-host">`)
	b.Write(name)
	b.WriteString("</script>\n<script>\n" + appProxy + "</script>\n</body></html>\n")
	return b.Bytes()
}

// appPolicy is what an app may do: run its own scripts, and reach the origins that
// its server names for it. The view in the proxy inherits it.
func appPolicy(c appCSPJSON, host string) string {
	res := strings.Join(c.ResourceDomains, " ")
	with := func(first string) string { return strings.TrimSpace(first + " " + res) }
	return strings.Join([]string{
		"default-src 'none'",
		"script-src " + with("'unsafe-inline'"),
		"style-src " + with("'unsafe-inline'"),
		"img-src " + with("data: blob:"),
		"font-src " + with("data:"),
		"media-src " + with("data: blob:"),
		"connect-src " + artifacts.OrNoneOf(c.ConnectDomains),
		"frame-src " + artifacts.OrNoneOf(c.FrameDomains),
		"object-src 'none'",
		"base-uri " + artifacts.OrNoneOf(c.BaseURIDomains),
		"form-action 'none'",
		"frame-ancestors " + artifacts.AncestorOf(host),
	}, "; ")
}

// appToolBody is a call that the page of an app wants. Approval is what an answer
// gave that asked a person first, and Decision what they said.
type appToolBody struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Approval  string          `json:"approval,omitempty"`
	Decision  event.Decision  `json:"decision,omitempty"` // allow or deny
}

// appToolJSON is the result of a call, or what a person is to be asked first. Nothing
// has run then; the same call, with the nonce and their decision, runs once.
type appToolJSON struct {
	Result   json.RawMessage  `json:"result,omitempty"`  // a CallToolResult
	CallID   string           `json:"call_id,omitempty"` // of the record of the call that ran
	Approval *appApprovalJSON `json:"approval,omitempty"`
}

func callAppTool(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := callOf(r)
	if err != nil {
		return err
	}
	var body appToolBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	if s.draining.Load() {
		return errDraining
	}
	call := engine.AppCall{Name: body.Name, Args: body.Arguments}
	key := appKey(id, call)
	if body.Approval != "" {
		if call.Allowed, err = s.asks.answer(body.Approval, key, body.Decision); err != nil {
			return err
		}
		if call.Allowed == "" {
			writeJSON(w, http.StatusOK, appToolJSON{Result: deniedResult()})
			return nil
		}
	}
	answer, err := s.callApp(r, id, call)
	if err != nil {
		return err
	}
	out := appToolJSON{Result: answer.Result, CallID: answer.CallID}
	if answer.Ask != nil {
		out.Approval = s.asks.ask(key, answer.Ask, call.Args)
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// deniedResult is what a page gets of a call that a person denied.
func deniedResult() json.RawMessage {
	return json.RawMessage(`{"content":[{"type":"text","text":"denied by the user"}],"isError":true}`)
}

// appKey stands for just one call.
func appKey(callID string, call engine.AppCall) [sha256.Size]byte {
	h := sha256.New()
	for _, part := range []string{callID, call.Name, string(call.Args)} {
		_, _ = h.Write(append([]byte(part), 0)) // a hash can't fail; no part has a NUL outside of JSON's escapes
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// appResourceBody names a resource.
type appResourceBody struct {
	URI string `json:"uri"`
}

func readAppResource(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := callOf(r)
	if err != nil {
		return err
	}
	var body appResourceBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	if body.URI == "" || len(body.URI) > maxPath {
		return fault.New(fault.Usage, "uri names the resource")
	}
	got, err := s.eng.ReadApp(r.Context(), id, body.URI)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, got.Result)
	return nil
}
