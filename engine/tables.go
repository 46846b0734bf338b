package engine

import (
	"time"

	"github.com/fettle-cli/fettle/internal/kv"
)

// eventsKept is how long a turn's events can be followed after it was folded;
// its messages stay for good.
const eventsKept = 30 * 24 * time.Hour

// segmentSize bounds the piece of a turn's log that is one value in the store.
const segmentSize = 64 << 10

// tables are the record types of the store that the engine owns (DESIGN §3).
type tables struct {
	chats    *kv.Table[Chat]
	messages *kv.Table[Message]
	turns    *kv.Table[Turn]
	calls    *kv.Table[ToolCall]
	grants   *kv.Table[Grant]
	events   *kv.RawTable // turn id, segment → lines of JSON
	parts    *kv.RawTable // chat id, message id, piece → JSON of long parts
	usage    *usageTables
	search   *searchTables
}

func newTables() *tables {
	return &tables{
		chats: kv.NewTable("chats", func(c *Chat) kv.Key { return kv.Str(c.ID) },
			kv.UniqueOn("number", func(c *Chat) kv.Key { return kv.Int(c.Number) }),
			kv.On("recent", func(c *Chat) kv.Key { return kv.Int(c.LastTurn) })),
		messages: kv.NewTable("messages", func(m *Message) kv.Key { return kv.Str(m.ChatID).Str(m.ID) }),
		turns: kv.NewTable("turns", func(t *Turn) kv.Key { return kv.Str(t.ID) },
			kv.On("order", func(t *Turn) kv.Key { return kv.Int(t.Order) })),
		calls: kv.NewTable("tool_calls", func(c *ToolCall) kv.Key { return kv.Str(c.ID) },
			kv.On("chat", func(c *ToolCall) kv.Key { return kv.Str(c.ChatID) })),
		grants: kv.NewTable("grants", func(g *Grant) kv.Key { return kv.Str(g.Scope).Str(g.Pattern) }),
		events: kv.NewRawTable("events"),
		parts:  kv.NewRawTable("message_parts"),
		usage:  newUsageTables(),
		search: newSearchTables(),
	}
}
