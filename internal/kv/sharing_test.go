package kv

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/fettle-cli/fettle/internal/lockfile"
)

// Many processes write one store at once: everyone gets his turns, and all that
// was written is there.
func TestProcessesShareAStore(t *testing.T) {
	t.Parallel()
	const processes = 20
	each := several(20, 3)
	dir := filepath.Join(t.TempDir(), "store")
	var wg sync.WaitGroup
	for i := range processes {
		p := start(t, "updates", dir, fmt.Sprintf("p%02d", i), strconv.Itoa(each))
		wg.Go(func() {
			if err := p.cmd.Wait(); err != nil {
				t.Errorf("child: %v", err)
			}
		})
	}
	wg.Wait()
	s := openAt(t, dir, Options{})
	table := chatTable()
	view(t, s, func(tx *Tx) error {
		n, err := table.Count(tx, Range{})
		if n != processes*each || err != nil {
			t.Errorf("%d records, want %d (%v)", n, processes*each, err)
		}
		for i := range processes {
			who := fmt.Sprintf("p%02d", i)
			found := 0
			for _, err := range table.ByIndex(tx, "title", Str(who), Range{}) {
				if err != nil {
					return err
				}
				found++
			}
			if found != each {
				t.Errorf("%s has %d records by index, want %d", who, found, each)
			}
		}
		return nil
	})
	letGo(t, s)
	if left := files(t, filepath.Dir(dir), "*.lock"); len(left) > 0 {
		t.Errorf("lock files left behind: %q", left)
	}
}

// A process that is killed loses nothing that it had reported, and leaves the
// indexes right.
func TestKilledWriterLosesNothing(t *testing.T) {
	t.Parallel()
	kills := several(20, 5)
	dir := filepath.Join(t.TempDir(), "store")
	table := chatTable()
	var acknowledged []string
	for k := range kills {
		who := fmt.Sprintf("k%02d", k)
		acknowledged = append(acknowledged, streamAndKill(t, dir, who)...)
		s := Open(dir, Options{})
		view(t, s, func(tx *Tx) error {
			for _, id := range acknowledged {
				c, err := table.Get(tx, Str(id))
				if err != nil || (c.Body != "" && c.Body[:len(id)] != id) {
					t.Fatalf("after %d kills, %s: %v", k+1, id, err)
				}
			}
			checkIndexes(t, tx, table)
			return nil
		})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(acknowledged) < kills {
		t.Errorf("only %d writes were acknowledged", len(acknowledged))
	}
	if n := len(files(t, dir, ".sst")); n > 2*mergeTables {
		t.Errorf("%d tables after %d kills", n, kills)
	}
}

// streamAndKill lets a child write until a random moment, and gives the ids that
// it had reported as synced.
func streamAndKill(t *testing.T, dir, who string) []string {
	p := start(t, "stream", dir, who)
	var ids []string
	enough := 1 + rand.IntN(12)
	for len(ids) < enough {
		line, err := p.out.ReadString('\n')
		if err != nil {
			t.Fatalf("child ended: %v", err)
		}
		i, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, fmt.Sprintf("%s-%05d", who, i))
	}
	time.Sleep(rand.N(8 * time.Millisecond)) // somewhere in the next write
	p.kill(t)
	return ids
}

// checkIndexes compares the index entries that are stored with those that the
// records ask for.
func checkIndexes(t testing.TB, tx *Tx, table *Table[chat]) {
	t.Helper()
	var want, got []string
	for c, err := range table.Scan(tx, Range{}) {
		if err != nil {
			t.Fatal(err)
		}
		for i, keys := range table.table.keys(c) {
			for _, k := range keys {
				key, _ := table.table.indexes[i].entry(k, table.key(c))
				want = append(want, string(key))
			}
		}
	}
	sp := Range{}.within(indexPrefix(table.table.name, ""))
	sp.keys = true
	for h, err := range walk(tx, sp, func(h hit) (string, error) { return string(join(sp.prefix, h.rest)), nil }) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, h)
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%d index entries, %d wanted:\n%q\n%q", len(got), len(want), got, want)
	}
}

func TestIdleStoreIsLetGo(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	put(t, s, chatTable(), chat{ID: "a"})
	if _, err := os.Stat(s.lockPath()); err != nil {
		t.Fatalf("the store isn't held after an operation: %v", err)
	}
	eventually(t, "the idle store was let go", func() bool {
		_, err := os.Stat(s.lockPath())
		return errors.Is(err, os.ErrNotExist)
	})
}

// A database that is kept open stays so when idle, and is released to another process
// that waits for it.
func TestKeepOpen(t *testing.T) {
	t.Parallel()
	kept, other := newStore(t, Options{}), newStore(t, Options{})
	table := chatTable()
	end := kept.KeepOpen()
	for _, s := range []*Store{kept, other} { // the second one is idle later
		put(t, s, table, chat{ID: "a"})
	}
	idle(t, other)
	put(t, kept, table, chat{ID: "b"})
	if n := kept.Work().Opens; n != 1 {
		t.Errorf("the database was opened %d times", n)
	}
	put(t, openAt(t, kept.Dir(), Options{}), table, chat{ID: "c"})
	if n := kept.Work().Opens; n != 1 {
		t.Errorf("the database was opened %d times", n)
	}
	end()
	put(t, kept, table, chat{ID: "d"})
	idle(t, kept)
	if n := kept.Work().Opens; n != 2 {
		t.Errorf("the database was opened %d times", n)
	}
}

// A holder lets go as soon as another waits: the other gets in well before the
// holder's time of idleness.
func TestHolderLetsGoWhenAnotherWaits(t *testing.T) {
	t.Parallel()
	a := newStore(t, Options{})
	b := openAt(t, a.Dir(), Options{})
	table := chatTable()
	stop := make(chan struct{})
	busy := make(chan error, 1)
	go func() { // never idle
		for i := 0; ; i++ {
			select {
			case <-stop:
				busy <- nil
				return
			default:
			}
			err := a.Update(context.Background(), func(tx *Tx) error {
				return table.Put(tx, &chat{ID: fmt.Sprint("a", i)})
			})
			if err != nil {
				busy <- err
				return
			}
		}
	}()
	for i := range 10 {
		put(t, b, table, chat{ID: fmt.Sprint("b", i)})
	}
	close(stop)
	if err := <-busy; err != nil {
		t.Error(err)
	}
}

func TestHolderThatNeverLetsGo(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	holder := start(t, "hold", dir)
	holder.expect(t, "held")
	var told []string
	s := openAt(t, dir, Options{
		Wait:   slowAfter + 100*time.Millisecond,
		OnWait: func(owner string) { told = append(told, owner) },
	})
	for _, operation := range []func() error{
		func() error { return s.View(t.Context(), func(*Tx) error { return nil }) },
		func() error { return s.Update(t.Context(), func(*Tx) error { return nil }) },
	} {
		told = nil
		busy := mustBe[*BusyError](t, operation())
		if busy.PID != holder.cmd.Process.Pid || busy.Dir != dir || busy.Waited < s.opts.Wait {
			t.Errorf("%+v, the holder is %d", busy, holder.cmd.Process.Pid)
		}
		if want := lockfile.Process(holder.cmd.Process.Pid); !slices.Equal(told, []string{want}) {
			t.Errorf("OnWait was told %q, want once %q", told, want)
		}
	}
	if err := holder.in.Close(); err != nil {
		t.Fatal(err)
	}
	s.opts.Wait = patience
	view(t, s, func(*Tx) error { return nil })
}

// A program that knows only Badger's lock is waited for too.
func TestForeignHolder(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{Wait: 100 * time.Millisecond})
	put(t, s, chatTable(), chat{ID: "a"})
	letGo(t, s)
	db, err := badger.Open(s.badgerOptions(plan{}, &dbLog{}))
	if err != nil {
		t.Fatal(err)
	}
	busy := mustBe[*BusyError](t, s.Update(t.Context(), func(*Tx) error { return nil }))
	if busy.PID != os.Getpid() && !windows {
		t.Errorf("got %+v, this is process %d", busy, os.Getpid())
	}
	if left := files(t, filepath.Dir(s.dir), ".lock"); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	s.opts.Wait = patience
	done := make(chan error)
	go func() { done <- s.Update(context.Background(), func(*Tx) error { return nil }) }()
	if err := errors.Join(db.Close(), <-done); err != nil {
		t.Error(err)
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	holder := start(t, "nap", dir)
	holder.expect(t, "held")
	s := openAt(t, dir, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Update(ctx, func(*Tx) error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	// Who gave up no longer stands in the queue.
	if left := files(t, filepath.Dir(dir), waitName); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// Two stores of one process on one folder share it as two processes do.
func TestGeneration(t *testing.T) {
	t.Parallel()
	a := newStore(t, Options{})
	b := openAt(t, a.Dir(), Options{})
	table := chatTable()
	read := func(s *Store) (g uint64) {
		view(t, s, func(tx *Tx) error { g = tx.Generation(); return nil })
		if g != s.Generation() {
			t.Errorf("the transaction says %d, the store %d", g, s.Generation())
		}
		return g
	}
	if a.Generation() != 0 {
		t.Error("a store that was never opened has a generation")
	}
	first := read(a)
	put(t, a, table, chat{ID: "a"})
	letGo(t, a)
	if read(a) != first {
		t.Error("own writes changed the generation")
	}
	read(b)
	letGo(t, b)
	letGo(t, a)
	if read(a) != first {
		t.Error("another's reading changed the generation")
	}
	put(t, b, table, chat{ID: "b"})
	second := read(a)
	if second == first {
		t.Error("another's write did not change the generation")
	}
	failed := b.Update(t.Context(), func(tx *Tx) error {
		return errors.Join(table.Put(tx, &chat{ID: "c"}), context.Canceled)
	})
	if !errors.Is(failed, context.Canceled) || read(a) != second {
		t.Errorf("a write that failed changed the generation (%v)", failed)
	}
}
