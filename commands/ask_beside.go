package commands

import (
	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/engine"
)

// readBeside reads the flags of a question that takes the place of another. It
// is about the last chat, where no other is named.
func (o *askOptions) readBeside(c *cli.Context) error {
	o.retry = c.Bool("retry")
	if !o.retry && !c.IsSet("at") {
		return nil
	}
	if !o.chat.Last && !c.IsSet("chat") {
		o.chat.Last = true
	}
	o.chat.At = -1
	if c.IsSet("at") {
		at, err := readMessage(c.String("at"), "fettle ask --at 3 …")
		if err != nil {
			return err
		}
		o.chat.At, o.chat.Instead = at.place, at.id
	}
	switch {
	case o.chat.Fork:
		return usagef("fettle chats fork N --at 2", "--fork begins a chat, and --retry and --at a branch in the same one")
	case o.retry && (o.prompt != "" || o.named != "" || len(o.files) > 0):
		return usagef("fettle ask --at N …", "--retry asks what was asked; to ask something else in its place there is --at alone")
	}
	return nil
}

// messageArg names a message: by its place, from 1, or by its id.
type messageArg struct {
	place int
	id    string
}

func readMessage(arg, example string) (messageArg, error) {
	n, isPlace := chatNumber(arg)
	switch {
	case isPlace && n <= engine.MaxPlace:
		return messageArg{place: int(n)}, nil
	case isULID(arg):
		return messageArg{id: arg}, nil
	}
	return messageArg{}, usagef(example, "--at wants the place of a message, from 1, or its id, not %s", shellWord(arg))
}
