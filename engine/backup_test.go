package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine/backup"
	"github.com/fettle-cli/fettle/engine/backup/archive"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/internal/kv"
)

// lived makes a data directory that looks like one somebody works with.
func lived(t testing.TB, b *bench) (project string) {
	t.Helper()
	big := strings.Repeat("0123456789abcdef", 80_000) // more than is a record
	b.did(store.ChatRef{}, `{"put":{"a.txt":"1","d/b.txt":"b"}}`)
	b.put(1, "d/big.bin", big)
	b.did(store.ChatRef{Number: 1}, `{"put":{"a.txt":"2"}}`)
	project = filepath.Join(b.dir, "project")
	if err := os.MkdirAll(project, 0o755); err != nil {
		t.Fatal(err)
	}
	req := ask(`{"put":{"src/main.go":"package main"}}`)
	req.Workspace, req.Policy.AllowAll = project, true
	b.run(req)
	b.put(1, "mine.txt", "by hand, and in no state")
	if err := b.Grant(context.Background(), event.AllowAlways, "", "read_file"); err != nil {
		t.Fatal(err)
	}
	b.did(store.ChatRef{}, `{"put":{"late.txt":"its journal waits"}}`)
	if err := os.Symlink("a.txt", filepath.Join(b.WorkspacePath(b.chat(1).Chat), "link")); err != nil {
		t.Fatal(err)
	}
	return project
}

func (b *bench) backup(o backup.Options) []byte {
	b.t.Helper()
	var out bytes.Buffer
	if _, err := backup.Make(context.Background(), b.Store, &out, o); err != nil {
		b.t.Fatal(err)
	}
	return out.Bytes()
}

func (b *bench) putBack(raw []byte, o backup.Options) error {
	_, err := backup.Restore(context.Background(), b.Store, bytes.NewReader(raw), o)
	return err
}

// kept is what people see of a data directory: chats with what was said, and the
// files of their own folders.
func kept(t testing.TB, b *bench) map[string]string {
	t.Helper()
	out := map[string]string{}
	page, err := b.Chats(context.Background(), store.ListChats{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range page.Chats {
		for i, m := range b.chat(c.Number).Messages {
			out[fmt.Sprintf("chat %d, %d", c.Number, i)] = m.Text()
		}
		if c.Workspace == "" {
			for name, content := range tree(t, b.WorkspacePath(c)) {
				out[fmt.Sprintf("chat %d, %s", c.Number, name)] = content
			}
		}
	}
	return out
}

func TestABackupIsPutBack(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	state := filepath.Join(b.dir, "state")
	put(t, filepath.Join(state, store.TrustName), []byte(`{"trusted":1}`))
	lived(t, b)
	raw := b.backup(backup.Options{State: state})
	want := kept(t, b)
	if left := glob(t, b.o.DataDir, store.FrozenPrefix+"*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}

	c := changer(t, t.TempDir())
	other := filepath.Join(c.dir, "state")
	if err := c.putBack(raw, backup.Options{State: other}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, kept(t, c)); diff != "" {
		t.Error(diff)
	}
	wholeStore(t, c)
	if text, err := os.ReadFile(filepath.Join(other, store.TrustName)); string(text) != `{"trusted":1}` {
		t.Errorf("trust is %q, %v", text, err)
	}
	if p := c.Granted(""); !slices.Contains(p.Allow, "read_file") {
		t.Errorf("allowed are %v", p.Allow)
	}
	if link, err := os.Readlink(filepath.Join(c.WorkspacePath(c.chat(1).Chat), "link")); link != "a.txt" {
		t.Errorf("the link is %q, %v", link, err)
	}
	if _, err := c.Undo(t.Context(), workspace.RestoreRequest{Chat: store.ChatRef{Number: 1}}); err != nil {
		t.Fatal(err)
	}
	now := tree(t, c.WorkspacePath(c.chat(1).Chat))
	if now["a.txt"] != "1" || now["mine.txt"] == "" {
		t.Errorf("after undo: %v", slices.Sorted(maps.Keys(now)))
	}
	c.did(store.ChatRef{}, `{"put":{"new.txt":"n"}}`)
	if got := c.chat(4).Chat.Number; got != 4 {
		t.Errorf("the next chat is %d", got)
	}
}

// A restore that was under way when the store was copied is none where it comes
// back: the folder has moved on since.
func TestABackupForgetsWhatWasUnderWay(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	project := lived(t, b)
	restores := kv.NewTable("workspace_restores", func(j *underWay) kv.Key { return kv.Str(j.Workspace) })
	err := b.KV.Update(t.Context(), func(tx *kv.Tx) error {
		return restores.Put(tx, &underWay{Workspace: "w", Path: project, Record: "01ARZ3NDEKTSV4RRFFQ69G5FAV"})
	})
	if err != nil {
		t.Fatal(err)
	}
	raw := b.backup(backup.Options{})
	for _, e := range []*bench{b, changer(t, t.TempDir())} {
		if err := e.putBack(raw, backup.Options{Replace: true}); err != nil {
			t.Fatal(err)
		}
		err := e.KV.View(t.Context(), func(tx *kv.Tx) error {
			if n, err := restores.Count(tx, kv.Range{}); n != 0 || err != nil {
				t.Errorf("%d are under way, %v", n, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// underWay is the journal of a restore, as far as it counts here.
type underWay struct {
	Workspace string `json:"workspace"`
	Path      string `json:"path"`
	Record    string `json:"record"`
}

func glob(t testing.TB, dir, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A turn that runs while the backup is made is in it as far as it was, and its
// folder as it lay there.
func TestABackupBesideATurn(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{responses: [{step: 0, calls: [{name: write_file, args: {path: "half.txt", content: "h"}}]}, {step: 1, calls: [{name: slow, args: {}}]}]}`, slow(nil))
	req := ask("go")
	req.Policy.AllowAll = true
	id := b.start(req)
	b.waitFor(id, event.TypeToolProgress)
	raw := b.backup(backup.Options{})
	if err := b.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	b.follow(id)
	c := newBench(t, yes)
	if err := c.putBack(raw, backup.Options{}); err != nil {
		t.Fatal(err)
	}
	conv := c.chat(1)
	if len(conv.Messages) != 2 || conv.Messages[1].Status != chat.CutShort {
		t.Errorf("the turn is %+v", conv.Messages)
	}
	if got := tree(t, c.WorkspacePath(conv.Chat)); got["half.txt"] != "h" {
		t.Errorf("its folder has %v", got)
	}
	wholeStore(t, c)
}

// What is there is replaced only if that was asked for, and only by what is
// whole.
func TestABackupReplacesNothingUnasked(t *testing.T) {
	t.Parallel()
	from := changer(t, t.TempDir())
	lived(t, from)
	raw := from.backup(backup.Options{})
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"own.txt":"own"}}`)
	want := kept(t, b)
	same := func(what string) {
		t.Helper()
		if diff := cmp.Diff(want, kept(t, b)); diff != "" {
			t.Errorf("%s:\n%s", what, diff)
		}
		if left := slices.Concat(glob(t, b.o.DataDir, store.StagePrefix+"*"), glob(t, b.o.DataDir, store.OldPrefix+"*")); len(left) > 0 {
			t.Errorf("%s: left behind: %v", what, left)
		}
	}
	if err := b.putBack(raw, backup.Options{}); fault.CodeOf(err) != fault.Usage {
		t.Errorf("into a folder that isn't empty: %v", err)
	}
	same("refused")
	if err := b.putBack(raw, backup.Options{Check: true}); err != nil {
		t.Error(err)
	}
	same("looked at")
	const places = 4
	for i := range places {
		bad := bytes.Clone(raw)
		bad[len(bad)*(i+1)/(places+1)] ^= 0x10
		if err := b.putBack(bad, backup.Options{Replace: true}); fault.CodeOf(err) != fault.Store && fault.CodeOf(err) != fault.Usage {
			t.Errorf("damaged: %v", err)
		}
		if err := b.putBack(raw[:len(raw)*i/places], backup.Options{Replace: true}); err == nil {
			t.Error("half a backup was put back")
		}
	}
	same("damaged")
	if err := b.putBack(raw, backup.Options{Replace: true}); err != nil {
		t.Fatal(err)
	}
	want = kept(t, from)
	same("replaced")
	wholeStore(t, b)
}

// A backup of a store that had lost something says so, and what is whole can be
// had.
func TestABackupOfADamagedStore(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	lived(t, b)
	b.chat(1)
	large := glob(t, filepath.Join(b.o.DataDir, "blobs"), "??/*")
	if len(large) == 0 {
		t.Fatal("there is no large file")
	}
	// Not in the folder either, where a snapshot would find it again.
	err := errors.Join(os.Remove(large[0]), os.Remove(filepath.Join(b.WorkspacePath(b.chat(1).Chat), "d", "big.bin")))
	if err != nil {
		t.Fatal(err)
	}
	raw := b.backup(backup.Options{})
	c := changer(t, t.TempDir())
	err = c.putBack(raw, backup.Options{})
	var f *fault.Fault
	if fault.CodeOf(err) != fault.Store || !errors.As(err, &f) || len(f.Detail) == 0 || f.Remedies[0].Kind != fault.RestoreDamaged {
		t.Fatalf("%v", err)
	}
	if err := c.putBack(raw, backup.Options{Damaged: true}); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, c.WorkspacePath(c.chat(1).Chat)); got["a.txt"] != "2" {
		t.Errorf("what was whole is %v", slices.Sorted(maps.Keys(got)))
	}
}

// To put a backup back waits for who is at a chat.
func TestPuttingBackWaitsForATurn(t *testing.T) {
	t.Parallel()
	from := changer(t, t.TempDir())
	from.did(store.ChatRef{}, `{"put":{"a.txt":"1"}}`)
	raw := from.backup(backup.Options{})
	b := newBench(t, `{responses: [{calls: [{name: slow, args: {}}]}]}`, slow(nil))
	id := b.start(ask("go"))
	b.waitFor(id, event.TypeToolProgress)
	waiting, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- b.reopen().putBack(raw, backup.Options{Replace: true, OnWait: func(who string) { waiting <- who }})
	}()
	if who := <-waiting; !strings.Contains(who, strconv.Itoa(os.Getpid())) {
		t.Errorf("it waits for %q", who)
	}
	if err := b.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	b.follow(id)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if conv := b.chat(1); conv.Messages[0].Text() != `{"put":{"a.txt":"1"}}` {
		t.Errorf("chat 1 begins with %q", conv.Messages[0].Text())
	}
}

// Killed at every step of putting a backup back: what is there is the old or the
// new, whole, and after the names began to change places it is the new.
func TestKilledWhileABackupIsPutBack(t *testing.T) {
	t.Parallel()
	from := changer(t, t.TempDir())
	lived(t, from)
	raw := from.backup(backup.Options{})
	fresh := kept(t, from)
	template := t.TempDir()
	b := changer(t, template)
	b.did(store.ChatRef{}, `{"put":{"own.txt":"own"}}`)
	old := kept(t, b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(template, "backup"), raw)
	for _, step := range []struct {
		name  string
		count int
		moved bool
	}{
		{"restore:read", 1, false}, {"restore:verified", 1, false}, {"restore:marked", 1, true},
		{"restore:away", 1, true}, {"restore:away", 3, true}, {"restore:placed", 1, true}, {"restore:placed", 2, true},
		{"restore:placed", 4, true}, {"restore:unmarked", 1, true},
	} {
		t.Run(fmt.Sprint(step.name, " ", step.count), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(template)); err != nil {
				t.Fatal(err)
			}
			p := spawn(t, "putback", dir, step.name, strconv.Itoa(step.count))
			if err := p.cmd.Wait(); err == nil || p.err.Len() > 0 {
				t.Fatalf("it was not killed: %v: %s", err, &p.err)
			}
			if err := store.FinishRestore(t.Context(), filepath.Join(dir, "data"), b.notice); err != nil {
				t.Fatal(err)
			}
			c := changer(t, dir)
			want := old
			if step.moved {
				want = fresh
			}
			if diff := cmp.Diff(want, kept(t, c)); diff != "" {
				t.Error(diff)
			}
			wholeStore(t, c)
			if err := c.putBack(raw, backup.Options{Replace: true}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(fresh, kept(t, c)); diff != "" {
				t.Error(diff)
			}
			if left := slices.Concat(glob(t, c.o.DataDir, store.StagePrefix+"*"), glob(t, c.o.DataDir, store.OldPrefix+"*"), glob(t, c.o.DataDir, store.RestoreMarkName)); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// A turn of a process that has not looked for it finishes what a crash cut off.
func TestATurnFinishesWhatACrashCutOff(t *testing.T) {
	t.Parallel()
	from := changer(t, t.TempDir())
	from.did(store.ChatRef{}, `{"put":{"a.txt":"1"}}`)
	dir := t.TempDir()
	put(t, filepath.Join(dir, "backup"), from.backup(backup.Options{}))
	b := changer(t, dir)
	b.did(store.ChatRef{}, `{"put":{"own.txt":"own"}}`)
	b.chat(1)
	p := spawn(t, "putback", dir, "restore:placed", "1")
	if err := p.cmd.Wait(); err == nil || p.err.Len() > 0 {
		t.Fatalf("it was not killed: %v: %s", err, &p.err)
	}
	b.did(store.ChatRef{}, `{"put":{"b.txt":"2"}}`)
	b.sees(1, map[string]string{"a.txt": "1"})
	b.sees(2, map[string]string{"b.txt": "2"})
}

func childPutBack(ctx context.Context, dir string, die func(string)) error {
	raw, err := os.ReadFile(filepath.Join(dir, "backup"))
	if err != nil {
		return err
	}
	e := childEngine(dir, die)
	_, err = backup.Restore(ctx, e.Store, bytes.NewReader(raw), backup.Options{Replace: true})
	return fmt.Errorf("it was not killed: %w", errors.Join(err, e.Close()))
}

// Backups that are made while other processes begin chats and fold: each is whole,
// and has for every turn that had ended before it all of it.
func TestBackupsBesideOtherProcesses(t *testing.T) {
	t.Parallel()
	const backups = 3
	dir := t.TempDir()
	b := changer(t, dir)
	put(t, filepath.Join(dir, "m.yaml"), []byte(`{responses: [{when: "", text: Yes.}]}`))
	b.did(store.ChatRef{}, `{"put":{"a.txt":"1"}}`)
	folds := spawn(t, "fold", dir)
	asks := []*process{spawn(t, "ask", dir, "15"), spawn(t, "ask", dir, "15")}
	for range backups {
		page, err := b.Chats(t.Context(), store.ListChats{})
		if err != nil {
			t.Fatal(err)
		}
		c := changer(t, t.TempDir())
		if err := c.putBack(b.backup(backup.Options{}), backup.Options{}); err != nil {
			t.Fatal(err)
		}
		wholeStore(t, c)
		for _, chat := range page.Chats {
			if conv := c.chat(chat.Number); conv.Chat.ID != chat.ID || len(conv.Messages) != chat.Messages {
				t.Errorf("chat %d has %d messages of %d", chat.Number, len(conv.Messages), chat.Messages)
			}
		}
	}
	for _, p := range asks {
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, &p.err)
		}
	}
	put(t, filepath.Join(dir, "stop"), nil)
	if err := folds.cmd.Wait(); err != nil || folds.err.Len() > 0 {
		t.Errorf("fold: %v: %s", err, &folds.err)
	}
}

// A hostile backup makes nothing outside of its stage, and nothing that a backup
// never has.
func TestABackupThatReachesOut(t *testing.T) {
	t.Parallel()
	for name, do := range hostileBackups(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := changer(t, t.TempDir())
			if err := b.putBack(do, backup.Options{}); err == nil {
				t.Error("it was put back")
			}
			if _, err := os.Lstat(filepath.Join(b.dir, "evil")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("it reached out: %v", err)
			}
			if names, err := backup.Contents(b.o.DataDir); err != nil || len(names) > 0 {
				t.Errorf("there is %v, %v", names, err)
			}
		})
	}
}

// hostileBackups are backups that no fettle writes.
func hostileBackups(t *testing.T) map[string][]byte {
	t.Helper()
	one := archive.Entry{Kind: archive.File, Size: 1}
	named := func(name string) archive.Entry { e := one; e.Name = name; return e }
	link := func(name, to string) archive.Entry {
		return archive.Entry{Name: name, Kind: archive.Link, Target: to}
	}
	out := map[string][]byte{}
	for name, entries := range map[string][]archive.Entry{
		"no store":                 {named("counter.json")},
		"a lock":                   {named("locks/data")},
		"its own mark":             {named(store.RestoreMarkName)},
		"a stage":                  {named(store.StagePrefix + "x/store/MANIFEST")},
		"a link beside chats":      {link("store", "../../evil")},
		"through a link":           {link("chats/a", "../../../evil"), named("chats/a/evil")},
		"twice":                    {named("store/A"), named("store/A")},
		"a file as a folder":       {named("store"), named("store/A")},
		"folders that are no list": {named(backup.FoldersName)},
	} {
		var raw bytes.Buffer
		w, err := archive.NewWriter(&raw, archive.Head{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if _, err := w.Put(e, strings.NewReader("x")); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		out[name] = raw.Bytes()
	}
	return out
}
