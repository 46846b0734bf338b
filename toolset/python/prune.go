package python

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/lockfile"
)

// PruneOptions say what of a cache is needed.
type PruneOptions struct {
	// Used are the requirements of each toolset that is installed.
	Used [][]string
	// Idle is how long something wasn't used before it is removed: a toolset
	// that is just being tested is installed nowhere.
	Idle time.Duration
}

// Pruned is what Prune did.
type Pruned struct {
	// Removed are the environments that are gone.
	Removed []Environment
	// Bytes is what they and everything else that was removed took, Kept what
	// the environments take that stay.
	Bytes, Kept int64
}

// Environment is a folder of installed packages.
type Environment struct {
	Requirements []string
	Python       string // its version
	Bytes        int64
}

// removingPrefix begins the name of what is being removed, so that nothing that
// is half gone looks whole.
const removingPrefix = ".removing-"

// leftoverAge is after what time a folder for temporary files belongs to nobody:
// what is made in one takes minutes at most, but for large packages.
const leftoverAge = 24 * time.Hour

// Prune removes from a cache the environments that no installed toolset needs,
// and what was compiled of toolsets that are gone. What is used just now stays,
// in whichever process. Where ctx ends before all is done, the rest is for the
// next time, and the error is ctx's.
func Prune(ctx context.Context, cacheDir string, o PruneOptions) (Pruned, error) {
	var out Pruned
	list, err := os.ReadDir(cacheDir)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return out, fmt.Errorf("look for old Python environments: %w", err)
	}
	p := pruning{dir: cacheDir, o: o, out: &out}
	var errs []error
	for _, e := range list {
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		name := e.Name()
		switch {
		case strings.HasSuffix(name, ".lock"):
		case e.IsDir() && strings.HasPrefix(name, "venv-"):
			errs = append(errs, p.environment(name))
		case e.IsDir() && strings.HasPrefix(name, bytecodePrefix):
			errs = append(errs, p.bytecode(name))
		case strings.HasPrefix(name, removingPrefix), leftover(name) && olderThan(filepath.Join(cacheDir, name), leftoverAge):
			errs = append(errs, p.remove(name))
		}
	}
	return out, errors.Join(errs...)
}

// leftover tells the names of what is made beside its place.
func leftover(name string) bool {
	return slices.ContainsFunc([]string{".runner-", ".bytecode-", ".new-"}, func(start string) bool { return strings.HasPrefix(name, start) })
}

// olderThan tells whether a file or folder was last changed that long ago.
func olderThan(path string, age time.Duration) bool {
	info, err := os.Lstat(path)
	return err == nil && time.Since(info.ModTime()) > age
}

type pruning struct {
	dir string
	o   PruneOptions
	out *Pruned
}

// environment removes one that isn't needed.
func (p pruning) environment(name string) error {
	env := filepath.Join(p.dir, name)
	size := atomicfile.SizeOf(env)
	mark, whole := readEnvironment(env)
	age := filepath.Join(env, readyName)
	if !whole {
		age = env
	}
	if whole && p.needs(env, mark) || !olderThan(age, p.o.Idle) {
		p.out.Kept += size
		return nil
	}
	release, ok, err := lockfile.Try(env + ".lock")
	if err != nil || !ok {
		p.out.Kept += size
		return err // it is used, or made, just now
	}
	defer release()
	if !olderThan(age, p.o.Idle) { // by whom we waited for
		p.out.Kept += size
		return nil
	}
	if err := p.discard(name); err != nil {
		return err
	}
	if whole {
		p.out.Removed = append(p.out.Removed, Environment{mark.Requirements, mark.Python, size})
	}
	return nil
}

// needs tells whether an installed toolset has these requirements, and the
// interpreter that they were installed for is there.
func (p pruning) needs(env string, mark environmentMark) bool {
	if _, err := os.Stat(pythonIn(env)); err != nil {
		return false
	}
	return slices.ContainsFunc(p.o.Used, func(used []string) bool {
		return slices.Equal(slices.Compact(slices.Sorted(slices.Values(used))), slices.Compact(slices.Clone(mark.Requirements)))
	})
}

// environmentMark is what an environment tells of itself.
type environmentMark struct {
	Requirements []string `json:"requirements"` // sorted
	Python       string   `json:"python"`
	Made         string   `json:"made"`
}

func readEnvironment(env string) (mark environmentMark, whole bool) {
	data, err := os.ReadFile(filepath.Join(env, readyName))
	return mark, err == nil && json.Unmarshal(data, &mark) == nil
}

// bytecode removes what was compiled of a toolset whose folder is gone, and what
// never came to be.
func (p pruning) bytecode(name string) error {
	dir := filepath.Join(p.dir, name)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	mark, err := readMark(root)
	root.Close()
	needed := !olderThan(dir, p.o.Idle)
	if err == nil {
		_, gone := os.Stat(mark.Root)
		needed = !errors.Is(gone, fs.ErrNotExist)
	}
	if needed {
		return nil
	}
	release, ok, err := lockfile.Try(dir + ".lock")
	if err != nil || !ok {
		return err
	}
	defer release()
	return p.discard(name)
}

// discard takes a folder out of use at once, and removes it.
func (p pruning) discard(name string) error {
	if err := os.RemoveAll(filepath.Join(p.dir, removingPrefix+name)); err != nil {
		return err
	}
	if err := atomicfile.Rename(filepath.Join(p.dir, name), filepath.Join(p.dir, removingPrefix+name)); err != nil {
		return err
	}
	return p.remove(removingPrefix + name)
}

// remove removes what has no name that anybody looks for.
func (p pruning) remove(name string) error {
	path := filepath.Join(p.dir, name)
	size := atomicfile.SizeOf(path)
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	p.out.Bytes += size
	return nil
}
