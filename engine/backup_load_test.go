package engine

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/backup"
	"github.com/fettle-cli/fettle/engine/store"
)

// backupsEnv is how many backups TestBackupsUnderFullLoad makes.
const backupsEnv = "FETTLE_TEST_BACKUPS"

// Processes run turns, undo, begin chats, fold and collect, and are killed at any
// moment, while backups are made one after the other, some for a slow reader. Each of
// them is restored: all that had ended before it exists, nothing is damaged, and the
// chats' folders are in their states.
func TestBackupsUnderFullLoad(t *testing.T) {
	t.Parallel()
	backups := sized(t, backupsEnv, 4)
	c := newChurned(t)
	put(t, filepath.Join(c.dir, "m.yaml"), []byte(`{responses: [{when: "", text: Yes.}]}`))
	load := startLoad(t, c.dir)
	b := changer(t, c.dir)
	b.o.Notice = func(string) {} // of what others were killed at
	for i := range backups {
		load.again()
		before := messageCounts(t, b)
		var raw bytes.Buffer
		out, read := io.Writer(&raw), func() {}
		if i%2 == 0 {
			out, read = slowly(&raw)
		}
		report, err := backup.Make(t.Context(), b.Store, out, backup.Options{Verify: i%4 == 3})
		read()
		if err != nil || len(report.Problems) > 0 {
			t.Fatalf("backup %d: %+v, %v", i, report, err)
		}
		if !restoresWhole(t, raw.Bytes(), before) {
			name := filepath.Join(os.TempDir(), "fettle-failed-backup.tar.zst")
			t.Fatalf("backup %d is kept as %s: %v", i, name, os.WriteFile(name, raw.Bytes(), 0o600))
		}
		if i%25 == 24 {
			t.Logf("%d of %d backups were restored", i+1, backups)
		}
	}
	load.stop()
}

// messageCounts returns the messages of each chat that had ended.
func messageCounts(t *testing.T, b *bench) map[string]int {
	t.Helper()
	page, err := b.Chats(t.Context(), store.ListChats{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, c := range page.Chats {
		out[c.ID] = c.Messages
	}
	return out
}

// restoresWhole restores a backup and checks the restored data.
func restoresWhole(t *testing.T, raw []byte, before map[string]int) bool {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	o := changerOptions(t, dir)
	c := &bench{t: t, dir: dir, Engine: New(o)}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		_ = os.RemoveAll(dir) // the next one needs the room
	}()
	c.o.Notice = func(string) {}
	if err := c.putBack(raw, backup.Options{}); err != nil {
		t.Errorf("it can't be restored: %v", err)
		return false
	}
	wholeStore(t, c)
	after := messageCounts(t, c)
	for id, messages := range before {
		if after[id] < messages {
			t.Errorf("chat %s has %d messages of %d", id, after[id], messages)
		}
	}
	for number := int64(1); number <= 4; number++ {
		if _, err := c.Chat(t.Context(), store.ChatRef{Number: number}); err != nil {
			t.Errorf("chat %d: %v", number, err)
		}
		// An undo works, regardless of what was cut off, or reports why it can't.
		if err := churnUndo(t.Context(), c.Engine, number); err != nil {
			t.Errorf("undo in chat %d: %v", number, err)
		}
	}
	wholeStore(t, c)
	return !t.Failed()
}

// slowly returns a writer whose other end reads in small pieces, with pauses; wait
// returns when all was read.
func slowly(to *bytes.Buffer) (w io.Writer, wait func()) {
	in, out := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for piece := make([]byte, 4<<10); ; {
			n, err := in.Read(piece)
			to.Write(piece[:n])
			if err != nil {
				return
			}
			time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond)
		}
	}()
	return out, func() { _ = out.Close(); <-done }
}

// load is processes that work in a data directory until they are killed.
type load struct {
	t      *testing.T
	dir    string
	cancel context.CancelFunc
	wg     sync.WaitGroup
	mu     sync.Mutex
	all    []*process
}

func startLoad(t *testing.T, dir string) *load {
	l := &load{t: t, dir: dir}
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	t.Cleanup(l.stop)
	l.wg.Add(1)
	go func() { // kills one now and then
		defer l.wg.Done()
		for ctx.Err() == nil {
			time.Sleep(time.Duration(20+rand.IntN(200)) * time.Millisecond)
			l.mu.Lock()
			if len(l.all) > 0 {
				_ = l.all[rand.IntN(len(l.all))].cmd.Process.Kill()
			}
			l.mu.Unlock()
		}
	}()
	return l
}

// again starts what does not run any more.
func (l *load) again() {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.all {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		if p.err.Len() > 0 {
			l.t.Errorf("a process ended by itself: %s", &p.err)
		}
	}
	l.all = nil
	for _, task := range []string{"turn 1", "turn 2", fmt.Sprint("turn ", 3+rand.IntN(2)), "undo 2", "gc 0"} {
		var what, n string
		if _, err := fmt.Sscan(task, &what, &n); err != nil {
			l.t.Fatal(err)
		}
		l.all = append(l.all, spawn(l.t, "churn", l.dir, what, n))
	}
	l.all = append(l.all, spawn(l.t, "beside", l.dir))
}

// stop kills everything.
func (l *load) stop() {
	l.cancel()
	l.wg.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.all {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	}
	l.all = nil
}

// childBeside does short commands until it is killed: a question, a fold, a list, a
// merge, each in a separate engine.
func childBeside(ctx context.Context, dir string) error {
	for i := 0; ctx.Err() == nil; i++ {
		e := childEngine(dir, pauses)
		e.o.Notice = func(string) {}
		var err error
		switch i % 4 {
		case 0, 1:
			var id store.TurnID
			if id, err = e.Start(ctx, ask("go")); err == nil {
				for _, ferr := range e.Follow(ctx, id, 0) {
					err = ferr
				}
			}
		case 2:
			_, err = e.Chats(ctx, store.ListChats{})
		case 3:
			err = e.KV.Compact(ctx)
		}
		if cerr := e.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
	}
	return nil
}
