package store

// TurnID names a turn; a ULID.
type TurnID string

// ChatRef says which chat a turn belongs to. At most one of Last, Number and
// ID is set; none begins a chat.
type ChatRef struct {
	Last   bool   // the chat of the last accepted turn
	Number int64  // the number for people
	ID     string // the chat's id
	// New is an id of [Store.NewChatID] for the chat that begins.
	New string
	// Parent is the message to go on from; empty is the chat's active leaf.
	Parent string
	// Fork makes a new chat that begins with the messages up to Parent
	// (or the leaf) of the chat named.
	Fork bool
	// Instead is a question of the chat, or the answer to one: the turn goes on
	// from where that was asked, and the chat has another branch. With no parts
	// in the request the question itself is asked again. At names it by its
	// place on the active branch, from 1; -1 is the last.
	Instead string
	At      int
}

// Beside tells whether the turn takes the place of another.
func (r ChatRef) Beside() bool { return r.Instead != "" || r.At != 0 }

// IsNew reports whether the turn begins a chat.
func (r ChatRef) IsNew() bool { return !r.Last && r.Number == 0 && r.ID == "" }
