package main

import (
	"bytes"
	"encoding/json"
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
	wall, cpu     time.Duration
	peak, written int64 // bytes: of memory, and to disks; 0 where they are not measured
}

// measure runs the programs in turn and gives the median figures of each.
func (l *lab) measure(programs []program, runs int) ([]figure, error) {
	all := make([][]figure, len(programs))
	for i := -1; i < runs; i++ { // the first round warms up
		for k, p := range programs {
			f, err := l.runOnce(p)
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
			peak: median(figures, func(f figure) int64 { return f.peak }), written: median(figures, func(f figure) int64 { return f.written }),
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

func (l *lab) runOnce(p program) (figure, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return figure{}, err
	}
	defer r.Close()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(l.floor, append([]string{"-measure"}, p.args...)...)
	cmd.Env = append(os.Environ(), p.env...)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = &stdout, &stderr, []*os.File{w}
	err = cmd.Run()
	w.Close()
	if err != nil {
		return figure{}, fmt.Errorf("%w: %s", err, stderr.String())
	}
	var t struct {
		WallNS, CPUNS, Peak, Written int64
		Exit                         int
	}
	if err := json.NewDecoder(r).Decode(&t); err != nil {
		return figure{}, err
	}
	if t.Exit != 0 {
		return figure{}, fmt.Errorf("exit status %d: %s", t.Exit, stderr.String())
	}
	if p.check != nil {
		err = p.check(stdout.Bytes())
	}
	return figure{wall: time.Duration(t.WallNS), cpu: time.Duration(t.CPUNS), peak: t.Peak, written: t.Written}, err
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/1e6) }

func mb(n int64) string { return fmt.Sprintf("%.0f MB", float64(n)/1e6) }

func ratio(a, b time.Duration) string { return fmt.Sprintf("%.2f", float64(a)/float64(b)) }
