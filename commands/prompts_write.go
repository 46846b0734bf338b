package commands

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/input"
	"github.com/fettle-cli/fettle/commands/prompts"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/fault"
)

// newPromptText is what a new prompt begins with.
const newPromptText = `---
description: Reviews a change
# model: ollama/qwen3
# system: You are a careful reviewer.
# tools: [read_file, search_files]
variables:
  focus: {default: "", description: what to look at most}
---
Review this change. Name what is wrong, where, and how to mend it. {{focus}}

{{input}}
`

func runPromptsNew(ctx context.Context, rt *runtime, o promptOptions) error {
	if err := prompts.CheckName(o.name); err != nil {
		return usagef(`fettle prompts new review "Review this: {{input}}"`, "%s is no name: %s", shellWord(o.name), err)
	}
	library, err := rt.libraryToWrite(o.source)
	if err != nil {
		return err
	}
	text, given, err := rt.givenText(ctx, o.text)
	if err != nil {
		return err
	}
	if given {
		if err := prompts.Check(o.name, text); err != nil {
			return fault.Wrap(fault.Usage, "make a prompt", err, `fettle prompts new review "Review this: {{input}}"`)
		}
	}
	path, err := library.Create(o.source, o.name, text)
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.Usage, "there is a prompt "+o.name+" already", "fettle prompts edit "+o.name)
	}
	if err != nil {
		return fault.Wrap(fault.Failed, "prompts", err)
	}
	rt.streams.Out.Printf("%s\n", path)
	if given || !rt.streams.In.IsTerminal() || !rt.streams.Out.IsTerminal() {
		return nil
	}
	return runPromptsEdit(ctx, rt, o)
}

// givenText is the text of a new prompt: that of the arguments, of standard
// input, or the example.
func (rt *runtime) givenText(ctx context.Context, arg string) (text string, given bool, err error) {
	if arg != "" {
		return arg + "\n", true, nil
	}
	piped, err := input.Stdin(ctx, input.Options{In: rt.streams.In.File(), Notice: rt.notice, StdinBytes: prompts.MaxFile})
	if err != nil || len(piped) == 0 {
		return newPromptText, false, err
	}
	return string(piped), true, nil
}

// libraryToWrite is the library in which a new prompt is made: a project that
// has no prompts yet gets its folder.
func (rt *runtime) libraryToWrite(s prompts.Source) (*prompts.Library, error) {
	library, err := rt.library()
	if err != nil || s != prompts.Project || library.Dir(prompts.Project) != "" {
		return library, err
	}
	dirs, err := rt.dirs()
	if err != nil {
		return nil, err
	}
	wd, err := os.Getwd()
	if err != nil {
		return nil, fault.Wrap(fault.Failed, "find the current folder", err)
	}
	project, _ := config.ProjectDir(wd, dirs.Home, "config.yaml") // one that has no prompts yet
	return prompts.New(prompts.Places{Config: dirs.Config, Project: cmp.Or(project, wd)}), nil
}

// find gives the source and the file of a prompt, which need not be right.
func (o promptOptions) find(library *prompts.Library) (prompts.Source, string, error) {
	for _, s := range []prompts.Source{prompts.Project, prompts.User} {
		if (o.source == "" || o.source == s) && library.Has(s, o.name) {
			return s, library.Path(s, o.name), nil
		}
	}
	_, err := library.LoadFrom(o.source, o.name)
	return "", "", promptFault(o.name, err)
}

func runPromptsEdit(ctx context.Context, rt *runtime, o promptOptions) error {
	library, err := rt.library()
	if err != nil {
		return err
	}
	source, path, err := o.find(library)
	if err != nil {
		return err
	}
	if err := rt.edit(ctx, path); err != nil {
		return err
	}
	if _, err := library.LoadFrom(source, o.name); err != nil {
		return promptFault(o.name, err)
	}
	return nil
}

func runPromptsRm(ctx context.Context, rt *runtime, o promptOptions) error {
	library, err := rt.library()
	if err != nil {
		return err
	}
	if o.source == "" && library.Has(prompts.Project, o.name) && library.Has(prompts.User, o.name) {
		return usagef("fettle prompts rm "+o.name+" --user", "there are two prompts %s, yours and the project's: say which", o.name)
	}
	source, path, err := o.find(library)
	if err != nil {
		return err
	}
	if !o.yes {
		ok, err := rt.sure(ctx, "remove "+path+"?", "fettle prompts rm "+o.name+" --yes")
		if err != nil {
			return err
		}
		if !ok {
			rt.notice("nothing was removed")
			return nil
		}
	}
	if err := library.Remove(source, o.name); err != nil {
		return fault.Wrap(fault.Failed, "prompts", err)
	}
	rt.notice("removed " + path)
	return nil
}

// sure asks a person whether something is to be removed. Where nobody can be
// asked it is a fault with the command that doesn't ask.
func (rt *runtime) sure(ctx context.Context, question, without string) (bool, error) {
	key, err := rt.streams.Ask(ctx, term.Question{
		Text: question, Default: 'n',
		Choices: []term.Choice{{Key: 'y', Label: "yes", Commits: true}, {Key: 'n', Label: "no"}},
	})
	switch {
	case errors.Is(err, term.ErrNoTerminal):
		return false, usagef(without, "nobody can be asked here whether to remove it")
	case errors.Is(err, term.ErrNoAnswer):
		return false, nil
	case err != nil:
		return false, err
	}
	return key == 'y', nil
}

func runPromptsPath(rt *runtime, o promptOptions) error {
	library, err := rt.library()
	if err != nil {
		return err
	}
	path := library.Dir(cmp.Or(o.source, prompts.User))
	if o.name != "" {
		if _, path, err = o.find(library); err != nil {
			return err
		}
	}
	if path == "" {
		return fault.New(fault.NotFound, "this folder's project has no prompts", "fettle prompts new review --project")
	}
	rt.streams.Out.Printf("%s\n", path)
	return nil
}
