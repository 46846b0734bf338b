package mounts

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Mount is one line of the system's list. If several are mounted on one path, or another one
// hides the path, only the one that [Of] returns for the path is visible.
type Mount struct {
	ID       int    // as Of returns it
	At       string // the mount point, an absolute path
	ReadOnly bool
}

// Below returns what is mounted below a folder, whose path is absolute and has no links.
// It returns nothing if the system has no list of mounts.
func Below(dir string) []Mount {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	return below(table, dir)
}

// Of returns the id of the mount that an open file is in, and false if the system does not
// report it.
func Of(fd int) (id int, ok bool) {
	info, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(fd))
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(info) {
		if text, found := strings.CutPrefix(string(line), "mnt_id:"); found {
			id, err = strconv.Atoi(strings.TrimSpace(text))
			return id, err == nil
		}
	}
	return 0, false
}

func below(table []byte, dir string) (points []Mount) {
	under := strings.TrimSuffix(dir, "/") + "/"
	for line := range bytes.Lines(table) {
		fields := strings.Fields(string(line))
		if len(fields) < 6 {
			continue
		}
		at := unescape(fields[4])
		id, err := strconv.Atoi(fields[0])
		if err != nil || !strings.HasPrefix(at, under) {
			continue
		}
		// The last field has the options of the file system, the sixth those of this mount.
		points = append(points, Mount{ID: id, At: at, ReadOnly: readOnly(fields[5]) || readOnly(fields[len(fields)-1])})
	}
	return points
}

// readOnly reports whether a list of options has "ro".
func readOnly(options string) bool {
	return slices.Contains(strings.Split(options, ","), "ro")
}

// unescape reads a path of mountinfo, in which blanks and backslashes are octal numbers.
func unescape(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}
