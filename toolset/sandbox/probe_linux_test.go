package sandbox_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// needed are the attempts of probe.py that have to succeed.
func needed() []string {
	return []string{
		"write ws", "read toolset", "socketpair", "threads", "subprocess", "shell pipe", "process substitution", "tempfile",
		"run a file of /tmp", "sqlite in ws", "rename in ws", "random", "user's name", "own process", "standard error by name",
		"asyncio", "multiprocessing queue",
	}
}

// openAtReduced are the gaps that the level is known for.
func openAtReduced() []string {
	return []string{"stat ssh key", "chmod ssh key", "utime outside", "setxattr outside"}
}

func TestProbes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "probe.py"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		level    toolset.Level
		landlock bool
	}{
		{"full", toolset.LevelFull, true}, {"reduced", toolset.LevelReduced, true},
		// The walls of full stand by themselves, Landlock is beside them.
		{"full without Landlock", toolset.LevelFull, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			needLevel(t, c.level)
			base, args := probeWorld(t)
			script := filepath.Join(base, "toolset", "probe.py")
			if err := os.WriteFile(script, text, 0o644); err != nil {
				t.Fatal(err)
			}
			command := []string{python(t), "-I", "-B", script, args}
			var out []byte
			if c.landlock {
				ran := run(t, newLauncher(t, sandbox.Options{}), probePolicy(base, c.level), toolset.Command{Args: command})
				out = ran.Stdout.Head
			} else if out, err = again(t, "without Landlock", append([]string{base}, command...)...).Output(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			checkProbe(t, out, c.level)
			checkOutside(t, base, c.level)
		})
	}
}

func probePolicy(base string, level toolset.Level) toolset.Policy {
	return toolset.Policy{
		Workspace: filepath.Join(base, "ws"), Readable: []string{filepath.Join(base, "toolset")},
		Least: level, Most: level, Limits: toolset.Limits{FreeDisk: toolset.NoLimit},
	}
}

// checkProbe holds what the probe printed against what a level promises.
func checkProbe(t *testing.T, out []byte, level toolset.Level) {
	t.Helper()
	got := map[string]string{}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if len(got) < 90 {
		t.Errorf("%d attempts were made", len(got))
	}
	open := needed()
	if level == toolset.LevelReduced {
		open = slices.DeleteFunc(open, func(n string) bool { return n == "multiprocessing queue" }) // there is no /dev/shm
		open = append(open, openAtReduced()...)
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if want := slices.Contains(open, name); want != (got[name] == "OPEN") {
			t.Errorf("%s: %s", name, got[name])
		}
	}
	for _, name := range needed() {
		if _, ok := got[name]; !ok {
			t.Errorf("%s wasn't tried", name)
		}
	}
}

// checkOutside looks at what was attacked from outside.
func checkOutside(t *testing.T, base string, level toolset.Level) {
	t.Helper()
	for _, file := range []string{"home/.ssh/id_rsa", "toolset/t.py", "outside/f", "outside/gone"} {
		data, err := os.ReadFile(filepath.Join(base, file))
		if err != nil || string(data) != "secret" {
			t.Errorf("%s holds %q: %v", file, data, err)
		}
		if info, err := os.Stat(filepath.Join(base, file)); err == nil && level == toolset.LevelFull && info.Mode() != 0o600 {
			t.Errorf("%s has mode %v", file, info.Mode())
		}
	}
	entries, err := os.ReadDir(filepath.Join(base, "outside"))
	if err != nil || len(entries) != 2 {
		t.Errorf("outside: %v %v", entries, err)
	}
}

func TestReportNamesTheGaps(t *testing.T) {
	t.Parallel()
	r := machine()
	t.Logf("%s\n%s\n%s", r, strings.Join(r.Gaps, "\n"), r.Fix)
	if (r.Level == toolset.LevelFull) != (r.Fix == "") {
		t.Errorf("%v: fix %q", r.Level, r.Fix)
	}
	if gaps := strings.Join(r.Gaps, "\n"); r.Level > toolset.LevelNone && !(strings.Contains(gaps, "repository") && strings.Contains(gaps, "memory")) {
		t.Errorf("%v: the gaps are %q", r.Level, r.Gaps)
	}
}
