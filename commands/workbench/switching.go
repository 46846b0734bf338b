package workbench

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/engine"
)

// Switching is how things of one kind are offered to models no more, and again. It
// makes the commands disable and enable of a group.
type Switching struct {
	Group   string // of the commands, such as "mcp"
	Thing   string // one of the kind in a sentence, such as "the MCP server"
	Arg     string // what stands for its id in the help, such as "SERVER"
	Example string // an id
	// On and Off are the commands in a line.
	On, Off string
	// One refuses other arguments of the command word than one id.
	One func(word string) cli.BeforeFunc
	// Set switches a thing, and tells whether that changed anything.
	Set func(ctx context.Context, eng *engine.Engine, id string, on bool) (bool, error)
}

// SwitchedJSON is what enable and disable print with --output json.
type SwitchedJSON struct {
	SchemaVersion int    `json:"schema_version"`
	ID            string `json:"id"`
	Enabled       bool   `json:"enabled"`
	Changed       bool   `json:"changed"`
}

// Command is enable where on, else disable.
func (s Switching) Command(rt *Runtime, on bool) *cli.Command {
	word, usage := "disable", s.Off
	if on {
		word, usage = "enable", s.On
	}
	path := "fettle " + s.Group + " " + word
	return &cli.Command{
		Name: word, Usage: usage, ArgsUsage: s.Arg,
		UsageText: path + " " + s.Example,
		Flags:     []cli.Flag{cmdline.OutputFlag()},
		Before:    s.One(word),
		Action: rt.WithStore(func(c *cli.Context, eng *engine.Engine) error {
			id := c.Args().First()
			changed, err := s.Set(c.Context, eng, id, on)
			if err != nil {
				return err
			}
			return s.tell(rt, SwitchedJSON{OutputVersion, id, on, changed}, c.String("output"))
		}),
	}
}

// tell says what came of it.
func (s Switching) tell(rt *Runtime, done SwitchedJSON, output string) error {
	if output == "json" {
		return PrintJSON(rt, done)
	}
	state := "off"
	if done.Enabled {
		state = "on"
	}
	if !done.Changed {
		state += " already"
	}
	rt.Notice(s.Thing + " " + done.ID + " is " + state)
	return nil
}
