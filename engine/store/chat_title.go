package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// maxNamesakes is how many chats a fault names that a title could mean.
const maxNamesakes = 5

// RenameChat gives a chat another title, which is made one line and cut as a
// first question is. A turn that is live meanwhile leaves it as it is.
func (s *Store) RenameChat(ctx context.Context, ref ChatRef, title string) (chat.Chat, error) {
	title = chat.CleanTitle(title)
	if title == "" {
		return chat.Chat{}, fault.New(fault.Usage, "a title can't be empty")
	}
	return s.changeChat(ctx, ref, func(tx *kv.Tx, chat *chat.Chat) error { return s.setTitle(tx, chat, title) })
}

// changeChat changes and stores the record of a chat that can be used, and returns it.
func (s *Store) changeChat(ctx context.Context, ref ChatRef, change func(*kv.Tx, *chat.Chat) error) (chat.Chat, error) {
	release, err := s.ShareData(ctx, nil)
	if err != nil {
		return chat.Chat{}, err
	}
	defer release()
	c, err := s.Find(ctx, ref, nil)
	if err != nil {
		return chat.Chat{}, err
	}
	err = s.KV.UpdateSync(ctx, func(tx *kv.Tx) error {
		now, err := s.Tables.Chats.Get(tx, kv.Str(c.ID))
		if err != nil {
			return err
		}
		if err := now.Usable(); err != nil {
			return err
		}
		c = *now
		return change(tx, &c)
	})
	if errors.Is(err, kv.ErrNotFound) {
		return chat.Chat{}, fault.New(fault.NotFound, fmt.Sprintf("no chat %d", c.Number), fault.Try(fault.ListChats))
	}
	if err != nil {
		return chat.Chat{}, s.StoreTrouble(err)
	}
	return c, nil
}

// setTitle is the only place where the title of a chat that exists changes.
func (s *Store) setTitle(tx *kv.Tx, chat *chat.Chat, title string) error {
	if err := s.Retitle(tx, chat, title); err != nil {
		return err
	}
	chat.Title = title
	return PutBounded(s.In(tx), s.Tables.Chats, chat, chat.Called())
}

// ChatByTitle finds the one chat that a title means: the one that has it, else
// the only one that has it as a part, upper and lower case being the same.
func (s *Store) ChatByTitle(ctx context.Context, title string) (chat.Chat, error) {
	if _, err := s.Fold(ctx, FoldAll); err != nil {
		return chat.Chat{}, err
	}
	want := strings.ToLower(strings.TrimSpace(title))
	var whole, part []chat.Chat
	err := s.View(ctx, func(tx *kv.Tx) error {
		for c, err := range Legible(s, s.Tables.Chats.ByIndex(tx, "recent", nil, kv.Range{Reverse: true})) {
			if err != nil {
				return err
			}
			switch has := strings.ToLower(c.Title); {
			case has == want:
				whole = append(whole, *c)
			case strings.Contains(has, want) && len(part) <= maxNamesakes:
				part = append(part, *c)
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return chat.Chat{}, err
	}
	found := whole
	if len(found) == 0 {
		found = part
	}
	if len(found) == 1 && want != "" {
		return found[0], nil
	}
	return chat.Chat{}, titleFault(title, found)
}

func titleFault(title string, found []chat.Chat) error {
	title = sanitize.Shorten(sanitize.Line(title), chat.TitleLength)
	if len(found) == 0 || title == "" {
		return fault.New(fault.NotFound, fmt.Sprintf("no chat has the number, the id or the title %q", title), fault.Try(fault.ListChats))
	}
	f := fault.New(fault.Usage, fmt.Sprintf("more than one chat is called %q: say which by its number", title))
	for _, c := range found[:min(len(found), maxNamesakes)] {
		f.Detail = append(f.Detail, fmt.Sprintf("%d  %s", c.Number, c.Title))
	}
	if len(found) > maxNamesakes {
		f.Detail = append(f.Detail, "and more")
	}
	return f
}
