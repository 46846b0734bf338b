package usage

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/store"
)

// usageOptions are the flags of usage.
type usageOptions struct {
	by     string // model, day, chat
	since  time.Time
	output string
}

const usageDescription = `Tokens are the counts that providers report, never an estimate. Cached tokens are a
part of the input, reasoning tokens of the output. The cost follows the
setting prices, else the table of models (fettle models update). Models without a
price are left out, and a note names them:

  prices:
    openai/gpt-5: {input: 1.25, output: 10, cached: 0.125, currency: USD}

A price is for a million tokens; cache_write is that of input which the provider
keeps for later and charges more for, as Anthropic does.

--ephemeral questions keep nothing, so they aren't counted; the tokens of chats
that were deleted stay counted. A day ends at midnight where the machine was.
What nobody knows is –. In a pipe each row is a line with tabs between, the numbers
without commas and without a sum.`

// New is the command usage.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "usage",
		Usage:       "sum up the tokens that were used, and what they cost",
		Description: usageDescription,
		UsageText:   "fettle usage\nfettle usage --by day --since 7d\nfettle usage --by chat -o json",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "by", Value: "model", Usage: "sum up by `WHAT`: model, day or chat"},
			&cli.StringFlag{Name: "since", Usage: "leave out what is older than `TIME`: 7d (today and the six days before), 4w, or a date such as 2026-01-31"},
			rt.InProfile(""), cmdline.OutputFlag(),
		},
		Action: workbench.Run(rt, readUsage, runUsage),
	}
}

func readUsage(c *cli.Context) (usageOptions, error) {
	const path = "fettle usage"
	o := usageOptions{by: c.String("by"), output: c.String("output")}
	if err := cmdline.NoArguments(c); err != nil {
		return o, err
	}
	if !slices.Contains([]string{"model", "day", "chat"}, o.by) {
		return o, cmdline.Usagef(path+" --by day", "--by sums up by model, day or chat, not by %s", strconv.Quote(o.by))
	}
	if !c.IsSet("since") {
		return o, nil
	}
	since, err := cmdline.ParseSince(c.String("since"), time.Now())
	if err != nil {
		return o, cmdline.Usagef(path+" --since 7d", "--since wants %s, not %s", err, strconv.Quote(c.String("since")))
	}
	o.since = since
	return o, nil
}

func runUsage(ctx context.Context, rt *workbench.Runtime, o usageOptions) error {
	cfg, err := rt.Config(nil)
	if err != nil {
		return err
	}
	eng, err := rt.EngineFor(cfg, nil)
	if err != nil {
		return err
	}
	read := eng.UsageByDay
	if o.by == "chat" {
		read = eng.UsageByChat
	}
	spent, err := read(ctx, o.since)
	if err != nil {
		return err
	}
	sums := sumUsage(spent, o.by, rt.Prices(cfg))
	if o.output == "json" {
		return workbench.PrintJSON(rt, sums.json(o))
	}
	if len(sums.rows) == 0 {
		rt.Notice(noUsage(o))
		return nil
	}
	err = rt.Streams.Page(func() error {
		sums.list(rt.Streams.Out, o.by)
		return rt.Streams.Out.Err()
	})
	for _, note := range sums.notes() {
		rt.Notice(note)
	}
	return err
}

func noUsage(o usageOptions) string {
	if !o.since.IsZero() {
		return "no tokens since " + o.since.Format(time.DateOnly)
	}
	return `no tokens yet; fettle ask "why is the sky blue?" uses some`
}

// Report is what `usage --output json` prints.
type Report struct {
	SchemaVersion int            `json:"schema_version"`
	By            string         `json:"by"`              // model, day, chat
	Since         string         `json:"since,omitempty"` // the first day
	Rows          []usageRowJSON `json:"rows"`
	Total         usageRowJSON   `json:"total"`
}

// usageRowJSON is one row; of Model, Day and Chat it has the one that rows are
// by, and the total none.
type usageRowJSON struct {
	Model string         `json:"model,omitempty"`
	Day   string         `json:"day,omitempty"`
	Chat  *usageChatJSON `json:"chat,omitempty"`
	Turns int64          `json:"turns"`
	// Untold are the turns of which the provider told no tokens, or not all.
	Untold           int64    `json:"untold"`
	InputTokens      int64    `json:"input_tokens"`
	OutputTokens     int64    `json:"output_tokens"`
	CachedTokens     int64    `json:"cached_tokens"`      // a part of input_tokens
	CacheWriteTokens int64    `json:"cache_write_tokens"` // another part of them
	ReasoningTokens  int64    `json:"reasoning_tokens"`   // a part of output_tokens
	Cost             []Amount `json:"cost"`               // one for each currency
	// Unpriced are the models whose tokens Cost leaves out, all or in part.
	Unpriced []string `json:"unpriced"`
}

type usageChatJSON struct {
	ID      string `json:"id"`
	Number  int64  `json:"number"`
	Title   string `json:"title"`
	Deleted bool   `json:"deleted"`
}

func (s *usageSums) json(o usageOptions) Report {
	out := Report{SchemaVersion: workbench.OutputVersion, By: o.by, Rows: []usageRowJSON{}, Total: s.total.json()}
	if !o.since.IsZero() {
		out.Since = o.since.Format(time.DateOnly)
	}
	for _, row := range s.rows {
		r := row.json()
		switch o.by {
		case "model":
			r.Model = row.first.Model
		case "day":
			r.Day = row.first.Day
		case "chat":
			r.Chat = chatOf(row.first)
		}
		out.Rows = append(out.Rows, r)
	}
	return out
}

func chatOf(s store.Spent) *usageChatJSON {
	return &usageChatJSON{ID: s.ChatID, Number: s.Number, Title: s.Title, Deleted: s.Gone}
}

func (r *usageRow) json() usageRowJSON {
	return usageRowJSON{
		Turns: r.turns, Untold: r.untold, InputTokens: r.tokens.InputTokens, OutputTokens: r.tokens.OutputTokens,
		CachedTokens: r.tokens.CachedTokens, CacheWriteTokens: r.tokens.CacheWriteTokens, ReasoningTokens: r.tokens.ReasoningTokens,
		Cost: r.cost.JSON(), Unpriced: r.cost.LeftOut(),
	}
}
