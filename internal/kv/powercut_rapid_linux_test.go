package kv

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dgraph-io/badger/v4"
	"pgregory.net/rapid"
)

// cutAnywhere gives the store as a power cut leaves it that comes at this moment: each
// page of a log that was written since its last sync is there or is not, a log that was
// never synced may be missing or empty, and one whose removal wasn't synced may be back.
// Value logs before the last one were synced when they were full.
func (d *disk) cutAnywhere(dir string, r *rand.Rand) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		out := filepath.Join(memoryDir(d.t), "store")
		whole, err := d.tryCut(dir, out, r)
		if err != nil {
			d.t.Fatal(err)
		}
		if whole {
			return out
		}
	}
}

// tryCut takes the logs before the manifest and the tables behind it: what a log loses
// meanwhile is in a table. Where the manifest has changed a table may be gone.
func (d *disk) tryCut(dir, out string, r *rand.Rand) (whole bool, err error) {
	if err := os.Mkdir(out, 0o700); err != nil {
		return false, err
	}
	manifest := filepath.Join(dir, badger.ManifestFilename)
	before, err := os.ReadFile(manifest)
	if err != nil {
		return false, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, err
	}
	var logs []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext == ".mem" || ext == ".vlog" {
			logs = append(logs, e.Name())
		}
	}
	for name := range d.logs { // what was removed
		if filepath.Ext(name) == ".mem" && !slices.Contains(logs, name) && r.IntN(3) == 0 {
			if err := d.logs[name].write(filepath.Join(out, name)); err != nil {
				return false, err
			}
		}
	}
	slices.Sort(logs) // value logs behind memtables' logs
	for i, name := range logs {
		now, err := readExtents(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if errors.Is(err, io.EOF) { // it is cut off before it is removed
			return false, nil
		}
		if err != nil {
			return false, err
		}
		full := filepath.Ext(name) == ".vlog" && slices.ContainsFunc(logs[i+1:], func(s string) bool { return filepath.Ext(s) == ".vlog" })
		if was, ok := d.logs[name]; !full && r != nil {
			now, ok = mixed(was, now, ok, r)
			if !ok {
				continue
			}
		}
		if err := now.write(filepath.Join(out, name)); err != nil {
			return false, err
		}
	}
	if entries, err = os.ReadDir(dir); err != nil {
		return false, err
	}
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext == ".mem" || ext == ".vlog" || e.Name() == "LOCK" {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(out, e.Name()), raw, 0o600)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	after, err := os.ReadFile(manifest)
	return bytes.Equal(before, after), err
}

// killAt gives the store as a kill -9 leaves it: all that was written is there, whether
// it was synced or not.
func (d *disk) killAt(dir string) string {
	was := d.logs
	d.logs = map[string]extents{}
	defer func() { d.logs = was }()
	return d.cutAnywhere(dir, nil)
}

// mixed gives what is on the disk of a log, if it is there; known tells whether it was
// ever synced.
func mixed(was, now extents, known bool, r *rand.Rand) (extents, bool) {
	out := extents{size: now.size, parts: map[int64][]byte{}}
	mode := r.IntN(6)
	switch {
	case !known && mode == 0:
		return out, false
	case !known && mode == 1:
		out.size = 0
		return out, true
	case known && mode == 0:
		out.size = was.size
	}
	for at := int64(0); at < out.size; at += pageSize {
		p, q := was.page(at), now.page(at)
		if p == nil && q == nil {
			continue
		}
		if mode == 2 || (mode != 3 && r.IntN(2) == 0) {
			p = q
		}
		if p != nil {
			out.parts[at] = p[:min(pageSize, out.size-at)]
		}
	}
	return out, true
}

// page is a page of a file, nil where it is a hole.
func (e extents) page(at int64) []byte {
	for from, part := range e.parts {
		if from <= at && at < from+int64(len(part)) {
			page := make([]byte, pageSize)
			copy(page, part[at-from:])
			return page
		}
	}
	return nil
}

func (e extents) write(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = f.Truncate(e.size)
	for at, part := range e.parts {
		_, werr := f.WriteAt(part, at)
		err = errors.Join(err, werr)
	}
	return errors.Join(err, f.Close())
}

// memoryDir is a folder whose syncs cost nothing, where there is one.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "fettle-kv-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// cutModel is what the Updates of a store have made of it, one by one.
type cutModel struct {
	states []map[int64]string // after so many Updates
	synced int                // Updates that a Sync has covered
}

// TestEveryPowerCutLeavesAPrefix writes to a store and cuts the power, several times over:
// what is there is what was there after some Update, which no Sync had covered later.
func TestEveryPowerCutLeavesAPrefix(t *testing.T) {
	t.Parallel()
	var lost, rotated, logs int
	rapid.Check(t, func(rt *rapid.T) {
		dir := filepath.Join(memoryDir(t), "store")
		m := &cutModel{states: []map[int64]string{{}}}
		d := &disk{t: t}
		run, killed := 0, false
		for range rapid.IntRange(1, 4).Draw(rt, "ends") {
			s := Open(dir, Options{Hold: true})
			s.small, s.memtable = 1<<20, 64<<10
			s.boot = func() string { return fmt.Sprint("run ", run) }
			if !killed {
				d.logs = map[string]extents{}
				for _, path := range append(files(t, dir, ".mem"), files(t, dir, ".vlog")...) {
					d.synced(path)
				}
			}
			s.synced = d.synced
			began := len(files(t, dir, ".sst"))
			m.work(t, rt, s)
			seed := rapid.Uint64().Draw(rt, "pages")
			rotated += len(files(t, dir, ".sst")) - began
			logs = max(logs, len(files(t, dir, ".vlog")))
			if killed = seed%3 == 0; killed {
				dir = d.killAt(dir)
			} else {
				dir = d.cutAnywhere(dir, rand.New(rand.NewPCG(seed, 1)))
				run++
			}
			s.synced = nil
			if err := s.Close(); err != nil {
				rt.Fatal(err)
			}
			if killed {
				continue // what it has left is on its way to the disk still
			}
			lost += m.mustBePrefix(t, rt, dir, run)
			run++
		}
	})
	t.Logf("%d Updates were lost, %d tables were made, %d value logs at most", lost, rotated, logs)
	if lost == 0 || rotated == 0 {
		t.Error("nothing was tried")
	}
}

// work makes some Updates and Syncs.
func (m *cutModel) work(t *testing.T, rt *rapid.T, s *Store) {
	raw := NewRawTable("raw")
	sizes := []int{-1, 0, 10, 700, 1000, 1018, 1018, 1018, 1019, 1100, 5000, 40_000}
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "writes"), 2))
	every := rapid.SampledFrom([]int{4, 20, 1000}).Draw(rt, "sync every")
	for range rapid.IntRange(1, 120).Draw(rt, "updates") {
		n := len(m.states)
		next := make(map[int64]string, len(m.states[n-1]))
		for k, v := range m.states[n-1] {
			next[k] = v
		}
		next[0] = fmt.Sprint(n)
		for range r.IntN(8) {
			key, size := r.Int64N(20)+1, sizes[r.IntN(len(sizes))]
			if delete(next, key); size >= 0 {
				next[key] = string(bytes.Repeat([]byte{byte(n), byte(key)}, size)[:size])
			}
		}
		err := s.Update(t.Context(), func(tx *Tx) error {
			for key, val := range next {
				if was, ok := m.states[n-1][key]; !ok || was != val {
					if err := raw.Put(tx, Int(key), []byte(val)); err != nil {
						return err
					}
				}
			}
			for key := range m.states[n-1] {
				if _, ok := next[key]; !ok {
					if err := raw.Delete(tx, Int(key)); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			rt.Fatal(err)
		}
		m.states = append(m.states, next)
		if r.IntN(every) == 0 {
			if err := s.Sync(t.Context()); err != nil {
				rt.Fatal(err)
			}
			m.synced = n
		}
	}
}

// mustBePrefix compares a store with the model, and takes the Updates back in it that
// were lost. It gives their number.
func (m *cutModel) mustBePrefix(t *testing.T, rt *rapid.T, dir string, run int) (lost int) {
	s := Open(dir, Options{})
	s.small, s.memtable = 1<<20, 64<<10
	s.boot = func() string { return fmt.Sprint("run ", run) }
	raw := NewRawTable("raw")
	got := map[int64]string{}
	err := s.View(t.Context(), func(tx *Tx) error {
		for item, err := range raw.Scan(tx, Range{}) {
			if err != nil {
				return err
			}
			parts, err := item.Key.Parts()
			if err != nil {
				return err
			}
			got[parts[0].(int64)] = string(item.Value)
		}
		return nil
	})
	if err := errors.Join(err, s.Verify(t.Context()), s.Close()); err != nil {
		rt.Fatal(err)
	}
	n := 0
	if text := got[0]; text != "" {
		if _, err := fmt.Sscan(text, &n); err != nil {
			rt.Fatal(err)
		}
	}
	if n < m.synced {
		rt.Fatalf("%d Updates are there, and %d were synced", n, m.synced)
	}
	want := m.states[n]
	for key := range want {
		if got[key] != want[key] {
			rt.Fatalf("after %d of %d Updates: record %d has %d bytes instead of %d", n, len(m.states)-1, key, len(got[key]), len(want[key]))
		}
	}
	if len(got) != len(want) {
		rt.Fatalf("after %d of %d Updates: %d records instead of %d", n, len(m.states)-1, len(got), len(want))
	}
	lost = len(m.states) - 1 - n
	m.states, m.synced = m.states[:n+1], n
	return lost
}
