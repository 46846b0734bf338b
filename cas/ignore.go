package cas

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

const (
	// ignoreFile holds a person's own rules, at the root of a bound folder.
	ignoreFile = ".fettleignore"
	// maxIgnore bounds that file. It is content from the folder, so it is
	// hostile: each line is matched against each path.
	maxIgnore = 64 << 10
)

// What Omitted entries say.
const (
	omitGit    = ".git is left to git"
	omitIgnore = "named in .fettleignore"
	omitNode   = "node_modules beside package.json can be installed again"
	omitVenv   = "a virtual environment can be made again"
	omitCache  = "a cache that says so by its CACHEDIR.TAG"
	omitTarget = "target beside Cargo.toml can be built again"
)

// rules say what of a bound folder is left out. A managed folder has none:
// everything in it is content.
type rules struct {
	lines []pattern
}

// pattern is one line of an ignore file, in git's syntax.
type pattern struct {
	segs   []string // between slashes; "**" stands for any number of them
	keep   bool     // "!": what it matches is not left out
	folder bool     // only folders match
}

// readRules reads the rules of a workspace; nil is a managed one's.
func readRules(t *tree, bound bool) (*rules, error) {
	if !bound {
		return nil, nil
	}
	d, err := t.dir("")
	if err != nil {
		return nil, err
	}
	defer d.close()
	st, err := d.lstat(ignoreFile)
	if gone(err) {
		return new(rules), nil
	}
	if err != nil {
		return nil, err
	}
	if st.form != regular || st.size > maxIgnore {
		return nil, fmt.Errorf("read %s: want a file of at most %s", ignoreFile, sizeText(maxIgnore))
	}
	f, err := d.open(ignoreFile)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxIgnore))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", ignoreFile, err)
	}
	return parseRules(string(text)), nil
}

// parseRules takes what it can read; a line that is no pattern matches nothing.
func parseRules(text string) *rules {
	r := new(rules)
	for line := range strings.SplitSeq(text, "\n") {
		if p, ok := parsePattern(strings.TrimSuffix(line, "\r")); ok {
			r.lines = append(r.lines, p)
		}
	}
	return r
}

func parsePattern(line string) (p pattern, ok bool) {
	line = trimSpaces(line)
	if line == "" || line[0] == '#' {
		return p, false
	}
	if line[0] == '!' {
		p.keep, line = true, line[1:]
	}
	p.folder = strings.HasSuffix(line, "/")
	line = strings.TrimSuffix(line, "/")
	anchored := strings.Contains(line, "/")
	line = strings.ReplaceAll(strings.TrimPrefix(line, "/"), "[!", "[^")
	if line == "" {
		return p, false
	}
	if !anchored {
		p.segs = append(p.segs, "**")
	}
	for seg := range strings.SplitSeq(line, "/") {
		if seg == "" || (seg == "**" && len(p.segs) > 0 && p.segs[len(p.segs)-1] == "**") {
			continue
		}
		if _, err := path.Match(seg, "x"); err != nil {
			return p, false
		}
		p.segs = append(p.segs, seg)
	}
	if n := len(p.segs); n > 0 && p.segs[n-1] == "**" {
		p.segs = append(p.segs, "*") // everything inside, not the folder itself
	}
	return p, len(p.segs) > 0
}

// trimSpaces cuts trailing spaces that no backslash holds.
func trimSpaces(line string) string {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	return line
}

// verdict is what the last line that matches says of a path.
func (r *rules) verdict(segs []string, folder bool) (omit, keep bool) {
	for _, p := range slices.Backward(r.lines) {
		if (folder || !p.folder) && matchSegs(p.segs, segs) {
			return !p.keep, p.keep
		}
	}
	return false, false
}

// matchSegs matches names against patterns. On a mismatch only the last "**"
// has to take one name more, so the cost is their product at most.
func matchSegs(pats, names []string) bool {
	p, n, star, mark := 0, 0, -1, 0
	for n < len(names) {
		switch {
		case p < len(pats) && pats[p] == "**":
			star, mark = p, n
			p++
		case p < len(pats) && matchName(pats[p], names[n]):
			p++
			n++
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	for p < len(pats) && pats[p] == "**" {
		p++
	}
	return p == len(pats)
}

func matchName(pat, name string) bool {
	ok, _ := path.Match(pat, name) // its form was checked
	return ok
}

// isGit tells the name that git's own folder or file has, as file systems that
// fold case would read it.
func isGit(name string) bool { return strings.EqualFold(name, ".git") }

// omitName tells why a name of a folder is left out, or "". kept tells that a
// rule of the person's names it as content.
func (r *rules) omitName(dir, name string, folder bool, siblings []string) (reason string, kept bool) {
	if isGit(name) {
		return omitGit, false
	}
	if len(r.lines) > 0 {
		omit, keep := r.verdict(strings.Split(join(dir, name), "/"), folder)
		if omit {
			return omitIgnore, false
		}
		if keep {
			return "", true
		}
	}
	if folder && name == "node_modules" && slices.Contains(siblings, "package.json") {
		return omitNode, false
	}
	if folder && name == "target" && slices.Contains(siblings, "Cargo.toml") {
		return omitTarget, false
	}
	return "", false
}
