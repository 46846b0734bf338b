package mcp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// addOptions are what mcp add was given.
type addOptions struct {
	config  manifest.MCPServer
	set     registry.ServerSettings
	replace bool
	noTest  bool
	output  string
}

func newAdd(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "add",
		Usage:     "add a server: a command, or an address",
		ArgsUsage: "SERVER [COMMAND…]",
		Description: `The command follows --, or --url names an address. The server is connected to
once, and its tools are pinned as they are then; if that fails it stays added,
and fettle mcp test tries again. ${NAME} in a value, an argument or the address
is filled in when the server is started, from the environment or from fettle
keys set NAME, so that no secret has to be written here.

A command runs in the sandbox. It may reach the network and change the chat's
files, its own folder, and each folder that is an argument by its full path;
--read and --write give it more, --no-sandbox everything.`,
		UsageText: "fettle mcp add notes -- notes-server --stdio\nfettle mcp add search -e 'TOKEN=${SEARCH_TOKEN}' --no-test -- notes-server\nfettle mcp add docs --url https://example.com/mcp --no-test",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "url", Usage: "reach it at the address `URL`, by streamable HTTP"},
			&cli.BoolFlag{Name: "sse", Usage: "the address speaks the older HTTP+SSE"},
			&cli.StringSliceFlag{Name: "env", Aliases: []string{"e"}, Usage: "give the command the variable `NAME=VALUE`"},
			&cli.StringSliceFlag{Name: "header", Aliases: []string{"H"}, Usage: "send the header `NAME: VALUE` to the address"},
			&cli.StringSliceFlag{Name: "read", Usage: "let the command read `PATH`"},
			&cli.StringSliceFlag{Name: "write", Usage: "let the command change `PATH`"},
			&cli.BoolFlag{Name: "offline", Usage: "give the command no network"},
			&cli.BoolFlag{Name: "no-sandbox", Usage: "run the command as you would, with your home and all that you can reach"},
			&cli.BoolFlag{Name: "sampling", Usage: "let it ask for answers of your model; each is asked about, with all that it asks"},
			&cli.DurationFlag{Name: "timeout", Usage: "stop a call of its tools after `TIME`, such as 90s; without it after 10m"},
			&cli.StringFlag{Name: "client-id", Usage: "sign in as the client `ID`, registered with the server beforehand"},
			&cli.StringFlag{Name: "client-secret", Usage: "of that client: `${NAME}`, a variable or kept key"},
			&cli.BoolFlag{Name: "replace", Usage: "change a server that is there"},
			&cli.BoolFlag{Name: "no-test", Usage: "don't connect now"},
			cmdline.OutputFlag(),
		},
		Action: func(c *cli.Context) error {
			o, err := readAdd(c)
			if err != nil {
				return err
			}
			eng, err := rt.StoreEngine()
			if err != nil {
				return err
			}
			return runAdd(c.Context, rt, eng, o)
		},
	}
}

// readAdd makes options of flags and arguments.
func readAdd(c *cli.Context) (addOptions, error) {
	const hint = "fettle mcp add notes -- npx -y some-package@1.2.3"
	args := c.Args().Slice()
	o := addOptions{replace: c.Bool("replace"), noTest: c.Bool("no-test"), output: c.String("output")}
	if len(args) == 0 || args[0] == "" {
		return o, cmdline.Usagef(hint, "mcp add wants a name, and a command or --url")
	}
	o.config = manifest.MCPServer{ID: args[0], URL: c.String("url")}
	if len(args) > 1 {
		o.config.Command, o.config.Args = args[1], args[2:]
	}
	if (o.config.Command == "") == (o.config.URL == "") {
		return o, cmdline.Usagef(hint, "mcp add wants a command or --url, and not both")
	}
	var err error
	if o.config.Env, err = pairs(c.StringSlice("env"), "=", "-e NAME=VALUE"); err != nil {
		return o, err
	}
	if o.config.Headers, err = pairs(c.StringSlice("header"), ":", "-H 'NAME: VALUE'"); err != nil {
		return o, err
	}
	o.set = registry.ServerSettings{
		SSE: c.Bool("sse"), Uncontained: c.Bool("no-sandbox"), Offline: c.Bool("offline"), Sampling: c.Bool("sampling"),
		ClientID: c.String("client-id"), ClientSecret: c.String("client-secret"),
	}
	if c.IsSet("timeout") {
		if o.set.Timeout = toolset.Duration(c.Duration("timeout")); o.set.Timeout <= 0 {
			return o, cmdline.Usagef("fettle mcp add --timeout 90s …", "--timeout wants a time above 0")
		}
	}
	if s := o.set.ClientSecret; s != "" && !isVariable(s) {
		return o, cmdline.Usagef("fettle keys set NAME, and --client-secret '${NAME}'", "a secret is no argument, since the shell's history would keep it")
	}
	if o.config.URL != "" && (o.set.Uncontained || o.set.Offline || len(c.StringSlice("read"))+len(c.StringSlice("write")) > 0) {
		return o, cmdline.Usagef(hint, "--read, --write, --offline and --no-sandbox are for commands")
	}
	if o.set.Read, err = fullPaths(c.StringSlice("read")); err != nil {
		return o, err
	}
	if o.set.Write, err = fullPaths(c.StringSlice("write")); err != nil {
		return o, err
	}
	return o, o.resolveProgram()
}

var wholeVariable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\$\{[A-Za-z_][A-Za-z0-9_]*\}$`) })

func isVariable(s string) bool { return wholeVariable().MatchString(s) }

// resolveProgram makes a relative path of a program an absolute one: it is
// started elsewhere.
func (o *addOptions) resolveProgram() error {
	if !strings.ContainsAny(o.config.Command, `/\`) || filepath.IsAbs(o.config.Command) || strings.Contains(o.config.Command, "${") {
		return nil
	}
	full, err := filepath.Abs(o.config.Command)
	if err != nil {
		return fault.Wrap(fault.Failed, "find the program", err)
	}
	o.config.Command = full
	return nil
}

// pairs reads name and value of each flag.
func pairs(list []string, between, form string) (map[string]string, error) {
	out := make(map[string]string, len(list))
	for _, text := range list {
		name, value, ok := strings.Cut(text, between)
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, cmdline.Usagef("fettle mcp add --help", "%q: want %s", text, form)
		}
		if between == ":" {
			value = strings.TrimSpace(value)
		}
		out[name] = value
	}
	return out, nil
}

// fullPaths makes paths absolute. One that isn't there is refused: it would be
// left out in silence when the server starts.
func fullPaths(list []string) ([]string, error) {
	var out []string
	for _, path := range list {
		full, err := filepath.Abs(path)
		if err == nil {
			_, err = os.Stat(full)
		}
		if err != nil {
			return nil, fault.Wrap(fault.Usage, "grant "+path, err)
		}
		out = append(out, full)
	}
	return out, nil
}

func runAdd(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, o addOptions) error {
	id := o.config.ID
	list, err := eng.MCPServers(ctx)
	if err != nil {
		return err
	}
	for i := range list {
		if list[i].ID == id && !o.replace {
			return fault.New(fault.Usage, "there is an MCP server "+id+" already",
				fault.Run("fettle mcp show "+cmdline.ShellWord(id)), fault.Run("fettle mcp add --replace "+cmdline.ShellWord(id)+" …   changes it"))
		}
	}
	if err := eng.AddMCPServer(ctx, o.config, o.set); err != nil {
		return err
	}
	for _, name := range plainSecrets(o.config) {
		rt.Notice(fmt.Sprintf("the value of %s is kept in plain text; '%s=${%s}' takes it from the environment or from fettle keys set %s", name, name, name, name))
	}
	if o.noTest {
		return added(ctx, rt, eng, id, o.output, "added the MCP server "+id+"; fettle mcp test "+id+" lists its tools")
	}
	looked, err := lookAt(ctx, rt, eng, id, true)
	if err != nil {
		rt.Notice("added the MCP server " + id + ", which can't be used yet")
		return err
	}
	for _, note := range looked.Report.Notes {
		rt.Notice("the MCP server " + id + ": " + show.OneLine(note))
	}
	return added(ctx, rt, eng, id, o.output, "")
}

// plainSecrets are the variables and headers whose values look like secrets.
func plainSecrets(c manifest.MCPServer) []string {
	shown := withoutSecrets(c)
	var out []string
	for _, name := range sortedNames(c.Env) {
		if shown.Env[name] != c.Env[name] {
			out = append(out, name)
		}
	}
	for _, name := range sortedNames(c.Headers) {
		if shown.Headers[name] != c.Headers[name] {
			out = append(out, name)
		}
	}
	return out
}

// added tells what was added.
func added(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, id, output, line string) error {
	s, err := eng.MCPServer(ctx, id)
	if err != nil {
		return err
	}
	if output == "json" {
		return workbench.PrintJSON(rt, oneJSON{workbench.OutputVersion, toServerJSON(s)})
	}
	if line == "" {
		line = fmt.Sprintf("added the MCP server %s with %s", id, term.Count(len(s.Tools), "tool", "tools"))
	}
	rt.Notice(line)
	if len(s.Tools) > 0 {
		rt.Hint("fettle ask --allow '" + id + ":*' …   lets a question use them without asking for each call")
	}
	return nil
}

// oneJSON is what mcp add prints with --output json.
type oneJSON struct {
	SchemaVersion int        `json:"schema_version"`
	Server        serverJSON `json:"server"`
}

// removedJSON is what `mcp rm --output json` prints.
type removedJSON struct {
	SchemaVersion int    `json:"schema_version"`
	ID            string `json:"id"`
	SignedOut     bool   `json:"signed_out"`
}

func newRm(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "rm",
		Usage:       "remove a server that you added",
		ArgsUsage:   "SERVER",
		Description: "Removes it with its pins, and what a sign-in gave. One that a toolset brought goes\nwith the toolset; fettle mcp disable leaves it out.",
		UsageText:   "fettle mcp rm notes --yes",
		Flags:       []cli.Flag{cmdline.YesFlag(), cmdline.OutputFlag()},
		Before:      oneServer("rm"),
		Action: rt.WithStore(func(c *cli.Context, eng *engine.Engine) error {
			return runRm(c.Context, rt, eng, c.Args().First(), c.Bool("yes"), c.String("output"))
		}),
	}
}

func runRm(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, id string, yes bool, output string) error {
	s, err := eng.MCPServer(ctx, id)
	if err != nil {
		return err
	}
	if s.Own && !yes {
		if ok, err := rt.Sure(ctx, "remove the MCP server "+id+" ("+Where(s)+")?", "fettle mcp rm "+cmdline.ShellWord(id)+" --yes"); !ok {
			return err
		}
	}
	if err := eng.RemoveMCPServer(ctx, id); err != nil {
		return err
	}
	out, err := signOut(ctx, rt, eng.ReachedAs(s))
	if err != nil {
		rt.Notice("what its sign-in gave is still kept: " + err.Error())
	}
	if output == "json" {
		return workbench.PrintJSON(rt, removedJSON{workbench.OutputVersion, id, out.Was})
	}
	rt.Notice("removed the MCP server " + id)
	return nil
}

// switching switches MCP servers.
var switching = workbench.Switching{
	Group: "mcp", Thing: "the MCP server", Arg: "SERVER", Example: "notes",
	On: "offer a server's tools again", Off: "offer a server's tools no more, and keep it",
	One: oneServer,
	Set: func(ctx context.Context, eng *engine.Engine, id string, on bool) (bool, error) {
		return eng.SwitchMCPServer(ctx, id, on)
	},
}
