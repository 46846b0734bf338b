package models

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models/facts"
)

const (
	// publishedFacts is where models.dev publishes its data.
	publishedFacts = "https://models.dev/api.json"
	// maxPublished bounds what is read of it; it has 3 MB.
	maxPublished = 64 << 20
	updateTime   = time.Minute
)

const updateDescription = `The program contains a table of what is publicly known about the models of the
large providers: the length of the context, abilities and prices, from
models.dev. Context shares and costs are computed from it, unless the provider
or the configuration says otherwise. This command fetches a newer table, and
nothing fetches one without it.

--from reads another address or file of the same form. --builtin removes the
fetched table.`

type updateOptions struct {
	from    string
	builtin bool
	output  string
}

func newUpdate(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "update",
		Usage:       "fetch new facts and prices of models",
		Description: updateDescription,
		UsageText:   "fettle models update\nfettle models update --from models.json\nfettle models update --builtin",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "from", Value: publishedFacts, Usage: "read the `ADDRESS` or file"},
			&cli.BoolFlag{Name: "builtin", Usage: "remove the fetched table, and use the builtin one"},
			cmdline.OutputFlag(),
		},
		Before: cmdline.NoArguments,
		Action: func(c *cli.Context) error {
			const path = "fettle models update"
			if c.String("from") == "" {
				return cmdline.Usagef(path+" --from models.json", "--from is empty")
			}
			o := updateOptions{from: c.String("from"), builtin: c.Bool("builtin"), output: c.String("output")}
			if o.builtin && c.IsSet("from") {
				return cmdline.Usagef(path+" --builtin", "--builtin fetches nothing, so it can't be used with --from")
			}
			return runUpdate(c.Context, rt, o)
		},
	}
}

// updatedJSON is what `models update --output json` prints.
type updatedJSON struct {
	SchemaVersion int    `json:"schema_version"`
	Source        string `json:"source"`
	Date          string `json:"date"` // of the table that is used now
	Models        int    `json:"models"`
	Added         int    `json:"added"`   // models that the table before lacked
	Removed       int    `json:"removed"` // models that only the table before had
	Changed       int    `json:"changed"` // models with another price, length or ability
}

func runUpdate(ctx context.Context, rt *workbench.Runtime, o updateOptions) error {
	before := rt.Facts()
	now := facts.Builtin()
	if o.builtin {
		if err := rt.DropFacts(); err != nil {
			return fault.Wrap(fault.Failed, "remove the fetched table of models", err)
		}
	} else {
		var err error
		if now, err = fetchFacts(ctx, o.from); err != nil {
			return err
		}
		if err := rt.KeepFacts(now); err != nil {
			return err
		}
	}
	out := compareFacts(before, now)
	if o.output == "json" {
		return workbench.PrintJSON(rt, out)
	}
	rt.Streams.Out.Printf("%s of %s: %s, %d new, %d changed, %d gone\n", term.Clean(out.Source), out.Date,
		term.Count(out.Models, "model", "models"), out.Added, out.Changed, out.Removed)
	return nil
}

// fetchFacts reads a table from an address or a file. Its date is today's, since the data
// has none.
func fetchFacts(ctx context.Context, from string) (*facts.Table, error) {
	data, err := readPublished(ctx, from)
	if err != nil {
		return nil, err
	}
	t, err := facts.Parse(data)
	if err != nil {
		return nil, fault.Wrap(fault.Failed, "update the facts of models from "+from, err)
	}
	t.Source, t.Date, t.Licence = from, time.Now().UTC().Format(time.DateOnly), facts.Builtin().Licence
	if from == publishedFacts {
		t.Source = "models.dev"
	}
	return t, nil
}

// readPublished reads an address or a file.
func readPublished(ctx context.Context, from string) ([]byte, error) {
	doing := "update the facts of models from " + from
	if !strings.Contains(from, "://") {
		data, err := readLocal(from)
		if err != nil {
			if e := (*os.PathError)(nil); errors.As(err, &e) {
				err = e.Err // the path is named already
			}
			return nil, fault.Wrap(fault.Usage, doing, err)
		}
		return data, nil
	}
	data, err := fetchPublished(ctx, from)
	switch cause := context.Cause(ctx); {
	case cause != nil:
		return nil, cause
	case err != nil:
		return nil, fault.Wrap(fault.Unavailable, doing, err, fault.Run("fettle models update --from FILE   reads a copy, such as one that a browser has saved"))
	}
	return data, nil
}

func readLocal(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readBounded(f)
}

func fetchPublished(ctx context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, updateTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	client := workbench.NewClient()
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		if e := (*url.Error)(nil); errors.As(err, &e) {
			err = e.Err // the address is named already
		}
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, errors.New("the server answered " + res.Status)
	}
	return readBounded(res.Body)
}

func readBounded(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxPublished+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxPublished {
		return nil, errors.New("the table has more than " + term.Size(maxPublished))
	}
	return data, nil
}

// compareFacts counts what a table changes about the one before.
func compareFacts(before, now *facts.Table) updatedJSON {
	out := updatedJSON{SchemaVersion: workbench.OutputVersion, Source: now.Source, Date: now.Date}
	had := map[string]facts.Model{}
	for name, models := range before.Providers {
		for _, m := range models {
			had[name+"/"+m.Name] = m
		}
	}
	for name, models := range now.Providers {
		for _, m := range models {
			out.Models++
			old, ok := had[name+"/"+m.Name]
			delete(had, name+"/"+m.Name)
			switch {
			case !ok:
				out.Added++
			case !old.Equal(&m):
				out.Changed++
			}
		}
	}
	out.Removed = len(had)
	return out
}
