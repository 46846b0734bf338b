package manifest

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

func (j *judge) server(s *MCPServer, at string) {
	program := strings.TrimSuffix(strings.ToLower(s.Command), ".exe")
	switch {
	case shell(program):
		j.warn(at+"/command", CodeShell, show(s.Command)+" is a shell: what it runs is in its arguments, and may be anything")
	case inlineCode(program, s.Args):
		j.warn(at+"/args", CodeShell, show(s.Command)+" is given its code in an argument")
	}
	if pkg, at2 := unpinned(program, s.Args); pkg != "" {
		pointer := at + "/args"
		if at2 >= 0 {
			pointer = item(pointer, at2)
		}
		j.warn(pointer, CodeUnpinned, show(pkg)+" has no exact version: what runs tomorrow is not what was looked at today")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		pointer := under(at+"/env", name)
		if loaderVariable(name) {
			j.fail(pointer, CodeVariable, show(name)+" makes programs load code or reach elsewhere; a bundle can't set it")
		}
		j.value(name, s.Env[name], pointer)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		if strings.ContainsAny(s.Headers[name], "\r\n") {
			j.fail(under(at+"/headers", name), CodeVariable, "a header is one line")
		}
		j.value(name, s.Headers[name], under(at+"/headers", name))
	}
	for i, arg := range s.Args {
		j.keys(arg, item(at+"/args", i))
	}
	j.keys(s.URL, at+"/url")
}

// value looks at the value of a variable or a header.
func (j *judge) value(name, value, at string) {
	j.keys(value, at)
	if value != "" && secretName(name) && len(variables(value)) == 0 {
		j.warn(at, CodeSecret, "the value of "+show(name)+" is in plain text; write ${"+strings.ToUpper(strings.NewReplacer("-", "_").Replace(name))+"}, and the user gives it")
	}
}

// keys warns of variables that hold the user's keys.
func (j *judge) keys(text, at string) {
	for _, name := range variables(text) {
		if keyVariable(name) {
			j.warn(at, CodeSecretName, "the server asks for "+show(name)+", which holds a key of the user's; it gets it only if the user says so by name")
		}
	}
}

func shell(program string) bool {
	switch program {
	case "sh", "bash", "zsh", "dash", "ash", "ksh", "fish", "csh", "tcsh", "cmd", "powershell", "pwsh", "env", "xargs", "nohup", "sudo", "doas", "busybox":
		return true
	}
	return false
}

// inlineCode tells whether an interpreter gets code instead of a file.
func inlineCode(program string, args []string) bool {
	program = strings.TrimRight(program, "0123456789.")
	var flags []string
	switch program {
	case "python", "pypy":
		flags = []string{"-c"}
	case "node", "bun", "ruby", "perl", "php", "lua":
		flags = []string{"-e", "--eval", "-p", "--print", "-r", "-E"}
	case "deno":
		return len(args) > 0 && args[0] == "eval"
	}
	return slices.ContainsFunc(args, func(a string) bool { return slices.Contains(flags, a) })
}

var exactVersion = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(@[^@/]+/)?[^@]+(@|==)v?[0-9]+\.[0-9]+(\.[0-9]+)?[0-9A-Za-z.+-]*$|@sha256:[0-9a-f]{64}$`)
})

// unpinned gives the package that a runner fetches without an exact version,
// and the place among the arguments.
func unpinned(program string, args []string) (string, int) {
	skip := 0
	switch program {
	case "npx", "uvx", "bunx", "pnpx":
	case "pipx", "bun", "deno":
		if len(args) == 0 || args[0] != "run" && args[0] != "x" {
			return "", 0
		}
		skip = 1
	case "pnpm", "yarn":
		if len(args) == 0 || args[0] != "dlx" {
			return "", 0
		}
		skip = 1
	case "npm":
		if len(args) == 0 || args[0] != "exec" && args[0] != "x" {
			return "", 0
		}
		skip = 1
	case "docker", "podman":
		return unpinnedImage(args)
	default:
		return "", 0
	}
	for i := skip; i < len(args); i++ {
		arg := args[i]
		if from, ok := fromFlag(arg); ok {
			if from == "" && i+1 < len(args) {
				i++
				from = args[i]
			}
			arg = from
		} else if strings.HasPrefix(arg, "-") {
			continue
		}
		if local := strings.HasPrefix(arg, ".") || strings.HasSuffix(arg, ".py") || strings.HasSuffix(arg, ".js") || strings.HasSuffix(arg, ".ts"); local || exactVersion().MatchString(arg) {
			return "", 0
		}
		return arg, i
	}
	return "", 0
}

// fromFlag knows the flags by which a runner is told its package.
func fromFlag(arg string) (value string, ok bool) {
	for _, name := range []string{"--package", "-p", "--from", "--spec"} {
		if arg == name {
			return "", true
		}
		if v, found := strings.CutPrefix(arg, name+"="); found {
			return v, true
		}
	}
	return "", false
}

// unpinnedImage finds the image of a container: the first argument after run
// that names one. Flags with values are many, so a word that looks like none
// is passed over.
func unpinnedImage(args []string) (string, int) {
	if !slices.Contains(args, "run") {
		return "", 0
	}
	for i, arg := range args {
		if strings.Contains(arg, "@sha256:") {
			return "", 0
		}
		if i > 0 && !strings.HasPrefix(arg, "-") && arg != "run" && strings.Contains(arg, "/") && !strings.HasPrefix(arg, "/") && !strings.Contains(arg, "=") {
			return arg, i
		}
	}
	return "an image", -1
}
