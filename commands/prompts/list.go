package prompts

import (
	"errors"
	"strings"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/prompts"
)

// promptJSON is a prompt as `prompts list` and `prompts show` print it.
type promptJSON struct {
	Name        string           `json:"name"`
	Source      prompts.Source   `json:"source"` // project, user
	Path        string           `json:"path"`
	Hidden      bool             `json:"hidden"`          // by the project's prompt of this name
	Hides       string           `json:"hides,omitempty"` // the user's file of this name
	Description string           `json:"description,omitempty"`
	Model       string           `json:"model,omitempty"`
	System      string           `json:"system,omitempty"`
	Tools       *promptToolsJSON `json:"tools,omitempty"`
	Schema      string           `json:"schema,omitempty"`
	Variables   []promptVarJSON  `json:"variables"`
	Problems    []string         `json:"problems,omitempty"` // why it can't be used
	Text        string           `json:"text,omitempty"`     // the file; only in `prompts show`
}

type promptToolsJSON struct {
	Enabled bool     `json:"enabled"`
	Globs   []string `json:"globs,omitempty"`
}

type promptVarJSON struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Default     string `json:"default,omitempty"`
	Required    bool   `json:"required"`
}

func describePrompt(p *prompts.Prompt) promptJSON {
	out := promptJSON{
		Name: p.Name, Source: p.Source, Path: p.Path, Hides: p.Hides, Description: p.Description,
		Model: p.Model, System: p.System, Schema: p.Schema, Variables: []promptVarJSON{},
	}
	if p.Tools != nil {
		out.Tools = &promptToolsJSON{p.Tools.Enabled, p.Tools.Globs}
	}
	for _, v := range p.Variables {
		out.Variables = append(out.Variables, promptVarJSON{v.Name, v.Description, v.Default, v.Required})
	}
	return out
}

// listJSON is what `prompts list --output json` prints.
type listJSON struct {
	SchemaVersion int          `json:"schema_version"`
	Prompts       []promptJSON `json:"prompts"`
}

func runList(rt *workbench.Runtime, output string) error {
	library, err := rt.Library()
	if err != nil {
		return err
	}
	entries, err := library.List()
	if err != nil {
		return fault.Wrap(fault.Failed, "prompts", err)
	}
	if output == "json" {
		out := listJSON{workbench.OutputVersion, []promptJSON{}}
		for _, e := range entries {
			out.Prompts = append(out.Prompts, describeEntry(e))
		}
		return workbench.PrintJSON(rt, out)
	}
	if len(entries) == 0 {
		rt.Notice("no prompts yet; fettle prompts new review makes one")
		return nil
	}
	listPrompts(rt, entries)
	return nil
}

func describeEntry(e prompts.Entry) promptJSON {
	out := promptJSON{Name: e.Name, Source: e.Source, Path: e.Path, Variables: []promptVarJSON{}}
	if e.Err == nil {
		out = describePrompt(e.Prompt)
	} else {
		out.Problems = problems(e.Err)
	}
	out.Hidden = e.Hidden
	return out
}

func problems(err error) []string {
	var broken *prompts.Error
	if !errors.As(err, &broken) {
		return []string{err.Error()}
	}
	out := make([]string, len(broken.Problems))
	for i, p := range broken.Problems {
		out[i] = p.String()
	}
	return out
}

// listPrompts prints a table for a person, and every column for a program.
func listPrompts(rt *workbench.Runtime, entries []prompts.Entry) {
	out, style := rt.Streams.Out, rt.Streams.Out.Style()
	columns := []term.Column{
		{Title: "prompt"}, {Title: "about", Cut: true},
		{Title: "variables", Cut: true, Style: style.Cyan}, {Title: "whose", Style: style.Dim},
	}
	if !out.IsTerminal() {
		columns = append(columns, term.Column{})
	}
	table := term.NewTable(out, columns...)
	for _, e := range entries {
		about, vars, whose := "can't be read", "", string(e.Source)
		if e.Err == nil {
			about, vars = e.Prompt.Description, strings.Join(variableNames(e.Prompt), " ")
		}
		if e.Hidden {
			whose += ", hidden"
		}
		cells := []string{e.Name, about, vars, whose}
		if !out.IsTerminal() {
			cells = append(cells, e.Path)
		}
		table.Row(cells...)
	}
	_ = table.Flush() // Main looks at what went wrong with writing
	for _, e := range entries {
		if e.Err != nil {
			rt.Notice(problems(e.Err)[0])
		}
	}
}

// variableNames are those that a person may set; those that may be left out
// have a question mark.
func variableNames(p *prompts.Prompt) []string {
	var names []string
	for _, v := range p.Variables {
		switch {
		case v.Name == prompts.InputName:
		case v.Required:
			names = append(names, v.Name)
		default:
			names = append(names, v.Name+"?")
		}
	}
	return names
}

// showJSON is what `prompts show --output json` prints.
type showJSON struct {
	SchemaVersion int `json:"schema_version"`
	promptJSON
}

func runShow(rt *workbench.Runtime, o options) error {
	library, err := rt.Library()
	if err != nil {
		return err
	}
	p, err := library.LoadFrom(o.source, o.name)
	if err != nil {
		return workbench.PromptFault(o.name, err)
	}
	if o.output == "json" {
		out := showJSON{workbench.OutputVersion, describePrompt(p)}
		out.Text = p.Text
		return workbench.PrintJSON(rt, out)
	}
	if p.Hides != "" {
		rt.Notice("this is the project's, " + cmdline.ShortPath(p.Path) + "; it hides yours, which --user shows")
	}
	w := rt.Streams.Out.Cleaner()
	// Main looks at what went wrong with writing.
	_, _ = w.Write([]byte(p.Text))
	_ = w.Flush()
	if !strings.HasSuffix(p.Text, "\n") {
		rt.Streams.Out.WriteString("\n")
	}
	return nil
}
