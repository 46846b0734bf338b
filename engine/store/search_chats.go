package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/search"
)

// SearchChats asks for the chats in which all of a query occurs, the last used
// first.
type SearchChats struct {
	Query search.Query
	// Model leaves only chats in which a model was asked, or answered, whose
	// name is like the pattern: * stands for any characters, ? for one. A
	// pattern without a slash is of the name without its provider, too.
	Model string
	// Since and Until leave only chats that were used last at or after the
	// one, and before the other; the zero time is no bound.
	Since, Until time.Time
	Limit        int   // 0 is all
	After        int64 // a page's Next
	// Width is how many characters an excerpt has at most; 0 is DefaultWidth.
	Width int
	// Indexing is told, while the chats of an older fettle are indexed, how
	// many of them are; nil says nothing.
	Indexing func(done, total int)
}

// DefaultWidth is the length of an excerpt where none was asked for.
const DefaultWidth = 160

// FoundPage is one page of what was found; Next is 0 at the end.
type FoundPage struct {
	Chats []FoundChat
	Next  int64
}

// FoundChat is a chat in which the query occurs.
type FoundChat struct {
	Chat chat.Chat
	// TitleAt are the places of the query in the title, in characters.
	TitleAt [][2]int
	// Matches are some messages with it, the newest first; those in which
	// more of the query occurs than in later ones are always among them.
	Matches []Match
}

// Match is a message in which something of the query occurs.
type Match struct {
	MessageID string
	Role      provider.Role
	Model     string // of an answer
	CreatedAt time.Time
	// In is the kind of part: text, file, image or tool_call.
	In provider.PartKind
	// Excerpt is one clean line of it, and At the places of the query in it,
	// in characters.
	Excerpt string
	At      [][2]int
}

// wholeName makes the slash an ordinary character, which * stands for too, and
// forgets case.
func wholeName(s string) string { return strings.ToLower(strings.ReplaceAll(s, "/", "\x00")) }

func likeModel(pattern, model string) bool {
	names := []string{model}
	if _, name, ok := strings.Cut(model, "/"); ok && !strings.Contains(pattern, "/") {
		names = append(names, name)
	}
	return slices.ContainsFunc(names, func(name string) bool {
		ok, err := doublestar.Match(wholeName(pattern), wholeName(name))
		return ok && err == nil
	})
}

// SearchChats finds chats. It reads the sets of the query's words and the
// chats that it gives, so that it takes no longer where there are many.
func (s *Store) SearchChats(ctx context.Context, q SearchChats) (FoundPage, error) {
	if _, err := s.Fold(ctx, FoldAll); err != nil {
		return FoundPage{}, err
	}
	if err := s.indexOldChats(ctx, q.Indexing); err != nil {
		return FoundPage{}, err
	}
	if q.Width <= 0 {
		q.Width = DefaultWidth
	}
	candidates, err := s.candidates(ctx, q)
	if err != nil && damagedIndex(err) {
		if err = s.rebuildIndex(ctx, q.Indexing); err == nil {
			candidates, err = s.candidates(ctx, q)
		}
	}
	if err != nil {
		return FoundPage{}, err
	}
	var page FoundPage
	last := int64(0)
	for _, c := range candidates {
		found, ok, err := s.confirm(ctx, q, c.number)
		if err != nil && s.LeavesOut(err) {
			continue
		}
		if err != nil {
			return FoundPage{}, err
		}
		if !ok {
			continue
		}
		if q.Limit > 0 && len(page.Chats) == q.Limit {
			page.Next = last
			break
		}
		page.Chats, last = append(page.Chats, found), c.turn
	}
	return page, nil
}

// CheckModelPattern returns the error of a pattern that is not one for SearchChats.Model.
func CheckModelPattern(pattern string) error {
	if !doublestar.ValidatePattern(wholeName(pattern)) {
		return doublestar.ErrBadPattern
	}
	return nil
}
