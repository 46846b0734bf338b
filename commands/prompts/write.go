package prompts

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/input"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/prompts"
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

func runNew(ctx context.Context, rt *workbench.Runtime, o options) error {
	if err := prompts.CheckName(o.name); err != nil {
		return cmdline.Usagef(`fettle prompts new review "Review this: {{input}}"`, "%s is no name: %s", cmdline.ShellWord(o.name), err)
	}
	library, err := libraryToWrite(rt, o.source)
	if err != nil {
		return err
	}
	text, given, err := givenText(ctx, rt, o.text)
	if err != nil {
		return err
	}
	if given {
		if err := prompts.Check(o.name, text); err != nil {
			return fault.Wrap(fault.Usage, "make a prompt", err, fault.Run(`fettle prompts new review "Review this: {{input}}"`))
		}
	}
	path, err := library.Create(o.source, o.name, text)
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.Usage, "there is a prompt "+o.name+" already", fault.Run("fettle prompts edit "+o.name))
	}
	if err != nil {
		return fault.Wrap(fault.Failed, "prompts", err)
	}
	rt.Streams.Out.Printf("%s\n", path)
	if given || !rt.Streams.In.IsTerminal() || !rt.Streams.Out.IsTerminal() {
		return nil
	}
	return runEdit(ctx, rt, o)
}

// givenText is the text of a new prompt: that of the arguments, of standard
// input, or the example.
func givenText(ctx context.Context, rt *workbench.Runtime, arg string) (text string, given bool, err error) {
	if arg != "" {
		return arg + "\n", true, nil
	}
	piped, err := input.Stdin(ctx, input.Options{In: rt.Streams.In.File(), Notice: rt.Notice, StdinBytes: prompts.MaxFile})
	if err != nil || len(piped) == 0 {
		return newPromptText, false, err
	}
	return string(piped), true, nil
}

// libraryToWrite is the library in which a new prompt is made: a project that
// has no prompts yet gets its folder.
func libraryToWrite(rt *workbench.Runtime, s prompts.Source) (*prompts.Library, error) {
	library, err := rt.Library()
	if err != nil || s != prompts.Project || library.Dir(prompts.Project) != "" {
		return library, err
	}
	dirs, err := rt.Dirs()
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
func (o options) find(library *prompts.Library) (prompts.Source, string, error) {
	for _, s := range []prompts.Source{prompts.Project, prompts.User} {
		if (o.source == "" || o.source == s) && library.Has(s, o.name) {
			return s, library.Path(s, o.name), nil
		}
	}
	_, err := library.LoadFrom(o.source, o.name)
	return "", "", workbench.PromptFault(o.name, err)
}

func runEdit(ctx context.Context, rt *workbench.Runtime, o options) error {
	library, err := rt.Library()
	if err != nil {
		return err
	}
	source, path, err := o.find(library)
	if err != nil {
		return err
	}
	if err := rt.Edit(ctx, path); err != nil {
		return err
	}
	if _, err := library.LoadFrom(source, o.name); err != nil {
		return workbench.PromptFault(o.name, err)
	}
	return nil
}

func runRm(ctx context.Context, rt *workbench.Runtime, o options) error {
	library, err := rt.Library()
	if err != nil {
		return err
	}
	if o.source == "" && library.Has(prompts.Project, o.name) && library.Has(prompts.User, o.name) {
		return cmdline.Usagef("fettle prompts rm "+o.name+" --user", "there are two prompts %s, yours and the project's: say which", o.name)
	}
	source, path, err := o.find(library)
	if err != nil {
		return err
	}
	if !o.yes {
		if ok, err := rt.Sure(ctx, "remove "+path+"?", "fettle prompts rm "+o.name+" --yes"); !ok {
			return err
		}
	}
	if err := library.Remove(source, o.name); err != nil {
		return fault.Wrap(fault.Failed, "prompts", err)
	}
	rt.Notice("removed " + path)
	return nil
}

func runPath(rt *workbench.Runtime, o options) error {
	library, err := rt.Library()
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
		return fault.New(fault.NotFound, "this folder's project has no prompts", fault.Run("fettle prompts new review --project"))
	}
	rt.Streams.Out.Printf("%s\n", path)
	return nil
}
