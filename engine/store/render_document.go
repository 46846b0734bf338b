package store

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/registry"
	"github.com/fettle-cli/fettle/toolset/render"
)

// PageOfPlan returns the page of a plan for the html renderer, or a bundle's for mcp_app; nil for others. The page
// that the chat keeps comes first: the toolset may have another one by now.
func (s *Store) PageOfPlan(ctx context.Context, chatID string, raw json.RawMessage, doing string) ([]byte, error) {
	var plan render.Plan
	var config struct {
		Artifact string          `json:"artifact"`
		SHA256   string          `json:"artifact_sha256"`
		Data     json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(raw, &plan); err != nil {
		return nil, fault.Wrap(fault.Store, doing, err)
	}
	if !HasPage(plan) {
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

var errNoArtifact = errors.New("the page belongs to no installed toolset any more")

// artifact reads a page of an installed toolset. A plan is data, so its path is
// believed only where it lies in the files of a revision.
func (s *Store) artifact(file string) ([]byte, error) {
	base := filepath.Join(s.Options.DataDir, "toolsets")
	rel, err := filepath.Rel(base, filepath.FromSlash(file))
	if err != nil || !filepath.IsLocal(rel) {
		return nil, errNoArtifact
	}
	parts := strings.SplitN(filepath.ToSlash(rel), "/", 3)
	if len(parts) != 3 {
		return nil, errNoArtifact
	}
	return s.Page(parts[0], parts[1], parts[2])
}

// Page reads a file of a revision of a toolset.
func (s *Store) Page(id, revision, name string) ([]byte, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, errNoArtifact
	}
	dir, release, err := registry.Use(s.Options.DataDir, id, revision)
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
