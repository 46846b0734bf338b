package sandbox

import (
	"os"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox/supervisor"
)

// word words what was found out.
func (l *Launcher) word(seen supervisor.Facts) Report {
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
	version := supervisor.LandlockVersion()
	switch {
	case version == 0:
		r.Layers = append(r.Layers, "no Landlock")
	case version < supervisor.LeastLandlock && r.Level < toolset.LevelFull:
		r.Layers = append(r.Layers, "no sufficient Landlock (version "+strconv.Itoa(version)+", "+strconv.Itoa(supervisor.LeastLandlock)+" is needed)")
	default:
		r.Layers = append(r.Layers, "Landlock "+strconv.Itoa(version))
	}
	if supervisor.HasSeccomp() {
		r.Layers = append(r.Layers, "seccomp")
	} else {
		r.Layers = append(r.Layers, "no seccomp")
	}
	if l.cgroups.folder() != "" && r.Level > toolset.LevelNone {
		r.Layers = append(r.Layers, "control groups")
	}
	r.Gaps = gaps(r.Level, machineFacts{landlock: version, sharedProc: seen.SharedProc, groups: l.cgroups.folder() != ""})
	if r.Level < toolset.LevelFull {
		r.Fix = namespaceFix(os.ReadFile)
	}
	return r
}

// machineFacts are what of a machine decides about the gaps of a level.
type machineFacts struct {
	landlock           int
	sharedProc, groups bool
}

// gaps returns what stays open at a level. The section Gaps of this package's comment
// lists every one of them, and a test compares the two.
func gaps(level toolset.Level, m machineFacts) []string {
	var out []string
	add := func(open bool, gap string) {
		if open {
			out = append(out, gap)
		}
	}
	reduced := level == toolset.LevelReduced
	if level < toolset.LevelReduced {
		return []string{
			"tools can reach all that you can, your other programs included; what doesn't resist ends with its call",
			"nothing keeps tools from fettle's own data, configuration and keys",
			"a tool can set the set-user-id bit of files where the kernel has no seccomp",
		}
	}
	add(reduced, "tools can see that files exist and change permissions of your files outside the workspace")
	add(reduced || m.sharedProc, "tools can see which other programs run")
	add(reduced, "tools have the network whole or not at all")
	add(reduced, "tools can change the .git of your own folder; what git runs of it is restored after each call")
	add(reduced, "a .git that a tool removes or moves as a whole is reported and not restored")
	add(reduced && m.landlock < supervisor.SignalLandlock, "tools can send signals to your other programs, and so outlive their call")
	add(true, "a repository that a tool adds deeper in your own folder is there until its call ends")
	add(!m.groups, "memory that processes share is counted ten times a second, so that more can be used for that long")
	add(true, "files in the workspace are counted ten times a second, so that more can be written for that long")
	return out
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
