package store

// BranchMove is the record of a folder that is given the files of another branch
// before the chat is there: before a turn is accepted, or a switch noted. It is
// in the store before the first file changes. A process that is killed in
// between leaves it, and who next works with the folder takes the move back: else
// the other branch's files would count as somebody's change to this one.
type BranchMove struct {
	ChatID string `json:"chat_id"`
	// MessageID is the answer of the turn that the folder is moved for; with it
	// in the store the chat is there. A switch removes the record as it is noted.
	MessageID string `json:"message_id,omitempty"`
	// Active is the state that the chat was at. Found is the state in which the
	// folder was, if it differed, Moved the one that it was given: the ids that
	// these get, if there are such.
	Active string `json:"active"`
	Found  string `json:"found"`
	Moved  string `json:"moved"`
}
