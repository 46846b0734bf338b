package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/record"
)

// InlineParts is how long a message's parts may be within its record.
// Longer ones are pieces of their own: a question may bring 64 MB of
// files, and a value of the store holds 16.
const InlineParts = 256 << 10

// PutMessage stores a message, with long parts in pieces of their own. Pieces
// come first, so that a message that is there is whole.
func (s *Store) PutMessage(w kv.Writer, m chat.Message) error {
	if cut, err := m.BoundRemarks(); err != nil {
		return fmt.Errorf("encode message %s: %w", m.ID, err)
	} else if len(cut) > 0 {
		s.Options.Notice(cutNotice("message "+m.ID+" of chat "+m.ChatID, cut))
	}
	parts, err := record.Marshal(m.Parts)
	if err != nil {
		return fmt.Errorf("encode message %s: %w", m.ID, err)
	}
	if len(parts) > InlineParts {
		m.Parts, m.Pieces = nil, 0
		for piece := range slices.Chunk(parts, chat.LargestPiece) {
			if err := s.Tables.Parts.Put(w, PieceKey(m, m.Pieces), piece); err != nil {
				return err
			}
			m.Pieces++
		}
	}
	return s.Tables.Messages.Put(w, &m)
}

// MessageKey is the key of a message, and of its link.
func MessageKey(chatID, id string) kv.Key { return kv.Str(chatID).Str(id) }

// PieceKey is the key of a part that is stored beside its message.
func PieceKey(m chat.Message, i int) kv.Key { return kv.Str(m.ChatID).Str(m.ID).Int(int64(i)) }

// Message reads one message.
func (s *Store) Message(tx *kv.Tx, chatID, id string) (*chat.Message, error) {
	return s.messageAt(tx, MessageKey(chatID, id))
}

func (s *Store) messageAt(tx *kv.Tx, key kv.Key) (*chat.Message, error) {
	m, err := s.Tables.Messages.Get(tx, key)
	if err != nil {
		return nil, err
	}
	return m, s.loadParts(tx, m)
}

// loadParts reads the parts of a message whose record doesn't hold them.
func (s *Store) loadParts(tx *kv.Tx, m *chat.Message) error {
	if m.Pieces == 0 {
		return nil
	}
	var parts []byte
	for i := range m.Pieces {
		err := s.Tables.Parts.Read(tx, PieceKey(*m, i), func(piece []byte) error {
			parts = append(parts, piece...)
			return nil
		})
		if errors.Is(err, kv.ErrNotFound) { // damage, and not "no such message"
			return fmt.Errorf("message %s of chat %s: %w: piece %d of %d is missing", m.ID, m.ChatID, errPieces, i+1, m.Pieces)
		}
		if err != nil {
			return err
		}
	}
	m.Pieces = 0
	if err := json.Unmarshal(parts, &m.Parts); err != nil {
		return fmt.Errorf("message %s of chat %s: %w: %w", m.ID, m.ChatID, errPieces, err)
	}
	return nil
}

// PathTo gives the messages from the root to one, following parents.
func (s *Store) PathTo(tx *kv.Tx, chatID, id string) ([]chat.Message, error) {
	path, _, err := s.wayTo(tx, chatID, id, WholeWay())
	return path, err
}

// Reach limits how much of the path to a message is read. The zero value reads what a
// request sends: all after the last message that has a summary.
type Reach struct {
	// Least messages, the last ones, are read whether or not one has a summary.
	Least int
	// Most is how many are read at most; 0 means no bound.
	Most int
}

// WholeWay is all messages from the root on.
func WholeWay() Reach { return Reach{Least: math.MaxInt} }

// wayTo returns the end of the way to a message, as far as r reaches, and the
// last message that has a summary where that ends it, without its parts. It
// reads no message before that.
func (s *Store) wayTo(tx *kv.Tx, chatID, id string, r Reach) (path []chat.Message, summed *chat.Message, err error) {
	seen := map[string]bool{}
	for id != "" && !seen[id] && (r.Most == 0 || len(path) < r.Most) {
		seen[id] = true // a loop of parents would be damage; don't follow it for ever
		m, err := s.Tables.Messages.Get(tx, MessageKey(chatID, id))
		if err == nil && m.Summary != nil && len(path) >= r.Least {
			m.Parts = nil
			summed = m
			break
		}
		if err == nil {
			err = s.loadParts(tx, m)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read message %s: %w", id, err)
		}
		path = append(path, *m)
		id = m.ParentID
	}
	slices.Reverse(path)
	return path, summed, nil
}

// IsImage reports whether models take images of a type.
func IsImage(mime string) bool {
	return mime == "image/png" || mime == "image/jpeg" || mime == "image/gif" || mime == "image/webp"
}
