package toolset

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// toolsetTrust is one run of toolset trust.
type toolsetTrust struct {
	rt     *workbench.Runtime
	eng    *engine.Engine
	set    *engine.Engine
	id     string
	yes    bool
	revoke bool
	// uncontained is what is said of the sandbox; nil leaves it.
	uncontained *bool
	output      string
}

// toolsetTrustJSON is what `toolset trust ID --output json` prints.
type toolsetTrustJSON struct {
	SchemaVersion int            `json:"schema_version"`
	ID            string         `json:"id"`
	Trusted       bool           `json:"trusted"`
	Uncontained   bool           `json:"uncontained"`
	RevokedAt     *time.Time     `json:"revoked_at,omitempty"`
	Items         []approvedJSON `json:"items"`
}

func newToolsetTrust(rt *workbench.Runtime) *cli.Command {
	const path = "fettle toolset trust"
	return &cli.Command{
		Name:      "trust",
		Usage:     "see what you approved of toolsets, give it or take it back",
		ArgsUsage: "[TOOLSET]",
		Description: `Without a toolset it lists what was approved of each. With one it shows every
thing that was approved, and when, and asks for what was not. --revoke takes the
approval back: its tools are offered no more until you trust it again.
--uncontained lets its tools run also where this system has no sandbox for them,
which they don't otherwise; --uncontained=false takes that back.`,
		UsageText: "fettle toolset trust\nfettle toolset trust csv-tools\nfettle toolset trust csv-tools --revoke\nfettle toolset trust csv-tools --yes",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "revoke", Usage: "take the approval back"},
			&cli.BoolFlag{Name: "uncontained", Usage: "let its tools run where this system can't contain them"},
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "approve all that it wants, without asking"},
			cmdline.OutputFlag(),
		},
		Before: cmdline.AtMostOne(path+" --help", "toolset trust takes one toolset"),
		Action: func(c *cli.Context) error {
			t := &toolsetTrust{rt: rt, id: c.Args().First(), yes: c.Bool("yes"), revoke: c.Bool("revoke"), output: c.String("output")}
			if c.IsSet("uncontained") {
				on := c.Bool("uncontained")
				t.uncontained = &on
			}
			switch {
			case t.id == "" && (t.yes || t.revoke || t.uncontained != nil):
				return cmdline.Usagef("fettle toolset list", "toolset trust wants a toolset to give or take an approval")
			case t.revoke && (t.yes || t.uncontained != nil):
				return cmdline.Usagef(path+" "+cmdline.ShellWord(t.id)+" --revoke", "--revoke takes everything back; nothing else goes with it")
			}
			eng, err := rt.StoreEngine()
			if err != nil {
				return err
			}
			t.eng, t.set = eng, eng
			return t.run(c.Context)
		},
	}
}

func (t *toolsetTrust) run(ctx context.Context) error {
	switch {
	case t.id == "":
		return t.list(ctx)
	case t.revoke:
		if err := t.set.RevokeToolset(ctx, t.id); err != nil {
			return err
		}
		if t.output == "json" {
			return t.print(ctx)
		}
		t.rt.Notice("took back what was approved of " + t.id + "; its tools are offered no more")
		t.rt.Hint("fettle toolset trust " + cmdline.ShellWord(t.id) + "   gives it again")
		return nil
	}
	return t.one(ctx)
}

// list prints a line for each toolset.
func (t *toolsetTrust) list(ctx context.Context) error {
	all, err := t.eng.InstalledToolsets(ctx)
	if err != nil {
		return err
	}
	if t.output == "json" {
		out := struct {
			SchemaVersion int                `json:"schema_version"`
			Toolsets      []toolsetTrustJSON `json:"toolsets"`
		}{workbench.OutputVersion, []toolsetTrustJSON{}}
		for i := range all {
			out.Toolsets = append(out.Toolsets, trustOf(&all[i]))
		}
		return workbench.PrintJSON(t.rt, out)
	}
	if len(all) == 0 {
		t.rt.Notice("no toolsets yet; fettle toolset import FILE installs one")
		return nil
	}
	style := t.rt.Streams.Out.Style()
	table := term.NewTable(t.rt.Streams.Out, term.Column{Title: "toolset"}, term.Column{Title: "state"},
		term.Column{Title: "approved", Right: true}, term.Column{Title: "last", Style: style.Dim})
	now := time.Now()
	for _, info := range all {
		state, last := "trusted", ""
		if info.Toolset.Revoked != nil {
			state, last = "revoked", term.Ago(now, *info.Toolset.Revoked)
		} else if len(info.Pending) > 0 {
			state = "in part"
		}
		if i := len(info.Approvals); i > 0 {
			latest := slices.MaxFunc(info.Approvals, func(a, b registry.Approval) int { return a.ApprovedAt.Compare(b.ApprovedAt) })
			last = term.Ago(now, latest.ApprovedAt)
		}
		table.Row(info.Toolset.ID, state, fmt.Sprintf("%d of %d", len(info.Items)-len(info.Pending), len(info.Items)), last)
	}
	return table.Flush()
}

func trustOf(info *registry.Info) toolsetTrustJSON {
	out := toolsetTrustJSON{
		SchemaVersion: workbench.OutputVersion, ID: info.Toolset.ID, Trusted: info.Toolset.Revoked == nil && len(info.Pending) == 0,
		Uncontained: info.Toolset.Uncontained, RevokedAt: info.Toolset.Revoked, Items: []approvedJSON{},
	}
	for _, it := range info.Items {
		out.Items = append(out.Items, approvedJSON{Item: it, ApprovedAt: approvedTime(info, it)})
	}
	return out
}

func (t *toolsetTrust) print(ctx context.Context) error {
	info, err := t.eng.InstalledToolset(ctx, t.id)
	if err != nil {
		return err
	}
	return workbench.PrintJSON(t.rt, trustOf(info))
}

// one shows a toolset's items and asks for those that wait for it.
func (t *toolsetTrust) one(ctx context.Context) error {
	info, err := t.eng.InstalledToolset(ctx, t.id)
	if err != nil {
		return err
	}
	uncontained := info.Toolset.Uncontained
	if t.uncontained != nil {
		uncontained = *t.uncontained
	}
	waits := info.Toolset.Revoked != nil || len(info.Pending) > 0
	widens := uncontained && !info.Toolset.Uncontained
	if t.output == "text" {
		t.show(info)
	}
	if !waits && uncontained == info.Toolset.Uncontained {
		if t.output == "json" {
			return workbench.PrintJSON(t.rt, trustOf(info))
		}
		t.rt.Notice(t.id + " is trusted; fettle toolset trust " + cmdline.ShellWord(t.id) + " --revoke takes that back")
		return nil
	}
	if !t.yes && (waits || widens) {
		if ok, err := t.ask(ctx, info, widens); err != nil || !ok {
			return err
		}
	}
	if err := t.set.TrustToolset(ctx, t.id, registry.Trusted{Items: info.Items, Uncontained: uncontained}); err != nil {
		return err
	}
	if t.output == "json" {
		return t.print(ctx)
	}
	switch {
	case widens:
		t.rt.Notice("trusted " + t.id + ", also where this system can't contain its tools")
	case !waits:
		t.rt.Notice("the tools of " + t.id + " run contained or not at all")
	default:
		t.rt.Notice("trusted " + t.id)
	}
	return nil
}

// show prints a toolset's items, each with when it was approved.
func (t *toolsetTrust) show(info *registry.Info) {
	out := t.rt.Streams.Out
	style := out.Style()
	out.Printf("%s\n", style.Bold(term.Clean(setWords(&info.Toolset))))
	v := planView{Labelled: show.Labelled{Out: out}}
	now := time.Now()
	for _, it := range info.Items {
		about := "waits for your approval"
		if at := approvedTime(info, it); at != nil {
			about = "approved " + term.Ago(now, *at)
		}
		what := it.Name
		for _, f := range it.Fields {
			if it.Kind == registry.KindServer && (f.Name == "command" || f.Name == "url") {
				what += ": " + f.Value
			}
		}
		v.Line(show.KindWords(it.Kind), what, about)
	}
}

func (t *toolsetTrust) ask(ctx context.Context, info *registry.Info, widens bool) (bool, error) {
	question := "Trust " + t.id + " with all of this?"
	again := "fettle toolset trust " + cmdline.ShellWord(t.id) + " --yes"
	if widens {
		question = "Let the tools of " + t.id + " run also where nothing contains them?"
		again = "fettle toolset trust " + cmdline.ShellWord(t.id) + " --uncontained --yes"
	}
	if !t.rt.Streams.CanAsk() {
		return false, fault.New(fault.Approval, "nobody can be asked here whether to trust "+t.id, fault.Run(again))
	}
	// The list that was printed has a line for each item: names, commands and addresses.
	// Other fields, such as descriptions, are among the details.
	ok, err := AskDetailed(ctx, t.rt, Detailed{Question: question, Details: func() {
		planView{Labelled: show.Labelled{Out: t.rt.Streams.Err}}.details(info.Items, t.rt.PromptWidth())
	}})
	if err == nil && !ok {
		t.rt.Notice("nothing was changed")
	}
	return ok, err
}

// variablesOf are the environment variables that an installed toolset gets.
func variablesOf(info *registry.Info) []registry.Variable {
	out := []registry.Variable{}
	if info.Manifest == nil {
		return out
	}
	for _, u := range info.Manifest.Variables() {
		_, set := os.LookupEnv(u.Name)
		out = append(out, registry.Variable{Use: u, Missing: !set && !u.Optional})
	}
	return out
}
