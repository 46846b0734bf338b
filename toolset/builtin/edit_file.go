package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/wspath"
)

//go:embed edit_file.md
var editFileText string

// maxEdits bounds the edits of one call.
const maxEdits = 100

// editFile makes the tool edit_file.
func editFile() toolset.Entry {
	return entry[editArgs](toolset.Tool{
		ID: "edit_file", Name: "Edit File", Description: editFileText,
		InputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"path": {"type": "string", "description": "Path of the file, relative to the workspace"},
				"old_text": {"type": "string", "minLength": 1, "description": "The text to replace, exactly as it stands in the file"},
				"new_text": {"type": "string", "description": "What stands there afterwards; empty to delete old_text"},
				"replace_all": {"type": "boolean", "description": "Replace every place where old_text stands"},
				"edits": {
					"type": "array", "minItems": 1, "maxItems": 100,
					"description": "Several changes, instead of old_text and new_text",
					"items": {
						"type": "object",
						"properties": {
							"old_text": {"type": "string", "minLength": 1},
							"new_text": {"type": "string"},
							"replace_all": {"type": "boolean"}
						},
						"required": ["old_text", "new_text"],
						"additionalProperties": false
					}
				}
			},
			"required": ["path"],
			"additionalProperties": false
		}`),
		OutputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"path": {"type": "string"},
				"size": {"type": "integer", "minimum": 0, "description": "Bytes of the file afterwards"},
				"replacements": {"type": "integer", "minimum": 1},
				"edits": {
					"type": "array",
					"items": {
						"type": "object",
						"properties": {
							"lines": {"type": "array", "items": {"type": "integer", "minimum": 1}, "description": "Where the replaced texts began, at most 20"},
							"replacements": {"type": "integer", "minimum": 1}
						},
						"required": ["lines", "replacements"],
						"additionalProperties": false
					}
				}
			},
			"required": ["path", "size", "replacements", "edits"],
			"additionalProperties": false
		}`),
		Renderer:    &toolset.Renderer{Type: toolset.RenderCode, File: "$args.path", Language: "auto", Editable: true},
		Annotations: toolset.Annotations{Destructive: true},
	}, nil)
}

type editArgs struct {
	Path       string  `json:"path"`
	OldText    *string `json:"old_text"`
	NewText    *string `json:"new_text"`
	ReplaceAll bool    `json:"replace_all"`
	Edits      []edit  `json:"edits"`
}

// edit is one replacement that is asked for.
type edit struct {
	OldText    string `json:"old_text"`
	NewText    string `json:"new_text"`
	ReplaceAll bool   `json:"replace_all"`
}

type editData struct {
	Path         string     `json:"path"`
	Size         int        `json:"size"`
	Replacements int        `json:"replacements"`
	Edits        []editDone `json:"edits"`
}

// editDone is one replacement that was made.
type editDone struct {
	Lines        []int `json:"lines"`
	Replacements int   `json:"replacements"`
}

func (a editArgs) run(ctx context.Context, ws *toolset.Workspace) (toolset.Result, error) {
	edits, err := a.edits()
	if err != nil {
		return toolset.Result{}, err
	}
	at, err := findWritable(ws, a.Path)
	if err != nil {
		return toolset.Result{}, err
	}
	raw, err := readForEdit(ctx, ws, at, edits)
	if err != nil {
		return toolset.Result{}, err
	}
	out, done, err := applyEdits(raw, edits)
	if err != nil {
		return toolset.Result{}, toolset.Errorf("%s: %w", wspath.Show(at.Given), err)
	}
	if len(out) > maxWrite {
		return toolset.Result{}, toolset.Errorf("%s would have %s; %s are allowed", wspath.Show(at.Given), size(int64(len(out))), size(maxWrite))
	}
	note, err := writeContent(ctx, ws, at, out)
	if err != nil {
		return toolset.Result{}, err
	}
	data := editData{Path: dataName(at.Given), Size: len(out), Edits: done}
	var lines []string
	for _, d := range done {
		data.Replacements += d.Replacements
		for _, l := range d.Lines {
			lines = append(lines, fmt.Sprint(l))
		}
	}
	if len(lines) > maxShownLines {
		lines = append(lines[:maxShownLines], "…")
	}
	where := "line "
	if len(lines) > 1 {
		where = "lines "
	}
	return result(fmt.Sprintf("edited %s: %s (%s)", wspath.Show(at.Given), count(data.Replacements, "replacement"), where+strings.Join(lines, ", "))+note, data)
}

// edits gives the edits in either form.
func (a editArgs) edits() ([]edit, error) {
	switch {
	case len(a.Edits) > 0 && (a.OldText != nil || a.NewText != nil):
		return nil, toolset.Errorf("give either old_text and new_text, or edits, not both")
	case len(a.Edits) > maxEdits:
		return nil, toolset.Errorf("%d edits; %d are allowed in one call", len(a.Edits), maxEdits)
	case len(a.Edits) > 0:
		return a.Edits, nil
	case a.OldText == nil:
		return nil, toolset.Errorf("old_text is missing; give old_text and new_text, or edits")
	case a.NewText == nil:
		return nil, toolset.Errorf("new_text is missing; give an empty one to delete old_text")
	}
	return []edit{{OldText: *a.OldText, NewText: *a.NewText, ReplaceAll: a.ReplaceAll}}, nil
}

// prepare saves what the editor has not saved of the file, if the edits fit it.
func (a editArgs) prepare(ctx context.Context, ws *toolset.Workspace) error {
	edits, err := a.edits()
	if err != nil {
		return nil // run reports it, and what is wrong below
	}
	at, err := findWritable(ws, a.Path)
	if err != nil {
		return nil
	}
	raw, err := readForEdit(ctx, ws, at, edits)
	if err != nil {
		return nil
	}
	if _, _, err := applyEdits(raw, edits); err != nil {
		return nil
	}
	return saveUnsaved(ctx, ws, a.Path)
}

// readForEdit reads a whole file, if it is one that can be edited as text: what the editor
// has of it, where that is not saved.
func readForEdit(ctx context.Context, ws *toolset.Workspace, at place, edits []edit) ([]byte, error) {
	text, unsaved, err := unsavedText(ctx, ws, at)
	switch {
	case err != nil:
		return nil, toolset.Errorf("%w; nothing was changed", err)
	case unsaved:
		return []byte(text), nil
	case at.Info == nil:
		return nil, notThere(ws, at)
	}
	if at.Info.Size() > maxWrite {
		return nil, toolset.Errorf("%s has %s; edit_file takes files up to %s", wspath.Show(at.Given), size(at.Info.Size()), size(maxWrite))
	}
	raw, err := readDisk(ws, at)
	if err != nil {
		return nil, err
	}
	switch enc := sniff(raw[:min(len(raw), sniffLength)]); {
	case enc == notText:
		return nil, toolset.Errorf("%s is a binary file; edit_file changes text only", wspath.Show(at.Given))
	case enc != utf8Text:
		return nil, toolset.Errorf("%s is %s; edit_file changes UTF-8 text only", wspath.Show(at.Given), strings.ToUpper(string(enc)))
	case !utf8.Valid(raw):
		for _, e := range edits { // Latin-1 perhaps: plain ASCII fits in any of them
			if strings.IndexFunc(e.NewText, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 {
				return nil, toolset.Errorf("%s is not valid UTF-8, so only plain ASCII can be put in; new_text has other characters", wspath.Show(at.Given))
			}
		}
	}
	return raw, nil
}
