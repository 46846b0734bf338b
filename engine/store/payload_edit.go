package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/kv"
)

// EditPayload stores the text that the user made of a payload's; d names the payload. The
// request of the next question contains it. The payload itself stays as it was shown.
func (s *Store) EditPayload(ctx context.Context, d Deciding, text string) (chat.ShownPayload, error) {
	if len(text) > chat.MaxEdit {
		return chat.ShownPayload{}, fault.New(fault.Usage, fmt.Sprintf("the text has %d KB; an edited payload may have %d", len(text)>>10, chat.MaxEdit>>10))
	}
	c, all, err := s.Payloads(ctx, d.Chat)
	if err != nil {
		return chat.ShownPayload{}, err
	}
	shown, err := PickPayload(c, all, d)
	if err != nil {
		return chat.ShownPayload{}, err
	}
	asked, err := s.lastAsked(ctx, c)
	if err != nil {
		return chat.ShownPayload{}, err
	}
	shown.Edit = &chat.PayloadEdit{Text: strings.ToValidUTF8(text, "\uFFFD"), At: s.Options.Now()}
	return shown, s.keepEdit(ctx, c.ID, shown, asked)
}

// lastAsked returns when the chat's last question was asked: an edit before it may have
// been sent to a model.
func (s *Store) lastAsked(ctx context.Context, chat chat.Chat) (time.Time, error) {
	live, err := s.isLive(ctx, chat.ID)
	if err != nil || live {
		return s.Options.Now(), err
	}
	end, err := s.ChatEnd(ctx, ChatRef{ID: chat.ID}, 2)
	var at time.Time
	for _, m := range end.Messages {
		if m.Role == provider.User && m.CreatedAt.After(at) {
			at = m.CreatedAt
		}
	}
	return at, err
}

// keepEdit writes the edit of a payload. It replaces the last one unless a question was
// asked since, whose request has to stay as it was sent.
func (s *Store) keepEdit(ctx context.Context, chatID string, shown chat.ShownPayload, asked time.Time) error {
	release, err := s.ShareData(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	err = s.KV.UpdateSync(ctx, func(tx *kv.Tx) error {
		if Exists, err := s.Tables.Chats.Has(tx, kv.Str(chatID)); err != nil || !Exists {
			return cmp.Or(err, kv.ErrNotFound)
		}
		rec, err := s.Tables.Payloads.Get(tx, kv.Str(chatID).Str(shown.ID))
		if errors.Is(err, kv.ErrNotFound) {
			rec, err = &chat.PayloadDecision{ChatID: chatID, PayloadID: shown.ID, MessageID: shown.MessageID, Type: shown.Type, Title: shown.Title, Toolset: shown.Toolset}, nil
		}
		if err != nil {
			return err
		}
		if last := rec.LastEdit(); last != nil && last.At.After(asked) {
			rec.Edits = rec.Edits[:len(rec.Edits)-1]
		}
		rec.Edits = append(rec.Edits, *shown.Edit)
		rec.Edits = rec.Edits[max(0, len(rec.Edits)-chat.MaxEdits):]
		return PutBounded(s.In(tx), s.Tables.Payloads, rec, "the edit of payload "+shown.ID)
	})
	switch {
	case errors.Is(err, kv.ErrNotFound):
		return fault.New(fault.NotFound, "the chat was removed meanwhile")
	case err != nil && ctx.Err() == nil:
		return s.StoreTrouble(err)
	}
	return err
}

// Undecide takes back a decision, and keeps the edits of its payload.
func (s *Store) Undecide(tx *kv.Tx, d chat.PayloadDecision) error {
	got, err := s.Tables.Payloads.Get(tx, kv.Str(d.ChatID).Str(d.PayloadID))
	switch {
	case errors.Is(err, kv.ErrNotFound):
		return nil
	case err != nil:
		return err
	case len(got.Edits) == 0:
		return s.Tables.Payloads.Delete(tx, kv.Str(d.ChatID).Str(d.PayloadID))
	}
	got.Decision, got.Remark, got.Reaction, got.TurnID, got.At = "", "", nil, "", time.Time{}
	return s.Tables.Payloads.Put(tx, got)
}
