package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/toolset"
)

// maxEntries bounds the resources and prompts of one server.
const maxEntries = 2000

// Resource is something that a server lets be read.
type Resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mime_type,omitempty"`
	Size        int64  `json:"size,omitempty"`
	// Template tells that URI is a pattern, such as file:///{path}.
	Template bool `json:"template,omitempty"`
}

// Prompt is a text that a server makes of arguments.
type Prompt struct {
	Name        string           `json:"name"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	Arguments   []PromptArgument `json:"arguments,omitempty"`
}

// PromptArgument is one of a prompt's arguments; each is a text.
type PromptArgument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// Content is a part of what a resource or a prompt gives: text, or bytes of a
// type.
type Content struct {
	// Role is user or assistant in a prompt.
	Role     string `json:"role,omitempty"`
	URI      string `json:"uri,omitempty"`
	MIMEType string `json:"mime_type,omitempty"`
	Text     string `json:"text,omitempty"`
	Blob     []byte `json:"blob,omitempty"`
}

// Report is what a server is and has.
type Report struct {
	Name         string `json:"name"`
	Version      string `json:"version"`
	Protocol     string `json:"protocol"`
	Instructions string `json:"instructions,omitempty"`
	// Tools are those that a model may be told of.
	Tools     []toolset.Tool `json:"tools"`
	Resources []Resource     `json:"resources"`
	Prompts   []Prompt       `json:"prompts"`
	// Notes say what was left out.
	Notes []string      `json:"notes,omitempty"`
	Took  time.Duration `json:"took_ns"`
}

// on runs fn on the connection of a server. If the server has lost the HTTP session, and so
// accepted nothing, fn runs again, once, in a new one. The error does not name the server.
func (m *Manager) on(ctx context.Context, s Server, ws *toolset.Workspace, fn func(context.Context, *conn) error) error {
	for repeated := false; ; repeated = true {
		c, done, err := m.use(ctx, s, ws)
		if err != nil {
			return err
		}
		try := &attempt{}
		err = fn(context.WithValue(ctx, attemptKey{}, try), c)
		done()
		switch {
		case err == nil:
			return nil
		case repeated || !try.lost.Load() || ctx.Err() != nil:
			return c.reason(ctx, err)
		}
	}
}

// Look connects to a server and lists all that it has.
func (m *Manager) Look(ctx context.Context, s Server, ws *toolset.Workspace) (*Report, error) {
	out := &Report{Resources: []Resource{}, Prompts: []Prompt{}}
	began := m.o.Now()
	err := m.on(ctx, s, ws, func(ctx context.Context, c *conn) error {
		info := c.session.InitializeResult()
		if info.ServerInfo != nil {
			out.Name, out.Version = plain(info.ServerInfo.Name, maxTitle), plain(info.ServerInfo.Version, maxTitle)
		}
		out.Protocol = plain(info.ProtocolVersion, maxTitle)
		out.Instructions = visible(info.Instructions, maxDescription)
		out.Tools = c.tools()
		c.mu.Lock()
		out.Notes = append(out.Notes, c.notes...)
		c.mu.Unlock()
		caps := info.Capabilities
		if caps != nil && caps.Resources != nil {
			c.lookAtResources(ctx, out)
		}
		if caps != nil && caps.Prompts != nil {
			c.lookAtPrompts(ctx, out)
		}
		return ctx.Err()
	})
	out.Took = m.o.Now().Sub(began)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// lookAtResources lists resources and their templates. What can't be listed is a
// note: the tools are there all the same.
func (c *conn) lookAtResources(ctx context.Context, out *Report) {
	ctx, cancel := context.WithTimeout(ctx, c.m.o.List)
	defer cancel()
	for r, err := range c.session.Resources(ctx, nil) {
		if err != nil || len(out.Resources) == maxEntries {
			out.Notes = append(out.Notes, cutShort("resources", err))
			break
		}
		out.Resources = append(out.Resources, Resource{
			URI: plain(r.URI, maxMessageText), Name: plain(r.Name, maxTitle), Title: plain(r.Title, maxTitle),
			Description: plain(r.Description, maxMessageText), MIMEType: plain(r.MIMEType, maxTitle), Size: r.Size,
		})
	}
	for r, err := range c.session.ResourceTemplates(ctx, nil) {
		if err != nil || len(out.Resources) >= maxEntries {
			break // few servers have them, and some refuse the question
		}
		out.Resources = append(out.Resources, Resource{
			URI: plain(r.URITemplate, maxMessageText), Name: plain(r.Name, maxTitle), Title: plain(r.Title, maxTitle),
			Description: plain(r.Description, maxMessageText), MIMEType: plain(r.MIMEType, maxTitle), Template: true,
		})
	}
}

func (c *conn) lookAtPrompts(ctx context.Context, out *Report) {
	ctx, cancel := context.WithTimeout(ctx, c.m.o.List)
	defer cancel()
	for p, err := range c.session.Prompts(ctx, nil) {
		if err != nil || len(out.Prompts) == maxEntries {
			out.Notes = append(out.Notes, cutShort("prompts", err))
			break
		}
		entry := Prompt{Name: plain(p.Name, maxTitle), Title: plain(p.Title, maxTitle), Description: plain(p.Description, maxMessageText)}
		for i, a := range p.Arguments {
			if a != nil && i < maxNotes {
				entry.Arguments = append(entry.Arguments, PromptArgument{plain(a.Name, maxTitle), plain(a.Description, maxMessageText), a.Required})
			}
		}
		out.Prompts = append(out.Prompts, entry)
	}
}

func cutShort(what string, err error) string {
	if err != nil {
		return "its " + what + " could not all be listed: " + explain(err).Error()
	}
	return fmt.Sprintf("it has more than %d %s", maxEntries, what)
}

// Read reads a resource.
func (m *Manager) Read(ctx context.Context, s Server, ws *toolset.Workspace, uri string) ([]Content, error) {
	var out []Content
	err := m.on(ctx, s, ws, func(ctx context.Context, c *conn) error {
		res, err := c.session.ReadResource(ctx, &sdk.ReadResourceParams{Meta: c.meta(), URI: uri})
		if err != nil {
			return err
		}
		for i, r := range res.Contents {
			if r == nil || i == maxParts {
				break
			}
			part := Content{URI: plain(r.URI, maxMessageText), MIMEType: plain(r.MIMEType, maxTitle)}
			if r.Blob != nil {
				part.Blob = r.Blob
			} else {
				part.Text = visible(r.Text, maxMessage)
			}
			out = append(out, part)
		}
		return nil
	})
	return out, err
}

// Fill makes a prompt's texts of arguments.
func (m *Manager) Fill(ctx context.Context, s Server, ws *toolset.Workspace, name string, args map[string]string) ([]Content, error) {
	var out []Content
	err := m.on(ctx, s, ws, func(ctx context.Context, c *conn) error {
		res, err := c.session.GetPrompt(ctx, &sdk.GetPromptParams{Meta: c.meta(), Name: name, Arguments: args})
		if err != nil {
			return err
		}
		for i, msg := range res.Messages {
			if msg == nil || i == maxParts {
				break
			}
			out = append(out, promptPart(msg))
		}
		return nil
	})
	return out, err
}

// promptPart is one message of a prompt.
func promptPart(msg *sdk.PromptMessage) Content {
	part := Content{Role: "user"}
	if msg.Role == "assistant" {
		part.Role = "assistant"
	}
	switch p := msg.Content.(type) {
	case *sdk.TextContent:
		part.Text = visible(p.Text, maxMessage)
	case *sdk.ImageContent:
		part.MIMEType, part.Blob = plain(p.MIMEType, maxTitle), p.Data
	case *sdk.AudioContent:
		part.MIMEType, part.Blob = plain(p.MIMEType, maxTitle), p.Data
	case *sdk.EmbeddedResource:
		if p.Resource != nil {
			part.URI, part.MIMEType = plain(p.Resource.URI, maxMessageText), plain(p.Resource.MIMEType, maxTitle)
			part.Text, part.Blob = visible(p.Resource.Text, maxMessage), p.Resource.Blob
		}
	default:
		part.Text = strings.TrimSpace(visible((&gathered{}).add(msg.Content), maxMessage))
	}
	return part
}

// Offer gives the tools of a server that isn't pinned: those that it had when it
// was last asked in this program, or those that it has, for which it is started.
func (m *Manager) Offer(ctx context.Context, s Server, ws *toolset.Workspace) ([]toolset.Tool, error) {
	m.mu.Lock()
	tools, ok := m.sessions[s.Key()]
	m.mu.Unlock()
	if ok {
		return tools, nil
	}
	err := m.on(ctx, s, ws, func(ctx context.Context, c *conn) error {
		tools = c.tools()
		return nil
	})
	return tools, err
}

// maxSessions bounds what is remembered of servers that aren't pinned.
const maxSessions = 256

// learn remembers the tools of a server that isn't pinned.
func (m *Manager) learn(s Server, tools []toolset.Tool) {
	if s.Pinned != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.sessions) >= maxSessions {
		clear(m.sessions) // they are listed again when they are needed
	}
	m.sessions[s.Key()] = tools
}
