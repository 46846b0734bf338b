package chat

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// foreignMessage is one message of another program's export.
type foreignMessage struct {
	id, parent string
	role       provider.Role
	parts      []provider.Part
	model      string
	at         time.Time
}

// foreignChat is a chat of another program's export.
type foreignChat struct {
	program, id   string
	title, system string
	at, updated   time.Time
	messages      []foreignMessage
	leaf          string // the message that the chat continues from; empty is the last one
	left          map[string]int
}

// leftOut counts something that fettle's chats don't have.
func (c *foreignChat) leftOut(what string) {
	if c.left == nil {
		c.left = map[string]int{}
	}
	c.left[what]++
}

// say appends a text to parts, if it has any words.
func say(parts []provider.Part, kind provider.PartKind, text string) []provider.Part {
	if strings.TrimSpace(text) == "" {
		return parts
	}
	return append(parts, provider.Part{Kind: kind, Text: text})
}

// foreignID makes an id of a thing of another program: the same one for the same
// thing, so that a file that is imported twice is known.
func foreignID(at time.Time, names ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(names, "\x00")))
	id := ulid.ULID(sum[:16])
	ms := uint64(max(at.UnixMilli(), 0))
	if err := id.SetTime(min(ms, ulid.MaxTime())); err != nil {
		return ulid.ULID(sum[:16]).String()
	}
	return id.String()
}

// document makes the chat one of fettle's. Messages without parts are left out;
// what follows them then follows the one before. Messages of one role that
// follow each other become one.
func (c *foreignChat) document() (*Document, []string, error) {
	if c.at.IsZero() && len(c.messages) > 0 {
		c.at = c.messages[0].at
	}
	if c.updated.IsZero() {
		c.updated = c.at
	}
	doc := &Document{SchemaVersion: DocumentVersion, Format: DocumentFormat}
	doc.Chat = Chat{
		ID: foreignID(c.at, c.program, c.id), Title: sanitize.Shorten(sanitize.Line(c.title), TitleLength), System: c.system,
		CreatedAt: c.at, UpdatedAt: c.updated,
	}
	places, joined := c.place(doc)
	if len(doc.Messages) == 0 {
		return nil, nil, errNoForeignMessages
	}
	doc.Chat.ActiveLeaf = doc.Messages[len(doc.Messages)-1].ID
	if i, ok := places[joined[c.leaf]]; ok {
		doc.Chat.ActiveLeaf = doc.Messages[i].ID
	}
	slices.SortStableFunc(doc.Messages, func(a, b Message) int { return strings.Compare(a.ID, b.ID) })
	var notes []string
	for _, what := range slices.Sorted(maps.Keys(c.left)) {
		notes = append(notes, fmt.Sprintf("%q: left out, %s", Short(doc.Chat.Title), fault.Plural(c.left[what], what)))
	}
	if err := doc.check(); err != nil {
		return nil, nil, err
	}
	return doc, append(notes, doc.settle()...), nil
}

// place puts the messages into the document, parents first. places are those of
// the document's messages by the foreign id that they began with, and joined the
// foreign id that each message went to.
func (c *foreignChat) place(doc *Document) (places map[string]int, joined map[string]string) {
	places, joined = map[string]int{}, map[string]string{}
	children := map[string]int{}
	for _, m := range c.messages {
		parent := joined[m.parent]
		at, known := places[parent]
		switch {
		case len(m.parts) == 0:
			joined[m.id] = parent
			continue
		case known && doc.Messages[at].Role == m.role && children[parent] == 0:
			doc.Messages[at].Parts = append(doc.Messages[at].Parts, m.parts...)
			joined[m.id] = parent
			continue
		}
		children[parent]++
		own := Message{Role: m.role, Parts: m.parts, Status: Answered, Model: m.model, CreatedAt: m.at}
		if known {
			before := doc.Messages[at]
			own.ParentID, own.TurnID = before.ID, before.TurnID
			if !own.CreatedAt.After(before.CreatedAt) {
				own.CreatedAt = before.CreatedAt.Add(time.Millisecond)
			}
		} else if own.CreatedAt.IsZero() {
			own.CreatedAt = c.at
		}
		own.ID, own.ChatID = foreignID(own.CreatedAt, c.program, c.id, m.id), doc.Chat.ID
		if m.role == provider.User || own.TurnID == "" {
			own.TurnID = foreignID(own.CreatedAt, c.program, c.id, m.id, "turn")
		}
		places[m.id], joined[m.id] = len(doc.Messages), m.id
		doc.Messages = append(doc.Messages, own)
	}
	return places, joined
}

var errNoForeignMessages = errors.New("it has no messages")

// foreignDocuments reads a JSON value as the export of another program: a list
// of chats, one chat, or the log of the command llm. ok is false where it is
// none that is known.
func foreignDocuments(raw []byte) (chats []*foreignChat, ok bool, err error) {
	var list []json.RawMessage
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '{' {
		list = []json.RawMessage{raw}
	} else if json.Unmarshal(raw, &list) != nil {
		return nil, false, nil
	}
	logs := map[string]*foreignChat{}
	for i, entry := range list {
		var head struct {
			Mapping      json.RawMessage `json:"mapping"`
			ChatMessages json.RawMessage `json:"chat_messages"`
			Prompt       json.RawMessage `json:"prompt"`
			Response     json.RawMessage `json:"response"`
			Model        json.RawMessage `json:"model"`
		}
		if json.Unmarshal(entry, &head) != nil {
			return nil, false, nil
		}
		var c *foreignChat
		switch {
		case len(head.Mapping) > 0:
			c, err = readChatGPT(entry)
		case len(head.ChatMessages) > 0:
			c, err = readClaude(entry)
		case len(head.Response) > 0 && len(head.Prompt) > 0 && len(head.Model) > 0:
			c, err = readLLM(entry, logs)
		default:
			return nil, false, nil
		}
		if err != nil {
			return nil, true, fmt.Errorf("entry %d: %w", i+1, jsonError(err, lineIn(entry)))
		}
		if c != nil {
			chats = append(chats, c)
		}
	}
	for _, c := range logs {
		slices.SortStableFunc(c.messages, func(a, b foreignMessage) int { return a.at.Compare(b.at) })
		for i := range c.messages[1:] {
			c.messages[i+1].parent = c.messages[i].id
		}
	}
	return chats, len(list) > 0, nil
}
