package question

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/follow"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

// Options are the options that ask and chat have in common: what each turn is
// asked with.
type Options struct {
	Prompt    string // the user's own words
	Model     string
	Params    provider.Params
	System    string
	HasSystem bool // System is given, perhaps empty
	Chat      store.ChatRef
	Agent     string
	Workspace string // an absolute path

	Toolsets       []string
	Tools          []string // globs
	NoTools        bool
	Allow          []string // rules
	RequireSandbox bool
	yes            bool
	Mode

	MaxSteps int           // 0 is the configuration's
	Timeout  time.Duration // 0 is the configuration's
	color    string
	View     follow.Options
	Remote   bool // another server is asked, whose configuration chooses the tools
}

// Read reads the flags that ask and chat have in common.
func Read(c *cli.Context, command string) (o Options, err error) {
	o = Options{
		Model: c.String("model"), System: c.String("system"), HasSystem: c.IsSet("system"), Agent: c.String("agent"),
		Chat:      store.ChatRef{Last: c.Bool("continue"), Number: c.Int64("chat"), Fork: c.Bool("fork")},
		Workspace: c.String("workspace"), Toolsets: cmdline.ListOf(c, "toolset"), Tools: cmdline.ListOf(c, "tool"), NoTools: c.Bool("no-tools"),
		Allow: cmdline.ListOf(c, "allow"), RequireSandbox: c.Bool("require-sandbox"), yes: c.Bool("yes"),
	}
	if c.IsSet("color") {
		o.color = c.String("color")
	}
	if o.Params, err = readParams(c, command); err != nil {
		return o, err
	}
	if o.Mode, err = readMode(c, command); err != nil || o.Workspace == "" {
		return o, err
	}
	if o.Workspace, err = filepath.Abs(o.Workspace); err != nil {
		return o, fault.Wrap(fault.Usage, "-w", err)
	}
	return o, nil
}

// Check refuses flags that can't be meant together.
func (o Options) Check(c *cli.Context, command string) error {
	help := command + " --help"
	if err := checkEmpty(c, help); err != nil {
		return err
	}
	switch {
	case o.Chat.Last && c.IsSet("chat"):
		return cmdline.Usagef(help, "-c and --chat both say which chat to go on with; give one")
	case c.IsSet("chat") && o.Chat.Number <= 0:
		return cmdline.Usagef("fettle chats list", "--chat wants the number of a chat, such as 12")
	case o.Chat.Fork && !o.Chat.Last && o.Chat.Number == 0:
		return cmdline.Usagef(command+" -c --fork …", "--fork needs -c or --chat")
	case o.NoTools && (len(o.Tools) > 0 || len(o.Toolsets) > 0):
		return cmdline.Usagef(help, "--no-tools can't be given with --tool or --toolset")
	}
	return nil
}

// checkEmpty refuses flags that were given nothing, as an unset variable of a
// script does: taken for flags that were not given, they would ask another
// model or work in another folder than was meant.
func checkEmpty(c *cli.Context, help string) error {
	for _, name := range []string{"model", "prompt", "agent", "workspace", "schema", "record", "color"} {
		if c.IsSet(name) && c.String(name) == "" {
			return cmdline.Usagef(help, "--%s is empty", name)
		}
	}
	for _, name := range []string{"toolset", "tool", "allow"} {
		for _, v := range cmdline.ListOf(c, name) {
			if v == "" {
				return cmdline.Usagef(help, "--%s is empty", name)
			}
		}
	}
	return nil
}

// Flags are the options that have a place in the configuration.
func (o Options) Flags() map[string]config.Flag {
	out := map[string]config.Flag{}
	one := func(key, name, value string) {
		if value != "" {
			out[key] = config.Flag{Name: name, Values: []string{value}}
		}
	}
	one("model", "--model", o.Model)
	one("color", "--color", o.color)
	if o.MaxSteps > 0 {
		one("limits.max_steps", "--max-steps", strconv.Itoa(o.MaxSteps))
	}
	if o.Timeout > 0 {
		one("limits.timeout", "--timeout", o.Timeout.String())
	}
	if o.RequireSandbox {
		one("require_sandbox", "--require-sandbox", "on")
	}
	if o.NoTools {
		one("tools", "--no-tools", "off")
	}
	if len(o.Allow) > 0 {
		out["allow"] = config.Flag{Name: "--allow", Values: o.Allow}
	}
	return out
}

// Request makes the turn's request of options and configuration; the parts
// are the message.
func (o Options) Request(rt *workbench.Runtime, cfg *config.Config) (engine.TurnRequest, error) {
	globs, err := o.toolGlobs(cfg)
	if err != nil {
		return engine.TurnRequest{}, err
	}
	if o.Workspace != "" {
		dirs, err := rt.Dirs()
		if err != nil {
			return engine.TurnRequest{}, err
		}
		if err := toolset.CheckBound(o.Workspace, toolset.Places{Home: dirs.Home, DataDir: dirs.Data, Own: workbench.OwnState(dirs)}); err != nil {
			return engine.TurnRequest{}, fault.Wrap(fault.Usage, "-w", err, fault.Run("fettle ask -w DIR …, with a folder of a project"))
		}
	}
	asks := !o.yes && !o.View.Quiet && rt.Streams.CanAsk()
	req := engine.TurnRequest{
		Own: true, Chat: o.Chat, Params: o.Params, Agent: o.Agent, Docs: append([]string{}, engine.DocRefs(o.Prompt)...), Title: strings.TrimSpace(o.Prompt), Fallback: cfg.Fallback, Tools: globs, Workspace: o.Workspace, Schema: o.View.Schema,
		Policy: permission.Policy{AllowAll: o.yes, Allow: o.Allow, Approvals: o.Approvals}, Plan: o.Plan, MaxSteps: cfg.Limits.MaxSteps,
		MaxHandoffs: cfg.Limits.MaxHandoffs, MaxRepeats: cfg.Limits.MaxRepeats, MaxFailures: cfg.Limits.MaxFailures, Timeout: cfg.Limits.Timeout,
		DiscardUnanswered: o.Chat != (store.ChatRef{}), CanConfirm: asks, CanAnswer: asks, CanReview: asks,
		TextAlone: o.View.Extract || o.View.Output == "text" && !rt.Streams.Out.IsTerminal(),
		OnWait:    func(what string) { rt.Notice("waiting: " + what) },
	}
	// A chat keeps its model and its system prompt; a new one begins with the
	// configured ones.
	rt.NameModels(cfg.ModelNames()...)
	if o.Model != "" || o.Chat == (store.ChatRef{}) {
		req.Model = cfg.Model
	}
	if o.Agent == "" && o.Chat == (store.ChatRef{}) {
		req.Agent = cfg.EntryAgent()
	}
	switch {
	case o.HasSystem:
		req.System = o.System
	case o.Chat == (store.ChatRef{}):
		req.System = cfg.System
	}
	return req, nil
}

// toolGlobs are the tools that the model is offered: nil is all.
func (o Options) toolGlobs(cfg *config.Config) ([]string, error) {
	if o.Remote { // askElsewhere has them, by the flags alone
		return nil, nil
	}
	if o.NoTools || !cfg.Tools.Enabled && len(o.Tools)+len(o.Toolsets) == 0 {
		return []string{}, nil
	}
	if err := workbench.SearchReady(cfg, o.Tools); err != nil {
		return nil, err
	}
	globs, err := o.ChosenTools()
	if err != nil {
		return nil, err
	}
	if len(globs) == 0 {
		globs = cfg.Tools.Globs
	}
	if len(globs) == 0 {
		return nil, nil
	}
	return globs, nil
}

// ChosenTools are the globs of --tool and --toolset.
func (o Options) ChosenTools() ([]string, error) {
	globs := o.Tools
	for _, id := range o.Toolsets {
		switch {
		case id == "builtin":
			globs = append(globs, "?*") // ids without a toolset
		case strings.ContainsAny(id, "*?[{!:"):
			return nil, cmdline.Usagef("fettle ask -t builtin …", "--toolset wants the id of one toolset; globs go to --tool")
		default:
			globs = append(globs, id+":*")
		}
	}
	return globs, nil
}
