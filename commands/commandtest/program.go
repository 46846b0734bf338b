package commandtest

import (
	"os"
	"syscall"
)

// WriteProgram writes a file that can be run at once. A child that another
// test forks meanwhile would hold it open for writing, and Linux runs no
// program that is written to.
func WriteProgram(path, content string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, []byte(content), 0o755)
}
