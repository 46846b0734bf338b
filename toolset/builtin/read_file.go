package builtin

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/wspath"
)

//go:embed read_file.md
var readFileText string

// readFile makes the tool read_file.
func readFile(limit int) toolset.Entry {
	t := toolset.Tool{
		ID: "read_file", Name: "Read File",
		Description: strings.Replace(readFileText, "256 KiB", fmt.Sprintf("%d KiB", (limit+1023)/1024), 1),
		InputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"path": {"type": "string", "description": "Path of the file, relative to the workspace"},
				"offset": {"type": "integer", "minimum": 1, "description": "First line to read; 1 is the first of the file"},
				"limit": {"type": "integer", "minimum": 1, "description": "Most lines to read"}
			},
			"required": ["path"],
			"additionalProperties": false
		}`),
		OutputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"path": {"type": "string"},
				"content": {"type": "string", "description": "The text read, with the file's line endings; empty for a binary file"},
				"size": {"type": "integer", "minimum": 0, "description": "Bytes of the whole file"},
				"offset": {"type": "integer", "minimum": 1, "description": "The first line in content"},
				"lines": {"type": "integer", "minimum": 0, "description": "Number of lines in content"},
				"total_lines": {"type": "integer", "minimum": 0, "description": "Lines of the whole file, where it is small enough to count"},
				"truncated": {"type": "boolean", "description": "Whether the file goes on after content"},
				"encoding": {"enum": ["utf-8", "utf-16le", "utf-16be", "binary"]},
				"bom": {"type": "boolean"},
				"line_endings": {"enum": ["lf", "crlf", "mixed", "none"], "description": "Of content"},
				"media_type": {"type": "string", "description": "Of a binary file"}
			},
			"required": ["path", "content", "size", "offset", "lines", "truncated", "encoding", "bom", "line_endings"],
			"additionalProperties": false
		}`),
		Renderer:    &toolset.Renderer{Type: toolset.RenderCode, File: "$args.path", Language: "auto"},
		Annotations: toolset.Annotations{ReadOnly: true, Idempotent: true},
	}
	return entry(t, func(a *readArgs) { a.maxBytes = limit })
}

type readArgs struct {
	Path   string `json:"path"`
	Offset int    `json:"offset"`
	Limit  int    `json:"limit"`

	maxBytes int
}

type readData struct {
	Path        string   `json:"path"`
	Content     string   `json:"content"`
	Size        int64    `json:"size"`
	Offset      int      `json:"offset"`
	Lines       int      `json:"lines"`
	TotalLines  *int     `json:"total_lines,omitempty"`
	Truncated   bool     `json:"truncated"`
	Encoding    encoding `json:"encoding"`
	BOM         bool     `json:"bom"`
	LineEndings string   `json:"line_endings"`
	MediaType   string   `json:"media_type,omitempty"`
}

// countLimit is the largest file whose lines are counted to the end, which
// takes some tens of milliseconds.
const countLimit = 64 << 20

func (a readArgs) run(ctx context.Context, ws *toolset.Workspace) (toolset.Result, error) {
	at, err := findFile(ws, a.Path)
	if err != nil {
		return toolset.Result{}, err
	}
	f, source, err := openContent(ctx, ws, at)
	if err != nil {
		return toolset.Result{}, err
	}
	defer f.Close()
	text, err := newTextFile(f)
	if err != nil {
		return toolset.Result{}, wspath.Explain("read", at.Given, err)
	}
	data := readData{
		Path: dataName(at.Given), Size: f.Size(), Offset: max(a.Offset, 1),
		Encoding: text.encoding, BOM: text.bom, LineEndings: "none",
	}
	if text.encoding == notText {
		data.MediaType = http.DetectContentType(text.head)
		return result(describeBinary(at.Given, data, f), data)
	}
	want := lineRange{offset: data.Offset, limit: a.Limit, bytes: a.maxBytes, toEnd: f.Size() <= countLimit}
	got, err := want.read(ctx, text.Reader)
	if err != nil {
		return toolset.Result{}, explainUnlessEnded(ctx, "read", at.Given, err)
	}
	if got.total >= 0 && got.total < data.Offset && data.Offset > 1 {
		return toolset.Result{}, toolset.Errorf("%s has %s; offset %d is past its end", wspath.Show(at.Given), count(got.total, "line"), data.Offset)
	}
	data.Content = strings.ToValidUTF8(got.text, string(utf8.RuneError))
	data.Lines, data.Truncated = countLines(got.text), got.more
	data.LineEndings = countEndings(got.text).String()
	if got.total >= 0 {
		data.TotalLines = &got.total
	}
	return result(readText(data, got, source), data)
}

// readText is what the model gets: the text with plain newlines, and a last
// line with what it should know, where the text is from among it.
func readText(data readData, got piece, source string) string {
	var notes []string
	if source != "" {
		notes = append(notes, source)
	}
	last := data.Offset + data.Lines - 1
	switch {
	case got.text == "" && data.Offset == 1:
		return "[" + strings.Join(append([]string{"the file is empty"}, notes...), "; ") + "]"
	case got.cut:
		notes = append(notes, fmt.Sprintf("line %d is cut after %s; search_files finds text further on in it", last, size(int64(len(got.text)))))
	case data.Truncated && data.TotalLines != nil:
		notes = append(notes, fmt.Sprintf("lines %d-%d of %d; go on with offset %d", data.Offset, last, *data.TotalLines, last+1))
	case data.Truncated:
		notes = append(notes, fmt.Sprintf("lines %d-%d, more follow (the file has %s); go on with offset %d", data.Offset, last, size(data.Size), last+1))
	case data.Offset > 1:
		notes = append(notes, fmt.Sprintf("lines %d-%d, the end of the file", data.Offset, last))
	}
	switch data.LineEndings {
	case "crlf":
		notes = append(notes, "line endings are CRLF; edit_file keeps them")
	case "mixed":
		notes = append(notes, "line endings are mixed; edit_file keeps them")
	}
	if data.Encoding != utf8Text {
		notes = append(notes, "the file is "+strings.ToUpper(string(data.Encoding))+"; edit_file can't edit it")
	}
	if data.Content != got.text {
		notes = append(notes, "some bytes are not UTF-8 and are shown as \uFFFD")
	}
	text := strings.ReplaceAll(data.Content, "\r\n", "\n")
	if len(notes) == 0 {
		return text
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + "[" + strings.Join(notes, "; ") + "]"
}

func describeBinary(name string, data readData, f content) string {
	kind, isImage := strings.CutPrefix(data.MediaType, "image/")
	if !isImage {
		return fmt.Sprintf("[%s is a binary file (%s, %s); read_file shows text only]", wspath.Show(name), data.MediaType, size(data.Size))
	}
	pixels := ""
	if cfg, ok := imageSize(f, kind); ok {
		pixels = fmt.Sprintf(", %d by %d pixels", cfg.Width, cfg.Height)
	}
	return fmt.Sprintf("[%s is an image (%s%s, %s); read_file can't show images; the user can attach it to a question]", wspath.Show(name), data.MediaType, pixels, size(data.Size))
}

// maxImageHeader bounds what is read of an image to learn its size.
const maxImageHeader = 1 << 20

func imageSize(f io.ReaderAt, kind string) (image.Config, bool) {
	decode := map[string]func(io.Reader) (image.Config, error){
		"png": png.DecodeConfig, "jpeg": jpeg.DecodeConfig, "gif": gif.DecodeConfig,
	}[kind]
	if decode == nil {
		return image.Config{}, false
	}
	cfg, err := decode(bufio.NewReader(io.NewSectionReader(f, 0, maxImageHeader)))
	return cfg, err == nil
}
