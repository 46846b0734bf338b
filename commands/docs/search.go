package docs

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/search"
	"github.com/fettle-cli/fettle/engine/store"
)

const searchPath = "fettle docs search"

const searchDescription = `Finds passages of documents, the best first. A passage has at most 1,200 bytes.

Without an embedding model, passages are found that have a word of QUERY, and those
with more words, with rarer words and with more occurrences come first (BM25). Words are as in
fettle chats search: wor*, "a phrase", -word; case and accents make no difference.

With the setting embedding, passages are also found by meaning: the vector of each
passage is compared with that of QUERY. The order joins both rankings (reciprocal
rank fusion: the sum of 1/(60 + rank)), so what is high in both comes first. A
passage with an excluded word is left out. The first search sends the text of all
documents to the model's provider; later ones send QUERY and new documents. A
search that is stopped continues the next time. --words sends nothing.

In a pipe each passage is a line of name, line number, score and excerpt, with tabs
between.`

// searchOptions are the flags and arguments of docs search.
type searchOptions struct {
	find   engine.DocumentSearch
	output string
}

// searchJSON is what `docs search --output json` prints.
type searchJSON struct {
	SchemaVersion int           `json:"schema_version"`
	Query         string        `json:"query"` // as it was understood
	Model         string        `json:"model,omitempty"`
	Embedded      int           `json:"embedded"`
	Tokens        int64         `json:"tokens"`
	NoMeaning     string        `json:"no_meaning,omitempty"`
	Passages      []passageJSON `json:"passages"`
}

// passageJSON is a passage that was found.
type passageJSON struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Line    int      `json:"line"`
	Start   int      `json:"start"`
	End     int      `json:"end"`
	Text    string   `json:"text"`
	Offsets [][2]int `json:"offsets"`
	Score   float64  `json:"score"`
	Words   int      `json:"words_rank,omitempty"`
	Meaning int      `json:"meaning_rank,omitempty"`
	Cosine  float64  `json:"cosine,omitempty"`
}

func newSearch(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "search",
		Usage:       "find passages of documents by words and by meaning",
		ArgsUsage:   "QUERY",
		Description: searchDescription,
		UsageText:   "fettle docs add report.md\nfettle docs search how are refunds paid\nfettle docs search --words '\"net price\" -draft' -n 5 -o json",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "limit", Aliases: []string{"n"}, Value: 10, Usage: fmt.Sprintf("list at most `N` passages, up to %d", engine.MaxFoundPassages)},
			&cli.BoolFlag{Name: "words", Usage: "find by words alone, and send nothing to a provider"},
			cmdline.OutputFlag(),
		},
		Action: workbench.Run(rt, readSearch, runSearch),
	}
}

func readSearch(c *cli.Context) (searchOptions, error) {
	o := searchOptions{output: c.String("output"), find: engine.DocumentSearch{Limit: c.Int("limit"), OnlyWords: c.Bool("words")}}
	if n := o.find.Limit; n < 1 || n > engine.MaxFoundPassages {
		return o, cmdline.Usagef(searchPath+" -n 20 refunds", "--limit is a number from 1 to %d, not %d", engine.MaxFoundPassages, n)
	}
	var err error
	o.find.Query, err = search.Parse(strings.Join(c.Args().Slice(), " "))
	switch {
	case errors.Is(err, search.ErrEmpty):
		err = cmdline.Usagef(searchPath+" refunds", "%s: docs search requires a word", err)
	case errors.Is(err, search.ErrOnlyNot):
		err = cmdline.Usagef(searchPath+" 'refunds -draft'", "%s: docs search also requires a word to find", err)
	case err != nil:
		err = cmdline.Usagef(searchPath+" refunds", "%s", err)
	}
	return o, err
}

func runSearch(ctx context.Context, rt *workbench.Runtime, o searchOptions) error {
	cfg, err := rt.Config(nil)
	if err != nil {
		return err
	}
	rt.NameModels(cfg.Embedding)
	eng, err := rt.EngineFor(cfg, nil)
	if err != nil {
		return err
	}
	bar, reported := rt.Streams.Progress("embedding"), false
	o.find.Progress = func(p engine.DocumentEmbedding) {
		if !reported {
			rt.Notice(fmt.Sprintf("embedding %s, %s, with %s, which gets their text", term.Count(p.Documents, "document", "documents"), term.Size(p.Bytes), p.Model))
		}
		reported = true
		bar.Bytes(p.Done, p.Bytes)
	}
	found, err := eng.SearchDocuments(ctx, o.find)
	bar.Clear()
	if err != nil {
		return err
	}
	if found.NoMeaning != nil {
		rt.Notice("found by words alone: " + found.NoMeaning.Error())
	}
	if o.output == "json" {
		return workbench.PrintJSON(rt, searchAsJSON(o, found))
	}
	switch {
	case found.Searched == 0:
		rt.Notice("there are no documents with text; fettle docs add FILE stores one")
		return nil
	case len(found.Passages) == 0:
		rt.Notice("no document has " + o.find.Query.String())
	}
	if cfg.Embedding == "" && !o.find.OnlyWords && (len(found.Passages) == 0 || rt.Streams.Err.IsTerminal()) {
		defer rt.Hint("fettle config set embedding ollama/nomic-embed-text   finds by meaning, too")
	}
	return rt.Streams.Page(func() error {
		showPassages(rt.Streams.Out, o.find.Query, found)
		return rt.Streams.Out.Err()
	})
}

func searchAsJSON(o searchOptions, found *engine.FoundDocuments) searchJSON {
	out := searchJSON{
		SchemaVersion: workbench.OutputVersion, Query: o.find.Query.String(), Model: found.Model,
		Embedded: found.Embedded, Tokens: found.Tokens, Passages: []passageJSON{},
	}
	if found.NoMeaning != nil {
		out.NoMeaning = found.NoMeaning.Error()
	}
	for _, p := range found.Passages {
		offsets := p.At
		if offsets == nil {
			offsets = [][2]int{}
		}
		out.Passages = append(out.Passages, passageJSON{
			ID: p.Document.ID, Name: p.Document.Name, Line: p.Line, Start: p.Start, End: p.End, Text: p.Text, Offsets: offsets,
			Score: p.Score, Words: p.Words, Meaning: p.Meaning, Cosine: p.Cosine,
		})
	}
	return out
}

// excerptLines is how many lines of a terminal an excerpt fills at most.
const excerptLines = 3

// showPassages prints a passage as two lines on a terminal, and as one line in a pipe.
func showPassages(out *term.Output, q search.Query, found *engine.FoundDocuments) {
	width := store.DefaultWidth
	if out.IsTerminal() && out.Width() > 0 {
		width = max(excerptLines*(out.Width()-2), 40)
	}
	style := out.Style()
	for i, p := range found.Passages {
		excerpt, at := search.Excerpt(p.Text, q.Find(p.Text), width)
		if !out.IsTerminal() {
			out.Printf("%s\t%d\t%s\t%s\n", p.Document.Name, p.Line, score(p.Score), term.Clean(excerpt))
			continue
		}
		if i > 0 {
			out.WriteString("\n")
		}
		out.Printf("%s%s\n  %s\n", style.Cyan(term.Clean(p.Document.Name)), style.Dim(":"+strconv.Itoa(p.Line)+"  "+score(p.Score)), show.Marked(excerpt, at, style, 0))
	}
}

func score(x float64) string { return strconv.FormatFloat(x, 'f', 4, 64) }
