package backup

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/backup/archive"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/record"
)

// Options say how a backup is made or put back, and who is told how far it
// is. All may be left out.
type Options struct {
	// State is the folder of what the user trusts, where that isn't in the data
	// directory.
	State string
	// OnWait is told whom it waits for.
	OnWait func(string)
	// Stage is told what is being done, and of how many bytes (0: not known),
	// Moved of bytes of it. They may be called by several goroutines.
	Stage func(doing string, bytes int64)
	Moved func(files int, bytes int64)
	// Replace puts a backup back over what is there.
	Replace bool
	// Check reads a backup and changes nothing.
	Check bool
	// Damaged puts back also a backup of a store that was damaged when it was
	// made.
	Damaged bool
	// Verify restores a backup into a separate folder while it is written, and compares
	// the two.
	Verify bool
}

func (o *Options) complete() {
	if o.OnWait == nil {
		o.OnWait = func(string) {}
	}
	if o.Stage == nil {
		o.Stage = func(string, int64) {}
	}
	if o.Moved == nil {
		o.Moved = func(int, int64) {}
	}
}

// Report is what a backup has in it.
type Report struct {
	MadeAt time.Time
	Files  int
	Bytes  int64
	// Chats are those that can be used, Folders the chats' own folders.
	Chats, Folders int
	// Verified reports that the backup was restored once and compared.
	Verified bool
	// Problems are the objects of the store that were damaged or missing when it
	// was backed up. Such a backup is restored with Damaged only.
	Problems []cas.Problem
}

// Names in the data directory that a backup and its return are made of.
const (
	FoldersName = "folders.json" // in a backup: the states of the chats' own folders

)

// serverPrefix begins the names of the files of a server on this machine: its token,
// where it answers, and files that replace these.
const serverPrefix = "serve."

// ofServer reports whether a name in the data directory belongs to the server of this
// machine. A backup does not contain it, and a restore neither brings one nor removes
// the existing one: a reader of a backup must not be able to use the server, and a
// restored copy must not have the token of the original.
func ofServer(name string) bool { return strings.HasPrefix(name, serverPrefix) }

// transient reports whether a backup leaves out a name in the data directory: files of
// the server, locks, caches, sockets, and files that are not complete yet.
func transient(name string) bool {
	if ofServer(name) {
		return true
	}
	switch name {
	case "locks", "cache", "run", workspace.GuardsName, store.RestoreMarkName, atomicfile.LedgerName:
		return true
	}
	if atomicfile.IsTempName(name) {
		return true
	}
	for _, suffix := range []string{".lock", ".new", ".sock"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	for _, prefix := range []string{store.FrozenPrefix, store.StagePrefix, store.OldPrefix} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// Make writes all that the data directory has to one file, while other processes
// keep working. Everything in it is of one moment, at which the store, the journals
// and the small files are copied (see freeze). The contents that the store names
// but does not hold are protected until they are read: blobs by keeping the
// collector away, the files of toolsets by the lock of each revision.
//
// The folders of chats become states in the store first. One that cannot, because a
// turn works in it or something in it cannot be kept, is copied as it is just after
// that moment: it may have changes that its chat does not record, and has all that the
// chat records.
//
// The copy of the store is opened and checked before anything is written: every record
// is read, and the files that they name must exist; these are compared with their
// digests as they are written. Damage that the store itself has is in the report, and
// Restore refuses a backup if and only if it finds such damage. An error means
// that there is no backup.
func Make(ctx context.Context, s *store.Store, w io.Writer, o Options) (_ *Report, err error) {
	o.complete()
	if !s.HasStore() {
		if turns, err := s.Journals.Turns(); err != nil || len(turns) == 0 {
			return nil, errors.Join(err, fault.New(fault.NotFound, "there is nothing to back up yet", fault.Try(fault.Ask).That("begins a chat")))
		}
	}
	let, err := s.ShareData(ctx, o.OnWait)
	if err != nil {
		return nil, err
	}
	defer let()
	release, err := s.Lock(ctx, "backup", func(owner string) { o.OnWait("another backup is being made, " + owner) })
	if err != nil {
		return nil, err
	}
	defer release()
	o.Stage("taking in what waits", 0)
	if _, err := s.Fold(ctx, store.FoldAll); err != nil {
		return nil, err
	}
	unguard, err := s.Snapshots.Guard(ctx)
	if err != nil {
		return nil, store.WaitFault(ctx, "keep the collector away", err)
	}
	defer unguard()
	b := &backingUp{e: s, o: o, folders: map[string]string{}}
	defer func() { err = errors.Join(err, b.thaw()) }()
	if err := b.all(ctx, w); err != nil {
		return nil, b.explain(ctx, err)
	}
	return &b.report, nil
}

// backingUp is a backup that is being written.
type backingUp struct {
	e       *store.Store
	o       Options
	out     *archive.Writer
	report  Report
	folders map[string]string // chat → the state that its folder has
	raw     []string          // chats whose folder is put in as it is
	frozen  string            // the folder with the copies
	items   []item            // what it holds
	pinned  map[string]string // toolset → the revision whose files stay until thaw
	unpin   []func()
	check   *check // nil unless the backup is verified
}

func (b *backingUp) all(ctx context.Context, w io.Writer) error {
	if err := store.RemovePrefixed(b.e.Options.DataDir, store.FrozenPrefix); err != nil {
		return err // left by a backup that was killed; no other is being made now
	}
	if err := b.takeFolders(ctx); err != nil {
		return err
	}
	if err := b.freeze(ctx); err != nil {
		return err
	}
	total, err := b.size(ctx)
	if err != nil {
		return err
	}
	b.o.Stage("writing", total)
	b.report.MadeAt = b.e.Options.Now().UTC()
	out := w
	if b.o.Verify {
		b.check = b.readBack(ctx)
		out = io.MultiWriter(w, b.check.pipe)
	}
	err = b.write(ctx, out, total)
	if b.check != nil {
		err = b.check.end(err)
	}
	return err
}

// explain returns a fault with the reason why there is no backup.
func (b *backingUp) explain(ctx context.Context, err error) error {
	var f *fault.Fault
	var changed *changedError
	switch {
	case ctx.Err() != nil, errors.As(err, &f):
		return err
	case errors.As(err, &changed):
		return fault.Wrap(fault.Store, "there is no backup", err)
	}
	return store.StoreFault("write the backup", err)
}

// write writes the backup from its first byte to its last.
func (b *backingUp) write(ctx context.Context, w io.Writer, total int64) (err error) {
	if b.out, err = archive.NewWriter(w, archive.Head{MadeAt: b.report.MadeAt, Bytes: total}); err != nil {
		return err
	}
	if err := b.entries(ctx); err != nil {
		b.out.Abort()
		return err
	}
	return b.out.Close()
}

// entries writes everything: the copies, and then what stays where it is while the
// backup is written, since locks protect it or no record depends on it.
func (b *backingUp) entries(ctx context.Context) error {
	for i := range b.items {
		if err := b.item(ctx, &b.items[i]); err != nil {
			return err
		}
	}
	names, err := b.inPlace()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := b.tree(ctx, filepath.Join(b.e.Options.DataDir, name), name); err != nil {
			return err
		}
	}
	text, err := record.Marshal(b.folders)
	if err != nil {
		return err
	}
	_, err = b.out.Put(archive.Entry{Name: FoldersName, Kind: archive.File, Mode: 0o600, Size: int64(len(text))}, bytes.NewReader(text))
	return err
}

// inPlace lists the folders in the data directory that are read where they are.
func (b *backingUp) inPlace() ([]string, error) {
	entries, err := os.ReadDir(b.e.Options.DataDir)
	var out []string
	for _, e := range entries {
		switch name := e.Name(); {
		case transient(name), !e.IsDir(), name == "store", name == "journal", name == "chats":
		default:
			out = append(out, name)
		}
	}
	return out, err
}

// thaw removes the copies, and lets toolsets be removed again.
func (b *backingUp) thaw() error {
	for _, release := range b.unpin {
		release()
	}
	if b.frozen == "" {
		return nil
	}
	return os.RemoveAll(b.frozen)
}

// size returns about what the backup's files take.
func (b *backingUp) size(ctx context.Context) (int64, error) {
	total := int64(0)
	for _, it := range b.items {
		total += it.Size
	}
	names, err := b.inPlace()
	for _, name := range names {
		err = errors.Join(err, filepath.WalkDir(filepath.Join(b.e.Options.DataDir, name), func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				if info, err := d.Info(); err == nil {
					total += info.Size()
				}
			}
			return ctx.Err() // what is gone by now counts nothing
		}))
	}
	return total, err
}

// countChats returns how many chats can be used: without those that are deleted or
// whose record is damaged.
func countChats(ctx context.Context, s *store.Store) (n int, err error) {
	err = s.View(ctx, func(tx *kv.Tx) error {
		n = 0
		for c, err := range store.Legible(s, s.Tables.Chats.Scan(tx, kv.Range{})) {
			if err != nil {
				return err
			}
			if c.DeletedAt == nil {
				n++
			}
		}
		return nil
	})
	return n, err
}

// isCorrupt reports whether an error is about one damaged record; the others may be
// undamaged.
func isCorrupt(err error) bool {
	var corrupt *kv.CorruptError
	return errors.As(err, &corrupt)
}

// Contents are the names in a data directory that a backup would have. Of the
// journals it is each one: the folder has locks that somebody may hold.
func Contents(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, entry := range entries {
		switch name := entry.Name(); {
		case transient(name):
		case name == "journal":
			inner, rerr := os.ReadDir(filepath.Join(dir, name))
			err = errors.Join(err, rerr)
			for _, in := range inner {
				if isJournal(in.Name()) {
					out = append(out, filepath.Join(name, in.Name()))
				}
			}
		default:
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, err
}

// isJournal tells a journal, or one that was set aside, from locks and what is
// only begun.
func isJournal(name string) bool {
	return strings.HasSuffix(name, ".jsonl") || strings.Contains(name, ".jsonl.damaged")
}
