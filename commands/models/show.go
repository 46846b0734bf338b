package models

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
)

type showOptions struct {
	ref    string // "" is the model that ask would ask
	output string
}

func newShow(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "show what is known of a model, and who told it",
		ArgsUsage: "[PROVIDER/NAME]",
		Description: `Without a name it is the model that fettle ask would ask. Beside each fact stands
where it comes from: the provider, now or when it was last asked, or the
configuration, whose word is the last. In a pipe the columns have tabs between.`,
		UsageText: "fettle models show\nfettle models show ollama/qwen3\nfettle models show ollama/qwen3 -o json",
		Flags:     []cli.Flag{rt.InProfile(""), cmdline.OutputFlag()},
		Before:    cmdline.AtMostOne("fettle models show ollama/qwen3", "models show takes one model"),
		Action: func(c *cli.Context) error {
			o := showOptions{ref: c.Args().First(), output: c.String("output")}
			return runShow(c.Context, rt, o)
		},
	}
}

// shownJSON is what `models show --output json` prints.
type shownJSON struct {
	SchemaVersion int `json:"schema_version"`
	modelJSON
	Address string `json:"address,omitempty"`
	Listed  bool   `json:"listed"` // the provider's list has it
	// AskedAt is when the provider was asked, by an earlier command if Cached.
	AskedAt *time.Time `json:"asked_at"`
	Cached  bool       `json:"cached"`
	// Sources is the origin of each fact: provider, cache, configuration, or table.
	Sources map[string]factJSON `json:"sources"`
	// MaxOutput is the longest answer in tokens, and Efforts are the reasoning levels;
	// both are only in the table.
	MaxOutput *int       `json:"max_output"`
	Efforts   []string   `json:"efforts"`
	Price     *priceJSON `json:"price"`
	// Problem is why the provider couldn't be asked now.
	Problem *workbench.FaultBody `json:"problem,omitempty"`
	Example string               `json:"example"`
}

// priceJSON is what a million tokens cost, as exact decimals.
type priceJSON struct {
	Input      json.Number `json:"input"`
	Output     json.Number `json:"output"`
	Cached     json.Number `json:"cached"`
	CacheWrite json.Number `json:"cache_write,omitempty"`
	Currency   string      `json:"currency"`
	factJSON
}

type factJSON struct {
	From   string         `json:"from"`
	Origin *config.Origin `json:"origin,omitempty"` // of the configuration
	Date   string         `json:"date,omitempty"`   // of the table
}

func runShow(ctx context.Context, rt *workbench.Runtime, o showOptions) error {
	room, err := open(rt)
	if err != nil {
		return err
	}
	defer room.close()
	if o.ref == "" {
		if o.ref, err = room.index.Catalog.Default(ctx); err != nil {
			return err
		}
	}
	rt.NameModels(o.ref)
	found, err := room.index.Find(ctx, o.ref)
	if err != nil {
		return err
	}
	if o.output == "json" {
		return workbench.PrintJSON(rt, room.shown(rt, found))
	}
	room.print(rt, found)
	return nil
}

// fact is one line of `models show`.
type fact struct {
	name, value string
	from        models.Source
	setting     string // its name in the configuration; "" where that has none
}

func factsOf(m models.Model) []fact {
	length, size := "", ""
	if m.ContextLength > 0 {
		length = term.Count(m.ContextLength, "token", "tokens")
	}
	if m.Size > 0 {
		size = term.Size(m.Size)
	}
	s := m.Sources
	return []fact{
		{"context", length, s.ContextLength, "context_length"},
		{"tools", knownText(m.Tools), s.Tools, "tools"},
		{"images", knownText(m.Images), s.Images, "images"},
		{"thinking", knownText(m.Thinking), s.Thinking, "thinking"},
		{"schema", knownText(m.Schema), s.Schema, "schema"},
		{"size", size, s.Size, ""},
	}
}

func knownText(k provider.Known) string {
	switch k {
	case provider.Yes:
		return "yes"
	case provider.No:
		return "no"
	}
	return ""
}

// origin is where the configuration says a fact: of models, else of the
// provider's own list of them.
func (m *room) origin(model models.Found, setting string) (config.Origin, bool) {
	for _, key := range []string{
		"models." + model.Ref() + "." + setting,
		"providers." + model.Provider + ".models." + model.Name + "." + setting,
	} {
		if origins := m.cfg.Origins(key); len(origins) > 0 {
			return origins[0], true
		}
	}
	return config.Origin{}, false
}

func (m *room) shown(rt *workbench.Runtime, found models.Found) shownJSON {
	out := shownJSON{
		SchemaVersion: workbench.OutputVersion, modelJSON: describeModel(found.Model), Address: found.List.Address,
		Listed: found.Listed, Cached: found.List.Cached, Sources: map[string]factJSON{}, Example: example(found),
	}
	if !found.List.Asked.IsZero() {
		asked := found.List.Asked.UTC()
		out.AskedAt = &asked
	}
	out.Efforts = []string{}
	if k := found.Known; k != nil {
		out.Efforts = append(out.Efforts, k.Efforts...)
		if k.Output > 0 {
			out.MaxOutput = &k.Output
		}
	}
	if price, ok := rt.Prices(m.cfg).Of(found.Ref()); ok {
		out.Price = describePrice(price)
	}
	if trouble := listTrouble(found.List); trouble != nil {
		body := workbench.BodyOf(trouble)
		out.Problem = &body
	}
	for _, f := range factsOf(found.Model) {
		name := f.setting
		if name == "" {
			name = f.name
		}
		switch f.from {
		case models.FromProvider:
			out.Sources[name] = factJSON{From: "provider"}
		case models.FromCache:
			out.Sources[name] = factJSON{From: "cache"}
		case models.FromTable:
			out.Sources[name] = factJSON{From: "table", Date: rt.Facts().Date}
		case models.FromConfiguration:
			said := factJSON{From: "configuration"}
			if origin, ok := m.origin(found, f.setting); ok {
				said.Origin = &origin
			}
			out.Sources[name] = said
		}
	}
	return out
}

func describePrice(p config.Price) *priceJSON {
	out := &priceJSON{
		Input: json.Number(p.Input.String()), Output: json.Number(p.Output.String()), Cached: json.Number(p.Cached.String()),
		Currency: p.Currency, factJSON: factJSON{From: "configuration"},
	}
	if p.CacheWrite != nil {
		out.CacheWrite = json.Number(p.CacheWrite.String())
	}
	if p.AsOf != "" {
		out.factJSON = factJSON{From: "table", Date: p.AsOf}
	}
	return out
}

// print shows a model for reading.
func (m *room) print(rt *workbench.Runtime, found models.Found) {
	out := rt.Streams.Out
	style := out.Style()
	out.Printf("%s\n", style.Bold(term.Clean(found.Ref())))
	table := term.NewTable(out, term.Column{}, term.Column{}, term.Column{Cut: true, Style: style.Dim})
	row := func(name, value, from string) {
		if out.IsTerminal() {
			name = "  " + name
		}
		table.Row(name, value, from)
	}
	for _, f := range factsOf(found.Model) {
		switch {
		case f.value != "":
			row(f.name, f.value, m.from(rt, found, f))
		case f.setting != "":
			row(f.name, "unknown", "")
		}
	}
	_ = table.Flush() // Main looks at what went wrong with writing
	m.printAbout(rt, out, found)
	if out.IsTerminal() {
		out.Printf("\n  %s\n", style.Dim(term.Clean(example(found))))
	}
	m.remarks(rt, found)
}

// printAbout shows what is known besides the facts, whole, so that it can be
// copied, below them and in their columns.
func (m *room) printAbout(rt *workbench.Runtime, out *term.Output, found models.Found) {
	row := func(name, value string) {
		switch {
		case value == "":
		case out.IsTerminal():
			out.Printf("  %-*s  %s\n", len("thinking"), name, term.Clean(value)) // the longest name of a fact
		default:
			out.Printf("%s\t%s\t\n", name, term.Clean(value))
		}
	}
	if k := found.Known; k != nil {
		if k.Output > 0 {
			row("answer", "up to "+term.Count(k.Output, "token", "tokens"))
		}
		row("efforts", strings.Join(k.Efforts, " "))
	}
	if price, ok := rt.Prices(m.cfg).Of(found.Ref()); ok {
		row("price", priceText(price))
	}
	row("details", found.Details)
	row("address", found.List.Address)
	if found.Remote {
		row("runs", "elsewhere; the address passes it on")
	}
}

// priceText is a price for reading.
func priceText(p config.Price) string {
	text := p.Input.String() + " in, " + p.Output.String() + " out"
	if p.Cached != p.Input {
		text += ", " + p.Cached.String() + " cached"
	}
	text += " " + p.Currency + " per million tokens"
	if p.AsOf != "" {
		text += ", on " + p.AsOf
	}
	return text
}

// remarks says on standard error what there is to say of how it is known.
func (m *room) remarks(rt *workbench.Runtime, found models.Found) {
	if trouble := listTrouble(found.List); trouble != nil {
		rt.Notice(trouble.Msg)
		return
	}
	if !found.Listed {
		rt.Notice("the list of " + found.Provider + " doesn't have it")
	}
}

// from says where a fact comes from.
func (m *room) from(rt *workbench.Runtime, found models.Found, f fact) string {
	switch f.from {
	case models.FromProvider:
		return found.Provider
	case models.FromCache:
		return found.Provider + ", " + term.Ago(time.Now(), found.List.Asked)
	case models.FromTable:
		t := rt.Facts()
		return t.Source + ", " + t.Date
	case models.FromConfiguration:
		if origin, ok := m.origin(found, f.setting); ok {
			return origin.String()
		}
		return "the configuration"
	}
	return ""
}

// example is a command that asks the model.
func example(found models.Found) string {
	return "fettle ask -m " + cmdline.ShellWord(found.Ref()) + ` "why is the sky blue?"`
}
