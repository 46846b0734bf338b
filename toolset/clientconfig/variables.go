package clientconfig

import (
	"errors"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// foreign matches the variables of all programs, the longer forms first:
// ${{ secrets.NAME }} of Continue, {{NAME}} of LibreChat, {env:NAME} of opencode,
// ${…} of most, and $NAME of Gemini CLI.
var foreign = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\{\{\s*([^{}]*?)\s*\}\}|\{\{([A-Za-z_][A-Za-z0-9_]*)\}\}|\$\{([^}]*)\}|\{((?:env|file):[^{}]*)\}|\$([A-Z_][A-Z0-9_]*)`)
})

// own matches the inside of fettle's ${NAME} and ${NAME:-default}.
var own = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(:-.*)?$`) })

// translate rewrites the variables in all texts of the server.
func (r *reader) translate() error {
	c := &r.out.Config
	var errs []error
	one := func(text, at string) string {
		out, err := r.variables(text, at)
		errs = append(errs, err)
		return out
	}
	c.Command, c.URL = one(c.Command, "command"), one(c.URL, "url")
	for i, arg := range c.Args {
		c.Args[i] = one(arg, "args")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		c.Env[name] = one(c.Env[name], "env."+name)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		c.Headers[name] = one(c.Headers[name], "headers."+name)
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// variables rewrites the variables in one text; at is its field. It fails where only
// the other program can fill one in.
func (r *reader) variables(text, at string) (string, error) {
	var failed error
	out := foreign().ReplaceAllStringFunc(text, func(m string) string {
		parts := foreign().FindStringSubmatch(m)
		var to string
		var err error
		switch {
		case strings.HasPrefix(m, "${{"):
			to, err = r.dotted(m, parts[1])
		case strings.HasPrefix(m, "{{"):
			to, err = r.userVariable(m, parts[2])
		case strings.HasPrefix(m, "${"):
			to, err = r.braced(m, parts[3], at)
		case strings.HasPrefix(m, "{env:"):
			to = reference(strings.TrimPrefix(parts[4], "env:"))
		case strings.HasPrefix(m, "{"):
			err = errors.New(only(m))
		case at == "args" && m != text: // the command may be a shell, whose own variables these are
			r.note("args: %s in %s is passed on as it is written", m, clip(text))
			return m
		default:
			r.note("%s: %s is read as the variable %s", at, m, parts[5])
			to = reference(parts[5])
		}
		if err != nil {
			failed = errors.Join(failed, err)
			return m
		}
		return to
	})
	return out, failed
}

// only is the reason to skip a server with a variable of another program.
func only(variable string) string {
	return "it uses " + variable + ", which only the program that wrote the file can fill in"
}

// reference makes ${NAME} of a name, with _ for characters that names don't have.
func reference(name string) string {
	name, otherwise, has := strings.Cut(name, ":-")
	name = strings.Map(func(c rune) rune {
		if letter(c) {
			return c
		}
		return '_'
	}, name)
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	if has {
		name += ":-" + otherwise
	}
	return "${" + name + "}"
}

// dotted translates ${{ secrets.NAME }} and ${{ inputs.NAME }}.
func (r *reader) dotted(m, inside string) (string, error) {
	kind, name, ok := strings.Cut(inside, ".")
	if !ok || kind != "secrets" && kind != "inputs" && kind != "env" {
		return "", errors.New(only(m))
	}
	to := reference(name)
	r.note("%s is read as %s: keep it as a key, or set the environment variable", m, to)
	return to, nil
}

// userVariable translates the {{NAME}} of LibreChat that the user fills in. Others
// stay as they are, since braces may mean anything.
func (r *reader) userVariable(m, name string) (string, error) {
	if vars := r.in.fields["customUserVars"]; vars != nil && vars.fields[name] != nil {
		return reference(name), nil
	}
	if strings.HasPrefix(name, "LIBRECHAT_") {
		return "", errors.New(only(m))
	}
	return m, nil
}

// braced translates a ${…}.
func (r *reader) braced(m, inside, at string) (string, error) {
	switch kind, name, _ := strings.Cut(inside, ":"); {
	case kind == "env":
		return reference(name), nil
	case kind == "input":
		return r.input(name), nil
	case kind == "workspaceFolder" || kind == "workspaceRoot":
		inside = kind
	}
	switch inside {
	case "userHome":
		return "${HOME}", nil
	case "pathSeparator", "/":
		return string(filepath.Separator), nil
	case "workspaceFolder", "workspaceRoot", "workspacePath", "cwd", "CLAUDE_PROJECT_DIR":
		if at == "command" || at == "url" {
			return "", errors.New(only(m))
		}
		r.note("%s: %s is read as the chat's folder, in which the server starts", at, m)
		return ".", nil
	case "extensionPath", "CLAUDE_PLUGIN_ROOT", "__dirname":
		return r.fileFolder(m, at)
	}
	if own().MatchString(inside) {
		return m, nil
	}
	return "", errors.New(only(m))
}

// fileFolder translates a variable for the folder of the file, which the server then
// may read.
func (r *reader) fileFolder(m, at string) (string, error) {
	dir := r.file.o.Dir
	if dir == "" || at == "url" {
		return "", errors.New(only(m))
	}
	if r.out.Config.Command != "" && !slices.Contains(r.out.Settings.Read, dir) {
		r.out.Settings.Read = append(r.out.Settings.Read, dir)
	}
	r.note("%s: %s is read as the folder of the file, %s, which the server may read", at, m, dir)
	return dir, nil
}

// input translates an input of VS Code into a variable of its name, with its default.
func (r *reader) input(id string) string {
	name := strings.ToUpper(id)
	if r.file.asked == nil {
		r.file.asked = map[string]bool{}
	}
	r.file.asked[id] = true
	o := r.file.inputs[id]
	if o == nil {
		r.note("inputs.%s: keep it as the key %s, or set the environment variable", id, strings.Trim(reference(name), "${}"))
		return reference(name)
	}
	to, about := reference(name), ""
	if d := o.fields["description"]; d != nil && d.text != "" {
		about = " (" + clip(d.text) + ")"
	}
	r.note("inputs.%s: keep it as the key %s, or set the environment variable%s", id, strings.Trim(to, "${}"), about)
	otherwise := ""
	for _, field := range slices.Sorted(maps.Keys(o.fields)) {
		v := o.fields[field]
		switch {
		case slices.Contains([]string{"id", "type", "description", "password"}, field) || v.kind == nullKind:
		case field == "default" && v.scalar() && !strings.ContainsAny(v.text, "{}$"):
			otherwise = ":-" + v.text
			r.note("inputs.%s: without either, its default %q is taken", id, v.text)
		default:
			r.note("inputs.%s.%s: left out (%s)", id, field, clip(v.short()))
		}
	}
	return strings.TrimSuffix(to, "}") + otherwise + "}"
}
