package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"

	_ "github.com/fettle-cli/fettle/commands" // a keeper is the whole program, and takes as long to start
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// sandboxRuns is how often each is run: a start varies by some milliseconds.
const sandboxRuns = 51

// timed is one way to run something.
type timed struct {
	label string
	run   func() (time.Duration, error)
}

// runSandbox prints what containing a process costs.
func runSandbox(l *lab) error {
	launcher := sandbox.New(sandbox.Options{})
	defer launcher.Close()
	report, err := launcher.Report(context.Background())
	if err != nil {
		return err
	}
	fmt.Printf("\nsandbox %s\n", report)
	workspace, err := os.MkdirTemp(l.dir, "workspace-*")
	if err != nil {
		return err
	}
	at := func(level toolset.Level, args ...string) timed {
		p := toolset.Policy{Workspace: workspace, Least: level, Most: level}
		return timed{"… " + level.String(), func() (time.Duration, error) { return contained(launcher, p, args) }}
	}
	ways := []timed{{"true", bare("/bin/true")}, {"fettle version", bare(l.fettle, "version")}}
	for level := report.Level; level >= toolset.LevelNone; level-- {
		ways = append(ways, at(level, "/bin/true"))
	}
	p := toolset.Policy{Workspace: workspace, Least: report.Level}
	ways = append(ways, timed{"a spare's answer", func() (time.Duration, error) { return spare(launcher, p) }})
	if err := inTurn("starting /bin/true", ways); err != nil {
		return err
	}
	python, err := exec.LookPath("/usr/bin/python3")
	if err != nil {
		fmt.Println("  no /usr/bin/python3 to measure")
		return nil
	}
	return inTurn("python3 -I -S -c pass", []timed{
		{"python3", bare(python, "-I", "-S", "-c", "pass")}, at(report.Level, python, "-I", "-S", "-c", "pass"),
	})
}

// inTurn runs each way in turn and prints the medians, with the ratio to the
// first.
func inTurn(title string, ways []timed) error {
	taken := make([][]time.Duration, len(ways))
	for i := -1; i < sandboxRuns; i++ { // the first round warms up
		for k, w := range ways {
			d, err := w.run()
			if err != nil {
				return fmt.Errorf("%s: %w", w.label, err)
			}
			if i >= 0 {
				taken[k] = append(taken[k], d)
			}
		}
	}
	fmt.Printf("\n%s (medians of %d)\n", title, sandboxRuns)
	first := time.Duration(0)
	for k, w := range ways {
		slices.Sort(taken[k])
		mid := taken[k][sandboxRuns/2]
		if k == 0 {
			first = mid
		}
		fmt.Printf("  %-16s %9s  least %9s  ratio %s\n", w.label, ms(mid), ms(taken[k][0]), ratio(mid, first))
	}
	return nil
}

func bare(path string, args ...string) func() (time.Duration, error) {
	return func() (time.Duration, error) {
		cmd := exec.Command(path, args...)
		cmd.Env = []string{} // as in a sandbox
		begun := time.Now()
		err := cmd.Run()
		return time.Since(begun), err
	}
}

func contained(l *sandbox.Launcher, p toolset.Policy, args []string) (time.Duration, error) {
	begun := time.Now()
	ran, err := l.Run(context.Background(), p, toolset.Command{Args: args})
	took := time.Since(begun)
	if err == nil && ran.Exit.Code != 0 {
		err = fmt.Errorf("%v: %s", ran.Exit, ran.Exit.Stderr)
	}
	return took, err
}

// spare times an answer of a process that waits in its sandbox.
func spare(l *sandbox.Launcher, p toolset.Policy) (time.Duration, error) {
	proc, err := l.Start(context.Background(), p, toolset.Command{Args: []string{"/bin/cat"}, Spare: true})
	if err != nil {
		return 0, err
	}
	defer proc.Kill()
	out := bufio.NewReader(proc.Stdout())
	if err := ask(proc, out); err != nil { // it has started when it has answered once
		return 0, err
	}
	begun := time.Now()
	proc.Begin()
	err = ask(proc, out)
	return time.Since(begun), err
}

func ask(proc toolset.Process, out *bufio.Reader) error {
	if _, err := io.WriteString(proc.Stdin(), "a call\n"); err != nil {
		return err
	}
	_, err := out.ReadString('\n')
	return err
}
