package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/textenc"
	"github.com/fettle-cli/fettle/toolset/clientconfig"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// importJSON is what `mcp import --output json` prints.
type importJSON struct {
	SchemaVersion int               `json:"schema_version"`
	Imported      []string          `json:"imported"`
	Skipped       map[string]string `json:"skipped"`
	// Notes hold, by server, what was read differently or left out.
	Notes     map[string][]string `json:"notes"`
	FileNotes []string            `json:"file_notes"`
}

// importing is one run of mcp import.
type importing struct {
	rt      *workbench.Runtime
	eng     *engine.Engine
	file    string
	yes     bool
	replace bool
	output  string
}

func newImport(rt *workbench.Runtime) *cli.Command {
	const path = "fettle mcp import"
	return &cli.Command{
		Name:      "import",
		Usage:     "add the MCP servers in another program's file",
		ArgsUsage: "FILE",
		Description: `FILE is the configuration of another program: Claude Desktop, Claude Code (with
the servers of its projects), Cursor, VS Code, Windsurf, Cline, Zed, Gemini CLI,
opencode (JSON, comments are allowed), Continue, LibreChat (YAML) or Codex (TOML).
Each field that fettle does not have is noted, with what that means; a server that
is disabled there, or can't be used here, is skipped with the reason. You are
shown what each server would start, and nothing is added before you confirm.
fettle connects to a server when one of its tools is called, or by fettle mcp test.`,
		UsageText: "fettle mcp import mcp.json --yes",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "add them without asking"},
			&cli.BoolFlag{Name: "replace", Usage: "change those that are there already"},
			cmdline.OutputFlag(),
		},
		Before: cmdline.OneArgument(path+" FILE", "mcp import wants one file"),
		Action: rt.WithStore(func(c *cli.Context, eng *engine.Engine) error {
			return (&importing{rt, eng, c.Args().First(), c.Bool("yes"), c.Bool("replace"), c.String("output")}).run(c.Context)
		}),
	}
}

func (x *importing) run(ctx context.Context) error {
	raw, err := readServersFile(x.file)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(filepath.Dir(x.file))
	if err != nil {
		return fault.Wrap(fault.Failed, "find the folder of "+x.file, err)
	}
	found, err := clientconfig.Read(raw, clientconfig.Options{Name: filepath.Base(x.file), Dir: dir})
	if err != nil {
		return fault.Wrap(fault.Usage, "read "+filepath.Base(x.file), err, fault.Run("fettle mcp import --help"))
	}
	list, err := x.eng.MCPServers(ctx)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for i := range list {
		there[list[i].ID] = true
	}
	skipped := found.Skipped
	var fresh []clientconfig.Server
	for _, f := range found.Servers {
		if there[f.Config.ID] && !x.replace {
			skipped[f.Config.ID] = "there is one of this name already; --replace changes it"
			continue
		}
		fresh = append(fresh, f)
	}
	x.show(fresh, found)
	out := importJSON{
		SchemaVersion: workbench.OutputVersion, Imported: []string{}, Skipped: skipped, Notes: map[string][]string{}, FileNotes: workbench.OrEmpty(found.Notes),
	}
	if len(fresh) == 0 {
		return x.done(out)
	}
	if ok, err := x.allowed(ctx, len(fresh)); err != nil || !ok {
		return err
	}
	failed := 0
	for _, f := range fresh {
		if err := x.eng.AddMCPServer(ctx, f.Config, f.Settings); err != nil {
			if ctx.Err() != nil {
				return err
			}
			skipped[f.Config.ID] = show.FirstLine(err.Error())
			x.rt.Notice("not added: " + f.Config.ID + ": " + skipped[f.Config.ID])
			failed++
			continue
		}
		out.Imported = append(out.Imported, f.Config.ID)
		out.Notes[f.Config.ID] = workbench.OrEmpty(f.Notes)
	}
	if err := x.done(out); err != nil || failed == 0 {
		return err
	}
	return fault.New(fault.Failed, term.Count(failed, "server was", "servers were")+" not added")
}

// maxServersFile bounds what is read of a file.
const maxServersFile = 4 << 20

func readServersFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "there is no file "+path)
	}
	if err != nil {
		return nil, fault.Wrap(fault.Failed, "read "+path, err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxServersFile+1))
	if err != nil {
		return nil, fault.Wrap(fault.Failed, "read "+path, err)
	}
	if len(raw) > maxServersFile {
		return nil, fault.New(fault.Usage, fmt.Sprintf("%s has more than %d MB; no list of servers has", path, maxServersFile>>20))
	}
	return textenc.ToUTF8(raw), nil
}

// show prints what would be started, the whole of it, and what was left out.
func (x *importing) show(fresh []clientconfig.Server, found *clientconfig.Result) {
	if x.output == "json" && x.yes {
		return
	}
	v := show.Labelled{Out: x.rt.Streams.Err}
	for _, f := range fresh {
		s := &registry.MirrorServer{Server: registry.Server{ID: f.Config.ID, Config: f.Config, Settings: f.Settings, Own: true}}
		x.rt.Streams.Err.Printf("%s\n", x.rt.Streams.Err.Style().Bold(f.Config.ID))
		for _, line := range serverLines(s, x.eng) {
			v.Line(line[0], line[1], "")
		}
		for _, name := range plainSecrets(f.Config) {
			v.Line("note", "the value of "+name+" is kept in plain text", "")
		}
		for _, note := range f.Notes {
			v.Line("note", show.OneLine(note), "")
		}
	}
	for _, note := range found.Notes {
		x.rt.Notice(show.OneLine(note))
	}
	for _, name := range sortedNames(found.Skipped) {
		x.rt.Notice("left out " + show.OneLine(name) + ": " + show.OneLine(found.Skipped[name]))
	}
}

// allowed asks.
func (x *importing) allowed(ctx context.Context, n int) (bool, error) {
	again := "fettle mcp import " + cmdline.ShellWord(x.file) + " --yes   adds them"
	if x.yes {
		return true, nil
	}
	if !x.rt.Streams.CanAsk() {
		return false, fault.New(fault.Approval, "nobody can be asked here whether to add these; nothing was added", fault.Run(again))
	}
	key, err := x.rt.Streams.Ask(ctx, term.Question{Text: "Add " + term.Count(n, "server", "servers") + "?", Default: 'n', Choices: []term.Choice{
		{Key: 'y', Label: "yes", Commits: true}, {Key: 'n', Label: "no"},
	}})
	if err != nil && !errors.Is(err, term.ErrNoAnswer) {
		return false, err
	}
	if key != 'y' {
		x.rt.Notice("nothing was added")
		return false, nil
	}
	return true, nil
}

func (x *importing) done(out importJSON) error {
	if x.output == "json" {
		return workbench.PrintJSON(x.rt, out)
	}
	added := out.Imported
	if len(added) == 0 {
		x.rt.Notice("nothing was added")
		return nil
	}
	x.rt.Notice("added " + term.Count(len(added), "MCP server", "MCP servers") + ": " + strings.Join(added, ", "))
	x.rt.Hint("fettle mcp test " + added[0] + "   connects, and lists its tools")
	return nil
}
