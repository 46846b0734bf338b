package lockfile

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// maxProc bounds what is read of a file of /proc.
const maxProc = 1 << 20

// word is what a command line may show of a process: the name of a program or of a
// command. Anything else may be what a user has typed, or sequences for a terminal.
var word = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$`) })

// commandOf returns the program of a process and its first argument, where that is a
// plain word.
func commandOf(pid int) string {
	text := readProc(fmt.Sprintf("/proc/%d/cmdline", pid))
	args := strings.Split(text, "\x00")
	name := filepath.Base(args[0])
	if !word().MatchString(name) {
		return ""
	}
	if len(args) > 1 && word().MatchString(args[1]) {
		name += " " + args[1]
	}
	return name
}

// Stopped reports whether a process is stopped and does nothing until it is continued.
func Stopped(pid int) bool {
	text := readProc(fmt.Sprintf("/proc/%d/stat", pid))
	at := strings.LastIndexByte(text, ')') // the program's name may contain anything
	if at < 0 {
		return false
	}
	state := strings.Fields(text[at+1:])
	return len(state) > 0 && (state[0] == "T" || state[0] == "t")
}

// holders returns the pids of the processes that hold the lock of a file, as the
// kernel lists them. It is empty where the file system has other numbers than that
// list, or the processes are out of sight.
func holders(path string) (pids []int) {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return nil
	}
	file := fmt.Sprintf("%02x:%02x:%d", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)), st.Ino)
	for line := range strings.Lines(readProc("/proc/locks")) {
		// 1: FLOCK  ADVISORY  WRITE 708 08:01:131 0 EOF; a waiting one has "->" before FLOCK
		f := strings.Fields(line)
		if len(f) < 6 || f[1] != "FLOCK" || f[5] != file {
			continue
		}
		if pid, err := strconv.Atoi(f[4]); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}

func readProc(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxProc))
	if err != nil {
		return ""
	}
	return string(bytes.TrimRight(text, "\n"))
}
