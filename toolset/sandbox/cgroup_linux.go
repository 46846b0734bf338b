package sandbox

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/fettle-cli/fettle/toolset"
)

const (
	cgroupRoot = "/sys/fs/cgroup"
	// groupRoom is the memory that a group has beyond the limit: for the supervisor, and so
	// that the supervisor's own check, which reports what was used, usually comes first.
	groupRoom = 64 << 20
	// groupSlack is how many processes a group has beyond the limit, for the same reasons:
	// the supervisor's threads, and the slack of its check.
	groupSlack = 64
	groupName  = "fettle-"
)

// cgroups makes a control group (version 2) for each process where a folder of them is
// delegated to fettle. The kernel enforces the limits of a group at every moment, also
// between two checks of the supervisor. The zero value looks for the folder itself.
type cgroups struct {
	dir  string // given, else found
	find sync.Once
	mu   sync.Mutex
	next int
	left []string // groups that could not be removed yet
}

// group is the control group of one process; the zero value is none.
type group struct {
	of  *cgroups
	dir string
}

// folder returns the folder in which groups are made; empty if none is delegated.
func (c *cgroups) folder() string {
	c.find.Do(func() {
		if c.dir != "" {
			return
		}
		if self, err := os.ReadFile("/proc/self/cgroup"); err == nil {
			c.dir = delegated(cgroupRoot, string(self))
		}
		if c.dir != "" {
			c.left, _ = filepath.Glob(filepath.Join(c.dir, groupName+"*")) // of a process that was killed
		}
	})
	return c.dir
}

// delegated returns the folder of control groups in which this process may make others:
// its own or the one above, if the manager of the system has marked it as delegated
// (systemd's Delegate= with DelegateSubgroup=) and both controllers can be used there.
// Other folders belong to the manager, also where a process has the rights to write there.
func delegated(root, self string) string {
	for line := range strings.Lines(self) {
		rel, ok := strings.CutPrefix(strings.TrimSpace(line), "0::/")
		if !ok {
			continue
		}
		own := filepath.Join(root, rel)
		for _, dir := range []string{own, filepath.Dir(own)} {
			if strings.HasPrefix(dir, root+"/") && isDelegated(dir) && controls(dir, dir != own) {
				return dir
			}
		}
	}
	return ""
}

func isDelegated(dir string) bool {
	value := make([]byte, 8)
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		if n, err := unix.Getxattr(dir, name, value); err == nil && string(value[:n]) == "1" {
			return unix.Access(dir, unix.W_OK) == nil
		}
	}
	return false
}

// controls reports whether groups in a folder can have limits of memory and processes. If
// the folder has no processes itself, the controllers are turned on.
func controls(dir string, empty bool) bool {
	has := func(file string) bool {
		text, err := os.ReadFile(filepath.Join(dir, file))
		names := strings.Fields(string(text))
		return err == nil && slices.Contains(names, "memory") && slices.Contains(names, "pids")
	}
	const enabled = "cgroup.subtree_control"
	if !has(enabled) && empty && has("cgroup.controllers") {
		_ = os.WriteFile(filepath.Join(dir, enabled), []byte("+memory +pids"), 0) // the check below decides
	}
	return has(enabled)
}

// add puts a process that has not started anything yet into a group of its own. Where that
// fails, the process is in none, and the supervisor's checks alone limit it.
func (c *cgroups) add(pid int, limits toolset.Limits) group {
	dir := c.folder()
	if dir == "" {
		return group{}
	}
	c.mu.Lock()
	c.left = slices.DeleteFunc(c.left, func(old string) bool {
		err := os.Remove(old)
		return err == nil || errors.Is(err, os.ErrNotExist)
	})
	c.next++
	g := group{c, filepath.Join(dir, groupName+strconv.Itoa(os.Getpid())+"-"+strconv.Itoa(c.next))}
	c.mu.Unlock()
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return group{}
	}
	for _, set := range []struct{ file, value string }{
		{"memory.max", bounded(limits.Memory, groupRoom)},
		{"pids.max", bounded(int64(limits.Processes), groupSlack)},
		{"memory.swap.max", "0"}, // swap counts as memory
		{"cgroup.procs", strconv.Itoa(pid)},
	} {
		err := os.WriteFile(filepath.Join(g.dir, set.file), []byte(set.value), 0o644)
		if err != nil && set.file != "memory.swap.max" { // a kernel without swap has no such file
			g.remove()
			return group{}
		}
	}
	return g
}

func bounded(limit int64, more int64) string {
	if limit < 0 {
		return "max"
	}
	return strconv.FormatInt(limit+more, 10)
}

// ended reports whether the kernel has ended a process of the group because all of them
// together used more memory than the group may.
func (g group) ended() bool {
	if g.dir == "" {
		return false
	}
	text, err := os.ReadFile(filepath.Join(g.dir, "memory.events"))
	if err != nil {
		return false
	}
	for line := range bytes.Lines(text) {
		name, count, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		if name == "oom_kill" && count != "0" {
			return true
		}
	}
	return false
}

// remove ends what is left in the group, and removes it. A group whose processes are still
// ending is removed later.
func (g group) remove() {
	if g.dir == "" {
		return
	}
	_ = os.WriteFile(filepath.Join(g.dir, "cgroup.kill"), []byte("1"), 0o644) // since Linux 5.14; the keeper has ended them before
	if os.Remove(g.dir) != nil {
		g.of.mu.Lock()
		defer g.of.mu.Unlock()
		g.of.left = append(g.of.left, g.dir)
	}
}
