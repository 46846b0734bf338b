package cas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fettle-cli/fettle/internal/kv"
)

// TestCollectionKeepsWhatIsReached drops random manifests and collects: what is
// left stays whole, and nothing else stays.
func TestCollectionKeepsWhatIsReached(t *testing.T) {
	t.Parallel()
	b := memoryBench(t)
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		if round++; raceEnabled && round > raceRounds {
			return
		}
		dir := filepath.Join(memoryDir(t), fmt.Sprint(round))
		must(rt, os.Mkdir(dir, 0o755))
		b.ws = b.folder(dir)
		live := make(map[string]map[string]string)
		var last *Manifest
		for i := range rapid.IntRange(1, 5).Draw(rt, "states") {
			for range rapid.IntRange(1, 4).Draw(rt, "edits") {
				edit(rt, dir)
			}
			if rapid.Bool().Draw(rt, "large") {
				must(rt, os.WriteFile(filepath.Join(dir, "large"), []byte(strings.Repeat(fmt.Sprint(i), smallBlob+1)), 0o644))
			}
			last = b.snap()
			if rapid.Bool().Draw(rt, "live") {
				live[last.ID] = b.entries(last.Root)
			}
		}
		if _, err := b.s.GC(t.Context(), GCOptions{Live: fixed(func(m *Manifest) bool { return live[m.ID] != nil })}); err != nil {
			rt.Fatal(err)
		}
		for id, want := range live {
			m, err := b.s.Manifest(t.Context(), id)
			must(rt, err)
			if diff := cmp.Diff(want, b.entries(m.Root)); diff != "" {
				rt.Fatalf("state %s (-before +after):\n%s", id, diff)
			}
		}
		stats, err := b.s.Stats(t.Context())
		must(rt, err)
		if stats.Unreached != 0 || stats.Manifests != len(live) {
			rt.Fatalf("after a collection: %+v", stats)
		}
		// The index must not name what is gone.
		again := b.snap()
		if diff := cmp.Diff(b.look(), b.entries(again.Root)); diff != "" {
			rt.Fatalf("the snapshot after a collection (-folder +state):\n%s", diff)
		}
		b.mustBeSound()
	})
}

func TestADamagedTreeKeepsTheCollectorOut(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("d/a", "1")
	m := b.snap()
	b.write("d/a", "2")
	b.snap()
	d, err := b.s.Lookup(t.Context(), m.Root, "d")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.kv.Update(t.Context(), func(tx *kv.Tx) error { return b.s.trees.Delete(tx, d.Digest.key()) }); err != nil {
		t.Fatal(err)
	}
	if _, err := b.s.GC(t.Context(), GCOptions{}); err == nil {
		t.Error("it collected without knowing what is needed")
	}
	if _, err := b.s.GC(t.Context(), GCOptions{Live: fixed(func(l *Manifest) bool { return l.ID != m.ID })}); err != nil {
		t.Errorf("without the damaged state: %v", err)
	}
}

func TestVerifyNamesWhatIsBadAndWhoNeedsIt(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(b *bench, tx *kv.Tx, e, dir Entry) error{
		"a blob of other content": func(b *bench, tx *kv.Tx, e, _ Entry) error {
			return b.s.blobs.Put(tx, e.Digest.key(), []byte("\x00other"))
		},
		"a blob of another encoding": func(b *bench, tx *kv.Tx, e, _ Entry) error {
			return b.s.blobs.Put(tx, e.Digest.key(), []byte("\x07target"))
		},
		"a missing blob": func(b *bench, tx *kv.Tx, e, _ Entry) error { return b.s.blobs.Delete(tx, e.Digest.key()) },
		"a missing tree": func(b *bench, tx *kv.Tx, _, dir Entry) error { return b.s.trees.Delete(tx, dir.Digest.key()) },
		"a tree that is none": func(b *bench, tx *kv.Tx, _, dir Entry) error {
			return b.s.trees.Put(tx, dir.Digest.key(), []byte("no tree"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.write("d/sub/file", "content")
			b.write("other", "x")
			m := b.snap()
			e, err := b.s.Lookup(t.Context(), m.Root, "d/sub/file")
			if err != nil {
				t.Fatal(err)
			}
			dir, err := b.s.Lookup(t.Context(), m.Root, "d/sub")
			if err != nil {
				t.Fatal(err)
			}
			b.mustBeSound()
			if err := b.kv.Update(t.Context(), func(tx *kv.Tx) error { return harm(b, tx, e, dir) }); err != nil {
				t.Fatal(err)
			}
			report, err := b.s.Verify(t.Context(), nil)
			if err != nil || len(report.Problems) != 1 {
				t.Fatalf("got %+v, %v", report, err)
			}
			use := report.Problems[0].Uses
			if len(use) != 1 || use[0].ChatID != "c" || use[0].ManifestID != m.ID || !strings.HasPrefix(use[0].Path, "d/sub") {
				t.Errorf("used by %+v", use)
			}
		})
	}
}

// TestEveryFlippedBitOfALargeBlobIsFound flips some of them.
func TestEveryFlippedBitOfALargeBlobIsFound(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("large", strings.Repeat("0123456789abcdef", smallBlob/16+1))
	m := b.snap()
	e, err := b.s.Lookup(t.Context(), m.Root, "large")
	if err != nil {
		t.Fatal(err)
	}
	path := b.s.blobPath(e.Digest)
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for at := int64(0); at < e.Size; at += e.Size/5 + 1 {
		var c [1]byte
		for _, bit := range []byte{1, 0x80} {
			_, err := f.ReadAt(c[:], at)
			if err == nil {
				_, err = f.WriteAt([]byte{c[0] ^ bit}, at)
			}
			if err != nil {
				t.Fatal(err)
			}
			report, err := b.s.Verify(t.Context(), nil)
			if err != nil || len(report.Problems) != 1 || report.Problems[0].Uses[0].Path != "large" {
				t.Errorf("bit %#x of byte %d: %+v, %v", bit, at, report, err)
			}
			if _, err := f.WriteAt(c[:], at); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.mustBeSound()
}

func TestDroppedChatsGiveTheirRoomBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("shared", strings.Repeat("s", 1000))
	b.write("large", strings.Repeat("L", smallBlob+1))
	b.snapshot(SnapshotOptions{About: About{ChatID: "one"}})
	b.remove("large")
	b.write("own", strings.Repeat("o", 500))
	kept := b.snapshot(SnapshotOptions{About: About{ChatID: "two"}}).Manifest
	stats, err := b.s.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []ChatStats{
		{ChatID: "one", Manifests: 1, Bytes: smallBlob + 1001, Own: smallBlob + 1},
		{ChatID: "two", Manifests: 1, Bytes: 1500, Own: 500},
	}
	if diff := cmp.Diff(want, stats.Chats); diff != "" || stats.Files != 1 {
		t.Errorf("stats %+v\n%s", stats, diff)
	}
	if err := b.s.DropChat(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	report, err := b.s.GC(t.Context(), GCOptions{Compact: true})
	if err != nil || report.Blobs != 1 || report.Bytes != smallBlob+1 || report.Kept != 1500 {
		t.Errorf("collected %+v, %v", report, err)
	}
	b.restore(kept, RestoreOptions{})
	if got := b.look(); len(got) != 2 {
		t.Errorf("folder %v", got)
	}
}

func TestViews(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("b", "2")
	b.write("a/x", "1")
	b.mkdir("empty")
	want := map[string]string{"a/x": Sum([]byte("1")).String(), "b": Sum([]byte("2")).String()}
	rest := map[string]map[string]string{"empty": {"kind": "folder"}}
	if hasModes {
		b.link("b", "li\"nk")
		b.write("new\nline \\ \xff", "3")
		want[`new\x0aline \\ \xff`] = Sum([]byte("3")).String()
		rest[`li"nk`] = map[string]string{"kind": "link", "target": "b"}
	}
	m := b.snap()
	var out bytes.Buffer
	if err := b.s.WriteFiles(t.Context(), &out, m.Root); err != nil {
		t.Fatal(err)
	}
	var files map[string]string
	if err := json.Unmarshal(out.Bytes(), &files); err != nil {
		t.Fatalf("%v in %s", err, out.Bytes())
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	out.Reset()
	if err := b.s.WriteEntries(t.Context(), &out, m.Root); err != nil {
		t.Fatal(err)
	}
	var others map[string]map[string]string
	if err := json.Unmarshal(out.Bytes(), &others); err != nil {
		t.Fatalf("%v in %s", err, out.Bytes())
	}
	if diff := cmp.Diff(rest, others); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

// TestAFileThatIsATree has the very bytes of a tree, which the collector must
// not take for one another.
func TestAFileThatIsATree(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("z/inner", "needed")
	first := b.snap()
	z, err := b.s.Lookup(t.Context(), first.Root, "z")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := b.s.Tree(t.Context(), z.Digest)
	if err != nil {
		t.Fatal(err)
	}
	b.write("a", string(encodeTree(entries)))
	m := b.snap()
	want := b.look()
	if _, err := b.s.GC(t.Context(), GCOptions{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.entries(m.Root)); diff != "" {
		t.Error(diff)
	}
}

// TestOneChangeWritesLittle holds what one changed file of many puts.
func TestOneChangeWritesLittle(t *testing.T) {
	t.Parallel()
	b := memoryBench(t)
	for i := range 2000 {
		b.write(fmt.Sprintf("pkg%d/module_%03d/source_file_%05d.go", i/1000, i/100, i), fmt.Sprint(i))
	}
	b.snap()
	b.settle()
	m := b.snap() // nothing is racy any more
	before := b.index()
	b.write("pkg0/module_005/source_file_00500.go", "changed")
	next := b.snapshot(SnapshotOptions{Parent: m})
	total := 0
	for _, c := range b.index().changes(before) {
		total += c.size()
	}
	for _, dir := range []string{"", "pkg0", "pkg0/module_005"} {
		e, err := b.s.Lookup(t.Context(), next.Manifest.Root, dir)
		if err != nil {
			t.Fatal(err)
		}
		entries, err := b.s.Tree(t.Context(), e.Digest)
		if err != nil {
			t.Fatal(err)
		}
		total += len(encodeTree(entries))
	}
	if next.Read != 1 || total > 64<<10 {
		t.Errorf("read %d files, wrote %d bytes", next.Read, total)
	}
}

// TestADamagedManifestIsNamedOnce puts something else where two manifests were.
func TestADamagedManifestIsNamedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var list []*Manifest
	for i := range 4 {
		b.write("a", fmt.Sprint(i))
		list = append(list, b.snap())
	}
	type other struct {
		ID   string `json:"id"`
		Root string `json:"root"`
	}
	table := kv.NewTable("workspace_manifests", func(o *other) kv.Key { return kv.Str(o.ID) },
		kv.On("chat", func(*other) kv.Key { return kv.Str("c") }))
	for _, m := range []*Manifest{list[1], list[3]} {
		err := b.kv.Update(t.Context(), func(tx *kv.Tx) error { return table.Put(tx, &other{ID: m.ID, Root: "no digest"}) })
		if err != nil {
			t.Fatal(err)
		}
	}
	report, err := b.s.Verify(t.Context(), nil)
	if err != nil || len(report.Problems) != 2 || report.Manifests != 2 {
		t.Fatalf("got %+v, %v", report, err)
	}
	for i, m := range []*Manifest{list[1], list[3]} {
		p := report.Problems[i]
		if p.What != "manifest" || !strings.Contains(p.Reason, m.ID) || len(p.Uses) != 1 || p.Uses[0].ChatID != "c" {
			t.Errorf("of %s it says %+v", m.ID, p)
		}
	}
	if _, err := b.s.GC(t.Context(), GCOptions{}); err == nil {
		t.Error("it collected without knowing what is needed")
	}
}
