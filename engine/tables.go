package engine

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
	chats     *kv.Table[chat.Chat]
	messages  *kv.Table[chat.Message]
	links     *kv.Table[chat.MessageLink] // the same records; nothing is written by it
	turns     *kv.Table[chat.Turn]
	calls     *kv.Table[chat.ToolCall]
	apps      *kv.Table[appLink]
	payloads  *kv.Table[chat.PayloadDecision]
	artifacts *kv.Table[keptArtifact]
	agents    *kv.Table[OwnAgent]
	grants    *kv.Table[Grant]
	deleted   *kv.Table[deletion]
	upkeep    *kv.Table[Upkeep]
	moves     *kv.Table[branchMove]
	branches  *kv.Table[branchRecord]
	marks     *kv.Table[branchMark]
	events    *kv.RawTable // turn id, segment → lines of JSON
	parts     *kv.RawTable // chat id, message id, piece → JSON of long parts
	vectors   *kv.RawTable // model, dimensions, digest of a text → 32-bit numbers
	passages  *kv.RawTable // index, digest of a document, part → vectors, see documents_parts.go
	indexes   *kv.Table[documentIndex]
	usage     *usageTables
	search    *searchTables

	documents *kv.Table[Document]
	workflows *kv.Table[WorkflowInstance]
	threads   *kv.Table[thread]
}

func newTables() *tables {
	return &tables{
		chats: kv.NewTable("chats", func(c *chat.Chat) kv.Key { return kv.Str(c.ID) },
			kv.UniqueOn("number", func(c *chat.Chat) kv.Key { return kv.Int(c.Number) }),
			kv.On("recent", recentKey)),
		messages: kv.NewTable("messages", func(m *chat.Message) kv.Key { return messageKey(m.ChatID, m.ID) }),
		links:    kv.NewTable("messages", func(l *chat.MessageLink) kv.Key { return messageKey(l.ChatID, l.ID) }),
		turns: kv.NewTable("turns", func(t *chat.Turn) kv.Key { return kv.Str(t.ID) },
			kv.On("order", func(t *chat.Turn) kv.Key { return kv.Int(t.Order) })),
		calls: kv.NewTable("tool_calls", func(c *chat.ToolCall) kv.Key { return kv.Str(c.ID) },
			kv.On("chat", func(c *chat.ToolCall) kv.Key { return kv.Str(c.ChatID) })),
		apps:     kv.NewTable("app_calls", func(l *appLink) kv.Key { return kv.Str(l.ChatID).Str(l.Of).Str(l.CallID) }),
		payloads: kv.NewTable("payloads", func(p *chat.PayloadDecision) kv.Key { return kv.Str(p.ChatID).Str(p.PayloadID) }),
		agents:   kv.NewTable("own_agents", func(a *OwnAgent) kv.Key { return kv.Str(a.ID) }),
		grants:   kv.NewTable("grants", func(g *Grant) kv.Key { return kv.Str(g.Scope).Str(g.Pattern) }),
		events:   kv.NewRawTable("events"),
		parts:    kv.NewRawTable("message_parts"),
		vectors:  kv.NewRawTable("vectors"),
		passages: kv.NewRawTable("document_vectors"),
		indexes:  kv.NewTable("document_indexes", func(x *documentIndex) kv.Key { return kv.Str(x.Name) }),
		usage:    newUsageTables(),
		search:   newSearchTables(),

		branches:  branchesTable(),
		marks:     marksTable(),
		artifacts: artifactsTable(),
		documents: documentsTable(),
		workflows: workflowsTable(),
		threads:   threadsTable(),

		moves:   kv.NewTable("branch_moves", func(m *branchMove) kv.Key { return kv.Str(m.ChatID) }),
		upkeep:  kv.NewTable("upkeep", func(u *Upkeep) kv.Key { return kv.Str(u.ID) }),
		deleted: kv.NewTable("deleted_chats", func(d *deletion) kv.Key { return kv.Str(d.ChatID) }),
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
