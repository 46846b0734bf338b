package suggest

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
)

// place is where in the tree of commands the cursor is.
type place struct {
	command *cli.Command // nil for fettle itself
	path    string
	flags   []cli.Flag
	below   []*cli.Command
	given   []cli.Flag // flags that stand before the cursor
	value   cli.Flag   // the flag whose value the cursor is at
	args    []string   // before the cursor
	text    bool       // a -- stands before: no more flags
}

// locate reads the words before the cursor as [cmdline.Reorder] would.
func locate(app *cli.App, words []string) place {
	at := place{path: "fettle", flags: app.Flags, below: app.Commands}
	for _, w := range words {
		switch {
		case at.value != nil:
			at.value = nil
		case at.text:
			at.args = append(at.args, w)
		case w == "--":
			at.text = true
		case cmdline.IsFlag(w):
			at.flag(w)
		default:
			next := cmdline.FindCommand(at.below, w)
			if next == nil || len(at.args) > 0 || next.Hidden {
				at.args = append(at.args, w)
				continue
			}
			at.command, at.path = next, at.path+" "+next.Name
			at.flags, at.below = next.Flags, next.Subcommands
		}
	}
	return at
}

// flag takes a flag, or letters typed together, and notes what it waits for.
func (p *place) flag(word string) {
	name, _, hasValue := strings.Cut(strings.TrimLeft(word, "-"), "=")
	if f := cmdline.FindFlag(p.flags, p.below, name); f != nil {
		p.given = append(p.given, f)
		if cmdline.TakesValue(f) && !hasValue {
			p.value = f
		}
		return
	}
	if strings.HasPrefix(word, "--") {
		return
	}
	for i, r := range word[1:] {
		f := cmdline.FindFlag(p.flags, p.below, string(r))
		if f == nil {
			return
		}
		p.given = append(p.given, f)
		if cmdline.TakesValue(f) {
			if i+len(string(r)) == len(word)-1 {
				p.value = f
			}
			return
		}
	}
}

// suggest finds what could stand at the cursor.
func (p place) suggest(c *completer, cursor string) List {
	switch {
	case p.value != nil:
		return c.flagValue(p, p.value)
	case !p.text && strings.HasPrefix(cursor, "-"):
		name, _, hasValue := strings.Cut(strings.TrimLeft(cursor, "-"), "=")
		if !hasValue {
			return p.flagNames(cursor)
		}
		f := cmdline.FindFlag(p.flags, p.below, name)
		if f == nil || !cmdline.TakesValue(f) {
			return List{}
		}
		out := c.flagValue(p, f)
		head := cursor[:strings.Index(cursor, "=")+1]
		for i := range out.Values {
			out.Values[i].Text = head + out.Values[i].Text
		}
		return out
	case len(p.below) > 0 && len(p.args) == 0:
		return commandNames(p.below)
	case p.path == "fettle ask" && strings.HasPrefix(cursor, "@"):
		return c.resources(cursor)
	}
	return c.argument(p)
}

// flagNames are the flags that may still be given.
func (p place) flagNames(cursor string) List {
	var out List
	for _, f := range p.flags {
		_, repeats := f.(*cli.GenericFlag) // cmdline.ListFlag makes these
		if v, ok := f.(cli.VisibleFlag); !repeats && slices.Contains(p.given, f) || ok && !v.IsVisible() {
			continue
		}
		about := flagAbout(f)
		for _, name := range f.Names() {
			// A letter is shown to who has typed a lone dash; else it is noise.
			if len(name) > 1 || cursor == "-" || cursor == "-"+name {
				out.add(cmdline.Dashed(name), about)
			}
		}
	}
	out.add("--help", "explain "+p.path)
	return out
}

// flagAbout is the help of a flag without its marks and remarks.
func flagAbout(f cli.Flag) string {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return ""
	}
	about, _, _ := strings.Cut(strings.ReplaceAll(d.GetUsage(), "`", ""), ";")
	return about
}

func commandNames(cmds []*cli.Command) List {
	var out List
	for _, c := range cmds {
		if !c.Hidden {
			out.add(c.Name, c.Usage)
		}
	}
	return out
}
