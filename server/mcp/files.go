package mcp

import (
	"bytes"
	"cmp"
	"context"
	"mime"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

const (
	// fileScheme is that of a session's files.
	fileScheme = "workspace"
	// maxListed bounds the files that are listed. The others can be read.
	maxListed = 1000
	// maxFile bounds a file that is read as a resource: it travels as one message.
	maxFile = 8 << 20
	// maxLinks bounds the files that a result names.
	maxLinks = 20
	// linksSince is the first revision with resource_link.
	linksSince = "2025-06-18"
)

// fileURI is the address of a file of the workspace.
func fileURI(name string) string {
	return (&url.URL{Scheme: fileScheme, Path: "/" + name}).String()
}

// addFiles offers the session's files.
func (sv *served) addFiles() {
	sv.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "workspace", Title: "Files of this session", URITemplate: fileScheme + ":///{+path}",
		Description: "A file of the folder in which this session's tools work, as it was after the last call.",
	}, func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return sv.readFile(ctx, sv.session(req.ClientInfo(), req.Extra), req.Params.URI)
	})
}

// state is the session's folder as it was after the last call; nil before one.
func (h *Host) state(ctx context.Context, s *session) (*cas.Manifest, error) {
	if !s.hasChat() {
		return nil, nil
	}
	chat, err := h.eng.FindChat(ctx, s.chat())
	if err == nil && chat.ActiveManifest != "" {
		var m *cas.Manifest
		if m, err = h.eng.State(ctx, chat, "@"); err == nil {
			return m, nil
		}
	}
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return nil, err
	}
	return nil, nil
}

// listFiles adds the session's files to a list.
func (sv *served) listFiles(ctx context.Context, req sdk.Request, list *sdk.ListResourcesResult) error {
	r, ok := req.(*sdk.ListResourcesRequest)
	if !ok {
		return nil
	}
	m, err := sv.h.state(ctx, sv.session(r.ClientInfo(), r.Extra))
	if err != nil || m == nil {
		return err
	}
	n := 0
	for f, err := range sv.h.eng.Files(ctx, m) {
		if err != nil {
			return err
		}
		if !readable(f.Entry) || !utf8.ValidString(f.Path) {
			continue
		}
		if n++; n > maxListed {
			break
		}
		list.Resources = append(list.Resources, &sdk.Resource{
			URI: fileURI(f.Path), Name: sanitize.Line(f.Path), MIMEType: typeOf(f.Path), Size: f.Size,
		})
	}
	return nil
}

func readable(e cas.Entry) bool {
	kind := e.Kind.String()
	return kind == "file" || kind == "executable"
}

// typeOf is what a file's name says that it is; empty where it says nothing.
func typeOf(name string) string {
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".md":
		return "text/markdown"
	case ".csv", ".html", ".css", ".json", ".pdf", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".xml", ".js", ".txt":
		kind, _, _ := strings.Cut(mime.TypeByExtension(ext), ";") // the system's tables may know more, and differ
		return cmp.Or(kind, "text/plain")
	}
	return ""
}

// readFile reads one of the session's files.
func (sv *served) readFile(ctx context.Context, s *session, uri string) (*sdk.ReadResourceResult, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != fileScheme || u.Host != "" {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	name := strings.TrimPrefix(u.Path, "/")
	m, err := sv.h.state(ctx, s)
	if err != nil {
		return nil, internal(err)
	}
	if m == nil || name == "" {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	entry, err := sv.h.eng.FileEntry(ctx, m, name)
	switch {
	case fault.CodeOf(err) == fault.NotFound, err == nil && !readable(entry):
		return nil, sdk.ResourceNotFoundError(uri)
	case err != nil:
		return nil, internal(err)
	case entry.Size > maxFile:
		return nil, internal(fault.New(fault.Failed, "the file is larger than 8 MiB, the limit of a resource; a tool can read parts of it"))
	}
	var content bytes.Buffer
	if err := sv.h.eng.ReadFile(ctx, &content, entry); err != nil {
		return nil, internal(err)
	}
	out := &sdk.ResourceContents{URI: uri, MIMEType: typeOf(name)}
	if data := content.Bytes(); utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 {
		out.Text, out.MIMEType = string(data), cmp.Or(out.MIMEType, "text/plain")
	} else {
		out.Blob, out.MIMEType = data, cmp.Or(out.MIMEType, "application/octet-stream")
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{out}}, nil
}

// links name the files that a call wrote, for clients that know them.
func (c *call) links() []sdk.Content {
	if c.req.ProtocolVersion() < linksSince {
		return nil
	}
	var out []sdk.Content
	seen := map[string]bool{}
	for _, change := range c.changed {
		if change.Kind == "removed" || seen[change.Path] || len(out) == maxLinks || !utf8.ValidString(change.Path) {
			continue
		}
		seen[change.Path] = true
		out = append(out, &sdk.ResourceLink{URI: fileURI(change.Path), Name: sanitize.Line(change.Path), MIMEType: typeOf(change.Path)})
	}
	return out
}

// notify tells those who listen what a call changed.
func (c *call) notify(ctx context.Context) {
	list := false
	for i, change := range c.changed {
		if change.Kind != "modified" {
			list = true
		}
		if i < maxListed && change.Kind != "added" && utf8.ValidString(change.Path) {
			_ = c.sv.sdk.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: fileURI(change.Path)}) // who is gone hears nothing
		}
	}
	if list {
		c.sv.addFiles() // which tells that the list has changed
	}
}
