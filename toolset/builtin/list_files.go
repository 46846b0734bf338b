package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/wspath"
)

//go:embed list_files.md
var listFilesText string

// Bounds of a listing. maxWalked keeps a call to some seconds where there are
// millions of files; maxPerFolder is what is held of one folder to sort it.
const (
	maxListed    = 500
	maxWalked    = 100_000
	maxPerFolder = 50_000
)

// listFiles makes the tool list_files.
func listFiles() toolset.Entry {
	return entry[listArgs](toolset.Tool{
		ID: "list_files", Name: "List Files", Description: listFilesText,
		InputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"path": {"type": "string", "description": "Folder to list, relative to the workspace; default the workspace itself"},
				"glob": {"type": "string", "description": "Only what matches, such as *.go or src/**/*.ts"},
				"depth": {"type": "integer", "minimum": 1, "description": "Levels to go down; default all"}
			},
			"additionalProperties": false
		}`),
		OutputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"path": {"type": "string"},
				"entries": {
					"type": "array",
					"items": {
						"type": "object",
						"properties": {
							"path": {"type": "string", "description": "Relative to the workspace"},
							"type": {"enum": ["file", "folder", "link", "special"]},
							"size": {"type": "integer", "minimum": 0, "description": "Bytes, of a file"},
							"target": {"type": "string", "description": "Where a link leads"},
							"note": {"type": "string", "description": "Why a folder was not walked, or what a special file is"}
						},
						"required": ["path", "type"],
						"additionalProperties": false
					}
				},
				"more": {"type": "integer", "minimum": 0, "description": "Entries that were left out"},
				"more_is_minimum": {"type": "boolean", "description": "Whether there may be still more than that"},
				"text": {"type": "string", "description": "The listing as text"}
			},
			"required": ["path", "entries", "more", "more_is_minimum", "text"],
			"additionalProperties": false
		}`),
		Renderer:    &toolset.Renderer{Type: toolset.RenderCode, Content: "$return.text", Language: "text"},
		Annotations: toolset.Annotations{ReadOnly: true, Idempotent: true},
	}, nil)
}

type listArgs struct {
	Path  string `json:"path"`
	Glob  string `json:"glob"`
	Depth int    `json:"depth"`
}

type listData struct {
	Path    string      `json:"path"`
	Entries []listEntry `json:"entries"`
	More    int         `json:"more"`
	Minimum bool        `json:"more_is_minimum"`
	Text    string      `json:"text"`
}

type listEntry struct {
	Path   string `json:"path"`
	Type   string `json:"type"`
	Size   *int64 `json:"size,omitempty"`
	Target string `json:"target,omitempty"`
	Note   string `json:"note,omitempty"`

	name, target string // exact
}

func (a listArgs) run(ctx context.Context, ws *toolset.Workspace) (toolset.Result, error) {
	match, err := globber(a.Glob)
	if err != nil {
		return toolset.Result{}, err
	}
	if a.Path == "" {
		a.Path = "."
	}
	at, err := resolve(ws, a.Path)
	if err != nil {
		return toolset.Result{}, err
	}
	if at.Info == nil {
		return toolset.Result{}, notThere(ws, at)
	}
	l := &lister{ctx: ctx, ws: ws, match: match, depth: a.Depth, given: at.Given}
	if at.Info.IsDir() {
		err = l.walk(at.Name)
	} else {
		l.found = []listEntry{describe(ws, at.Name, at.Given, at.Info.Mode().Type())}
	}
	if err != nil {
		return toolset.Result{}, err
	}
	slices.SortFunc(l.found, func(a, b listEntry) int {
		return slices.Compare(strings.Split(a.name, "/"), strings.Split(b.name, "/"))
	})
	data := listData{Path: dataName(at.Given), Entries: l.found, More: l.more, Minimum: l.unfinished}
	data.Text = l.text(at, a)
	return result(data.Text, data)
}

// lister walks level by level, so that what is left out is what lies deepest.
type lister struct {
	ctx   context.Context
	ws    *toolset.Workspace
	match func(rel string) bool
	depth int
	given string // of the folder where the walk begins

	found      []listEntry
	more       int
	walked     int
	hidden     int  // entries that a rule denies
	unfinished bool // there is more than was counted
}

// folder is one that the walk has still to look into. Its name is free of
// links; rel is relative to where the walk began.
type folder struct{ name, rel string }

func (l *lister) walk(root string) error {
	l.found = []listEntry{}
	level := []folder{{name: root}}
	for depth := 1; len(level) > 0 && (l.depth == 0 || depth <= l.depth); depth++ {
		var next []folder
		for _, dir := range level {
			subs, err := l.look(dir, depth == 1)
			if err != nil {
				return err
			}
			next = append(next, subs...)
		}
		level = next
	}
	return nil
}

// look lists one folder and gives the folders in it that are to be walked. One
// that can't be read gets a note, unless it is the one that was asked for.
func (l *lister) look(dir folder, asked bool) ([]folder, error) {
	if err := l.ctx.Err(); err != nil {
		return nil, err
	}
	if l.walked >= maxWalked {
		l.unfinished = true
		return nil, nil
	}
	entries, more, err := readDir(l.ws, dir.name, maxPerFolder)
	if err != nil && asked {
		return nil, wspath.Explain("list", l.given, err)
	}
	if err != nil {
		l.note(dir.rel, "can't be read")
		return nil, nil
	}
	l.unfinished = l.unfinished || more
	l.walked += len(entries)
	siblings := nameSet(entries)
	var subs []folder
	for i, e := range entries {
		if i%1000 == 999 && l.ctx.Err() != nil {
			return nil, l.ctx.Err()
		}
		rel := path.Join(dir.rel, e.Name())
		name := path.Join(dir.name, e.Name())
		if hiddenByRule(l.ws, name) {
			l.hidden++
			continue
		}
		why := ""
		if e.IsDir() {
			why = skipped(l.ws, dir.name, e.Name(), siblings)
			if why == "" {
				subs = append(subs, folder{name: name, rel: rel})
			}
		}
		if !l.match(rel) {
			continue
		}
		if len(l.found) >= maxListed {
			l.more++
			continue
		}
		d := describe(l.ws, name, path.Join(l.given, rel), e.Type())
		if why != "" {
			d.Note = l.contents(name, why)
		}
		l.found = append(l.found, d)
	}
	return subs, nil
}

// contents says what a folder that isn't walked holds.
func (l *lister) contents(name, why string) string {
	if why != "generated" {
		return why + ", not listed"
	}
	entries, more, err := readDir(l.ws, name, maxPerFolder)
	if err != nil {
		return why + ", not listed"
	}
	n := count(len(entries), "entry")
	if more {
		n = "over " + n
	}
	return fmt.Sprintf("%s, %s, not listed", why, n)
}

// note adds to the entry of a folder that was found on the level above.
func (l *lister) note(rel, text string) {
	name := path.Join(l.given, rel)
	for i := range l.found {
		if l.found[i].name == name {
			l.found[i].Note = text
		}
	}
}

// describe makes the entry of one file. What vanishes meanwhile has no size.
func describe(ws *toolset.Workspace, name, shown string, m fs.FileMode) listEntry {
	e := listEntry{Path: dataName(shown), name: shown, Type: "special"}
	switch {
	case m.IsDir():
		e.Type = "folder"
	case m&fs.ModeSymlink != 0:
		e.Type = "link"
		if target, err := ws.Root.Readlink(name); err == nil {
			e.Target, e.target = dataName(target), target
		}
	case m.IsRegular():
		e.Type = "file"
		if info, err := ws.Root.Lstat(name); err == nil && info.Mode().IsRegular() {
			n := info.Size()
			e.Size = &n
		}
	default:
		e.Note = wspath.KindName(m)
	}
	return e
}

func (l *lister) text(at place, a listArgs) string {
	var b strings.Builder
	for _, e := range l.found {
		b.WriteString(wspath.Show(e.name))
		switch {
		case e.Type == "folder":
			b.WriteByte('/')
		case e.Type == "link":
			b.WriteString(" -> " + wspath.Show(e.target))
		case e.Size != nil:
			b.WriteString("  " + size(*e.Size))
		}
		if e.Note != "" {
			b.WriteString("  [" + e.Note + "]")
		}
		b.WriteByte('\n')
	}
	switch {
	case len(l.found) == 0 && a.Glob != "":
		fmt.Fprintf(&b, "[nothing in %s matches %s]\n", wspath.Show(at.Given), wspath.Show(a.Glob))
	case len(l.found) == 0:
		fmt.Fprintf(&b, "[%s is empty]\n", wspath.Show(at.Given))
	}
	atLeast := ""
	if l.unfinished {
		atLeast = "at least "
	}
	if l.more > 0 || l.unfinished {
		fmt.Fprintf(&b, "[%s listed, %s%d more not; narrow it with path, glob or depth]\n", count(len(l.found), "entry"), atLeast, l.more)
	}
	if l.hidden > 0 {
		fmt.Fprintf(&b, "[%s not listed: a rule denies them]\n", count(l.hidden, "entry"))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
