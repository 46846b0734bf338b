package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/wspath"
)

//go:embed search_files.md
var searchFilesText string

// Bounds of a search.
const (
	defaultMatches = 100
	maxSearchText  = 64 << 10 // of the text for the model
	maxShownLine   = 300      // bytes of a line
)

// searchFiles makes the tool search_files.
func searchFiles() toolset.Entry {
	return entry[searchArgs](toolset.Tool{
		ID: "search_files", Name: "Search Files", Description: searchFilesText,
		InputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"query": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "Text to search for"},
				"regexp": {"type": "boolean", "description": "Whether query is a regular expression"},
				"ignore_case": {"type": "boolean", "description": "Whether A and a are the same"},
				"path": {"type": "string", "description": "Folder or file, relative to the workspace; default the workspace itself"},
				"glob": {"type": "string", "description": "Only files that match, such as *.go or src/**/*.ts"},
				"context": {"type": "integer", "minimum": 0, "maximum": 10, "description": "Lines to show before and after each match"},
				"limit": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "Most matches to show"}
			},
			"required": ["query"],
			"additionalProperties": false
		}`),
		OutputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"matches": {
					"type": "array",
					"items": {
						"type": "object",
						"properties": {
							"path": {"type": "string", "description": "Relative to the workspace"},
							"line": {"type": "integer", "minimum": 1},
							"column": {"type": "integer", "minimum": 1, "description": "Byte in the line where the first match begins"},
							"text": {"type": "string", "description": "The line, or what is around the match in a long one"},
							"before": {"type": "array", "items": {"type": "string"}},
							"after": {"type": "array", "items": {"type": "string"}}
						},
						"required": ["path", "line", "column", "text"],
						"additionalProperties": false
					}
				},
				"files": {"type": "integer", "minimum": 0, "description": "Files searched"},
				"truncated": {"type": "boolean", "description": "Whether there may be more matches"},
				"binary": {"type": "integer", "minimum": 0, "description": "Binary files left out"},
				"unreadable": {"type": "integer", "minimum": 0, "description": "Files and folders that could not be read"},
				"text": {"type": "string", "description": "The result as text"}
			},
			"required": ["matches", "files", "truncated", "binary", "unreadable", "text"],
			"additionalProperties": false
		}`),
		Renderer:    &toolset.Renderer{Type: toolset.RenderCode, Content: "$return.text", Language: "text"},
		Annotations: toolset.Annotations{ReadOnly: true, Idempotent: true},
	}, nil)
}

type searchArgs struct {
	Query      string `json:"query"`
	Regexp     bool   `json:"regexp"`
	IgnoreCase bool   `json:"ignore_case"`
	Path       string `json:"path"`
	Glob       string `json:"glob"`
	Context    int    `json:"context"`
	Limit      int    `json:"limit"`
}

type searchData struct {
	Matches    []match `json:"matches"`
	Files      int     `json:"files"`
	Truncated  bool    `json:"truncated"`
	Binary     int     `json:"binary"`
	Unreadable int     `json:"unreadable"`
	Text       string  `json:"text"`
}

// match is one line that matches.
type match struct {
	Path   string   `json:"path"`
	Line   int      `json:"line"`
	Column int      `json:"column"`
	Text   string   `json:"text"`
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
}

func (a searchArgs) run(ctx context.Context, ws *toolset.Workspace) (toolset.Result, error) {
	finder, err := a.finder()
	if err != nil {
		return toolset.Result{}, err
	}
	glob, err := globber(a.Glob)
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
	if at.Info == nil && ws.Editor == nil {
		return toolset.Result{}, notThere(ws, at)
	}
	s := &searcher{ctx: ctx, ws: ws, find: finder, glob: glob, context: min(max(a.Context, 0), 10), limit: a.Limit}
	if s.limit <= 0 {
		s.limit = defaultMatches
	}
	s.data.Matches = []match{}
	if at.Info != nil && at.Info.IsDir() {
		err = s.walk(at.Name, at.Given, "")
	} else if err = s.file(at); err == nil && s.data.Binary > 0 {
		return toolset.Result{}, toolset.Errorf("%s is a binary file; search_files searches text only", wspath.Show(at.Given))
	}
	if err != nil {
		return toolset.Result{}, err
	}
	s.data.Text = s.text(a)
	return result(s.data.Text, s.data)
}

// text is what the model gets: a heading a file, then its lines.
func (s *searcher) text(a searchArgs) string {
	notes := s.notes()
	if len(s.data.Matches) == 0 {
		where := "the workspace"
		if a.Path != "." {
			where = wspath.Show(a.Path)
		}
		searched := fmt.Sprintf("no match in %s (%s searched", where, count(s.data.Files, "file"))
		return "[" + strings.Join(append([]string{searched}, notes...), ", ") + ")]"
	}
	if len(notes) == 0 {
		return strings.TrimSuffix(s.out.String(), "\n")
	}
	return s.out.String() + "[" + strings.Join(notes, ", ") + "]"
}

func (s *searcher) notes() []string {
	var notes []string
	if s.data.Truncated {
		notes = append(notes, fmt.Sprintf("stopped after %s; narrow it with path, glob or query", count(len(s.data.Matches), "match")))
	}
	if s.data.Binary > 0 {
		notes = append(notes, count(s.data.Binary, "binary file")+" left out")
	}
	if s.data.Unreadable > 0 {
		notes = append(notes, fmt.Sprintf("%d could not be read", s.data.Unreadable))
	}
	if s.hidden > 0 {
		notes = append(notes, fmt.Sprintf("%d not searched: a rule denies them", s.hidden))
	}
	switch {
	case s.failed:
		notes = append(notes, "the editor failed to return its text, so changes that are not saved may be missing")
	case s.unasked > 0:
		notes = append(notes, fmt.Sprintf("changes that are not saved in the editor were searched in the first %d files only", maxAsked))
	}
	return notes
}

// walk searches a folder, its files and folders in order of name. rel is
// relative to where the search began, for the glob.
func (s *searcher) walk(name, given, rel string) error {
	if err := s.ctx.Err(); err != nil || s.stop {
		return err
	}
	entries, more, err := readDir(s.ws, name, maxPerFolder)
	if err != nil && rel == "" {
		return wspath.Explain("search", given, err)
	}
	if err != nil {
		s.data.Unreadable++
		return nil
	}
	s.data.Truncated = s.data.Truncated || more
	siblings := nameSet(entries)
	for _, e := range entries {
		at := place{Given: path.Join(given, e.Name()), Name: path.Join(name, e.Name())}
		below := path.Join(rel, e.Name())
		switch {
		case s.stop:
			return nil
		case hiddenByRule(s.ws, at.Name):
			s.hidden++
		case e.IsDir():
			if skipped(s.ws, name, e.Name(), siblings) == "" {
				if err := s.walk(at.Name, at.Given, below); err != nil {
					return err
				}
			}
		case e.Type().IsRegular() && s.glob(below) && wspath.RefuseGit(s.ws, name, e.Name()) == nil:
			if at.Info, err = s.ws.Root.Lstat(at.Name); err != nil {
				s.data.Unreadable++
				continue
			}
			if err := s.file(at); err != nil {
				if s.ctx.Err() != nil {
					return err
				}
				s.data.Unreadable++
			}
		}
	}
	return nil
}
