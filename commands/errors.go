package commands

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/nearest"
)

// printFault shows a fault on standard error: a line, its details, and what to
// do next. With JSON output it is one object instead.
func printFault(rt *runtime, f *fault.Fault) {
	if rt.jsonErrors {
		printJSONFault(rt, f)
		return
	}
	style := rt.streams.Err.Style()
	var b strings.Builder
	fmt.Fprintf(&b, "fettle: %s\n", term.Clean(f.Msg))
	for _, line := range f.Detail {
		fmt.Fprintf(&b, "  %s\n", term.Clean(line))
	}
	width := 4
	if len(f.Detail) > 0 && strings.HasPrefix(f.Detail[0], "looked for") {
		width = len("looked for")
	}
	label := "try"
	for _, hint := range f.Hints {
		fmt.Fprintf(&b, "  %s  %s\n", style.Dim(fmt.Sprintf("%-*s", width, label)), term.Clean(hint))
		label = " or"
	}
	rt.streams.Err.WriteString(b.String())
}

// faultJSON is the shape of a failure under --output json.
type faultJSON struct {
	SchemaVersion int       `json:"schema_version"`
	Error         faultBody `json:"error"`
}

type faultBody struct {
	Code    string   `json:"code"`
	Exit    int      `json:"exit"`
	Message string   `json:"message"`
	Detail  []string `json:"detail,omitempty"`
	Hints   []string `json:"hints,omitempty"`
}

func bodyOf(f *fault.Fault) faultBody {
	return faultBody{
		Code: string(f.Code), Exit: f.Code.Exit(), Message: f.Msg, Detail: f.Detail, Hints: f.Hints,
	}
}

func printJSONFault(rt *runtime, f *fault.Fault) {
	line, err := json.Marshal(faultJSON{SchemaVersion: outputVersion, Error: bodyOf(f)})
	if err != nil { // strings and numbers always encode
		return
	}
	rt.streams.Err.WriteString(string(line) + "\n")
}

// outputVersion is the version of the JSON that commands print; it rises when
// a field changes its meaning or goes.
const outputVersion = 1

func usagef(hint, format string, args ...any) error {
	f := fault.New(fault.Usage, fmt.Sprintf(format, args...))
	if hint != "" {
		f.Hints = []string{hint}
	}
	return f
}

// usageError turns cli/v2's words about flags into ours, with the nearest
// known flag.
func usageError(c *cli.Context, err error, _ bool) error {
	msg := err.Error()
	help := strings.TrimSpace(commandPath(c) + " --help")
	if name, ok := strings.CutPrefix(msg, "flag provided but not defined: "); ok {
		name = strings.TrimLeft(name, "-")
		f := fault.New(fault.Usage, "there is no flag "+dashed(name))
		if near := nearest.Of(name, flagNames(c)); near != "" {
			f.Msg += " (did you mean " + dashed(near) + "?)"
		}
		f.Hints = []string{help, commandPath(c) + ` -- "` + dashed(name) + `"   to ask it as text`}
		return f
	}
	if name, ok := strings.CutPrefix(msg, "flag needs an argument: "); ok {
		return usagef(help, "the flag %s needs a value", dashed(strings.TrimLeft(name, "-")))
	}
	if value, rest, ok := strings.Cut(strings.TrimPrefix(msg, "invalid value "), " for flag "); ok {
		name, why, _ := strings.Cut(rest, ": ")
		return usagef(help, "%s is no value for %s: %s", value, dashed(strings.TrimLeft(name, "-")), why)
	}
	return usagef(help, "%s", msg)
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

func commandPath(c *cli.Context) string {
	if c.Command != nil && c.Command.HelpName != "" {
		return c.Command.HelpName
	}
	return "fettle"
}

func flagNames(c *cli.Context) []string {
	var names []string
	flags := c.App.Flags
	if c.Command != nil && len(c.Command.Flags) > 0 {
		flags = c.Command.Flags
	}
	for _, f := range flags {
		names = append(names, f.Names()...)
	}
	return names
}

func unknownCommand(cmds []*cli.Command, name, path string) error {
	var names []string
	for _, c := range cmds {
		if !c.Hidden {
			names = append(names, c.Names()...)
		}
	}
	f := fault.New(fault.Usage, path+" has no command "+name)
	if near := nearest.Of(name, names); near != "" {
		f.Msg += " (did you mean " + near + "?)"
		f.Hints = append(f.Hints, path+" "+near)
	}
	if path == "fettle" {
		f.Hints = append(f.Hints, `fettle ask "`+name+` …"   to ask a model`)
	}
	f.Hints = append(f.Hints, path+" --help")
	return f
}
