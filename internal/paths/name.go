package paths

import (
	"path"
	"strings"
)

// The functions here do what path/filepath does, but for System.OS instead of
// the system that the program was built for: the places of all three systems
// can be computed, and tested, on each.

func (s System) join(elem ...string) string {
	if !s.windows() {
		return path.Join(elem...)
	}
	for i, e := range elem {
		elem[i] = strings.ReplaceAll(e, `\`, "/")
	}
	volume, rest := splitVolume(elem[0])
	elem[0] = rest
	return volume + strings.ReplaceAll(path.Join(elem...), "/", `\`)
}

func (s System) dir(name string) string { return s.join(name, "..") }

func (s System) isAbs(name string) bool {
	if !s.windows() {
		return path.IsAbs(name)
	}
	volume, rest := splitVolume(strings.ReplaceAll(name, `\`, "/"))
	return volume != "" && strings.HasPrefix(rest, "/")
}

// splitVolume cuts off a drive (C:) or a share (//server/share) from a name
// with forward slashes; the volume comes back with backslashes.
func splitVolume(name string) (volume, rest string) {
	if len(name) >= 2 && name[1] == ':' {
		return name[:2], name[2:]
	}
	if !strings.HasPrefix(name, "//") {
		return "", name
	}
	server, tail, ok := strings.Cut(name[2:], "/")
	if !ok || server == "" {
		return "", name
	}
	share, _, _ := strings.Cut(tail, "/")
	if share == "" {
		return "", name
	}
	n := len("//") + len(server) + len("/") + len(share)
	return strings.ReplaceAll(name[:n], "/", `\`), name[n:]
}
