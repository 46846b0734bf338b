package cmdline

import (
	"regexp"
	"strconv"

	"github.com/fettle-cli/fettle/engine"
)

// ChatNumber is an argument as a chat's number; ok is false where it is none.
func ChatNumber(arg string) (n int64, ok bool) {
	n, err := strconv.ParseInt(arg, 10, 64)
	return n, err == nil && n > 0
}

// IsULID tells whether an argument looks like an id: 26 characters, of which
// the first is small enough for the time to fit.
func IsULID(arg string) bool {
	return regexp.MustCompile(`^[0-7][0-9A-HJKMNP-TV-Z]{25}$`).MatchString(arg)
}

// Message names a message: by its place, from 1, or by its id.
type Message struct {
	Place int
	Id    string
}

// ReadMessage reads the argument that names a message; example is the command line
// with a right one.
func ReadMessage(arg, example string) (Message, error) {
	n, isPlace := ChatNumber(arg)
	switch {
	case isPlace && n <= engine.MaxPlace:
		return Message{Place: int(n)}, nil
	case IsULID(arg):
		return Message{Id: arg}, nil
	}
	return Message{}, Usagef(example, "--at wants the place of a message, from 1, or its id, not %s", ShellWord(arg))
}
