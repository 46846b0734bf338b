package validate

import (
	"bytes"
	"path"
	"strings"
	"unicode"

	"github.com/fettle-cli/fettle/toolset/bundle"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// maxWords and maxSeen bound the words that are remembered, and the bytes that
// are looked through for them; of a bundle with more, nothing is called unused.
const (
	maxWords = 40_000
	maxSeen  = 2 << 20
)

// mentions are the words of the bundle's texts, each with the one file that has
// it, or with "" where several have it.
type mentions struct {
	in   map[string]string
	seen int
	full bool
}

// see notes the words of a file: runs of letters, digits, - and _. Words of
// documents count for nothing: what a README mentions may be used by nobody.
func (m *mentions) see(file string, raw []byte) {
	if !strings.Contains(file, "/") && file != manifest.FileName || m.full {
		return
	}
	if m.seen += len(raw); m.seen > maxSeen {
		m.full = true
		return
	}
	if m.in == nil {
		m.in = map[string]string{}
	}
	for word := range bytes.FieldsFuncSeq(raw, func(r rune) bool {
		return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if len(word) > 100 {
			continue
		}
		known, ok := m.in[string(word)]
		switch {
		case !ok && len(m.in) >= maxWords:
			m.full = true
			return
		case !ok:
			m.in[string(word)] = file
		case known != file && known != "":
			m.in[string(word)] = ""
		}
	}
}

// elsewhere tells whether a file other than the given one has the word.
func (m *mentions) elsewhere(word, file string) bool {
	in, ok := m.in[word]
	return ok && in != file
}

// unused notes files that nothing leads to: no entrypoint, no import, no
// renderer, and no text that has their name or their folder's.
func (v *validator) unused() error {
	if v.m == nil || v.words.full || len(v.m.MCPServers) > 0 {
		return nil // what a server takes of the bundle is its own affair
	}
	used := v.reached()
	for _, f := range v.b.Files {
		if !strings.Contains(f.Path, "/") || used[f.Path] || v.mentioned(f) {
			continue
		}
		v.add(spot{file: f.Path}, Note, CodeUnused, "nothing mentions this file")
	}
	return nil
}

// reached are the files that entrypoints, imports and renderers lead to.
func (v *validator) reached() map[string]bool {
	used := map[string]bool{}
	var todo []string
	for _, ref := range v.m.Files() {
		if p := v.first(ref.Paths); p != "" {
			todo = append(todo, p)
		}
	}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if used[p] {
			continue
		}
		used[p] = true
		for dir := path.Dir(p); dir != "." && strings.HasSuffix(p, ".py"); dir = path.Dir(dir) {
			used[dir+"/__init__.py"] = true
		}
		if m := v.modules[p]; m != nil && m.source != nil {
			for _, i := range m.source.Imports {
				if next := v.resolve(p, i); next != "" {
					todo = append(todo, next)
				}
			}
		}
	}
	return used
}

// mentioned tells whether another text has the file's name, or that of a folder
// that it is in: who lists a folder doesn't name what is in it.
func (v *validator) mentioned(f bundle.File) bool {
	base := path.Base(f.Path)
	stem, _, _ := strings.Cut(base, ".")
	if stem == "__init__" || v.words.elsewhere(stem, f.Path) {
		return true
	}
	if f.Kind == "python" {
		return false
	}
	for dir := path.Dir(f.Path); strings.Contains(dir, "/"); dir = path.Dir(dir) {
		if v.words.elsewhere(path.Base(dir), f.Path) {
			return true
		}
	}
	top, _, _ := strings.Cut(f.Path, "/")
	return top == "assets" && path.Dir(f.Path) == "assets" && v.words.elsewhere("assets", f.Path) && v.lists()
}

// lists tells whether a module looks into a folder as a whole.
func (v *validator) lists() bool {
	for _, word := range []string{"iterdir", "glob", "rglob", "listdir", "scandir", "walk"} {
		if _, ok := v.words.in[word]; ok {
			return true
		}
	}
	return false
}
