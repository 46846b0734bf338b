package ask

import (
	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
)

// readBeside reads the flags of a question that takes the place of another. It
// is about the last chat, where no other is named.
func (o *askOptions) readBeside(c *cli.Context) error {
	o.retry = c.Bool("retry")
	if !o.retry && !c.IsSet("at") {
		return nil
	}
	if !o.Chat.Last && !c.IsSet("chat") {
		o.Chat.Last = true
	}
	o.Chat.At = -1
	if c.IsSet("at") {
		at, err := cmdline.ReadMessage(c.String("at"), "fettle ask --at 3 …")
		if err != nil {
			return err
		}
		o.Chat.At, o.Chat.Instead = at.Place, at.Id
	}
	switch {
	case o.Chat.Fork:
		return cmdline.Usagef("fettle chats fork N --at 2", "--fork begins a chat, and --retry and --at a branch in the same one")
	case o.retry && (o.Prompt != "" || o.named != "" || len(o.files) > 0):
		return cmdline.Usagef("fettle ask --at N …", "--retry asks what was asked; to ask something else in its place there is --at alone")
	}
	return nil
}
