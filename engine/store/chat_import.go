package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/search"
	"github.com/fettle-cli/fettle/internal/kv"
)

// Existing says what becomes of a chat that is there already.
type Existing int

// What to do: nothing at all is imported, or only that one isn't, or it gets an
// id of its own and is there twice.
const (
	RefuseExisting Existing = iota
	SkipExisting
	CopyExisting
)

// Imported is what became of one document.
type Imported struct {
	Chat chat.Chat // as it is here now
	// Skipped says that the chat was there already and is left as it is.
	Skipped bool
}

// ImportRequest selects the chats that are imported.
type ImportRequest struct {
	// Documents yields the chats that a [chat.DocumentReader] has read. It is run
	// twice, and the second time yields the same: the first one checks all of
	// them, so that a bad document leaves nothing behind.
	Documents iter.Seq2[*chat.Document, error]
	There     Existing
	// Each is called for each document in their order, once it is kept or
	// skipped. Its error ends the import.
	Each func(Imported) error
}

// ImportChats imports chats, each with a new number. They keep their ids, so that the
// same file is recognized again. Nothing is imported if a document is bad or is
// refused. The chats are imported group by group, each group whole or not at all, so
// that memory is bounded for every size of file; if an import is stopped, another one
// with SkipExisting imports the rest. The usage in the chats is not counted here.
func (s *Store) ImportChats(ctx context.Context, req ImportRequest) error {
	if _, err := s.Fold(ctx, FoldAll); err != nil {
		return err
	}
	defer s.KV.KeepOpen()()
	if err := s.checkImport(ctx, req); err != nil {
		return err
	}
	r := &importing{e: s, req: req, taken: map[string]bool{}}
	for d, err := range req.Documents {
		if err == nil {
			err = r.add(ctx, d)
		}
		if err != nil {
			return err
		}
	}
	return r.write(ctx)
}

// checkImport reads all documents and refuses those that exist already or occur twice.
func (s *Store) checkImport(ctx context.Context, req ImportRequest) error {
	taken := map[string]bool{}
	for d, err := range req.Documents {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if req.There == CopyExisting || d.Chat.ID == "" {
			continue
		}
		known, err := s.knownChat(ctx, d.Chat.ID)
		switch {
		case err != nil:
			return err
		case known != nil && req.There == RefuseExisting:
			return existsFault(d, known)
		case known == nil && taken[d.Chat.ID]:
			return fault.New(fault.Usage, fmt.Sprintf("the chat %q is in the files twice", d.Chat.Title), fault.Try(fault.ImportCopies).That("takes both"))
		}
		taken[d.Chat.ID] = true
	}
	return nil
}

// importing is an import while it writes.
type importing struct {
	e     *Store
	req   ImportRequest
	taken map[string]bool // ids of the documents so far
	// waiting are the documents since the last write, and size about the bytes
	// of their messages.
	waiting []arrival
	size    int
}

// arrival is a document on its way: in is nil where it is skipped.
type arrival struct {
	done Imported
	in   *Incoming
}

// An import collects importRun chats, or importBytes of messages if that is fewer, and
// adds them to the search index together. A value of a word covers the chats of one block
// of the index, so it is written about once for all of them.
const (
	importRun   = search.BlockSize
	importBytes = 16 << 20
)

func (r *importing) add(ctx context.Context, d *chat.Document) error {
	known, err := r.e.knownChat(ctx, d.Chat.ID)
	if err != nil {
		return err
	}
	if known != nil && r.req.There == SkipExisting {
		r.waiting = append(r.waiting, arrival{done: Imported{Chat: *known, Skipped: true}})
	} else {
		in, err := r.e.IncomingOf(ctx, d, d.Chat.ID == "" || known != nil || r.taken[d.Chat.ID])
		if err != nil {
			return err
		}
		r.waiting = append(r.waiting, arrival{in: in})
		for i := range d.Messages {
			r.size += sizeOf(&d.Messages[i])
		}
	}
	r.taken[d.Chat.ID] = d.Chat.ID != ""
	if len(r.waiting) < importRun && r.size < importBytes {
		return nil
	}
	return r.write(ctx)
}

// write imports the chats that wait, group by group.
func (r *importing) write(ctx context.Context) error {
	release, err := r.e.ShareData(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	if in := incomingIn(r.waiting); len(in) > 0 {
		if err := r.e.announce(ctx, in); err != nil {
			return err
		}
	}
	for group := range slices.Chunk(r.waiting, InsertGroup) {
		if err := r.writeGroup(ctx, group); err != nil {
			return err
		}
	}
	r.waiting, r.size = nil, 0
	return nil
}

// writeGroup imports the chats of a group and reports each arrival.
func (r *importing) writeGroup(ctx context.Context, group []arrival) error {
	if in := incomingIn(group); len(in) > 0 {
		if err := r.e.insertGroup(ctx, in); err != nil {
			return err
		}
	}
	for _, a := range group {
		if a.in != nil {
			a.done.Chat = a.in.Chat
		}
		if err := r.req.Each(a.done); err != nil {
			return err
		}
	}
	return nil
}

// incomingIn returns the chats of arrivals that are not skipped.
func incomingIn(arrivals []arrival) (in []*Incoming) {
	for _, a := range arrivals {
		if a.in != nil {
			in = append(in, a.in)
		}
	}
	return in
}

// knownChat is the chat with an id, deleted ones included; nil if there is none.
func (s *Store) knownChat(ctx context.Context, id string) (chat *chat.Chat, err error) {
	if id == "" {
		return nil, nil
	}
	err = s.View(ctx, func(tx *kv.Tx) error {
		chat, err = s.Tables.Chats.Get(tx, kv.Str(id))
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, nil
	}
	return chat, err
}

func existsFault(d *chat.Document, known *chat.Chat) error {
	if known.DeletedAt != nil {
		return fault.New(fault.Usage, fmt.Sprintf("%q is here already: it was chat %d and is deleted", d.Chat.Title, known.Number),
			fault.Try(fault.RestoreChat, fmt.Sprint(known.Number)), fault.Try(fault.ImportCopies).That("makes another one"))
	}
	return fault.New(fault.Usage, fmt.Sprintf("%q is here already, as chat %d; nothing was imported", d.Chat.Title, known.Number),
		fault.Try(fault.SkipExisting).That("leaves out what is here"), fault.Try(fault.ImportCopies).That("makes another one"))
}

// IncomingOf makes a chat of a document. Calls always get ids of their own:
// they are keys beside those of all other chats.
func (s *Store) IncomingOf(ctx context.Context, d *chat.Document, fresh bool) (*Incoming, error) {
	c := &Incoming{Chat: d.Chat, messages: d.Messages}
	if fresh {
		c.Chat.ID = s.NewID()
	}
	c.Chat.Approvals = "" // a file from elsewhere does not decide which calls run without an approval
	if c.Chat.CreatedAt.IsZero() {
		c.Chat.CreatedAt = s.Options.Now()
	}
	if c.Chat.UpdatedAt.Before(c.Chat.CreatedAt) {
		c.Chat.UpdatedAt = c.Chat.CreatedAt
	}
	if from := c.Chat.ForkedFrom; from != nil {
		known, err := s.knownChat(ctx, from.ChatID)
		if err != nil {
			return nil, err
		}
		origin := chat.Origin{ChatID: from.ChatID, MessageID: from.MessageID} // its number was another store's
		if known != nil {
			origin.Number = known.Number
		}
		c.Chat.ForkedFrom = &origin
	}
	for _, call := range d.ToolCalls {
		call.ChatID = c.Chat.ID
		c.calls = append(c.calls, call)
	}
	renamed(c.calls, func(string) string { return s.NewID() })
	c.decided = d.Payloads
	pages := make([][]byte, len(d.Artifacts))
	for i, a := range d.Artifacts {
		pages[i] = a.Data
	}
	var err error
	c.artifacts, err = s.StoreArtifacts(ctx, c.Chat.ID, pages)
	return c, err
}
