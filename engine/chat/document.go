package chat

import (
	"slices"
)

const (
	// DocumentFormat names the format of a [Document], so that a file of
	// another kind is refused at once.
	DocumentFormat = "fettle-chat"
	// DocumentVersion rises when a field of a Document is removed or changes its
	// meaning.
	DocumentVersion = 1
)

// Document is a whole chat outside of the store: its JSON is what `fettle
// chats export -o json` writes and `chats import` reads. It has all branches;
// images are base64. It has neither events nor approvals nor files of the
// workspace, and no key or header, which no record holds.
type Document struct {
	SchemaVersion int    `json:"schema_version"`
	Format        string `json:"format"`
	Chat          Chat   `json:"chat"`
	// Messages are all of the tree, in the order of their ids, which is that
	// of time.
	Messages []Message `json:"messages"`
	// ToolCalls are the records of the calls whose turns were the chat's own,
	// in the order in which they began.
	ToolCalls []ToolCall `json:"tool_calls"`
	// Payloads are what the person decided about payloads in the messages.
	Payloads []PayloadDecision `json:"payloads,omitempty"`
	// Artifacts are the pages of toolsets that its results are shown by.
	Artifacts []ExportedArtifact `json:"artifacts,omitempty"`
}

// Path gives the messages from the root to the active leaf.
func (d *Document) Path() []Message {
	byID := make(map[string]int, len(d.Messages))
	for i, m := range d.Messages {
		byID[m.ID] = i
	}
	var path []Message
	for id := d.Chat.ActiveLeaf; id != "" && len(path) < len(d.Messages); {
		i, ok := byID[id]
		if !ok {
			break
		}
		path = append(path, d.Messages[i])
		id = d.Messages[i].ParentID
	}
	slices.Reverse(path)
	return path
}

// Add appends messages.
func (d *Document) Add(messages []*Message) {
	for _, m := range messages {
		d.Messages = append(d.Messages, *m)
	}
}
