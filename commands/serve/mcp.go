package serve

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/help"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server"
	"github.com/fettle-cli/fettle/server/mcp"
)

// mcpServeOptions are the flags of `mcp serve`.
type mcpServeOptions struct {
	toolsets, allow  []string
	workspace, model string
	logs             string
}

// NewMCP is the command mcp serve, which an MCP client starts.
func NewMCP(rt *workbench.Runtime) *cli.Command {
	const path = "fettle mcp serve"
	return &cli.Command{
		Name:  "serve",
		Usage: "be an MCP server for another program",
		Description: `Programs that speak the Model Context Protocol start this: Claude Desktop, Claude
Code, VS Code, Cursor and others. They write messages to its standard input and
read them from its standard output, and the log is on standard error. It ends
with the program.

It offers the enabled tools of toolsets as TOOLSET__TOOL, builtin tools under
their own names (read_file, run_command), agents as agent__ID, and the prompts
of fettle prompts with their variables as arguments. The pages of tools are MCP
Apps, and files that tools write are resources. Each start works in a chat of
its own, with a folder of its own or with -w in one of yours; fettle undo takes
back what a tool did there. --toolset offers only the tools and agents of what
it names: a toolset, builtin, or an MCP server of fettle's, which is left out
otherwise.

Rules decide which calls run, as everywhere. One that has to be asked about is
asked in the program, where it can, and denied elsewhere; --allow lets it run.
fettle serve has the same at its address and /mcp, or /mcp/TOOLSET, with its token.
fettle mcp alone does this too, where its input is no terminal.`,
		UsageText: "fettle mcp serve\nfettle mcp serve --toolset builtin -w .\nfettle mcp serve --allow 'write_file(path=notes/**)' --log off",
		Flags: []cli.Flag{
			cmdline.ListFlag("toolset", "", "", "offer only the tools and agents of toolset `ID`; may be repeated"),
			cmdline.ListFlag("allow", "", "", "run calls that match `RULE` without asking; may be repeated"),
			&cli.StringFlag{Name: "workspace", Aliases: []string{"w"}, Usage: "let tools work in folder `DIR`"},
			&cli.StringFlag{Name: "model", Aliases: []string{"m"}, Usage: "ask the model `PROVIDER/NAME` where an agent names none"},
			&cli.StringFlag{Name: "log", Value: "text", Usage: "write the log as `FORMAT`: text, json or off"},
			rt.InProfile(""),
		},
		Before: cmdline.NoArguments,
		Action: func(c *cli.Context) error {
			o := mcpServeOptions{
				toolsets: cmdline.ListOf(c, "toolset"), allow: cmdline.ListOf(c, "allow"), workspace: c.String("workspace"),
				model: c.String("model"), logs: c.String("log"),
			}
			if c.IsSet("workspace") && o.workspace == "" {
				return cmdline.Usagef(path+" --help", "--workspace is empty")
			}
			rt.Answering = true
			return runMCPServe(c.Context, rt, o)
		},
	}
}

// BareMCP is what the group mcp does by itself: it serves a program, and shows a
// person its help.
func BareMCP(rt *workbench.Runtime) cli.ActionFunc {
	return func(c *cli.Context) error {
		if c.NArg() > 0 {
			return cmdline.UnknownCommand(c.Command.Subcommands, c.Args().Slice(), "fettle mcp")
		}
		if rt.Streams.In.IsTerminal() {
			help.Print(rt, c.Command, "fettle mcp")
			return nil
		}
		return runMCPServe(c.Context, rt, mcpServeOptions{logs: "text"})
	}
}

// check resolves the folder, and finds what is wrong before anything begins.
func (o *mcpServeOptions) check(rt *workbench.Runtime) error {
	switch {
	case o.logs != "text" && o.logs != "json" && o.logs != "off":
		return cmdline.Usagef("fettle mcp serve --log json", "--log wants text, json or off, not %s", cmdline.ShellWord(o.logs))
	case rt.Streams.In.IsTerminal():
		return cmdline.Usagef("fettle mcp serve --help", "fettle mcp serve is started by a program, and nobody types what it reads; its help says how")
	}
	if err := (permission.Policy{Allow: o.allow}).Check(); err != nil {
		return fault.Wrap(fault.Usage, "--allow", err, fault.Run("fettle mcp serve --allow 'write_file(path=notes/**)'"))
	}
	if o.workspace == "" {
		return nil
	}
	var err error
	if o.workspace, err = filepath.Abs(o.workspace); err != nil {
		return fault.Wrap(fault.Usage, "-w", err)
	}
	return nil
}

func runMCPServe(ctx context.Context, rt *workbench.Runtime, o mcpServeOptions) error {
	if err := o.check(rt); err != nil {
		return err
	}
	cfg, err := rt.Config(map[string]config.Flag{})
	if err != nil {
		return err
	}
	cfg.Model = cmp.Or(o.model, cfg.Model)
	eng, err := rt.EngineFor(cfg, nil)
	if err != nil {
		return err
	}
	if o.workspace != "" {
		if err := eng.CheckWorkspace(o.workspace); err != nil {
			return fault.Wrap(fault.Usage, "fettle can't work in this folder", err, fault.Run("fettle mcp serve -w DIR"))
		}
	}
	if err := knownGroups(ctx, eng, o.toolsets); err != nil {
		return err
	}
	host := mcp.New(mcp.Options{
		Engine: eng, Prepare: PrepareTurn(cfg, ""), Toolsets: o.toolsets, Workspace: o.workspace,
		Policy: permission.Policy{Allow: o.allow}, Library: rt.LibraryHere(), Version: rt.Build().Version, Log: Logger(rt, o.logs),
	})
	err = host.Serve(ctx, rt.Streams.In, rt.Streams.Out)
	if err != nil && !term.ClosedPipe(err) {
		return fault.Wrap(fault.Failed, "speak with the MCP client", err)
	}
	return nil
}

// knownGroups finds a --toolset that offers nothing.
func knownGroups(ctx context.Context, eng *engine.Engine, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	groups, err := eng.ToolGroups(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, g := range groups {
		known[g.ID] = true
	}
	for _, id := range ids {
		if !known[id] {
			return fault.New(fault.NotFound, "there is no toolset "+cmdline.ShellWord(id), fault.Run("fettle toolset list"), fault.Run("fettle mcp list"))
		}
	}
	return nil
}

// servedMCP makes what fettle serve has at /mcp.
func servedMCP(rt *workbench.Runtime, cfg *config.Config, eng *engine.Engine, o options) func(func(context.Context, engine.TurnRequest) (store.TurnID, error)) server.MCP {
	return func(start func(context.Context, engine.TurnRequest) (store.TurnID, error)) server.MCP {
		return mcp.New(mcp.Options{
			Engine: eng, Start: start, Prepare: PrepareTurn(cfg, o.agent), Library: rt.LibraryHere(), Version: rt.Build().Version, Log: rt.Log,
		})
	}
}
