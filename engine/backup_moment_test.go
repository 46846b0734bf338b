package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine/backup"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/internal/kv"
)

// once returns an OnStage that runs fn when a backup comes to a stage.
func once(stage string, fn func()) func(string, int64) {
	done := false
	return func(doing string, _ int64) {
		if doing == stage && !done {
			done = true
			fn()
		}
	}
}

// restored makes an engine of a backup, which must be whole.
func restored(t *testing.T, raw []byte) *bench {
	t.Helper()
	c := changer(t, t.TempDir())
	if err := c.putBack(raw, backup.Options{}); err != nil {
		t.Fatalf("a backup that was made without an error can't be restored: %v", err)
	}
	wholeStore(t, c)
	return c
}

// note is a record that no part of the engine uses.
type note struct {
	ID string `json:"id"`
}

// commands does what short commands do with the store, in separate sessions, and then
// merges all that they have left.
func commands(t *testing.T, storeDir string, n int) {
	t.Helper()
	table := kv.NewTable("notes", func(r *note) kv.Key { return kv.Str(r.ID) })
	for i := range n {
		s := kv.Open(storeDir, kv.Options{})
		err := s.UpdateSync(t.Context(), func(tx *kv.Tx) error {
			return table.Put(tx, &note{ID: strings.Repeat(strconv.Itoa(i), 1+i%2*2000)})
		})
		if i == n-1 {
			err = errors.Join(err, s.Compact(t.Context()))
		}
		if err := errors.Join(err, s.Close()); err != nil {
			t.Error(err)
		}
	}
}

// Commands that run while a backup is written merge tables and logs of the store.
func TestABackupBesideShortCommands(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{"copying the store", "checking the copy", "writing"} {
		for _, verify := range []bool{false, true} {
			t.Run(fmt.Sprint(stage, " ", verify), func(t *testing.T) {
				t.Parallel()
				b := changer(t, t.TempDir())
				lived(t, b)
				want := kept(t, b)
				if err := b.KV.LetGo(); err != nil {
					t.Fatal(err)
				}
				raw := b.backup(backup.Options{Verify: verify, Stage: once(stage, func() { commands(t, b.StoreDir(), 15) })})
				if diff := cmp.Diff(want, kept(t, restored(t, raw))); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// Regardless of what is done between the steps of a backup, the restored data is of one
// moment: a chat's folder has the files that its messages describe.
func TestABackupIsOfOneMoment(t *testing.T) {
	t.Parallel()
	change := func(b *bench) {
		b.did(store.ChatRef{Number: 1}, `{"put":{"a.txt":"3","late.txt":"l"},"rm":["d/b.txt"]}`)
	}
	begin := func(b *bench) { b.did(store.ChatRef{}, `{"put":{"fresh.txt":"f"}}`) }
	undo := func(b *bench) {
		if _, err := b.Undo(b.t.Context(), workspace.RestoreRequest{Chat: store.ChatRef{Number: 1}}); err != nil {
			b.t.Error(err)
		}
	}
	purge := func(b *bench) {
		if err := b.purgeNow(1); err != nil {
			b.t.Error(err)
		}
	}
	fold := func(b *bench) {
		if _, err := b.Fold(b.t.Context(), store.FoldAll); err != nil {
			b.t.Error(err)
		}
	}
	for name, do := range map[string][]func(*bench){
		"a turn": {change}, "a turn that is folded": {change, fold}, "a new chat": {begin, fold}, "a new chat that waits": {begin},
		"an undo": {undo}, "a chat that is purged": {purge}, "all": {change, fold, begin, undo},
	} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " ", late), func(t *testing.T) {
				t.Parallel()
				b := changer(t, t.TempDir())
				b.did(store.ChatRef{}, `{"put":{"a.txt":"1","d/b.txt":"b"}}`)
				b.did(store.ChatRef{Number: 1}, `{"put":{"a.txt":"2"}}`)
				b.did(store.ChatRef{}, `{"put":{"other.txt":"o"}}`)
				want := kept(t, b)
				stage := "copying the store" // before the moment
				if late {
					stage = "checking the copy"
				}
				other := changer(t, b.dir)
				raw := b.backup(backup.Options{Verify: true, Stage: once(stage, func() {
					for _, f := range do {
						f(other)
					}
				})})
				if !late {
					want = kept(t, b)
				}
				c := restored(t, raw)
				if diff := cmp.Diff(want, kept(t, c)); diff != "" {
					t.Error(diff)
				}
				agrees(t, c)
			})
		}
	}
}

// purgeNow removes a chat for good.
func (b *bench) purgeNow(number int64) error {
	if err := b.DeleteChats(b.t.Context(), b.chat(number).Chat); err != nil {
		return err
	}
	_, err := b.PurgeChats(b.t.Context(), store.Purge{})
	return err
}

// agrees checks that the own folder of each chat has the files of its active state.
func agrees(t *testing.T, b *bench) {
	t.Helper()
	page, err := b.Chats(t.Context(), store.ListChats{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range page.Chats {
		m, err := b.Manifest(t.Context(), c.ActiveManifest)
		if err != nil {
			t.Fatal(err)
		}
		if m == nil || c.Workspace != "" {
			continue
		}
		want := map[string]string{}
		for f, err := range b.Files(t.Context(), m) {
			if err != nil {
				t.Fatal(err)
			}
			if f.Kind.String() != "file" {
				continue
			}
			var text bytes.Buffer
			if err := b.ReadFile(t.Context(), &text, f.Entry); err != nil {
				t.Error(err)
			}
			want[f.Path] = text.String()
		}
		if diff := cmp.Diff(want, tree(t, b.WorkspacePath(c))); diff != "" {
			t.Errorf("chat %d: its folder is not in its state:\n%s", c.Number, diff)
		}
	}
}

// A turn that runs while the backup is made is in it as it was at the moment of the
// copy, and so is its folder: what it does while the backup is written is not.
func TestABackupOfARunningTurnsFolder(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{responses: [{step: 0, calls: [{name: write_file, args: {path: "half.txt", content: "h"}}]}, {step: 1, calls: [{name: slow, args: {}}]}]}`, slow(nil))
	req := ask("go")
	req.Policy.AllowAll = true
	id := b.start(req)
	b.waitFor(id, event.TypeToolProgress)
	raw := b.backup(backup.Options{Verify: true, Stage: once("writing", func() {
		folder := glob(t, b.o.DataDir, "chats/*/workspace")[0]
		put(t, filepath.Join(folder, "after.txt"), []byte("a"))
		put(t, filepath.Join(folder, "half.txt"), []byte("longer than it was"))
	})})
	if err := b.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	b.follow(id)
	c := restored(t, raw)
	c.sees(1, map[string]string{"half.txt": "h"})
}

// An update or a removal of a toolset while a backup is made leaves it the files
// that its records name.
func TestABackupBesideChangesOfToolsets(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{"copying the store", "checking the copy", "writing"} {
		t.Run(stage, func(t *testing.T) {
			t.Parallel()
			e := toolsetEngine(t)
			want, err := e.InstalledToolsets(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var raw bytes.Buffer
			_, err = backup.Make(t.Context(), e.Store, &raw, backup.Options{Verify: true, Stage: once(stage, func() {
				other := New(Options{Options: store.Options{DataDir: e.o.DataDir}})
				_, err := other.RemoveToolset(t.Context(), want[0].Toolset.ID)
				if err := errors.Join(err, other.Close()); err != nil {
					t.Error(err)
				}
			})})
			if err != nil {
				t.Fatal(err)
			}
			c := restored(t, raw.Bytes())
			got, err := c.InstalledToolsets(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			mirror, err := c.ToolsetMirror(t.Context())
			if err != nil || len(mirror.Toolsets) != len(got) {
				t.Errorf("the mirror is %+v, %v", mirror, err)
			}
			if stage == "copying the store" { // it was removed before the moment
				if len(got) != 0 {
					t.Errorf("installed are %+v", got)
				}
				return
			}
			if len(got) != 1 {
				t.Fatalf("installed are %+v", got)
			}
			if damage, err := c.Installed().Verify(t.Context(), got[0].Toolset.ID); len(damage) > 0 || err != nil {
				t.Errorf("%v, %v", damage, err)
			}
		})
	}
}

// The collector waits for a backup that is being written: no content that the store
// names is removed while it is read.
func TestABackupKeepsTheCollectorAway(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	lived(t, b)
	want := kept(t, b)
	done := make(chan error, 1)
	raw := b.backup(backup.Options{Stage: once("writing", func() {
		other := changer(t, b.dir)
		if err := other.purgeNow(1); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		o := changerOptions(t, b.dir)
		o.Notice = func(string) { cancel() } // it waits
		go func() {
			e := New(o)
			_, err := e.CollectStates(ctx, true)
			_ = e.Close()
			done <- err
		}()
		<-ctx.Done()
	})})
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the collector: %v", err)
	}
	if diff := cmp.Diff(want, kept(t, restored(t, raw))); diff != "" {
		t.Error(diff)
	}
}

// A copy that is changed, by whatever cause, makes the backup fail.
func TestABackupOfACopyThatChangesFails(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]struct {
		pattern string
		do      func(path string) error
	}{
		"a table that is emptied":   {store.FrozenPrefix + "*/store/*.sst", func(p string) error { return os.Truncate(p, 0) }},
		"a table that is removed":   {store.FrozenPrefix + "*/store/*.sst", os.Remove},
		"a log that grows":          {store.FrozenPrefix + "*/store/*.vlog", func(p string) error { return os.Truncate(p, 1<<20) }},
		"a manifest that is cut":    {store.FrozenPrefix + "*/store/MANIFEST", func(p string) error { return os.Truncate(p, 10) }},
		"a counter that is removed": {store.FrozenPrefix + "*/counter.json", os.Remove},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := changer(t, t.TempDir())
			lived(t, b)
			var out bytes.Buffer
			_, err := backup.Make(t.Context(), b.Store, &out, backup.Options{Stage: once("writing", func() {
				if err := spoil.do(glob(t, b.o.DataDir, spoil.pattern)[0]); err != nil {
					t.Error(err)
				}
			})})
			if fault.CodeOf(err) != fault.Store {
				t.Errorf("the backup: %v", err)
			}
			if left := glob(t, b.o.DataDir, store.FrozenPrefix+"*"); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// --verify finds every part of the restored copy that differs from what was backed up.
func TestVerifyingABackupFindsEveryDifference(t *testing.T) {
	t.Parallel()
	const check = store.FrozenPrefix + "*/" + store.StagePrefix + "check/"
	flip := func(path string) error { return flipByte(path, int(fileSize(t, path))/2) }
	for _, one := range []struct {
		name, pattern string
		do            func(string) error
	}{
		{"a table", check + "store/*.sst", flip},
		{"a value log", check + "store/*.vlog", flip},
		{"a blob", check + "blobs/??/*", flip},
		{"a blob that is missing", check + "blobs/??/*", os.Remove},
		{"a small file", check + "counter.json", flip},
		{"a journal that is longer", check + "journal/*.jsonl", func(p string) error { return os.Truncate(p, 1<<20) }},
		{"a file of another folder", check + "other/file", flip},
		{"a folder that is missing", check + "other", os.RemoveAll},
		{"a file of a chat", check + "chats/*/workspace/half.txt", flip},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, `{responses: [{step: 0, calls: [{name: write_file, args: {path: "half.txt", content: "h"}}, {name: write_file, args: {path: "big.txt", content: "`+strings.Repeat("b", 1<<20+1)+`"}}]}, {step: 1, calls: [{name: slow, args: {}}]}]}`, slow(nil))
			put(t, filepath.Join(b.o.DataDir, "other", "file"), []byte("of no record"))
			req := ask("go")
			req.Policy.AllowAll = true
			id := b.start(req)
			b.waitFor(id, event.TypeToolProgress)
			report, err := backup.Make(t.Context(), b.Store, io.Discard, backup.Options{Verify: true})
			if err != nil || !report.Verified {
				t.Errorf("as it is: %+v, %v", report, err)
			}
			_, err = backup.Make(t.Context(), b.Store, io.Discard, backup.Options{Verify: true, Stage: once("comparing", func() {
				found := glob(t, b.o.DataDir, one.pattern)
				if len(found) == 0 {
					t.Errorf("there is no %s", one.pattern)
					return
				}
				if err := one.do(found[len(found)-1]); err != nil {
					t.Error(err)
				}
			})})
			if fault.CodeOf(err) != fault.Store || !strings.Contains(err.Error(), "there is no backup") {
				t.Errorf("the backup: %v", err)
			}
			if left := glob(t, b.o.DataDir, store.FrozenPrefix+"*"); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			if err := b.Cancel(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			b.follow(id)
		})
	}
}

// A backup that is cancelled, or whose reader closes the pipe, leaves nothing.
func TestABackupThatIsCancelledLeavesNothing(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	lived(t, b)
	for _, stage := range []string{"copying the store", "checking the copy", "writing", "comparing", "verifying", "laying out the folders of chats"} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := backup.Make(ctx, b.Store, io.Discard, backup.Options{Verify: true, Stage: once(stage, cancel)})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", stage, err)
		}
	}
	for _, verify := range []bool{false, true} {
		in, out := io.Pipe()
		_ = in.CloseWithError(io.ErrClosedPipe)
		if _, err := backup.Make(t.Context(), b.Store, out, backup.Options{Verify: verify}); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("without a reader: %v", err)
		}
	}
	left := slices.Concat(glob(t, b.o.DataDir, store.FrozenPrefix+"*"), glob(t, b.o.DataDir, store.StagePrefix+"*"))
	if len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if _, err := backup.Make(t.Context(), b.Store, io.Discard, backup.Options{Verify: true}); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

// A backup of a damaged store reports the damage when it is made: what restoring it
// would refuse is never taken for a good backup.
func TestABackupReportsDamage(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*bench) error{
		"a content that is missing": func(b *bench) error { return os.Remove(b.large()) },
		"a content that is cut":     func(b *bench) error { return os.Truncate(b.large(), 100) },
		"a content that is another": func(b *bench) error { return flipByte(b.large(), 1000) },
		"a record in a value log": func(b *bench) error {
			logs := glob(b.t, b.StoreDir(), "*.vlog")
			slices.SortFunc(logs, func(x, y string) int { return int(fileSize(b.t, y) - fileSize(b.t, x)) })
			return flipByte(logs[0], 500)
		},
	} {
		for _, verify := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " ", verify), func(t *testing.T) {
				t.Parallel()
				b := changer(t, t.TempDir())
				b.put1(strings.Repeat("0123456789abcdef", 80_000), strings.Repeat("m", 5000))
				for range 3 { // the value log that is spoilt isn't the last
					commands(t, b.StoreDir(), 1)
				}
				if err := spoil(b); err != nil {
					t.Fatal(err)
				}
				var raw bytes.Buffer
				report, err := backup.Make(t.Context(), b.Store, &raw, backup.Options{Verify: verify})
				if err != nil || len(report.Problems) == 0 || report.Verified != verify {
					t.Fatalf("%+v, %v", report, err)
				}
				c := changer(t, t.TempDir())
				if err := c.putBack(raw.Bytes(), backup.Options{}); fault.CodeOf(err) != fault.Store {
					t.Errorf("restored without Damaged: %v", err)
				}
				if err := c.putBack(raw.Bytes(), backup.Options{Damaged: true}); err != nil {
					t.Errorf("restored with Damaged: %v", err)
				}
			})
		}
	}
}

// put1 makes a chat with a large file, which is then only in the store, and a long
// question, whose record is in a value log.
func (b *bench) put1(large, question string) {
	b.t.Helper()
	b.did(store.ChatRef{}, `{"put":{"a.txt":"1"}}`)
	b.put(1, "big.bin", large)
	b.did(store.ChatRef{Number: 1}, `{"put":{"a.txt":"`+question+`"}}`)
	b.did(store.ChatRef{Number: 1}, `{"rm":["big.bin"]}`)
	b.chat(1)
	if err := b.KV.LetGo(); err != nil {
		b.t.Fatal(err)
	}
}

// large is the file of a large content.
func (b *bench) large() string {
	b.t.Helper()
	found := glob(b.t, b.o.DataDir, "blobs/??/*")
	if len(found) == 0 {
		b.t.Fatal("there is no large content")
	}
	return found[0]
}

func flipByte(path string, at int) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text[at] ^= 1
	return os.WriteFile(path, text, 0o600)
}

func fileSize(t testing.TB, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
