package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/backup/archive"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/kv"
)

// Restore restores into the data directory of s what [Backup] has written. The backup is unpacked next to the
// existing data and verified first; then, while no turn runs and no process has the
// store open, the two are exchanged. A crash before the exchange leaves everything as it
// was; one during the exchange is completed by the next use of the data directory. The
// existing data is removed after the exchange.
func Restore(ctx context.Context, s *store.Store, r io.Reader, o Options) (*Report, error) {
	o.complete()
	if err := store.FinishRestore(ctx, s.Options.DataDir, s.Options.Notice); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.Options.DataDir, 0o700); err != nil {
		return nil, store.StoreFault("make the data directory", err)
	}
	release, err := s.Lock(ctx, "restore", func(owner string) { o.OnWait("another backup is being put back, " + owner) })
	if err != nil {
		return nil, err
	}
	defer release()
	if err := mayReplace(s, o); err != nil {
		return nil, err
	}
	if err := store.RemoveReplaced(s.Options.DataDir); err != nil {
		return nil, store.StoreFault("remove what a restore has left", err)
	}
	stage := &staged{e: s, o: o, name: store.StagePrefix + s.NewID()}
	stage.dir = filepath.Join(s.Options.DataDir, stage.name)
	err = stage.fill(ctx, r)
	if err == nil && !o.Check {
		err = stage.exchange(ctx)
	}
	if _, merr := os.Lstat(filepath.Join(s.Options.DataDir, store.RestoreMarkName)); merr == nil {
		return nil, err // it has begun, and goes on with the next command
	}
	if rerr := store.RemoveReplaced(s.Options.DataDir); rerr != nil {
		s.Options.Notice("what was replaced can be removed by hand: " + rerr.Error())
	}
	if err != nil {
		return nil, stage.explain(ctx, err)
	}
	return &stage.report, nil
}

// mayReplace refuses to put a backup over something.
func mayReplace(s *store.Store, o Options) error {
	names, err := Contents(s.Options.DataDir)
	if err != nil {
		return store.StoreFault("look what is there", err)
	}
	if len(names) == 0 || o.Replace || o.Check {
		return nil
	}
	return fault.New(fault.Usage, s.Options.DataDir+" is not empty: there are chats, or what belongs to them; nothing was changed",
		fault.Try(fault.MakeBackup).That("keeps what is there"),
		fault.Try(fault.ReplaceData).That("puts the backup in its place"))
}

// staged is a backup that is being unpacked.
type staged struct {
	e         *store.Store
	o         Options
	name, dir string
	root      *os.Root
	scratch   bool            // it is removed in any case, so nothing needs to be synced
	links     []archive.Entry // made last, so that nothing is written through one
	folders   map[string]string
	report    Report
}

// fill unpacks a backup into the stage, and verifies it.
func (s *staged) fill(ctx context.Context, r io.Reader) error {
	if err := s.unpack(ctx, r); err != nil {
		return err
	}
	s.e.Pause("restore:read")
	if err := s.verify(ctx); err != nil {
		return err
	}
	s.e.Pause("restore:verified")
	return nil
}

// unpack creates the stage with all that a backup holds.
func (s *staged) unpack(ctx context.Context, r io.Reader) (err error) {
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		return err
	}
	if s.root, err = os.OpenRoot(s.dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.root.Close()) }()
	s.o.Stage("reading", 0)
	_, err = archive.Read(ctx, r, archive.Visitor{Head: s.room, Entry: s.put})
	if err != nil {
		return err
	}
	for _, l := range s.links {
		if err := s.root.Symlink(l.Target, filepath.FromSlash(l.Name)); err != nil {
			return err
		}
	}
	return nil
}

// room looks whether there is room for the backup.
func (s *staged) room(h archive.Head) error {
	s.report.MadeAt = h.MadeAt
	s.o.Stage("reading", h.Bytes)
	free, _, err := kv.Free(s.dir)
	if err == nil && free < h.Bytes {
		return &cas.SpaceError{Free: free, Need: h.Bytes}
	}
	return nil // a file system that doesn't tell refuses while it is written
}

// put makes an entry.
func (s *staged) put(b archive.Entry, content io.Reader) error {
	if b.Name == FoldersName {
		return json.NewDecoder(io.LimitReader(content, maxFoldersFile)).Decode(&s.folders)
	}
	first, _, inside := strings.Cut(b.Name, "/")
	name := filepath.FromSlash(b.Name)
	if ofServer(first) {
		return nil // of a backup that an earlier version made
	}
	if transient(first) || !filepath.IsLocal(name) {
		return fmt.Errorf("%w: %s is nothing that a backup has", archive.ErrDamaged, cas.EscapePath(b.Name))
	}
	switch b.Kind {
	case archive.Folder:
		if err := s.root.MkdirAll(name, 0o700); err != nil {
			return err
		}
		return s.root.Chmod(name, b.Mode.Perm()|0o700)
	case archive.Link:
		if first != "chats" || !inside {
			return fmt.Errorf("%w: a link %s", archive.ErrDamaged, cas.EscapePath(b.Name))
		}
		s.links = append(s.links, b)
		return nil
	}
	s.report.Files++
	s.report.Bytes += b.Size
	return s.write(name, b, content)
}

// maxFoldersFile bounds the list of folders: 100 bytes a chat.
const maxFoldersFile = 64 << 20

// write makes a file of the stage. Files of a chat's folder aren't synced; the
// others are what is left of a data directory.
func (s *staged) write(name string, b archive.Entry, content io.Reader) error {
	if err := s.root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, b.Mode.Perm()|0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: it has %s twice", archive.ErrDamaged, cas.EscapePath(b.Name))
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(f, moving{content, s.o.Moved})
	if err == nil && !s.scratch && !strings.HasPrefix(b.Name, "chats/") {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// verify opens what was unpacked as a separate data directory, reads all of it, folds
// the journals, and lays out the chats' folders.
func (s *staged) verify(ctx context.Context) (err error) {
	side := store.New(store.Options{DataDir: s.dir, Now: s.e.Options.Now, Notice: s.e.Options.Notice, States: s.e.Options.States})
	defer func() { err = errors.Join(err, side.Close()) }()
	if !side.HasStore() {
		return fmt.Errorf("%w: it has no store", archive.ErrDamaged)
	}
	release, err := side.ShareData(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	sum, err := side.StateSummary(ctx)
	total := int64(0)
	if err == nil {
		total = sum.Added
	}
	s.o.Stage("verifying", total)
	report, err := side.VerifyStates(ctx, func(n int64) { s.o.Moved(0, n) })
	if err != nil {
		return fmt.Errorf("%w: %w", archive.ErrDamaged, err)
	}
	s.report.Problems = report.Problems
	if len(report.Problems) > 0 && !s.o.Damaged {
		return &damagedBackup{problems: report.Problems}
	}
	if err := s.settle(ctx, side); err != nil {
		return err
	}
	if s.report.Chats, err = countChats(ctx, side); err != nil {
		return err
	}
	s.o.Stage("laying out the folders of chats", 0)
	if err := s.layOutAll(ctx, side); err != nil {
		return err
	}
	return side.Snapshots.NewEpoch()
}

// settle makes the changes to the unpacked data directory that its next command would
// have to make: the journals are in the store, restores that were under way are not
// continued here, and the files that repeat records agree with them.
func (s *staged) settle(ctx context.Context, side *store.Store) error {
	if _, err := side.Fold(ctx, store.FoldAll); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		s.e.Options.Notice("the next command folds what is left of the journals: " + err.Error())
	}
	if err := side.Snapshots.ForgetRestores(ctx); err != nil {
		return err
	}
	err := errors.Join(side.Mirror(ctx), side.Installed().Refresh(ctx))
	if err != nil && s.o.Damaged && ctx.Err() == nil {
		s.e.Options.Notice("approvals or toolsets are damaged: " + err.Error())
		return nil
	}
	return err
}

// damagedBackup is the error of a backup that is as it was written, of a store that was
// damaged.
type damagedBackup struct{ problems []cas.Problem }

func (d *damagedBackup) Error() string {
	return fmt.Sprintf("the store was damaged when the backup was made: %s", fault.Plural(len(d.problems), "object"))
}

// explain makes a fault of what kept a backup from being put back.
func (s *staged) explain(ctx context.Context, err error) error {
	var was *damagedBackup
	var full *cas.SpaceError
	var f *fault.Fault
	switch {
	case ctx.Err() != nil, errors.As(err, &f):
		return err
	case errors.As(err, &was):
		out := fault.Wrap(fault.Store, "nothing was changed", err,
			fault.Try(fault.RestoreDamaged).That("puts back what is whole"))
		for _, p := range was.problems[:min(len(was.problems), store.ShownLeft)] {
			out.Detail = append(out.Detail, p.What+": "+p.Reason)
		}
		return out
	case errors.Is(err, archive.ErrFormat):
		return fault.Wrap(fault.Usage, "nothing was changed", err, fault.Try(fault.MakeBackup).That("makes one"))
	case errors.Is(err, archive.ErrDamaged):
		return fault.Wrap(fault.Store, "nothing was changed", err, fault.Try(fault.TryBackup))
	case errors.As(err, &full):
		return fault.Wrap(fault.Failed, "nothing was changed", err, store.MoveData())
	}
	return store.StoreFault("nothing was changed: unpack the backup", err)
}

// exchange waits until nobody uses the data directory, and lets the stage take
// the place of what is there.
func (s *staged) exchange(ctx context.Context) error {
	e := s.e
	s.o.Stage("waiting for who uses the data directory", 0)
	alone, err := e.DataAlone(ctx, s.o.OnWait)
	if err != nil {
		return err
	}
	defer alone()
	if err := mayReplace(e, s.o); err != nil {
		return err // a file was added to the empty directory since that was checked
	}
	old, err := Contents(e.Options.DataDir)
	if err != nil {
		return err
	}
	names, err := Contents(s.dir)
	if err != nil {
		return err
	}
	mark := store.RestoreMark{
		Version: store.RestoreMarkVersion, Stage: s.name, Old: store.OldPrefix + e.NewID(), State: s.o.State, Begun: e.Options.Now().UTC(),
		Was: old, New: names,
	}
	if err := syncFolders(s.dir); err != nil {
		return err
	}
	s.o.Stage("changing places", 0)
	return e.KV.Closed(ctx, func(string) error {
		text, err := json.Marshal(mark)
		if err != nil {
			return err
		}
		if err := store.ReplaceFile(filepath.Join(e.Options.DataDir, store.RestoreMarkName), text); err != nil {
			return err
		}
		if err := atomicfile.SyncDir(e.Options.DataDir); err != nil {
			return err
		}
		e.Pause("restore:marked")
		m := &store.Exchange{DataDir: e.Options.DataDir, Mark: mark, Pause: e.Pause, Sync: atomicfile.SyncDir}
		return m.Forward()
	})
}

// syncFolders makes the names in dir and in all folders below it safe from a power
// cut, those within first; but not in the folders of chats, whose files aren't
// synced either.
func syncFolders(dir string) error {
	var all []string
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if all = append(all, at); filepath.Dir(at) == dir && d.Name() == "chats" {
			return filepath.SkipDir
		}
		return nil
	})
	for _, at := range slices.Backward(all) {
		err = errors.Join(err, atomicfile.SyncDir(at))
	}
	return err
}
