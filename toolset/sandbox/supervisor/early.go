package supervisor

import "os"

// Arg is the first argument by which a program knows that it is a supervisor. It is
// no command: nothing lists it, and a person who types it has no launcher's
// socket open, and is left to the program.
const Arg = "__sandbox"

// init makes a supervisor of a program that was started as one. It is the one init
// that does work, and only then: see the package comment for why.
func init() {
	if len(os.Args) > 1 && os.Args[1] == Arg && calledByLauncher(os.Args[2:]) {
		os.Exit(keep(os.Args[2:]))
	}
}

// Exit statuses of a supervisor; the launcher hears more by the socket.
const (
	supervisorDone   = 0
	supervisorFailed = 125
)
