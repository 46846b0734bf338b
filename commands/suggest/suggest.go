package suggest

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/store"
)

// Most is how many values a shell has to show at most.
const Most = 500

// Value is a word that is valid at the cursor, and a few words about it.
type Value struct{ Text, About string }

// List is what is valid at the cursor: values, and names of files, which the shell completes.
type List struct {
	Values []Value
	Paths  string // "files", "dirs" or ""
}

func (s *List) add(value, about string) { s.Values = append(s.Values, Value{value, about}) }

// Shells are those that fettle has a completion script for.
func Shells() []string { return []string{"bash", "zsh", "fish", "powershell"} }

// At returns what could stand at the cursor of a command line. words are those before the
// cursor, without the program's name, and cursor is the part of the word that is before it.
func At(ctx context.Context, rt *workbench.Runtime, app *cli.App, words []string, cursor string) List {
	return locate(app, words).suggest(&completer{ctx: ctx, rt: rt, app: app, typed: cursor}, cursor)
}

// Models returns the models that the configuration and the lists of providers name.
func Models(ctx context.Context, rt *workbench.Runtime) []Value {
	return (&completer{ctx: ctx, rt: rt}).models("").Values
}

// Toolsets returns the installed toolsets.
func Toolsets(ctx context.Context, rt *workbench.Runtime) []Value {
	return (&completer{ctx: ctx, rt: rt}).toolsets().Values
}

// Agents returns values for agents, each with the first line of its purpose.
func Agents(agents []store.Agent) []Value {
	var out List
	for _, a := range agents {
		out.addAgent(a.ID, a.Purpose)
	}
	return out.Values
}
