package toolset

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/registry"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// importing is one run of toolset import or update.
type importing struct {
	rt     *workbench.Runtime
	eng    *engine.Engine
	ref    string // a path or an address; the id for an update
	update bool
	yes    bool
	dryRun bool
	output string
}

func importFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "approve all that it wants, without asking"},
		&cli.BoolFlag{Name: "dry-run", Usage: "show what it contains and wants, and do nothing"},
		cmdline.OutputFlag(),
	}
}

func newToolsetImport(rt *workbench.Runtime) *cli.Command {
	const path = "fettle toolset import"
	return &cli.Command{
		Name:      "import",
		Usage:     "install a toolset, or another version of one",
		ArgsUsage: "FILE",
		Description: `FILE is a bundle: a ZIP, a tar.gz, a folder or an https address; or a name such as
gallery:reviews, see fettle toolset gallery. You are shown
what it contains and wants (tools, network hosts, environment names, commands in
full), and nothing is installed before you approve it; --yes does so in scripts.
What you approve is kept: a later version asks only for what is new. Either all
of it is installed or nothing. The id of the toolset goes to standard output.`,
		UsageText: "fettle toolset import gallery:reviews\nfettle toolset import csv-tools.zip --yes\nfettle toolset import my-tools --dry-run",
		Flags:     importFlags(),
		Before:    cmdline.OneArgument(path+" FILE", "toolset import wants one bundle: a ZIP, a folder or an https address"),
		Action: func(c *cli.Context) error {
			return readImport(c, rt, path, false)
		},
	}
}

func newToolsetUpdate(rt *workbench.Runtime) *cli.Command {
	const path = "fettle toolset update"
	return &cli.Command{
		Name:      "update",
		Usage:     "install what a toolset's source holds now",
		ArgsUsage: "TOOLSET",
		Description: `The source is the file, folder or address that it was imported from. You are
shown what differs, and asked only where something changed that you approved: a
command, a description, a schema, a host. What you switched off stays off.`,
		UsageText: "fettle toolset update csv-tools --dry-run\nfettle toolset update csv-tools --yes",
		Flags:     importFlags(),
		Before:    oneToolset("update"),
		Action: func(c *cli.Context) error {
			return readImport(c, rt, path, true)
		},
	}
}

func readImport(c *cli.Context, rt *workbench.Runtime, path string, update bool) error {
	x := &importing{
		rt: rt, ref: c.Args().First(), update: update, yes: c.Bool("yes"), dryRun: c.Bool("dry-run"), output: c.String("output"),
	}
	if x.yes && x.dryRun {
		return cmdline.Usagef(path+" --dry-run "+cmdline.ShellWord(x.ref), "--yes and --dry-run don't go together")
	}
	eng, err := rt.StoreEngine()
	if err != nil {
		return err
	}
	x.eng = eng
	return x.run(c.Context)
}

func (x *importing) run(ctx context.Context) error {
	p, err := x.plan(ctx)
	if err != nil {
		return err
	}
	defer p.Close()
	if p.Same && !p.Asks() || x.dryRun {
		return x.unchanged(ctx, p)
	}
	approved := x.yes
	if approved {
		if err := x.breaks(p); err != nil {
			return err
		}
	}
	if !approved && x.asks(p) {
		if approved, err = x.approve(ctx, p); err != nil || !approved {
			return err
		}
	} else if x.output == "text" && (x.update || !x.yes) {
		planView{show.Labelled{Out: x.rt.Streams.Err}, x.sandboxLevel(ctx, false)}.print(p)
	}
	set, err := x.apply(ctx, p, approved)
	if err != nil {
		return err
	}
	return x.done(ctx, p, set)
}

// breaks returns a fault if an import with --yes would replace tools that
// work by tools that can't be imported.
func (x *importing) breaks(p *registry.Plan) error {
	if len(p.Breaks) == 0 {
		return nil
	}
	var lines []string
	for _, l := range p.Breaks {
		lines = append(lines, fmt.Sprintf("%s has no %s", l.Tool, l.File))
	}
	return &fault.Fault{
		Code:   fault.Usage,
		Msg:    fmt.Sprintf("%s %s lacks the code of %s; version %s stays installed", p.Manifest.ID, p.Manifest.Version, term.Count(len(p.Breaks), "tool", "tools"), p.Installed.Version),
		Detail: lines, Remedies: []fault.Remedy{fault.Run(x.again() + "   shows the bundle and asks")},
	}
}

// plan looks at the bundle.
func (x *importing) plan(ctx context.Context) (*registry.Plan, error) {
	wd, err := os.Getwd()
	if err != nil {
		return nil, fault.Wrap(fault.Failed, "find the current folder", err)
	}
	bar := x.rt.Streams.Progress("reading " + filepath.Base(x.ref))
	defer bar.Clear()
	o := registry.PlanOptions{Env: os.LookupEnv, WorkDir: wd, Progress: bar.Bytes}
	if x.update {
		return x.eng.PlanToolsetUpdate(ctx, x.ref, o)
	}
	return x.eng.PlanToolset(ctx, x.ref, o)
}

// asks tells whether the user has to look at the plan: something of it isn't
// approved, or another source would take an installed toolset's place.
func (x *importing) asks(p *registry.Plan) bool {
	elsewhere := p.Installed != nil && p.Installed.SourceRef != p.Source.Ref
	return p.Asks() || elsewhere && !p.Same
}

// sandboxLevel tells how well its tools can be contained; finding out takes a
// while, so it is done where somebody reads it.
func (x *importing) sandboxLevel(ctx context.Context, wanted bool) string {
	if !wanted {
		return ""
	}
	launcher := sandbox.New(sandbox.Options{})
	report, err := launcher.Report(ctx)
	if closing := launcher.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return "not known: " + err.Error()
	}
	return report.String()
}

// approve shows the plan and asks.
func (x *importing) approve(ctx context.Context, p *registry.Plan) (bool, error) {
	view := planView{show.Labelled{Out: x.rt.Streams.Err}, x.sandboxLevel(ctx, true)}
	if !x.rt.Streams.CanAsk() {
		if x.output == "json" {
			if err := workbench.PrintJSON(x.rt, planJSON(p, false)); err != nil {
				return false, err
			}
		} else {
			view.print(p)
		}
		return false, fault.New(fault.Approval, "nobody can be asked here whether to allow this; nothing was installed", fault.Run(x.again()+" --yes   allows all of it"))
	}
	ok, err := AskDetailed(ctx, x.rt, Detailed{Question: "Allow this?", Cut: !view.print(p), Details: func() { view.details(p.Items, x.rt.PromptWidth()) }})
	if err == nil && !ok {
		x.rt.Notice("not allowed; nothing was installed")
	}
	return ok, err
}

// Detailed is a question with details.
type Detailed struct {
	Question string
	Cut      bool   // the print left something out: details come before approval
	Details  func() // prints all that the question is about
}

// AskDetailed asks what only a clear yes agrees to.
func AskDetailed(ctx context.Context, rt *workbench.Runtime, q Detailed) (bool, error) {
	for {
		choices := []term.Choice{{Key: 'y', Label: "yes", Commits: true}, {Key: 'n', Label: "no"}, {Key: 'd', Label: "details of each"}}
		text := q.Question
		if q.Cut {
			choices, text = choices[1:], "Not all of it is shown: d shows the rest, before you can allow it.\n"+text
		}
		key, err := rt.Streams.Ask(ctx, term.Question{Text: text, Default: 'n', Choices: choices})
		switch {
		case errors.Is(err, term.ErrNoAnswer):
			return false, nil
		case err != nil:
			return false, err
		case key != 'd':
			return key == 'y', nil
		}
		q.Details()
		q.Cut = false
	}
}

// again is the command that was given.
func (x *importing) again() string {
	if x.update {
		return "fettle toolset update " + cmdline.ShellWord(x.ref)
	}
	return "fettle toolset import " + cmdline.ShellWord(x.ref)
}

// apply installs, with a bar.
func (x *importing) apply(ctx context.Context, p *registry.Plan, approved bool) (*registry.Toolset, error) {
	bar := x.rt.Streams.Progress("installing " + p.Manifest.ID)
	defer bar.Clear()
	size := int64(0)
	for _, f := range p.Files {
		size += f.Size
	}
	return x.eng.ImportToolset(ctx, p, registry.ApplyOptions{Approved: approved, Progress: func(done, total int64) {
		bar.Bytes(size*done/max(total, 1), size)
	}})
}

// unchanged ends a run that installs nothing new: the toolset is there already,
// or it was only to be shown.
func (x *importing) unchanged(ctx context.Context, p *registry.Plan) error {
	if !x.dryRun {
		set, err := x.apply(ctx, p, false) // notes the source
		if err != nil {
			return err
		}
		if x.output == "json" {
			return workbench.PrintJSON(x.rt, planJSON(p, true))
		}
		x.rt.Streams.Out.Printf("%s\n", set.ID)
		x.rt.Notice(setWords(set) + " is installed already, with the same contents")
		return nil
	}
	if x.output == "json" {
		return workbench.PrintJSON(x.rt, planJSON(p, false))
	}
	planView{show.Labelled{Out: x.rt.Streams.Out}, x.sandboxLevel(ctx, true)}.print(p)
	switch {
	case p.Same && !p.Asks():
		x.rt.Notice("it is installed already, with the same contents")
	case x.asks(p):
		x.rt.Notice("nothing was installed; " + x.again() + " asks for your approval")
	default:
		x.rt.Notice("nothing was installed; " + x.again() + " would ask for nothing")
	}
	return nil
}

// done tells what was installed.
func (x *importing) done(ctx context.Context, p *registry.Plan, set *registry.Toolset) error {
	if x.output == "json" {
		return workbench.PrintJSON(x.rt, planJSON(p, true))
	}
	x.rt.Streams.Out.Printf("%s\n", set.ID)
	var parts []string
	for _, part := range []struct {
		n         int
		one, many string
	}{
		{len(p.Manifest.Tools), "tool", "tools"}, {len(p.Manifest.MCPServers), "MCP server", "MCP servers"},
		{len(p.Manifest.Agents), "agent", "agents"}, {len(p.Manifest.Workflows), "workflow", "workflows"},
		{len(p.Manifest.Pages), "page", "pages"}, {len(p.Manifest.Payloads), "payload", "payloads"},
	} {
		if part.n > 0 {
			parts = append(parts, term.Count(part.n, part.one, part.many))
		}
	}
	line := setWords(set)
	switch {
	case p.Installed == nil:
	case p.Installed.Version == set.Version:
		line += " with other contents"
	default:
		line += " in the place of " + p.Installed.Version
	}
	if len(parts) > 0 {
		line += ": " + strings.Join(parts, ", ")
	}
	x.rt.Notice("installed " + line)
	if x.yes { // the plan was not shown
		for _, w := range p.Warnings {
			x.rt.Notice("warning: " + w)
		}
		for _, n := range p.Notes {
			x.rt.Notice("note: " + n)
		}
	}
	x.missing(p)
	x.entered(ctx, p)
	if p.Installed == nil && len(p.Manifest.Tools) > 0 {
		x.rt.Hint("fettle tool list   shows its tools")
	}
	return nil
}

// missing prints the variables that are not set, and how to connect to the MCP servers that
// need them once they are.
func (x *importing) missing(p *registry.Plan) {
	missing := missingNames(p)
	if len(missing) == 0 {
		return
	}
	verb := "is"
	if len(missing) > 1 {
		verb = "are"
	}
	x.rt.Notice(fmt.Sprintf("it reads %s, which %s not set", strings.Join(missing, ", "), verb))
	told := map[string]bool{}
	for _, v := range p.Variables {
		for _, server := range v.Servers {
			if v.Missing && !told[server] {
				told[server] = true
				x.rt.Hint("fettle mcp test " + server + "   connects to the MCP server once that is set")
			}
		}
	}
}

// entered prints which agent new chats begin with now, if the toolset has one for them.
func (x *importing) entered(ctx context.Context, p *registry.Plan) {
	i := slices.IndexFunc(p.Manifest.Agents, func(a manifest.Agent) bool { return a.Entry })
	if i < 0 {
		return
	}
	id := p.Manifest.ID + ":" + p.Manifest.Agents[i].ID
	choose := "fettle config set agent " + id
	if cfg, err := x.rt.Config(nil); err == nil && cfg.EntryAgent() != "" {
		switch cfg.EntryAgent() {
		case id:
		case catalog.NoAgent:
			x.rt.Notice("the configuration has new chats begin without an agent, and not with " + id)
			x.rt.Hint(choose)
		default:
			x.rt.Notice("the configuration has new chats begin with the agent " + cfg.EntryAgent() + ", and not with " + id)
			x.rt.Hint(choose)
		}
		return
	}
	switch now, err := x.eng.EntryAgent(ctx); {
	case err != nil: // the toolset is installed, and this is only about what is next
	case now == id:
		x.rt.Notice("new chats begin with the agent " + id)
		x.rt.Hint("fettle config set agent none   makes them begin without an agent")
	case now == "":
		x.rt.Notice("new chats begin without an agent: more than one toolset has an agent for them, or this one is disabled")
		x.rt.Hint(choose)
	}
}

func missingNames(p *registry.Plan) []string {
	var out []string
	for _, v := range p.Variables {
		if v.Missing {
			out = append(out, v.Name)
		}
	}
	return out
}

// setWords names a toolset: "CSV tools 1.2.0 (csv-tools)".
func setWords(set *registry.Toolset) string {
	return fmt.Sprintf("%s %s (%s)", show.OneLine(set.Name), set.Version, set.ID)
}
