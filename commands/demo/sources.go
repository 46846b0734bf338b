package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/gallery"
)

// standIns run the two functions of the demo's toolset without Python: the same
// search in the same files, as tools/mocks.py there has it.
func standIns() map[string]toolset.Runner {
	return map[string]toolset.Runner{
		toolsetID + ":read_notion_mock": source("mock_notion.json", "docs", "document", "Notion", func(f map[string]string) (string, string) {
			return f["title"] + " " + f["content"], fmt.Sprintf("[Notion | %s | Last updated: %s] %s", f["title"], f["last_updated"], f["content"])
		}),
		toolsetID + ":read_slack_mock": source("mock_slack.json", "messages", "message", "Slack", func(f map[string]string) (string, string) {
			return f["text"], fmt.Sprintf("[Slack | %s | %s | %s] %s", f["channel"], f["user"], f["date"], f["text"])
		}),
	}
}

// source is a tool that searches one file. shows gives what is searched in an
// entry, and how a hit is told.
func source(file, list, what, where string, shows func(map[string]string) (searched, hit string)) toolset.Runner {
	return toolset.RunnerFunc(func(_ context.Context, c toolset.Call) (toolset.Result, error) {
		var args struct {
			Query string `json:"query"`
		}
		if err := json.Unmarshal(c.Args, &args); err != nil {
			return toolset.Result{}, err
		}
		files, err := gallery.Files(toolsetID)
		if err != nil {
			return toolset.Result{}, err
		}
		data, err := fs.ReadFile(files, path.Join("assets/data", file))
		if err != nil {
			return toolset.Result{}, err
		}
		var all map[string][]map[string]string
		if err := json.Unmarshal(data, &all); err != nil {
			return toolset.Result{}, fmt.Errorf("read %s: %w", file, err)
		}
		var hits []string
		for _, entry := range all[list] {
			if searched, hit := shows(entry); hasWord(searched, args.Query) {
				hits = append(hits, hit)
			}
		}
		text := strings.Join(hits, "\n")
		if text == "" {
			text = fmt.Sprintf("No relevant %s %s found for query: %s", where, what, args.Query)
		}
		out, err := json.Marshal(map[string]string{"text": text})
		return toolset.Result{Text: text, Data: out}, err
	})
}

// hasWord tells whether a text has any word of the query, whatever its case.
func hasWord(text, query string) bool {
	text = strings.ToLower(text)
	words := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
