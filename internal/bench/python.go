package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/python"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// spareTime is what a spare gets to be ready before a warm call is timed. In a
// turn it has the time in which the model answers.
const spareTime = 150 * time.Millisecond

// pythonCalls prints what a call of a Python tool costs beside an interpreter
// that does nothing.
func pythonCalls(l *lab) error {
	launcher := sandbox.New(sandbox.Options{})
	defer launcher.Close()
	cache := filepath.Join(l.dir, "python")
	warm := python.New(python.Options{Launcher: launcher, CacheDir: cache})
	defer warm.Close(context.Background())
	cold := python.New(python.Options{Launcher: launcher, CacheDir: cache, NoSpares: true})
	defer cold.Close(context.Background())
	in, err := warm.Interpreter(context.Background())
	if err != nil {
		fmt.Println("\ncalling Python tools:", err)
		return nil
	}
	report, err := launcher.Report(context.Background())
	if err != nil {
		return err
	}
	ways, err := callWays(l, in, warm, cold)
	if err != nil {
		return err
	}
	fmt.Printf("\nPython %s, sandbox %s; targets: warm at most 0.10, cold at most 3\n", in.Version, report.Level)
	return inTurn("calling tools.analyze:run of my-toolset, and a function that does nothing", ways)
}

// callWays are the ways to call a tool, the floor first.
func callWays(l *lab, in python.Interpreter, warm, cold *python.Runtime) ([]timed, error) {
	dir := filepath.Join(l.dir, "toolset")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "toolsets", "my-toolset"))); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "tools", "nothing.py"), []byte("def run(workspace):\n    return {}\n"), 0o644); err != nil {
		return nil, err
	}
	ways := []timed{
		{"python3 -c pass", func() (time.Duration, error) {
			begun := time.Now()
			err := exec.Command(in.Path, "-c", "pass").Run()
			return time.Since(begun), err
		}},
	}
	for _, tool := range []struct{ file, args string }{{"nothing", `{}`}, {"analyze", `{"filename":"a.csv"}`}} {
		for _, way := range []struct {
			label string
			r     *python.Runtime
			pause time.Duration
		}{{"warm", warm, spareTime}, {"cold", cold, 0}} {
			run, err := callTool(l, way.r, toolCall{dir, tool.file, tool.args, way.pause})
			if err != nil {
				return nil, err
			}
			ways = append(ways, timed{way.label + " " + tool.file, run})
		}
	}
	return ways, nil
}

// toolCall is a call of the function run in a file of a toolset.
type toolCall struct {
	dir, file, args string
	pause           time.Duration // before it
}

// callTool makes a call that can be timed, in a workspace of its own.
func callTool(l *lab, r *python.Runtime, c toolCall) (func() (time.Duration, error), error) {
	path, err := os.MkdirTemp(l.dir, "workspace-*")
	if err != nil {
		return nil, err
	}
	ws, err := toolset.OpenManaged(path)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(ws.Path, "a.csv"), []byte("name,n\nx,1\ny,2\n"), 0o644); err != nil {
		return nil, err
	}
	runner := r.Runner(python.Spec{
		ToolsetID: "my-toolset", Dir: c.dir, Module: "tools/" + c.file + ".py", Function: "run",
		Policy: toolset.Policy{Least: toolset.LevelNone, Limits: toolset.Limits{FreeDisk: toolset.NoLimit}},
	})
	return func() (time.Duration, error) {
		<-time.After(c.pause)
		begun := time.Now()
		_, err := runner.Run(context.Background(), toolset.Call{ChatID: "c", Args: json.RawMessage(c.args), Workspace: ws})
		return time.Since(begun), err
	}, nil
}
