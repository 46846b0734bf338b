package doctor

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/doctor/machine"
	"github.com/fettle-cli/fettle/commands/keystore"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/models"
)

// options are the flags of doctor.
type options struct {
	output string
	online bool
}

const description = `Looks at what fettle rests on, and says what to do where something is missing:
✓ is well, ! is worth a look, ✗ can't work. Nothing is written or mended, and no
address is asked but an Ollama on this machine. The exit status is 0 where there
is no ✗, and 1 where there is one.`

// New is the command doctor.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "doctor",
		Usage:       "see what works here, and what to do about the rest",
		Description: description,
		UsageText:   "fettle doctor\nfettle doctor -o json",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "online", Usage: "also ask each provider that has a key, or needs none; a command that prints a key is run"},
			rt.InProfile(""), cmdline.OutputFlag(),
		},
		Before: cmdline.NoArguments,
		Action: func(c *cli.Context) error {
			o := options{output: c.String("output"), online: c.Bool("online")}
			return run(c.Context, rt, o)
		},
	}
}

// printed is what `doctor --output json` prints.
type printed struct {
	SchemaVersion int              `json:"schema_version"`
	Status        machine.Status   `json:"status"` // the worst of the checks
	Version       string           `json:"version"`
	Checks        []machine.Result `json:"checks"`
}

func run(ctx context.Context, rt *workbench.Runtime, o options) error {
	visit, err := newVisit(rt, o)
	if err != nil {
		return err
	}
	if o.output == "text" {
		rt.Streams.Status().Set("looking")
	}
	results := machine.Run(ctx, visit.checks())
	rt.Streams.Status().Clear()
	visit.client.CloseIdleConnections()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	worst := machine.Worst(results)
	if o.output == "json" {
		err = workbench.PrintJSON(rt, printed{workbench.OutputVersion, worst, rt.Build().Version, results})
	} else {
		showResults(rt.Streams.Out, results)
	}
	if err == nil && worst == machine.Error {
		err = workbench.ExitError{Status: 1}
	}
	return err
}

// visit is one look at everything.
type visit struct {
	rt      *workbench.Runtime
	online  bool
	cfg     *config.Config
	broken  error // why cfg is without the files
	catalog *models.Catalog
	client  *http.Client
	keys    []keystore.Found // those that are anywhere, by provider
	noKeys  error            // why nobody knows
}

// visit gathers what the checks look at. A configuration that is broken is one
// of the findings, and the others go by the environment alone.
func newVisit(rt *workbench.Runtime, o options) (*visit, error) {
	rt.Quiet = true // warnings are findings, too
	v := &visit{rt: rt, online: o.online, client: workbench.NewClient()}
	if v.cfg, v.broken = rt.Config(nil); v.broken != nil {
		var err error
		if v.cfg, err = config.Load(config.Options{Env: os.LookupEnv}); err != nil {
			if v.cfg, err = config.Load(config.Options{}); err != nil {
				return nil, err
			}
		}
	}
	ring, err := rt.KeyRing(v.cfg)
	if err != nil {
		return nil, err
	}
	v.keys, v.noKeys = ring.List(v.cfg.Providers)
	v.catalog, err = rt.NewCatalog(v.cfg, ring, v.client)
	return v, err
}

// showResults prints a line for each result, and below it what else there is
// to say. A write that fails is remembered by the output.
func showResults(out *term.Output, results []machine.Result) {
	style, width := out.Style(), 0
	for _, r := range results {
		width = max(width, term.Cells(r.Title))
	}
	count := map[machine.Status]int{}
	for _, r := range results {
		count[r.Status]++
		mark := style.Green("✓")
		switch r.Status {
		case machine.Warning:
			mark = style.Yellow("!")
		case machine.Error:
			mark = style.Red("✗")
		}
		indent := strings.Repeat(" ", width+4)
		title := term.Clean(r.Title)
		first := mark + " " + title + strings.Repeat(" ", width-term.Cells(title)+2)
		for i, line := range term.Wrap(term.Clean(r.Detail), room(out, len(indent))) {
			if i > 0 {
				first = indent
			}
			out.Printf("%s\n", first+line)
		}
		for _, more := range r.More {
			for _, line := range term.Wrap(term.Clean(more), room(out, len(indent))) {
				out.Printf("%s%s\n", indent, style.Dim(line))
			}
		}
		label := "try"
		for _, hint := range r.Hints { // whole, so that they can be pasted
			out.Printf("%s%s  %s\n", indent, style.Dim(label), term.Clean(hintGap().ReplaceAllString(hint, "   ")))
			label = " or"
		}
	}
	out.Printf("\n%s\n", verdict(count))
}

// hintGap is what stands between a command and what it does: as much as makes
// columns of several, which here would only take room.
func hintGap() *regexp.Regexp { return regexp.MustCompile(` {3,}`) }

// room is how many columns there are behind an indent; 0 is no limit.
func room(out *term.Output, indent int) int {
	if out.Width() == 0 {
		return 0
	}
	return max(out.Width()-indent, 20)
}

func verdict(count map[machine.Status]int) string {
	var parts []string
	if n := count[machine.Error]; n > 0 {
		parts = append(parts, term.Count(n, "error", "errors"))
	}
	if n := count[machine.Warning]; n > 0 {
		parts = append(parts, term.Count(n, "warning", "warnings"))
	}
	if len(parts) == 0 {
		return fmt.Sprintf("all %d are well", count[machine.OK])
	}
	return strings.Join(parts, ", ")
}
