package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/toolset"
)

const (
	// maxText bounds a result's text, maxParts the parts of its content, and
	// maxKept what is kept of pictures and files in it for those who show them.
	maxText  = 1 << 20
	maxParts = 1000
	maxKept  = 3 << 20
	// progressRoom is how many updates may wait; further ones are dropped, since
	// the next says more.
	progressRoom = 16
	// maxMessageText bounds what an update, a question or a refusal says.
	maxMessageText = 4 << 10
)

// Runner runs one tool of a server. The server is started when it is called.
func (m *Manager) Runner(s Server, t toolset.Tool) toolset.Runner {
	return toolset.RunnerFunc(func(ctx context.Context, call toolset.Call) (toolset.Result, error) {
		call.Report(toolset.Progress{Stage: "mcp", Message: "asking the MCP server " + s.ID})
		var out toolset.Result
		var failed error // the tool is held back, or it failed
		err := m.on(ctx, s, call.Workspace, func(ctx context.Context, c *conn) error {
			r, err := c.find(t.ID)
			if err != nil {
				failed = failure(ctx, s.ID, err)
				return nil
			}
			res, err := c.call(ctx, r, call)
			if err == nil {
				out, failed = c.result(r.tool, res)
			}
			return err
		})
		if err != nil {
			return toolset.Result{}, failure(ctx, s.ID, err)
		}
		return out, failed
	})
}

// failure is what the model hears of a server that failed. An ended ctx is told
// as that.
func failure(ctx context.Context, server string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return toolset.Errorf("the MCP server %s: %w", server, err)
}

// reason says why something asked of the server failed: by its end, where it
// has ended.
func (c *conn) reason(ctx context.Context, err error) error {
	if ctx.Err() != nil && c.life.Err() == nil {
		return err
	}
	if err := c.guard.cause(); err != nil {
		return err
	}
	if errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || !c.alive() {
		if c.child != nil { // its end explains more than a closed pipe, and comes with it
			select {
			case <-c.child.ended:
			case <-time.After(quietEnd + stopTime):
			}
		}
		return fmt.Errorf("it ended during the call; the next call starts it again: %w", c.ended())
	}
	return explain(err)
}

// ourOwn is the SDK's code for an error of its own side, whose words are around
// it.
const ourOwn = -32005

// explain words the errors of the protocol.
func explain(err error) error {
	var in *SignInError
	if errors.As(err, &in) {
		return in
	}
	if version := versionProblem(err); version != nil {
		return version
	}
	var wire *jsonrpc.Error
	if errors.As(err, &wire) && wire.Code != ourOwn {
		return fmt.Errorf("it refused: %s (%d)", plain(wire.Message, maxMessageText), wire.Code)
	}
	text := strings.ReplaceAll(err.Error(), "rejected by transport: ", "")
	var at *url.Error
	if errors.As(err, &at) { // its address may have a secret that was filled in
		shown := "its address"
		if u, wrong := url.Parse(at.URL); wrong == nil {
			shown = u.Scheme + "://" + u.Host
		}
		text = strings.ReplaceAll(text, at.URL, shown)
	}
	return errors.New(plain(text, maxMessageText))
}

// call calls a tool and passes its progress on, from this goroutine. It waits no
// longer than ctx: the SDK's own end of the call is written to the server, which may
// read nothing (see [deaf]).
func (c *conn) call(ctx context.Context, r remote, call toolset.Call) (*sdk.CallToolResult, error) {
	token := fmt.Sprintf("fettle-%d", c.tokens.Add(1))
	updates := make(chan toolset.Progress, progressRoom)
	self := &answering{ctx, call.Asker}
	ctx = context.WithValue(ctx, callKey{}, self)
	c.attend(self, token, updates)
	defer c.leave(self, token)
	type answer struct {
		res *sdk.CallToolResult
		err error
	}
	done := make(chan answer, 1)
	if !c.m.begin(func() {
		p := &sdk.CallToolParams{Meta: c.meta(), Name: r.name, Arguments: call.Args}
		if len(call.Args) == 0 {
			p.Arguments = json.RawMessage("{}")
		}
		p.SetProgressToken(token)
		res, err := c.session.CallTool(ctx, p)
		done <- answer{res, err}
	}) {
		return nil, ErrClosed
	}
	for {
		select {
		case p := <-updates:
			call.Report(p)
		case a := <-done:
			for {
				select {
				case p := <-updates: // what it reported comes before its end
					call.Report(p)
					continue
				default:
				}
				return a.res, a.err
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (c *conn) attend(self *answering, token string, updates chan toolset.Progress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.progress[token] = updates
	c.calls = append(c.calls, self)
}

func (c *conn) leave(self *answering, token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.progress, token)
	if i := slices.Index(c.calls, self); i >= 0 {
		c.calls = slices.Delete(c.calls, i, i+1)
	}
}

// hear passes an update on to the call that it is of.
func (c *conn) hear(p *sdk.ProgressNotificationParams) {
	token, ok := p.ProgressToken.(string)
	if !ok {
		return
	}
	c.mu.Lock()
	updates := c.progress[token]
	c.mu.Unlock()
	if updates == nil {
		return
	}
	out := toolset.Progress{Stage: "running", Message: plain(p.Message, maxMessageText)}
	if p.Total > 0 {
		part := min(max(p.Progress/p.Total, 0), 1)
		out.Progress = &part
	} else if out.Message == "" {
		out.Message = fmt.Sprintf("%g so far", p.Progress)
	}
	select {
	case updates <- out:
	default:
	}
}

// result converts a server's result to ours. The structured content is a part of its text,
// unless one of the server's own texts contains it.
func (c *conn) result(t toolset.Tool, res *sdk.CallToolResult) (toolset.Result, error) {
	if res.NeedsInput() {
		return toolset.Result{}, toolset.Errorf("the MCP server %s: it wants to know something of a person, who can't be asked", c.server.ID)
	}
	g := gather(res.Content)
	out := toolset.Result{Media: g.media}
	if res.StructuredContent != nil {
		out.Data = marshal(res.StructuredContent)
		if !g.repeats(out.Data) {
			g.text = strings.TrimPrefix(g.text+"\n\n", "\n\n") + visible(string(out.Data), maxText)
		}
	}
	out.Text = g.text
	if res.IsError {
		if g.text == "" {
			g.text = "it failed and doesn't say why"
		}
		return toolset.Result{}, toolset.Errorf("the MCP server %s: %s", c.server.ID, g.text)
	}
	switch {
	case res.StructuredContent != nil:
	case len(t.OutputSchema) > 0:
		return toolset.Result{}, toolset.Errorf("the MCP server %s: the result has no structured content, which the tool promises by its output_schema. It says: %s", c.server.ID, clipText(g.text, maxMessageText))
	case g.other:
		out.Data = marshal(map[string]any{"content": g.parts})
	}
	return out, nil
}

// gathered is what the parts of a result come to: the text, the images and the sounds for
// a model, and the parts for front ends that can show them.
type gathered struct {
	text  string
	media []toolset.Media
	parts []map[string]any
	other bool     // there is more than text
	said  []string // the texts
	kept  int
}

// repeats reports whether one of the texts is a JSON value, as servers add it to a
// structured result for clients that read only text.
func (g *gathered) repeats(value json.RawMessage) bool {
	var structured any
	if json.Unmarshal(value, &structured) != nil {
		return false
	}
	return slices.ContainsFunc(g.said, func(text string) bool {
		var said any
		return json.Unmarshal([]byte(text), &said) == nil && reflect.DeepEqual(said, structured)
	})
}

func gather(content []sdk.Content) *gathered {
	g := &gathered{}
	var texts []string
	for i, part := range content {
		if i == maxParts {
			texts = append(texts, fmt.Sprintf("[%d more parts are left out]", len(content)-maxParts))
			break
		}
		if text := g.add(part); text != "" {
			texts = append(texts, text)
		}
	}
	g.text = visible(strings.Join(texts, "\n\n"), maxText)
	return g
}

// add takes one part, and gives what a model is told of it.
func (g *gathered) add(part sdk.Content) string {
	switch p := part.(type) {
	case *sdk.TextContent:
		g.parts = append(g.parts, map[string]any{"type": "text", "text": clipText(p.Text, maxText)})
		g.said = append(g.said, p.Text)
		return p.Text
	case *sdk.ImageContent:
		return g.blob("image", p.MIMEType, p.Data, nil)
	case *sdk.AudioContent:
		return g.blob("audio", p.MIMEType, p.Data, nil)
	case *sdk.ResourceLink:
		g.other = true
		g.parts = append(g.parts, map[string]any{"type": "resource_link", "uri": p.URI, "name": p.Name, "title": p.Title, "description": p.Description, "mimeType": p.MIMEType})
		line := "[resource " + plain(p.Name, maxTitle) + " at " + plain(p.URI, maxMessageText)
		if p.MIMEType != "" {
			line += ", " + plain(p.MIMEType, maxTitle)
		}
		if p.Description != "" {
			line += ": " + plain(p.Description, maxMessageText)
		}
		return line + "]"
	case *sdk.EmbeddedResource:
		return g.resource(p.Resource)
	}
	return "[a part of a kind that fettle doesn't know]"
}

func (g *gathered) resource(r *sdk.ResourceContents) string {
	switch {
	case r == nil:
		return ""
	case r.Blob != nil:
		return g.blob("resource", r.MIMEType, r.Blob, map[string]any{"uri": r.URI})
	}
	g.other = true
	g.parts = append(g.parts, map[string]any{"type": "resource", "uri": r.URI, "mimeType": r.MIMEType, "text": clipText(r.Text, maxText)})
	return "[resource " + plain(r.URI, maxMessageText) + "]\n" + r.Text
}

// blob adds bytes, within a bound, to the parts that front ends can show, and to the media
// if a model may take them. It returns the line of the text that describes them. Text that
// comes as bytes is returned itself.
func (g *gathered) blob(kind, mime string, data []byte, more map[string]any) string {
	g.other = true
	mime = plain(mime, maxTitle)
	if uri, ok := more["uri"].(string); ok && isText(mime) && utf8.Valid(data) {
		return g.resource(&sdk.ResourceContents{URI: uri, MIMEType: mime, Text: string(data)})
	}
	entry := map[string]any{"type": kind, "mimeType": mime, "size": len(data)}
	for name, value := range more {
		entry[name] = value
	}
	note := ": not for the model, but shown where it can be"
	if g.kept+len(data) <= maxKept {
		g.kept += len(data)
		entry["data"] = base64.StdEncoding.EncodeToString(data)
		if known := mediaType(mime, data); known != "" {
			g.media = append(g.media, toolset.Media{MIME: known, Data: data})
			kind, _, _ = strings.Cut(known, "/")
			note = ""
		}
	} else {
		note = ": too large to keep"
	}
	g.parts = append(g.parts, entry)
	return fmt.Sprintf("[%s, %s, %d bytes%s]", kind, mime, len(data), note)
}

// isText reports whether a type of content is text.
func isText(mime string) bool {
	mime, _, _ = strings.Cut(mime, ";")
	switch mime = strings.TrimSpace(mime); mime {
	case "application/json", "application/xml", "application/yaml", "application/toml", "application/javascript":
		return true
	}
	return strings.HasPrefix(mime, "text/") || strings.HasSuffix(mime, "+json") || strings.HasSuffix(mime, "+xml")
}

// mediaType returns the type of an image or a sound that models take; "" for other data.
// It looks at the data first: a provider refuses an image that is not of the named type.
func mediaType(mime string, data []byte) string {
	switch seen := http.DetectContentType(data); seen {
	case "image/jpeg", "image/png", "image/gif", "image/webp", "audio/mpeg":
		return seen
	case "audio/wave":
		return "audio/wav"
	}
	switch mime, _, _ := strings.Cut(mime, ";"); strings.TrimSpace(mime) {
	case "audio/mpeg", "audio/mp3":
		return "audio/mpeg" // one without the tag at its beginning
	}
	return ""
}

// clipText bounds a text without changing what is in it.
func clipText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
