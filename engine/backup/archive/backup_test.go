package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// item is an entry with its content.
type item struct {
	Entry
	Content string
}

func some() []item {
	return []item{
		{Entry{Name: "store", Kind: Folder, Mode: 0o700}, ""},
		{Entry{Name: "store/MANIFEST", Kind: File, Mode: 0o600, Size: 5}, "hello"},
		{Entry{Name: "chats/a/empty", Kind: File, Mode: 0o755}, ""},
		{Entry{Name: "chats/a/b\xff\n" + strings.Repeat("long/", 90), Kind: Folder, Mode: 0o755}, ""},
		{Entry{Name: "chats/a/link", Kind: Link, Mode: 0o777, Target: "../../else\xfe"}, ""},
		{Entry{Name: "blobs/ab/x", Kind: File, Mode: 0o600, Size: 100_000}, strings.Repeat("0123456789", 10_000)},
	}
}

func write(t testing.TB, items []item) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, Head{MadeAt: time.Unix(1, 0).UTC(), Bytes: 7})
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range items {
		if full, err := w.Put(it.Entry, strings.NewReader(it.Content)); err != nil || !full {
			t.Fatalf("%q: %t, %v", it.Name, full, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func read(raw []byte) (Head, []item, error) {
	var out []item
	head, err := Read(context.Background(), bytes.NewReader(raw), Visitor{Entry: func(e Entry, r io.Reader) error {
		text, err := io.ReadAll(r)
		out = append(out, item{e, string(text)})
		return err
	}})
	return head, out, err
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	want := some()
	want[3].Name = strings.TrimSuffix(want[3].Name, "/")
	head, got, err := read(write(t, fixed(some())))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !head.MadeAt.Equal(time.Unix(1, 0)) || head.Bytes != 7 || head.Version != version {
		t.Errorf("head %+v", head)
	}
}

// fixed takes the slash off the end of names, which the table has for looks.
func fixed(items []item) []item {
	for i := range items {
		items[i].Name = strings.TrimSuffix(items[i].Name, "/")
	}
	return items
}

// No flipped bit, cut or addition is taken for a backup.
func TestNoDamageIsBelieved(t *testing.T) {
	t.Parallel()
	raw := write(t, fixed(some()))
	fails := func(what string, bad []byte) {
		t.Helper()
		if _, _, err := read(bad); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i := range raw {
		bad := bytes.Clone(raw)
		bad[i] ^= 1 << (i % 8)
		if _, got, err := read(bad); err == nil {
			if _, want, _ := read(raw); !cmp.Equal(want, got) { // a bit that nothing means, as in a frame's head
				t.Errorf("byte %d is not missed", i)
			}
		}
	}
	for n := 0; n < len(raw); n += 7 {
		fails(fmt.Sprintf("cut to %d", n), raw[:n])
	}
	fails("something behind it", append(bytes.Clone(raw), "behind"...))
	fails("twice", append(bytes.Clone(raw), raw...))
	fails("another file", []byte("PK\x03\x04 and so on"))
}

func TestAFileThatShrinksIsFilledUp(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w, err := NewWriter(&out, Head{})
	if err != nil {
		t.Fatal(err)
	}
	if full, err := w.Put(Entry{Name: "a", Kind: File, Size: 4}, strings.NewReader("ab")); full || err != nil {
		t.Errorf("full is %t, %v", full, err)
	}
	if full, err := w.Put(Entry{Name: "b", Kind: File, Size: 1}, strings.NewReader("xyz")); !full || err != nil {
		t.Errorf("full is %t, %v", full, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, got, err := read(out.Bytes())
	if err != nil || len(got) != 2 || got[0].Content != "ab\x00\x00" || got[1].Content != "x" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestNamesThatLeadElsewhere(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", ".", "..", "../a", "/a", "a/../b", "a//b", "a/", "a\x00b", headName, endName, strings.Repeat("a", maxName+1)} {
		w, err := NewWriter(io.Discard, Head{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Put(Entry{Name: name, Kind: File, Mode: fs.FileMode(0o600)}, strings.NewReader("")); err == nil {
			t.Errorf("%q was written", name)
		}
		w.Abort()
	}
}

func TestReadingStops(t *testing.T) {
	t.Parallel()
	raw := write(t, fixed(some()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, bytes.NewReader(raw), Visitor{Entry: func(Entry, io.Reader) error { return nil }}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	mine := errors.New("mine")
	_, err := Read(t.Context(), bytes.NewReader(raw), Visitor{Entry: func(Entry, io.Reader) error { return mine }})
	if !errors.Is(err, mine) || errors.Is(err, ErrDamaged) {
		t.Errorf("the visitor's error: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(write(f, fixed(some())))
	f.Add([]byte("(\xb5/\xfd"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, err := Read(t.Context(), bytes.NewReader(raw), Visitor{Entry: func(e Entry, r io.Reader) error {
			if !goodName(e.Name) {
				t.Errorf("gave the name %q", e.Name)
			}
			_, err := io.Copy(io.Discard, io.LimitReader(r, 1<<20))
			return err
		}})
		if err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrFormat) {
			t.Errorf("%v", err)
		}
	})
}
