package ask

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/input"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/prompts"
)

// usePrompt takes what the prompt that -p names says, where no flag says it.
func (o *askOptions) usePrompt(rt *workbench.Runtime) error {
	if o.named == "" {
		return nil
	}
	if is, err := o.useServerPrompt(); is || err != nil {
		return err
	}
	library, err := rt.Library()
	if err != nil {
		return err
	}
	p, err := library.Load(o.named)
	if err != nil {
		return workbench.PromptFault(o.named, err)
	}
	vars, err := readVars(o.vars, prompts.InputName)
	if err != nil {
		return err
	}
	if err := p.Check(vars); err != nil {
		return o.promptFault(err)
	}
	o.template, o.filling = p, vars
	if p.Hides != "" {
		rt.Notice("prompt " + p.Name + " is the project's, " + cmdline.ShortPath(p.Path) + "; it hides yours")
	}
	o.Params = o.Params.Over(p.Params)
	if o.Model == "" {
		o.Model = p.Model
	}
	if !o.HasSystem && p.System != "" {
		o.System, o.HasSystem = p.System, true
	}
	if p.Tools != nil && !o.NoTools && len(o.Tools)+len(o.Toolsets) == 0 {
		o.NoTools, o.promptTools = !p.Tools.Enabled, p.Tools.Globs
	}
	if o.View.Schema == nil && !o.View.Extract {
		schema, err := library.Schema(p)
		if err == nil && p.Schema != "" && !json.Valid(schema) {
			err = errors.New(p.Schema + " is no JSON")
		}
		if err != nil {
			return fault.Wrap(fault.Config, "prompt "+p.Name, err, fault.Run("fettle prompts edit "+p.Name))
		}
		o.View.Schema = schema
	}
	return nil
}

// choosePromptTools takes the tools that the prompt chooses. One of a project
// can't widen what the configuration says.
func (o *askOptions) choosePromptTools(rt *workbench.Runtime, cfg *config.Config) {
	if len(o.promptTools) == 0 {
		return
	}
	if from := cfg.Origin("tools"); o.template.Source == prompts.Project && from != string(config.FromDefault) {
		rt.Notice("the tools of prompt " + o.named + " are not used: a project can't widen what " + from + " says")
		return
	}
	o.Tools = o.promptTools
}

// text is the question: what was piped in and the prompt, or a named prompt
// that is filled with them. shown tells that files are shown beside it.
func (o *askOptions) text(piped []byte, shown bool) (string, error) {
	all := input.Compose(piped, o.Prompt)
	if o.template == nil {
		return all, nil
	}
	tail := all
	if len(piped) > 0 && strings.TrimSpace(o.Prompt) == "" {
		tail = input.Block(piped)
	}
	text, err := o.template.Fill(prompts.Values{Vars: o.filling, Input: all, Tail: tail, Shown: shown})
	if err != nil {
		return "", o.promptFault(err)
	}
	return text, nil
}

// readVars reads --var; reserved is a name that it can't set.
func readVars(given []string, reserved string) (map[string]string, error) {
	vars := map[string]string{}
	for _, v := range given {
		name, value, ok := strings.Cut(v, "=")
		_, twice := vars[name]
		switch {
		case !ok || name == "":
			return nil, cmdline.Usagef("fettle ask -p review --var lang=go", "--var wants NAME=VALUE, not %s", cmdline.ShellWord(v))
		case name == reserved:
			return nil, cmdline.Usagef(`git diff | fettle ask -p review "extra words"`,
				"--var can't set %s: it is what is piped in or written behind", name)
		case twice:
			return nil, cmdline.Usagef("", "--var sets %s twice", name)
		}
		vars[name] = value
	}
	return vars, nil
}

// promptFault is what is wrong with the prompt of -p and its variables.
func (o *askOptions) promptFault(err error) error {
	var missing *prompts.MissingError
	if errors.As(err, &missing) {
		return o.missingFault(missing)
	}
	return workbench.PromptFault(o.named, err)
}

// missingFault shows the call with what it lacks, and with what it had.
func (o *askOptions) missingFault(missing *prompts.MissingError) error {
	f := fault.New(fault.Usage, missing.Error())
	call := "fettle ask -p " + o.named
	for _, given := range o.vars {
		call += " --var " + cmdline.ShellWord(given)
	}
	for _, v := range missing.Vars {
		if v.Description != "" {
			f.Detail = append(f.Detail, fmt.Sprintf("%s  %s", v.Name, v.Description))
		}
		if v.Name != prompts.InputName {
			call += " --var " + v.Name + "=…"
		}
	}
	f.Remedies = []fault.Remedy{fault.Run(call)}
	if missing.Vars[len(missing.Vars)-1].Name == prompts.InputName || missing.Vars[0].Name == prompts.InputName {
		f.Remedies = []fault.Remedy{fault.Run(call + " -f FILE"), fault.Run("git diff | " + call)}
	}
	return f
}
