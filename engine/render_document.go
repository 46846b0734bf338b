package engine

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/registry"
	"github.com/fettle-cli/fettle/toolset/render"
)

// RenderedCall is how a call is shown.
type RenderedCall struct {
	ChatID string          `json:"chat_id"`
	ToolID string          `json:"tool_id"`
	Plan   json.RawMessage `json:"render_plan"`
	// Document is the page of a plan for the html renderer, with its data in it
	// (document 004, §5.4), or a bundle's page for mcp_app, which gets its data by
	// messages; nil for other renderers.
	Document []byte `json:"-"`
}

// RenderDocument gives the render plan of a tool call that has ended, and the
// page that an html plan asks for. The page is a stranger's: whoever shows it
// keeps it away from everything else.
func (e *Engine) RenderDocument(ctx context.Context, callID string) (*RenderedCall, error) {
	call, err := e.toolCall(ctx, callID)
	if err != nil {
		return nil, err
	}
	out := &RenderedCall{ChatID: call.ChatID, ToolID: call.ToolID, Plan: call.RenderPlan}
	if len(call.RenderPlan) == 0 {
		return nil, fault.New(fault.NotFound, "call "+callID+" of "+call.ToolID+" has no render plan")
	}
	out.Document, err = e.pageOfPlan(ctx, call.ChatID, call.RenderPlan, "show call "+callID)
	return out, err
}

// RenderPayload gives the render plan of a payload of a chat, and its page as
// RenderDocument does.
func (e *Engine) RenderPayload(ctx context.Context, chat chat.Chat, p chat.ShownPayload) (*RenderedCall, error) {
	out := &RenderedCall{ChatID: chat.ID, Plan: e.PayloadPlan(ctx, chat, p.Payload)}
	var plan render.Plan
	if json.Unmarshal(out.Plan, &plan) != nil || plan.Renderer == "" {
		return nil, fault.New(fault.NotFound, "payloads of the type "+p.Type+" have no renderer")
	}
	var err error
	out.Document, err = e.pageOfPlan(ctx, chat.ID, out.Plan, "show payload "+p.ID)
	return out, err
}

// pageOfPlan returns the page of a plan for the html renderer, or a bundle's for mcp_app; nil for others. The page
// that the chat keeps comes first: the toolset may have another one by now.
func (s *Store) pageOfPlan(ctx context.Context, chatID string, raw json.RawMessage, doing string) ([]byte, error) {
	var plan render.Plan
	var config struct {
		Artifact string          `json:"artifact"`
		SHA256   string          `json:"artifact_sha256"`
		Data     json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(raw, &plan); err != nil {
		return nil, fault.Wrap(fault.Store, doing, err)
	}
	if !hasPage(plan) {
		return nil, nil
	}
	if err := json.Unmarshal(plan.Config, &config); err != nil {
		return nil, fault.Wrap(fault.Store, doing, err)
	}
	if plan.Renderer == toolset.RenderApp && config.Artifact == "" && config.SHA256 == "" {
		return nil, nil // the call's MCP server has the page
	}
	var page []byte
	err := error(kv.ErrNotFound)
	if config.SHA256 != "" {
		page, err = s.readArtifact(ctx, chatID, config.SHA256)
	}
	if errors.Is(err, kv.ErrNotFound) {
		page, err = s.artifact(config.Artifact)
	}
	if err != nil {
		return nil, fault.Wrap(fault.NotFound, doing, err)
	}
	if plan.Renderer == toolset.RenderApp {
		return page, nil
	}
	if len(config.Data) == 0 {
		config.Data = json.RawMessage("null")
	}
	document, err := render.Inject(page, config.Data)
	if err != nil {
		return nil, fault.Wrap(fault.Failed, doing, err)
	}
	return document, nil
}

// foldWait bounds the wait for the record of a call that has just ended: its
// turn may still run, and is folded only at its end.
const foldWait = 2 * time.Second

// toolCall reads the record of a call, or returns what is known of one that runs here.
func (e *Engine) toolCall(ctx context.Context, id string) (*chat.ToolCall, error) {
	ctx, cancel := context.WithTimeout(ctx, foldWait)
	defer cancel()
	var call *chat.ToolCall
	read := func() error {
		return e.view(ctx, func(tx *kv.Tx) (err error) {
			call, err = e.tables.calls.Get(tx, kv.Str(id))
			return err
		})
	}
	err := read()
	if errors.Is(err, kv.ErrNotFound) {
		if live := e.liveCall(id); live != nil {
			return live, nil
		}
		if _, err := e.Fold(ctx, FoldAll); err != nil {
			return nil, err
		}
		err = read()
	}
	if errors.Is(err, kv.ErrNotFound) {
		return nil, fault.New(fault.NotFound, "no tool call "+id+" in a turn that has ended or that runs in this process")
	}
	return call, err
}

var errNoArtifact = errors.New("the page belongs to no installed toolset any more")

// artifact reads a page of an installed toolset. A plan is data, so its path is
// believed only where it lies in the files of a revision.
func (s *Store) artifact(file string) ([]byte, error) {
	base := filepath.Join(s.o.DataDir, "toolsets")
	rel, err := filepath.Rel(base, filepath.FromSlash(file))
	if err != nil || !filepath.IsLocal(rel) {
		return nil, errNoArtifact
	}
	parts := strings.SplitN(filepath.ToSlash(rel), "/", 3)
	if len(parts) != 3 {
		return nil, errNoArtifact
	}
	return s.page(parts[0], parts[1], parts[2])
}

// ToolPage gives the page of a tool's html renderer as its toolset has it, without
// data in it. The page is a stranger's, see RenderDocument.
func (e *Engine) ToolPage(ctx context.Context, toolID string) ([]byte, error) {
	set, err := e.toolsetOfTool(ctx, toolID)
	if err != nil {
		return nil, err
	}
	if set == nil {
		set = new(registry.MirrorToolset)
	}
	for _, t := range set.Tools {
		r := t.Tool.Renderer
		if t.Tool.ID != toolID || r == nil || r.Type != toolset.RenderHTML {
			continue
		}
		page, err := e.page(set.ID, set.Revision, strings.TrimPrefix(r.Artifact, "$toolset/"))
		if err != nil {
			return nil, fault.Wrap(fault.NotFound, "read the page of "+toolID, err)
		}
		return page, nil
	}
	return nil, fault.New(fault.NotFound, "no tool "+toolID+" has a page")
}

// page reads a file of a revision of a toolset.
func (s *Store) page(id, revision, name string) ([]byte, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, errNoArtifact
	}
	dir, release, err := registry.Use(s.o.DataDir, id, revision)
	if errors.Is(err, registry.ErrGone) {
		return nil, errNoArtifact
	}
	if err != nil {
		return nil, err
	}
	defer release()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, errNoArtifact
	}
	defer func() { _ = root.Close() }() // it was only read
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, errNoArtifact
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errNoArtifact
	}
	return io.ReadAll(io.LimitReader(f, render.MaxArtifact+1)) // Inject refuses what is larger
}
