package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// runCAS prints the figures of snapshots and restores beside their floors, and
// beside git where it is. FETTLE_BENCH_FILES chooses other numbers of files,
// FETTLE_BENCH_OPEN how many megabytes are in the store that is opened, and
// FETTLE_BENCH_PARTS some of the parts alone, as in `snapshot,restore`. The
// folders are on a journalled file system of their own where one can be made:
// others take many times as long to make files after many were removed.
func runCAS(l *lab) (err error) {
	sizes, err := fileCounts([]int{1_000, 10_000, 100_000})
	if err != nil {
		return err
	}
	parts, err := casParts()
	if err != nil {
		return err
	}
	disk, about, release, err := casDisk(l.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	fmt.Println("on", about)
	child := filepath.Join(l.dir, "states")
	if out, err := exec.Command("go", "build", "-o", child, "./internal/bench/states").CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	if parts.onFiles() {
		for _, n := range sizes {
			if err := casOf(disk, child, n, parts); err != nil {
				return err
			}
		}
	}
	if !parts["open"] {
		return nil
	}
	return casOpening(disk)
}

// partSet has the parts that are to be measured.
type partSet map[string]bool

// casParts gives the chosen parts, or all.
func casParts() (partSet, error) {
	all := []string{"snapshot", "restore", "landing", "call", "fresh", "growth", "checkout", "memory", "open"}
	chosen := partSet{}
	text := os.Getenv("FETTLE_BENCH_PARTS")
	if text == "" {
		text = strings.Join(all, ",")
	}
	for p := range strings.SplitSeq(text, ",") {
		if !slices.Contains(all, p) {
			return nil, fmt.Errorf("FETTLE_BENCH_PARTS: %q is none of %s", p, strings.Join(all, ", "))
		}
		chosen[p] = true
	}
	return chosen, nil
}

// onFiles tells whether any part needs a folder of files.
func (p partSet) onFiles() bool { return len(p) > 1 || !p["open"] }

func fileCounts(otherwise []int) ([]int, error) {
	text := os.Getenv("FETTLE_BENCH_FILES")
	if text == "" {
		return otherwise, nil
	}
	var sizes []int
	for s := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(s)
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// casBench is one folder with what is measured on it. A thing and its floor are
// measured in turn, so that both meet the same neighbours on the machine; what
// counts is the median of the ratios of such pairs.
type casBench struct {
	n     int
	parts partSet
	dir   string // of everything
	work  string
	paths []string
	git   string
	times map[string][]time.Duration
	order []string
	edits int
	grown []int64 // bytes on the disk for one changed file
	peak  string  // what the child says of its memory

	launcher *sandbox.Launcher // of the calls; nil where there are none

	store  *cas.Store
	close  func() error
	ws     *cas.Workspace
	active *cas.Manifest
}

func casOf(disk, child string, n int, parts partSet) (err error) {
	b := &casBench{n: n, parts: parts, dir: filepath.Join(disk, fmt.Sprint("cas", n)), times: make(map[string][]time.Duration)}
	b.work = filepath.Join(b.dir, "work")
	if b.paths, err = makeFiles(b.work, n); err != nil {
		return err
	}
	if b.git, err = exec.LookPath("git"); err != nil {
		b.git = ""
	}
	if parts["call"] {
		stop, why, err := b.startSandbox()
		if err != nil {
			return errors.Join(err, stop())
		}
		defer func() { err = errors.Join(err, stop()) }()
		if why != "" {
			fmt.Printf("no contained calls: %s\n", why)
			b.launcher = nil
		}
	}
	rounds := 5
	if n > 20_000 {
		rounds = 3 // a minute each
	}
	for range rounds {
		if err := b.round(); err != nil {
			return err
		}
	}
	if parts["memory"] {
		out, err := exec.Command(child, b.work, filepath.Join(b.dir, "child")).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		b.peak = strings.TrimSpace(string(out))
	}
	b.print()
	return os.RemoveAll(b.dir)
}

// timed measures one thing in its turn; without a name it is only done.
func (b *casBench) timed(name string, do func() error) error {
	start := time.Now()
	if err := do(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if name == "" {
		return nil
	}
	if b.times[name] == nil {
		b.order = append(b.order, name)
	}
	b.times[name] = append(b.times[name], time.Since(start))
	return nil
}

// beside measures a thing right after the bare walk.
func (b *casBench) beside(name string, do func() error) error {
	if err := b.timed(walkOf(name), func() error { return statWalk(b.work) }); err != nil {
		return err
	}
	return b.timed(name, do)
}

func walkOf(name string) string { return "walk before: " + name }

// round measures everything, what is quick several times.
func (b *casBench) round() (err error) {
	root, err := os.OpenRoot(b.work)
	if err != nil {
		return err
	}
	defer root.Close()
	b.ws = &cas.Workspace{Path: b.work, Root: root, Bound: true}
	b.active = nil
	data, repo := filepath.Join(b.dir, "data"), filepath.Join(b.dir, "repo")
	b.store, b.close = cas.OpenDir(data)
	defer func() { err = errors.Join(err, b.close(), os.RemoveAll(data), os.RemoveAll(repo)) }()
	steps := []func() error{
		func() error { return b.timed("read and hash", func() error { return hashAll(b.paths) }) },
		func() error { return b.timed("first snapshot", b.snapshot) },
	}
	if len(b.parts) > 1 || !b.parts["call"] { // git takes minutes for hundreds of thousands of files
		steps = append(steps, func() error { return b.gitDo(repo, "git add, first", b.gitAdd) })
	}
	const laps = 4
	for range laps {
		if b.parts["snapshot"] {
			steps = append(steps, b.snapshots(repo)...)
		}
		if b.parts["restore"] {
			steps = append(steps, func() error { return b.restore(repo) })
		}
		if b.parts["landing"] {
			steps = append(steps, b.landings(repo)...)
		}
		if b.launcher != nil {
			steps = append(steps, b.calls()...)
		}
		if b.parts["fresh"] {
			steps = append(steps, func() error { return b.fresh(data) })
		}
	}
	if b.parts["growth"] {
		steps = append(steps, func() error { return b.growth(data) })
	}
	if b.parts["checkout"] {
		steps = append(steps, func() error { return b.checkout(data, repo) })
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// snapshots are the steps that measure states with none, one and a hundred files
// changed.
func (b *casBench) snapshots(repo string) (steps []func() error) {
	for _, k := range []int{0, 1, 100} {
		steps = append(steps, b.change(k), func() error {
			if k > 0 {
				return nil
			}
			return b.gitDo(repo, "", b.gitAdd) // it, too, may look twice at what is new
		}, func() error { return b.beside(fmt.Sprintf("snapshot, %d changed", k), b.snapshot) },
			func() error { return b.gitDo(repo, fmt.Sprintf("git add, %d changed", k), b.gitAdd) })
	}
	return steps
}

func (b *casBench) snapshot() error {
	snap, err := b.store.Snapshot(context.Background(), b.ws, cas.SnapshotOptions{
		About: cas.About{ChatID: "bench", Source: cas.ToolRun}, Parent: b.active, Limits: cas.Limits{KeepFree: -1},
	})
	if err == nil {
		b.active = snap.Manifest
	}
	return err
}

// change edits k files, and lets them rest until their stat can be believed.
func (b *casBench) change(k int) func() error {
	return func() error {
		for i := range k {
			b.edits++
			text := fmt.Sprintf("edit %d\n%s", b.edits, strings.Repeat("changed ", 100))
			if err := os.WriteFile(b.paths[(i*(b.n/k)+b.edits*7)%b.n], []byte(text), 0o644); err != nil {
				return err
			}
		}
		<-time.After(50 * time.Millisecond)
		if k == 0 {
			return b.snapshot() // nothing is left to be looked at twice
		}
		return nil
	}
}

// growth measures what one changed file takes of the disk, whole blocks and the
// store's own log included. The store is closed before and after: one that is open
// has blocks in front of its logs' ends, which it gives back.
func (b *casBench) growth(data string) error {
	const edits = 10
	var size [2]int64
	for i := range size {
		err := b.close()
		if err == nil {
			size[i], err = blocksOf(data)
		}
		b.store, b.close = cas.OpenDir(data)
		for j := 0; i == 0 && j < edits && err == nil; j++ {
			err = errors.Join(b.change(1)(), b.snapshot())
		}
		if err != nil {
			return err
		}
	}
	b.grown = append(b.grown, (size[1]-size[0])/edits)
	return nil
}

func (b *casBench) print() {
	fmt.Printf("\n%d files (medians of %d, quick things of %d)\n", b.n, len(b.times["first snapshot"]), len(b.times["snapshot, 0 changed"]))
	for _, name := range b.order {
		if !strings.HasPrefix(name, walkOf("")) {
			fmt.Printf("  %-36s %10s\n", name, ms(middle(b.times[name])))
		}
	}
	b.against("first snapshot", "read and hash", "6")
	b.against("first snapshot", "git add, first", "0.25")
	for _, name := range []string{"snapshot, 0 changed", "snapshot, 1 changed"} {
		b.against(name, walkOf(name), "1.3")
		b.against(name, strings.Replace(name, "snapshot", "git add", 1), "1")
	}
	b.against("snapshot, 0 changed, store opened", walkOf("snapshot, 0 changed, store opened"), "2")
	b.against("snapshot, 100 changed", "git add, 100 changed", "0.5")
	b.against("landing, 100 changed", "git add, 100 landed", "0.3")
	for _, k := range []int{0, 1, 100} {
		b.over(k)
	}
	b.against("restore, 100 differ", walkOf("restore, 100 differ"), "1.8")
	b.against("restore, 100 differ", "git read-tree -u -m, 100 differ", "0.6")
	b.against("full checkout", "git checkout-index, packed", "0.7")
	if slices.Sort(b.grown); len(b.grown) > 0 {
		fmt.Printf("  one changed file grows the store by %d KB on the disk, target at most 64\n", b.grown[len(b.grown)/2]>>10)
	}
	if b.peak != "" {
		fmt.Printf("  %s\n", b.peak)
	}
}

// against prints the median of the ratios of two things that were measured in
// turn.
func (b *casBench) against(what, floor, target string) {
	a, c := b.times[what], b.times[floor]
	if len(a) == 0 || len(a) != len(c) {
		return
	}
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = float64(a[i]) / float64(c[i])
	}
	slices.Sort(ratios)
	n := len(ratios)
	name, _, walk := strings.Cut(floor, ": ")
	if walk {
		floor = "the walk"
	} else {
		floor = name
	}
	fmt.Printf("  %-36s %5.2f × %s (%.2f to %.2f in the middle half), target at most %s\n",
		what, ratios[n/2], floor, ratios[n/4], ratios[(3*n)/4], target)
}

func middle(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	all = slices.Clone(all)
	slices.Sort(all)
	return all[len(all)/2]
}
