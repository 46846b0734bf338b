package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// lab holds what the figures of one run need: the programs and a folder.
type lab struct {
	dir           string
	fettle, floor string
}

func newLab() (*lab, error) {
	dir, err := os.MkdirTemp("", "fettle-bench-*")
	if err != nil {
		return nil, err
	}
	l := &lab{dir: dir, fettle: filepath.Join(dir, "fettle"), floor: filepath.Join(dir, "floor")}
	for out, pkg := range map[string]string{l.fettle: ".", l.floor: "./internal/bench/floor"} {
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			return nil, errors.Join(fmt.Errorf("build %s: %w\n%s", pkg, err, text), l.close())
		}
	}
	fmt.Printf("%s/%s, %d processors, %s\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	return l, nil
}

func (l *lab) close() error { return os.RemoveAll(l.dir) }

// program is one thing that is measured.
type program struct {
	label string
	args  []string
	env   []string
	check func(stdout []byte) error // nil takes any output
}

// figure is what one run took.
type figure struct {
	wall, cpu time.Duration
	peak      int64 // bytes
}

// measure runs the programs in turn and gives the median figures of each.
func measure(programs []program, runs int) ([]figure, error) {
	all := make([][]figure, len(programs))
	for i := -1; i < runs; i++ { // the first round warms up
		for k, p := range programs {
			f, err := runOnce(p)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.label, err)
			}
			if i >= 0 {
				all[k] = append(all[k], f)
			}
		}
	}
	out := make([]figure, len(programs))
	for k, figures := range all {
		out[k] = figure{
			wall: median(figures, func(f figure) time.Duration { return f.wall }),
			cpu:  median(figures, func(f figure) time.Duration { return f.cpu }),
			peak: median(figures, func(f figure) int64 { return f.peak }),
		}
	}
	return out, nil
}

func median[T int64 | time.Duration](figures []figure, of func(figure) T) T {
	values := make([]T, len(figures))
	for i, f := range figures {
		values[i] = of(f)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func runOnce(p program) (figure, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(p.args[0], p.args[1:]...)
	cmd.Env = append(os.Environ(), p.env...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begun := time.Now()
	err := cmd.Run()
	f := figure{wall: time.Since(begun)}
	if err != nil {
		return f, fmt.Errorf("%w: %s", err, stderr.String())
	}
	f.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	f.peak = peakMemory(cmd.ProcessState)
	if p.check != nil {
		err = p.check(stdout.Bytes())
	}
	return f, err
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/1e6) }

func mb(n int64) string { return fmt.Sprintf("%.0f MB", float64(n)/1e6) }

func ratio(a, b time.Duration) string { return fmt.Sprintf("%.2f", float64(a)/float64(b)) }
