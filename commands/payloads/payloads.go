package payloads

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/payloads"
	"github.com/fettle-cli/fettle/engine/store"
)

// listJSON is what `payloads list --output json` prints.
type listJSON struct {
	SchemaVersion int                 `json:"schema_version"`
	Chat          int64               `json:"chat"`
	ChatID        string              `json:"chat_id"`
	Payloads      []chat.ShownPayload `json:"payloads"`
}

// payloadJSON is what `payloads show --output json` prints.
type payloadJSON struct {
	SchemaVersion int    `json:"schema_version"`
	Chat          int64  `json:"chat"`
	ChatID        string `json:"chat_id"`
	chat.ShownPayload
}

// typesJSON is what `payloads types --output json` prints.
type typesJSON struct {
	SchemaVersion int                   `json:"schema_version"`
	Types         []catalog.PayloadType `json:"types"`
	Problems      []payloads.Problem    `json:"problems,omitempty"`
}

// New is the command payloads.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:  "payloads",
		Usage: "see structured data that answers show, and accept or reject it",
		Description: `Tools and models show some results as cards beside the text: a table, a proposal,
an article. A chat keeps them. What you accept or reject is told to the model with
your next question, and reaches the tool that the card's type names for it.`,
		UsageText: "fettle payloads list\nfettle payloads types",
		Subcommands: []*cli.Command{
			newList(rt), newShow(rt), newDecide(rt, true), newDecide(rt, false), newTypes(rt),
		},
	}
}

func ofChat() cli.Flag {
	return &cli.Int64Flag{Name: "chat", Usage: "of chat `N` instead of the last one"}
}

// readChat is the chat that --chat names, else the last.
func readChat(c *cli.Context) (store.ChatRef, error) {
	n := c.Int64("chat")
	switch {
	case !c.IsSet("chat"):
		return store.ChatRef{Last: true}, nil
	case n <= 0:
		return store.ChatRef{}, cmdline.Usagef("fettle chats list", "--chat wants the number of a chat, such as 12")
	}
	return store.ChatRef{Number: n}, nil
}

func newList(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "list the payloads of a chat",
		Description: `In a pipe each payload is a line of number, type, title, who gave it (tool or
model) and what was decided, with tabs between.`,
		UsageText: "fettle payloads list\nfettle payloads list --chat 1 -o json",
		Flags:     []cli.Flag{ofChat(), cmdline.OutputFlag()},
		Before:    cmdline.NoArguments,
		Action: func(c *cli.Context) error {
			ref, err := readChat(c)
			if err != nil {
				return err
			}
			return runList(c.Context, rt, ref, c.String("output"))
		},
	}
}

func runList(ctx context.Context, rt *workbench.Runtime, ref store.ChatRef, output string) error {
	eng, err := rt.StoreEngine()
	if err != nil {
		return err
	}
	c, all, err := eng.Payloads(ctx, ref)
	if err != nil {
		return err
	}
	if output == "json" {
		if all == nil {
			all = []chat.ShownPayload{}
		}
		return workbench.PrintJSON(rt, listJSON{workbench.OutputVersion, c.Number, c.ID, all})
	}
	if len(all) == 0 {
		rt.Notice(fmt.Sprintf("chat %d has no payloads", c.Number))
		return nil
	}
	out := rt.Streams.Out
	table := term.NewTable(out, term.Column{Title: "n", Right: true}, term.Column{Title: "type"}, term.Column{Title: "title", Cut: true},
		term.Column{Title: "from", Style: out.Style().Dim}, term.Column{Title: "decision"})
	for _, p := range all {
		decision := ""
		if p.Decision != nil {
			decision = string(p.Decision.Decision)
		}
		table.Row(strconv.Itoa(p.Number), p.Type, show.OneLine(p.Title), p.Source, decision)
	}
	return table.Flush()
}

// pickOptions name a payload.
type pickOptions struct {
	chat   store.ChatRef
	number int
	id     string
	output string
}

// readPick reads which payload is meant: its number in the chat or its id; the
// last one where neither is given.
func readPick(c *cli.Context, path string) (o pickOptions, err error) {
	o.output = c.String("output")
	if c.NArg() > 1 {
		return o, cmdline.Usagef("fettle payloads list", "%s takes one payload, by its number in the chat or its id", strings.TrimPrefix(path, "fettle "))
	}
	if o.chat, err = readChat(c); err != nil {
		return o, err
	}
	arg := c.Args().First()
	switch n, ok := cmdline.ChatNumber(arg); {
	case arg == "":
	case ok && n <= engine.MaxPlace:
		o.number = int(n)
	case isPayloadID(arg):
		o.id = arg
	default:
		return o, cmdline.Usagef("fettle payloads list", "%s is no payload: it has a number in its chat, from 1, and an id", cmdline.ShellWord(arg))
	}
	return o, nil
}

// isPayloadID knows the ids of payloads: that of one which stands for itself, or of the
// message and the call that gave it.
func isPayloadID(arg string) bool {
	message, call, by := strings.Cut(arg, ".")
	return cmdline.IsULID(message) && (!by || call != "")
}

func newShow(rt *workbench.Runtime) *cli.Command {
	const path = "fettle payloads show"
	return &cli.Command{
		Name:      "show",
		Usage:     "show a payload, the last one where none is named",
		ArgsUsage: "[PAYLOAD]",
		Description: `PAYLOAD is its number in payloads list, or its id. On a terminal its data is laid
out as a card; in a pipe it is JSON.`,
		UsageText: "fettle payloads show\nfettle payloads show 1 --chat 1 | head -5",
		Flags:     []cli.Flag{ofChat(), cmdline.OutputFlag()},
		Action: workbench.RunOnStore(rt, func(c *cli.Context) (pickOptions, error) {
			o, err := readPick(c, path)
			if err != nil {
				return o, err
			}
			return o, nil
		}, runShow),
	}
}

func runShow(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, o pickOptions) error {
	chat, p, err := eng.Payload(ctx, store.Deciding{Chat: o.chat, Payload: o.id, Number: o.number})
	if err != nil {
		return err
	}
	out := rt.Streams.Out
	switch {
	case o.output == "json":
		return workbench.PrintJSON(rt, payloadJSON{workbench.OutputVersion, chat.Number, chat.ID, p})
	case !out.IsTerminal():
		return workbench.PrintJSON(rt, p.Data)
	}
	show.Card{Payload: p.Payload, Plan: eng.PayloadPlan(ctx, chat, p.Payload), Foot: becameOf(p, chat.Number)}.Print(out)
	if p.Edit != nil {
		show.ShowLabel(out, show.EditWords(*p.Edit))
		out.Printf("%s\n", term.Clean(p.Edit.Text))
	}
	return nil
}

// becameOf says what a person did with a payload, or can do.
func becameOf(p chat.ShownPayload, chat int64) string {
	d := p.Decision
	if d == nil {
		foot := show.DecisionFoot(p.Payload, p.Number)
		if foot != "" {
			foot += fmt.Sprintf(" · chat %d", chat)
		}
		return foot
	}
	return show.DecisionWords(*d)
}

func newTypes(rt *workbench.Runtime) *cli.Command {
	const path = "fettle payloads types"
	return &cli.Command{
		Name:      "types",
		Usage:     "list the types of payloads, or show the JSON Schema of one",
		ArgsUsage: "[TYPE]",
		Description: `suggested_values and suggested_actions are types too: what a tool or a model
suggests as the next step has to match their schemas. In a pipe each type is a
line of type, toolset (empty for those that are always known), marker and label.`,
		UsageText: "fettle payloads types\nfettle payloads types suggested_actions",
		Flags:     []cli.Flag{cmdline.OutputFlag()},
		Before:    cmdline.AtMostOne(path, "payloads types takes one type"),
		Action: rt.WithStore(func(c *cli.Context, eng *engine.Engine) error {
			return runTypes(c.Context, rt, eng, c.Args().First(), c.String("output"))
		}),
	}
}

func runTypes(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, name, output string) error {
	types, problems, err := eng.PayloadTypes(ctx)
	if err != nil {
		return err
	}
	if name != "" {
		return showSchema(rt, types, name, output)
	}
	if output == "json" {
		return workbench.PrintJSON(rt, typesJSON{workbench.OutputVersion, types, problems})
	}
	for _, p := range problems {
		rt.Notice(p.String())
	}
	out := rt.Streams.Out
	table := term.NewTable(out, term.Column{Title: "type"}, term.Column{Title: "toolset", Style: out.Style().Dim},
		term.Column{Title: "marker", Cut: true}, term.Column{Title: "label", Cut: true, Prose: true})
	for _, t := range types {
		label := ""
		if t.Style != nil {
			label = t.Style.Label
		}
		table.Row(t.Type, t.Toolset, t.ParseMarker, show.OneLine(label))
	}
	return table.Flush()
}

// showSchema prints the schema of a type: a toolset's own before the one that
// is always known.
func showSchema(rt *workbench.Runtime, types []catalog.PayloadType, name, output string) error {
	var found []catalog.PayloadType
	for _, t := range types {
		if t.Type == name {
			found = append(found, t)
		}
	}
	switch {
	case len(found) == 0:
		return fault.New(fault.NotFound, "there is no payload type "+cmdline.ShellWord(name), "fettle payloads types")
	case output == "json":
		return workbench.PrintJSON(rt, typesJSON{SchemaVersion: workbench.OutputVersion, Types: found})
	}
	return workbench.PrintJSON(rt, json.RawMessage(cmp.Or(string(found[0].Schema), "{}")))
}
