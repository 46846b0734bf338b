package models

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
)

// relistTime bounds the look at a provider's list after a pull or a removal,
// which only keeps suggestions up to date.
const relistTime = 3 * time.Second

type pullOptions struct {
	name   string
	output string
}

const pullDescription = `The name is one that Ollama knows, such as qwen3, qwen3:32b or hf.co/NAME/REPO;
ollama/qwen3 is the same. A pull that was stopped, by you or by the network,
goes on from there the next time. A connection that breaks is tried again.`

func newPull(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "pull",
		Usage:       "fetch a model into Ollama",
		ArgsUsage:   "NAME",
		Description: pullDescription,
		UsageText:   "fettle models pull qwen3\nfettle models pull qwen3 -o json",
		Flags:       []cli.Flag{rt.InProfile(""), cmdline.OutputFlag()},
		Before:      cmdline.OneArgument("fettle models pull qwen3", "models pull wants the name of one model"),
		Action: func(c *cli.Context) error {
			o := pullOptions{name: c.Args().First(), output: c.String("output")}
			return runPull(c.Context, rt, o)
		},
	}
}

// pulledJSON is what `models pull --output json` prints.
type pulledJSON struct {
	SchemaVersion int    `json:"schema_version"`
	Model         string `json:"model"`
	Size          int64  `json:"size"`    // of all layers, in bytes
	Fetched       int64  `json:"fetched"` // of them, by this command
	DurationMS    int64  `json:"duration_ms"`
}

// pullable is a model at a provider that can fetch and remove it.
type pullable struct {
	provider.Puller
	at, name string
}

func (p pullable) ref() string { return p.at + "/" + p.name }

// pullable finds the provider of a name, which is Ollama's unless it begins
// with another one's.
func (m *room) pullable(arg, doing string) (pullable, error) {
	out := pullable{at: "ollama", name: arg}
	if first, rest, ok := strings.Cut(arg, "/"); ok && rest != "" {
		if _, err := m.index.Catalog.Registry.Get(first); !errors.As(err, new(*provider.UnknownError)) {
			out.at, out.name = first, rest
		}
	}
	p, err := m.index.Catalog.Registry.Get(out.at)
	if err != nil {
		return out, fault.Wrap(fault.Config, doing+" "+arg, err)
	}
	puller, ok := provider.As[provider.Puller](p)
	if !ok {
		return out, cmdline.Usagef("fettle models "+doing+" qwen3", "%s has its models elsewhere: there is nothing to %s", out.at, doing)
	}
	out.Puller = puller
	return out, nil
}

func runPull(ctx context.Context, rt *workbench.Runtime, o pullOptions) error {
	room, err := open(rt)
	if err != nil {
		return err
	}
	defer room.close()
	model, err := room.pullable(o.name, "pull")
	if err != nil {
		return err
	}
	bar := rt.Streams.Progress(model.ref())
	defer bar.Clear()
	bar.Stage("asking " + model.at)
	begun := time.Now()
	var at provider.Progress
	err = provider.PullWithRetry(ctx, model, model.name, func(now provider.Progress) {
		at = now
		if at.Fetching {
			bar.Bytes(at.Done, at.Total)
		} else {
			bar.Stage(at.Stage)
		}
	}, provider.RetryOptions{
		Attempts: room.cfg.Retries + 1,
		OnRetry: func(err error, wait time.Duration, _ int) {
			bar.Stage(err.Error() + "; goes on in " + term.Duration(wait))
		},
	})
	if err != nil {
		bar.Clear()
		return pullFault(ctx, rt, model, at, err)
	}
	took := time.Since(begun)
	room.relist(ctx, model.at)
	if o.output == "json" {
		return workbench.PrintJSON(rt, pulledJSON{workbench.OutputVersion, model.ref(), at.Total, at.Fetched, took.Milliseconds()})
	}
	if at.Fetched == 0 {
		bar.Done("all of " + model.ref() + " was here, " + term.Size(at.Total))
		return nil
	}
	bar.Done("pulled " + model.ref() + ", " + term.Size(at.Total) + " in " + term.Duration(took))
	return nil
}

// relist brings what is kept of a provider's models up to date.
func (m *room) relist(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(ctx, relistTime)
	defer cancel()
	_, _ = m.index.List(ctx, models.Query{Providers: []string{name}, Refresh: true}) // it is asked for again if it fails
}

// pullFault says how far a pull came and that it goes on from there.
func pullFault(ctx context.Context, rt *workbench.Runtime, model pullable, at provider.Progress, err error) error {
	again := "fettle models pull " + cmdline.ShellWord(model.name)
	if model.at != "ollama" {
		again = "fettle models pull " + cmdline.ShellWord(model.ref())
	}
	goesOn := ""
	if at.Done > 0 {
		goesOn = "   goes on from " + term.Size(at.Done) + " of " + term.Size(at.Total)
	}
	if ctx.Err() != nil {
		if goesOn != "" {
			rt.Notice("stopped; " + again + goesOn)
		}
		return err
	}
	var pe *provider.Error
	if !errors.As(err, &pe) {
		return err
	}
	switch pe.Kind {
	case provider.UnknownModel, provider.Rejected:
		f := fault.New(fault.Unavailable, "pull "+model.ref()+": "+pe.Error())
		if pe.Kind == provider.UnknownModel {
			f.Msg = model.at + " finds no model " + model.name + " to pull"
			f.Detail = []string{pe.Message}
		}
		f.Remedies = []fault.Remedy{fault.Run("fettle models list --provider " + model.at + "   what is here")}
		return f
	case provider.Broken, provider.SlowStart, provider.Overloaded, provider.RateLimited:
		return fault.New(fault.Unavailable, "pull "+model.ref()+": "+pe.Error(), fault.Run(again+goesOn))
	}
	return models.Explain(model.ref(), err)
}
