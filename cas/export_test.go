package cas

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// exported is a chat of several states as one file.
func exported(t *testing.T, b *bench) (file []byte, states []map[string]string, list []*Manifest) {
	t.Helper()
	_, _, first := b.scene()
	second := b.snapshot(SnapshotOptions{About: About{ChatID: "c", Source: ToolRun, SourceRef: "call"}, Parent: first}).Manifest
	list = []*Manifest{first, second}
	for _, m := range list {
		states = append(states, b.entries(m.Root))
	}
	var out bytes.Buffer
	if err := b.s.Export(t.Context(), &out, "c", Extra{Name: "chat.jsonl", Body: []byte("messages\n")}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), states, list
}

// What made an imported state is what the file says of its call; without a word on it,
// the state is one that came in.
func TestAnImportedStateKnowsItsMaker(t *testing.T) {
	t.Parallel()
	from, to := newBench(t), newBench(t)
	file, _, _ := exported(t, from)
	for said, want := range map[string]struct {
		source     Source
		ref, maker string
	}{
		"write_file":                 {ToolRun, "call", "write_file"},
		"":                           {Imported, "", ""},
		strings.Repeat("é", maxName): {ToolRun, "call", strings.Repeat("é", maxName/2)},
	} {
		got, err := to.s.Import(t.Context(), bytes.NewReader(file), ImportOptions{
			ChatID: "new", Limits: Limits{KeepFree: -1},
			Maker: func(extras []Extra, call string) string {
				if len(extras) != 1 {
					t.Errorf("asked of %q with %d parts", call, len(extras))
				}
				if call != "call" {
					return "another"
				}
				return said
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if m := got.Manifests[1]; m.Source != want.source || m.SourceRef != want.ref || m.Maker != want.maker {
			t.Errorf("%.20q: %s %q made by %.20q", said, m.Source, m.SourceRef, m.Maker)
		}
		if m := got.Manifests[0]; m.Source != ToolRun || m.Maker != "another" {
			t.Errorf("the state before: %s made by %q", m.Source, m.Maker)
		}
	}
}

func TestExportedHistoryComesBackElsewhere(t *testing.T) {
	t.Parallel()
	from, to := newBench(t), newBench(t)
	file, states, list := exported(t, from)
	var again bytes.Buffer
	if err := from.s.Export(t.Context(), &again, "c", Extra{Name: "chat.jsonl", Body: []byte("messages\n")}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file, again.Bytes()) {
		t.Error("the same states gave another file")
	}
	got, err := to.s.Import(t.Context(), bytes.NewReader(file), ImportOptions{ChatID: "new", Limits: Limits{KeepFree: -1}})
	if err != nil {
		t.Fatal(err)
	}
	if got.ChatID != "c" || len(got.Manifests) != 2 || len(got.Extras) != 1 || string(got.Extras[0].Body) != "messages\n" {
		t.Fatalf("imported %+v", got)
	}
	for i, m := range got.Manifests {
		old := list[i]
		if m.ID == old.ID || m.ID != got.IDs[old.ID] || m.ChatID != "new" || m.Files != old.Files || m.Bytes != old.Bytes || m.SourceRef != old.SourceRef {
			t.Errorf("state %d: %+v, was %+v", i, m, old)
		}
		if diff := cmp.Diff(states[i], to.entries(m.Root)); diff != "" {
			t.Errorf("state %d (-exported +imported):\n%s", i, diff)
		}
	}
	if got.Manifests[1].ParentID != got.Manifests[0].ID {
		t.Error("the second state has lost its parent")
	}
	stored, err := to.s.Manifests(t.Context(), "new")
	if err != nil || cmp.Diff(got.Manifests, stored) != "" {
		t.Errorf("recorded %v, %v", stored, err)
	}
	to.mustBeSound()
	to.restore(got.Manifests[0], RestoreOptions{})
}

// rebuild rewrites an export member by member; change may drop one (nil) or
// alter it.
func rebuild(t *testing.T, file []byte, change func(h *tar.Header, body []byte) (*tar.Header, []byte)) []byte {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	in := tar.NewReader(zip)
	var buf bytes.Buffer
	outZip := gzip.NewWriter(&buf)
	out := tar.NewWriter(outZip)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		if h, body = change(h, body); h == nil {
			continue
		}
		h.Size = int64(len(body))
		if err := out.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write(body); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(out.Close(), outZip.Close()); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestHostileImports(t *testing.T) {
	t.Parallel()
	from := newBench(t)
	file, _, _ := exported(t, from)
	same := func(h *tar.Header, body []byte) (*tar.Header, []byte) { return h, body }
	only := func(prefix string, change func(h *tar.Header, body []byte) (*tar.Header, []byte)) func(h *tar.Header, body []byte) (*tar.Header, []byte) {
		done := false
		return func(h *tar.Header, body []byte) (*tar.Header, []byte) {
			if done || !strings.HasPrefix(h.Name, prefix) {
				return h, body
			}
			done = true
			return change(h, body)
		}
	}
	drop := func(*tar.Header, []byte) (*tar.Header, []byte) { return nil, nil }
	rename := func(name string) func(h *tar.Header, body []byte) (*tar.Header, []byte) {
		return func(h *tar.Header, body []byte) (*tar.Header, []byte) { h.Name = name; return h, body }
	}
	body := func(text string) func(h *tar.Header, body []byte) (*tar.Header, []byte) {
		return func(h *tar.Header, _ []byte) (*tar.Header, []byte) { return h, []byte(text) }
	}
	dotdot := encodeTree([]Entry{{Name: "..", Kind: Link, Text: "x"}})
	cases := map[string][]byte{
		"nothing":              nil,
		"no archive":           []byte("hello"),
		"cut short":            file[:len(file)/2],
		"no end":               rebuild(t, file, only(endMember, drop)),
		"no head":              rebuild(t, file, only(headMember, drop)),
		"a newer version":      rebuild(t, file, only(headMember, body(`{"format":"fettle-history","version":2}`))),
		"a blob is missing":    rebuild(t, file, only(blobPrefix, drop)),
		"a tree is missing":    rebuild(t, file, only(treePrefix, drop)),
		"another content":      rebuild(t, file, only(blobPrefix, body("other"))),
		"another tree":         rebuild(t, file, only(treePrefix, body("other"))),
		"no digest":            rebuild(t, file, only(blobPrefix, rename("blobs/../../etc/passwd"))),
		"an unknown member":    rebuild(t, file, only(extraPrefix, rename("other/x"))),
		"a bad name of a part": rebuild(t, file, only(extraPrefix, rename("extra/../x"))),
		"wrong counts":         rebuild(t, file, only(endMember, body(`{"blobs":1}`))),
		"no state":             rebuild(t, file, only(manifestsMember, body(`{"id":"x","root":"`+strings.Repeat("0", 64)+`"}`))),
		"a state twice":        rebuild(t, file, only(manifestsMember, func(h *tar.Header, b []byte) (*tar.Header, []byte) { return h, append(b, b...) })),
		"a hostile name": rebuild(t, file, only(treePrefix, func(h *tar.Header, _ []byte) (*tar.Header, []byte) {
			h.Name = treePrefix + Sum(dotdot).String()
			return h, dotdot
		})),
		"a link for a member": rebuild(t, file, only(extraPrefix, func(h *tar.Header, _ []byte) (*tar.Header, []byte) {
			h.Typeflag, h.Linkname = tar.TypeSymlink, "/etc/passwd"
			return h, nil
		})),
		"a member of one's own": rebuild(t, file, only(endMember, func(h *tar.Header, b []byte) (*tar.Header, []byte) { h.Name = headMember; return h, b })),
		"an unfolding bomb":     bomb(t),
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := newBench(t)
			_, err := to.s.Import(t.Context(), bytes.NewReader(text), ImportOptions{ChatID: "new", Limits: Limits{KeepFree: -1}})
			var bad *ImportError
			if !errors.As(err, &bad) {
				t.Fatalf("got %v", err)
			}
			if list, err := to.s.Manifests(t.Context(), "new"); err != nil || len(list) > 0 {
				t.Errorf("it left states: %v, %v", list, err)
			}
			to.mustBeSound()
		})
	}
	t.Run("what a person is told", func(t *testing.T) {
		t.Parallel()
		to := newBench(t)
		for name, want := range map[string]string{
			"nothing": "it is empty", "no archive": noHistory, "cut short": "it was cut short", "no end": "it was cut short", "no head": noHistory,
			"a newer version": "it is of version 2, and this fettle reads 1", "a link for a member": `"extra/chat.jsonl": it is no file`,
		} {
			_, err := to.s.Import(t.Context(), bytes.NewReader(cases[name]), ImportOptions{ChatID: "new", Limits: Limits{KeepFree: -1}})
			var bad *ImportError
			if !errors.As(err, &bad) || bad.Why() != want {
				t.Errorf("%s: got %v, want %s", name, err, want)
			}
		}
	})
	t.Run("more than may be", func(t *testing.T) {
		t.Parallel()
		to := newBench(t)
		var bad *ImportError
		_, err := to.s.Import(t.Context(), bytes.NewReader(file), ImportOptions{ChatID: "new", MaxBytes: 100_000})
		if !errors.As(err, &bad) || bad.Why() != "it holds more than 100 kB" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("unchanged", func(t *testing.T) {
		t.Parallel()
		to := newBench(t)
		if _, err := to.s.Import(t.Context(), bytes.NewReader(rebuild(t, file, same)), ImportOptions{ChatID: "new", Limits: Limits{KeepFree: -1}}); err != nil {
			t.Error(err)
		}
	})
}

// bomb is a small file with a state of 2^900 entries.
func bomb(t *testing.T) []byte {
	t.Helper()
	var buf bytes.Buffer
	zip := gzip.NewWriter(&buf)
	out := tar.NewWriter(zip)
	put := func(name string, body []byte) {
		err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(body)), Mode: 0o644})
		if err == nil {
			_, err = out.Write(body)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put(headMember, []byte(`{"format":"fettle-history","version":1}`))
	enc := encodeTree(nil)
	for range 900 {
		put(treePrefix+Sum(enc).String(), enc)
		d := Sum(enc)
		enc = encodeTree([]Entry{{Name: "a", Kind: Folder, Digest: d}, {Name: "b", Kind: Folder, Digest: d}})
	}
	put(endMember, fmt.Appendf(nil, `{"trees":900}`))
	if err := errors.Join(out.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func FuzzImport(f *testing.F) {
	b := newBench(f)
	b.write("a", "1")
	b.write("d/b", "2")
	b.snap()
	var out bytes.Buffer
	if err := b.s.Export(f.Context(), &out, "c"); err != nil {
		f.Fatal(err)
	}
	f.Add(out.Bytes())
	f.Add([]byte("\x1f\x8b"))
	f.Fuzz(func(t *testing.T, file []byte) {
		// The members are what is to be fuzzed, not the packing around them.
		m := &importer{
			s: b.s, ctx: t.Context(), o: ImportOptions{ChatID: "f", MaxBytes: 1 << 20},
			blobs: make(map[Digest]int64), trees: make(map[Digest]totals), c: &capturer{s: b.s, found: present{s: b.s}},
			out: &Import{IDs: make(map[string]string)},
		}
		zip, err := gzip.NewReader(bytes.NewReader(file))
		if err != nil {
			_ = m.read(tar.NewReader(&bounded{r: bytes.NewReader(file), left: 1 << 20}))
			return
		}
		_ = m.read(tar.NewReader(&bounded{r: zip, left: 1 << 20}))
	})
}

// cutOff gives a part of a file, and then ends as a reader does whose context has.
type cutOff struct {
	io.Reader
	cancel func()
}

func (c *cutOff) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		c.cancel()
		err = errors.New("the read was given up")
	}
	return n, err
}

// Who gives up an import is told that, and not that the file is damaged.
func TestAnImportThatIsGivenUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	file, _, _ := exported(t, b)
	for _, n := range []int{0, 5, 100, len(file) / 2, len(file) - 1} {
		to := newBench(t)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := to.s.Import(ctx, &cutOff{bytes.NewReader(file[:n]), cancel}, ImportOptions{ChatID: "new", Limits: Limits{KeepFree: -1}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after %d bytes: %v", n, err)
		}
		if list, err := to.s.Manifests(t.Context(), "new"); len(list) != 0 || err != nil {
			t.Errorf("after %d bytes there are %d states, %v", n, len(list), err)
		}
	}
}
