package config

import (
	"fmt"
	"maps"
	"net/netip"
	"net/url"
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
	origins   map[string]string // of providers and models, field by field
}

// entry is a setting's value in one source.
type entry struct {
	value  any
	origin string
}

func newLayer() *layer {
	return &layer{
		settings: map[string]entry{}, providers: map[string]Provider{},
		models: map[string]Model{}, origins: map[string]string{},
	}
}

// loader gathers the layers, weakest first.
type loader struct {
	Options
	sink   problems
	layers []*layer
	files  []string
}

// Load reads and merges all sources. An error is a *fault.Fault whose cause is
// an *Error with every problem that was found; then there is no Config.
func Load(o Options) (*Config, error) {
	l := &loader{Options: o}
	user := l.readUser()
	project := l.readProject()
	l.narrow(user, project)
	l.layers = []*layer{user, project, l.readEnv(), l.readFlags()}
	c := l.merge()
	if err := l.sink.err(); err != nil {
		return nil, err
	}
	c.Warnings = l.sink.warnings
	c.Files = l.files
	return c, nil
}

func (l *loader) readUser() *layer {
	out := newLayer()
	if l.File == "" {
		return out
	}
	data, info, err := readFile(l.File)
	switch {
	case err != nil:
		l.sink.add(Problem{File: l.File, Msg: err.Error()})
	case data == nil && l.Named:
		l.sink.add(Problem{File: l.File, Msg: "there is no such file", Hint: "unset FETTLE_CONFIG to use the usual place"})
	case data != nil:
		d := &decoder{sink: &l.sink, out: out}
		l.decode(d, l.File, data)
		if d.secret != nil && readableByOthers(info) {
			l.sink.add(Problem{
				File: l.File, Line: d.secret.Line, Column: d.secret.Column, Warning: true,
				Msg:  fmt.Sprintf("other users of this machine can read the secret here (mode %04o)", info.Mode().Perm()),
				Hint: "chmod 600 " + l.File,
			})
		}
	}
	return out
}

func (l *loader) readProject() *layer {
	out := newLayer()
	file := findProject(l.WorkDir, l.Home)
	if file == "" || l.sameAsUser(file) {
		return out
	}
	if stranger(file) {
		l.sink.add(Problem{File: file, Warning: true, Msg: "not read: anyone may write to this folder"})
		return out
	}
	data, _, err := readFile(file)
	switch {
	case err != nil:
		l.sink.add(Problem{File: file, Msg: err.Error()})
	case data != nil:
		l.decode(&decoder{project: true, move: l.File, sink: &l.sink, out: out}, file, data)
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
	root, p := parseYAML(data, d.src)
	switch {
	case p != nil:
		l.sink.add(*p)
	case root != nil && !isNull(root):
		d.file(root)
	}
	l.sink.sortFrom(before)
}

// narrow keeps a project from widening the tools: where the user's file says
// something about them, the project's can only switch them off.
func (l *loader) narrow(user, project *layer) {
	mine, ok := user.settings["tools"]
	theirs, both := project.settings["tools"]
	if !ok || !both || !theirs.value.(Tools).Enabled {
		return
	}
	delete(project.settings, "tools")
	l.sink.add(Problem{
		Source: theirs.origin, Key: "tools", Warning: true,
		Msg: "tools is not read: a project can't widen what " + mine.origin + " says",
	})
}

// readEnv reads the variables of the table, the strongest that is set.
func (l *loader) readEnv() *layer {
	out := newLayer()
	for _, s := range table() {
		for _, name := range s.Env {
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
			l.fromText(out, s, name, values, false)
			break
		}
	}
	return out
}

// env is a variable's value without the spaces and quotes around it that shells
// and service files leave there, as Ollama reads its own.
func (l *loader) env(name string) string {
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
	report := func(msg string) {
		l.sink.add(Problem{Source: source, Key: s.Key, Msg: msg, flag: flag})
	}
	if s.kind.list && s.kind.word != nil && len(values) == 1 {
		if v, ok := s.kind.word(values[0]); ok {
			out.settings[s.Key] = entry{v, source}
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
			out.settings[s.Key] = entry{v, source}
			return
		}
		elems = append(elems, v.(string))
	}
	if s.kind.gather != nil {
		out.settings[s.Key] = entry{s.kind.gather(elems), source}
		return
	}
	out.settings[s.Key] = entry{elems, source}
}

// resolveProviders fills in what the environment says about the providers.
func (l *loader) resolveProviders(named map[string]Provider, origins map[string]string) map[string]Provider {
	out := maps.Clone(named)
	if _, ok := out[openaiName]; !ok {
		out[openaiName] = Provider{Name: openaiName, Type: typeOpenAI, Headers: map[string]Secret{}, Models: map[string]Model{}}
	}
	for _, name := range slices.Sorted(maps.Keys(out)) {
		p := out[name]
		if name == openaiName {
			l.openaiAddress(&p, origins)
		}
		l.key(&p, origins)
		l.warnClear(p)
		out[name] = p
	}
	return out
}

func (l *loader) openaiAddress(p *Provider, origins map[string]string) {
	if p.KeyEnv == "" {
		p.KeyEnv = openaiKeyEnv
	}
	const key = "providers." + openaiName + ".base_url"
	if text := l.env(openaiURLEnv); text != "" {
		address, err := parseBaseURL(text)
		if err != nil {
			l.sink.add(Problem{Source: openaiURLEnv, Key: key, Msg: err.Error()})
		}
		p.BaseURL, origins[key] = address, openaiURLEnv
	}
	if p.BaseURL == "" {
		p.BaseURL, origins[key] = openaiAddress, originDefault
	}
}

// key takes a provider's key from its variable, if that is set. A variable that
// can't be a key is passed over with a warning: it may hold a placeholder for a
// provider that nobody is asking, and the others must go on working.
func (l *loader) key(p *Provider, origins map[string]string) {
	if p.KeyEnv == "" {
		return
	}
	text := l.env(p.KeyEnv)
	if text == "" {
		return
	}
	key := "providers." + p.Name + ".key"
	value, err := parseKey(text)
	if err != nil {
		l.sink.add(Problem{Source: p.KeyEnv, Key: key, Warning: true, Msg: "not used as the key of " + p.Name + ": " + err.Error()})
		return
	}
	p.Key, origins[key] = NewSecret(value), p.KeyEnv
}

// warnClear warns of a key that would cross a network unencrypted.
func (l *loader) warnClear(p Provider) {
	u, err := url.Parse(p.BaseURL)
	if err != nil || u.Scheme != "http" || p.Key.Empty() || onThisNet(u.Hostname()) {
		return
	}
	l.sink.add(Problem{
		Source: "providers." + p.Name + ".base_url", Key: "providers." + p.Name + ".base_url", Warning: true,
		Msg: "the key is sent to " + u.Hostname() + " without encryption; use https",
	})
}

// onThisNet tells whether a host is this machine or one of a private network.
func onThisNet(host string) bool {
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host == "localhost" || strings.HasSuffix(host, ".localhost") || !strings.Contains(host, ".") ||
			strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".internal") || strings.HasSuffix(host, ".lan")
	}
	return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
}
