package cas

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/internal/kv"
)

// TestEveryFlippedBitIsFound flips bits in every file of a store that was closed
// in order: records and their tables, value logs, large blobs. What is asked of
// it then either fails with an error that tells damage, or Verify names what is
// damaged and who needs it, or all states are still whole: the bit was one that
// nobody reads.
func TestEveryFlippedBitIsFound(t *testing.T) {
	t.Parallel()
	b := memoryBench(t)
	for i := range 30 {
		b.write(fmt.Sprintf("d%d/small%d", i%3, i), fmt.Sprint("small ", i))
	}
	b.write("middle", strings.Repeat("of the value log ", 300))
	b.write("d1/large", strings.Repeat("large", smallBlob/5+1))
	first := b.snap()
	b.write("middle", strings.Repeat("edited ", 300))
	second := b.snap()
	want := map[*Manifest]map[string]string{first: b.entries(first.Root), second: b.entries(second.Root)}
	b.close()

	places := placesIn(t, b.dir)
	if !long() {
		// Some of each file; all of them take minutes.
		r := rand.New(rand.NewPCG(1, 2))
		r.Shuffle(len(places), func(i, k int) { places[i], places[k] = places[k], places[i] })
		slices.SortStableFunc(places, func(a, c place) int { return a.rank - c.rank })
		places = places[:min(sized(0, 250, 40), len(places))]
	}
	tally := make(map[string]int)
	for _, p := range places {
		flipBit(t, p)
		tally[judge(t, b, p, want)]++
		flipBit(t, p)
	}
	t.Logf("%d bits: %v", len(places), tally)
	if tally["verify"] == 0 || tally["error"] == 0 {
		t.Errorf("the bits were all of one kind: %v", tally)
	}
	b.open()
	b.mustBeSound()
}

// place is one bit of a file. rank counts the places of a file, so that a sample
// has some of each.
type place struct {
	path string
	at   int64
	bit  byte
	rank int
}

// placesIn chooses a bit of each byte of all files, but for those that are large,
// of which it takes some.
func placesIn(t *testing.T, dir string) []place {
	t.Helper()
	const most = 5000 // bytes of one file
	var out []place
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.Contains(path, string(filepath.Separator)+"locks") {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		step := max(info.Size()/most, 1)
		for at := int64(0); at < info.Size(); at += step {
			out = append(out, place{path: path, at: at, bit: 1 << (at / step % 8)})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]int)
	r := rand.New(rand.NewPCG(3, 4))
	for _, i := range r.Perm(len(out)) {
		out[i].rank = seen[out[i].path]
		seen[out[i].path]++
	}
	return out
}

func flipBit(t *testing.T, p place) {
	t.Helper()
	if err := os.Chmod(p.path, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(p.path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	var c [1]byte
	_, err = f.ReadAt(c[:], p.at)
	if err == nil {
		_, err = f.WriteAt([]byte{c[0] ^ p.bit}, p.at)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// judge opens a copy of the store and tells by what the flipped bit was found.
func judge(t *testing.T, b *bench, p place, want map[*Manifest]map[string]string) string {
	t.Helper()
	copied := &bench{t: b.t, dir: filepath.Join(memoryDir(t), "data"), ws: b.ws}
	if err := os.CopyFS(copied.dir, os.DirFS(b.dir)); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(copied.dir) }()
	records := kv.Open(filepath.Join(copied.dir, "store"), kv.Options{})
	defer func() { _ = records.Close() }()
	copied.kv, copied.s = records, Open(Options{Dir: copied.dir, KV: records})
	name, _ := filepath.Rel(b.dir, p.path)
	where := fmt.Sprintf("bit %#x of byte %d of %s", p.bit, p.at, name)

	report, err := copied.s.Verify(t.Context(), nil)
	if err != nil {
		if strings.Contains(err.Error(), "panic") {
			t.Errorf("%s: %v", where, err)
		}
		return "error"
	}
	for _, problem := range report.Problems {
		if strings.Contains(problem.Reason, "\n") {
			t.Errorf("%s: a reason of several lines: %q", where, problem.Reason)
		}
		// What a damaged block of the store held isn't known.
		if problem.What != "store" && (problem.What != "manifest" || strings.Contains(problem.Reason, "record (")) {
			if problem.Reason == "" || len(problem.Uses) == 0 || problem.Uses[0].ChatID != "c" {
				t.Errorf("%s: %+v doesn't say who needs it", where, problem)
			}
		}
	}
	if len(report.Problems) > 0 {
		return "verify"
	}
	for m, entries := range want {
		again, err := copied.s.Manifest(t.Context(), m.ID)
		if err != nil {
			t.Errorf("%s: it verifies, but: %v", where, err)
			continue
		}
		if diff := cmp.Diff(m, again) + cmp.Diff(entries, copied.entries(again.Root)); diff != "" {
			t.Errorf("%s isn't found, and this differs:\n%s", where, diff)
		}
	}
	return "nobody reads it"
}
