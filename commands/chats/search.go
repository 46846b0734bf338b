package chats

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/search"
	"github.com/fettle-cli/fettle/engine/store"
)

const searchDescription = `Finds the chats in which all of QUERY occurs, the last used first: in titles, in
what you and the models wrote, in files that came along, and in what tools were
called with. Case and accents make no difference.

  word        the word
  wor*        every word that begins so
  "a phrase"  these words beside each other, in quotes of its own for the shell
  -word       leaves out chats that have it; so does -"a phrase"

An argument that begins with a minus stands behind --. What was not written by
a person or as an answer, thoughts and results of tools, is not searched, and of
a message the first 64 KB. In a pipe each match is a line of number, title,
role and excerpt, with tabs between. --after takes the number that the page
before ended with.`

type searchOptions struct {
	output string
	find   store.SearchChats
}

func newChatsSearch(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "search",
		Usage:       "find chats by what was said in them",
		ArgsUsage:   "QUERY",
		Description: searchDescription,
		UsageText: `fettle chats search sky blue
fettle chats search '"why is" sk* -green' --since 4w
fettle chats search --model 'qwen*' -n 5 -o json sky`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "model", Aliases: []string{"m"}, Usage: "leave out chats in which no model like `GLOB` was used, such as 'qwen*'"},
			&cli.StringFlag{Name: "since", Usage: "leave out what was used last before `TIME`: 7d (today and the six days before), 4w, or a date such as 2026-01-31"},
			&cli.StringFlag{Name: "until", Usage: "leave out what was used after the day `TIME`, as for --since"},
			&cli.IntFlag{Name: "limit", Aliases: []string{"n"}, Value: 10, Usage: "list at most `N`; 0 is all"},
			&cli.Int64Flag{Name: "after", Usage: "go on with the page behind `NEXT`"},
			cmdline.OutputFlag(),
		},
		Action: workbench.RunOnStore(rt, readSearch, runChatsSearch),
	}
}

const searchPath = "fettle chats search"

func readSearch(c *cli.Context) (searchOptions, error) {
	o := searchOptions{output: c.String("output"), find: store.SearchChats{
		Model: c.String("model"), Limit: c.Int("limit"), After: c.Int64("after"),
	}}
	switch {
	case o.find.Limit < 0:
		return o, cmdline.Usagef(searchPath+" sky -n 0", "--limit wants a number of at least 0, not %d", o.find.Limit)
	case o.find.After < 0:
		return o, cmdline.Usagef(searchPath+" sky", "--after wants the number that a page ended with, not %d", o.find.After)
	case store.CheckModelPattern(o.find.Model) != nil:
		return o, cmdline.Usagef(searchPath+" --model 'qwen*' sky", "--model wants a pattern such as 'qwen*', not %s", strconv.Quote(o.find.Model))
	}
	var err error
	if o.find.Since, o.find.Until, err = readPeriod(c, time.Now()); err != nil {
		return o, err
	}
	o.find.Query, err = search.Parse(strings.Join(c.Args().Slice(), " "))
	return o, queryFault(err)
}

// readPeriod reads --since and --until. Until is the end of its day.
func readPeriod(c *cli.Context, now time.Time) (since, until time.Time, err error) {
	for _, name := range []string{"since", "until"} {
		if !c.IsSet(name) {
			continue
		}
		t, err := time.ParseInLocation(time.DateOnly, c.String(name), now.Location())
		if err != nil {
			t, err = cmdline.ParseSince(c.String(name), now)
		}
		if err != nil {
			return since, until, cmdline.Usagef(searchPath+" sky --"+name+" 7d", "--%s wants %s, not %s", name, cmdline.ErrSince, strconv.Quote(c.String(name)))
		}
		if name == "since" {
			since = t
		} else {
			until = t
		}
	}
	if !until.IsZero() {
		if until = until.AddDate(0, 0, 1); !since.Before(until) {
			return since, until, cmdline.Usagef(searchPath+" sky --since 4w --until 1w", "--since is later than --until")
		}
	}
	return since, until, nil
}

// queryFault says what a query lacks.
func queryFault(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, search.ErrEmpty):
		return cmdline.Usagef(searchPath+" sky blue", "%s: chats search wants a word", err)
	case errors.Is(err, search.ErrOnlyNot):
		return cmdline.Usagef(searchPath+" 'sky -blue'", "%s: chats search wants a word that occurs, too", err)
	}
	return cmdline.Usagef(searchPath+" sky blue", "%s", err)
}

// searchJSON is what `chats search --output json` prints.
type searchJSON struct {
	SchemaVersion int             `json:"schema_version"`
	Query         string          `json:"query"` // as it was understood
	Chats         []foundChatJSON `json:"chats"`
	Next          int64           `json:"next,omitempty"` // for --after, where there are more
}

type foundChatJSON struct {
	Number       int64       `json:"number"`
	ID           string      `json:"id"`
	Title        string      `json:"title"`
	TitleOffsets [][2]int    `json:"title_offsets"`
	Model        string      `json:"model"`
	UpdatedAt    time.Time   `json:"updated_at"`
	Matches      []matchJSON `json:"matches"`
}

type matchJSON struct {
	MessageID string            `json:"message_id"`
	Role      provider.Role     `json:"role"`
	CreatedAt time.Time         `json:"created_at"`
	Part      provider.PartKind `json:"part"`
	Snippet   string            `json:"snippet"`
	Offsets   [][2]int          `json:"offsets"`
}

func searchAsJSON(o searchOptions, page store.FoundPage) searchJSON {
	out := searchJSON{SchemaVersion: workbench.OutputVersion, Query: o.find.Query.String(), Chats: []foundChatJSON{}, Next: page.Next}
	for _, f := range page.Chats {
		found := foundChatJSON{
			Number: f.Chat.Number, ID: f.Chat.ID, Title: f.Chat.Title, TitleOffsets: orNone(f.TitleAt),
			Model: f.Chat.Model, UpdatedAt: f.Chat.UpdatedAt, Matches: []matchJSON{},
		}
		for _, m := range f.Matches {
			found.Matches = append(found.Matches, matchJSON{m.MessageID, m.Role, m.CreatedAt, m.In, m.Excerpt, orNone(m.At)})
		}
		out.Chats = append(out.Chats, found)
	}
	return out
}

func orNone(places [][2]int) [][2]int {
	if places == nil {
		return [][2]int{}
	}
	return places
}

const (
	// indent and widestWho are the columns before an excerpt on a terminal: a
	// name is cut to widestWho.
	indent    = 2
	widestWho = 12
	// besideExcerpt is all that a line has besides the excerpt.
	besideExcerpt = indent + widestWho + 2
)

func runChatsSearch(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, o searchOptions) error {
	out := rt.Streams.Out
	if o.output == "text" && out.IsTerminal() {
		o.find.Width = max(out.Width()-besideExcerpt, 0)
	}
	bar := rt.Streams.Progress("indexing older chats")
	o.find.Indexing = func(done, total int) {
		bar.Stage(term.Number(int64(done)) + " of " + term.Number(int64(total)))
	}
	page, err := eng.SearchChats(ctx, o.find)
	bar.Clear()
	if err != nil {
		return err
	}
	if o.output == "json" {
		return workbench.PrintJSON(rt, searchAsJSON(o, page))
	}
	if len(page.Chats) == 0 {
		rt.Notice(nothingFound(o))
		return nil
	}
	if err := rt.Streams.Page(func() error {
		showPage(out, page)
		return out.Err()
	}); err != nil {
		return err
	}
	if page.Next != 0 && rt.Streams.Err.IsTerminal() {
		rt.Streams.Err.Printf("  %s\n", rt.Streams.Err.Style().Dim("there are more: --after "+strconv.FormatInt(page.Next, 10)+" goes on"))
	}
	return nil
}

func showPage(out *term.Output, page store.FoundPage) {
	now := time.Now()
	for i, f := range page.Chats {
		if out.IsTerminal() {
			showFound(out, f, now, i > 0)
		} else {
			listFound(out, f)
		}
	}
}

func nothingFound(o searchOptions) string {
	text := "no chat has " + o.find.Query.String()
	switch {
	case o.find.After != 0:
		text = "no further chat has " + o.find.Query.String()
	case o.find.Model != "" || !o.find.Since.IsZero() || !o.find.Until.IsZero():
		text += " where --model, --since and --until allow"
	}
	return text
}

// listFound prints a line for each match, or one without a match where the
// title alone has it.
func listFound(out *term.Output, f store.FoundChat) {
	number, title := strconv.FormatInt(f.Chat.Number, 10), term.Clean(f.Chat.Title)
	if len(f.Matches) == 0 {
		out.Printf("%s\t%s\t%s\t%s\n", number, title, "", "")
	}
	for _, m := range f.Matches {
		out.Printf("%s\t%s\t%s\t%s\n", number, title, m.Role, term.Clean(m.Excerpt))
	}
}

// showFound prints a chat and its matches for a person.
func showFound(out *term.Output, f store.FoundChat, now time.Time, gap bool) {
	style := out.Style()
	if gap {
		out.WriteString("\n")
	}
	number := strconv.FormatInt(f.Chat.Number, 10)
	used := term.Ago(now, f.Chat.UpdatedAt)
	room := 0
	if out.Width() > 0 {
		room = max(out.Width()-term.Cells(number)-term.Cells(used)-4, 8)
	}
	out.Printf("%s  %s  %s\n", style.Cyan(number), show.Marked(f.Chat.Title, f.TitleAt, style, room), style.Dim(used))
	for _, m := range f.Matches {
		room = 0
		if out.Width() > 0 {
			room = max(out.Width()-besideExcerpt, 8)
		}
		who := "you"
		if m.Role != provider.User {
			_, name, _ := strings.Cut(m.Model, "/")
			who = term.CutMiddle(term.Clean(cmp.Or(name, m.Model, "answer")), widestWho)
		}
		pad := strings.Repeat(" ", max(widestWho-term.Cells(who), 0)+2)
		out.Printf("%*s%s%s%s\n", indent, "", style.Dim(who), pad, show.Marked(m.Excerpt, m.At, style, room))
	}
}
