package sandbox

import (
	"context"
	"strings"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox/supervisor"
)

// Report says what a machine's sandbox is worth.
type Report struct {
	Level toolset.Level
	// Layers are what it rests on and what is missing, each in some words:
	// "user namespaces", "no Landlock".
	Layers []string
	// Gaps are what a tool can do here though its policy doesn't grant it, each
	// a sentence for the user.
	Gaps []string
	// Fix is a command, or what else to do, for a better level; it may be empty.
	Fix string
}

// String is the report on one line.
func (r Report) String() string { return r.Level.String() + ": " + strings.Join(r.Layers, ", ") }

// Why says what is missing for full, on one line.
func (r Report) Why() string {
	var missing []string
	for _, layer := range r.Layers {
		if strings.HasPrefix(layer, "no ") {
			missing = append(missing, layer)
		}
	}
	if len(missing) == 0 {
		return strings.Join(r.Layers, ", ")
	}
	return strings.Join(missing, ", ")
}

// Report looks at the machine: it builds a sandbox at each level, best first,
// until one can be had, and starts nothing in it. That takes some tens of
// milliseconds, once; the answer is kept. An error is ctx's, or a fault that
// says nothing about the machine.
func (l *Launcher) Report(ctx context.Context) (Report, error) {
	l.probe.Lock()
	defer l.probe.Unlock()
	if l.report != nil {
		return *l.report, nil
	}
	var seen supervisor.Facts
	if highestLevel > toolset.LevelNone {
		plan, err := resolve(toolset.Policy{}, toolset.Command{Args: []string{"nothing"}, Spare: true}, nil)
		if err != nil {
			return Report{}, err
		}
		plan.Probe = true
		if seen, err = l.look(ctx, plan); err != nil {
			return Report{}, err
		}
	}
	r := l.word(seen)
	l.report = &r
	return r, nil
}

// look tries the levels and gives what the first that works said.
func (l *Launcher) look(ctx context.Context, plan *plan) (supervisor.Facts, error) {
	for {
		level := l.best(toolset.LevelFull)
		if level == toolset.LevelNone {
			return supervisor.Facts{}, nil
		}
		proc, err := l.startAt(ctx, level, plan)
		if f, ok := supervisor.IsLack(err); ok {
			l.remember(level, f)
			continue
		}
		if err != nil {
			return supervisor.Facts{}, err
		}
		proc.Kill() // it has ended already, or is about to
		return proc.facts, nil
	}
}

// known is the report as far as it is known without looking.
func (l *Launcher) known() Report { return l.word(supervisor.Facts{}) }

// lacked is what the machine refused for a level; nil is nothing so far.
func (l *Launcher) lacked(level toolset.Level) *supervisor.Failure {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lacks[level]
}
