package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/input"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/float32s"
)

// groupTexts is how many texts are embedded before their vectors are printed.
const groupTexts = 512

const path = "fettle embed"

const description = `Each argument is a text. Without one, each line of standard input is a text; a line
that is a JSON object has the text as "text", and may have an "id". Empty lines are
left out. -f has the whole content of a file as a text, with its name as the id.

For each text, in their order, a line of JSON is printed: index, id, and embedding,
the vector. -o json prints one object, with the model and the tokens too. --binary
writes the numbers alone: 32 bits each, little-endian, one vector after the other.

The model is the one of -m, or of the setting embedding. Vectors are kept for 90
days, so that the same text costs nothing the next time; --no-cache asks for all of
them.`

// options are the flags and arguments of embed.
type options struct {
	texts      []string
	files      []string
	model      string
	dimensions int
	fresh      bool
	binary     bool
	output     string

	eng *engine.Engine // that the command has opened
}

// text is a text to embed.
type text struct {
	id   string
	text string
}

// vectorJSON is a line that embed prints.
type vectorJSON struct {
	Index     int       `json:"index"`
	ID        string    `json:"id,omitempty"`
	Embedding []float32 `json:"embedding"`
}

// embedJSON is what embed -o json prints.
type embedJSON struct {
	SchemaVersion int          `json:"schema_version"`
	Model         string       `json:"model"`
	Dimensions    int          `json:"dimensions"`
	Tokens        int64        `json:"tokens"`
	Kept          int          `json:"kept"`
	Embeddings    []vectorJSON `json:"embeddings"`
}

// New is the command embed.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "embed",
		Usage:       "turn texts into vectors",
		ArgsUsage:   "[TEXT…]",
		Description: description,
		UsageText:   "fettle embed -m ollama/nomic-embed-text \"rain in Oslo\"\nfettle embed < lines.txt > vectors.jsonl\nfettle embed -f report.md -o json",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "model", Aliases: []string{"m"}, Usage: "ask the embedding model `PROVIDER/NAME`"},
			&cli.StringSliceFlag{Name: "file", Aliases: []string{"f"}, Usage: "embed the content of `FILE`; may be repeated"},
			&cli.IntFlag{Name: "dimensions", Usage: "ask for vectors of `N` numbers"},
			&cli.BoolFlag{Name: "binary", Usage: "write 32-bit numbers instead of JSON"},
			&cli.BoolFlag{Name: "no-cache", Usage: "neither use nor keep vectors of earlier commands"},
			rt.InProfile(""), cmdline.OutputFlag(),
		},
		Action: workbench.Run(rt, read, run),
	}
}

func read(c *cli.Context) (options, error) {
	o := options{
		texts: c.Args().Slice(), files: c.StringSlice("file"), model: c.String("model"), dimensions: c.Int("dimensions"),
		fresh: c.Bool("no-cache"), binary: c.Bool("binary"), output: c.String("output"),
	}
	switch {
	case c.IsSet("model") && o.model == "":
		return o, cmdline.Usagef(path+" -m ollama/nomic-embed-text …", "--model wants the name of a model")
	case c.IsSet("dimensions") && o.dimensions < 1:
		return o, cmdline.Usagef(path+" --dimensions 256 …", "--dimensions wants a number of at least 1, not %d", o.dimensions)
	case o.binary && c.IsSet("output"):
		return o, cmdline.Usagef(path+" --binary … > vectors.bin", "--binary and --output are two forms of the same vectors")
	}
	return o, nil
}

func run(ctx context.Context, rt *workbench.Runtime, o options) error {
	if o.binary && rt.Streams.Out.IsTerminal() {
		return cmdline.Usagef(path+" --binary … > vectors.bin", "--binary writes bytes that a terminal can't show")
	}
	cfg, err := rt.Config(nil)
	if err != nil {
		return err
	}
	texts, err := gather(ctx, rt, o, input.Options{
		In: rt.Streams.In.File(), Notice: rt.Notice, StdinBytes: cfg.Limits.StdinBytes, FileBytes: cfg.Limits.FileBytes,
	})
	if err != nil {
		return err
	}
	rt.NameModels(o.model, cfg.Embedding)
	if o.eng, err = rt.EngineFor(cfg, nil); err != nil {
		return err
	}
	all := embedJSON{SchemaVersion: workbench.OutputVersion, Embeddings: []vectorJSON{}}
	for done := 0; done < len(texts); done += groupTexts {
		group := texts[done:min(done+groupTexts, len(texts))]
		got, err := o.embed(ctx, rt, group, func(of int) string { return fmt.Sprintf("%d of %d texts", done+of, len(texts)) })
		if err != nil {
			return err
		}
		all.Model, all.Dimensions = got.Model, len(got.Vectors[0])
		all.Tokens, all.Kept = all.Tokens+got.Tokens, all.Kept+got.Kept
		if err := o.print(rt, &all, group, got.Vectors, done); err != nil {
			return err
		}
	}
	if o.output == "json" {
		return workbench.PrintJSON(rt, all)
	}
	return nil
}

// embed gets the vectors of a group of texts. stage describes how far all texts are when so
// many of the group are done.
func (o options) embed(ctx context.Context, rt *workbench.Runtime, group []text, stage func(done int) string) (*engine.Embedded, error) {
	req := engine.EmbedRequest{Model: o.model, Dimensions: o.dimensions, Keep: !o.fresh}
	for _, t := range group {
		req.Texts = append(req.Texts, t.text)
	}
	bar := rt.Streams.Progress("embed")
	defer bar.Clear()
	req.Progress = func(done, _ int) { bar.Stage(stage(done)) }
	return o.eng.Embed(ctx, req)
}

// print prints the vectors of a group, or keeps them for the one object of -o json.
func (o options) print(rt *workbench.Runtime, all *embedJSON, group []text, vectors [][]float32, first int) error {
	for i, v := range vectors {
		if o.binary {
			if _, err := rt.Streams.Out.Write(float32s.Append(nil, v)); err != nil {
				return err
			}
			continue
		}
		line := vectorJSON{first + i, group[i].id, v}
		if o.output == "json" {
			all.Embeddings = append(all.Embeddings, line)
			continue
		}
		raw, err := json.Marshal(line)
		if err != nil {
			return fault.Wrap(fault.Failed, "print a vector", err)
		}
		rt.Streams.Out.Printf("%s\n", raw)
	}
	return rt.Streams.Out.Err()
}

// gather reads the texts: arguments, then files; or lines of standard input if there is
// neither.
func gather(ctx context.Context, rt *workbench.Runtime, o options, in input.Options) ([]text, error) {
	var out []text
	for _, t := range o.texts {
		if strings.TrimSpace(t) == "" {
			return nil, cmdline.Usagef(path+" \"rain in Oslo\"", "a text is empty")
		}
		out = append(out, text{text: t})
	}
	if len(o.files) > 0 {
		parts, err := input.Files(ctx, o.files, in)
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			if p.Kind != provider.FilePart {
				return nil, cmdline.Usagef(path+" -f report.md", "%s is an image; only texts are embedded", cmdline.ShellWord(p.Name))
			}
			if strings.TrimSpace(p.Text) == "" {
				rt.Notice("left out " + p.Name + ": it has no text")
				continue
			}
			out = append(out, text{p.Name, p.Text})
		}
	}
	switch {
	case len(out) > 0:
		return out, nil
	case len(o.files) > 0:
		return nil, cmdline.Usagef(path+" -f report.md", "the files have no text to embed")
	}
	if rt.Streams.In.IsTerminal() {
		return nil, cmdline.Usagef(path+" \"rain in Oslo\"", "there is no text to embed")
	}
	raw, err := input.Stdin(ctx, in)
	if err != nil {
		return nil, err
	}
	if out, err = lines(raw); err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, cmdline.Usagef(path+" < lines.txt", "standard input has no text")
	}
	return out, nil
}

// lines reads a text of each line.
func lines(raw []byte) ([]text, error) {
	var out []text
	n := 0
	for line := range bytes.Lines(raw) {
		n++
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0:
		case line[0] == '{' && json.Valid(line):
			t, err := object(line)
			if err != nil {
				return nil, fault.New(fault.Usage, fmt.Sprintf("line %d of standard input: %v", n, err), fault.Run(`{"id": "a", "text": "rain in Oslo"}   is the form of a line`))
			}
			out = append(out, t)
		default:
			out = append(out, text{text: string(line)})
		}
	}
	return out, nil
}

// object reads a line that is a JSON object. An id may be a number.
func object(line []byte) (text, error) {
	var in struct {
		ID   json.RawMessage `json:"id"`
		Text *string         `json:"text"`
	}
	if err := json.Unmarshal(line, &in); err != nil {
		return text{}, errors.New("text is not a JSON string")
	}
	if in.Text == nil || strings.TrimSpace(*in.Text) == "" {
		return text{}, errors.New("the object has no text")
	}
	out := text{text: *in.Text}
	if len(in.ID) > 0 && string(in.ID) != "null" {
		if json.Unmarshal(in.ID, &out.id) != nil {
			out.id = string(in.ID)
		}
	}
	return out, nil
}
