package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/render"
)

// ArtifactsID is the chat id in the states of stored pages. No
// chat has that id.
const ArtifactsID = "artifacts"

// artifactFile is the only file of such a state.
const artifactFile = "page.html"

// keptArtifact is a record: a result of the chat is shown by a page, which the state
// contains. It keeps the page for as long as the chat exists, whatever becomes of the
// toolset that the page is from.
type keptArtifact struct {
	ChatID     string `json:"chat_id"`
	SHA256     string `json:"sha256"`
	ManifestID string `json:"manifest_id"`
}

func artifactsTable() *kv.Table[keptArtifact] {
	return kv.NewTable("artifacts", func(a *keptArtifact) kv.Key { return kv.Str(a.ChatID).Str(a.SHA256) })
}

// HasPage reports whether a plan's renderer is a page.
func HasPage(p render.Plan) bool {
	return (p.Renderer == toolset.RenderHTML || p.Renderer == toolset.RenderApp) && p.Error == nil
}

// KeepArtifact stores a page of an installed toolset for a chat, once, and returns the
// page's digest.
func (s *Store) KeepArtifact(ctx context.Context, chatID, file string) (digest string, err error) {
	page, err := s.artifact(file)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	if len(page) > render.MaxArtifact {
		return "", fmt.Errorf("read %s: it is larger than %d MB", file, render.MaxArtifact>>20)
	}
	digest = cas.Sum(page).String()
	_, err = s.keptArtifactOf(ctx, chatID, digest)
	if !errors.Is(err, kv.ErrNotFound) {
		return digest, err
	}
	release, err := s.ShareData(ctx, nil)
	if err != nil {
		return "", err
	}
	defer release()
	kept, err := s.StoreArtifacts(ctx, chatID, [][]byte{page})
	if err != nil {
		return "", err
	}
	return digest, s.KV.UpdateSync(ctx, func(tx *kv.Tx) error { return s.PutArtifacts(tx, chatID, kept) })
}

// StoreArtifacts stores pages and returns the records that keep them for a chat. Until
// these are written, the pages are kept as the states of a young chat are.
func (s *Store) StoreArtifacts(ctx context.Context, chatID string, pages [][]byte) ([]keptArtifact, error) {
	if len(pages) == 0 {
		return nil, nil
	}
	release, err := s.ShareData(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer release()
	states, err := s.Snapshots.KeepFiles(ctx, cas.About{ChatID: ArtifactsID, Source: cas.ToolRun}, artifactFile, pages, s.Options.States)
	if err != nil {
		return nil, fmt.Errorf("store a page: %w", err)
	}
	out := make([]keptArtifact, len(pages))
	for i, page := range pages {
		out[i] = keptArtifact{ChatID: chatID, SHA256: cas.Sum(page).String(), ManifestID: states[i].ID}
	}
	return out, nil
}

// PutArtifacts writes the records for a chat.
func (s *Store) PutArtifacts(w kv.Writer, chatID string, all []keptArtifact) error {
	for _, a := range all {
		a.ChatID = chatID
		if err := s.Tables.artifacts.Put(w, &a); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) keptArtifactOf(ctx context.Context, chatID, digest string) (kept *keptArtifact, err error) {
	err = s.View(ctx, func(tx *kv.Tx) error {
		kept, err = s.Tables.artifacts.Get(tx, kv.Str(chatID).Str(digest))
		return err
	})
	return kept, err
}

// artifactsIn reads the records of a chat.
func (s *Store) artifactsIn(tx *kv.Tx, chatID string) (out []keptArtifact, err error) {
	for a, err := range Legible(s, s.Tables.artifacts.Scan(tx, kv.Range{Prefix: kv.Str(chatID)})) {
		if err != nil {
			return nil, err
		}
		out = append(out, *a)
	}
	return out, nil
}

// readArtifact reads a page that is kept for a chat.
func (s *Store) readArtifact(ctx context.Context, chatID, digest string) ([]byte, error) {
	kept, err := s.keptArtifactOf(ctx, chatID, digest)
	if err != nil {
		return nil, err
	}
	m, err := s.Snapshots.Manifest(ctx, kept.ManifestID)
	if err != nil {
		return nil, err
	}
	entry, err := s.Snapshots.Lookup(ctx, m.Root, artifactFile)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = s.Snapshots.Read(ctx, &b, entry)
	return b.Bytes(), err
}

// artifactStates adds the states that known chats need to show their results.
func (s *Store) artifactStates(ctx context.Context, known, need map[string]bool) error {
	err := s.View(ctx, func(tx *kv.Tx) error {
		for a, err := range s.Tables.artifacts.Scan(tx, kv.Range{}) {
			if err != nil && s.LeavesOut(err) {
				need[allStates] = true
				continue
			}
			if err != nil {
				return err
			}
			if known[a.ChatID] {
				need[a.ManifestID] = true
			}
		}
		return nil
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil
	}
	return err
}

// exportArtifacts reads the pages of a chat. One that can't be read is left out: its
// results are shown without it.
func (s *Store) exportArtifacts(ctx context.Context, chatID string) (out []chat.ExportedArtifact, err error) {
	var kept []keptArtifact
	err = s.View(ctx, func(tx *kv.Tx) error {
		kept, err = s.artifactsIn(tx, chatID)
		return err
	})
	for _, a := range kept {
		page, err := s.readArtifact(ctx, chatID, a.SHA256)
		if err != nil && ctx.Err() == nil {
			s.Options.Notice("a page of the chat's results is left out: " + sanitize.Line(err.Error()))
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, chat.ExportedArtifact{SHA256: a.SHA256, Data: page})
	}
	return out, err
}
