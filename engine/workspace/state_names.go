package workspace

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
)

// minPart is how much of an id names it.
const minPart = 4

// state is State without the fold.
func (w *Folders) state(ctx context.Context, chat chat.Chat, name string) (*cas.Manifest, error) {
	if chat.ActiveManifest == "" {
		return nil, noFiles(chat)
	}
	name, before := strings.CutSuffix(strings.TrimSpace(name), "^")
	m, err := w.stateNamed(ctx, chat, name)
	if err != nil || !before {
		return m, err
	}
	return w.ancestor(ctx, chat, m, 1)
}

func (w *Folders) stateNamed(ctx context.Context, chat chat.Chat, name string) (*cas.Manifest, error) {
	if back, ok := strings.CutPrefix(name, "@"); ok {
		n := 0
		if back != "" {
			var err error
			if n, err = strconv.Atoi(back); err != nil || n > 0 || n < -store.MaxHistory {
				return nil, fault.New(fault.Usage, "no state is called "+name+": @ is the active one, @-1 the one before it",
					logOf(chat.Number))
			}
		}
		m, err := w.Manifest(ctx, chat.ActiveManifest)
		if err != nil {
			return nil, err
		}
		if m == nil {
			return nil, noState(chat, name)
		}
		return w.ancestor(ctx, chat, m, -n)
	}
	id, err := w.stateID(ctx, chat, name)
	if err != nil {
		return nil, err
	}
	m, err := w.Manifest(ctx, id)
	if err == nil && m == nil {
		err = noState(chat, name)
	}
	return m, err
}

func noState(chat chat.Chat, name string) error {
	return fault.New(fault.NotFound, fmt.Sprintf("chat %d has no state %s", chat.Number, name),
		fault.Try(fault.ListSnapshots, fmt.Sprint(chat.Number)).That("lists them"))
}

// ancestor goes n states back.
func (w *Folders) ancestor(ctx context.Context, chat chat.Chat, m *cas.Manifest, n int) (*cas.Manifest, error) {
	for i := range n {
		if m.ParentID == "" {
			return nil, fault.New(fault.NotFound, fmt.Sprintf("chat %d has only %s before that one", chat.Number, fault.Plural(i, "state")),
				fault.Try(fault.ListSnapshots, fmt.Sprint(chat.Number)).That("lists them"))
		}
		before, err := w.Manifest(ctx, m.ParentID)
		if err != nil {
			return nil, err
		}
		if before == nil {
			return nil, noState(chat, m.ParentID)
		}
		m = before
	}
	return m, nil
}

// stateID finds the manifest of an id, or of a part of one that stands at its
// beginning or its end: of a manifest, a message or a tool call.
func (w *Folders) stateID(ctx context.Context, chat chat.Chat, name string) (string, error) {
	if len(name) < minPart {
		return "", noState(chat, name)
	}
	part := strings.ToUpper(name)
	found := map[string]string{} // id → manifest
	take := func(id, manifest string) {
		if manifest != "" && (strings.HasPrefix(strings.ToUpper(id), part) || strings.HasSuffix(strings.ToUpper(id), part)) {
			found[strings.ToUpper(id)] = manifest
		}
	}
	all, err := w.Snapshots.Manifests(ctx, chat.ID)
	if err != nil {
		return "", store.StoreFault("list the states of the workspace", err)
	}
	for _, m := range all {
		take(m.ID, m.ID)
	}
	err = w.View(ctx, func(tx *kv.Tx) error {
		for c, err := range store.Legible(w.Store, w.Tables.Calls.ByIndex(tx, "chat", kv.Str(chat.ID), kv.Range{})) {
			if err != nil {
				return err
			}
			take(c.ID, c.PostManifestID)
			take(c.ToolUseID, c.PostManifestID)
		}
		for m, err := range store.Legible(w.Store, w.Tables.Messages.Scan(tx, kv.Range{Prefix: kv.Str(chat.ID)})) {
			if err != nil {
				return err
			}
			take(m.ID, m.ManifestID)
		}
		return nil
	})
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return "", store.StoreFault("look for the state "+name, err)
	}
	if id, ok := found[part]; ok {
		return id, nil
	}
	states := map[string]bool{}
	for _, id := range found {
		states[id] = true
	}
	switch len(states) {
	case 0:
		return "", noState(chat, name)
	case 1:
		for id := range states {
			return id, nil
		}
	}
	return "", fault.New(fault.Usage, fmt.Sprintf("%s names %d states of chat %d", name, len(states), chat.Number),
		fault.Advise("give more of the id"), logOf(chat.Number))
}
