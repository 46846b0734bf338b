package store

import (
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/internal/kv"
)

// eventsKept is how long a turn's events can be followed after it was folded;
// its messages stay for good.
const eventsKept = 30 * 24 * time.Hour

// segmentSize bounds the piece of a turn's log that is one value in the store.
const segmentSize = 64 << 10

// tables are the record types of the store that the engine owns (DESIGN §3).
type tables struct {
	Chats     *kv.Table[chat.Chat]
	Messages  *kv.Table[chat.Message]
	links     *kv.Table[chat.MessageLink] // the same records; nothing is written by it
	Turns     *kv.Table[chat.Turn]
	Calls     *kv.Table[chat.ToolCall]
	Apps      *kv.Table[AppLink]
	Payloads  *kv.Table[chat.PayloadDecision]
	artifacts *kv.Table[keptArtifact]
	Agents    *kv.Table[OwnAgent]
	Grants    *kv.Table[Grant]
	Deleted   *kv.Table[deletion]
	upkeep    *kv.Table[Upkeep]
	Moves     *kv.Table[BranchMove]
	Branches  *kv.Table[branchRecord]
	Marks     *kv.Table[BranchMark]
	Events    *kv.RawTable // turn id, segment → lines of JSON
	Parts     *kv.RawTable // chat id, message id, piece → JSON of long parts
	Vectors   *kv.RawTable // model, dimensions, digest of a text → 32-bit numbers
	Passages  *kv.RawTable // index, digest of a document, part → vectors, see documents_parts.go
	Indexes   *kv.Table[DocumentIndex]
	Usage     *usageTables
	Search    *searchTables

	Documents *kv.Table[Document]
	Workflows *kv.Table[WorkflowInstance]
	Threads   *kv.Table[thread]
}

func newTables() *tables {
	return &tables{
		Chats: kv.NewTable("chats", func(c *chat.Chat) kv.Key { return kv.Str(c.ID) },
			kv.UniqueOn("number", func(c *chat.Chat) kv.Key { return kv.Int(c.Number) }),
			kv.On("recent", recentKey)),
		Messages: kv.NewTable("messages", func(m *chat.Message) kv.Key { return MessageKey(m.ChatID, m.ID) }),
		links:    kv.NewTable("messages", func(l *chat.MessageLink) kv.Key { return MessageKey(l.ChatID, l.ID) }),
		Turns: kv.NewTable("turns", func(t *chat.Turn) kv.Key { return kv.Str(t.ID) },
			kv.On("order", func(t *chat.Turn) kv.Key { return kv.Int(t.Order) })),
		Calls: kv.NewTable("tool_calls", func(c *chat.ToolCall) kv.Key { return kv.Str(c.ID) },
			kv.On("chat", func(c *chat.ToolCall) kv.Key { return kv.Str(c.ChatID) })),
		Apps:     kv.NewTable("app_calls", func(l *AppLink) kv.Key { return kv.Str(l.ChatID).Str(l.Of).Str(l.CallID) }),
		Payloads: kv.NewTable("payloads", func(p *chat.PayloadDecision) kv.Key { return kv.Str(p.ChatID).Str(p.PayloadID) }),
		Agents:   kv.NewTable("own_agents", func(a *OwnAgent) kv.Key { return kv.Str(a.ID) }),
		Grants:   kv.NewTable("grants", func(g *Grant) kv.Key { return kv.Str(g.Scope).Str(g.Pattern) }),
		Events:   kv.NewRawTable("events"),
		Parts:    kv.NewRawTable("message_parts"),
		Vectors:  kv.NewRawTable("vectors"),
		Passages: kv.NewRawTable("document_vectors"),
		Indexes:  kv.NewTable("document_indexes", func(x *DocumentIndex) kv.Key { return kv.Str(x.Name) }),
		Usage:    newUsageTables(),
		Search:   newSearchTables(),

		Branches:  branchesTable(),
		Marks:     marksTable(),
		artifacts: artifactsTable(),
		Documents: documentsTable(),
		Workflows: workflowsTable(),
		Threads:   threadsTable(),

		Moves:   kv.NewTable("branch_moves", func(m *BranchMove) kv.Key { return kv.Str(m.ChatID) }),
		upkeep:  kv.NewTable("upkeep", func(u *Upkeep) kv.Key { return kv.Str(u.ID) }),
		Deleted: kv.NewTable("deleted_chats", func(d *deletion) kv.Key { return kv.Str(d.ChatID) }),
	}
}

// recentKey has no place for deleted chats, so that no list meets them. Stores
// from before there were any have the same entries, so the index keeps its name.
func recentKey(c *chat.Chat) kv.Key {
	if c.DeletedAt != nil {
		return nil
	}
	return kv.Int(c.LastTurn)
}
