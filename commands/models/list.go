package models

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
)

// listOptions are the flags of `models list`.
type listOptions struct {
	providers               []string
	tools, images, thinking bool
	local                   bool
	refresh                 bool
	output                  string
}

const listDescription = `All providers that are set up are asked side by side, and one that fails keeps
none of the others from being shown. A list from elsewhere is believed for an
hour; one of this machine is asked for each time. On a terminal it is a table
that fits. In a pipe each model is a line of name, context in tokens, abilities,
size in bytes and details, with tabs between. A ? means that nobody told.`

func newList(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "list",
		Usage:       "list what each provider offers",
		Description: listDescription,
		UsageText:   "fettle models list\nfettle models list --tools --local\nfettle models list --provider ollama -o json",
		Flags: []cli.Flag{
			cmdline.ListFlag("provider", "", "", "only the models of provider `NAME`; may be repeated"),
			&cli.BoolFlag{Name: "tools", Usage: "only models that are known to call tools"},
			&cli.BoolFlag{Name: "images", Usage: "only models that are known to take images"},
			&cli.BoolFlag{Name: "thinking", Usage: "only models that are known to think first"},
			&cli.BoolFlag{Name: "local", Usage: "only models that run on this machine"},
			&cli.BoolFlag{Name: "refresh", Usage: "ask all providers now"},
			rt.InProfile(""), cmdline.OutputFlag(),
		},
		Before: cmdline.NoArguments,
		Action: func(c *cli.Context) error {
			o := listOptions{
				providers: cmdline.ListOf(c, "provider"), tools: c.Bool("tools"), images: c.Bool("images"),
				thinking: c.Bool("thinking"), local: c.Bool("local"), refresh: c.Bool("refresh"), output: c.String("output"),
			}
			return runList(c.Context, rt, o)
		},
	}
}

// listJSON is what `models list --output json` prints.
type listJSON struct {
	SchemaVersion int          `json:"schema_version"`
	Models        []modelJSON  `json:"models"`
	Providers     []sourceJSON `json:"providers"`
	Errors        []errorJSON  `json:"errors"`
	NotReady      []noticeJSON `json:"not_ready"`
}

// sourceJSON is where the models of a provider come from.
type sourceJSON struct {
	Provider string    `json:"provider"`
	Address  string    `json:"address,omitempty"`
	Local    bool      `json:"local"`
	AskedAt  time.Time `json:"asked_at"`
	Cached   bool      `json:"cached"`
}

// errorJSON is a provider that gave no list.
type errorJSON struct {
	Provider string `json:"provider"`
	workbench.FaultBody
}

// noticeJSON is a provider that wasn't asked.
type noticeJSON struct {
	Provider string `json:"provider"`
	Reason   string `json:"reason"`
}

func runList(ctx context.Context, rt *workbench.Runtime, o listOptions) error {
	room, err := open(rt)
	if err != nil {
		return err
	}
	defer room.close()
	lists, err := room.index.List(ctx, models.Query{Providers: o.providers, Refresh: o.refresh})
	if err != nil {
		return unknownProvider(err, "fettle models list --provider")
	}
	shown, untold := o.filter(lists)
	answered := slices.ContainsFunc(lists, models.List.Answered)
	switch {
	case o.output == "json":
		err = workbench.PrintJSON(rt, o.json(lists, shown))
	case !answered && len(shown) == 0:
		return nobodyAnswered(lists, o)
	default:
		o.print(rt, lists, shown, untold)
	}
	if err == nil && !answered {
		return workbench.ExitError{Status: fault.Unavailable.Exit()} // all there is to say has been said
	}
	return err
}

// filter gives the models that are wanted, and counts those that may have an
// ability that nobody told of.
func (o listOptions) filter(lists []models.List) (shown []models.Model, untold int) {
	for _, l := range lists {
		for _, m := range l.Models {
			wanted, unknown := !o.local || m.Local, false
			for _, a := range []struct {
				asked bool
				has   provider.Known
			}{{o.tools, m.Tools}, {o.images, m.Images}, {o.thinking, m.Thinking}} {
				wanted = wanted && (!a.asked || a.has != provider.No)
				unknown = unknown || a.asked && a.has == provider.Unknown
			}
			switch {
			case wanted && unknown:
				untold++
			case wanted:
				shown = append(shown, m)
			}
		}
	}
	return shown, untold
}

func (o listOptions) json(lists []models.List, shown []models.Model) listJSON {
	out := listJSON{
		SchemaVersion: workbench.OutputVersion, Models: []modelJSON{}, Providers: []sourceJSON{},
		Errors: []errorJSON{}, NotReady: []noticeJSON{},
	}
	for _, m := range shown {
		out.Models = append(out.Models, describeModel(m))
	}
	for _, l := range lists {
		if !l.Asked.IsZero() {
			out.Providers = append(out.Providers, sourceJSON{l.Provider, l.Address, l.Local, l.Asked.UTC(), l.Cached})
		}
		switch {
		case l.NotReady != "":
			out.NotReady = append(out.NotReady, noticeJSON{l.Provider, l.NotReady})
		case l.Err != nil:
			out.Errors = append(out.Errors, errorJSON{l.Provider, workbench.BodyOf(listTrouble(l))})
		}
	}
	return out
}

// print shows the table, and on standard error what it isn't whole for.
func (o listOptions) print(rt *workbench.Runtime, lists []models.List, shown []models.Model, untold int) {
	listModels(rt.Streams.Out, shown)
	now := time.Now()
	for _, l := range lists {
		trouble := listTrouble(l)
		switch {
		case trouble != nil && l.NotReady != "" && o.providers == nil:
			// It isn't set up, and nobody asked for it.
		case trouble != nil && len(l.Models) > 0:
			rt.Notice(trouble.Msg + "; its list is " + listAge(l, now))
		case trouble != nil:
			rt.Notice(trouble.Msg)
		case l.Cached:
			rt.Notice("the list of " + l.Provider + " is " + listAge(l, now) + "; --refresh asks now")
		}
	}
	if untold > 0 {
		rt.Notice(term.Count(untold, "model is left out, whose abilities nobody told",
			"models are left out, whose abilities nobody told") + "; fettle help models says how to tell")
	}
	if len(shown) == 0 && untold == 0 {
		rt.Notice(o.nothing(lists))
	}
}

// nothing says why the list is empty.
func (o listOptions) nothing(lists []models.List) string {
	for _, l := range lists {
		if len(l.Models) > 0 {
			return "no model is all of that"
		}
	}
	return "there are no models; fettle models pull qwen3 fetches one"
}

// nobodyAnswered is the fault where no provider could be asked.
func nobodyAnswered(lists []models.List, o listOptions) error {
	f := fault.New(fault.Unavailable, "no provider could be asked for its models")
	for _, l := range lists {
		if trouble := listTrouble(l); trouble != nil {
			f.Detail = append(f.Detail, trouble.Msg)
			f.Add(trouble.Remedies...)
		}
	}
	if len(f.Detail) == 1 {
		f.Msg, f.Detail = f.Detail[0], nil
	}
	if len(f.Remedies) == 0 {
		f.Remedies = []fault.Remedy{fault.Run("fettle help models")}
	}
	return f
}

// roomForAbilities is the narrowest terminal that shows what models can do: in
// less of it their names would be cut until nobody knows them.
const roomForAbilities = 50

// listModels prints a table for a person, and every column for a program.
func listModels(out *term.Output, models []models.Model) {
	style := out.Style()
	columns := []term.Column{{Title: "model", Cut: true}, {Title: "context", Right: true}}
	abilities := !out.IsTerminal() || out.Width() >= roomForAbilities
	if abilities {
		columns = append(columns, term.Column{Title: "abilities"})
	}
	narrow := out.IsTerminal() && out.Width() < show.RoomForAll
	if !narrow {
		columns = append(columns, term.Column{Title: "size", Right: true}, term.Column{Title: "details", Cut: true, Style: style.Dim})
	}
	table := term.NewTable(out, columns...)
	for _, m := range models {
		length, size := contextText(m.ContextLength), ""
		if m.Size > 0 {
			size = term.Size(m.Size)
		}
		if !out.IsTerminal() {
			length, size = rawNumber(int64(m.ContextLength)), rawNumber(m.Size)
		}
		cells := []string{m.Ref(), length}
		if abilities {
			cells = append(cells, abilitiesOf(m))
		}
		if !narrow {
			details := m.Details
			if m.Remote {
				details = term.Clean(details + " remote")
			}
			cells = append(cells, size, details)
		}
		table.Row(cells...)
	}
	_ = table.Flush() // Main looks at what went wrong with writing
}

// rawNumber writes a number for a program; what is unknown is empty.
func rawNumber(n int64) string {
	if n <= 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
