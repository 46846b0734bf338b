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
)

// runCAS prints the figures of snapshots and restores beside their floors, and
// beside git where it is. FETTLE_BENCH_FILES chooses other numbers of files.
// The folders are in TMPDIR, which should be on a journalled file system:
// others take many times as long to make files after many were removed.
func runCAS(l *lab) error {
	sizes := []int{1_000, 10_000, 100_000}
	if text := os.Getenv("FETTLE_BENCH_FILES"); text != "" {
		sizes = nil
		for s := range strings.SplitSeq(text, ",") {
			n, err := strconv.Atoi(s)
			if err != nil {
				return err
			}
			sizes = append(sizes, n)
		}
	}
	for _, n := range sizes {
		if err := casOf(l, n); err != nil {
			return err
		}
	}
	return nil
}

// casBench is one folder with what is measured on it.
type casBench struct {
	n     int
	dir   string // of everything
	work  string
	paths []string
	git   string
	times map[string][]time.Duration
	order []string
	edits int

	store  *cas.Store
	close  func() error
	ws     *cas.Workspace
	active *cas.Manifest
}

func casOf(l *lab, n int) (err error) {
	b := &casBench{n: n, dir: filepath.Join(l.dir, fmt.Sprint("cas", n)), times: make(map[string][]time.Duration)}
	b.work = filepath.Join(b.dir, "work")
	if b.paths, err = makeFiles(b.work, n); err != nil {
		return err
	}
	if b.git, err = exec.LookPath("git"); err != nil {
		b.git = ""
	}
	const rounds = 5
	for i := range rounds {
		if err := b.round(i); err != nil {
			return err
		}
	}
	b.print()
	return os.RemoveAll(b.dir)
}

// timed measures one thing in its turn.
func (b *casBench) timed(name string, do func() error) error {
	start := time.Now()
	if err := do(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if b.times[name] == nil {
		b.order = append(b.order, name)
	}
	b.times[name] = append(b.times[name], time.Since(start))
	return nil
}

// round measures everything once, each thing beside the others.
func (b *casBench) round(i int) (err error) {
	root, err := os.OpenRoot(b.work)
	if err != nil {
		return err
	}
	defer root.Close()
	b.ws = &cas.Workspace{Path: b.work, Root: root, Bound: true}
	b.active = nil
	data, repo := filepath.Join(b.dir, fmt.Sprint("data", i)), filepath.Join(b.dir, fmt.Sprint("repo", i))
	b.store, b.close = cas.OpenDir(data)
	defer func() { err = errors.Join(err, b.close()) }()
	steps := []func() error{
		func() error { return b.timed("stat walk", func() error { return statWalk(b.work) }) },
		func() error { return b.timed("read and hash", func() error { return hashAll(b.paths) }) },
		func() error { return b.timed("first snapshot", b.snapshot) },
		func() error { return b.gitDo(repo, "git add, first", b.gitAdd) },
	}
	for _, k := range []int{0, 1, 100} {
		steps = append(steps, b.change(k), func() error {
			return b.timed(fmt.Sprintf("snapshot, %d changed", k), b.snapshot)
		}, func() error { return b.gitDo(repo, fmt.Sprintf("git add, %d changed", k), b.gitAdd) })
	}
	steps = append(steps, func() error { return b.fresh(data) }, func() error { return b.restore(repo) }, func() error { return b.checkout(data, repo) })
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
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
			if err := os.WriteFile(b.paths[i*(b.n/k)], []byte(text), 0o644); err != nil {
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

// fresh is a snapshot by a process that knows nothing yet.
func (b *casBench) fresh(data string) error {
	if err := b.close(); err != nil {
		return err
	}
	b.store, b.close = cas.OpenDir(data)
	if err := b.snapshot(); err != nil { // what the changes before have left racy
		return err
	}
	if err := b.close(); err != nil {
		return err
	}
	return b.timed("snapshot, 0 changed, store opened", func() error {
		b.store, b.close = cas.OpenDir(data)
		return b.snapshot()
	})
}

// restore brings a hundred files back.
func (b *casBench) restore(repo string) error {
	then := b.active
	tree := ""
	if err := b.gitDo(repo, "", func(git func(...string) (string, error)) (err error) {
		tree, err = git("write-tree")
		return err
	}); err != nil {
		return err
	}
	back := func(git func(...string) (string, error)) error {
		_, err := git("read-tree", "-u", "-m", tree)
		return err
	}
	if err := errors.Join(b.change(100)(), b.gitDo(repo, "", b.gitAdd)); err != nil {
		return err
	}
	if err := b.gitDo(repo, "git read-tree -u -m, 100 differ", back); err != nil {
		return err
	}
	if err := errors.Join(b.snapshot(), b.change(100)(), b.snapshot()); err != nil {
		return err
	}
	return b.timed("restore, 100 differ", func() error {
		_, err := b.store.Materialize(context.Background(), b.ws, then, cas.RestoreOptions{
			About: cas.About{ChatID: "bench", Source: cas.Restored}, Active: b.active, Limits: cas.Limits{KeepFree: -1},
		})
		return err
	})
}

// checkout fills an empty folder.
func (b *casBench) checkout(data, repo string) error {
	empty := filepath.Join(data, "checkout")
	if err := os.Mkdir(empty, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(empty)
	if err != nil {
		return err
	}
	defer root.Close()
	err = b.timed("full checkout", func() error {
		_, err := b.store.Materialize(context.Background(), &cas.Workspace{Path: empty, Root: root}, b.active, cas.RestoreOptions{
			About: cas.About{ChatID: "bench", Source: cas.Restored}, Limits: cas.Limits{KeepFree: -1},
		})
		return err
	})
	if err != nil {
		return err
	}
	if err := b.gitDo(repo, "", func(git func(...string) (string, error)) error {
		_, err := git("repack", "-a", "-d", "-q")
		return err
	}); err != nil {
		return err
	}
	return b.gitDo(repo, "git checkout-index, packed", func(git func(...string) (string, error)) error {
		_, err := git("checkout-index", "-a", "--prefix="+filepath.Join(repo, "out")+"/")
		return err
	})
}

func (b *casBench) gitAdd(git func(...string) (string, error)) error {
	if _, err := git("add", "-A"); err != nil {
		return err
	}
	_, err := git("write-tree")
	return err
}

// gitDo runs git on the same folder, with a repository of its own beside it,
// and measures it where it has a name.
func (b *casBench) gitDo(repo, name string, do func(git func(...string) (string, error)) error) error {
	if b.git == "" {
		return nil
	}
	git := func(args ...string) (string, error) {
		cmd := exec.Command(b.git, append([]string{"--git-dir=" + repo, "--work-tree=" + b.work}, args...)...)
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err
	}
	if _, err := os.Stat(repo); err != nil {
		if _, err := git("init", "-q"); err != nil {
			return err
		}
	}
	if name == "" {
		return do(git)
	}
	return b.timed(name, func() error { return do(git) })
}

func (b *casBench) print() {
	middle := func(name string) time.Duration {
		all := slices.Clone(b.times[name])
		if len(all) == 0 {
			return 0
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	fmt.Printf("\n%d files (medians of %d)\n", b.n, len(b.times["stat walk"]))
	for _, name := range b.order {
		fmt.Printf("  %-36s %10s  %6s × the walk\n", name, ms(middle(name)), ratio(middle(name), middle("stat walk")))
	}
	against := func(what, floor, target string) {
		if middle(what) > 0 && middle(floor) > 0 {
			fmt.Printf("  %-36s %6s × %s, target %s\n", what, ratio(middle(what), middle(floor)), floor, target)
		}
	}
	against("first snapshot", "read and hash", "at most 6")
	against("first snapshot", "git add, first", "at most 0.25")
	against("snapshot, 0 changed", "stat walk", "at most 1.3")
	against("snapshot, 1 changed", "stat walk", "at most 1.3")
	against("snapshot, 0 changed, store opened", "stat walk", "at most 2")
	against("snapshot, 0 changed", "git add, 0 changed", "at most 1")
	against("snapshot, 1 changed", "git add, 1 changed", "at most 1")
	against("snapshot, 100 changed", "git add, 100 changed", "at most 0.5")
	against("restore, 100 differ", "stat walk", "at most 1.8")
	against("restore, 100 differ", "git read-tree -u -m, 100 differ", "at most 0.6")
	against("full checkout", "git checkout-index, packed", "at most 0.7")
}
