package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

// longDocument is a chat of n messages, one after the other.
func longDocument(number, n int) *chat.Document {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := rand.New(rand.NewPCG(5, uint64(number)))
	often := rand.NewZipf(r, 1.1, 4, 50_000)
	doc := &chat.Document{SchemaVersion: chat.DocumentVersion, Format: chat.DocumentFormat, ToolCalls: []chat.ToolCall{}}
	for i := range n {
		words := make([]string, 30) // as often as in a language: few in most messages, most in few
		for k := range words {
			words[k] = "w" + strconv.FormatUint(often.Uint64(), 36)
		}
		m := chat.Message{
			ID: fmt.Sprintf("M%04d%08d", number, i), TurnID: fmt.Sprintf("T%04d%08d", number, i/2), Role: provider.User, Status: chat.Answered,
			Parts:     []provider.Part{{Kind: provider.TextPart, Text: strings.Join(words, " ")}},
			CreatedAt: at.Add(time.Duration(i) * time.Second),
		}
		if i%2 == 1 {
			m.Role, m.Model, m.StopReason = provider.Assistant, "script/m.yaml", provider.StopEnd
		}
		if i > 0 {
			m.ParentID = doc.Messages[i-1].ID
		}
		doc.Messages = append(doc.Messages, m)
	}
	doc.Chat = chat.Chat{
		ID: fmt.Sprintf("01J%023d", number), Title: fmt.Sprintf("chat %d", number), Model: "script/m.yaml",
		ActiveLeaf: doc.Messages[n-1].ID, CreatedAt: at, UpdatedAt: at.Add(time.Duration(n) * time.Second), Messages: n,
	}
	return doc
}

// decodeChats reads all documents of a file.
func decodeChats(data []byte) (docs []*chat.Document, notes []string, err error) {
	r := chat.NewDocumentReader(bytes.NewReader(data))
	for {
		doc, told, err := r.Next()
		if errors.Is(err, io.EOF) {
			return docs, notes, nil
		}
		if err != nil {
			return nil, nil, err
		}
		docs, notes = append(docs, doc), append(notes, told...)
	}
}

// documentsOf yields documents that are all there.
func documentsOf(docs []*chat.Document) iter.Seq2[*chat.Document, error] {
	return func(yield func(*chat.Document, error) bool) {
		for _, d := range docs {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// importChats imports documents that are all there.
func (b *bench) importChats(ctx context.Context, docs []*chat.Document, there store.Existing) (out []store.Imported, err error) {
	err = b.ImportChats(ctx, store.ImportRequest{
		There:     there,
		Documents: documentsOf(docs),
		Each: func(i store.Imported) error {
			out = append(out, i)
			return nil
		},
	})
	return out, err
}
