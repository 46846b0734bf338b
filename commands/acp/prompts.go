package acp

import (
	"errors"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/prompts"
	"github.com/fettle-cli/fettle/server/acp"
)

// slashPrompts are the named prompts as commands of an editor. Their text alone is
// used: model, system prompt and tools are the session's.
type slashPrompts struct{ rt *workbench.Runtime }

var _ acp.Prompts = slashPrompts{}

// Prompts lists those that can be used in a folder.
func (p slashPrompts) Prompts(dir string) []acp.Prompt {
	library, err := p.rt.LibraryAt(dir)
	if err != nil {
		return nil
	}
	entries, err := library.List()
	if err != nil {
		p.rt.Notice("the prompts can't be listed: " + err.Error())
		return nil
	}
	var out []acp.Prompt
	for _, e := range entries {
		if e.Err == nil && !e.Hidden {
			out = append(out, acp.Prompt{Name: e.Name, Description: e.Prompt.Description})
		}
	}
	return out
}

// Fill fills a prompt with what was written behind its name: first NAME=VALUE for
// its variables, and then whatever it is about.
func (p slashPrompts) Fill(dir, name, input string) (string, error) {
	library, err := p.rt.LibraryAt(dir)
	if err != nil {
		return "", err
	}
	found, err := library.Load(name)
	if err != nil {
		return "", workbench.PromptFault(name, err)
	}
	vars, rest := slashVars(found, input)
	text, err := found.Fill(prompts.Values{Vars: vars, Input: rest, Tail: rest})
	var missing *prompts.MissingError
	if errors.As(err, &missing) {
		call := "/" + name
		for _, v := range missing.Vars {
			if v.Name == prompts.InputName {
				call += " what it is about"
			} else {
				call += " " + v.Name + "=…"
			}
		}
		return "", fault.New(fault.Usage, missing.Error()+"; write "+call)
	}
	if err != nil {
		return "", workbench.PromptFault(name, err)
	}
	return text, nil
}

// slashVars takes NAME=VALUE off the beginning, for as long as NAME is a variable.
func slashVars(p *prompts.Prompt, input string) (vars map[string]string, rest string) {
	vars, rest = map[string]string{}, strings.TrimSpace(input)
	for {
		word, behind, _ := strings.Cut(rest, " ")
		name, value, ok := strings.Cut(word, "=")
		known := slices.ContainsFunc(p.Variables, func(v prompts.Variable) bool { return v.Name == name })
		if _, twice := vars[name]; !ok || !known || twice || name == prompts.InputName {
			return vars, rest
		}
		vars[name], rest = value, strings.TrimSpace(behind)
	}
}
