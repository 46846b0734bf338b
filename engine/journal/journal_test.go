package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
)

type accept struct {
	Turn  string `json:"turn"`
	Order int64  `json:"order"`
}

func text(turn string, seq int) event.Event {
	return event.Event{
		TurnID: turn, Seq: event.Seq(seq), Time: time.Unix(1, 0).UTC(),
		Body: event.TextDelta{Text: fmt.Sprintf("piece %d\n", seq)},
	}
}

func create(t *testing.T, d *Dir, turn string, n int) *Writer {
	t.Helper()
	w, err := d.Create(t.Context(), turn, accept{Turn: turn, Order: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Publish(); err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= n; i++ {
		if err := w.Append(text(turn, i)); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// seqs reads a journal and checks that its events are 1, 2, 3 and so on.
func seqs(r *Reader) (int, error) {
	n := 0
	for line, err := range r.Events() {
		if err != nil {
			return n, err
		}
		n++
		if line.Event.Seq != event.Seq(n) {
			return n, fmt.Errorf("event %d has seq %d", n, line.Event.Seq)
		}
	}
	return n, nil
}

func TestAFinishedJournalIsClaimedReadAndRemoved(t *testing.T) {
	t.Parallel()
	d := Open(filepath.Join(t.TempDir(), "journal"))
	w := create(t, d, "A", 3)
	if _, live, _ := d.Owner(t.Context(), "A"); !live {
		t.Error("a journal with a writer has no owner")
	}
	if _, ok, err := d.Claim(t.Context(), "A"); ok || err != nil {
		t.Errorf("a live journal was claimed: %v, %v", ok, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	c, ok, err := d.Claim(t.Context(), "A")
	if !ok || err != nil {
		t.Fatalf("claim: %v, %v", ok, err)
	}
	if _, again, _ := d.Claim(t.Context(), "A"); again {
		t.Error("one journal was claimed twice")
	}
	r, err := c.Read()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var a accept
	if err := r.Accept(&a); err != nil || a.Turn != "A" {
		t.Errorf("acceptance %+v, %v", a, err)
	}
	if n, err := seqs(r); n != 3 || err != nil || r.Torn {
		t.Errorf("%d events, %v, torn %v", n, err, r.Torn)
	}
	if err := c.Remove(); err != nil {
		t.Fatal(err)
	}
	left, _ := os.ReadDir(d.path)
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, ok, err := d.Claim(t.Context(), "A"); ok || err != nil {
		t.Errorf("a journal that is gone was claimed: %v, %v", ok, err)
	}
}

func TestWhatIsNotPublishedIsNotThere(t *testing.T) {
	t.Parallel()
	d := Open(t.TempDir())
	w, err := d.Create(t.Context(), "A", accept{Turn: "A"})
	if err != nil {
		t.Fatal(err)
	}
	if turns, _ := d.Turns(); len(turns) != 0 {
		t.Errorf("turns %v", turns)
	}
	if err := d.Sweep(t.Context()); err != nil { // a live owner's file stays
		t.Fatal(err)
	}
	if err := w.Publish(); err != nil {
		t.Fatal(err)
	}
	if turns, _ := d.Turns(); len(turns) != 1 {
		t.Errorf("turns %v", turns)
	}
	if err := w.Discard(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(d.path); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestSweepRemovesWhatTheDeadLeft(t *testing.T) {
	t.Parallel()
	d := Open(t.TempDir())
	for _, name := range []string{"A.jsonl.new", "A.lock", "B.lock"} {
		if err := os.WriteFile(filepath.Join(d.path, name), []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := create(t, d, "C", 1)
	defer w.Close()
	if err := d.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	var names []string
	left, _ := os.ReadDir(d.path)
	for _, e := range left {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "C.jsonl C.lock" {
		t.Errorf("left: %s", got)
	}
}

// State and Unpublished are for callers that only read.
func TestUnpublishedListsWhatSweepRemovesAndChangesNothing(t *testing.T) {
	t.Parallel()
	d := Open(t.TempDir())
	for _, name := range []string{"A.jsonl.new", "A.lock", "B.lock"} {
		if err := os.WriteFile(filepath.Join(d.path, name), []byte("pid 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := create(t, d, "C", 1)
	defer w.Close()
	for range 2 {
		left, err := d.Unpublished()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, u := range left {
			for _, f := range u.Files {
				got = append(got, filepath.Base(f))
			}
		}
		if got := strings.Join(got, " "); got != "A.jsonl.new A.lock B.lock" {
			t.Errorf("listed %s", got)
		}
	}
}

func TestAFoldedJournalIsRemovedWhileItIsRead(t *testing.T) {
	t.Parallel()
	d := Open(t.TempDir())
	if err := create(t, d, "A", 1).Close(); err != nil {
		t.Fatal(err)
	}
	r, err := d.Read("A")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c, ok, err := d.Claim(t.Context(), "A")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if err := c.Remove(); err != nil {
		t.Fatal(err)
	}
	for _, err := range r.Events() {
		if err != nil {
			t.Errorf("the reader that was there before: %v", err)
		}
	}
}

func TestATornLastLineIsDropped(t *testing.T) {
	t.Parallel()
	d := Open(t.TempDir())
	w := create(t, d, "A", 2)
	if _, err := w.f.WriteAt([]byte(`{"type":"text_delta","tu`), w.size); err != nil {
		t.Fatal(err)
	}
	w.Close()
	r, err := d.Read("A")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n, err := seqs(r); n != 2 || err != nil || !r.Torn {
		t.Errorf("%d events, %v, torn %v", n, err, r.Torn)
	}
}

func TestDamageInTheMiddleIsAnError(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"no acceptance":    "",
		"torn acceptance":  `{"turn":`,
		"broken event":     "{}\n{\"type\":\n{}\n",
		"acceptance, junk": "junk\n",
	} {
		t.Run(name, func(t *testing.T) {
			d := Open(t.TempDir())
			if err := os.WriteFile(d.file("A"), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := d.Read("A")
			if err == nil {
				defer r.Close()
				_, err = seqs(r)
			}
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := Open(t.TempDir()).Read("A"); !errors.Is(err, ErrNoJournal) {
		t.Errorf("a missing journal gave %v", err)
	}
}

// A follower that reads a live journal goes on where it stopped, wherever a
// write was cut.
func TestReadingALiveJournalGoesOn(t *testing.T) {
	t.Parallel()
	d := Open(t.TempDir())
	w := create(t, d, "A", 1)
	defer w.Close()
	r, err := d.Read("A")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n, err := seqs(r); n != 1 || err != nil {
		t.Fatalf("%d events, %v", n, err)
	}
	line, _ := text("A", 2).Append(nil)
	for i, b := range append(line, '\n') {
		if n := 0; true {
			for range r.Events() {
				n++
			}
			if n != 0 {
				t.Fatal("an event was read before its end was written")
			}
		}
		if _, err := w.f.WriteAt([]byte{b}, w.size+int64(i)); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for l, err := range r.Events() {
		n++
		if err != nil || l.Event.Seq != 2 {
			t.Errorf("event %+v, %v", l.Event, err)
		}
	}
	if n != 1 {
		t.Errorf("%d events after the line was whole", n)
	}
}

// An import takes many numbers and makes the last one durable, and two turns are
// accepted before the first of them is synced.
func TestNumbersKeepNoFileOpenBeforeTheirSync(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := NewCounter(dir, func(context.Context) (Numbers, error) { return Numbers{}, nil })
	var syncs []func() error
	for i := range 20 {
		n, sync, err := c.Next(t.Context(), true)
		if err != nil || n.Chat != int64(i+1) {
			t.Fatalf("number %d: %+v, %v", i+1, n, err)
		}
		syncs = append(syncs, sync)
		if open := openIn(t, dir); len(open) > 0 {
			t.Fatalf("after number %d these are open: %q", i+1, open)
		}
	}
	for _, sync := range syncs {
		if err := sync(); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left %v, %v; want the counter alone", left, err)
	}
}

// openIn lists the files below a folder that this process has open, if the system lists
// them.
func openIn(t *testing.T, dir string) []string {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil
	}
	var out []string
	for _, fd := range fds {
		if name, err := os.Readlink(filepath.Join("/proc/self/fd", fd.Name())); err == nil && strings.HasPrefix(name, dir) {
			out = append(out, name)
		}
	}
	return out
}

func TestNumbersAscendAndAreNeverGivenTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rec := func(context.Context) (Numbers, error) { return Numbers{Chat: 7, Turn: 9}, nil }
	c := NewCounter(dir, rec)
	next := func(newChat bool) Numbers {
		n, sync, err := c.Next(t.Context(), newChat)
		if err != nil {
			t.Fatal(err)
		}
		if err := sync(); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if got := next(true); got != (Numbers{Chat: 8, Turn: 10}) {
		t.Errorf("after a recovery: %+v", got)
	}
	if got := next(false); got != (Numbers{Turn: 11}) {
		t.Errorf("in an old chat: %+v", got)
	}
	if err := os.WriteFile(c.path, nil, 0o600); err != nil { // as power loss may leave it
		t.Fatal(err)
	}
	c.Recover = func(context.Context) (Numbers, error) { return Numbers{Chat: 8, Turn: 11}, nil }
	if got := next(true); got != (Numbers{Chat: 9, Turn: 12}) {
		t.Errorf("after an empty file: %+v", got)
	}
}
