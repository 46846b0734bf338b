package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// What a file of chats may hold. Each bound is far above what people have and
// keeps a hostile file from taking the machine's memory or time.
const (
	// MaxDocument is the size of all that is read in one import; it is whole
	// in memory. A question may bring 64 MB of files, so that it holds several.
	MaxDocument = 512 << 20
	// maxDepth is how deep JSON may be nested; arguments of tools are the only
	// part whose depth is not ours.
	maxDepth          = 500
	maxImportChats    = 10_000
	maxImportMessages = 100_000
	maxImportParts    = 10_000
	// maxRemarks bounds the lists beside a message's parts.
	maxRemarks = 10_000
	// maxLineText bounds names, models and other things of one line.
	maxLineText = 1000
)

// DecodeChats reads the chats of a file that `chats export -o json` wrote: one
// document, or several one after the other. Nothing in it is believed: the
// error says what is wrong and where. notes are what a person should know of
// what is left out.
func DecodeChats(data []byte) (docs []*ChatDocument, notes []string, err error) {
	if len(data) > MaxDocument {
		return nil, nil, fmt.Errorf("it has %d MB, and %d MB are read at once", len(data)>>20, MaxDocument>>20)
	}
	if at := invalidUTF8(data); at >= 0 {
		return nil, nil, fmt.Errorf("line %d is no UTF-8", lineOf(data, int64(at)))
	}
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	if at := tooDeep(data); at >= 0 {
		return nil, nil, fmt.Errorf("line %d is nested deeper than %d", lineOf(data, int64(at)), maxDepth)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	for {
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, jsonError(data, dec.InputOffset(), err)
		}
		if len(docs) == maxImportChats {
			return nil, nil, fmt.Errorf("it has more than %d chats", maxImportChats)
		}
		doc, told, err := decodeDocument(raw)
		if err != nil {
			return nil, nil, fmt.Errorf("chat %d of the file: %w", len(docs)+1, err)
		}
		docs, notes = append(docs, doc), append(notes, told...)
	}
	if len(docs) == 0 {
		return nil, nil, errors.New("it is empty")
	}
	return docs, notes, nil
}

// decodeDocument reads one document and checks it.
func decodeDocument(raw []byte) (*ChatDocument, []string, error) {
	var head struct {
		SchemaVersion int    `json:"schema_version"`
		Format        string `json:"format"`
	}
	if err := json.Unmarshal(raw, &head); err != nil || head.Format != DocumentFormat {
		return nil, nil, fmt.Errorf("it is no chat that fettle exported: its format is not %q", DocumentFormat)
	}
	if head.SchemaVersion != DocumentVersion {
		return nil, nil, fmt.Errorf("its schema_version is %d, and this fettle reads %d", head.SchemaVersion, DocumentVersion)
	}
	doc := new(ChatDocument)
	var notes []string
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(doc)
	if err != nil {
		unknown, ok := strings.CutPrefix(err.Error(), "json: unknown field ")
		doc = new(ChatDocument)
		if err = json.Unmarshal(raw, doc); err == nil && ok {
			notes = append(notes, "fields that this fettle doesn't know are left out, "+short(strings.Trim(unknown, `"`))+" for one")
		}
	}
	if err != nil {
		return nil, nil, jsonError(raw, 0, err)
	}
	if err := doc.check(); err != nil {
		return nil, nil, err
	}
	return doc, append(notes, doc.settle()...), nil
}

// jsonError says what is wrong with JSON in words, and in which line.
func jsonError(data []byte, offset int64, err error) error {
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mismatch):
		where := mismatch.Field
		if where == "" {
			where = "the document"
		}
		return fmt.Errorf("%s can't be a %s", short(where), short(mismatch.Value))
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d is no JSON: %s", lineOf(data, max(syntax.Offset, offset)), short(syntax.Error()))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it ends in the middle of a chat")
	}
	return errors.New(short(strings.TrimPrefix(err.Error(), "json: ")))
}

// short is a piece of a stranger's text in a message.
func short(s string) string {
	return cutRunes(cleanLine(strings.ToValidUTF8(s[:min(len(s), 400)], "")), 80)
}

func lineOf(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(max(offset, 0), int64(len(data)))], []byte{'\n'})
}

func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for at := 0; at < len(data); {
		r, n := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
	return -1
}

// tooDeep finds where JSON is nested too deep, or -1. What isn't JSON is left
// to the decoder.
func tooDeep(data []byte) int {
	depth, inString, escaped := 0, false, false
	for i, b := range data {
		switch {
		case escaped:
			escaped = false
		case inString && b == '\\':
			escaped = true
		case b == '"':
			inString = !inString
		case inString:
		case b == '{', b == '[':
			if depth++; depth > maxDepth {
				return i
			}
		case b == '}', b == ']':
			depth--
		}
	}
	return -1
}
