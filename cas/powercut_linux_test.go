package cas

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/fettle-cli/fettle/internal/kv"
)

// diskPage is what the system brings to the disk at once, or not.
const diskPage = 4 << 10

// logFile is one of the store's logs at a moment: its pages that hold data, and its size.
type logFile struct {
	size  int64
	pages map[int64][]byte
}

func isLog(name string) bool {
	return strings.HasSuffix(name, ".mem") || strings.HasSuffix(name, ".vlog")
}

// logsOf reads a store's logs, which are files with large holes.
func logsOf(t *testing.T, dir string) map[string]logFile {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]logFile)
	for _, e := range entries {
		if !isLog(e.Name()) {
			continue
		}
		f, err := os.Open(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		l := logFile{pages: make(map[int64][]byte)}
		l.size, err = f.Seek(0, io.SeekEnd)
		for at := int64(0); err == nil; at += diskPage {
			if at, err = f.Seek(at, unix.SEEK_DATA); err != nil {
				break
			}
			at -= at % diskPage
			page := make([]byte, min(diskPage, l.size-at))
			_, err = f.ReadAt(page, at)
			l.pages[at] = page
		}
		if cerr := f.Close(); !errors.Is(err, unix.ENXIO) || cerr != nil { // no more data
			t.Fatal(err, cerr)
		}
		out[e.Name()] = l
	}
	return out
}

// cutPower makes another data directory, as a power cut leaves this one in the time
// between two syncs: any page of the store's logs is as it was at the first, or as it is.
// lose says how many of four pages are lost of a log.
func (b *bench) cutPower(before map[string]logFile, r *rand.Rand, lose func() int) *bench {
	b.t.Helper()
	t := b.t.(*testing.T)
	out := &bench{t: t, dir: memoryDir(t), ws: b.ws}
	store := filepath.Join(b.dir, "store")
	to := filepath.Join(out.dir, "store")
	if err := os.Mkdir(to, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, now := range logsOf(t, store) {
		lose := lose()
		f, err := os.Create(filepath.Join(to, name))
		if err == nil {
			err = f.Truncate(now.size)
		}
		for at, page := range now.pages {
			if r.IntN(4) < lose {
				page = before[name].pages[at]
			}
			_, werr := f.WriteAt(page, at)
			err = errors.Join(err, werr)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(store)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		// Without the note of the system's run another one is taken to have begun.
		if isLog(e.Name()) || e.Name() == "LOCK" || e.Name() == "BOOT" {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(store, e.Name()))
		if err := errors.Join(err, os.WriteFile(filepath.Join(to, e.Name()), raw, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(b.s.blobDir()); err == nil { // large contents are synced as they are written
		if err := os.CopyFS(filepath.Join(out.dir, "blobs"), os.DirFS(b.s.blobDir())); err != nil {
			t.Fatal(err)
		}
	}
	out.open()
	return out
}

// TestAPowerCutAmongSnapshots loses pages of what a snapshot has written: its manifest is
// there with all that it reaches, or isn't, and those of earlier snapshots are there.
func TestAPowerCutAmongSnapshots(t *testing.T) {
	t.Parallel()
	b := memoryBench(t)
	b.close()
	b.kv = kv.Open(filepath.Join(b.dir, "store"), kv.Options{Hold: true})
	b.s = Open(Options{Dir: b.dir, KV: b.kv})
	defer b.close()
	r := rand.New(rand.NewPCG(7, 8))
	states := make(map[string]map[string]string)
	var lost, seen int
	for i := range sized(60, 12, 4) {
		var before map[string]logFile
		if i > 0 {
			before = logsOf(t, filepath.Join(b.dir, "store"))
		}
		for range 1 + r.IntN(6) {
			text := strings.Repeat(fmt.Sprint(r.IntN(1000), " "), []int{1, 100, 600, 5000, 40_000}[r.IntN(5)])
			b.write(fmt.Sprintf("d%d/f%d", r.IntN(4), r.IntN(8)), text)
		}
		if i%5 == 4 {
			b.write("large", fmt.Sprint(i, strings.Repeat("x", smallBlob)))
			b.remove(fmt.Sprintf("d%d", r.IntN(4)))
		}
		want := b.look()
		m := b.snap()
		for try := range 4 {
			lose := func() int { return r.IntN(4) }
			switch {
			case try == 0:
				lose = func() int { return 0 }
			case try == 1 && i > 0:
				lose = func() int { return 4 }
			}
			after := b.cutPower(before, r, lose)
			after.mustBeSound()
			list, err := after.s.Manifests(t.Context(), "c")
			if err != nil {
				t.Fatal(err)
			}
			there := false
			for _, got := range list {
				state := states[got.ID]
				if got.ID == m.ID {
					there, state = true, want
				}
				if diff := cmp.Diff(state, after.entries(got.Root)); diff != "" {
					t.Fatalf("snapshot %d, state %s (-want +got):\n%s", i, got.ID, diff)
				}
			}
			if there {
				seen++
			} else {
				lost++
			}
			if n := len(list); there && n != i+1 || !there && n != i {
				t.Fatalf("snapshot %d: %d states are left", i, n)
			}
			// What comes next builds on what is left.
			if diff := cmp.Diff(want, after.entries(after.snap().Root)); diff != "" {
				t.Fatalf("the snapshot after the power cut (-want +got):\n%s", diff)
			}
			after.close()
		}
		states[m.ID] = want
	}
	t.Logf("the last state was there %d times, and lost %d times", seen, lost)
	if seen == 0 || lost == 0 {
		t.Error("it was always so")
	}
}
