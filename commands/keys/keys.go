package keys

import (
	"cmp"
	"context"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/keystore"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/internal/didyoumean"
)

// keysOptions are the flags and arguments of keys' commands.
type keysOptions struct {
	name   string
	inFile bool
	output string
}

const keysDescription = `A provider's key is looked for in this order, when a question needs it:

  its variable           OPENAI_API_KEY, or what providers.NAME.key_env names
  the configuration      providers.NAME.key: it, or "!COMMAND" that prints it
  what is kept here      in the system's keyring, else in a file for you alone

A command is shown before it runs, and has to be allowed once (fettle trust).
FETTLE_KEYRING=off keeps everything in the file.`

// New makes the command keys with those below it.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "keys",
		Usage:       "keep the keys of providers",
		Description: keysDescription,
		UsageText:   "fettle keys list\nfettle keys path",
		Subcommands: []*cli.Command{newKeysSet(rt), newKeysList(rt), newKeysRm(rt), newKeysPath(rt)},
	}
}

func newKeysSet(rt *workbench.Runtime) *cli.Command {
	const path = "fettle keys set"
	return &cli.Command{
		Name:      "set",
		Usage:     "keep a provider's key",
		ArgsUsage: "NAME",
		Description: `Asks for the key on the terminal without showing it, or reads it from standard
input. It is never an argument: the shell's history would keep it.`,
		UsageText: "fettle keys set openai < key.txt\nfettle keys rm openai",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "file", Usage: "keep it in the file, not in the keyring"}, cmdline.OutputFlag(),
		},
		Action: func(c *cli.Context) error {
			o := keysOptions{name: c.Args().First(), inFile: c.Bool("file"), output: c.String("output")}
			switch {
			case c.NArg() == 0:
				return cmdline.Usagef(path+" openai", "%s takes the name of a provider", path)
			case c.NArg() > 1: // what follows is likely to be the key
				return cmdline.Usagef(path+" "+cmdline.ShellWord(o.name)+"   asks for the key",
					"%s takes one name; a key is no argument, since the shell's history would keep it", path)
			}
			return runKeysSet(c.Context, rt, o)
		},
	}
}

func newKeysList(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "list which keys there are, and where; never a key",
		Description: `The first of several places is the one that is used. A long key is told apart by
its last four characters. No command is run and no keyring asked.`,
		UsageText: "fettle keys list\nfettle keys list -o json",
		Flags:     []cli.Flag{rt.InProfile(""), cmdline.OutputFlag()},
		Before:    cmdline.NoArguments,
		Action: func(c *cli.Context) error {
			o := keysOptions{output: c.String("output")}
			return runKeysList(rt, o)
		},
	}
}

func newKeysRm(rt *workbench.Runtime) *cli.Command {
	const path = "fettle keys rm"
	return &cli.Command{
		Name:      "rm",
		Usage:     "forget a key that was kept",
		ArgsUsage: "NAME",
		UsageText: "fettle keys set openai < key.txt\nfettle keys rm openai",
		Flags:     []cli.Flag{cmdline.OutputFlag()},
		Before:    cmdline.OneArgument(path+" openai", "%s takes the name of a provider", path),
		Action: func(c *cli.Context) error {
			o := keysOptions{name: c.Args().First(), output: c.String("output")}
			return runKeysRm(c.Context, rt, o)
		},
	}
}

func newKeysPath(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "path",
		Usage:     "print where the file of keys is",
		UsageText: "fettle keys path\nfettle keys path -o json",
		Flags:     []cli.Flag{cmdline.OutputFlag()},
		Before:    cmdline.NoArguments,
		Action: func(c *cli.Context) error {
			o := keysOptions{output: c.String("output")}
			return runKeysPath(rt, o)
		},
	}
}

// keyJSON is where a key was put or taken from.
type keyJSON struct {
	SchemaVersion int            `json:"schema_version"`
	Name          string         `json:"name"`
	Place         keystore.Place `json:"place"`
}

func runKeysSet(ctx context.Context, rt *workbench.Runtime, o keysOptions) error {
	ring, err := rt.KeyRing(nil)
	if err != nil {
		return err
	}
	if err := keystore.CheckName(o.name); err != nil { // before a key is typed for nothing
		return err
	}
	cfg, err := rt.Config(nil)
	if err != nil {
		return err
	}
	key, err := givenKey(ctx, rt, o.name)
	if err != nil {
		return err
	}
	place, err := ring.Set(ctx, o.name, key, o.inFile)
	if err != nil {
		return err
	}
	p, known := cfg.Keyed()[o.name]
	if o.output == "json" {
		return workbench.PrintJSON(rt, keyJSON{workbench.OutputVersion, o.name, place})
	}
	rt.Notice("the key of " + o.name + " is kept in " + placeName(keystore.Source{Place: place}, ring))
	switch near := didyoumean.Of(o.name, slices.Sorted(maps.Keys(cfg.Keyed()))); {
	case !known && near != "":
		rt.Notice("no provider is called " + o.name + " yet; did you mean " + near + "?")
	case !known:
		rt.Notice("no provider is called " + o.name + " yet; fettle config set providers." + o.name + ".base_url ADDRESS   makes one")
	case !p.Key.Empty() || p.KeyCommand != "":
		first := cmp.Or(cfg.Origin("providers."+o.name+".key"), p.KeyEnv)
		rt.Notice("another one comes first: " + first)
	}
	return nil
}

// maxKey is the most that is read of standard input; keys are much shorter.
const maxKey = 64 << 10

// givenKey is the key that a person types, or that standard input has.
func givenKey(ctx context.Context, rt *workbench.Runtime, name string) (string, error) {
	switch rt.Streams.In.Kind() {
	case term.InputPipe, term.InputFile:
		text, err := workbench.ReadStdin(ctx, rt, maxKey)
		if err != nil {
			return "", err
		}
		if strings.TrimSpace(text) == "" {
			return "", cmdline.Usagef("fettle keys set "+name+"   in a terminal asks for it", "standard input is empty, and a key was expected there")
		}
		return text, nil
	}
	if !rt.Streams.CanAsk() {
		return "", cmdline.Usagef("fettle keys set "+name+" < FILE", "nobody can be asked for the key here, and standard input has none")
	}
	return rt.Streams.ReadSecret(ctx, "key of "+name+" (it doesn't show): ")
}

// placeName is where a key is, in words.
func placeName(s keystore.Source, ring *keystore.Keys) string {
	switch s.Place {
	case keystore.Environment:
		return "the variable " + s.Name
	case keystore.Configuration:
		return "the configuration"
	case keystore.CommandOutput:
		return "a command of the configuration"
	case keystore.InKeyring:
		return "the keyring"
	}
	return ring.Path()
}

// keysListJSON is what `keys list --output json` prints.
type keysListJSON struct {
	SchemaVersion int           `json:"schema_version"`
	File          string        `json:"file"`
	Keyring       bool          `json:"keyring"` // whether there is one to use
	WhyNoKeyring  string        `json:"why_no_keyring,omitempty"`
	Keys          []keyListJSON `json:"keys"`
}

type keyListJSON struct {
	Name    string          `json:"name"`
	Known   bool            `json:"known"` // the configuration has a provider of that name
	Sources []keySourceJSON `json:"sources"`
}

type keySourceJSON struct {
	Place keystore.Place `json:"place"` // environment, configuration, command, keyring, file
	Name  string         `json:"name,omitempty"`
	Ends  string         `json:"ends,omitempty"`
	Used  bool           `json:"used"`
	// Exposed tells that others can read the file, so that the key isn't used.
	Exposed bool `json:"exposed,omitempty"`
}

func runKeysList(rt *workbench.Runtime, o keysOptions) error {
	ring, err := rt.KeyRing(nil)
	if err != nil {
		return err
	}
	cfg, err := rt.Config(nil)
	if err != nil {
		return err
	}
	found, err := ring.List(cfg.Keyed())
	if err != nil {
		return err
	}
	if o.output == "json" {
		return workbench.PrintJSON(rt, describeKeys(ring, found))
	}
	if len(found) == 0 {
		rt.Notice("no keys yet; fettle keys set openai   keeps one")
		return nil
	}
	style := rt.Streams.Out.Style()
	table := term.NewTable(rt.Streams.Out,
		term.Column{Title: "name", Cut: true}, term.Column{Title: "from", Cut: true},
		term.Column{Title: "ends in"}, term.Column{Title: "note", Cut: true, Style: style.Dim})
	for _, f := range found {
		for i, s := range f.Sources {
			note := ""
			switch {
			case s.Exposed:
				note = "not used: others can read it; chmod 600"
			case i > 0:
				note = "not used: the one above comes first"
			case !f.Known:
				note = "no provider has this name"
			}
			table.Row(f.Name, placeName(s, ring), s.Ends, note)
		}
	}
	return table.Flush()
}

func describeKeys(ring *keystore.Keys, found []keystore.Found) keysListJSON {
	system, why := keystore.SystemKeyring(os.LookupEnv)
	out := keysListJSON{
		SchemaVersion: workbench.OutputVersion, File: ring.Path(), Keyring: system != nil, WhyNoKeyring: why, Keys: []keyListJSON{},
	}
	for _, f := range found {
		k := keyListJSON{Name: f.Name, Known: f.Known}
		for i, s := range f.Sources {
			k.Sources = append(k.Sources, keySourceJSON{s.Place, s.Name, s.Ends, i == 0 && !s.Exposed, s.Exposed})
		}
		out.Keys = append(out.Keys, k)
	}
	return out
}

func runKeysRm(ctx context.Context, rt *workbench.Runtime, o keysOptions) error {
	ring, err := rt.KeyRing(nil)
	if err != nil {
		return err
	}
	place, err := ring.Remove(ctx, o.name)
	if err != nil {
		return err
	}
	if o.output == "json" {
		return workbench.PrintJSON(rt, keyJSON{workbench.OutputVersion, o.name, place})
	}
	rt.Notice("the key of " + o.name + " is forgotten; it was in " + placeName(keystore.Source{Place: place}, ring))
	if cfg, err := rt.Config(nil); err == nil {
		found, _ := ring.List(cfg.Keyed()) // for a remark alone
		if i := slices.IndexFunc(found, func(f keystore.Found) bool { return f.Name == o.name }); i >= 0 {
			rt.Notice("there still is one in " + placeName(found[i].Sources[0], ring))
		}
	}
	return nil
}

// keysPathJSON is what `keys path --output json` prints.
type keysPathJSON struct {
	SchemaVersion int    `json:"schema_version"`
	File          string `json:"file"`
	Exists        bool   `json:"exists"`
}

func runKeysPath(rt *workbench.Runtime, o keysOptions) error {
	ring, err := rt.KeyRing(nil)
	if err != nil {
		return err
	}
	if o.output == "json" {
		_, err := os.Stat(ring.Path())
		return workbench.PrintJSON(rt, keysPathJSON{workbench.OutputVersion, ring.Path(), err == nil})
	}
	rt.Streams.Out.Printf("%s\n", ring.Path())
	return nil
}

// Printed are the types of what these commands print as JSON, by what has them.
func Printed() map[string]any {
	return map[string]any{
		"keys list": keysListJSON{}, "key": keyListJSON{}, "key source": keySourceJSON{}, "keys set": keyJSON{}, "keys path": keysPathJSON{},
	}
}
