package kv

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// disk is what a store's logs are on the disk for certain: each as it was when it
// was synced last, and nothing of one that never was.
type disk struct {
	mu   sync.Mutex
	t    *testing.T
	logs map[string]extents
	// syncs are the kinds of the logs that were synced since the last look.
	syncs []string
}

// extents are the parts of a file that hold data, by their places, and its size.
type extents struct {
	size  int64
	parts map[int64][]byte
}

func (d *disk) synced(path string) {
	e, err := readExtents(path)
	if err != nil {
		d.t.Error(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.logs[filepath.Base(path)] = e
	d.syncs = append(d.syncs, filepath.Ext(path))
}

// look gives what was synced since the last look, sorted.
func (d *disk) look() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := d.syncs
	d.syncs = nil
	slices.Sort(out)
	return out
}

// readExtents leaves out the holes: the logs are made with far more room than they
// need.
func readExtents(path string) (extents, error) {
	f, err := os.Open(path)
	if err != nil {
		return extents{}, err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	e := extents{size: size, parts: map[int64][]byte{}}
	for at := int64(0); err == nil; {
		var end int64
		if at, err = f.Seek(at, unix.SEEK_DATA); err != nil {
			break
		}
		if end, err = f.Seek(at, unix.SEEK_HOLE); err != nil {
			break
		}
		part := make([]byte, end-at)
		if _, err = f.ReadAt(part, at); err != nil {
			break
		}
		e.parts[at] = part
		at = end
	}
	if errors.Is(err, unix.ENXIO) { // no more data
		err = nil
	}
	return e, err
}

// cut gives the store as a power cut leaves it at the worst: of its logs what is on
// the disk for certain. Its other files are synced by whoever writes them.
func (d *disk) cut(dir string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := d.t.TempDir()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		from, to := filepath.Join(dir, e.Name()), filepath.Join(out, e.Name())
		if ext := filepath.Ext(e.Name()); ext != ".mem" && ext != ".vlog" {
			raw, err := os.ReadFile(from)
			if err := errors.Join(err, os.WriteFile(to, raw, 0o600)); err != nil {
				return "", err
			}
			continue
		}
		was, ok := d.logs[e.Name()]
		if !ok {
			continue // not even its name need be there
		}
		f, err := os.Create(to)
		if err != nil {
			return "", err
		}
		err = f.Truncate(was.size)
		for at, part := range was.parts {
			_, werr := f.WriteAt(part, at)
			err = errors.Join(err, werr)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return "", err
		}
	}
	return out, nil
}

// Whatever is lost that wasn't synced, all is there that was, whether it lies in the
// one log or in both; and a log that nothing went to isn't synced for nothing.
func TestAPowerCutLosesNothingThatWasSynced(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{Hold: true})
	d := &disk{t: t, logs: map[string]extents{}}
	s.synced = d.synced
	raw := NewRawTable("raw")
	small, large := []byte("small"), bytes.Repeat([]byte("large "), 2000)
	put := func(from, n int64, val []byte) func(*Tx) error {
		return func(tx *Tx) error {
			for i := range n {
				if err := raw.Put(tx, Int(from+i), val); err != nil {
					return err
				}
			}
			return nil
		}
	}
	both, one := []string{".mem", ".vlog"}, []string{".mem"}
	have := map[int64][]byte{}
	for i, step := range []struct {
		name  string
		val   []byte
		later []byte // written, and not synced by itself
		want  []string
	}{
		{"the first of a session", small, nil, both},
		{"small", small, nil, one},
		{"large", large, nil, both},
		{"small behind large", small, nil, one},
		{"large and then small, synced together", small, large, both},
		{"what is just under the bound", make([]byte, valueThreshold-1), nil, both},
		{"small again", small, nil, one},
	} {
		from := int64(100 * i)
		if step.later != nil {
			if err := s.Update(t.Context(), put(from+50, 3, step.later)); err != nil {
				t.Fatal(err)
			}
			have[from+52] = step.later
		}
		if err := s.UpdateSync(t.Context(), put(from, 3, step.val)); err != nil {
			t.Fatal(err)
		}
		have[from+2] = step.val
		if got := d.look(); fmt.Sprint(got) != fmt.Sprint(step.want) {
			t.Errorf("%s: synced %v, not %v", step.name, got, step.want)
		}
		// What comes after the sync is lost, and harms nothing.
		if err := s.Update(t.Context(), put(from+90, 2, large)); err != nil {
			t.Fatal(err)
		}
		dir, err := d.cut(s.dir)
		if err != nil {
			t.Fatal(err)
		}
		after := Open(dir, Options{})
		err = after.View(t.Context(), func(tx *Tx) error {
			for key, want := range have {
				if got, err := raw.Get(tx, Int(key)); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s: record %d is %.20q, %v", step.name, key, got, err)
				}
			}
			return nil
		})
		if err := errors.Join(err, after.Close()); err != nil {
			t.Errorf("%s: %v", step.name, err)
		}
		if err := s.Sync(t.Context()); err != nil { // the next step begins with nothing open
			t.Fatal(err)
		}
		d.look()
	}
}

// A close makes a table of the memtable: by then the values are on the disk that it
// points to, and nothing is synced where there are none.
func TestValuesAreOnTheDiskBeforeTheirTable(t *testing.T) {
	t.Parallel()
	raw := NewRawTable("raw")
	for name, test := range map[string]struct {
		size int
		sync bool
		want []string
	}{
		"a large value":               {5000, false, []string{".vlog"}},
		"a large value that is there": {5000, true, nil},
		"a small value":               {50, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t, Options{})
			d := &disk{t: t, logs: map[string]extents{}}
			s.synced = d.synced
			update(t, s, func(tx *Tx) error { return raw.Put(tx, Int(1), make([]byte, test.size)) })
			if test.sync {
				if err := s.Sync(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			d.look()
			letGo(t, s)
			if got := d.look(); !slices.Equal(got, test.want) {
				t.Errorf("the close synced %v, want %v", got, test.want)
			}
		})
	}
}

// An Update may begin another value log while a sync is under way: what went there
// is not taken for synced by the sync that listed the logs before.
func TestAPowerCutLosesNothingOfALogThatBeganDuringASync(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{Hold: true})
	s.small = 1 << 20 // the smallest that Badger takes
	d := &disk{t: t, logs: map[string]extents{}}
	s.synced = d.synced
	raw := NewRawTable("raw")
	put := func(key int64, size int) {
		if err := s.Update(t.Context(), func(tx *Tx) error { return raw.Put(tx, Int(key), bytes.Repeat([]byte("x"), size)) }); err != nil {
			t.Error(err)
		}
	}
	put(1, 4<<10)
	s.listed = func() {
		s.listed = nil
		for key := range int64(3) { // which fill the log that was listed
			put(2+key, 400<<10)
		}
		put(5, 4<<10) // goes to the next one
	}
	for range 2 { // the second one has to have what came during the first
		if err := s.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := d.cut(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	after := Open(dir, Options{})
	err = after.View(t.Context(), func(tx *Tx) error {
		for key := range int64(5) {
			if got, err := raw.Get(tx, Int(key+1)); err != nil || len(got) == 0 {
				t.Errorf("record %d has %d bytes, %v", key+1, len(got), err)
			}
		}
		return nil
	})
	if err := errors.Join(err, after.Close()); err != nil {
		t.Error(err)
	}
	if logs := len(d.logs); logs < 3 {
		t.Errorf("%d logs were synced: there was no second value log", logs)
	}
}
