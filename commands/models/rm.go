package models

import (
	"context"
	"errors"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models"
)

type rmOptions struct {
	names []string
	yes   bool
}

func newRm(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "rm",
		Usage:       "remove models from Ollama",
		ArgsUsage:   "NAME…",
		Description: "It can't be undone but by pulling them again. What other models share is kept.",
		UsageText:   "fettle models rm llama3.2 --yes",
		Flags:       []cli.Flag{&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "don't ask"}, rt.InProfile("")},
		Action: func(c *cli.Context) error {
			o := rmOptions{names: c.Args().Slice(), yes: c.Bool("yes")}
			if len(o.names) == 0 {
				return cmdline.Usagef("fettle models list --local", "models rm wants the name of a model")
			}
			return runRm(c.Context, rt, o)
		},
	}
}

func runRm(ctx context.Context, rt *workbench.Runtime, o rmOptions) error {
	room, err := open(rt)
	if err != nil {
		return err
	}
	defer room.close()
	chosen, named, err := room.removable(ctx, o.names)
	if err != nil {
		return err
	}
	if !o.yes {
		again := "fettle models rm " + strings.Join(cmdline.ShellWords(o.names), " ") + " --yes"
		if ok, err := rt.Sure(ctx, "remove "+strings.Join(named, ", ")+"?", again); !ok {
			return err
		}
	}
	for i, m := range chosen {
		if err := m.Remove(ctx, m.name); err != nil {
			return models.Explain(m.ref(), err)
		}
		rt.Notice("removed " + named[i])
		room.relist(ctx, m.at)
	}
	return nil
}

// removable finds all models before any is removed, with the words by which a
// person is asked about each.
func (m *room) removable(ctx context.Context, names []string) (models []pullable, named []string, err error) {
	for _, name := range names {
		model, err := m.pullable(name, "rm")
		if err != nil {
			return nil, nil, err
		}
		found, err := m.index.Find(ctx, model.ref())
		if err != nil {
			return nil, nil, toRemove(err)
		}
		words := model.ref()
		if found.Size > 0 {
			words += " (" + term.Size(found.Size) + ")"
		}
		models, named = append(models, model), append(named, words)
	}
	return models, named, nil
}

// toRemove turns the hints of a model that isn't there into those of rm.
func toRemove(err error) error {
	var f *fault.Fault
	if !errors.As(err, &f) {
		return err
	}
	out := *f
	out.Remedies = nil
	for _, r := range f.Remedies {
		if r.Kind == fault.ShowModel {
			r = fault.Run("fettle models rm " + cmdline.ShellWords(r.Args)[0])
		}
		out.Remedies = append(out.Remedies, r)
	}
	return &out
}
