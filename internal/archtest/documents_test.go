package archtest

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// documents are the files whose words about the tree are compared with it: those at the top,
// and every page of docs.
func documents(t *testing.T) []string {
	t.Helper()
	names := []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md"}
	for _, name := range trackedFiles(t) {
		if strings.HasPrefix(name, "docs/") && strings.HasSuffix(name, ".md") {
			names = append(names, name)
		}
	}
	return names
}

// topLevelNames are the first steps of a path of ours. A word in backticks that
// begins with another one is no path (a model's name, a media type).
func topLevelNames() []string {
	return []string{"commands", "server", "engine", "toolset", "cas", "internal", "testdata", ".ci", ".github"}
}

// checkPaths wants every path of the tree that a document names in backticks,
// and every relative link, to be there. The name of a Go file without a folder is in the
// folder of the path before it in the same paragraph or list item.
func checkPaths(name, text string, tree fs.FS) []string {
	var out []string
	folder := ""
	begins := regexp.MustCompile(`^\s*(- |\d+\. |\||$)`)
	for i, line := range proseLines(text) {
		if begins.MatchString(line) {
			folder = ""
		}
		for _, word := range ticked(line) {
			p, ok := pathOfOurs(word)
			switch {
			case ok && !there(tree, p):
				out = append(out, fmt.Sprintf("%s:%d: `%s` is not in the tree", name, i+1, word))
			case ok && path.Ext(p) == "":
				folder = p
			case ok:
				folder = path.Dir(p)
			case goFile.MatchString(word) && word != "doc.go" && !there(tree, path.Join(folder, word)):
				out = append(out, fmt.Sprintf("%s:%d: `%s` is not in the folder %q; name its own", name, i+1, word, folder))
			}
		}
		for _, m := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(line, -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if target != "" && !strings.Contains(target, ":") && !there(tree, path.Join(path.Dir(name), target)) {
				out = append(out, fmt.Sprintf("%s:%d: the link to %s leads nowhere", name, i+1, m[1]))
			}
		}
	}
	return out
}

// goFile is the name of a Go file without a folder. doc.go is in each package.
var goFile = regexp.MustCompile(`^\w+\.go$`)

// proseLines gives the lines with those of fenced blocks made empty.
func proseLines(text string) []string {
	lines := strings.Split(text, "\n")
	fenced := false
	for i, line := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence {
			fenced = !fenced
		}
		if fence || fenced {
			lines[i] = ""
		}
	}
	return lines
}

// ticked gives what stands in single backticks.
func ticked(line string) []string {
	var out []string
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(line, -1) {
		out = append(out, m[1])
	}
	return out
}

// pathOfOurs tells a path of the tree from other words with slashes.
func pathOfOurs(word string) (string, bool) {
	word = strings.TrimPrefix(word, "./")
	first, rest, ok := strings.Cut(word, "/")
	if !ok || !slices.Contains(topLevelNames(), first) || strings.ContainsAny(word, " <>…$") {
		return "", false
	}
	if rest == "" || rest == "..." || rest == "**" {
		return first, true
	}
	word = strings.TrimSuffix(strings.TrimSuffix(word, "/..."), "/**")
	return strings.TrimSuffix(word, "/"), true
}

// there tells whether a path, or something that its wildcards allow, exists.
// A path may end in a name of Go, as in engine/event.Event.
func there(tree fs.FS, p string) bool {
	found, err := fs.Glob(tree, p)
	if err != nil {
		return false
	}
	if len(found) > 0 {
		return true
	}
	if i := strings.LastIndex(p, "."); i > 0 && regexp.MustCompile(`^[A-Z]\w*$`).MatchString(p[i+1:]) {
		return there(tree, p[:i])
	}
	return false
}

// checkCommands wants the two blocks of the README that CI runs: what to try
// first, and how to test. .ci/run finds them as the first below their headings.
func checkCommands(readme string) []string {
	var out []string
	for heading, want := range map[string]string{"Try it": "go run . demo", "Test": "go test ./..."} {
		_, below, ok := strings.Cut("\n"+readme, "\n## "+heading+"\n")
		section, _, _ := strings.Cut(below, "\n## ")
		_, after, found := strings.Cut(section, "\n```sh\n")
		if !ok || !found || strings.Contains(section[:len(section)-len(after)-len("```sh\n")], "```") {
			out = append(out, fmt.Sprintf("README.md: the first block below ## %s isn't one of sh commands; .ci/run runs it", heading))
			continue
		}
		block, _, _ := strings.Cut(after, "```")
		if strings.TrimSpace(block) != want {
			out = append(out, fmt.Sprintf("README.md: the block below ## %s is %q, want %q", heading, strings.TrimSpace(block), want))
		}
	}
	return out
}

// checkText looks for what has no place in any file: a machine's own paths,
// and characters that make text read otherwise than it is.
func checkText(name string, data []byte) []string {
	var out []string
	// The names are put together here so that this file is no finding.
	machine := regexp.MustCompile(`(^|[^\pL\pN_.~/-])/(` + "wo" + "rk|ro" + `ot)/`)
	bidi := regexp.MustCompile(`[\x{202A}-\x{202E}\x{2066}-\x{2069}]`)
	for i, line := range strings.Split(string(data), "\n") {
		if m := machine.FindString(line); m != "" {
			out = append(out, fmt.Sprintf("%s:%d: a path of one machine: %s", name, i+1, strings.TrimSpace(m)))
		}
		if bidi.MatchString(line) {
			out = append(out, fmt.Sprintf("%s:%d: a character that changes the direction of text; write it as an escape", name, i+1))
		}
	}
	return out
}

// checkNotes wants a number behind a note that something is left to do.
func checkNotes(t tree) []string {
	var out []string
	note := regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)
	numbered := regexp.MustCompile(`\b(TODO|FIXME)\(?#\d+`)
	for _, f := range t {
		for _, group := range f.ast.Comments {
			for _, c := range group.List {
				if note.MatchString(c.Text) && !numbered.MatchString(c.Text) {
					out = append(out, fmt.Sprintf("%s: %s without the number of an issue", f.at(c), note.FindString(c.Text)))
				}
			}
		}
	}
	return out
}

// trackedFiles asks git for the files of the project, new ones included; where
// there is no git, or no repository, it is all files but those that are built.
func trackedFiles(t *testing.T) []string {
	t.Helper()
	dir := root(t)
	if _, err := exec.LookPath("git"); err == nil {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			out := run(t, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
			return strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
		}
	}
	var files []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (name == ".git" || name == "dist") {
			return fs.SkipDir
		}
		if err == nil && d.Type().IsRegular() && name != "fettle" {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestDocumentsNameWhatIsThere(t *testing.T) {
	t.Parallel()
	dir := root(t)
	for _, name := range documents(t) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Errorf("read document: %v", err)
			continue
		}
		report(t, checkPaths(name, string(data), os.DirFS(dir)))
		if name == "README.md" {
			report(t, checkCommands(string(data)))
		}
	}
}

func TestNotesHaveNumbers(t *testing.T) {
	t.Parallel()
	report(t, checkNotes(project(t)))
}

func TestNoMachineInTheText(t *testing.T) {
	t.Parallel()
	dir := root(t)
	read := 0
	for _, name := range trackedFiles(t) {
		info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil || !info.Mode().IsRegular() {
			continue // deleted and not committed yet, or a link
		}
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 {
			continue // not text
		}
		read++
		report(t, checkText(name, data))
	}
	if read < 10 {
		t.Errorf("only %d files were read", read)
	}
}

func TestCheckPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, p := range []string{"engine/event", "cas"} {
		if err := os.MkdirAll(filepath.Join(dir, p), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{"engine/turn.go", "NOTES.md"} {
		if err := os.WriteFile(filepath.Join(dir, p), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := strings.Join([]string{
		"`engine/turn.go`, `engine/event/`, `engine/event.Event`, `engine/*.go`, `./engine/...`, `cas/`",
		"`ollama/qwen3`, `text/plain`, `fettle chat`, `engine/<name>/doc.go`, [notes](NOTES.md#top), [web](https://example.com/x)",
		"`engine/gone.go` and `cas/castest/`",
		"`engine/gone.Name` and [gone](docs/gone.md)",
		"```", "`engine/fenced.go`", "```",
		"`server/...`",
		"- `engine/event/` and `engine/turn.go`, with `turn.go` and `gone.go`,",
		"  which `doc.go` describes", "- `turn.go`",
	}, "\n")
	wantComplaints(t, checkPaths("A.md", text, os.DirFS(dir)),
		"^A.md:3: `engine/gone.go`", "^A.md:3: `cas/castest/`", "^A.md:4: `engine/gone.Name`", `^A.md:4: the link to docs/gone.md`, "^A.md:8: `server/...`",
		`^A.md:9: .gone.go. is not in the folder "engine"`, `^A.md:11: .turn.go. is not in the folder ""`)
}

func TestCheckCommands(t *testing.T) {
	t.Parallel()
	good := "# x\n```sh\nnot this\n```\n## Try it\ntext\n\n```sh\ngo run . demo\n```\n```sh\nmore\n```\n## Test\n\n```sh\ngo test ./...\n```\n"
	wantComplaints(t, checkCommands(good))
	for from, c := range map[string]struct{ to, want string }{
		"## Try it":     {"## Start", `^README.md: the first block below ## Try it isn't`},
		"go test ./...": {"go test ./engine", `below ## Test is "go test ./engine", want`},
		"sh\ngo run":    {"console\ngo run", `first block below ## Try it isn't`},
		"\ngo run . d":  {"\ngo mod tidy\ngo run . d", `below ## Try it is "go mod tidy\\ngo run`},
	} {
		wantComplaints(t, checkCommands(strings.Replace(good, from, c.to, 1)), c.want)
	}
}

func TestCheckText(t *testing.T) {
	t.Parallel()
	here, home := "/wo"+"rk/", "/ro"+"ot/"
	text := "see " + here + "main\n\"" + home + "go\"\n" + "https://example.com" + here + "x\n./a" + home + "b\nframe" + here + "\n" + here + "\n\u202eabc\n"
	wantComplaints(t, checkText("a.txt", []byte(text)), `^a.txt:1: a path`, `^a.txt:2: a path`, `^a.txt:6: a path`, `^a.txt:7: a character`)
}

func TestCheckNotes(t *testing.T) {
	t.Parallel()
	made := madeUp(t, map[string]string{"a/a.go": "package a\n\n// TODO: later\nvar x = 1 // TODO(#12): with its number\n\n// HACK\n"})
	wantComplaints(t, checkNotes(made), `^a/a.go:3: TODO`, `^a/a.go:6: HACK`)
}
