package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/wspath"
)

//go:embed write_file.md
var writeFileText string

// writeFile makes the tool write_file.
func writeFile() toolset.Entry {
	return entry[writeArgs](toolset.Tool{
		ID: "write_file", Name: "Write File", Description: writeFileText,
		InputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"path": {"type": "string", "description": "Path of the file, relative to the workspace"},
				"content": {"type": "string", "description": "The whole content of the file"}
			},
			"required": ["path", "content"],
			"additionalProperties": false
		}`),
		OutputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"written": {"type": "string", "description": "Path of the file"},
				"size": {"type": "integer", "minimum": 0, "description": "Bytes written"},
				"lines": {"type": "integer", "minimum": 0},
				"created": {"type": "boolean", "description": "Whether there was no such file before"}
			},
			"required": ["written", "size", "lines", "created"],
			"additionalProperties": false
		}`),
		Renderer:    &toolset.Renderer{Type: toolset.RenderCode, File: "$args.path", Language: "auto", Editable: true},
		Annotations: toolset.Annotations{Destructive: true, Idempotent: true},
	}, nil)
}

type writeArgs struct {
	Path    string  `json:"path"`
	Content *string `json:"content"`
}

type writeData struct {
	Written string `json:"written"`
	Size    int    `json:"size"`
	Lines   int    `json:"lines"`
	Created bool   `json:"created"`
}

// prepare saves what the editor has not saved of the file that is about to be replaced.
func (a writeArgs) prepare(ctx context.Context, ws *toolset.Workspace) error {
	return saveUnsaved(ctx, ws, a.Path)
}

func (a writeArgs) run(ctx context.Context, ws *toolset.Workspace) (toolset.Result, error) {
	if a.Content == nil { // an empty file is asked for with ""
		return toolset.Result{}, toolset.Errorf("content is missing; write_file needs the whole content of the file")
	}
	content := *a.Content
	if len(content) > maxWrite {
		return toolset.Result{}, toolset.Errorf("content has %s; %s are allowed", size(int64(len(content))), size(maxWrite))
	}
	if strings.HasSuffix(a.Path, "/") {
		return toolset.Result{}, toolset.Errorf("path %s names a folder; give the path of a file", wspath.Show(a.Path))
	}
	at, err := findWritable(ws, a.Path)
	if err != nil {
		return toolset.Result{}, err
	}
	note := endingsNote(ws, at, content)
	saved, err := writeContent(ctx, ws, at, []byte(content))
	if err != nil {
		return toolset.Result{}, err
	}
	data := writeData{Written: dataName(at.Given), Size: len(content), Lines: countLines(content), Created: at.Info == nil}
	verb := "replaced"
	if data.Created {
		verb = "made"
	}
	text := fmt.Sprintf("%s %s (%s, %s)", verb, wspath.Show(at.Given), size(int64(len(content))), count(data.Lines, "line"))
	return result(text+note+saved, data)
}

// endingsNote tells a model that it turned a CRLF file into an LF file, which
// it seldom means to.
func endingsNote(ws *toolset.Workspace, at place, content string) string {
	if at.Info == nil || countEndings(content).String() != "lf" {
		return ""
	}
	f, err := openRegular(ws, at)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, sniffLength)
	n, _ := f.Read(head)
	if countEndings(string(head[:n])).String() != "crlf" {
		return ""
	}
	return "; its line endings were CRLF and are LF now"
}
