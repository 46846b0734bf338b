package builtin

import (
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/fettle-cli/fettle/toolset"
)

//go:embed run_command.md
var runCommandText string

// Commands are the settings of run_command. What commands may reach is in the
// policy.
type Commands struct {
	// Time is how long a command may take that names no time; 0 is 2 minutes.
	Time time.Duration
	// WriteGit lets commands change a bound folder's .git.
	WriteGit bool
}

const (
	// commandTime is what most builds and tests are done in.
	commandTime = 2 * time.Minute
	// maxCommandTime bounds what a model may ask for.
	maxCommandTime = 10 * time.Minute
	// endingTime is what stopping a command takes at most; the tool's own time
	// is longer than the command's, so that the sandbox is the one to end it.
	endingTime = 15 * time.Second
	// maxCommand bounds the command line. Systems take 128 KiB of one argument.
	maxCommand = 64 << 10
	// shownOutput is what the model gets of an output, half from each end:
	// about 8,000 tokens. The call's record keeps what the limits keep.
	shownOutput = 32 << 10
)

// runCommand makes the tool run_command.
func runCommand(o Options) toolset.Entry {
	standard := o.Commands.Time
	if standard <= 0 {
		standard = commandTime
	}
	r := &commands{policy: o.Policy, launcher: o.Launcher, o: o.Commands, time: min(standard, maxCommandTime)}
	entry := called(toolset.Tool{
		ID: "run_command", Name: "Run Command", Category: "shell",
		Description: strings.Replace(runCommandText, "default 120", fmt.Sprintf("default %d", int(r.time.Seconds())), 1),
		InputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"command": {"type": "string", "minLength": 1, "description": "The command line"},
				"timeout": {"type": "integer", "minimum": 1, "maximum": 600, "description": "Seconds after which it is ended"}
			},
			"required": ["command"],
			"additionalProperties": false
		}`),
		OutputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"command": {"type": "string"},
				"output": {"type": "string", "description": "Standard output and standard error as they came"},
				"exit_code": {"type": "integer", "description": "-1 where a signal ended it"},
				"signal": {"type": "string", "description": "The signal that ended it"},
				"output_bytes": {"type": "integer", "minimum": 0, "description": "Bytes of the whole output, also those that were not kept"},
				"containment": {"enum": ["full", "reduced", "none"], "description": "How well it was contained"}
			},
			"required": ["command", "output", "exit_code", "output_bytes", "containment"],
			"additionalProperties": false
		}`),
		Streaming: true, RequiresConfirmation: true,
		Renderer:    &toolset.Renderer{Type: toolset.RenderCode, Content: "$return.output", Language: "shell"},
		Annotations: toolset.Annotations{Destructive: true, OpenWorld: o.Policy.Network != toolset.NetworkNone || o.Policy.Least == toolset.LevelNone},
		Timeout:     toolset.Duration(maxCommandTime + 2*endingTime),
	}, r.run, onFiles)
	entry.OwnProcess = true
	return entry
}

// commands runs commands.
type commands struct {
	policy   toolset.Policy
	launcher toolset.Launcher
	o        Commands
	time     time.Duration
}

type commandArgs struct {
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

type commandData struct {
	Command     string        `json:"command"`
	Output      string        `json:"output"`
	ExitCode    int           `json:"exit_code"`
	Signal      string        `json:"signal,omitempty"`
	OutputBytes int64         `json:"output_bytes"`
	Containment toolset.Level `json:"containment"`
}

func (c *commands) run(ctx context.Context, call toolset.Call, a commandArgs) (toolset.Result, error) {
	switch {
	case strings.TrimSpace(a.Command) == "":
		return toolset.Result{}, toolset.Errorf("command is empty")
	case strings.ContainsRune(a.Command, 0):
		return toolset.Result{}, toolset.Errorf("command holds a NUL byte")
	case len(a.Command) > maxCommand:
		return toolset.Result{}, toolset.Errorf("command has %s; %s are allowed: write a script file and run that", size(int64(len(a.Command))), size(maxCommand))
	case a.Timeout < 0 || time.Duration(a.Timeout)*time.Second > maxCommandTime:
		return toolset.Result{}, toolset.Errorf("timeout is in seconds, from 1 to %d", int(maxCommandTime.Seconds()))
	case c.launcher == nil:
		return toolset.Result{}, toolset.Errorf("commands can't be run here: there is nothing that could contain them")
	}
	policy := c.policyFor(call.Workspace, a)
	proc, err := c.launcher.Start(ctx, policy, toolset.Command{Args: shellFor(runtime.GOOS, a.Command), Joined: true})
	if err != nil {
		return toolset.Result{}, notStarted(ctx, err)
	}
	exit, out := attend(ctx, proc, policy.Limits.Filled().Output, call)
	if err := context.Cause(ctx); err != nil && exit.Cause == toolset.Stopped {
		return toolset.Result{}, fmt.Errorf("run a command: %w", err)
	}
	return c.tell(a, proc.Level(), exit, out)
}

// policyFor is the policy that a command runs under.
func (c *commands) policyFor(ws *toolset.Workspace, a commandArgs) toolset.Policy {
	p := c.policy.On(ws)
	if c.o.WriteGit {
		p = c.policy.OnWithGit(ws)
	}
	p.UnixSockets = true // between its own processes; many programs need it
	p.Limits.Time = c.time
	if a.Timeout > 0 {
		p.Limits.Time = time.Duration(a.Timeout) * time.Second
	}
	return p
}

// notStarted says why a command didn't start.
func notStarted(ctx context.Context, err error) error {
	var uncontained *toolset.UncontainedError
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("run a command: %w", context.Cause(ctx))
	case errors.As(err, &uncontained):
		msg := "it did not run, because it can't be contained well enough here: " + uncontained.Why
		if uncontained.Fix != "" {
			msg += "; the user can mend that: " + uncontained.Fix
		}
		return toolset.Errorf("%s; or the user can set run_command.sandbox to %s", msg, max(uncontained.Have, toolset.LevelNone))
	}
	return toolset.Errorf("it did not run: %w", err)
}

// tell words how a command went.
func (c *commands) tell(a commandArgs, level toolset.Level, exit toolset.Exit, out toolset.Output) (toolset.Result, error) {
	shown := clipMiddle(out, shownOutput)
	if exit.Cause != toolset.Exited && exit.Cause != toolset.Signalled {
		msg := "the command was ended: " + exit.String()
		if exit.Cause == toolset.TimeOver {
			msg += "; timeout gives it more, up to 600 seconds"
		}
		if shown == "" {
			return toolset.Result{}, toolset.Errorf("%s\nit had written nothing", msg)
		}
		return toolset.Result{}, toolset.Errorf("%s\nits output until then:\n%s", msg, shown)
	}
	data := commandData{
		Command: a.Command, Output: strings.ToValidUTF8(out.String(), "\uFFFD"), ExitCode: exit.Code, Signal: exit.Signal,
		OutputBytes: out.Total, Containment: level,
	}
	notes := []string{fmt.Sprintf("exit %d", exit.Code)}
	if exit.Cause == toolset.Signalled {
		data.ExitCode = -1
		notes[0] = "ended by " + exit.Signal
	}
	if exit.Left > 0 {
		notes = append(notes, count(exit.Left, "background process")+" ended with it")
	}
	if level < toolset.LevelFull {
		notes = append(notes, "contained: "+level.String())
	}
	if out.Total == 0 {
		notes = append(notes, "no output")
	}
	return result(strings.TrimRight(strings.Join(notes, ", ")+"\n"+shown, "\n"), data)
}

// shellFor is how a system's shell is called. Windows' has one that takes a
// text without a second way of reading quotes.
func shellFor(system, command string) []string {
	if system != "windows" {
		return []string{"sh", "-c", command}
	}
	script := "[Console]::OutputEncoding = [Text.Encoding]::UTF8\n$ProgressPreference = 'SilentlyContinue'\n" +
		command + "\nif ($null -ne $LASTEXITCODE) { exit $LASTEXITCODE }"
	units := utf16.Encode([]rune(script))
	raw := make([]byte, 0, 2*len(units))
	for _, u := range units {
		raw = binary.LittleEndian.AppendUint16(raw, u)
	}
	return []string{"powershell.exe", "-NoLogo", "-NoProfile", "-NonInteractive", "-EncodedCommand", base64.StdEncoding.EncodeToString(raw)}
}

// clipMiddle shows an output with at most so many bytes, from both of its ends
// and in whole lines where they aren't too long, and says what is left out.
func clipMiddle(out toolset.Output, limit int) string {
	kept := slices.Concat(out.Head, out.Tail)
	if out.Dropped() <= 0 && len(kept) <= limit {
		return printable(kept)
	}
	head, tail := out.Head, out.Tail
	if out.Dropped() <= 0 {
		head, tail = kept, kept
	}
	head = head[:min(len(head), limit/2)]
	tail = tail[max(0, len(tail)-limit/2):]
	if i := strings.LastIndexByte(string(head), '\n'); i > len(head)/2 {
		head = head[:i+1]
	}
	if i := strings.IndexByte(string(tail), '\n'); i >= 0 && i < len(tail)/2 {
		tail = tail[i+1:]
	}
	left := out.Total - int64(len(head)) - int64(len(tail))
	return strings.TrimRight(printable(head), "\n") + fmt.Sprintf(
		"\n[%s of %s left out of the middle; the call's record keeps more, and redirected to a file it can all be read]\n", size(left), size(out.Total),
	) + printable(tail)
}

// printable makes text of what a program wrote. A line that was written over,
// as progress bars do, shows as it stood at the end.
func printable(raw []byte) string {
	text := strings.ReplaceAll(strings.ToValidUTF8(string(raw), "\uFFFD"), "\r\n", "\n")
	if !strings.Contains(text, "\r") {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimRight(line, "\r\n")
		b.WriteString(body[strings.LastIndexByte(body, '\r')+1:])
		if strings.HasSuffix(line, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
