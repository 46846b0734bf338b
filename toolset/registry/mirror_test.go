package registry

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// numbered installs the example as set000, set001 and so on.
func (w *world) numbered(from, to int) {
	w.t.Helper()
	for i := from; i < to; i++ {
		w.install(makeBundle(w.t, "ID", fmt.Sprintf("set%03d", i), "SERVER", fmt.Sprintf("server%03d", i)))
	}
}

// partTimes maps the parts to what identifies the very file.
func (w *world) partTimes() map[string]os.FileInfo {
	w.t.Helper()
	out := map[string]os.FileInfo{}
	for _, name := range w.partNames() {
		info, err := os.Stat(filepath.Join(partsDir(w.dir), name))
		if err != nil {
			w.t.Fatal(err)
		}
		out[name] = info
	}
	return out
}

// A change writes the parts of what it changed, however many toolsets there are.
func TestChangeWritesItsOwnPartsAlone(t *testing.T) {
	t.Parallel()
	changes := []struct {
		name         string
		change       func(w *world) error
		fresh, stale int // parts that are new, and that were removed
	}{
		{"import", func(w *world) error { w.numbered(900, 901); return nil }, 2, 0},
		{"switch a toolset", func(w *world) error { _, err := w.SetEnabled(t.Context(), "set001", false); return err }, 2, 2},
		{"switch a tool", func(w *world) error {
			_, err := w.SetToolEnabled(t.Context(), w.get("set000").Tools[0].Tool.ID, false)
			return err
		}, 1, 1},
		{"switch a server", func(w *world) error { _, err := w.SetServerEnabled(t.Context(), "server000", false); return err }, 1, 1},
		{"switch a builtin tool", func(w *world) error { _, err := w.SetToolEnabled(t.Context(), "read_file", false); return err }, 0, 0},
		{"revoke", func(w *world) error { return w.Revoke(t.Context(), "set002") }, 2, 2},
		{"a change that fails", func(w *world) error {
			if err := w.Revoke(t.Context(), "nothing"); err == nil {
				return errors.New("it was revoked")
			}
			return nil
		}, 0, 0},
		{"remove", func(w *world) error { _, err := w.Remove(t.Context(), "set900"); return err }, 0, 2},
	}
	for _, n := range []int{3, 12} {
		w := newWorld(t)
		w.numbered(0, n)
		for _, c := range changes {
			before := w.partTimes()
			if err := c.change(w); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			after := w.partTimes()
			fresh, stale := 0, 0
			for name, info := range after {
				if was, ok := before[name]; !ok || !os.SameFile(was, info) {
					fresh++
				}
			}
			for name := range before {
				if after[name] == nil {
					stale++
				}
			}
			if fresh != c.fresh || stale != c.stale {
				t.Errorf("%s with %d toolsets wrote %d parts and removed %d; want %d and %d", c.name, n, fresh, stale, c.fresh, c.stale)
			}
			w.asRebuilt()
		}
	}
}

// Reading some parts touches no others.
func TestReadPartsReadsThoseThatAreWanted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.numbered(0, 3)
	x, err := ReadIndex(w.dir)
	if err != nil || len(x.Toolsets) != 3 || len(x.Servers) != 3 {
		t.Fatalf("%+v, %v", x, err)
	}
	all, err := ReadMirror(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range x.Toolsets {
		if set := x.Toolsets[i]; set.ID != all.Toolsets[i].ID || set.Offered != len(all.Toolsets[i].Tools) || set.Usable() != all.Toolsets[i].Usable() {
			t.Errorf("the index has %+v of %+v", set, all.Toolsets[i])
		}
	}
	keep := x.Toolsets[1].Part + ".json"
	for _, name := range w.partNames() {
		if name != keep {
			writeFile(t, filepath.Join(partsDir(w.dir), name), []byte("{}"))
		}
	}
	m, err := ReadParts(w.dir, OneToolset("set001"))
	if err != nil || len(m.Toolsets) != 1 || m.Toolsets[0].ID != "set001" || len(m.Toolsets[0].Tools) == 0 || len(m.Servers) != 0 {
		t.Errorf("%+v, %v", m, err)
	}
	if m, err := ReadParts(w.dir, None()); err != nil || m.Generation != x.Generation {
		t.Errorf("without parts: %+v, %v", m, err)
	}
	if _, err := ReadMirror(w.dir); !errors.Is(err, ErrNoMirror) {
		t.Errorf("damaged parts: %v", err)
	}
	if m, err := w.Mirror(t.Context()); err != nil || len(m.Toolsets) != 3 || len(m.Servers) != 3 {
		t.Errorf("from the records: %+v, %v", m, err)
	}
	w.sound()
}

// The file of earlier versions, and a cache that was cleared, are replaced from the
// records.
func TestMirrorOfAnotherVersionIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.numbered(0, 2)
	want, err := os.ReadFile(mirrorFile(w.dir))
	if err != nil {
		t.Fatal(err)
	}
	parts := w.partNames()
	for name, damage := range map[string]func() error{
		"version 2": func() error {
			return os.WriteFile(mirrorFile(w.dir), []byte(`{"mirror":2,"generation":2,"toolsets":[{"id":"set000","tools":[{"tool":{"id":"set000:a"}}]}]}`), 0o600)
		},
		"no cache": func() error { return os.RemoveAll(filepath.Join(w.dir, "cache")) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadMirror(w.dir); !errors.Is(err, ErrNoMirror) {
			t.Errorf("%s: %v", name, err)
		}
		if m, err := w.Mirror(t.Context()); err != nil || len(m.Toolsets) != 2 {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
		if got, err := os.ReadFile(mirrorFile(w.dir)); err != nil || !bytes.Equal(got, want) || !slices.Equal(parts, w.partNames()) {
			t.Errorf("%s: it is\n%s\nand was\n%s (%v)", name, got, want, err)
		}
	}
}

// Readers that run during changes get one state or the note that it has to be read
// again, and never parts of two.
func TestReadersBesideChangesGetOneState(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.numbered(0, 3)
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			m, err := ReadMirror(w.dir)
			if errors.Is(err, ErrNoMirror) {
				continue
			}
			if err != nil {
				done <- err
				return
			}
			if len(m.Toolsets) != 3 || len(m.Servers) != 3 {
				done <- fmt.Errorf("%d toolsets and %d servers", len(m.Toolsets), len(m.Servers))
				return
			}
			for i := range m.Servers {
				if on := m.Toolsets[i].Enabled; on != (m.Servers[i].Unusable == "" || m.Servers[i].Unusable == SwitchedOff) {
					done <- fmt.Errorf("toolset %d is on: %v; its server: %q", i, on, m.Servers[i].Unusable)
					return
				}
			}
		}
	}()
	for range 3 {
		for _, on := range []bool{false, true} {
			for i := range 3 {
				if _, err := w.SetEnabled(t.Context(), fmt.Sprintf("set%03d", i), on); err != nil {
					t.Error(err)
				}
			}
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
