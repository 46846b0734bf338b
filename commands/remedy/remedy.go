package remedy

import (
	"runtime"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// Lines returns the remedies of a fault, each with the command first.
func Lines(f *fault.Fault) []string {
	var out []string
	for _, r := range f.Remedies {
		if line := Line(r); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// Line returns one remedy: its command and, after three spaces, what it does.
func Line(r fault.Remedy) string { return written(r, "   ") }

// Clause returns one remedy as a part of a sentence, with its command as the subject.
func Clause(r fault.Remedy) string { return written(r, " ") }

// Reason returns why a toolset, an MCP server or a tool of one can't be used, with the
// command that changes this. id is that of the toolset or the server.
func Reason(id, why string) string {
	switch why {
	case registry.WhyRevoked:
		return why + "; " + Clause(fault.Try(fault.TrustToolset, id).That("gives it again"))
	case registry.WhyNew:
		return why + "; " + Clause(fault.Try(fault.TestServer, id).That("asks"))
	case registry.WhyChanged:
		return why + "; " + Clause(fault.Try(fault.TestServer, id).That("shows the change and asks"))
	}
	return why
}

// written returns a remedy. A kind that is not known here, as from a newer server, is
// written by its text.
func written(r fault.Remedy, sep string) string {
	line := r.Text
	switch template, ok := commands()[r.Kind]; {
	case r.Kind == fault.StopProcess && runtime.GOOS == "windows":
		line = fault.Fill("taskkill /PID {1}", r.Args, cmdline.ShellWord)
	case r.Kind == fault.Wait: // a sentence
		line = fault.Fill(template, r.Args, nil)
	case ok:
		line = fault.Fill(template, r.Args, cmdline.ShellWord)
	}
	if r.Effect != "" {
		line += sep + r.Effect
	}
	return line
}

// Message returns the message of a fault, with the flag that its wrong input was given by.
func Message(f *fault.Fault) string {
	return f.Text(flag(f.Input))
}

// flag returns the flag of `fettle ask` for a field of a request.
func flag(field string) string {
	switch field {
	case "tools":
		return "--tool"
	case "schema":
		return "--schema"
	case "workspace":
		return "-w"
	}
	return field
}
