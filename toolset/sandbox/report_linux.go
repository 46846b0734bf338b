package sandbox

import (
	"os"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox/keeper"
)

// word words what was found out.
func (l *Launcher) word(seen keeper.Facts) Report {
	r := Report{Level: l.best(toolset.LevelFull)}
	full := l.lacked(toolset.LevelFull)
	switch {
	case full == nil:
		r.Layers = append(r.Layers, "user namespaces")
	case full.Step == "make namespaces":
		r.Layers = append(r.Layers, "no user namespaces ("+full.Text+")")
	case full.Step == "seccomp":
	default:
		r.Layers = append(r.Layers, "no usable user namespaces ("+full.Error()+")")
	}
	version := keeper.LandlockVersion()
	switch {
	case version == 0:
		r.Layers = append(r.Layers, "no Landlock")
	case version < keeper.LeastLandlock && r.Level < toolset.LevelFull:
		r.Layers = append(r.Layers, "no sufficient Landlock (version "+strconv.Itoa(version)+", "+strconv.Itoa(keeper.LeastLandlock)+" is needed)")
	default:
		r.Layers = append(r.Layers, "Landlock "+strconv.Itoa(version))
	}
	if keeper.HasSeccomp() {
		r.Layers = append(r.Layers, "seccomp")
	} else {
		r.Layers = append(r.Layers, "no seccomp")
	}
	r.Gaps = gaps(r.Level, version, seen)
	if r.Level < toolset.LevelFull {
		r.Fix = namespaceFix(os.ReadFile)
	}
	return r
}

// gaps are what stays open at a level.
func gaps(level toolset.Level, landlock int, seen keeper.Facts) []string {
	switch level {
	case toolset.LevelFull:
		var out []string
		if seen.SharedProc {
			out = append(out, "tools can see which other programs run")
		}
		return append(out, gapsOfLimits...)
	case toolset.LevelReduced:
		out := []string{
			"tools can see that files exist and change permissions of your files outside the workspace",
			"tools can see which other programs run",
			"tools have the network whole or not at all",
			"tools can change the .git of your own folder; what git runs of it is restored after each call",
		}
		if landlock < keeper.SignalLandlock {
			out = append(out, "tools can send signals to your other programs, and so outlive their call")
		}
		return append(out, gapsOfLimits...)
	}
	return []string{
		"tools can reach all that you can, your other programs included; what doesn't resist ends with its call",
		"nothing keeps tools from fettle's own data, configuration and keys",
	}
}

// gapsOfLimits are open at each level that contains tools.
var gapsOfLimits = []string{
	"a repository that a tool adds deeper in your own folder is there until its call ends",
	"memory that processes share and files in the workspace are counted ten times a second, so that more can be used for that long",
}

// namespaceFix names the setting that forbids user namespaces.
func namespaceFix(read func(string) ([]byte, error)) string {
	for _, setting := range []struct{ path, forbids, fix string }{
		{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
			"sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0   or an AppArmor profile for fettle that has: userns,"},
		{"/proc/sys/user/max_user_namespaces", "0", "sudo sysctl user.max_user_namespaces=15000"},
		{"/proc/sys/kernel/unprivileged_userns_clone", "0", "sudo sysctl kernel.unprivileged_userns_clone=1"},
	} {
		text, err := read(setting.path)
		if err == nil && strings.TrimSpace(string(text)) == setting.forbids {
			return setting.fix
		}
	}
	return "a container has to be started so that it allows them, as by docker run --security-opt seccomp=unconfined"
}
