package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/cas"
)

// fresh is a snapshot by a process that knows nothing yet, and that has the
// records as commands have them.
func (b *casBench) fresh(data string) error {
	if err := b.close(); err != nil {
		return err
	}
	b.store, b.close = cas.OpenDir(data)
	<-time.After(50 * time.Millisecond)
	if err := b.snapshot(); err != nil { // what the changes before have left racy
		return err
	}
	if err := b.close(); err != nil {
		return err
	}
	err := b.beside("snapshot, 0 changed, store opened", func() error {
		b.store, b.close = cas.OpenShared(data)
		return b.snapshot()
	})
	if err != nil {
		return err
	}
	err = b.close()
	b.store, b.close = cas.OpenDir(data)
	return errors.Join(err, b.snapshot())
}

// restore brings a hundred files back, by git and by the store in turn.
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
	err := b.beside("restore, 100 differ", func() error {
		r, err := b.store.Materialize(context.Background(), b.ws, then, cas.RestoreOptions{
			About: cas.About{ChatID: "bench", Source: cas.Restored}, Active: b.active, Limits: cas.Limits{KeepFree: -1},
		})
		if err != nil {
			return err
		}
		b.active = r.After
		return nil
	})
	if err != nil {
		return err
	}
	return b.gitDo(repo, "", b.gitAdd) // so that both know of all
}

// checkout fills an empty folder.
func (b *casBench) checkout(data, repo string) (err error) {
	empty := filepath.Join(filepath.Dir(data), "checkout")
	if err := os.Mkdir(empty, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(empty)
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(root.Close(), os.RemoveAll(empty)) }()
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
	return b.timed(name, func() error { return do(git) })
}
