package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/fettle-cli/fettle/internal/lockfile"
)

const (
	suffix     = ".jsonl"
	tempSuffix = ".jsonl.new"
	lockSuffix = ".lock"
)

// Dir is the folder of journals of one data directory. It is safe for
// concurrent use, by many processes.
type Dir struct {
	path string
	// pause is called at each step that another process could come between;
	// tests set it, see stress_test.go.
	pause func(step string)
}

// Open makes a Dir of the folder, which Create makes when it is first needed.
func Open(path string) *Dir {
	return &Dir{path: path, pause: func(string) {}}
}

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

// Owner says who holds the journal of a live turn, such as "pid 12"; live is
// false where nobody does.
func (d *Dir) Owner(turn string) (owner string, live bool) {
	if _, err := os.Stat(d.lock(turn)); err != nil {
		return "", false
	}
	release, ok, err := lockfile.Try(d.lock(turn))
	if err == nil && ok {
		release()
		return "", false
	}
	return lockfile.Owner(d.lock(turn)), true
}

// Wait returns once the turn's owner has let go of it, or when ctx ends.
// onWait is called once, with the owner, if there is something to wait for.
func (d *Dir) Wait(ctx context.Context, turn string, onWait func(owner string)) error {
	if _, err := os.Stat(d.lock(turn)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	release, err := lockfile.Acquire(ctx, d.lock(turn), onWait)
	if err != nil {
		return err
	}
	release()
	return nil
}

// Sweep removes what owners that died before Publish left behind, and locks
// without a journal. It never touches what a live owner holds.
func (d *Dir) Sweep() error {
	names, err := d.names()
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		turn, isTemp := strings.CutSuffix(name, tempSuffix)
		if !isTemp {
			var isLock bool
			if turn, isLock = strings.CutSuffix(name, lockSuffix); !isLock {
				continue
			}
		}
		errs = append(errs, d.sweep(turn))
	}
	return errors.Join(errs...)
}

func (d *Dir) sweep(turn string) error {
	release, ok, err := lockfile.Try(d.lock(turn))
	if err != nil || !ok {
		return err
	}
	defer release() // unlinks the lock
	d.pause("sweep:locked")
	if err := os.Remove(d.temp(turn)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove abandoned journal: %w", err)
	}
	return nil
}

// syncDir makes renames in a folder durable. Windows can't open a folder for
// that and needs no such call.
func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return syncFolder(f)
}
