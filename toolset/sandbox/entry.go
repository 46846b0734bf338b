package sandbox

// keeperArg is the first argument by which a program knows that it is to be a
// keeper. It is no command: nothing lists it.
const keeperArg = "__sandbox"

// Self is a program whose main function calls [Main] first, so that it may be
// started as a keeper. Only Main makes one: a program that is started again
// without knowing would run itself over and over.
type Self struct{ name string }

// Main is what a program that starts sandboxes calls before anything else,
// with its arguments. Where done is true it was started as a keeper, has done
// its work, and ends with the status; nobody else uses that first argument.
// Otherwise self is for [Options].
func Main(args []string) (self Self, status int, done bool) {
	if len(args) == 0 {
		return Self{}, 0, false
	}
	if len(args) > 1 && args[1] == keeperArg && calledByLauncher(args[2:]) {
		return Self{}, keep(args[2:]), true
	}
	return Self{name: args[0]}, 0, false
}

// Exit statuses of a keeper; the launcher hears more by the socket.
const (
	keeperDone   = 0
	keeperFailed = 125
)
