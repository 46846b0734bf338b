package mounts

import (
	"bytes"
	"os"
	"strings"
)

// Below returns the mount points below a folder, whose path is absolute and has no links.
// It returns none if the system has no list of them.
func Below(dir string) []string {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	return below(table, dir)
}

func below(table []byte, dir string) (points []string) {
	under := strings.TrimSuffix(dir, "/") + "/"
	for line := range bytes.Lines(table) {
		fields := strings.Fields(string(line))
		if len(fields) < 5 {
			continue
		}
		if at := unescape(fields[4]); strings.HasPrefix(at, under) {
			points = append(points, at)
		}
	}
	return points
}

// unescape reads a path of mountinfo, in which blanks and backslashes are octal numbers.
func unescape(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}
