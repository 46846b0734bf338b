package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/internal/textenc"
)

// What a file of chats may hold. The file as a whole has no limit: it is read
// chat by chat. Each bound is far above what people have, is checked by
// `chats export` too, and keeps a hostile file from taking the machine's memory
// or time.
const (
	// MaxDocument is the size of one chat, which is whole in memory while it is
	// read. A question may bring 64 MB of files, so that it holds several.
	MaxDocument = 512 << 20
	// maxDepth is how deep JSON may be nested; arguments of tools are the only
	// part whose depth is not ours.
	maxDepth          = 500
	maxImportMessages = 1_000_000
	maxImportParts    = 100_000
	// maxRemarks bounds the lists of a message that are not its parts.
	maxRemarks = 10_000
	// maxLineText bounds names, models and other things of one line.
	maxLineText = 1000
)

// DocumentReader reads the chats of a file that `chats export -o json` wrote, one
// document or several one after the other, or that ChatGPT, Claude or the command
// llm exported. It holds one of them at a
// time. It trusts nothing in the file: an error names what is wrong and where.
type DocumentReader struct {
	dec    *json.Decoder
	queue  []*foreignChat // of the last value, where that is an export of another program
	source *documentSource
	number int // of the last document, from 1
}

// NewDocumentReader returns a reader of r.
func NewDocumentReader(r io.Reader) *DocumentReader {
	source := &documentSource{r: textenc.NewReader(r), line: 1} // some shells write UTF-16
	return &DocumentReader{dec: json.NewDecoder(source), source: source}
}

// Next returns the next chat, and remarks for the user about what is left out
// of it. The error is io.EOF after the last chat. A file without any is an
// error, too.
func (d *DocumentReader) Next() (doc *Document, notes []string, err error) {
	for doc == nil && err == nil {
		if len(d.queue) > 0 {
			doc, notes, err = d.foreign()
		} else {
			doc, notes, err = d.read()
		}
	}
	return doc, notes, err
}

// read reads the next value of the file. It returns no document if the value has no chat
// with messages.
func (d *DocumentReader) read() (doc *Document, notes []string, err error) {
	begin := d.dec.InputOffset()
	d.source.forget(begin)
	d.source.limit = begin + MaxDocument
	var raw json.RawMessage
	err = d.dec.Decode(&raw)
	switch {
	case errors.Is(err, io.EOF) && d.number > 0:
		return nil, nil, io.EOF
	case errors.Is(err, io.EOF):
		return nil, nil, errors.New("it is empty")
	case errors.Is(err, errDocumentSize):
		return nil, nil, fmt.Errorf("chat %d of the file has more than %d MB", d.number+1, MaxDocument>>20)
	case err != nil:
		return nil, nil, jsonError(err, d.source.lineAt)
	}
	d.number++
	begin = d.dec.InputOffset() - int64(len(raw))
	if at := invalidUTF8(raw); at >= 0 {
		return nil, nil, fmt.Errorf("line %d is no UTF-8", d.source.lineAt(begin+int64(at)))
	}
	if at := tooDeep(raw); at >= 0 {
		return nil, nil, fmt.Errorf("line %d is nested deeper than %d", d.source.lineAt(begin+int64(at)), maxDepth)
	}
	switch chats, ok, err := foreignDocuments(raw); {
	case err != nil:
		return nil, nil, err
	case ok:
		d.queue = chats
		d.number--
		return d.foreign()
	}
	if doc, notes, err = decodeDocument(raw); err != nil {
		return nil, nil, fmt.Errorf("chat %d of the file: %w", d.number, err)
	}
	return doc, notes, nil
}

// foreign returns the next chat of another program's export that has messages.
func (d *DocumentReader) foreign() (*Document, []string, error) {
	for len(d.queue) > 0 {
		c := d.queue[0]
		d.queue = d.queue[1:]
		doc, notes, err := c.document()
		if errors.Is(err, errNoForeignMessages) {
			continue
		}
		if d.number++; err != nil {
			return nil, nil, fmt.Errorf("chat %q of the file: %w", Short(c.title), err)
		}
		return doc, notes, nil
	}
	if d.number == 0 {
		d.number = 1 // the file is not empty
		return nil, nil, errors.New("it has no chat with messages")
	}
	return nil, nil, nil // none of them has messages
}

// decodeDocument reads one document and checks it.
func decodeDocument(raw []byte) (*Document, []string, error) {
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
	doc := new(Document)
	var notes []string
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(doc)
	if err != nil {
		unknown, ok := strings.CutPrefix(err.Error(), "json: unknown field ")
		doc = new(Document)
		if err = json.Unmarshal(raw, doc); err == nil && ok {
			notes = append(notes, "fields that this fettle doesn't know are left out, "+Short(strings.Trim(unknown, `"`))+" for one")
		}
	}
	if err != nil {
		return nil, nil, jsonError(err, lineIn(raw))
	}
	if err := doc.check(); err != nil {
		return nil, nil, err
	}
	return doc, append(notes, doc.settle()...), nil
}

// jsonError describes in words what is wrong with JSON. lineAt returns the line
// that has a byte.
func jsonError(err error, lineAt func(offset int64) int) error {
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d is no JSON: %s", lineAt(syntax.Offset), Short(syntax.Error()))
	case errors.As(err, &mismatch):
		where := mismatch.Field
		if where == "" {
			where = "the document"
		}
		return fmt.Errorf("%s can't be a %s", Short(where), Short(mismatch.Value))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it ends in the middle of a chat")
	}
	return errors.New(Short(strings.TrimPrefix(err.Error(), "json: ")))
}

// lineIn returns a function that counts the lines of data up to a byte.
func lineIn(data []byte) func(offset int64) int {
	return func(offset int64) int {
		return 1 + bytes.Count(data[:min(max(offset, 0), int64(len(data)))], []byte{'\n'})
	}
}

// Short is a piece of a stranger's text in a message.
func Short(s string) string {
	return sanitize.Shorten(sanitize.Line(strings.ToValidUTF8(s[:min(len(s), 400)], "")), 80)
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
