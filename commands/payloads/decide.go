package payloads

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/tool"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/store"
)

// decidedJSON is what `payloads accept` and `reject` print with -o json.
type decidedJSON struct {
	SchemaVersion int               `json:"schema_version"`
	Chat          int64             `json:"chat"`
	ChatID        string            `json:"chat_id"`
	Payload       chat.ShownPayload `json:"payload"`
	// Again says that the same was decided before.
	Again bool `json:"again"`
	// Call is the call of the tool that was told; nil where none is.
	Call *tool.CallJSON `json:"call,omitempty"`
}

// decideOptions are the flags of accept and reject, as values.
type decideOptions struct {
	pickOptions
	accept bool
	remark string
	yes    bool
}

func newDecide(rt *workbench.Runtime, accept bool) *cli.Command {
	name, usage := "reject", "reject a payload, the last one where none is named"
	if accept {
		name, usage = "accept", "accept a payload, the last one where none is named"
	}
	path := "fettle payloads " + name
	return &cli.Command{
		Name:      name,
		Usage:     usage,
		ArgsUsage: "[PAYLOAD]",
		Description: `PAYLOAD is its number in payloads list, or its id. It is decided once: the same
again changes nothing, and another decision is refused. If the payload's type
names a tool for this, the tool is called with the data, as a part of the chat;
an action of a page is left to the page.`,
		UsageText: path + "\n" + path + ` 1 --chat 1 --remark "but keep the old name"`,
		Flags: []cli.Flag{
			ofChat(),
			&cli.StringFlag{Name: "remark", Usage: "tell the model `TEXT` with it"},
			&cli.BoolFlag{Name: "yes", Usage: "run the tool that it names without asking"},
			cmdline.OutputFlag(),
		},
		Action: workbench.RunOnStore(rt, func(c *cli.Context) (decideOptions, error) {
			o := decideOptions{accept: accept, remark: c.String("remark"), yes: c.Bool("yes")}
			var err error
			if o.pickOptions, err = readPick(c, path); err != nil {
				return o, err
			}
			return o, nil
		}, runDecide),
	}
}

func runDecide(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, o decideOptions) error {
	done, err := eng.Decide(ctx, store.Deciding{
		Chat: o.chat, Payload: o.id, Number: o.number, Accept: o.accept, Remark: o.remark,
		Policy: permission.Policy{AllowAll: o.yes}, CanConfirm: !o.yes && rt.Streams.CanAsk(),
		OnWait: func(what string) { rt.Notice("waiting: " + what) },
	})
	if err != nil {
		return err
	}
	if o.output == "json" {
		return decideJSON(ctx, rt, eng, done)
	}
	rt.Streams.Out.Printf("%s\n", term.Clean(decidedLine(done)))
	decidedRemarks(rt, done)
	if done.Turn == "" {
		return nil
	}
	return tool.FollowCall(ctx, rt, eng, done.Turn)
}

// decidedLine says what was done with which payload.
func decidedLine(d engine.Decided) string {
	did := string(d.Payload.Decision.Decision)
	if d.Again {
		did = "was " + did + " already:"
	}
	name := show.CardName(d.Payload.Payload)
	return fmt.Sprintf("%s payload %d of chat %d, %s", did, d.Payload.Number, d.Chat.Number, name)
}

// decidedRemarks say who else hears of it.
func decidedRemarks(rt *workbench.Runtime, d engine.Decided) {
	r := d.Payload.Decision.Reaction
	var text string
	switch {
	case d.Payload.Decision.AgentID != "" && !d.Again:
		did := "created"
		if d.Payload.Type == "agent_update" {
			did = "changed"
		}
		text = did + " the agent " + d.Payload.Decision.AgentID
	case r == nil:
	case r.Action != "":
		text = "the page's action " + r.Action + " is for the page to carry out"
	case d.Again && d.Payload.Decision.TurnID == "":
		text = "whether " + r.Tool + " ran isn't known: fettle chats show " + fmt.Sprint(d.Chat.Number)
	}
	if text != "" {
		rt.Notice(text)
	}
	if !d.Again && rt.Streams.Err.IsTerminal() {
		rt.Streams.Err.Printf("  %s\n", rt.Streams.Err.Style().Dim(strings.TrimSpace(
			fmt.Sprintf(`fettle ask --chat %d "go on"   tells the model`, d.Chat.Number))))
	}
}

// decideJSON follows the tool's turn, if there is one, and prints one object.
func decideJSON(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, d engine.Decided) error {
	out := decidedJSON{SchemaVersion: workbench.OutputVersion, Chat: d.Chat.Number, ChatID: d.Chat.ID, Payload: d.Payload, Again: d.Again}
	if d.Turn == "" {
		return workbench.PrintJSON(rt, out)
	}
	call, err := tool.GatherCall(ctx, rt, eng, d.Turn)
	out.Call = call
	if printErr := workbench.PrintJSON(rt, out); printErr != nil {
		return printErr
	}
	return err
}
