package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/backup"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/lockfile"
	"github.com/fettle-cli/fettle/toolset"
)

// BackupOptions say how a backup is made or put back, and who is told how far it
// is. All may be left out.
type BackupOptions struct {
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
}

func (o *BackupOptions) complete() {
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

// BackupReport is what a backup has in it.
type BackupReport struct {
	MadeAt time.Time
	Files  int
	Bytes  int64
	// Chats are those that can be used, Folders the chats' own folders.
	Chats, Folders int
}

// Names in the data directory that a backup and its return are made of.
const (
	foldersName  = "folders.json" // in a backup: the states of the chats' own folders
	frozenPrefix = "backup-"      // a copy of the store while it is backed up
	stagePrefix  = "restore-"     // what is put back, before it is in its place
	oldPrefix    = "replaced-"    // what was there before
	markName     = "restoring.json"
)

// transient tells of a name in the data directory whether it is nothing that a
// backup has: locks, caches, sockets, and what is only on its way.
func transient(name string) bool {
	switch name {
	case "locks", "cache", "run", "serve.json", markName, atomicfile.LedgerName:
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
	for _, prefix := range []string{frozenPrefix, stagePrefix, oldPrefix} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// Backup writes all that the data directory has to one file. Other processes go
// on meanwhile: what is in the backup is the store as it was at one moment, with
// what journals had then. The folders of chats are taken into the store first;
// one that can't be, since a turn works in it or something in it can't be kept,
// is put into the backup as it lies there.
func (e *Engine) Backup(ctx context.Context, w io.Writer, o BackupOptions) (_ *BackupReport, err error) {
	o.complete()
	if !e.hasStore() {
		if turns, err := e.journals.Turns(); err != nil || len(turns) == 0 {
			return nil, errors.Join(err, fault.New(fault.NotFound, "there is nothing to back up yet", `fettle ask "why is the sky blue?"   begins a chat`))
		}
	}
	let, err := e.shareData(ctx, o.OnWait)
	if err != nil {
		return nil, err
	}
	defer let()
	release, err := e.lock(ctx, "backup", func(owner string) { o.OnWait("another backup is being made, " + owner) })
	if err != nil {
		return nil, err
	}
	defer release()
	o.Stage("taking in what waits", 0)
	if _, err := e.Fold(ctx, FoldAll); err != nil {
		return nil, err
	}
	unguard, err := e.states.Guard(ctx)
	if err != nil {
		return nil, waitFault(ctx, "keep the collector away", err)
	}
	defer unguard()
	b := &backingUp{e: e, o: o, folders: map[string]string{}}
	defer func() { err = errors.Join(err, b.thaw()) }()
	if err := b.all(ctx, w); err != nil {
		return nil, waitFault(ctx, "write the backup", err)
	}
	return &b.report, nil
}

// backingUp is one backup on its way.
type backingUp struct {
	e       *Engine
	o       BackupOptions
	out     *backup.Writer
	report  BackupReport
	folders map[string]string // chat → the state that its folder has
	raw     []string          // chats whose folder is put in as it is
	frozen  string            // the copy of the store
}

func (b *backingUp) all(ctx context.Context, w io.Writer) error {
	if err := removePrefixed(b.e.o.DataDir, frozenPrefix); err != nil {
		return err // left by a backup that was killed; nobody else makes one now
	}
	if err := b.takeFolders(ctx); err != nil {
		return err
	}
	total, err := b.size(ctx)
	if err != nil {
		return err
	}
	b.o.Stage("writing", total)
	b.report.MadeAt = b.e.o.Now().UTC()
	if b.out, err = backup.NewWriter(w, backup.Head{MadeAt: b.report.MadeAt, Bytes: total}); err != nil {
		return err
	}
	if err := b.entries(ctx); err != nil {
		b.out.Abort()
		return err
	}
	return b.out.Close()
}

// entries writes everything. The journals come first: a turn that is folded
// while they are read is in the store then, of which a copy is made after.
func (b *backingUp) entries(ctx context.Context) error {
	if err := b.journals(ctx); err != nil {
		return err
	}
	b.frozen = filepath.Join(b.e.o.DataDir, frozenPrefix+b.e.newID())
	if err := b.e.store.Freeze(ctx, b.frozen); err != nil {
		return err
	}
	if err := b.count(ctx); err != nil {
		return err
	}
	if err := b.tree(ctx, b.frozen, "store"); err != nil {
		return err
	}
	names, err := os.ReadDir(b.e.o.DataDir)
	if err != nil {
		return err
	}
	for _, n := range names {
		switch {
		case transient(n.Name()), n.Name() == "store", n.Name() == "journal", n.Name() == "chats":
		default:
			if err := b.tree(ctx, filepath.Join(b.e.o.DataDir, n.Name()), n.Name()); err != nil {
				return err
			}
		}
	}
	for _, id := range b.raw {
		if err := b.tree(ctx, filepath.Dir(b.e.managedDir(id)), "chats/"+id); err != nil {
			return err
		}
	}
	if b.o.State != "" {
		if err := b.file(ctx, filepath.Join(b.o.State, trustName), "state/"+trustName); err != nil {
			return err
		}
	}
	text, err := json.Marshal(b.folders)
	if err != nil {
		return err
	}
	_, err = b.out.Put(backup.Entry{Name: foldersName, Kind: backup.File, Mode: 0o600, Size: int64(len(text))}, bytes.NewReader(text))
	return err
}

// trustName is the file of what the user trusts.
const trustName = "trust.json"

// thaw removes the copy of the store.
func (b *backingUp) thaw() error {
	if b.frozen == "" {
		return nil
	}
	return os.RemoveAll(b.frozen)
}

// removePrefixed removes the folders of a name's beginning.
func removePrefixed(dir, prefix string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// takeFolders takes the chats' own folders into the store.
func (b *backingUp) takeFolders(ctx context.Context) error {
	entries, err := os.ReadDir(filepath.Join(b.e.o.DataDir, "chats"))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	b.o.Stage("taking in the folders of chats", 0)
	for _, entry := range entries {
		id := entry.Name()
		if _, err := ulid.ParseStrict(id); err != nil || !entry.IsDir() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		b.report.Folders++
		state, err := b.takeFolder(ctx, id)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil || state == "" {
			b.raw = append(b.raw, id)
			continue
		}
		b.folders[id] = state
	}
	return nil
}

// takeFolder gives the state that has all of a chat's folder; empty where none
// can have.
func (b *backingUp) takeFolder(ctx context.Context, id string) (string, error) {
	e := b.e
	unlock, ok, err := lockfile.Try(filepath.Join(e.o.DataDir, "locks", "chat-"+id))
	if err != nil || !ok {
		return "", err // a turn works in it
	}
	defer unlock()
	var chat Chat
	err = e.view(ctx, func(tx *kv.Tx) error {
		c, err := e.tables.chats.Get(tx, kv.Str(id))
		if err == nil {
			chat = *c
		}
		return err
	})
	if err != nil {
		return "", err
	}
	dir := e.managedDir(id)
	if chat.ActiveManifest == "" {
		return "", nil // no tool has run
	}
	if _, err := os.Stat(dir); err != nil || chat.Workspace != "" {
		return "", err
	}
	ws, err := toolset.OpenManaged(dir)
	if err != nil {
		return "", err
	}
	defer func() { _ = ws.Close() }() // it was only read
	here := func() (*toolset.Workspace, func(), error) { return ws, func() {}, nil }
	if err := e.settleIn(ctx, &chat, here); err != nil {
		return "", err
	}
	active, err := e.manifest(ctx, chat.ActiveManifest)
	if err != nil || active != nil && unfilled(chat, active) {
		return "", err // what is in it belongs to no state of the chat's yet
	}
	m, err := e.takeIn(ctx, &chat, ws, taking{About: cas.About{Source: cas.External}})
	if err != nil || !m.Complete {
		return "", err
	}
	return m.ID, nil
}

// size is about what the backup's files take.
func (b *backingUp) size(ctx context.Context) (int64, error) {
	total := int64(0)
	add := func(dir string) error {
		return filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				if info, err := d.Info(); err == nil {
					total += info.Size()
				}
			}
			return ctx.Err() // what is gone by now counts nothing
		})
	}
	names, err := os.ReadDir(b.e.o.DataDir)
	for _, n := range names {
		if !transient(n.Name()) && n.Name() != "chats" {
			err = errors.Join(err, add(filepath.Join(b.e.o.DataDir, n.Name())))
		}
	}
	for _, id := range b.raw {
		err = errors.Join(err, add(filepath.Dir(b.e.managedDir(id))))
	}
	return total, err
}

// count counts the chats.
func (b *backingUp) count(ctx context.Context) error {
	return b.e.view(ctx, func(tx *kv.Tx) error {
		b.report.Chats = 0
		for c, err := range b.e.tables.chats.Scan(tx, kv.Range{}) {
			if err != nil {
				return err
			}
			if c.DeletedAt == nil {
				b.report.Chats++
			}
		}
		return nil
	})
}

// truth are the names in a data directory that a backup would have. Of the
// journals it is each one: the folder has locks that somebody may hold.
func truth(dir string) ([]string, error) {
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
