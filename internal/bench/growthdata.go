package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/provider"
)

// chatShape describes the generated chats of one file for fettle chats import.
type chatShape struct {
	chats, messages int
	// first is the number of the first chat: chats with different numbers have
	// different ids and texts.
	first int
	// rare is how many chats, the oldest, contain the word quokka.
	rare int
	// branch is how many messages each branch of a chat has; 0 makes a chat of one branch.
	branch int
}

// writeDocuments writes chats as fettle chats export writes them, and returns
// the bytes of text in them.
func writeDocuments(path string, shape chatShape) (text int64, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for i := range shape.chats {
		n, err := writeDocument(w, shape, shape.first+i)
		if err != nil {
			return 0, errors.Join(err, f.Close())
		}
		text += n
	}
	return text, errors.Join(w.Flush(), f.Close())
}

func writeDocument(w io.Writer, shape chatShape, number int) (text int64, err error) {
	r := rand.New(rand.NewPCG(3, uint64(number)))
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(number) * time.Minute)
	id := func(kind string, i int) string { return fmt.Sprintf("%s%08d%08d", kind, number, i) }
	doc := chat.Document{SchemaVersion: chat.DocumentVersion, Format: chat.DocumentFormat, ToolCalls: []chat.ToolCall{}}
	parent := ""
	for i := range shape.messages {
		prompt := "blue and sky " + prose(r)
		if i == 0 && number < shape.rare {
			prompt += " a quokka under a blue sky"
		}
		m := chat.Message{
			ID: id("M", i), ParentID: parent, TurnID: id("T", i/2), Role: provider.User, Status: chat.Answered,
			Parts: []provider.Part{{Kind: provider.TextPart, Text: prompt}}, CreatedAt: at.Add(time.Duration(i) * time.Second),
		}
		if i%2 == 1 {
			m.Role, m.Model, m.StopReason = provider.Assistant, "talker/m", provider.StopEnd
		}
		text += int64(len(prompt))
		doc.Messages = append(doc.Messages, m)
		if parent = m.ID; shape.branch > 0 && (i+1)%shape.branch == 0 {
			parent = "" // the next message begins another branch
		}
	}
	last := doc.Messages[len(doc.Messages)-1]
	doc.Chat = chat.Chat{
		ID: fmt.Sprintf("01J%023d", number), Title: "chat " + spell(uint64(number)), Model: "talker/m", ActiveLeaf: last.ID,
		CreatedAt: at, UpdatedAt: last.CreatedAt,
	}
	return text, json.NewEncoder(w).Encode(doc)
}
