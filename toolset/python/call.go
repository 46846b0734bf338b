package python

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/toolset"
)

const (
	// endTime bounds the wait for a process that was stopped or killed: the
	// launcher's own steps take some four seconds at most.
	endTime = 10 * time.Second
	// shownOutput is how much of what a tool printed is told with an error,
	// and with a result as its last update.
	shownOutput = 4 << 10
	// readAhead is the buffer of the channel.
	readAhead = 64 << 10
)

// request is the one line that the runner reads.
type request struct {
	Key       string          `json:"key"`
	Root      string          `json:"root"`
	Packages  string          `json:"packages,omitempty"`
	Module    string          `json:"module"`
	Function  string          `json:"function"`
	Args      json.RawMessage `json:"args"`
	Workspace string          `json:"workspace"`
	Context   callContext     `json:"context"`
}

// callContext is document 000's context; the workspace is added there.
type callContext struct {
	ChatID string `json:"chat_id"`
	Page   string `json:"page"`
	Tab    string `json:"tab"`
}

// run does one call.
func (rt *Runtime) run(ctx context.Context, s Spec, c toolset.Call) (toolset.Result, error) {
	j, err := rt.prepare(ctx, s, c)
	if err != nil {
		return toolset.Result{}, err
	}
	p, err := rt.process(ctx, j)
	if err != nil {
		if ctx.Err() != nil {
			return toolset.Result{}, context.Cause(ctx)
		}
		return toolset.Result{}, uncontained(err)
	}
	res, err := j.talk(ctx, p)
	rt.keepSpare(j)
	return res, err
}

// talk sends the request, passes on progress, and ends the process.
func (j *job) talk(ctx context.Context, p toolset.Process) (toolset.Result, error) {
	defer context.AfterFunc(ctx, func() {
		stopping, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		p.Stop(stopping)
	})()
	key := rand.Text()
	sent := make(chan error, 1)
	p.Begin()
	go func() { sent <- j.send(p.Stdin(), key) }() // ends with the process at the latest
	last, err := j.listen(bufio.NewReaderSize(p.Stdout(), readAhead), key)
	if last != nil || errors.Is(err, errForeign) {
		p.Kill() // what it left running has no more to do
	}
	waiting, cancel := context.WithTimeout(context.Background(), endTime+j.policy.Limits.Filled().Time)
	defer cancel()
	exit, waitErr := p.Wait(waiting)
	<-sent
	switch {
	case ctx.Err() != nil:
		return toolset.Result{}, context.Cause(ctx)
	case waitErr != nil:
		return toolset.Result{}, fmt.Errorf("wait for the tool: %w", waitErr)
	case err != nil && !errors.Is(err, io.EOF):
		return toolset.Result{}, &toolset.ToolError{Message: err.Error(), Traceback: output(exit), Err: err}
	case last == nil:
		return toolset.Result{}, noResult(exit)
	}
	return j.end(last, exit)
}

// send writes the request.
func (j *job) send(w io.WriteCloser, key string) error {
	r := request{
		Key: key, Root: j.spec.Dir, Module: j.spec.Module, Function: j.spec.Function, Args: j.call.Args,
		Workspace: j.policy.Workspace, Context: callContext{ChatID: j.call.ChatID, Page: j.call.Page, Tab: j.call.Tab},
	}
	if j.packages != "" {
		r.Packages = filepath.Join(j.packages, packagesFolder)
	}
	if len(r.Args) == 0 {
		r.Args = json.RawMessage("{}")
	}
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode the arguments: %w", err)
	}
	_, err = w.Write(append(line, '\n'))
	return errors.Join(err, w.Close())
}

// listen reads frames up to the last one; nil where the process ended without.
func (j *job) listen(r *bufio.Reader, key string) (*frame, error) {
	for {
		f, err := readFrame(r, key)
		if err != nil {
			return nil, err
		}
		if f.Type != "progress" {
			return f, nil
		}
		j.call.Report(f.progress())
	}
}

// end makes a result or an error of the last frame.
func (j *job) end(f *frame, exit toolset.Exit) (toolset.Result, error) {
	if f.Type == "error" && !endedItself(exit) {
		return toolset.Result{}, noResult(exit) // what it said on the way says less
	}
	if f.Type == "error" {
		trace := f.Traceback
		if out := output(exit); out != "" {
			trace = strings.TrimLeft(trace+"\n"+out, "\n")
		}
		return toolset.Result{}, &toolset.ToolError{Message: explain(f), Traceback: trace}
	}
	for _, note := range f.Notes {
		j.call.Report(toolset.Progress{Stage: "note", Message: note})
	}
	if out := exit.Stderr.String(); strings.TrimSpace(out) != "" {
		data, _ := json.Marshal(map[string]string{"output": tail(out)}) // a string can't fail
		j.call.Report(toolset.Progress{Stage: "output", Message: lastLine(out), Data: data})
	}
	return f.result(), nil
}

// explain is what the model is told of an error.
func explain(f *frame) string {
	switch f.Kind {
	case "load":
		return "the tool can't be loaded: " + f.Message
	case "exit":
		return "the tool ended the program instead of returning: " + f.Message
	case "stopped":
		return "the tool was stopped"
	case "result":
		return "the tool's result can't be used: " + strings.TrimPrefix(f.Message, "BadResult: ")
	}
	return f.Message
}

// endedItself tells whether the process ended by what it did, and not because a
// limit was reached. What is killed after its last frame counts as stopped.
func endedItself(exit toolset.Exit) bool {
	switch exit.Cause {
	case toolset.Exited, toolset.Signalled, toolset.Stopped:
		return true
	}
	return false
}

// noResult is the error of a process that ended without a last frame.
func noResult(exit toolset.Exit) error {
	why := exit.String()
	switch {
	case exit.Cause == toolset.Exited && exit.Code == 0, exit.Cause == toolset.Exited && exit.Code == 3:
		why = "it ended the process without returning, or closed the way to fettle"
	case exit.Cause == toolset.Signalled:
		why = "it crashed: " + exit.String()
	}
	return &toolset.ToolError{Message: "the tool gave no result: " + why, Traceback: output(exit)}
}

// output is the end of what the tool printed, under a heading.
func output(exit toolset.Exit) string {
	var b strings.Builder
	for line := range strings.Lines(exit.Stderr.String()) {
		if !strings.Contains(line, `File "<fettle>"`) { // Python's own traceback of a crash has the runner's lines
			b.WriteString(line)
		}
	}
	out := strings.TrimRight(b.String(), "\n")
	if strings.TrimSpace(out) == "" {
		return ""
	}
	return "printed:\n" + tail(out)
}

// tail is the end of a text.
func tail(s string) string {
	if len(s) <= shownOutput {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return "…" + strings.ToValidUTF8(s[len(s)-shownOutput:], "")
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return tail(s[strings.LastIndexByte(s, '\n')+1:])
}
