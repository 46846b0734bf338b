package clientconfig

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/toolset/manifest"
)

// reader reads one server.
type reader struct {
	file *file
	id   string
	in   *object
	out  Server
	// noted holds the notes so far: a variable may occur many times.
	noted map[string]bool
}

func (r *reader) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if r.noted == nil {
		r.noted = map[string]bool{}
	}
	if !r.noted[text] {
		r.noted[text] = true
		r.out.Notes = append(r.out.Notes, text)
	}
}

// read fills in the server. An error is the reason why the server can't be used.
func (r *reader) read(v *value) error {
	if v.kind != objectKind {
		return fmt.Errorf("expected an object, found %s", v.kind)
	}
	r.in = newObject(v)
	r.out.Config = manifest.MCPServer{ID: r.id}
	for _, step := range []func() error{
		r.enabled, r.transport, r.command, r.address, r.oneWay, r.environment, r.headers, r.folder, r.oauth,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	r.timeout()
	r.tools()
	r.rest()
	return r.translate()
}

// enabled refuses a server that is turned off there.
func (r *reader) enabled() error {
	for _, key := range []string{"enabled", "disabled"} {
		v := r.in.take(key)
		switch {
		case v == nil:
		case v.kind != boolKind && v.text != "true" && v.text != "false":
			r.note("%s: expected true or false, found %s; the server counts as enabled", key, v.short())
		case (v.text == "true") == (key == "disabled"):
			return fmt.Errorf("it is disabled there (%s: %s)", key, v.text)
		}
	}
	return nil
}

func (r *reader) transport() error {
	for _, key := range []string{"type", "transport"} {
		v := r.in.take(key)
		if v == nil {
			continue
		}
		switch strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(v.text)) {
		case "", "stdio", "local", "http", "streamablehttp", "streamable", "remote":
		case "sse":
			r.out.Settings.SSE = true
		default:
			return fmt.Errorf("%s: the transport %q is not supported", key, v.short())
		}
	}
	return nil
}

// command reads a command as a text, as a list (opencode) or as an object (Zed).
func (r *reader) command() error {
	c := &r.out.Config
	v := r.in.take("command")
	if v == nil {
		v = r.in.take("cmd")
	}
	switch {
	case v == nil:
	case v.scalar():
		c.Command = v.text
	case v.kind == listKind:
		words, err := r.texts(v, "command")
		if err != nil || len(words) == 0 {
			return errors.Join(err, noneOf(words, "command: an empty list"))
		}
		c.Command, c.Args = words[0], words[1:]
	case v.kind == objectKind:
		o := newObject(v)
		c.Command = o.text("path")
		if c.Command == "" {
			return errors.New("command: an object without path")
		}
		if args := o.take("args"); args != nil {
			var err error
			if c.Args, err = r.texts(args, "command.args"); err != nil {
				return err
			}
		}
		if env := o.take("env"); env != nil {
			r.table(&c.Env, env, "command.env")
		}
		r.unknown("command.", o)
	}
	if args := r.in.take("args"); args != nil {
		words, err := r.texts(args, "args")
		if err != nil {
			return err
		}
		c.Args = append(c.Args, words...)
	}
	return nil
}

// noneOf returns an error where a list is empty.
func noneOf(words []string, problem string) error {
	if len(words) > 0 {
		return nil
	}
	return errors.New(problem)
}

// texts reads a list of scalars, each as it is written. Null is left out.
func (r *reader) texts(v *value, at string) ([]string, error) {
	if v.kind != listKind {
		return nil, fmt.Errorf("%s: expected a list, found %s", at, v.kind)
	}
	var out []string
	for i, e := range v.list {
		switch {
		case e.kind == nullKind:
			r.note("%s: entry %d is null, and was left out", at, i+1)
		case !e.scalar():
			return nil, fmt.Errorf("%s: entry %d is %s, expected a text", at, i+1, e.kind)
		default:
			out = append(out, e.text)
		}
	}
	return out, nil
}

// table adds scalars by name to a table, each as it is written. Null is left out, and
// so is a value without a text form, with a note.
func (r *reader) table(to *map[string]string, v *value, at string) {
	pairs := map[string]*value{}
	switch v.kind {
	case objectKind:
		pairs = v.fields
	case listKind: // NAME=VALUE
		for i, e := range v.list {
			name, text, ok := strings.Cut(e.text, "=")
			if !ok || !e.scalar() {
				r.note("%s: entry %d is not NAME=VALUE, and was left out", at, i+1)
				continue
			}
			pairs[name] = &value{kind: textKind, text: text}
		}
	default:
		r.note("%s: expected values by name, found %s; it was left out", at, v.kind)
	}
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		switch e := pairs[name]; {
		case e.kind == nullKind:
			r.note("%s.%s: it is null, and was left out", at, name)
		case !e.scalar():
			r.note("%s.%s: expected a text, found %s; it was left out", at, name, e.kind)
		default:
			set(to, name, e.text)
		}
	}
}

func set(to *map[string]string, name, text string) {
	if *to == nil {
		*to = map[string]string{}
	}
	(*to)[name] = text
}

// address reads the URL. Of several, the one that Gemini CLI prefers counts.
func (r *reader) address() error {
	for _, key := range []string{"httpUrl", "url", "serverUrl", "uri"} {
		v := r.in.take(key)
		switch {
		case v == nil || v.empty():
		case v.kind != textKind:
			return fmt.Errorf("%s: expected a text, found %s", key, v.kind)
		case r.out.Config.URL == "":
			r.out.Config.URL = v.text
			r.out.Settings.SSE = r.out.Settings.SSE && key != "httpUrl"
		case r.out.Config.URL != v.text:
			r.note("%s: left out, since the server has another address", key)
		}
	}
	return nil
}

// oneWay requires a command or an address.
func (r *reader) oneWay() error {
	c, source := r.out.Config, r.in.text("source")
	if source != "" && source != "custom" && source != "extension" {
		r.note("source: %s is left out: it says where that program has the server from", source)
	}
	switch {
	case c.Command == "" && c.URL == "" && source == "extension":
		return errors.New("it belongs to an extension of the editor, which starts it")
	case c.Command == "" && c.URL == "":
		return errors.New("it has neither a command nor an address")
	case c.Command != "" && c.URL != "":
		return errors.New("it has both a command and an address")
	}
	return nil
}

// environment reads the variables of a command.
func (r *reader) environment() error {
	c := &r.out.Config
	for _, key := range []string{"env", "environment", "envs"} {
		if v := r.in.take(key); v != nil {
			r.table(&c.Env, v, key)
		}
	}
	for _, key := range []string{"env_vars", "env_keys"} { // variables that Codex and goose pass on where they are set
		v := r.in.take(key)
		if v == nil {
			continue
		}
		names, err := r.texts(v, key)
		if err != nil {
			return err
		}
		for _, name := range names {
			set(&c.Env, name, "${"+name+":-}")
		}
	}
	if c.Command != "" {
		return nil
	}
	if len(c.Args) > 0 {
		r.note("args: left out, since a server at an address gets no arguments")
	}
	if len(c.Env) > 0 {
		r.note("env: left out, since a server at an address gets no variables: %s", strings.Join(slices.Sorted(maps.Keys(c.Env)), ", "))
	}
	c.Args, c.Env = nil, nil
	return nil
}

// headers reads the headers of an address.
func (r *reader) headers() error {
	c := &r.out.Config
	for _, key := range []string{"headers", "http_headers"} {
		if v := r.in.take(key); v != nil {
			r.table(&c.Headers, v, key)
		}
	}
	if v := r.in.take("env_http_headers"); v != nil {
		var names map[string]string
		r.table(&names, v, "env_http_headers")
		for header, name := range names {
			set(&c.Headers, header, "${"+name+"}")
		}
	}
	if name := r.in.text("bearer_token_env_var"); name != "" {
		set(&c.Headers, "Authorization", "Bearer ${"+name+"}")
	}
	if key := r.in.text("apiKey"); key != "" {
		set(&c.Headers, "Authorization", "Bearer "+key)
	}
	if v := r.in.take("requestOptions"); v != nil {
		o := newObject(v)
		if headers := o.take("headers"); headers != nil {
			r.table(&c.Headers, headers, "requestOptions.headers")
		}
		r.unknown("requestOptions.", o)
	}
	if c.URL != "" {
		return nil
	}
	if len(c.Headers) > 0 {
		r.note("headers: left out, since a command gets no headers: %s", strings.Join(slices.Sorted(maps.Keys(c.Headers)), ", "))
	}
	if r.out.Settings.SSE {
		r.note("type: sse is left out, since the server is a command")
	}
	c.Headers, r.out.Settings.SSE = nil, false
	return nil
}

// folder reads where a command starts.
func (r *reader) folder() error {
	for _, key := range []string{"cwd", "workingDirectory", "working_directory"} {
		dir, err := r.variables(r.in.text(key), key)
		switch {
		case dir == "" || dir == ".": // the chat's folder
		case err != nil:
			r.note("%s: it starts in the chat's folder, not in %s", key, dir)
		case r.out.Config.URL != "":
			r.note("%s: left out, since a server at an address is not started", key)
		case filepath.IsAbs(dir):
			r.out.Settings.Read = append(r.out.Settings.Read, filepath.Clean(dir))
			r.note("%s: it starts in the chat's folder, not in %s, which it may read", key, dir)
		default:
			r.note("%s: it starts in the chat's folder, not in %s", key, dir)
		}
	}
	return nil
}
