package store

import (
	"context"
	"errors"
	"time"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/kv"
)

// thread is a name that a client has for a conversation, such as document 003's
// session_id, and the chat that it means.
type thread struct {
	Name   string    `json:"name"`
	ChatID string    `json:"chat_id"`
	At     time.Time `json:"named_at"`
}

// MaxThreadName bounds the name of a thread, in bytes: clients make UUIDs.
const MaxThreadName = 256

func threadsTable() *kv.Table[thread] {
	return kv.NewTable("threads", func(t *thread) kv.Key { return kv.Str(t.Name) },
		kv.On("chat", func(t *thread) kv.Key { return kv.Str(t.ChatID) }))
}

// ThreadChat gives the id of the chat that a client's name means, also where its
// first turn still runs. ok is false for a name that means none, or one that was
// deleted.
func (s *Store) ThreadChat(ctx context.Context, name string) (chatID string, ok bool, err error) {
	if err := checkThread(name); err != nil {
		return "", false, err
	}
	var t *thread
	err = s.View(ctx, func(tx *kv.Tx) (err error) {
		t, err = s.Tables.Threads.Get(tx, kv.Str(name))
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	_, err = s.FindChat(ctx, ChatRef{ID: t.ChatID})
	switch {
	case err == nil || fault.CodeOf(err) == fault.Busy:
		return t.ChatID, true, nil
	case fault.CodeOf(err) == fault.NotFound:
		return "", false, nil
	}
	return "", false, err
}

// NameThread has a client's name mean a chat from now on, whatever it meant
// before. It is kept for as long as the chat is.
func (s *Store) NameThread(ctx context.Context, name, chatID string) error {
	if err := checkThread(name); err != nil {
		return err
	}
	release, err := s.ShareData(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	err = s.KV.UpdateSync(ctx, func(tx *kv.Tx) error {
		return PutBounded(s.In(tx), s.Tables.Threads, &thread{Name: name, ChatID: chatID, At: s.Options.Now()}, "conversation "+name)
	})
	if err != nil {
		return s.StoreTrouble(err)
	}
	return nil
}

func checkThread(name string) error {
	if name == "" || len(name) > MaxThreadName {
		return fault.New(fault.Usage, "the id of a conversation is empty or too long")
	}
	return nil
}

// dropThreads forgets the names of a chat.
func (s *Store) dropThreads(tx *kv.Tx, chatID string) error {
	var names []string
	for t, err := range Legible(s, s.Tables.Threads.ByIndex(tx, "chat", kv.Str(chatID), kv.Range{})) {
		if err != nil {
			return err
		}
		names = append(names, t.Name)
	}
	for _, name := range names {
		if err := s.Tables.Threads.Delete(tx, kv.Str(name)); err != nil {
			return err
		}
	}
	return nil
}
