package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// mostOver is how much longer a call over an overlay may take than the same process in the
// sandbox without one, if it changes at most one file, whatever the size of the folder.
const mostOver = 5 * time.Millisecond

// calls are the steps that measure a whole call that changes none, one and a hundred files:
// its layer, its process in the sandbox and the landing, next to the process alone.
func (b *casBench) calls() (steps []func() error) {
	layer := filepath.Join(b.dir, "call")
	for _, k := range []int{0, 1, 100} {
		steps = append(steps,
			func() error { return b.timed(fmt.Sprintf("process alone, %d changed", k), b.process(k, nil)) },
			b.change(0),
			func() error {
				return b.timed(fmt.Sprintf("contained call, %d changed", k), func() error { return b.call(layer, k) })
			},
		)
	}
	return steps
}

// process returns what runs a process in the sandbox that changes k files.
func (b *casBench) process(k int, layer *toolset.Layer) func() error {
	return func() error {
		args := []string{"/bin/sh", "-c", `for f; do echo "$0" >"$f"; done`, fmt.Sprint("edit ", b.edits)}
		for i := range k {
			b.edits++
			args = append(args, b.paths[(i*(b.n/k)+b.edits*7)%b.n])
		}
		p := toolset.Policy{Workspace: b.work, Least: toolset.LevelFull, Layer: layer}
		_, err := contained(b.launcher, p, args)
		return err
	}
}

func (b *casBench) call(layer string, k int) error {
	about := cas.LayerMeta{ChatID: "bench", CallID: "call", ManifestID: b.active.ID}
	if _, err := cas.NewLayer(layer, b.ws, about); err != nil {
		return err
	}
	run := b.process(k, &toolset.Layer{Upper: filepath.Join(layer, "upper"), Work: filepath.Join(layer, "work")})
	return errors.Join(run(), b.land(layer), cas.DropLayer(layer))
}

// startSandbox starts the launcher of the calls, or reports why there can be none.
func (b *casBench) startSandbox() (stop func() error, why string, err error) {
	b.launcher = sandbox.New(sandbox.Options{})
	report, err := b.launcher.Report(context.Background())
	if err == nil && report.Level != toolset.LevelFull {
		why = "the sandbox is " + report.String()
	}
	if err == nil && why == "" {
		layers := filepath.Join(b.dir, "probe")
		if err = os.MkdirAll(layers, 0o700); err == nil {
			why, err = b.launcher.Layers(context.Background(), b.work, layers)
		}
	}
	return b.launcher.Close, why, err
}

// over prints how much longer a call takes than its process alone.
func (b *casBench) over(k int) {
	call, alone := fmt.Sprintf("contained call, %d changed", k), fmt.Sprintf("process alone, %d changed", k)
	a, c := b.times[call], b.times[alone]
	if len(a) == 0 || len(a) != len(c) {
		return
	}
	more := make([]time.Duration, len(a))
	for i := range a {
		more[i] = a[i] - c[i]
	}
	slices.Sort(more)
	target := ""
	if k <= 1 {
		target = ", target at most " + ms(mostOver)
	}
	fmt.Printf("  %-36s %10s more than the process alone%s\n", call, ms(more[len(more)/2]), target)
}
