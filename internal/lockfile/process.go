package lockfile

import "strconv"

// Process describes a process for messages: "pid 123 (fettle undo), which is stopped".
// The words in parentheses are the first ones of its command line, where the system
// shows them; the end is included only if the process is stopped, by Ctrl-Z for
// example. It returns "" for a pid of 0.
func Process(pid int) string {
	if pid <= 0 {
		return ""
	}
	text := "pid " + strconv.Itoa(pid)
	if words := commandOf(pid); words != "" {
		text += " (" + words + ")"
	}
	if Stopped(pid) {
		text += ", which is stopped"
	}
	return text
}

// Holder returns the pid of a process that holds the lock, or 0 where that isn't
// known. Of several it prefers one that is stopped: the others end by themselves.
func Holder(path string) int {
	first := 0
	for _, pid := range holders(path) {
		if Stopped(pid) {
			return pid
		}
		if first == 0 {
			first = pid
		}
	}
	if first == 0 {
		first = OwnerPID(path)
	}
	return first
}
