package engine

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/google/go-cmp/cmp"
)

// A file is read document by document: the first is returned before the second is
// written.
func TestDocumentsAreReadOneByOne(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	defer r.Close()
	read := chat.NewDocumentReader(r)
	for i := range 3 {
		go func() {
			if i < 2 {
				_, _ = w.Write([]byte(wholeDocument() + "\n")) // a failure shows in the reader
				return
			}
			_ = w.Close()
		}()
		doc, _, err := read.Next()
		if i == 2 {
			if !errors.Is(err, io.EOF) {
				t.Errorf("at the end: %v", err)
			}
		} else if err != nil || len(doc.Messages) != 2 {
			t.Fatalf("document %d: %v", i, err)
		}
	}
}

// An error names the line in the file, regardless of the text before it.
func TestTheLineOfALaterDocument(t *testing.T) {
	t.Parallel()
	first := wholeDocument()
	lines := strings.Count(first, "\n")
	text := first + "\n" + first + "\n" + strings.Replace(first, `"id":"b"`, `"id":b`, 1)
	_, _, err := decodeChats([]byte(text))
	bad := 1 + strings.Count(text[:strings.Index(text, `"id":b`)], "\n")
	if want := "line " + strconv.Itoa(bad) + " is no JSON"; err == nil || !strings.Contains(err.Error(), want) || bad <= 2*lines {
		t.Errorf("%v, want %s", err, want)
	}
}

// Some shells write UTF-16 into files and pipes.
func TestDocumentsInUTF16(t *testing.T) {
	t.Parallel()
	text := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(wholeDocument())) {
		text = append(text, byte(u), byte(u>>8))
	}
	if docs, _, err := decodeChats(text); err != nil || len(docs) != 1 || docs[0].Messages[0].Text() != "hi" {
		t.Errorf("%d documents, %v", len(docs), err)
	}
}

// An import that was stopped between two groups keeps whole chats, and another
// one that skips these brings in the rest.
func TestAnImportGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	b := newBench(t, echoScript)
	const n = store.InsertGroup + 3
	var docs []*chat.Document
	for i := range n {
		docs = append(docs, longDocument(i, 2))
	}
	ctx, stop := context.WithCancel(t.Context())
	kept := 0
	err := b.ImportChats(ctx, store.ImportRequest{Documents: documentsOf(docs), Each: func(store.Imported) error {
		kept++
		stop()
		return nil
	}})
	if !errors.Is(err, context.Canceled) || kept != store.InsertGroup {
		t.Fatalf("kept %d, %v", kept, err)
	}
	done, err := b.importChats(t.Context(), docs, store.SkipExisting)
	if err != nil || len(done) != n {
		t.Fatalf("%d, %v", len(done), err)
	}
	for i, d := range done {
		if d.Skipped != (i < kept) || d.Chat.ID != docs[i].Chat.ID {
			t.Errorf("chat %d: skipped is %t", i, d.Skipped)
		}
	}
}

// A chat that is longer than one reading comes out as it came in.
func TestExportOfALongChat(t *testing.T) {
	t.Parallel()
	b := newBench(t, echoScript)
	doc := longDocument(0, 2*store.SomeCount+7)
	if _, err := b.importChats(t.Context(), []*chat.Document{doc}, store.RefuseExisting); err != nil {
		t.Fatal(err)
	}
	got, _, err := b.ExportChat(t.Context(), store.ChatRef{Number: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Messages) != len(doc.Messages) {
		t.Fatalf("%d messages of %d", len(got.Messages), len(doc.Messages))
	}
	for i := range got.Messages {
		want := doc.Messages[i]
		want.ChatID = doc.Chat.ID
		if diff := cmp.Diff(want, got.Messages[i]); diff != "" {
			t.Fatal(diff)
		}
	}
	if docs, _, err := decodeChats(encode(t, got)); err != nil || len(docs) != 1 {
		t.Errorf("it can't be read: %v", err)
	}
}
