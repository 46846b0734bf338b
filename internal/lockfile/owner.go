package lockfile

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

const (
	// ownerAt is where the owner's text begins. Windows locks the first byte
	// against every other handle, so that one stays empty.
	ownerAt = 1
	// maxOwner bounds what is read of a lock file: "pid " and a number.
	maxOwner = 32
)

// Owner describes the process that holds the lock, as [Process] does, or is "" if that
// isn't known. It is for messages: the process may have ended by now.
func Owner(path string) string { return Process(Holder(path)) }

// OwnerPID is the process id that the holder of the lock wrote, or 0.
func OwnerPID(path string) int {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.NewSectionReader(f, ownerAt, maxOwner))
	if err != nil {
		return 0
	}
	return parseOwner(string(text))
}

// parseOwner reads the first line. Anything but "pid N" counts as nothing: the
// file may be anyone's, and its text reaches people's terminals.
func parseOwner(text string) int {
	line, _, whole := strings.Cut(text, "\n")
	number, ok := strings.CutPrefix(line, "pid ")
	if !whole || !ok {
		return 0
	}
	pid, err := strconv.ParseInt(number, 10, 32)
	if err != nil || pid <= 0 {
		return 0
	}
	return int(pid)
}

// writeOwner notes this process in a lock file that it holds. A longer text of
// an earlier owner that crashed may stand behind the line and is not read. A
// failure is no reason to give up the lock.
func writeOwner(path string) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return
	}
	_, _ = f.WriteAt(fmt.Appendf(nil, "pid %d\n", os.Getpid()), ownerAt)
	_ = f.Close()
}
