package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/toolset"
)

// cgroupFolder makes a folder that looks like one of control groups.
func cgroupFolder(t *testing.T, dir, controllers, enabled string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"cgroup.controllers": controllers, "cgroup.subtree_control": enabled, "cgroup.procs": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func mark(t *testing.T, dir string) {
	t.Helper()
	if err := unix.Setxattr(dir, "user.delegate", []byte("1"), 0); err != nil {
		needtest.Lacking(t, "a file system with extended attributes for temporary files: "+err.Error())
	}
}

// A folder is used only if the system's manager has delegated it and the controllers work
// in it; the right to write there is not enough.
func TestADelegatedFolderOfControlGroups(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		marked, controllers, enabled string
		self, want                   string
	}{
		"the folder above a subgroup":        {"unit", "cpu memory pids", "memory pids", "0::/unit/main", "unit"},
		"controllers are turned on there":    {"unit", "cpu memory pids", "", "0::/unit/main", ""}, // the plain file has no such answer
		"its own folder":                     {"unit/main", "memory pids", "memory pids", "0::/unit/main", "unit/main"},
		"nothing was delegated":              {"", "memory pids", "memory pids", "0::/unit/main", ""},
		"two folders above":                  {"unit", "memory pids", "memory pids", "0::/unit/main/deep", ""},
		"no controller of memory":            {"unit", "pids", "pids", "0::/unit/main", ""},
		"version 1 alone":                    {"unit", "memory pids", "memory pids", "4:memory:/unit/main", ""},
		"version 2 next to version 1":        {"unit", "memory pids", "memory pids", "4:memory:/x\n0::/unit/main", "unit"},
		"the root of all groups":             {"", "memory pids", "memory pids", "0::/", ""},
		"a path that leads out of the mount": {"", "memory pids", "memory pids", "0::/../../main", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			for _, dir := range []string{"", "unit", "unit/main", "unit/main/deep"} {
				cgroupFolder(t, filepath.Join(root, dir), c.controllers, c.enabled)
			}
			if c.marked != "" {
				mark(t, filepath.Join(root, c.marked))
			}
			want := ""
			if c.want != "" {
				want = filepath.Join(root, c.want)
			}
			if got := delegated(root, c.self); got != want {
				t.Errorf("%q, want %q", got, want)
			}
			if name == "controllers are turned on there" {
				if text, err := os.ReadFile(filepath.Join(root, "unit", "cgroup.subtree_control")); err != nil || string(text) != "+memory +pids" {
					t.Errorf("%q %v", text, err)
				}
			}
		})
	}
}

// Each process is in a group of its own before it starts, with its limits, and the group is
// ended when the process has.
func TestAProcessHasAControlGroup(t *testing.T) {
	t.Parallel()
	for _, level := range []toolset.Level{toolset.LevelFull, toolset.LevelReduced, toolset.LevelNone} {
		root := t.TempDir()
		l := New(Options{Cgroups: root, KeeperEnv: []string{"GORACE=" + strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0")}})
		p := toolset.Policy{Least: level, Most: level, Limits: toolset.Limits{Memory: 100 << 20, Processes: 7, FreeDisk: toolset.NoLimit}}
		proc, err := l.start(t.Context(), p, toolset.Command{Args: []string{"cat"}})
		if err != nil {
			if r, _ := l.Report(context.WithoutCancel(t.Context())); r.Level < level {
				needtest.Lacking(t, r.String())
			}
			t.Fatal(err)
		}
		groups, err := filepath.Glob(filepath.Join(root, groupName+"*"))
		if err != nil || len(groups) != 1 {
			t.Fatalf("%v: the groups are %q, %v", level, groups, err)
		}
		for file, want := range map[string]string{
			"memory.max": fmt.Sprint(100<<20 + groupRoom), "pids.max": fmt.Sprint(7 + groupSlack), "memory.swap.max": "0", "cgroup.procs": fmt.Sprint(proc.cmd.Process.Pid),
		} {
			if got, err := os.ReadFile(filepath.Join(groups[0], file)); err != nil || string(got) != want {
				t.Errorf("%v: %s is %q, want %s; %v", level, file, got, want, err)
			}
		}
		// What the kernel notes when it has ended a process of a group for its memory.
		if err := os.WriteFile(filepath.Join(groups[0], "memory.events"), []byte("low 0\noom 1\noom_kill 1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		proc.Kill()
		<-proc.buried
		if got, err := os.ReadFile(filepath.Join(groups[0], "cgroup.kill")); err != nil || string(got) != "1" {
			t.Errorf("%v: the group was not ended: %q %v", level, got, err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A process that the kernel has ended for its group's memory has gone over its limit; one
// that ended well has not.
func TestTheKernelsLimitIsReported(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]toolset.Cause{"kill -9 $$": toolset.MemoryOver, "exit 137": toolset.MemoryOver, "exit 0": toolset.Exited} {
		root := t.TempDir()
		l := New(Options{Cgroups: root, KeeperEnv: []string{"GORACE=" + strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0")}})
		proc, err := l.start(t.Context(), toolset.Policy{Least: toolset.LevelNone, Limits: toolset.Limits{FreeDisk: toolset.NoLimit}}, toolset.Command{Args: []string{"sh", "-c", "read x; " + command}})
		if err != nil {
			t.Fatal(err)
		}
		groups, err := filepath.Glob(filepath.Join(root, groupName+"*"))
		if err != nil || len(groups) != 1 {
			t.Fatal(groups, err)
		}
		if err := os.WriteFile(filepath.Join(groups[0], "memory.events"), []byte("oom_kill 1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := proc.Stdin().Write([]byte("\n")); err != nil {
			t.Error(err)
		}
		exit, err := proc.Wait(t.Context())
		if err != nil || exit.Cause != want {
			t.Errorf("%s: %+v %v", command, exit, err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Where a group cannot be made, the process runs without one.
func TestWithoutAControlGroupAProcessRuns(t *testing.T) {
	t.Parallel()
	l := New(Options{Cgroups: filepath.Join(t.TempDir(), "none"), KeeperEnv: []string{"GORACE=" + strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0")}})
	ran, err := l.Run(t.Context(), toolset.Policy{Least: toolset.LevelNone, Limits: toolset.Limits{FreeDisk: toolset.NoLimit}}, toolset.Command{Args: []string{"echo", "runs"}})
	if err != nil || ran.Stdout.String() != "runs\n" {
		t.Errorf("%+v %v", ran, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
