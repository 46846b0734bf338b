package python

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/toolset"
)

// tool is the runner of one spec.
type tool struct {
	r    *Runtime
	spec Spec
}

var _ toolset.Runner = (*tool)(nil)

// Run does one call. Whatever is wrong with a tool, its requirements or the
// machine is a [*toolset.ToolError], so that a turn can go on without it; the
// cause can be told by [errors.As].
func (t *tool) Run(ctx context.Context, call toolset.Call) (toolset.Result, error) {
	if err := t.r.enter(); err != nil {
		return toolset.Result{}, err
	}
	defer t.r.work.Done()
	if t.spec.Service && !t.spec.Parser {
		return t.runService(ctx, call)
	}
	t.r.count(1)
	p, out, err := t.serve(ctx, call)
	t.r.count(-1)
	if err != nil {
		return toolset.Result{}, t.trouble(ctx, err)
	}
	if t.r.o.Output != nil && out.exit.Stderr.Total > 0 {
		t.r.o.Output(call, out.exit.Stderr)
	}
	var used loaded
	if out.final != nil {
		used = loaded{out.final.Modules, out.final.Own}
	}
	t.r.finish(p, t.spec.Dir, used)
	if out.updates > 0 && !t.spec.Streaming {
		t.r.noticeOnce(t.name(), "%s reports progress; its toolset.yaml should say streaming: true", t.name())
	}
	return t.verdict(ctx, out)
}

// count counts the calls that are running.
func (r *Runtime) count(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy += n
}

// name says which function is meant.
func (t *tool) name() string {
	return t.spec.ToolsetID + " " + filepath.ToSlash(t.spec.Module) + ":" + t.spec.Function
}

// serve finds a process for the call and has it do the work.
func (t *tool) serve(ctx context.Context, call toolset.Call) (*plan, outcome, error) {
	p, err := t.r.plan(ctx, t.spec, call.Workspace, call.Report)
	if err != nil {
		return nil, outcome{}, err
	}
	defer p.release()
	if t.r.o.NoSpares || p.policy.Layer != nil {
		defer t.r.compileBeside(ctx, p)()
	}
	report := func(m message) { call.Report(updateOf(m)) }
	// A layer is its call's alone, and shows the folder as of its mount.
	for spare := p.policy.Layer == nil; ; spare = false {
		var proc toolset.Process
		if spare {
			proc = t.r.take(p)
		}
		warm := proc != nil
		if !warm {
			if proc, err = t.r.o.Launcher.Start(ctx, p.policy, p.command); err != nil {
				return nil, outcome{}, err
			}
		}
		out := conduct(ctx, proc, t.requestOf(p, call), report)
		// A spare that ended before it reached the tool did nothing of the call.
		if !warm || out.started || out.fault != nil || ctx.Err() != nil {
			out.root = p.root
			return p, out, nil
		}
	}
}

// updateOf makes a ToolProgress of a message.
func updateOf(m message) toolset.Progress {
	p := toolset.Progress{Stage: plain(m.Stage, maxMessage), Message: plain(m.Message, maxMessage), Progress: m.Progress}
	if len(m.Data) > 0 && string(m.Data) != "null" {
		p.Data = m.Data
	}
	if p.Progress != nil {
		part := min(max(*p.Progress, 0), 1)
		p.Progress = &part
	}
	return p
}

// trouble makes of what kept a call from being started what the model can be
// told of.
func (t *tool) trouble(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, ErrClosed) {
		return fmt.Errorf("run %s: %w", t.name(), err)
	}
	text := err.Error()
	var uncontained *toolset.UncontainedError
	if errors.As(err, &uncontained) && uncontained.Fix != "" {
		text += "; " + uncontained.Fix
	}
	return &toolset.ToolError{Message: "this tool can't run: " + plain(text, maxMessage), Err: err}
}

// verdict makes a result, or an error, of how a process served its call.
func (t *tool) verdict(ctx context.Context, out outcome) (toolset.Result, error) {
	switch out.exit.Cause {
	case toolset.TimeOver, toolset.MemoryOver, toolset.ProcessOver, toolset.WorkspaceBig, toolset.DiskFull:
		// What it said after it had been told to stop is no result.
		return toolset.Result{}, t.failed(out, "the tool was ended: "+out.exit.Detail)
	}
	if out.final != nil && out.final.T == result {
		res, err := resultOf(*out.final)
		if err != nil {
			return toolset.Result{}, t.failed(out, err.Error())
		}
		for _, note := range out.final.Notes[:min(len(out.final.Notes), 20)] {
			t.r.notice("%s: %s", t.name(), note)
		}
		return res, nil
	}
	if ctx.Err() != nil {
		return toolset.Result{}, fmt.Errorf("run %s: %w", t.name(), context.Cause(ctx))
	}
	switch {
	case out.fault != nil:
		return toolset.Result{}, t.failed(out, "the tool gave no result: "+out.fault.Error())
	case out.final != nil:
		text := out.final.Type
		if out.final.Message != "" {
			text += ": " + out.final.Message
		}
		return toolset.Result{}, t.failed(out, text+t.withoutNetwork(text))
	}
	return toolset.Result{}, t.failed(out, endOf(out.exit))
}

// withoutNetwork adds to an error of the network that the tool may use none.
func (t *tool) withoutNetwork(text string) string {
	if t.spec.Policy.Network != toolset.NetworkNone {
		return ""
	}
	for _, words := range []string{"name resolution", "Network is unreachable", "Name or service not known", "nodename nor servname", "getaddrinfo failed"} {
		if strings.Contains(text, words) {
			return "; the tool has no network: permissions.network in toolset.yaml lists the hosts that a toolset reaches"
		}
	}
	return ""
}

// endOf says how a process ended that gave no result.
func endOf(e toolset.Exit) string {
	switch {
	case e.Cause == toolset.Exited:
		return fmt.Sprintf("the tool ended its process with exit status %d before it gave a result", e.Code)
	case e.Cause == toolset.Signalled && e.Signal == "SIGKILL":
		return "the tool's process was ended by SIGKILL, as a system does that is out of memory"
	case e.Cause == toolset.Signalled:
		return "the tool crashed: its process was ended by " + e.Signal
	}
	return "the tool gave no result: " + e.String()
}

// failed is a failure with what people are shown beside it.
func (t *tool) failed(out outcome, text string) error {
	trace := ""
	if out.final != nil {
		trace = out.final.Traceback
	}
	said := printed(out.exit.Stderr)
	if trace == "" {
		trace, said = crash(said, out.root)
	}
	if said != "" {
		trace = strings.TrimSpace(trace + "\n\nIt printed:\n" + said)
	}
	return &toolset.ToolError{Message: plain(text, maxMessage), Traceback: plain(trace, maxTraceback)}
}

// libraryPath is what leads to a file of Python's own, or of a package.
var libraryPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[^"]*[/\\](python3\.\d+|Lib|site-packages|dist-packages)[/\\]`)
})

// crash finds in what was printed the lines that Python writes when it crashes.
func crash(said, root string) (trace, rest string) {
	at := strings.Index(said, "Fatal Python error: ")
	if at < 0 {
		return "", said
	}
	var lines []string
	for line := range strings.Lines(said[at:]) {
		if strings.Contains(line, `File "<fettle `) || strings.Contains(line, `File "<frozen `) {
			continue
		}
		if strings.HasPrefix(line, "Extension modules:") {
			break
		}
		line = strings.ReplaceAll(line, root+string(filepath.Separator), "")
		if in, file, ok := strings.Cut(line, `File "`); ok {
			line = in + `File "` + libraryPath().ReplaceAllString(file, "")
		}
		lines = append(lines, line)
	}
	return strings.TrimSpace(strings.Join(lines, "")), strings.TrimSpace(said[:at])
}

// resultOf makes a result of the runner's last message. The tool may have
// written that itself, so nothing is taken for granted.
func resultOf(m message) (toolset.Result, error) {
	res := toolset.Result{WorkspacePayload: object(m.WorkspacePayload), Payload: object(m.Payload)}
	if len(m.Data) > 0 && string(m.Data) != "null" {
		res.Data = m.Data
	}
	switch {
	case m.Kind == "str" && m.Text != nil:
		res.Text = *m.Text
		data, err := record.Marshal(map[string]string{"text": res.Text})
		if err != nil {
			return res, fmt.Errorf("read the result: %w", err)
		}
		res.Data = data
	case m.Kind == "dict" && object(m.Data) != nil:
		res.Text = string(m.Data)
	case m.Kind == "result" && m.Text != nil:
		res.Text = *m.Text
	case m.Kind == "result":
		res.Text = string(res.Data)
	default:
		return res, errForged
	}
	return res, nil
}

// object gives a JSON object, and nil for anything else.
func object(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	return raw
}
