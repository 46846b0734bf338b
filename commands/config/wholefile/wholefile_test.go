package wholefile_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/commands/config/wholefile"
)

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}

func TestModesAndLinks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("windows has no mode bits")
	}
	dir := t.TempDir()
	real, link := filepath.Join(dir, "dotfiles", "c.yaml"), filepath.Join(dir, "c.yaml")
	if err := wholefile.Replace(real, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got := mode(t, real); got != 0o600 {
		t.Errorf("a new file has mode %v", got)
	}
	if err := errors.Join(os.Chmod(real, 0o644), os.Symlink(real, link), wholefile.Replace(link, []byte("again"))); err != nil {
		t.Fatal(err)
	}
	if mode(t, link)&os.ModeSymlink == 0 || mode(t, real) != 0o644 {
		t.Errorf("the link became %v and the file %v", mode(t, link), mode(t, real))
	}
	if data, info, err := wholefile.Read(link, 10); string(data) != "again" || err != nil || !wholefile.Exposed(info) {
		t.Errorf("read %q, %v", data, err)
	}
	if err := wholefile.ReplacePrivate(link, []byte("secret")); err != nil {
		t.Fatal(err)
	}
	if _, info, err := wholefile.Read(link, 10); err != nil || wholefile.Exposed(info) || mode(t, real) != 0o600 {
		t.Errorf("a private file has mode %v, %v", mode(t, real), err)
	}
	dangling := filepath.Join(dir, "dangling")
	if err := os.Symlink(filepath.Join(dir, "nowhere", "x"), dangling); err != nil {
		t.Fatal(err)
	}
	if err := wholefile.Replace(dangling, nil); err == nil || !strings.Contains(err.Error(), "leads to no file") {
		t.Errorf("a link to nowhere: %v", err)
	}
	left, err := os.ReadDir(filepath.Dir(real))
	if err != nil || len(left) != 1 {
		t.Errorf("files are left behind: %v, %v", left, err)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	if data, info, err := wholefile.Read(path, 3); data != nil || info != nil || err != nil {
		t.Errorf("a missing file: %q, %v, %v", data, info, err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if data, _, err := wholefile.Read(path, 3); data == nil || err != nil {
		t.Errorf("an empty file: %v, %v", data, err)
	}
	if err := os.WriteFile(path, []byte("1234"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := wholefile.Read(path, 3); err == nil || !strings.Contains(err.Error(), "limit") {
		t.Errorf("a file that is too large: %v", err)
	}
	if _, _, err := wholefile.Read(filepath.Dir(path), 3); err == nil {
		t.Error("a folder was read")
	}
}

// Changes under the lock don't lose each other, and a reader never sees half.
func TestNoChangeIsLost(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sub", "n")
	const workers, each = 4, 10
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range each {
				if err := increment(t.Context(), path); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	data, _, err := wholefile.Read(path, 100)
	if err != nil || string(data) != fmt.Sprint(workers*each) {
		t.Errorf("counted %q, %v", data, err)
	}
}

func increment(ctx context.Context, path string) error {
	release, err := wholefile.Lock(ctx, path, nil)
	if err != nil {
		return err
	}
	defer release()
	data, _, err := wholefile.Read(path, 100)
	if err != nil {
		return err
	}
	n := 0
	if data != nil {
		if n, err = strconv.Atoi(string(data)); err != nil {
			return err
		}
	}
	return wholefile.Replace(path, []byte(strconv.Itoa(n+1)))
}

func TestLockEnds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "n")
	release, err := wholefile.Lock(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	cancel(gone)
	if _, err := wholefile.Lock(ctx, path, nil); !errors.Is(err, gone) {
		t.Errorf("a wait that was given up: %v", err)
	}
}

// All names of a file have one lock: links, links to links, links to a file that does
// not exist yet, folders that are links, and relative names.
func TestAllNamesOfAFileHaveOneLock(t *testing.T) {
	t.Parallel()
	needLinks(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	join := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	err = errors.Join(
		os.MkdirAll(join("dotfiles", "deep"), 0o700), os.Mkdir(join("home"), 0o700),
		os.WriteFile(join("dotfiles", "real"), nil, 0o600),
		os.Symlink(join("dotfiles", "real"), join("home", "link")),
		os.Symlink("link", join("home", "chain")),
		os.Symlink(filepath.Join("..", "dotfiles", "missing"), join("home", "dangling")),
		os.Symlink("dangling", join("home", "dangling-chain")),
		os.Symlink(join("dotfiles"), join("home", "folder")),
		os.Symlink(join("dotfiles", "deep"), join("home", "deep")),
	)
	if err != nil {
		t.Fatal(err)
	}
	up := join("home", "through-a-folder")
	if err := os.Symlink("deep"+string(filepath.Separator)+".."+string(filepath.Separator)+"real", up); err != nil {
		t.Fatal(err)
	}
	for real, names := range map[string][]string{
		join("dotfiles", "real"):    {join("dotfiles", "real"), join("home", "link"), join("home", "chain"), join("home", "folder", "real"), up},
		join("dotfiles", "missing"): {join("dotfiles", "missing"), join("home", "dangling"), join("home", "dangling-chain"), join("home", "folder", "missing")},
	} {
		for _, name := range names {
			release, err := wholefile.Lock(t.Context(), name, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := locksBelow(t, dir); !slices.Equal(got, []string{real + ".lock"}) {
				t.Errorf("by the name %s these are locked: %q", name, got)
			}
			release()
		}
	}
}

// locksBelow lists the lock files below a folder.
func locksBelow(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".lock") {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// needLinks skips a test where links can't be made, or can't be distinguished from
// files.
func needLinks(t *testing.T) {
	t.Helper()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("x", link); err != nil {
		t.Skip(err)
	}
	if _, err := os.Readlink(link); err != nil {
		t.Skip(err)
	}
}

func TestLinkIntoAFolderThatIsNotThereIsAnError(t *testing.T) {
	t.Parallel()
	needLinks(t)
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "nowhere", "x"), link); err != nil {
		t.Fatal(err)
	}
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{link: "leads to no file", loop: "too many links"} {
		_, err := wholefile.Lock(t.Context(), path, nil)
		rerr := wholefile.Replace(path, nil)
		for _, err := range []error{err, rerr} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; want %q", path, err, want)
			}
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("left %v", left)
	}
}

func TestSecretOfAKilledReplaceIsRemoved(t *testing.T) {
	t.Parallel()
	needLinks(t)
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.yaml"), filepath.Join(dir, "keys.yaml")
	if err := wholefile.ReplacePrivate(real, []byte("a: 1\n")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{real, link} {
		left := filepath.Join(dir, ".real.yaml.fettle-new") // named as a dead owner; no process has it open
		if err := os.WriteFile(left, []byte("a: sk-secret\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := wholefile.RemoveLeftover(path); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(left); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("by %s: the secret is still there, %v", path, err)
		}
	}
	if err := wholefile.RemoveLeftover(filepath.Join(dir, "none", "x")); err != nil {
		t.Errorf("where nothing is: %v", err)
	}
}

// A change that waits for more than a second names the process that holds the lock, and
// goes through when the lock is free.
func TestAWaitForTheLockNamesItsHolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.yaml")
	release, err := wholefile.Lock(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	named := make(chan string, 1)
	next, err := wholefile.Lock(t.Context(), path, func(line string) {
		named <- line
		release()
	})
	if err != nil {
		t.Fatal(err)
	}
	next()
	if line := <-named; !strings.Contains(line, "pid "+strconv.Itoa(os.Getpid())) || !strings.Contains(line, path) {
		t.Errorf("the notice is %q", line)
	}
}
