package validate

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/internal/didyoumean"
	"github.com/fettle-cli/fettle/internal/pysource"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

const (
	// maxModule and maxModules bound what is read of Python, one module and all
	// of them: at 20 MB a second, well under what a hostile bundle may cost.
	maxModule  = 512 << 10
	maxModules = 1 << 20
	// maxHops is how many re-exports are followed to a function.
	maxHops = 8
)

// module is one Python file of the bundle.
type module struct {
	path string
	// source is nil where it isn't Python, or wasn't read.
	source *pysource.Module
}

// python reads the modules, and judges the entrypoints and what is imported.
func (v *validator) python() error {
	v.modules = map[string]*module{}
	var paths []string
	if v.m != nil { // what is called first is read first
		for _, ref := range v.m.Files() {
			if ref.Function != "" {
				paths = append(paths, v.first(ref.Paths))
			}
		}
	}
	for _, f := range v.b.Files {
		if f.Kind == "python" {
			paths = append(paths, f.Path)
		}
	}
	for _, p := range paths {
		if err := v.read(p); err != nil {
			return err
		}
	}
	if v.m == nil {
		return nil
	}
	for i := range v.m.Tools {
		v.tool(&v.m.Tools[i], fmt.Sprintf("/tools/%d", i))
	}
	for i := range v.m.Payloads {
		v.parser(&v.m.Payloads[i], fmt.Sprintf("/payloads/%d", i))
	}
	v.imports()
	v.environment()
	return nil
}

// read parses a module, once.
func (v *validator) read(p string) error {
	if _, known := v.modules[p]; known || p == "" {
		return nil
	}
	m := &module{path: p}
	v.modules[p] = m
	f, ok := v.b.Find(p)
	if !ok {
		return nil
	}
	if f.Size > maxModule || v.parsed+f.Size > maxModules {
		v.add(spot{file: p}, Warning, CodeNotLookedInto, "it was not looked into: of a module %d KiB are, and of all together %d KiB", maxModule>>10, maxModules>>10)
		return nil
	}
	v.parsed += f.Size
	raw, err := v.b.ReadFile(p)
	if err != nil {
		return err
	}
	m.source, err = pysource.Parse(raw)
	if broken, ok := err.(*pysource.Error); ok {
		v.add(spot{p, broken.Place.Line, broken.Place.Column}, Error, CodePython, "%s", broken.Msg)
	}
	return nil
}

// first is the first of some paths that is there.
func (v *validator) first(paths []string) string {
	for _, p := range paths {
		if v.has(p) {
			return p
		}
	}
	return ""
}

// target is what an entrypoint leads to.
type target struct {
	function    *pysource.Function
	file        string
	conditional bool
}

// where is the function's place, for messages.
func (t target) where() string { return fmt.Sprintf("%s:%d", t.file, t.function.Place.Line) }

// entrypoint finds the function that an entrypoint names. nil means that there
// is none to look at, which has been said.
func (v *validator) entrypoint(text, at string) *target {
	e, err := manifest.ParseEntrypoint(text)
	if err != nil {
		return nil // the manifest's own finding
	}
	file := v.first(e.Files())
	if file == "" {
		msg := fmt.Sprintf("entrypoint %s: there is no %s", show(text), e.Files()[0])
		if near := didyoumean.Of(e.Files()[0], v.pythonFiles()); near != "" {
			msg += " (did you mean " + near + "?)"
		}
		v.at(at, Error, CodeMissingFile, "%s", msg)
		return nil
	}
	if by := v.hiddenBy(file); by != "" {
		v.at(at, Error, manifest.CodeEntrypoint, "entrypoint %s: Python finds %s in the place of %s; give one of them another name", show(text), show(by), show(file))
		return nil
	}
	m := v.modules[file]
	if m == nil || m.source == nil {
		return nil // broken, or not looked into
	}
	return v.find(m, e.Function, fmt.Sprintf("entrypoint %s", show(text)), at)
}

// hiddenBy returns the file that Python imports in the place of a module's file, or of a
// folder on the way to it; empty where there is none. A package with a file of its own
// comes before a module of its name, and that before a folder without one.
func (v *validator) hiddenBy(file string) string {
	module := strings.TrimSuffix(strings.TrimSuffix(file, ".py"), "/__init__")
	if p := module + "/__init__.py"; p != file && v.has(p) {
		return p
	}
	for dir := path.Dir(module); strings.Contains(dir, "/"); dir = path.Dir(dir) {
		if p := dir + ".py"; v.has(p) && !v.has(dir+"/__init__.py") {
			return p
		}
	}
	return ""
}

// find looks for a function of a module, and follows it where it was imported
// from another one of the bundle.
func (v *validator) find(m *module, name, what, at string) *target {
	for range maxHops {
		b, ok := m.source.Names[name]
		switch {
		case !ok:
			return v.notThere(m, name, what, at)
		case b.Kind == pysource.Defined:
			return &target{b.Function, m.path, b.Conditional}
		case b.Kind == pysource.Class:
			v.at(at, Error, CodeFunction, "%s: %s of %s is a class; a tool is a function", what, name, m.path)
			return nil
		case b.Kind == pysource.Imported && b.Import.Name != "":
			if next := v.modules[v.resolve(m.path, *b.Import)]; next != nil && next.source != nil {
				m, name = next, b.Import.Name
				continue
			}
			v.at(at, Note, CodeUnchecked, "%s: %s imports %s from elsewhere, so its parameters were not checked", what, m.path, name)
			return nil
		case b.Kind == pysource.Imported:
			v.at(at, Error, CodeFunction, "%s: %s of %s is a module; a tool is a function", what, name, m.path)
			return nil
		}
		v.at(at, Note, CodeUnchecked, "%s: %s of %s is made by an assignment, so its parameters were not checked", what, name, m.path)
		return nil
	}
	v.at(at, Note, CodeUnchecked, "%s: it is imported from module to module, and was not followed to its end", what)
	return nil
}

func (v *validator) notThere(m *module, name, what, at string) *target {
	names := m.source.Functions()
	star := slices.ContainsFunc(m.source.Imports, func(i pysource.Import) bool { return i.Name == "*" && !i.Inner })
	if m.source.Dynamic || star {
		v.at(at, Note, CodeUnchecked, "%s: whether %s has %s can't be seen without running it", what, m.path, name)
		return nil
	}
	msg := fmt.Sprintf("%s: %s has no function %s", what, m.path, name)
	public := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return strings.HasPrefix(n, "_") })
	switch near := didyoumean.Of(name, names); {
	case near != "":
		msg += " (did you mean " + near + "?)"
	case len(public) > 0:
		msg += " (it has: " + show(strings.Join(public[:min(len(public), 12)], ", ")) + ")"
	}
	v.at(at, Error, CodeFunction, "%s", msg)
	return nil
}

func (v *validator) pythonFiles() []string {
	var out []string
	for _, f := range v.b.Files {
		if f.Kind == "python" {
			out = append(out, f.Path)
		}
	}
	return out
}

// resolve gives the file of the bundle that an import leads to, or "". What
// stands in tools is found by its bare name too.
func (v *validator) resolve(from string, i pysource.Import) string {
	name := strings.ReplaceAll(i.Module, ".", "/")
	bases := []string{"", "tools/"}
	if i.Level > 0 {
		dir := path.Dir(from)
		for range i.Level - 1 {
			dir = path.Dir(dir)
		}
		bases = []string{dir + "/"}
		if i.Module == "" {
			name, bases = dir, []string{""}
		}
	}
	for _, base := range bases {
		p := path.Clean(base + name)
		if i.Name != "" && i.Name != "*" { // the name may be a module itself
			if sub := v.first([]string{p + "/" + i.Name + ".py", p + "/" + i.Name + "/__init__.py"}); sub != "" && !v.binds(p+"/__init__.py", i.Name) {
				return sub
			}
		}
		if file := v.first([]string{p + ".py", p + "/__init__.py"}); file != "" {
			return file
		}
	}
	return ""
}

// binds tells whether a module that was read binds a name itself.
func (v *validator) binds(file, name string) bool {
	m := v.modules[file]
	if m == nil || m.source == nil {
		return false
	}
	b, ok := m.source.Names[name]
	return ok && b.Kind != pysource.Imported
}

// inputs is what input_schema says of the arguments.
type inputs struct {
	names    []string // in order of the alphabet
	required []string
	open     bool // there may be others: it combines schemas or leads elsewhere
}

func inputsOf(raw json.RawMessage) inputs {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	var words map[string]json.RawMessage
	if json.Unmarshal(raw, &words) != nil || json.Unmarshal(raw, &s) != nil {
		return inputs{open: true}
	}
	in := inputs{required: s.Required}
	for name := range s.Properties {
		in.names = append(in.names, name)
	}
	slices.Sort(in.names)
	for _, word := range []string{"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "patternProperties", "dependentSchemas"} {
		if _, ok := words[word]; ok {
			in.open = true
		}
	}
	return in
}
