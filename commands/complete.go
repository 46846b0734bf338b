package commands

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
)

// completeCommand is what the scripts of `fettle completion` call:
//
//	fettle __complete SHELL -- =CURSOR WORD…
//
// CURSOR is the part of the word before the cursor, behind a = since some
// shells drop an empty argument; the WORDs are those before it, without the
// program's name. What is printed is a line for each value, with a tab and a
// few words on it, and a last one, ":files" or ":dirs", where the shell has to
// complete names of files by itself. It never fails, and says nothing else: a
// person is in the middle of a line.
const completeCommand = "__complete"

const (
	// mostSuggestions bounds what a shell has to show.
	mostSuggestions = 500
	// widestAbout is how much is said about a value.
	widestAbout = 60
)

func newComplete(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:   completeCommand,
		Usage:  "tell a shell what could stand at its cursor",
		Hidden: true,
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			if len(args) < 2 {
				return nil
			}
			l := commandLine{shell: args[0], cursor: strings.TrimPrefix(args[1], "="), words: args[2:]}
			runComplete(c.Context, rt, c.App, l)
			return nil
		},
	}
}

// commandLine is a command line up to its cursor.
type commandLine struct {
	shell  string
	cursor string
	words  []string
}

// suggestion is a value that could stand at the cursor.
type suggestion struct{ value, about string }

// suggestions are what could stand at the cursor, and whether it may be a file.
type suggestions struct {
	list  []suggestion
	paths string // "files", "dirs" or ""
}

func (s *suggestions) add(value, about string) { s.list = append(s.list, suggestion{value, about}) }

func runComplete(ctx context.Context, rt *workbench.Runtime, app *cli.App, l commandLine) {
	rt.Quiet = true // warnings of the configuration would land in the middle of the line
	if l.shell == "bash" {
		// bash gives words as they were typed, and no shell but it.
		l.cursor = unquoted(l.cursor)
		for i, w := range l.words {
			l.words[i] = unquoted(w)
		}
	}
	at := locate(app, l.words)
	found := at.suggest(&completer{ctx: ctx, rt: rt, app: app, typed: l.cursor}, l.cursor)
	out := rt.Streams.Out
	filter := l.shell == "bash" || l.shell == "powershell" // the others match by rules of their own
	filter = filter || len(found.list) > mostSuggestions
	shown := 0
	for _, s := range found.list {
		if !harmless(s.value) || filter && !strings.HasPrefix(s.value, l.cursor) {
			continue
		}
		if shown++; shown > mostSuggestions {
			break
		}
		about := term.CutEnd(strings.TrimSpace(term.Clean(s.about)), widestAbout)
		if about != "" {
			about = "\t" + about
		}
		out.WriteString(s.value + about + "\n")
	}
	if found.paths != "" {
		out.WriteString(":" + found.paths + "\n")
	}
}

// harmless tells whether a shell takes a value for one plain word. Values come
// from servers and files, and bash puts them into the line as they are.
func harmless(value string) bool {
	if value == "" || value[0] == ':' || value[0] == '~' {
		return false
	}
	return strings.IndexFunc(value, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_=+,./:@%", r)
	}) < 0
}

// unquoted takes a shell's quotes and backslashes off a word, which need not
// be complete.
func unquoted(word string) string {
	var b strings.Builder
	var quote rune
	escaped := false
	for _, r := range word {
		switch {
		case escaped:
			b.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped = true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote = r
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

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

// locate reads the words before the cursor as [reorder] would.
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
func (p place) suggest(c *completer, cursor string) suggestions {
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
			return suggestions{}
		}
		out := c.flagValue(p, f)
		head := cursor[:strings.Index(cursor, "=")+1]
		for i := range out.list {
			out.list[i].value = head + out.list[i].value
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
func (p place) flagNames(cursor string) suggestions {
	var out suggestions
	for _, f := range p.flags {
		_, repeats := f.(*cli.GenericFlag) // listFlag's
		if !repeats && slices.Contains(p.given, f) {
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

func commandNames(cmds []*cli.Command) suggestions {
	var out suggestions
	for _, c := range cmds {
		if !c.Hidden {
			out.add(c.Name, c.Usage)
		}
	}
	return out
}
