package acp

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// command carries out a prompt that begins with a slash. What it says is a message
// of fettle's own, which the chat doesn't keep.
type command func(r *request, s *session, args string) (stop string, err error)

// ownCommand is a command of fettle's.
type ownCommand struct {
	name, about, hint string
	run               command
}

// own are fettle's commands, in the order in which editors list them.
func (a *agent) own() []ownCommand {
	return []ownCommand{
		{"undo", "revert what the last tool calls did to files", "how many; or call ID, as /undo list names it; overwrite replaces later changes too", a.undo},
		{"redo", "restore what undo has reverted", "how many steps", a.redo},
		{"cut", "show, apply or discard what a call wrote that was cut off", "apply or discard, and the call's id if there are several", a.cutCommand},
		{"compact", "sum up the conversation for the model; nothing is lost", "", a.compactChat},
		{"model", "show or choose the model", "provider/name, or auto", a.modelCommand},
		{"agent", "show or choose the agent", "an agent, or none", a.agentCommand},
		{"approvals", "show or choose which calls need an approval, or plan mode", "calls, edits, plan, changes or ask-all", a.modeCommand},
		{"accept", "leave plan mode and carry the plan out", "what to change in the plan", a.acceptCommand},
		{"workflow", "show the workflows of toolsets, run one, or go on with it", "name, then its input as JSON; or continue, retry, cancel", a.workflowCommand},
	}
}

// command finds one of fettle's commands; nil is none.
func (a *agent) command(name string) command {
	for _, c := range a.own() {
		if c.name == name {
			return c.run
		}
	}
	return nil
}

// slash reads a prompt that begins with the name of a command.
func slash(blocks []contentBlock) (name, args string, ok bool) {
	if len(blocks) == 0 || blocks[0].Type != "text" || blocks[0].Text == nil {
		return "", "", false
	}
	text, ok := strings.CutPrefix(strings.TrimSpace(*blocks[0].Text), "/")
	if !ok {
		return "", "", false
	}
	end := strings.IndexAny(text, " \t\n")
	if end < 0 {
		end = len(text)
	}
	return text[:end], strings.TrimSpace(text[end:]), end > 0
}

// maxCommands bounds the prompts that are offered as commands.
const maxCommands = 200

// sayCommands tells the editor what can stand behind a slash.
func (a *agent) sayCommands(s *session) {
	var out []availableCommand
	taken := map[string]bool{}
	add := func(name, about, hint string) {
		if taken[name] || len(out) >= maxCommands {
			return
		}
		taken[name] = true
		c := availableCommand{Name: name, Description: about}
		if hint != "" {
			c.Input = &commandInput{hint}
		}
		out = append(out, c)
	}
	workflows, err := a.eng.AllWorkflows(a.base)
	if err != nil {
		a.log.Warn("the workflows can't be listed", "error", err.Error())
	}
	for _, c := range a.own() {
		if c.name != "workflow" || len(workflows) > 0 {
			add(c.name, c.about, c.hint)
		}
	}
	if a.o.Prompts != nil {
		for _, p := range a.o.Prompts.Prompts(s.cwd) {
			about := sanitize.Cut(sanitize.Line(p.Description), maxShownName)
			if about == "" {
				about = "your prompt " + sanitize.Line(p.Name)
			}
			add(sanitize.Line(p.Name), about, "what the prompt is about; NAME=VALUE sets a variable")
		}
	}
	a.update(s, update{Kind: "available_commands_update", Commands: out})
}

// fill makes the text of one of the user's prompts; ok is false where none is called
// so, and the text is the model's.
func (a *agent) fill(s *session, name, args string) (text string, ok bool, err error) {
	if a.o.Prompts == nil {
		return "", false, nil
	}
	for _, p := range a.o.Prompts.Prompts(s.cwd) {
		if p.Name == name {
			text, err := a.o.Prompts.Fill(s.cwd, name, args)
			return text, err == nil, err
		}
	}
	return "", false, nil
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// refused says why a command did nothing, with the files that are in the way. again is the
// command as it was given.
func (a *agent) refused(r *request, s *session, again string, err error) (string, error) {
	var conflict *cas.ConflictError
	var f *fault.Fault
	switch {
	case !errors.As(err, &f):
		return "", err
	case errors.As(err, &conflict):
		return a.reply(r, s, faultText(f.Msg, f.Detail, []string{"/" + again + " overwrite"}))
	}
	return a.reply(r, s, faultText(f.Msg, f.Detail, nil))
}

func (a *agent) compactChat(r *request, s *session, args string) (string, error) {
	if args != "" {
		return a.reply(r, s, "/compact takes nothing behind it.")
	}
	if s.chat().New != "" {
		return a.reply(r, s, "Nothing was asked in this session yet, so there is nothing to sum up.")
	}
	done, err := a.eng.CompactChat(r.ctx, engine.CompactRequest{
		Chat: store.ChatRef{ID: s.id}, Keep: 1, OnWait: a.waits(s), Status: func(what string) { a.notice(s, "info", what) },
	})
	if err != nil {
		return a.refused(r, s, "compact", err)
	}
	return a.reply(r, s, count(done.Added, "message is", "messages are")+" summed up for the model from now on; the chat keeps them.\n\n"+done.Summary.Text)
}

func (a *agent) modelCommand(r *request, s *session, args string) (string, error) {
	if args != "" {
		if err := a.chooseModel(r.ctx, s, args); err != nil {
			return a.reply(r, s, err.Error()+".")
		}
		a.sayOptions(s)
	}
	c := s.choice()
	text := "The model is " + sanitize.Line(c.model) + "."
	if c.model == "" {
		text = "fettle chooses the model: the configured one, else the best that is there."
		if c.answered != "" {
			text += " The last answer was " + sanitize.Line(c.answered) + "'s."
		}
	}
	if args == "" {
		list := a.models.choices(r.ctx, modelsWait)
		for _, m := range list[:min(len(list), maxShownModels)] {
			text += "\n- `/model " + m.Value + "`"
		}
		if n := len(list) - maxShownModels; n > 0 {
			text += "\n- and " + strconv.Itoa(n) + " more"
		}
	}
	return a.reply(r, s, text)
}

// maxShownModels bounds a list of models in a message.
const maxShownModels = 30

func (a *agent) agentCommand(r *request, s *session, args string) (string, error) {
	if args != "" {
		if err := a.chooseAgent(r.ctx, s, args); err != nil {
			return a.reply(r, s, err.Error()+".")
		}
		a.sayOptions(s)
	}
	agents, err := a.agents(r.ctx, s)
	if err != nil {
		return "", err
	}
	text := "The agent is " + agents.Current + "."
	if args == "" {
		for _, o := range agents.Options {
			text += "\n- `/agent " + o.Value + "`  " + o.Description
		}
	}
	return a.reply(r, s, text)
}

// reply says what a command did.
func (a *agent) reply(r *request, s *session, text string) (string, error) {
	if context.Cause(r.ctx) != nil {
		return stopCancelled, nil
	}
	a.say(s, a.ownID(r), text)
	return stopEnd, nil
}

// ownID names what a command shows. The ids of requests are unique in a connection,
// and the session may have been open in an earlier one.
func (a *agent) ownID(r *request) string {
	return "fettle." + strconv.FormatInt(a.o.Now().UnixMilli(), 36) + "." + sanitize.Cut(sanitize.Line(string(r.id)), maxShownName)
}
