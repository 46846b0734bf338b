package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/lockfile"
)

const (
	suffix     = ".jsonl"
	tempSuffix = ".jsonl.new"
	lockSuffix = ".lock"
	// lookName and foldName are locks of the folder as a whole. They have no
	// suffix, so that no turn's can be taken for them.
	lookName = "look"
	foldName = "fold"
)

const (
	// lookTime bounds the wait for the look lock. It is held for some
	// microseconds at a time; past this something is wrong with the folder.
	lookTime = 5 * time.Second
	// foldTime bounds the wait for another process's fold. It is as long as
	// an operation waits for the store, which a fold can't do without.
	foldTime = 10 * time.Second
	// firstPoll and lastPoll are the waits between two looks at a live turn's
	// lock: a person doesn't notice the longer one.
	firstPoll = time.Millisecond
	lastPoll  = 50 * time.Millisecond
)

// Dir is the folder of journals of one data directory. It is safe for
// concurrent use, by many processes.
type Dir struct {
	path string
	// pause is called at each step that another process could come between;
	// tests set it, see stress_test.go.
	pause func(step string)
	// maxLine is MaxLine, but in tests.
	maxLine int
	// writeAt is (*os.File).WriteAt, but in tests.
	writeAt func(f *os.File, b []byte, at int64) (int, error)
	// OnWait is called with the holder of a lock of the folder that is waited for,
	// once the wait has taken [lockfile.Soon]. It is set before the Dir is used, and
	// may be nil.
	OnWait func(owner string)
}

// Open makes a Dir of the folder, which Create makes when it is first needed.
func Open(path string) *Dir {
	return &Dir{path: path, pause: func(string) {}, maxLine: MaxLine, writeAt: (*os.File).WriteAt}
}

// Hook lets fn be called at each step that another process could come between.
// It is for tests of those who use a Dir, and is set before the Dir is used.
func (d *Dir) Hook(fn func(step string)) { d.pause = fn }

// HookWrites has journals written by fn in place of (*os.File).WriteAt. It is for
// fault injection, and is set before the Dir is used.
func (d *Dir) HookWrites(fn func(f *os.File, b []byte, at int64) (int, error)) { d.writeAt = fn }

func (d *Dir) file(turn string) string { return filepath.Join(d.path, turn+suffix) }
func (d *Dir) temp(turn string) string { return filepath.Join(d.path, turn+tempSuffix) }
func (d *Dir) lock(turn string) string { return filepath.Join(d.path, turn+lockSuffix) }

// Turns lists the turns that have a journal, live ones too, by name (ULIDs
// sort by time).
func (d *Dir) Turns() ([]string, error) {
	names, err := d.names()
	if err != nil {
		return nil, err
	}
	var turns []string
	for _, name := range names {
		if turn, ok := strings.CutSuffix(name, suffix); ok {
			turns = append(turns, turn)
		}
	}
	sort.Strings(turns)
	return turns, nil
}

func (d *Dir) names() ([]string, error) {
	f, err := os.Open(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list journals: %w", err)
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list journals in %s: %w", d.path, err)
	}
	return names, nil
}

// look takes a turn's lock if nobody has it, and gives it to use, which may
// keep it. Those who look do so one after the other, by the look lock: a look
// holds the lock for a moment, and another one would take that for an owner.
func (d *Dir) look(ctx context.Context, turn string, use func(release func())) (free bool, err error) {
	done, err := d.wait(ctx, filepath.Join(d.path, lookName), lookTime)
	if err != nil {
		return false, fmt.Errorf("look at turn %s: %w", turn, err)
	}
	defer done()
	release, free, err := lockfile.Try(d.lock(turn))
	if err != nil || !free {
		return false, err
	}
	use(release)
	return true, nil
}

// Owner says who holds the journal of a turn, such as "pid 12"; held is false
// where nobody does. A holder is the owner of a live turn, or somebody who
// folds.
func (d *Dir) Owner(ctx context.Context, turn string) (owner string, held bool, err error) {
	if _, err := os.Lstat(d.lock(turn)); errors.Is(err, fs.ErrNotExist) {
		return "", false, nil // a holder's lock has a file
	}
	free, err := d.look(ctx, turn, func(release func()) { release() })
	if err != nil || free {
		return "", false, err
	}
	return lockfile.Owner(d.lock(turn)), true, nil
}

// Wait returns once nobody holds the turn's journal, or when ctx ends. onWait,
// which may be nil, is called once, with the holder, if there is something to
// wait for.
func (d *Dir) Wait(ctx context.Context, turn string, onWait func(owner string)) error {
	for wait := firstPoll; ; wait = min(2*wait, lastPoll) {
		owner, held, err := d.Owner(ctx, turn)
		if err != nil || !held {
			return err
		}
		if onWait != nil {
			onWait(owner)
			onWait = nil
		}
		t := time.NewTimer(wait/2 + rand.N(wait)) // jitter, so that waiters don't march in step
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return fmt.Errorf("wait for turn %s: %w", turn, ctx.Err())
		}
	}
}

// wait takes a lock of the folder.
func (d *Dir) wait(ctx context.Context, path string, bound time.Duration) (release func(), err error) {
	return lockfile.Wait(ctx, path, lockfile.Patience{Bound: bound, Quiet: lockfile.Soon, OnWait: d.OnWait})
}

// AcquireFold makes the caller the only process that folds. With it, a journal that
// can't be claimed is a live one: what was finished before the call has been folded by
// another process or can be claimed now. The folder must exist. A [lockfile.BusyError]
// means that another fold took longer than folds wait.
func (d *Dir) AcquireFold(ctx context.Context) (release func(), err error) {
	return d.wait(ctx, filepath.Join(d.path, foldName), foldTime)
}

// TryFold is AcquireFold for those who have no time: ok is false where
// somebody else folds.
func (d *Dir) TryFold() (release func(), ok bool, err error) {
	return lockfile.Try(filepath.Join(d.path, foldName))
}

// Sweep removes what owners that died before Publish left behind, and locks without a
// journal. It never touches the files of a live owner, and only reads the folder if
// nothing was left.
func (d *Dir) Sweep(ctx context.Context) error {
	turns, err := d.unpublished()
	if err != nil {
		return err
	}
	var errs []error
	for _, turn := range turns {
		errs = append(errs, d.sweep(ctx, turn))
	}
	return errors.Join(errs...)
}

// unpublished lists the turns that have a temporary file, or a lock and no
// journal. Their owners may be alive.
func (d *Dir) unpublished() ([]string, error) {
	names, err := d.names()
	if err != nil {
		return nil, err
	}
	is := map[string]bool{}
	for _, name := range names {
		is[name] = true
	}
	var turns []string
	for _, name := range names {
		if turn, ok := strings.CutSuffix(name, tempSuffix); ok {
			turns = append(turns, turn)
		} else if turn, ok := strings.CutSuffix(name, lockSuffix); ok && !is[turn+suffix] && !is[turn+tempSuffix] {
			turns = append(turns, turn)
		}
	}
	sort.Strings(turns)
	return turns, nil
}

// Unpublished is what Create makes before Publish: of a live turn for a moment,
// and of a turn whose owner died for good.
type Unpublished struct {
	Files []string
	// Owner is the pid that the lock file names, or 0. That process may have ended, so
	// nothing must be decided by it.
	Owner int
}

// Unpublished lists the files that Sweep would check. It takes no lock and changes
// nothing.
func (d *Dir) Unpublished() ([]Unpublished, error) {
	turns, err := d.unpublished()
	if err != nil {
		return nil, err
	}
	var out []Unpublished
	for _, turn := range turns {
		u := Unpublished{Owner: lockfile.OwnerPID(d.lock(turn))}
		for _, name := range []string{d.temp(turn), d.lock(turn)} {
			if _, err := os.Lstat(name); err == nil {
				u.Files = append(u.Files, name)
			}
		}
		out = append(out, u)
	}
	return out, nil
}

func (d *Dir) sweep(ctx context.Context, turn string) (err error) {
	_, lookErr := d.look(ctx, turn, func(release func()) {
		defer release() // unlinks the lock
		d.pause("sweep:locked")
		if err = atomicfile.Remove(d.temp(turn)); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	})
	if err != nil {
		return fmt.Errorf("remove abandoned journal: %w", err)
	}
	return lookErr
}
