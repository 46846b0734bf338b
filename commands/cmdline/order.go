package cmdline

import (
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// Ordered is a command line as cli/v2 can read it.
type Ordered struct {
	Args    []string
	Command *cli.Command // nil for fettle itself
	Path    string       // such as "fettle chats list"
	Help    bool         // --help was among the flags
	Missing string       // a flag at the end without the value it wants
	Unknown string       // a flag that the command doesn't know, as it was typed
	flags   []givenFlag
}

// givenFlag is a flag by its long name, and as it was typed.
type givenFlag struct{ name, typed string }

// Reorder moves flags before the arguments of the command that they are given
// to, so that `fettle ask "why?" -m x` means what it says. What stands behind
// `--` is left alone, and a `--` is put before the arguments, so that none is
// taken for a flag. Flags get their long names and letters that were typed
// together are taken apart, which cli/v2 doesn't do.
func Reorder(app *cli.App, args []string) Ordered {
	if len(args) == 0 {
		return Ordered{}
	}
	o := Ordered{Path: "fettle"}
	out := []string{args[0]}
	flags, cmds := app.Flags, app.Commands
	var moved, rest []string
	for i := 1; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			rest = append(rest, args[i+1:]...)
			break
		}
		if arg == "--help" || arg == "-h" {
			o.Help = true
			continue
		}
		if IsFlag(arg) {
			given, taken := o.flag(flags, cmds, args[i:])
			moved = append(moved, given...)
			i += taken - 1
			continue
		}
		if next := FindCommand(cmds, arg); next != nil && len(rest) == 0 {
			out = append(out, arg)
			flags, cmds = next.Flags, next.Subcommands
			o.Command, o.Path = next, o.Path+" "+next.Name
			continue
		}
		rest = append(rest, arg)
	}
	out = append(out, moved...)
	if len(rest) > 0 {
		out = append(append(out, "--"), rest...)
	}
	o.Args = out
	o.misplaced(flags)
	return o
}

// misplaced finds a flag in front of a command that another command has.
func (o *Ordered) misplaced(flags []cli.Flag) {
	for _, f := range o.flags {
		if o.Unknown == "" && FindFlag(flags, nil, f.name) == nil {
			o.Unknown = f.typed
		}
	}
}

// flag gives the flag, or the flags, that args begin with, as cli/v2 reads
// them, and how many of args they take. A flag in front of its command is
// looked up there.
func (o *Ordered) flag(flags []cli.Flag, cmds []*cli.Command, args []string) (given []string, taken int) {
	arg, rest := args[0], args[1:]
	name, value, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	dashes := arg[:len(arg)-len(strings.TrimLeft(arg, "-"))]
	if f := FindFlag(flags, cmds, name); f != nil {
		given = []string{o.long(f, dashes+name)}
		switch {
		case hasValue:
			given[0] += "=" + value
		case TakesValue(f) && len(rest) > 0:
			return append(given, rest[0]), 2
		case TakesValue(f):
			o.Missing = arg
		}
		return given, 1
	}
	if given, taken = o.letters(flags, cmds, args); taken == 0 {
		if o.Unknown == "" {
			o.Unknown = dashes + name // not the value, which may be a secret
		}
		return nil, 1
	}
	return given, taken
}

// long notes a flag and gives its long name.
func (o *Ordered) long(f cli.Flag, typed string) string {
	name := f.Names()[0]
	o.flags = append(o.flags, givenFlag{name, typed})
	return "--" + name
}

// letters takes apart what was typed behind one dash: -qx is -q -x, and -mNAME
// is -m NAME. Where a letter is no flag, nothing is taken.
func (o *Ordered) letters(flags []cli.Flag, cmds []*cli.Command, args []string) (given []string, taken int) {
	together := args[0][1:]
	if together[0] == '-' {
		return nil, 0
	}
	for i, r := range together {
		f := FindFlag(flags, cmds, string(r))
		if f == nil {
			return nil, 0
		}
		given = append(given, o.long(f, "-"+string(r)))
		if !TakesValue(f) {
			continue
		}
		switch value := together[i+utf8.RuneLen(r):]; {
		case value != "":
			return append(given, strings.TrimPrefix(value, "=")), 1
		case len(args) > 1:
			return append(given, args[1]), 2
		}
		o.Missing = "-" + string(r)
	}
	return given, 1
}

// WantsJSON tells whether failures are to be JSON, also those of the flags.
func (o Ordered) WantsJSON() bool {
	for i, arg := range o.Args {
		format, ok := strings.CutPrefix(arg, "--output=")
		switch {
		case arg == "--":
			return false
		case arg == "--output" && i+1 < len(o.Args):
			format, ok = o.Args[i+1], true
		}
		if ok && (format == "json" || format == "events") {
			return true
		}
	}
	return false
}

// IsFlag tells whether an argument looks like a flag; a lone dash is standard
// input.
func IsFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

// TakesValue tells whether a flag stands with a value.
func TakesValue(f cli.Flag) bool {
	d, ok := f.(cli.DocGenerationFlag)
	return ok && d.TakesValue()
}

// FindFlag finds a flag by any of its names, among those of a command or of those
// below it.
func FindFlag(flags []cli.Flag, cmds []*cli.Command, name string) cli.Flag {
	for _, f := range flags {
		for _, n := range f.Names() {
			if n == name {
				return f
			}
		}
	}
	for _, c := range cmds {
		if f := FindFlag(c.Flags, c.Subcommands, name); f != nil {
			return f
		}
	}
	return nil
}

// FindCommand finds a command by any of its names; nil where there is none.
func FindCommand(cmds []*cli.Command, name string) *cli.Command {
	for _, c := range cmds {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}
