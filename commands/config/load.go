package config

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Options says where the configuration is read from.
type Options struct {
	// File is the user's file; empty reads none. Named tells that the user
	// named it, so that it has to be there.
	File  string
	Named bool
	// WorkDir is where the search for the project's file begins; empty reads
	// none. Home is where it ends.
	WorkDir, Home string
	// Env looks up variables, as os.LookupEnv does; nil reads none.
	Env func(string) (string, bool)
	// Flags are those that were given, by the key of the setting they set.
	Flags map[string]Flag
	// Trusted tells whether the user trusts a project's file of that name and
	// digest; nil trusts none.
	Trusted func(file, sum string) bool
}

// Flag is a flag that was given.
type Flag struct {
	Name   string   // as it is shown: --model
	Values []string // one for a scalar, any number for a list
}

// layer is what one source says.
type layer struct {
	settings  map[string]entry
	providers map[string]Provider
	models    map[string]Model
	prices    map[string]Price
	agents    map[string]agentValues
	origins   map[string]Origin // of what stands in maps, field by field
}

// entry is a setting's value in one source.
type entry struct {
	value  any
	origin Origin
}

func newLayer() *layer {
	return &layer{
		settings: map[string]entry{}, providers: map[string]Provider{},
		models: map[string]Model{}, prices: map[string]Price{}, agents: map[string]agentValues{}, origins: map[string]Origin{},
	}
}

// loader gathers the layers, weakest first.
type loader struct {
	Options
	sink    problems
	layers  []*layer
	files   []string
	profile string
	project *Project
	// text stands for the user's file, where that isn't written yet.
	text *string
}

// Load reads and merges all sources. An error is a *fault.Fault whose cause is
// an *Error with every problem that was found; then there is no Config.
func Load(o Options) (*Config, error) {
	l := &loader{Options: o}
	c := l.load()
	if err := l.sink.err(); err != nil {
		return nil, err
	}
	c.Warnings = l.sink.warnings
	return c, nil
}

// Check reads all sources as Load does and gives every problem, errors and
// warnings, in the order of the sources; and the files that were read.
func Check(o Options) ([]Problem, []string) {
	l := &loader{Options: o}
	l.load()
	return l.sink.all(), l.files
}

func (l *loader) load() *Config {
	files := []*fileParts{l.readUser(), l.readProject()}
	return l.combine(files, []*layer{l.readEnv(), l.readFlags()})
}

// combine makes one configuration of the user's file, the project's, and what
// is outside of files.
func (l *loader) combine(files []*fileParts, outer []*layer) *Config {
	l.profile = l.chooseProfile(files, outer)
	l.narrow(files[0], files[1])
	l.ownAgents(files[0], files[1])
	for _, f := range files {
		l.layers = append(l.layers, f.top.layers(f.trusted)...)
	}
	for _, f := range files {
		if p, ok := f.profiles[l.profile]; ok {
			l.layers = append(l.layers, p.layers(f.trusted)...)
		}
	}
	l.layers = append(l.layers, outer...)
	l.checkAddresses(files)
	l.checkHandoffs(files)
	c := l.merge()
	c.Files, c.Profile, c.Project = l.files, l.profile, l.project
	c.Profiles, c.sources = profileNames(files), files
	return c
}

// checkAddresses reports providers that have a base_url nowhere.
func (l *loader) checkAddresses(files []*fileParts) {
	for _, f := range files {
		for _, p := range f.pending {
			addressed := func(o *fileParts) bool {
				return o.top.data.providers[p.name].BaseURL != "" || o.top.held.providers[p.name].BaseURL != ""
			}
			if !slices.ContainsFunc(files, addressed) {
				l.sink.add(p.problem)
			}
		}
	}
}

func (l *loader) readUser() *fileParts {
	out := newFileParts()
	if l.File == "" {
		return out
	}
	data, info, err := readFile(l.File)
	if l.text != nil {
		data, err = []byte(*l.text), nil
	}
	switch {
	case err != nil:
		l.sink.add(Problem{File: l.File, Msg: err.Error()})
	case data == nil && l.Named:
		l.sink.add(Problem{File: l.File, Msg: "there is no such file", Hint: "unset FETTLE_CONFIG to use the usual place"})
	case data != nil:
		d := &decoder{sink: &l.sink, file: out}
		l.decode(d, l.File, data)
		if d.secret != nil && info != nil && readableByOthers(info) {
			l.sink.add(Problem{
				File: l.File, Line: d.secret.Line, Column: d.secret.Column, Warning: true,
				Msg:  fmt.Sprintf("other users of this machine can read the secret here (mode %04o)", info.Mode().Perm()),
				Hint: "chmod 600 " + l.File,
			})
		}
	}
	return out
}

func (l *loader) readProject() *fileParts {
	file := findProject(l.WorkDir, l.Home)
	if file == "" || l.sameAsUser(file) {
		return newFileParts()
	}
	if out := l.readProjectFile(file); out != nil {
		return out
	}
	return newFileParts()
}

// readProjectFile reads a file that comes with a project; nil where it can't
// be read.
func (l *loader) readProjectFile(file string) *fileParts {
	if stranger(file) {
		l.sink.add(Problem{File: file, Warning: true, Msg: "not read: anyone may write to this folder"})
		return nil
	}
	data, _, err := readFile(file)
	if err != nil {
		l.sink.add(Problem{File: file, Msg: err.Error()})
	}
	if err != nil || data == nil {
		return nil
	}
	out, sum := newFileParts(), sumOf(data)
	out.trusted = l.Trusted != nil && l.Trusted(file, sum)
	l.decode(&decoder{project: true, move: l.File, sink: &l.sink, file: out}, file, data)
	out.showLines()
	l.project = out.project(sum)
	if len(out.grants) > 0 && !out.trusted {
		l.untrusted(out)
	}
	return out
}

func (l *loader) sameAsUser(file string) bool {
	a, errA := os.Stat(file)
	b, errB := os.Stat(l.File)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

func (l *loader) decode(d *decoder, path string, data []byte) {
	l.files = append(l.files, path)
	before := len(l.sink.errors)
	d.src = newSource(path, string(data))
	d.file.src = d.src
	root, p := parseYAML(data, d.src)
	switch {
	case p != nil:
		l.sink.add(*p)
	case root != nil && !isNull(root):
		d.decode(root)
	}
	l.sink.sortFrom(before)
}

// narrow keeps a project from widening the tools: where the user's file, or the
// profile in force of it, says something about them, the project's can only
// switch them off.
func (l *loader) narrow(user, project *fileParts) {
	mine, ok := user.top.data.settings["tools"]
	if p, chosen := user.profiles[l.profile]; chosen {
		if e, has := p.data.settings["tools"]; has {
			mine, ok = e, true
		}
	}
	theirs := []*layer{project.top.data}
	if p, chosen := project.profiles[l.profile]; chosen {
		theirs = append(theirs, p.data)
	}
	for _, lay := range theirs {
		e, both := lay.settings["tools"]
		if !ok || !both || !e.value.(Tools).Enabled {
			continue
		}
		delete(lay.settings, "tools")
		l.sink.add(Problem{
			Source: e.origin.String(), Key: "tools", Warning: true,
			Msg: "tools is not read: a project can't widen what " + mine.origin.String() + " says",
		})
	}
}

// readEnv reads the variables of the table, the strongest that is set.
func (l *loader) readEnv() *layer {
	out := newLayer()
	for _, s := range table() {
		for _, name := range s.variables() {
			text := l.env(name)
			if s.Key == "system" {
				text = l.raw(name) // its spaces and quotes may be meant
			}
			if text == "" || name == "OLLAMA_CONTEXT_LENGTH" && text == "0" {
				continue // Ollama's 0 is "not set"
			}
			values := []string{text}
			if s.kind.list {
				values = splitList(text)
			}
			if !slices.Contains(s.Env, name) {
				l.sink.add(Problem{Source: name, Key: s.Key, Warning: true, Msg: "it is called " + s.Env[0] + " now"})
			}
			l.fromText(out, s, name, values, false)
			break
		}
	}
	return out
}

// env is a variable's value without the spaces and quotes around it that shells
// and service files leave there, as Ollama reads its own.
func (l *loader) env(name string) string {
	if name == "" {
		return ""
	}
	v := strings.TrimSpace(l.raw(name))
	for _, q := range []string{`"`, `'`} {
		if len(v) >= 2 && strings.HasPrefix(v, q) && strings.HasSuffix(v, q) {
			return strings.TrimSpace(v[1 : len(v)-1])
		}
	}
	return v
}

func (l *loader) raw(name string) string {
	if l.Env == nil {
		return ""
	}
	v, _ := l.Env(name)
	return v
}

// splitList splits at commas, as lists are written in variables.
func splitList(text string) []string {
	var out []string
	for _, part := range strings.Split(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

func (l *loader) readFlags() *layer {
	out := newLayer()
	for _, s := range table() {
		if f, ok := l.Flags[s.Key]; ok {
			l.fromText(out, s, f.Name, f.Values, true)
		}
	}
	return out
}

// fromText reads a setting from a variable or a flag.
func (l *loader) fromText(out *layer, s setting, source string, values []string, flag bool) {
	origin := Origin{Kind: FromEnvironment, Name: source}
	if flag {
		origin.Kind = FromFlag
	}
	report := func(msg string) {
		l.sink.add(Problem{Source: source, Key: s.Key, Msg: msg, flag: flag})
	}
	if s.kind.list && s.kind.word != nil && len(values) == 1 {
		if v, ok := s.kind.word(values[0]); ok {
			out.settings[s.Key] = entry{v, origin}
			return
		}
	}
	if !s.kind.list && len(values) != 1 {
		report("expected one value, found " + fmt.Sprint(len(values)))
		return
	}
	elems := []string{}
	for _, text := range values {
		v, err := s.kind.parse(text)
		if err != nil {
			report(err.Error() + ", found " + shown(text))
			return
		}
		if !s.kind.list {
			out.settings[s.Key] = entry{v, origin}
			return
		}
		elems = append(elems, v.(string))
	}
	if s.kind.gather != nil {
		out.settings[s.Key] = entry{s.kind.gather(elems), origin}
		return
	}
	out.settings[s.Key] = entry{elems, origin}
}
