package question

import (
	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/engine/permission"
)

// Mode is how the calls of turns are decided.
type Mode struct {
	Approvals permission.Mode // empty is the chat's, then the configured one
	Plan      *bool           // nil keeps the chat's choice
}

// ApprovalsFlag returns the flag --approvals, which [Read] reads.
func ApprovalsFlag(category string) cli.Flag {
	return &cli.StringFlag{Name: "approvals", Category: category, Usage: "which calls need an approval, `MODE`: calls, changes, edits or ask-all; not kept with the chat"}
}

// PlanFlag returns the flag --plan, which [Read] reads.
func PlanFlag(category string) cli.Flag {
	return &cli.BoolFlag{Name: "plan", Category: category, Usage: "plan mode: let the model only read the workspace and answer with a plan; --plan=false leaves a chat's plan mode"}
}

// readMode reads the flags about approvals of a command.
func readMode(c *cli.Context, command string) (Mode, error) {
	var o Mode
	if c.IsSet("plan") {
		plan := c.Bool("plan")
		o.Plan = &plan
	}
	if !c.IsSet("approvals") {
		return o, nil
	}
	mode, err := permission.ParseMode(c.String("approvals"))
	switch {
	case err != nil:
		return o, cmdline.Usagef(command+" --approvals edits …", "--approvals: %s", err.Error())
	case c.Bool("yes"):
		return o, cmdline.Usagef(command+" --help", "--yes runs every call without asking, and --approvals says which calls ask; give one")
	}
	o.Approvals = mode
	return o, nil
}
