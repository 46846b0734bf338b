package mcp

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// shims finds the programs that the shims of version managers start.
type shims struct {
	// value returns a variable of the user's environment; empty if it is not set.
	value func(name string) string
	// folder is the workspace, whose files may choose a version; empty if there is none.
	folder string
}

// program returns the program that a version manager's shim starts. A shim runs the manager,
// which reads its own tree and settings; a sandbox has neither. A program that is not a
// shim, or whose version is not installed, is returned as it is.
func (s shims) program(path string) string {
	dir, name := filepath.Dir(path), filepath.Base(path)
	root := filepath.Dir(dir)
	home, _ := os.UserHomeDir() // without one it has no settings
	switch {
	case filepath.Base(dir) == "shims" && isDir(filepath.Join(root, "versions")): // pyenv, rbenv, nodenv
		wanted := s.wantedOf(root)
		if len(wanted) > 0 && wanted[0] == "system" {
			return s.besides(dir, name, path)
		}
		return installed([]string{filepath.Join(root, "versions")}, name, wanted, path)
	case filepath.Base(dir) == "shims" && isDir(filepath.Join(root, "installs")): // asdf, mise
		trees, err := filepath.Glob(filepath.Join(root, "installs", "*"))
		if err != nil {
			return path
		}
		return installed(trees, name, s.wantedTools(home, trees), path)
	case filepath.Base(dir) == "bin" && isDir(filepath.Join(root, "tools", "image")): // volta
		var platform struct {
			Node struct {
				Runtime string `json:"runtime"`
			} `json:"node"`
		}
		_ = json.Unmarshal([]byte(textOf(filepath.Join(root, "tools", "user", "platform.json"))), &platform)
		return installed([]string{filepath.Join(root, "tools", "image", "node")}, name, []string{platform.Node.Runtime}, path)
	}
	return path
}

// wantedOf returns the versions that a manager of one language would try: those of its
// variable, else of the file in the workspace or above it, else of the user's setting.
func (s shims) wantedOf(root string) []string {
	manager := strings.TrimPrefix(filepath.Base(root), ".")
	if set := s.value(strings.ToUpper(manager) + "_VERSION"); set != "" {
		return strings.FieldsFunc(set, func(r rune) bool { return r == ':' || r == ' ' })
	}
	file := ".python-version"
	switch manager {
	case "rbenv":
		file = ".ruby-version"
	case "nodenv":
		file = ".node-version"
	}
	for _, path := range append(s.above(file), filepath.Join(root, "version")) {
		if wanted := versionsIn(textOf(path)); len(wanted) > 0 {
			return wanted
		}
	}
	return nil
}

// versionsIn returns the versions that a file names, without its comments.
func versionsIn(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		out = append(out, strings.Fields(line)...)
	}
	return out
}

// above returns the paths of a file in the workspace and the folders above it, the nearest
// first.
func (s shims) above(file string) []string {
	var out []string
	for dir := s.folder; dir != "" && dir != "."; dir = filepath.Dir(dir) {
		out = append(out, filepath.Join(dir, file))
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return out
}

// besides returns the program of a name that the user's PATH has in another folder; without
// one it returns otherwise.
func (s shims) besides(dir, name, otherwise string) string {
	for _, folder := range filepath.SplitList(s.value("PATH")) {
		path := filepath.Join(folder, name)
		if folder == dir || !filepath.IsAbs(folder) {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return otherwise
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// textOf returns a small file of settings; empty where it cannot be read.
func textOf(path string) string {
	info, err := os.Stat(path)
	if err != nil || info.Size() > 1<<20 {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(text)
}

// wantedTools returns the versions that variables, the files in the workspace and above it,
// and the user's settings of asdf and mise name for the tools of some trees.
func (s shims) wantedTools(home string, trees []string) []string {
	tools := map[string]bool{}
	for _, tree := range trees {
		tools[filepath.Base(tree)] = true
	}
	tools["nodejs"] = tools["nodejs"] || tools["node"] // what asdf calls it
	var out []string
	for _, tree := range trees {
		tool := strings.ToUpper(strings.ReplaceAll(filepath.Base(tree), "-", "_"))
		out = append(out, strings.Fields(s.value("ASDF_"+tool+"_VERSION")+" "+s.value("MISE_"+tool+"_VERSION"))...)
	}
	var files []string
	for _, path := range s.above(".tool-versions") {
		files = append(files, textOf(path))
	}
	if tools["python"] {
		for _, path := range s.above(".python-version") {
			for _, v := range versionsIn(textOf(path)) {
				files = append(files, "python "+v)
			}
		}
	}
	files = append(files, textOf(filepath.Join(home, ".config", "mise", "config.toml")), textOf(filepath.Join(home, ".tool-versions")))
	for line := range strings.Lines(strings.Join(files, "\n")) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n=\"'[],", r) })
		if len(fields) > 1 && tools[fields[0]] {
			out = append(out, fields[1:]...)
		}
	}
	return out
}

// installed returns the program of a name in trees with a folder for each version: of the
// first of the wanted versions that has it, else of the newest. Without one it returns
// otherwise.
func installed(trees []string, name string, wanted []string, otherwise string) string {
	var found []string
	for _, tree := range trees {
		versions, err := os.ReadDir(tree)
		if err != nil {
			continue
		}
		for _, v := range versions {
			path := filepath.Join(tree, v.Name(), "bin", name)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				found = append(found, path)
			}
		}
	}
	version := func(path string) string { return filepath.Base(filepath.Dir(filepath.Dir(path))) }
	slices.SortStableFunc(found, func(a, b string) int { return -compareVersions(version(a), version(b)) })
	for _, w := range wanted {
		w = strings.TrimPrefix(w, "v")
		i := slices.IndexFunc(found, func(path string) bool {
			v := strings.TrimPrefix(version(path), "v")
			return w != "" && (v == w || strings.HasPrefix(v, w+"."))
		})
		if i >= 0 {
			return found[i]
		}
	}
	if len(found) > 0 {
		return found[0]
	}
	return otherwise
}

// compareVersions compares dotted numbers; a name that does not begin with a number is less.
func compareVersions(a, b string) int {
	left, right := strings.Split(strings.TrimPrefix(a, "v"), "."), strings.Split(strings.TrimPrefix(b, "v"), ".")
	for i := range max(len(left), len(right)) {
		if c := cmp.Compare(numberAt(left, i), numberAt(right, i)); c != 0 {
			return c
		}
	}
	return strings.Compare(a, b)
}

func numberAt(parts []string, i int) int {
	if i >= len(parts) {
		return -1
	}
	n, err := strconv.Atoi(parts[i])
	if err != nil {
		return -1
	}
	return n
}

// linksTo returns the symbolic links on the path to a file, each by the real name of
// its folder: a sandbox shows what is granted by its real name, and a program may need
// the name that it is called by, as a Python of a virtual environment does.
func linksTo(path string) []string {
	var out []string
	rest := strings.Split(filepath.Clean(path), string(filepath.Separator))
	at := filepath.VolumeName(path) + string(filepath.Separator)
	for len(rest) > 0 && len(out) < 40 { // as many as the kernel follows
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		target, err := os.Readlink(next)
		if err != nil {
			at = next
			continue
		}
		out = append(out, next)
		if filepath.IsAbs(target) {
			at = filepath.VolumeName(target) + string(filepath.Separator)
		}
		rest = append(strings.Split(target, string(filepath.Separator)), rest...)
	}
	return out
}
