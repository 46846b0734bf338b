package registry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/internal/kv"
)

// A child process imports the bundle of childRef into childDir and dies at
// childStep, with no chance to do anything more.
const (
	childDir  = "FETTLE_TEST_IMPORT_DIR"
	childRef  = "FETTLE_TEST_IMPORT_REF"
	childStep = "FETTLE_TEST_IMPORT_STEP"
	childDo   = "FETTLE_TEST_IMPORT_DO"
)

// diedAtStep is the status of a child that came to its step, where the system
// has no SIGKILL to tell it.
const diedAtStep = 77

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := child(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(dir string) error {
	store := kv.Open(filepath.Join(dir, "store"), kv.Options{})
	r := New(Options{DataDir: dir, Store: store})
	r.pause = func(step string) {
		if step == os.Getenv(childStep) {
			die()
		}
	}
	ctx := context.Background()
	if os.Getenv(childDo) == "remove" {
		_, err := r.Remove(ctx, "example")
		return errors.Join(err, store.Close())
	}
	p, err := r.Plan(ctx, os.Getenv(childRef), PlanOptions{})
	if err != nil {
		return err
	}
	_, err = r.Apply(ctx, p, ApplyOptions{Approved: true, Progress: func(done, total int64) {
		if os.Getenv(childStep) == "extracting" && done == total/2 {
			die()
		}
	}})
	return errors.Join(err, p.Close(), store.Close())
}

// die ends this process as kill -9 does.
func die() {
	if runtime.GOOS == "windows" {
		os.Exit(diedAtStep)
	}
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		os.Exit(1)
	}
	select {}
}

// run starts a child and tells whether it died at its step.
func runChild(t *testing.T, env ...string) (died bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && (exit.ExitCode() == -1 || exit.ExitCode() == diedAtStep) {
		return true
	}
	if err != nil {
		t.Errorf("child: %v\n%s", err, out)
	}
	return false
}

func TestAKilledChangeLeavesOldOrNew(t *testing.T) {
	t.Parallel()
	steps := []string{"extracting", "extracted", "files noted", "mirror dropped", "records written", "mirror written"}
	for _, fresh := range []bool{true, false} {
		for i, step := range steps {
			t.Run(fmt.Sprintf("import over nothing %v, %s", fresh, step), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				oldRef, newRef := makeBundle(t), makeBundle(t, "VERSION", "2.0.0")
				if !fresh && runChild(t, childDir+"="+dir, childRef+"="+oldRef, childStep+"=none") {
					t.Fatal("the first import died")
				}
				if !runChild(t, childDir+"="+dir, childRef+"="+newRef, childStep+"="+step) {
					t.Fatal("it never came to that step")
				}
				w := openWorld(t, dir)
				w.sound()
				list, err := w.List(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				want := []string{"2.0.0"}
				switch {
				case i < slices.Index(steps, "records written") && fresh:
					want = nil
				case i < slices.Index(steps, "records written"):
					want = []string{"1.0.0"}
				}
				var got []string
				for _, info := range list {
					got = append(got, info.Toolset.Version)
				}
				if !slices.Equal(got, want) {
					t.Errorf("there is %v, want %v", got, want)
				}
				w.install(newRef)
				w.sound()
				if names := w.folderNames(); len(names) != 1 {
					t.Errorf("the next import leaves %v", names)
				}
				w.onlyCurrentRows()
			})
		}
	}
	for _, step := range []string{"mirror dropped", "records written", "removed"} {
		t.Run("remove, "+step, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.install(makeBundle(t))
			if !runChild(t, childDir+"="+w.dir, childDo+"=remove", childStep+"="+step) {
				t.Fatal("it never came to that step")
			}
			w.sound()
			list, err := w.List(t.Context())
			if err != nil || (step == "mirror dropped") != (len(list) == 1) {
				t.Errorf("%d are there, %v", len(list), err)
			}
			w.install(makeBundle(t, "ID", "next", "SERVER", "next-server"))
			if names := w.folderNames(); len(names) != 1+len(list) {
				t.Errorf("the next import leaves %v", names)
			}
			w.onlyCurrentRows()
		})
	}
}

// onlyCurrentRows wants no row of a file that no toolset has.
func (w *world) onlyCurrentRows() {
	w.t.Helper()
	err := w.view(context.Background(), func(tx *kv.Tx) error {
		for f, err := range w.tables.files.Scan(tx, kv.Range{}) {
			if err != nil {
				return err
			}
			set, err := w.tables.toolsets.Get(tx, kv.Str(f.ToolsetID))
			if err != nil || set.Revision != f.Revision {
				w.t.Errorf("a row of %s %s is left: %v", f.ToolsetID, f.Revision, err)
			}
		}
		return nil
	})
	if err != nil {
		w.t.Error(err)
	}
}

func TestImportsAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	same := makeBundle(t)
	refs := []string{same, same, makeBundle(t, "ID", "other", "SERVER", "other-server"), makeBundle(t, "ID", "third", "SERVER", "third-server")}
	var wg sync.WaitGroup
	for _, ref := range refs {
		wg.Go(func() { runChild(t, childDir+"="+dir, childRef+"="+ref) })
	}
	wg.Wait()
	w := openWorld(t, dir)
	w.sound()
	list, err := w.List(t.Context())
	if err != nil || len(list) != 3 {
		t.Errorf("%d toolsets, %v", len(list), err)
	}
	w.onlyCurrentRows()
}

func TestOfTwoPlansOneIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.plan(makeBundle(t)), w.plan(makeBundle(t, "VERSION", "2.0.0"))
	if _, err := w.Apply(t.Context(), first, ApplyOptions{Approved: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Apply(t.Context(), second, ApplyOptions{Approved: true}); !errors.Is(err, ErrChanged) {
		t.Errorf("a plan for what isn't there any more: %v", err)
	}
	w.sound()
}
