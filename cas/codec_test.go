package cas

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fettle-cli/fettle/internal/needtest"
)

func FuzzTree(f *testing.F) {
	d := Sum([]byte("x"))
	f.Add(encodeTree(nil))
	f.Add(encodeTree([]Entry{
		{Name: "a", Kind: File, Digest: d, Size: 7}, {Name: "b", Kind: Executable, Digest: d},
		{Name: "c", Kind: Folder, Digest: d}, {Name: "d", Kind: Link, Text: "../x"},
		{Name: "e", Kind: Failed, Text: reasonUnreadable, Size: 3}, {Name: "f", Kind: Special, Text: "FIFO"},
		{Name: "g", Kind: Omitted, Text: omitGit},
	}))
	f.Add(encodeTree([]Entry{
		{Name: "a", Kind: File, Perm: PermOf(0o600), Digest: d, Size: 7}, {Name: "b", Kind: Executable, Digest: d},
		{Name: "c", Kind: Folder, Perm: PermOf(0o2775), Digest: d}, {Name: "d", Kind: Link, Text: "../x"},
	}))
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, err := decodeTree(b)
		if err != nil {
			return
		}
		if again := encodeTree(entries); !bytes.Equal(b, again) {
			t.Errorf("%q is a second encoding of %q", b, again)
		}
		for _, e := range entries {
			if strings.ContainsAny(e.Name, "/\x00") || e.Name == ".." || e.Name == "." || e.Name == "" {
				t.Errorf("took the name %q", e.Name)
			}
		}
	})
}

func FuzzStatCache(f *testing.F) {
	r := &dirRec{ents: []cached{{Entry: Entry{Name: "a", Kind: File, Size: 3}, mtime: 5, ino: 7}, {Entry: Entry{Name: "d", Kind: Folder, Perm: PermOf(0o700)}}}}
	f.Add(r.encode()[0])
	f.Add(r.encodePatch([]int32{1}, r.stamp()))
	f.Fuzz(func(t *testing.T, b []byte) {
		var got dirRec
		if got.decode(b) == nil && len(got.ents) > len(b) {
			t.Errorf("%d entries of %d bytes", len(got.ents), len(b))
		}
		base := &dirRec{ents: slices.Clone(r.ents), pieces: 1, base: r.stamp()}
		if base.decodePatch(b) == nil && (len(base.ents) != 2 || base.ents[0].Name != "a") {
			t.Errorf("a patch made %v", base.ents)
		}
	})
}

func TestStatCacheRecords(t *testing.T) {
	t.Parallel()
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		if round++; raceEnabled && round > raceRounds {
			return
		}
		n := rapid.SampledFrom([]int{0, 1, 5, cachePiece, cachePiece + 1}).Draw(rt, "n")
		r := &dirRec{tree: Sum([]byte("t")), scanned: rapid.Int64().Draw(rt, "scanned")}
		for i := range n {
			r.ents = append(r.ents, cached{
				Entry: Entry{Name: string(rune('a'+i%20)) + strings.Repeat("x", i%7), Kind: File, Perm: PermOf(uint32(i%8) << 3), Digest: Sum([]byte{byte(i)}), Size: int64(i)},
				mode:  0o644, mtime: -int64(i), ctime: int64(i) << 40, ino: uint64(i) << 50, racy: i%3 == 0,
			})
		}
		var got dirRec
		for _, p := range r.encode() {
			if err := got.decode(p); err != nil {
				rt.Fatal(err)
			}
		}
		if got.scanned != r.scanned || got.tree != r.tree || !slices.Equal(got.ents, r.ents) {
			rt.Fatalf("read back otherwise: %d entries of %d", len(got.ents), n)
		}
		// Edits after edits are patches of the same pieces, until there are many.
		was := &got
		for range rapid.IntRange(1, 4).Draw(rt, "states") {
			next := &dirRec{tree: Sum(was.tree[:]), scanned: was.scanned + 1, ents: slices.Clone(was.ents)}
			for range rapid.IntRange(0, 3).Draw(rt, "edits") {
				if n > 0 {
					next.ents[rapid.IntRange(0, n-1).Draw(rt, "at")].mtime++
				}
			}
			w := next.replacing("d", was)
			again := dirRec{}
			for _, p := range append(got.encode(), w.pieces...) {
				if len(w.pieces) > 0 && len(again.ents) == n {
					again = dirRec{}
				}
				must(rt, again.decode(p))
			}
			if w.patch != nil {
				must(rt, again.decodePatch(w.patch))
			} else {
				got = again
			}
			if again.tree != next.tree || !slices.Equal(again.ents, next.ents) || !slices.Equal(again.patch, next.patch) {
				rt.Fatalf("patched otherwise: %d places, want %d", len(again.patch), len(next.patch))
			}
			was = next
		}
	})
}

func TestEscapedPaths(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		path := string(rapid.SliceOf(rapid.SampledFrom([]byte("ab/\\x\xff\xc3\xa9\n\x1b\"\x7f\xe2\x80\xae"))).Draw(rt, "path"))
		text := EscapePath(path)
		back, err := UnescapePath(text)
		if err != nil || back != path {
			rt.Fatalf("%q became %q and then %q, %v", path, text, back, err)
		}
		if strings.ContainsAny(text, "\n\x1b\x7f\u202e") || strings.ToValidUTF8(text, "") != text {
			rt.Fatalf("%q isn't harmless", text)
		}
	})
	for _, bad := range []string{`\`, `\x`, `\xzz`, `\x41`, "a\nb", "\xff"} {
		if got, err := UnescapePath(bad); err == nil {
			t.Errorf("%q was taken for %q", bad, got)
		}
	}
}

func TestWindowsNames(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"con", "NUL.txt", "com1", "LPT9.x", "COM¹", "a:b", "x.", "x ", "a\\b", "new\nline", "aux .c"} {
		if windowsName(bad) == "" {
			t.Errorf("%q is taken", bad)
		}
	}
	for _, good := range []string{"console", "com", "com10", "nul-x", ".git", "a b", "ünï"} {
		if why := windowsName(good); why != "" {
			t.Errorf("%q: %s", good, why)
		}
	}
}

func TestTwins(t *testing.T) {
	t.Parallel()
	got := twins([]string{"a", "A", "ü", "u\u0308", "b", "straße", "STRASSE"})
	want := [][2]string{{"a", "A"}, {"ü", "u\u0308"}, {"straße", "STRASSE"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestIgnoreRulesAreGits compares with git where a machine has it.
func TestIgnoreRulesAreGits(t *testing.T) {
	t.Parallel()
	git := needtest.Program(t, "git")
	text := "# comment\n*.log\n!keep.log\n/root-only\nbuild/\na/**/z\n**/deep\nin/side/**\nspa ced\\ \ndir/*.o\n[ab]x\n[!ab]y\n\\#hash\n\\!bang\ntail/**/\nfoo*bar\n?q\n"
	b := newBench(t)
	b.write(".gitignore", text)
	if out, err := exec.Command(git, "-C", b.ws.Path, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r := parseRules(text)
	paths := []string{
		"x.log", "d/x.log", "keep.log", "d/keep.log", "root-only", "d/root-only", "a/z", "a/b/z", "a/b/c/z", "deep", "x/deep",
		"in/side/x", "in/side", "spa ced ", "spa ced", "dir/x.o", "dir/sub/x.o", "ax", "bx", "cx", "ay", "cy", "#hash", "!bang", "fooxbar", "foobar", "xq", "qq", "q",
		"build", "tail/x", "foo/bar",
	}
	for _, p := range paths {
		out, err := exec.Command(git, "-C", b.ws.Path, "-c", "core.excludesFile=", "check-ignore", "-q", "--no-index", filepath.ToSlash(p)).CombinedOutput()
		want := err == nil
		if err != nil && len(out) > 0 {
			t.Fatalf("%v: %s", err, out)
		}
		if got, _ := r.verdict(strings.Split(p, "/"), false); got != want {
			t.Errorf("%q is ignored %v, git says %v", p, got, want)
		}
	}
}
