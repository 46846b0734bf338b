package completion

import (
	"context"
	"strings"
	"unicode"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/suggest"
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

	// widestAbout is how much is said about a value.
	widestAbout = 60
)

// NewComplete makes the hidden command that the scripts call.
func NewComplete(rt *workbench.Runtime) *cli.Command {
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

func runComplete(ctx context.Context, rt *workbench.Runtime, app *cli.App, l commandLine) {
	rt.Quiet = true // warnings of the configuration would land in the middle of the line
	if l.shell == "bash" {
		// bash gives words as they were typed, and no shell but it.
		l.cursor = unquoted(l.cursor)
		for i, w := range l.words {
			l.words[i] = unquoted(w)
		}
	}
	found := suggest.At(ctx, rt, app, l.words, l.cursor)
	out := rt.Streams.Out
	filter := l.shell == "bash" || l.shell == "powershell" // the others match by rules of their own
	filter = filter || len(found.Values) > suggest.Most
	shown := 0
	for _, s := range found.Values {
		if !harmless(s.Text) || filter && !strings.HasPrefix(s.Text, l.cursor) {
			continue
		}
		if shown++; shown > suggest.Most {
			break
		}
		about := term.CutEnd(strings.TrimSpace(term.Clean(s.About)), widestAbout)
		if about != "" {
			about = "\t" + about
		}
		out.WriteString(s.Text + about + "\n")
	}
	if found.Paths != "" {
		out.WriteString(":" + found.Paths + "\n")
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
