package toolset

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/remedy"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// toolsetJSON is an installed toolset as commands print it.
type toolsetJSON struct {
	registry.Toolset
	Problem string `json:"problem,omitempty"`
	Tools   int    `json:"tools"`
	// Pending counts the items that wait for an approval.
	Pending int `json:"pending"`
}

// toolsetsJSON is what `toolset list --output json` prints.
type toolsetsJSON struct {
	SchemaVersion int           `json:"schema_version"`
	Toolsets      []toolsetJSON `json:"toolsets"`
}

// toolsetShowJSON is what `toolset show --output json` prints.
type toolsetShowJSON struct {
	SchemaVersion int                  `json:"schema_version"`
	Toolset       toolsetJSON          `json:"toolset"`
	Tools         []catalog.ListedTool `json:"tools"`
	Servers       []serverJSON         `json:"mcp_servers"`
	Items         []approvedJSON       `json:"items"`
	Files         []registry.File      `json:"files"`
	Damage        *[]registry.Damage   `json:"damage,omitempty"` // only with --verify
	Unset         []registry.Variable  `json:"variables"`
}

// serverJSON is an MCP server of a toolset.
type serverJSON struct {
	ID         string   `json:"id"`
	Enabled    bool     `json:"enabled"`
	Command    string   `json:"command,omitempty"`
	Args       []string `json:"args,omitempty"`
	URL        string   `json:"url,omitempty"`
	DeclaredBy []string `json:"declared_by"`
	Problem    string   `json:"problem,omitempty"`
}

// approvedJSON is an item and when it was approved.
type approvedJSON struct {
	registry.Item
	ApprovedAt *time.Time `json:"approved_at"` // null where it waits for it
}

func toToolsetJSON(info registry.Info) toolsetJSON {
	return toolsetJSON{Toolset: info.Toolset, Problem: info.Problem, Tools: len(info.Tools), Pending: len(info.Pending)}
}

func newToolsetList(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "list installed toolsets",
		Description: `On a terminal it is a table that fits. In a pipe each toolset is a line of id,
version, state, number of tools, name and source, with tabs between.`,
		UsageText: "fettle toolset list\nfettle toolset list -o json",
		Flags:     []cli.Flag{cmdline.OutputFlag()},
		Before:    cmdline.NoArguments,
		Action:    rt.Listing(runToolsetList),
	}
}

func runToolsetList(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, output string) error {
	list, err := eng.InstalledToolsets(ctx)
	if err != nil {
		return err
	}
	if output == "json" {
		out := toolsetsJSON{workbench.OutputVersion, []toolsetJSON{}}
		for _, info := range list {
			out.Toolsets = append(out.Toolsets, toToolsetJSON(info))
		}
		return workbench.PrintJSON(rt, out)
	}
	if len(list) == 0 {
		rt.Notice("no toolsets yet; fettle toolset import FILE installs one")
		rt.Hint("fettle toolset gallery   lists those that are part of fettle")
		return nil
	}
	style := rt.Streams.Out.Style()
	table := term.NewTable(rt.Streams.Out, term.Column{Title: "toolset"}, term.Column{Title: "version", Style: style.Dim},
		term.Column{Title: "state"}, term.Column{Title: "tools", Right: true}, term.Column{Title: "name", Cut: true},
		term.Column{Title: "from", Cut: true, Style: style.Dim})
	for _, info := range list {
		t := info.Toolset
		table.Row(t.ID, t.Version, stateWord(info), fmt.Sprint(len(info.Tools)), t.Name, t.SourceRef)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, info := range list {
		if info.Problem != "" {
			rt.Notice(info.Toolset.ID + ": " + remedy.Reason(info.Toolset.ID, info.Problem))
		}
	}
	return nil
}

// stateWord says in a word whether a toolset is used.
func stateWord(info registry.Info) string {
	switch {
	case info.Toolset.Revoked != nil:
		return "revoked"
	case info.Problem != "":
		return "broken"
	case !info.Toolset.Enabled:
		return "off"
	}
	return "on"
}

func newToolsetShow(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "show what an installed toolset contains",
		ArgsUsage: "TOOLSET",
		UsageText: "fettle toolset show csv-tools\nfettle toolset show csv-tools --verify -o json",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "verify", Usage: "read every file and tell which aren't as they were imported"},
			cmdline.OutputFlag(),
		},
		Before: oneToolset("show"),
		Action: rt.WithStore(func(c *cli.Context, eng *engine.Engine) error {
			id := c.Args().First()
			s := &toolsetShow{rt: rt, eng: eng, id: id, verify: c.Bool("verify"), output: c.String("output")}
			return s.run(c.Context)
		}),
	}
}

// toolsetShow is one run of toolset show.
type toolsetShow struct {
	rt     *workbench.Runtime
	eng    *engine.Engine
	id     string
	verify bool
	output string
}

func (s *toolsetShow) run(ctx context.Context) error {
	info, err := s.eng.InstalledToolset(ctx, s.id)
	if err != nil {
		return err
	}
	var damage []registry.Damage
	if s.verify {
		if damage, err = s.eng.VerifyToolset(ctx, s.id); err != nil {
			return err
		}
	}
	if s.output == "json" {
		out := showJSON(info)
		if s.verify {
			damage = workbench.OrEmpty(damage)
			out.Damage = &damage
		}
		if err := workbench.PrintJSON(s.rt, out); err != nil {
			return err
		}
	} else if err := s.print(info); err != nil {
		return err
	}
	if len(damage) == 0 {
		if s.verify && s.output == "text" {
			s.rt.Notice("all of its files are as they were imported")
		}
		return nil
	}
	f := fault.New(fault.Failed, term.Count(len(damage), "file", "files")+" of "+s.id+" not as imported",
		fault.Run(importAgain(info.Toolset)+"   installs them again"))
	for _, d := range damage[:min(len(damage), 20)] {
		f.Detail = append(f.Detail, d.Path+": "+d.Reason)
	}
	return f
}

func showJSON(info *registry.Info) toolsetShowJSON {
	out := toolsetShowJSON{
		SchemaVersion: workbench.OutputVersion, Toolset: toToolsetJSON(*info), Tools: []catalog.ListedTool{}, Servers: []serverJSON{},
		Items: []approvedJSON{}, Files: workbench.OrEmpty(info.Files), Unset: []registry.Variable{},
	}
	for _, t := range info.Tools {
		out.Tools = append(out.Tools, catalog.InstalledTool(t))
	}
	for _, sv := range info.Servers {
		out.Servers = append(out.Servers, serverJSON{
			ID: sv.Server.ID, Enabled: sv.Server.Enabled, Command: sv.Server.Config.Command, Args: sv.Server.Config.Args,
			URL: sv.Server.Config.URL, DeclaredBy: sv.Server.DeclaredBy, Problem: sv.Server.Problem,
		})
	}
	for _, it := range info.Items {
		out.Items = append(out.Items, approvedJSON{Item: it, ApprovedAt: approvedTime(info, it)})
	}
	out.Unset = variablesOf(info)
	return out
}

// approvedTime is when an item was approved; nil where it waits for it.
func approvedTime(info *registry.Info, it registry.Item) *time.Time {
	for _, a := range info.Approvals {
		if a.Kind == it.Kind && a.Name == it.Name && a.SHA256 == it.SHA256 {
			return &a.ApprovedAt
		}
	}
	return nil
}

// print shows a toolset to a person.
func (s *toolsetShow) print(info *registry.Info) error {
	out, t := s.rt.Streams.Out, info.Toolset
	style := out.Style()
	now := time.Now()
	out.Printf("%s\n", style.Bold(term.Clean(setWords(&t))))
	v := planView{Labelled: show.Labelled{Out: out}}
	v.Text(t.Description)
	state := stateWord(*info)
	if info.Problem != "" {
		state += ": " + remedy.Reason(t.ID, info.Problem)
	}
	v.Line("state", state, "")
	v.Line("from", t.SourceRef, "installed "+term.Ago(now, t.InstalledAt))
	if t.UpdatedAt.After(t.InstalledAt) {
		v.Line("updated", term.Ago(now, t.UpdatedAt), "")
	}
	if t.Uncontained {
		v.Line("sandbox", "its tools may run where this system can't contain them", "")
	}
	for _, sv := range info.Servers {
		what, about := registry.CommandLine(sv.Server.Config), "MCP server "+sv.Server.ID
		if what == "" {
			what = sv.Server.Config.URL
		}
		switch {
		case !sv.Server.Enabled:
			about += ", off"
		case sv.Server.Problem != "":
			about += ": " + sv.Server.Problem
		case len(sv.Shared) > 0:
			about += ", also of " + strings.Join(sv.Shared, ", ")
		}
		v.Line("starts", what, about)
	}
	for _, host := range t.Permissions.Network {
		v.Line("network", host, "")
	}
	for _, u := range variablesOf(info) {
		about := usedBy(u)
		if u.Missing {
			about += "; not set"
		}
		v.Line("reads env", u.Name, about)
	}
	for _, dir := range t.Permissions.Read {
		v.Line("reads", dir, "")
	}
	for _, r := range t.Requirements {
		v.Line("package", r, "")
	}
	s.printRest(v, info)
	return out.Err()
}

// printRest shows tools, agents and files.
func (s *toolsetShow) printRest(v planView, info *registry.Info) {
	for i, t := range info.Tools {
		label := ""
		if i == 0 {
			label = "tools"
		}
		v.Line(label, t.Tool.ID, toolAbout(t))
	}
	if m := info.Manifest; m != nil {
		for _, a := range m.Agents {
			v.Line("agent", a.ID, show.FirstLine(a.Purpose))
		}
		for _, p := range m.Pages {
			v.Line("page", p.ID, p.Name)
		}
		for _, p := range m.Payloads {
			v.Line("payload", p.Type, "")
		}
	}
	size := int64(0)
	for _, f := range info.Files {
		size += f.Size
	}
	v.Line("files", fmt.Sprintf("%d, %s", len(info.Files), term.Size(size)), "")
}

// toolAbout says of a tool what a line has room for.
func toolAbout(t registry.ToolInfo) string {
	var parts []string
	if t.Problem != "" {
		return t.Problem
	}
	if !t.Tool.Enabled {
		parts = append(parts, "off")
	}
	if t.Tool.RequiresConfirmation {
		parts = append(parts, "asks before each call")
	}
	if t.Service {
		parts = append(parts, "lives on as a service")
	}
	if t.Tool.Renderer != nil {
		parts = append(parts, "shown as "+t.Tool.Renderer.Type)
	}
	parts = append(parts, "may "+t.Reach.Text)
	return strings.Join(parts, ", ")
}
