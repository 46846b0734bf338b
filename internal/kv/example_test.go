package kv_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fettle-cli/fettle/internal/kv"
)

type Chat struct {
	ID     string `json:"id"`
	Number int64  `json:"number"`
	Title  string `json:"title"`
}

type Message struct {
	ChatID string `json:"chat_id"`
	ID     string `json:"id"`
	Text   string `json:"text"`
}

// tables are declarations: they may be made where they are needed, and kept.
type tables struct {
	chats    *kv.Table[Chat]
	messages *kv.Table[Message]
	segments *kv.RawTable
}

func newTables() tables {
	return tables{
		chats: kv.NewTable("chats", func(c *Chat) kv.Key { return kv.Str(c.ID) },
			kv.UniqueOn("number", func(c *Chat) kv.Key { return kv.Int(c.Number) }),
			kv.On("title", func(c *Chat) kv.Key { return kv.Str(c.Title) })),
		messages: kv.NewTable("messages", func(m *Message) kv.Key { return kv.Str(m.ChatID).Str(m.ID) }),
		segments: kv.NewRawTable("segments"),
	}
}

func Example() {
	folder, err := os.MkdirTemp("", "kv")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()
	store := kv.Open(filepath.Join(folder, "store"), kv.Options{})
	t := newTables()
	if err := errors.Join(write(store, t), read(store, t), store.Close()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// chat 2: Greetings
	// hello
	// hello again
	// next after 01B: [98 99]
	// number 2 is taken
	// no chat 7
}

// write keeps two chats and the messages of one, all or nothing, and safe from
// a power cut.
func write(store *kv.Store, t tables) error {
	ctx := context.Background()
	return store.UpdateSync(ctx, func(tx *kv.Tx) error {
		return errors.Join(
			t.chats.Put(tx, &Chat{ID: "01A", Number: 1, Title: "Arithmetic"}),
			t.chats.Put(tx, &Chat{ID: "01B", Number: 2, Title: "Greetings"}),
			t.messages.Put(tx, &Message{ChatID: "01B", ID: "1", Text: "hello"}),
			t.messages.Put(tx, &Message{ChatID: "01B", ID: "2", Text: "hello again"}),
			t.segments.Put(tx, kv.Str("turn").Int(1), []byte("abc"), kv.WithTTL(30*24*time.Hour)),
		)
	})
}

func read(store *kv.Store, t tables) error {
	ctx := context.Background()
	err := store.View(ctx, func(tx *kv.Tx) error {
		chat, err := t.chats.Find(tx, "number", kv.Int(2))
		if err != nil {
			return err
		}
		fmt.Printf("chat %d: %s\n", chat.Number, chat.Title)
		for m, err := range t.messages.Scan(tx, kv.Range{Prefix: kv.Str(chat.ID)}) {
			if err != nil {
				return err
			}
			fmt.Println(m.Text)
		}
		page, err := t.chats.IndexPage(tx, "title", nil, kv.Range{Reverse: true, Limit: 1})
		if err != nil {
			return err
		}
		segment, err := t.segments.Get(tx, kv.Str("turn").Int(1))
		fmt.Printf("next after %s: %v\n", page.Records[0].ID, segment[1:])
		return err
	})
	var taken *kv.UniqueError
	refused := store.Update(ctx, func(tx *kv.Tx) error {
		return t.chats.Put(tx, &Chat{ID: "01C", Number: 2})
	})
	if errors.As(refused, &taken) {
		fmt.Println("number 2 is taken")
	}
	missing := store.View(ctx, func(tx *kv.Tx) error {
		_, err := t.chats.Find(tx, "number", kv.Int(7))
		return err
	})
	if errors.Is(missing, kv.ErrNotFound) {
		fmt.Println("no chat 7")
	}
	return err
}
