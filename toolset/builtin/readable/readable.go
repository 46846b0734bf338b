package readable

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

// Input is what a server sent.
type Input struct {
	// ContentType is the header's value; it may be empty.
	ContentType string `json:"content_type"`
	// URL is where it came from, which relative links are meant from.
	URL  string `json:"url"`
	Body []byte `json:"-"`
}

// Output is what is read of it.
type Output struct {
	Title string `json:"title,omitempty"`
	Text  string `json:"text"`
	// Format is markdown, text or json.
	Format string `json:"format"`
	// Note says what the text lacks; empty where it lacks nothing.
	Note string `json:"note,omitempty"`
}

// The formats of an Output.
const (
	Markdown = "markdown"
	Text     = "text"
	JSON     = "json"
)

// Error says why nothing can be read of an answer, as a clause such as "it is
// an image".
type Error struct{ Why string }

// Error is the reason.
func (e *Error) Error() string { return e.Why }

// maxText bounds what is made of an answer: more than any model takes.
const maxText = 4 << 20

// Check tells early, by the header alone, that an answer can't be read.
func Check(contentType string) error {
	_, err := kindOf(contentType, nil)
	return err
}

// kind is how a body is read.
type kind int

const (
	asText kind = iota
	asJSON
	asHTML
	asPDF
)

// kindOf decides by the header, and where that says nothing by the body; a nil
// body has not come yet.
func kindOf(contentType string, body []byte) (kind, error) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		media, _, _ = strings.Cut(strings.ToLower(contentType), ";")
		media = strings.TrimSpace(media)
	}
	switch {
	case isPDF(body), media == "application/pdf", media == "application/x-pdf":
		return asPDF, nil
	case media == "" && body == nil, body == nil && unsaid(media):
		return asText, nil
	case media == "":
		return kindOf(http.DetectContentType(body), body)
	case media == "text/html", media == "application/xhtml+xml":
		return asHTML, nil
	case media == "application/json", strings.HasSuffix(media, "+json"):
		return asJSON, nil
	case strings.HasPrefix(media, "text/"), strings.HasSuffix(media, "+xml"), textual(media):
		return asText, nil
	}
	name, _, _ := strings.Cut(media, "/")
	switch name {
	case "image":
		return 0, &Error{"it is an image (" + media + "), and only text can be read; the user can save it and attach the file"}
	case "audio", "video", "font":
		return 0, &Error{"it is " + name + " (" + media + "), and only text can be read"}
	}
	return 0, &Error{"it is " + sanitize.Cut(sanitize.Line(media), 80) + ", and only web pages, PDF, JSON and other text can be read"}
}

func isPDF(body []byte) bool { return bytes.HasPrefix(body, []byte("%PDF-")) }

// unsaid are media types that say nothing; the body then may be a PDF.
func unsaid(media string) bool {
	return media == "application/octet-stream" || media == "binary/octet-stream" || media == "application/force-download"
}

func textual(media string) bool {
	switch strings.TrimPrefix(media, "application/") {
	case "xml", "javascript", "ecmascript", "x-javascript", "yaml", "x-yaml", "toml", "x-sh", "x-ndjson", "jsonl", "json-seq",
		"x-httpd-php", "sql", "graphql", "x-tex", "rtf", "typescript", "x-subrip":
		return true
	}
	return false
}

// Convert reads an answer. An [*Error] says what is wrong with it.
func Convert(in Input) (Output, error) {
	k, err := kindOf(in.ContentType, in.Body)
	if err != nil {
		return Output{}, err
	}
	var out Output
	switch k {
	case asPDF:
		out, err = readPDF(in.Body)
	case asHTML:
		out, err = readHTML(decoded(in), in.URL)
	case asJSON:
		out = Output{Text: decoded(in), Format: JSON}
	default:
		text := decoded(in)
		if strings.IndexByte(text, 0) >= 0 {
			return Output{}, &Error{"it says that it is text and isn't"}
		}
		out = Output{Text: text, Format: Text}
	}
	if err != nil {
		return Output{}, err
	}
	out.Title = oneLine(out.Title)
	out.Text = tidy(out.Text)
	if len(out.Text) > maxText {
		out.Text = strings.ToValidUTF8(out.Text[:maxText], "")
		out.Note = join(out.Note, "only the first 4 MB of its text were read")
	}
	return out, nil
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// decoded is a body as UTF-8: by its byte-order mark, the header's charset, what
// an HTML page says of itself, or what it looks like.
func decoded(in Input) string {
	if utf8.Valid(in.Body) && !strings.Contains(strings.ToLower(in.ContentType), "charset=utf-16") {
		return strings.TrimPrefix(string(in.Body), "\uFEFF")
	}
	enc, _, _ := charset.DetermineEncoding(in.Body, in.ContentType)
	raw, err := enc.NewDecoder().Bytes(in.Body)
	if err != nil {
		raw = in.Body
	}
	return strings.TrimPrefix(strings.ToValidUTF8(string(raw), "\uFFFD"), "\uFEFF")
}

// tidy takes out what no reader sees: control characters, those that turn the
// direction of text or hide in it, and more than one empty line together.
func tidy(s string) string {
	s = sanitize.Text(strings.ReplaceAll(s, "\r\n", "\n"))
	var b strings.Builder
	b.Grow(len(s))
	lines := 0
	for _, r := range s {
		if r == '\n' {
			if lines++; lines > 2 {
				continue
			}
			b.WriteByte('\n')
			continue
		}
		if r != ' ' && r != '\t' {
			lines = 0
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(tidy(s)), " ")
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}

// answer is what the reading process writes.
type answer struct {
	Output
	Refused string `json:"refused,omitempty"`
}

// Request is what a reading process gets to read: a line about the answer, and
// its body.
func Request(in Input) (io.Reader, error) {
	head, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	return io.MultiReader(bytes.NewReader(append(head, '\n')), bytes.NewReader(in.Body)), nil
}

// maxRequest bounds what a reading process takes.
const maxRequest = 64 << 20

// Serve is the reading process: one request in, one answer out.
func Serve(r io.Reader, w io.Writer) error {
	raw, err := io.ReadAll(io.LimitReader(r, maxRequest))
	if err != nil {
		return fmt.Errorf("read a request: %w", err)
	}
	head, body, ok := bytes.Cut(raw, []byte("\n"))
	var in Input
	if err := json.Unmarshal(head, &in); err != nil || !ok {
		return errors.New("read a request: it doesn't begin with a line of JSON")
	}
	in.Body = body
	var a answer
	a.Output, err = Convert(in)
	if err != nil {
		a = answer{Refused: err.Error()}
	}
	return json.NewEncoder(w).Encode(a)
}

// Answer reads what a reading process wrote. It is believed no more than the
// file was.
func Answer(raw []byte) (Output, error) {
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return Output{}, errors.New("its reader gave no answer")
	}
	if a.Refused != "" {
		return Output{}, &Error{oneLine(a.Refused)}
	}
	a.Title, a.Text, a.Note = oneLine(a.Title), tidy(a.Text), oneLine(a.Note)
	if a.Format != Markdown && a.Format != JSON {
		a.Format = Text
	}
	return a.Output, nil
}
