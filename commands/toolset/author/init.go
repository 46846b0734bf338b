package author

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/newfile"
	"github.com/fettle-cli/fettle/commands/starter"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

type toolsetInitOptions struct {
	dir      string
	id, name string
	with     []starter.Part
}

const toolsetInitDescription = `DIR is the current folder where it is left out. It gets a toolset that works: a
manifest, one tool in Python with its tests, a README, and a workflow that
validates and tests it on GitHub. --with html adds a page that shows what the
tool returns, mcp an MCP server, agent an agent.

Nothing that is there is overwritten; where a file of that name is there
already, nothing is written at all.`

func newToolsetInit(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "init",
		Usage:       "begin a toolset",
		ArgsUsage:   "[DIR]",
		Description: toolsetInitDescription,
		UsageText:   "fettle toolset init csv-tools\nfettle toolset init word-tools --name \"Word tools\" --with html --with agent",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "id", Usage: "its `ID`, such as csv-tools (default: of the folder's name)"},
			&cli.StringFlag{Name: "name", Usage: "its `NAME`, for people (default: of its id)"},
			&cli.GenericFlag{Name: "with", Value: &cmdline.Values{}, Usage: "add a `PART`: html, mcp or agent; may be repeated"},
		},
		Before: cmdline.AtMostOne("fettle toolset init --help", "toolset init wants one folder"),
		Action: func(c *cli.Context) error {
			o := toolsetInitOptions{dir: ".", id: c.String("id"), name: c.String("name")}
			if c.NArg() == 1 {
				o.dir = c.Args().First()
			}
			for _, word := range cmdline.ListOf(c, "with") {
				for p := range strings.SplitSeq(word, ",") {
					if !slices.Contains(starter.Parts(), starter.Part(p)) {
						return cmdline.Usagef("fettle toolset init --with html", "--with has no part %s: there are html, mcp and agent", term.Clean(p))
					}
					o.with = append(o.with, starter.Part(p))
				}
			}
			if o.dir == "" {
				return cmdline.Usagef("fettle toolset init csv-tools", "the folder's name is empty")
			}
			return runToolsetInit(rt, o)
		},
	}
}

func runToolsetInit(rt *workbench.Runtime, o toolsetInitOptions) error {
	if err := o.names(); err != nil {
		return err
	}
	files, err := starter.Files(starter.Options{ID: o.id, Name: o.name, With: o.with})
	if err != nil {
		return fault.Wrap(fault.Failed, "begin a toolset", err)
	}
	if err := beginsWell(o, files[manifest.FileName]); err != nil {
		return err
	}
	repository := repositoryAbove(o.dir)
	if repository != "" {
		delete(files, starter.Workflow)
	}
	if err := newfile.WriteNew(o.dir, files); err != nil {
		return err
	}
	out := rt.Streams.Out
	for _, p := range slices.Sorted(maps.Keys(files)) {
		out.Printf("%s\n", term.Clean(filepath.Join(o.dir, filepath.FromSlash(p))))
	}
	if repository != "" {
		rt.Notice("no workflow was written: GitHub runs those of the repository's root, " + repository)
	}
	dir := cmdline.ShellWord(o.dir)
	rt.Notice("next: fettle toolset validate " + dir + ", fettle toolset test " + dir)
	return nil
}

// names fills in the id and the name.
func (o *toolsetInitOptions) names() error {
	base := baseOf(o.dir)
	if o.id == "" {
		o.id = idOf(base)
		if o.id == "" {
			return cmdline.Usagef("fettle toolset init --id my-tools "+cmdline.ShellWord(o.dir), "the folder's name %s gives no id", term.Clean(base))
		}
	}
	if !regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`).MatchString(o.id) {
		return cmdline.Usagef("fettle toolset init --id my-tools "+cmdline.ShellWord(o.dir),
			"the id can't be used: expected a-z, 0-9, - and _, beginning with a letter, found %s", strconv.Quote(o.id))
	}
	if o.name == "" {
		words := strings.Join(strings.FieldsFunc(o.id, func(r rune) bool { return r == '-' || r == '_' }), " ")
		o.name = strings.ToUpper(words[:1]) + words[1:]
	}
	return nil
}

// idOf makes an id of a folder's name; "" where nothing of it can be one.
func idOf(base string) string {
	id := regexp.MustCompile(`[^a-z0-9_]+`).ReplaceAllString(strings.ToLower(base), "-")
	id = strings.TrimLeft(id, "-_0123456789")
	return strings.TrimRight(id[:min(len(id), 64)], "-_")
}

// beginsWell wants the new manifest to be one that can be used: its id and its
// name are the user's.
func beginsWell(o toolsetInitOptions, text []byte) error {
	d := manifest.Parse(manifest.FileName, text, manifest.Options{})
	for _, p := range d.Problems {
		switch p.Pointer {
		case "/id":
			return cmdline.Usagef("fettle toolset init --id my-tools "+cmdline.ShellWord(o.dir), "the id can't be used: %s", strings.TrimPrefix(p.Message, "id: "))
		case "/name":
			return cmdline.Usagef("", "the name can't be used: %s", strings.TrimPrefix(p.Message, "name: "))
		}
	}
	if err := d.Err(); err != nil {
		return fault.Wrap(fault.Failed, "begin a toolset", err)
	}
	return nil
}

// repositoryAbove is the repository that a folder is in without being its root;
// "" where it is in none. GitHub runs workflows of the root alone.
func repositoryAbove(dir string) string {
	abs, err := realAbs(dir)
	if err != nil {
		return ""
	}
	for at := abs; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			if at == abs {
				return ""
			}
			return at
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}
