package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/render"
)

const (
	// ArtifactsID is the chat id in the states of stored pages. No
	// chat has that id.
	ArtifactsID = "artifacts"
	// artifactFile is the only file of such a state.
	artifactFile = "page.html"
	// artifactField is the field of a plan's config that has the digest of its page.
	artifactField = "artifact_sha256"
)

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

// withArtifact returns a plan that names its page by digest, with the page in the store,
// so that a later version of the toolset changes no earlier result. Where the page can't
// be stored the plan stays as it is, and a notice has the reason.
func (t *turn) withArtifact(p render.Plan) render.Plan {
	if !hasPage(p) || t.req.Ephemeral {
		return p
	}
	var config map[string]json.RawMessage
	var file string
	if json.Unmarshal(p.Config, &config) != nil || json.Unmarshal(config["artifact"], &file) != nil || file == "" {
		return p
	}
	digest, err := t.eng.keepArtifact(t.ctx, t.accept.Chat.ID, file)
	if err == nil {
		config[artifactField], err = record.Marshal(digest)
	}
	if err == nil {
		p.Config, err = record.Marshal(config)
	}
	if err != nil && t.ctx.Err() == nil {
		t.eng.o.Notice("the page of a result depends on its toolset: " + sanitize.Line(err.Error()))
	}
	return p
}

// hasPage reports whether a plan's renderer is a page.
func hasPage(p render.Plan) bool {
	return (p.Renderer == toolset.RenderHTML || p.Renderer == toolset.RenderApp) && p.Error == nil
}

// keepArtifact stores a page of an installed toolset for a chat, once, and returns the
// page's digest.
func (s *Store) keepArtifact(ctx context.Context, chatID, file string) (digest string, err error) {
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
	release, err := s.shareData(ctx, nil)
	if err != nil {
		return "", err
	}
	defer release()
	kept, err := s.storeArtifacts(ctx, chatID, [][]byte{page})
	if err != nil {
		return "", err
	}
	return digest, s.store.UpdateSync(ctx, func(tx *kv.Tx) error { return s.putArtifacts(tx, chatID, kept) })
}

// storeArtifacts stores pages and returns the records that keep them for a chat. Until
// these are written, the pages are kept as the states of a young chat are.
func (s *Store) storeArtifacts(ctx context.Context, chatID string, pages [][]byte) ([]keptArtifact, error) {
	if len(pages) == 0 {
		return nil, nil
	}
	release, err := s.shareData(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer release()
	states, err := s.states.KeepFiles(ctx, cas.About{ChatID: ArtifactsID, Source: cas.ToolRun}, artifactFile, pages, s.o.States)
	if err != nil {
		return nil, fmt.Errorf("store a page: %w", err)
	}
	out := make([]keptArtifact, len(pages))
	for i, page := range pages {
		out[i] = keptArtifact{ChatID: chatID, SHA256: cas.Sum(page).String(), ManifestID: states[i].ID}
	}
	return out, nil
}

// putArtifacts writes the records for a chat.
func (s *Store) putArtifacts(w kv.Writer, chatID string, all []keptArtifact) error {
	for _, a := range all {
		a.ChatID = chatID
		if err := s.tables.artifacts.Put(w, &a); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) keptArtifactOf(ctx context.Context, chatID, digest string) (kept *keptArtifact, err error) {
	err = s.view(ctx, func(tx *kv.Tx) error {
		kept, err = s.tables.artifacts.Get(tx, kv.Str(chatID).Str(digest))
		return err
	})
	return kept, err
}

// artifactsIn reads the records of a chat.
func (s *Store) artifactsIn(tx *kv.Tx, chatID string) (out []keptArtifact, err error) {
	for a, err := range legible(s, s.tables.artifacts.Scan(tx, kv.Range{Prefix: kv.Str(chatID)})) {
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
	m, err := s.states.Manifest(ctx, kept.ManifestID)
	if err != nil {
		return nil, err
	}
	entry, err := s.states.Lookup(ctx, m.Root, artifactFile)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = s.states.Read(ctx, &b, entry)
	return b.Bytes(), err
}

// artifactStates adds the states that known chats need to show their results.
func (s *Store) artifactStates(ctx context.Context, known, need map[string]bool) error {
	err := s.view(ctx, func(tx *kv.Tx) error {
		for a, err := range s.tables.artifacts.Scan(tx, kv.Range{}) {
			if err != nil && s.leavesOut(err) {
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
	err = s.view(ctx, func(tx *kv.Tx) error {
		kept, err = s.artifactsIn(tx, chatID)
		return err
	})
	for _, a := range kept {
		page, err := s.readArtifact(ctx, chatID, a.SHA256)
		if err != nil && ctx.Err() == nil {
			s.o.Notice("a page of the chat's results is left out: " + sanitize.Line(err.Error()))
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, chat.ExportedArtifact{SHA256: a.SHA256, Data: page})
	}
	return out, err
}
