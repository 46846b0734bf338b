package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/serve"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// servers is what the commands below mcp need of the engine.
type servers interface {
	MCPServers(ctx context.Context) ([]registry.MirrorServer, error)
	MCPServer(ctx context.Context, id string) (*registry.MirrorServer, error)
	AddMCPServer(ctx context.Context, config manifest.MCPServer, set registry.ServerSettings) error
	RemoveMCPServer(ctx context.Context, id string) error
	SwitchMCPServer(ctx context.Context, id string, on bool) (bool, error)
	LookAtMCPServer(ctx context.Context, id string, approved bool) (*catalog.Looked, error)
	ApproveMCPServer(ctx context.Context, id string, tools []toolset.Tool) error
}

var _ servers = (*engine.Engine)(nil)

// New is the command mcp.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:  "mcp",
		Usage: "use the tools of MCP servers, and be one",
		Description: `A server is a command that is started when one of its tools is called, or an
address. Its tools are SERVER:TOOL, and are offered beside the others once you
added it, or a toolset brought it. What a server says of its tools is pinned: a
tool that changed is held back until fettle mcp test has shown you the change.
Every call of such a tool asks, unless a rule allows it: fettle ask --allow
'notes:*', or the setting allow. A command runs in the sandbox: it has the
network, the chat's files, a folder of its own, and the folders that its
arguments name.

A server may ask you something while its tool runs: you are asked in its name,
and see what it would get before it does. It may ask your model only where fettle
mcp add --sampling lets it, and each prompt is shown to you first, unless the rule
sampling@SERVER allows it. @SERVER:URI in a question sends a resource along, and
fettle ask -p SERVER/NAME asks one of its prompts.

Without a subcommand it is a server itself, as fettle mcp serve is: programs
that speak MCP start it, and have fettle's tools and agents.`,
		UsageText: "fettle mcp add notes -- notes-server --stdio\nfettle mcp list\nfettle ask --allow 'notes:*' \"what did I note?\"",
		Action:    serve.BareMCP(rt),
		Subcommands: []*cli.Command{
			newAdd(rt), newImport(rt), newList(rt), newShow(rt), newTest(rt), newLogin(rt), newLogout(rt),
			switching.Command(rt, false), switching.Command(rt, true), newRm(rt), serve.NewMCP(rt),
		},
	}
}

// oneServer refuses other arguments of the command word than the name of one server.
func oneServer(word string) cli.BeforeFunc {
	return cmdline.OneArgument("fettle mcp list", "mcp %s wants the name of one server", word)
}

// serverJSON is an MCP server as commands print it. A value that is or may be
// a secret is ${NAME}.
type serverJSON struct {
	ID         string                  `json:"id"`
	Enabled    bool                    `json:"enabled"`
	Command    string                  `json:"command,omitempty"`
	Args       []string                `json:"args,omitempty"`
	Env        map[string]string       `json:"env,omitempty"`
	URL        string                  `json:"url,omitempty"`
	Headers    map[string]string       `json:"headers,omitempty"`
	Own        bool                    `json:"own"`
	DeclaredBy []string                `json:"declared_by"`
	Settings   registry.ServerSettings `json:"settings"`
	Tools      int                     `json:"tools"`
	Waiting    int                     `json:"waiting"`
	PinnedAt   *time.Time              `json:"pinned_at"`
	Problem    string                  `json:"problem,omitempty"`
}

func toServerJSON(s *registry.MirrorServer) serverJSON {
	c := withoutSecrets(s.Config)
	out := serverJSON{
		ID: s.ID, Enabled: !s.Off(), Command: c.Command, Args: c.Args, Env: c.Env, URL: c.URL, Headers: c.Headers, Own: s.Own, DeclaredBy: workbench.OrEmpty(s.DeclaredBy), Settings: s.Settings, Tools: len(s.Tools),
		Waiting: len(s.Held()), PinnedAt: s.PinnedAt, Problem: s.Problem,
	}
	switch {
	case s.Damaged():
		out.Problem = damagedText(s)
	case s.Enabled && (out.Problem == "" || s.Off()):
		out.Problem = s.Unusable
	}
	return out
}

// damagedText says that a server's record is damaged, and which command replaces it.
func damagedText(s *registry.MirrorServer) string {
	const text = "its record is damaged; "
	if s.Own {
		return text + "fettle mcp add --replace " + s.ID + " adds it again, fettle mcp rm " + s.ID + " removes it"
	}
	return text + "fettle toolset update " + s.DeclaredBy[0] + " imports its toolset again"
}

// listJSON is what `mcp list --output json` prints.
type listJSON struct {
	SchemaVersion int          `json:"schema_version"`
	Servers       []serverJSON `json:"servers"`
}

func newList(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "list MCP servers",
		Description: `On a terminal it is a table that fits. In a pipe each server is a line of name,
state, number of tools, who brought it, and its command or address, with tabs
between. No server is started.`,
		UsageText: "fettle mcp list\nfettle mcp list -o json",
		Flags:     []cli.Flag{cmdline.OutputFlag()},
		Before:    cmdline.NoArguments,
		Action:    rt.Listing(runList),
	}
}

func runList(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, output string) error {
	list, err := eng.MCPServers(ctx)
	if err != nil {
		return err
	}
	if output == "json" {
		out := listJSON{workbench.OutputVersion, []serverJSON{}}
		for i := range list {
			out.Servers = append(out.Servers, toServerJSON(&list[i]))
		}
		return workbench.PrintJSON(rt, out)
	}
	if len(list) == 0 {
		rt.Notice("no MCP servers yet; fettle mcp add NAME -- COMMAND adds one")
		return nil
	}
	style := rt.Streams.Out.Style()
	table := term.NewTable(rt.Streams.Out, term.Column{Title: "server"}, term.Column{Title: "state"},
		term.Column{Title: "tools", Right: true}, term.Column{Title: "from", Style: style.Dim}, term.Column{Title: "is", Cut: true})
	for i := range list {
		s := &list[i]
		table.Row(s.ID, serverState(s), fmt.Sprint(len(s.Tools)), broughtBy(s), Where(s))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for i := range list {
		if why := toServerJSON(&list[i]).Problem; why != "" && (list[i].Enabled || list[i].Damaged()) {
			rt.Notice(list[i].ID + ": " + why)
		}
	}
	return nil
}

// serverState says in a word whether a server is used.
func serverState(s *registry.MirrorServer) string {
	switch {
	case s.Damaged():
		return "damaged"
	case s.Off():
		return "off"
	case s.Unusable != "":
		return "broken"
	case len(s.Seen) > 0:
		return "changed"
	case s.PinnedAt == nil:
		return "not seen"
	}
	return "on"
}

func broughtBy(s *registry.MirrorServer) string {
	if s.Own {
		return "you"
	}
	return strings.Join(s.DeclaredBy, ", ")
}

// Where is a server's command or address as one line.
func Where(s *registry.MirrorServer) string {
	if s.Config.URL != "" {
		return show.OneLine(withoutSecrets(s.Config).URL)
	}
	return show.OneLine(registry.CommandLine(withoutSecrets(s.Config)))
}

// showJSON is what `mcp show --output json` prints.
type showJSON struct {
	SchemaVersion int                  `json:"schema_version"`
	Server        serverJSON           `json:"server"`
	Tools         []catalog.ListedTool `json:"tools"`
	Held          map[string]string    `json:"held"`
	Changes       []registry.Change    `json:"changes"`
}

func newShow(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "show",
		Usage:       "show a server, what it may reach, and its tools",
		ArgsUsage:   "SERVER",
		Description: "Shows what is known of it; fettle mcp test connects.",
		UsageText:   "fettle mcp show notes\nfettle mcp show notes -o json",
		Flags:       []cli.Flag{cmdline.OutputFlag()},
		Before:      oneServer("show"),
		Action: rt.WithStore(func(c *cli.Context, eng *engine.Engine) error {
			return runShow(c.Context, rt, eng, c.Args().First(), c.String("output"))
		}),
	}
}

func runShow(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, id, output string) error {
	s, err := eng.MCPServer(ctx, id)
	if err != nil {
		return err
	}
	var changes []registry.Change
	if len(s.Seen) > 0 {
		changes = registry.ServerChanges(s.Tools, s.Seen)
	}
	if output == "json" {
		out := showJSON{workbench.OutputVersion, toServerJSON(s), []catalog.ListedTool{}, s.Held(), workbench.OrEmpty(changes)}
		for _, t := range s.Tools {
			listed := catalog.ServerTool(s, t.Tool)
			listed.Problem = s.Held()[t.Tool.ID]
			out.Tools = append(out.Tools, listed)
		}
		return workbench.PrintJSON(rt, out)
	}
	style := rt.Streams.Out.Style()
	rt.Streams.Out.Printf("%s  %s\n", style.Bold(s.ID), style.Dim(serverState(s)+", from "+broughtBy(s)))
	v := show.Labelled{Out: rt.Streams.Out}
	for _, line := range serverLines(s, eng) {
		v.Line(line[0], line[1], "")
	}
	if why := toServerJSON(s).Problem; why != "" {
		v.Line("problem", why, "")
	}
	held := s.Held()
	for _, t := range s.Tools {
		about, _, _ := strings.Cut(t.Tool.Description, "\n")
		if why := held[t.Tool.ID]; why != "" {
			about = "held back: " + why
		}
		v.Line("tool", t.Tool.ID, about)
	}
	return nil
}

// serverLines are what a server is and may reach, each a label and a text.
func serverLines(s *registry.MirrorServer, eng *engine.Engine) [][2]string {
	out := [][2]string{}
	c := withoutSecrets(s.Config)
	add := func(label, text string) {
		if text != "" {
			out = append(out, [2]string{label, text})
		}
	}
	if s.Config.URL != "" {
		add("address", Where(s))
		for _, name := range sortedNames(c.Headers) {
			add("header", name+": "+c.Headers[name])
		}
		return out
	}
	add("starts", Where(s))
	for _, name := range sortedNames(c.Env) {
		add("variable", name+"="+c.Env[name])
	}
	if s.Settings.Uncontained {
		add("sandbox", "none: it can do all that you can")
		return out
	}
	reached := eng.ReachedAs(s)
	add("network", map[bool]string{true: "none", false: "all of it"}[reached.Policy.Network == ""])
	add("reads", strings.Join(reached.Policy.Readable, ", "))
	add("changes", strings.Join(append([]string{"the chat's workspace"}, reached.Policy.Writable...), ", "))
	return out
}
