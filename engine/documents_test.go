package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

func TestDocRefs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"none":                     {"what is a doc?", nil},
		"one":                      {"sum up doc:notes", []string{"notes"}},
		"at the start":             {"doc:notes please", []string{"notes"}},
		"the end of a sentence":    {"as in doc:a.md, or (doc:b.md)? See doc:c.", []string{"a.md", "b.md", "c"}},
		"a path":                   {"doc:notes/to do.md", []string{"notes/to"}},
		"in quotes":                {`doc:"notes/to do.md" and doc:x`, []string{"notes/to do.md", "x"}},
		"quotes that don't end":    {`doc:"notes`, nil},
		"twice":                    {"doc:a doc:a", []string{"a"}},
		"after a line break":       {"x\ndoc:a\ndoc:b", []string{"a", "b"}},
		"within a word":            {"godoc:fmt http://x/doc:y a-doc:z", nil},
		"behind a backslash":       {`write \doc:a`, nil},
		"with nothing behind":      {"doc: a, doc:. doc:", nil},
		"a reference in its value": {"doc:doc:a", []string{"doc:a"}},
		"letters of any language":  {"doc:größe.md", []string{"größe.md"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := DocRefs(c.text); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// Whatever stands in a text, what is found is in it, and each once.
func FuzzDocRefs(f *testing.F) {
	for _, s := range []string{"doc:a", `doc:"a b"`, "xdoc:a", "doc:doc:", `doc:""`, "doc:\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		refs := DocRefs(text)
		for i, ref := range refs {
			if ref == "" || !strings.Contains(text, ref) || slices.Contains(refs[:i], ref) {
				t.Errorf("%q gives %q", text, refs)
			}
		}
	})
}

// What a document can be called can be named.
func FuzzDocumentName(f *testing.F) {
	for _, s := range []string{"a.md", "my file.md", "a\x00b", "...", `"`, "/", "ends.", strings.Repeat("é", 300)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, file string) {
		name := chat.DocumentName(file)
		if err := chat.CheckDocumentName(name); err != nil {
			t.Errorf("%q makes %q: %v", file, name, err)
		}
		if got := DocRefs("see doc:" + name + "."); !slices.Equal(got, []string{name}) {
			t.Errorf("%q is found as %q", name, got)
		}
	})
}

func textDoc(name, text string) store.NewDocument {
	return store.NewDocument{Name: name, MIME: store.TextMIME, Data: []byte(text)}
}

func TestDocumentsAreKept(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{responses: [{when: "", text: Hi.}]}`)
	ctx := t.Context()
	added, err := b.AddDocuments(ctx, textDoc("b.md", "two"), textDoc("a.md", strings.Repeat("one", 1<<19)))
	if err != nil || len(added) != 2 || added[0].Same {
		t.Fatalf("added %+v, %v", added, err)
	}
	list, err := b.Documents(ctx, false)
	if err != nil || len(list) != 2 || list[0].Name != "a.md" || list[0].Size != 3<<19 {
		t.Errorf("listed %+v, %v", list, err)
	}
	for _, ref := range []string{"b.md", added[0].ID} {
		d, err := b.FindDocument(ctx, ref)
		if err != nil || d.ID != added[0].ID {
			t.Errorf("%s is %+v, %v", ref, d, err)
		}
		if data, err := b.DocumentContent(ctx, d); string(data) != "two" || err != nil {
			t.Errorf("%s holds %q, %v", ref, data, err)
		}
	}
	if again, err := b.AddDocuments(ctx, textDoc("b.md", "two")); err != nil || !again[0].Same || again[0].ID != added[0].ID {
		t.Errorf("the same again: %+v, %v", again, err)
	}
	if left := files(t, filepath.Join(b.dir, "data", "cache")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestDocumentsThatAreNotStored(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{responses: [{when: "", text: Hi.}]}`)
	if _, err := b.AddDocuments(t.Context(), textDoc("a.md", "one")); err != nil {
		t.Fatal(err)
	}
	for name, all := range map[string][]store.NewDocument{
		"another content":   {textDoc("c.md", "c"), textDoc("a.md", "two")},
		"the same name":     {textDoc("x", "1"), textDoc("x", "2")},
		"a name with space": {textDoc("a b", "1")},
		"no name":           {textDoc("", "1")},
		"a dot at the end":  {textDoc("a.", "1")},
		"too large":         {textDoc("large", strings.Repeat("x", store.MaxDocumentSize+1))},
		"neither":           {{Name: "x.zip", MIME: "application/zip", Data: []byte("PK")}},
		"too many":          make([]store.NewDocument, store.MaxDocuments+1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := b.AddDocuments(t.Context(), all...); fault.CodeOf(err) != fault.Usage {
				t.Errorf("got %v", err)
			}
			if list, err := b.Documents(t.Context(), false); err != nil || len(list) != 1 {
				t.Errorf("stored %+v, %v", list, err)
			}
		})
	}
}

// A document that was removed comes back with its content, also after a
// collection, until its time is over; then nothing of it is kept.
func TestDocumentsComeBack(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{responses: [{when: "", text: Hi.}]}`)
	ctx := t.Context()
	now := time.Now()
	b.o.Now = func() time.Time { return now }
	if _, err := b.AddDocuments(ctx, textDoc("a.md", "one"), textDoc("b.md", "two")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.DeleteDocuments(ctx, "a.md", "nosuch"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("all or none: %v", err)
	}
	if gone, err := b.DeleteDocuments(ctx, "a.md", "a.md"); err != nil || len(gone) != 1 {
		t.Fatalf("removed %+v, %v", gone, err)
	}
	if _, err := b.FindDocument(ctx, "a.md"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a removed one is found: %v", err)
	}
	now = now.Add(store.DocumentKept - time.Hour)
	if _, err := b.CollectStates(ctx, false); err != nil {
		t.Fatal(err)
	}
	if _, err := b.RestoreDocuments(ctx, "a.md", "b.md"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("all or none: %v", err)
	}
	all, err := b.RestoreDocuments(ctx, "a.md")
	if err != nil {
		t.Fatal(err)
	}
	back := all[0]
	for _, d := range []store.Document{back, must(b.FindDocument(ctx, "b.md"))} {
		if data, err := b.DocumentContent(ctx, d); len(data) != 3 || err != nil {
			t.Errorf("%s holds %q, %v", d.Name, data, err)
		}
	}
	if _, err := b.DeleteDocuments(ctx, back.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.AddDocuments(ctx, textDoc("a.md", "other")); err != nil {
		t.Errorf("the name is free: %v", err)
	}
	if _, err := b.RestoreDocuments(ctx, back.ID); fault.CodeOf(err) != fault.Usage {
		t.Errorf("its name is taken by now: %v", err)
	}
	now = now.Add(store.DocumentKept + time.Hour)
	report, err := b.CollectStates(ctx, false)
	if err != nil || report.Manifests != 1 || report.Blobs != 1 {
		t.Errorf("collected %+v, %v", report, err)
	}
	if list, err := b.Documents(ctx, true); len(list) > 0 || err != nil {
		t.Errorf("still there: %+v, %v", list, err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// sentText is the text of the last message that the model got, by part.
func sentText(r *rogue) []string {
	all := r.requests()
	messages := all[len(all)-1].Messages
	var out []string
	for _, p := range messages[len(messages)-1].Parts {
		out = append(out, string(p.Kind)+" "+p.Name+p.Text)
	}
	return out
}

// A reference means a file of the workspace before what the chat was given, and
// that before a stored document; each turn keeps what it was then.
func TestDocReferences(t *testing.T) {
	t.Parallel()
	b, r := newRogue(t, oneAnswer)
	folder := realPath(t, t.TempDir())
	ctx := t.Context()
	if _, err := b.AddDocuments(ctx, textDoc("one", "stored one"), textDoc("two", "stored two"), textDoc("three", "stored three")); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one", "folder one")
	first := with(ask("keep this"), filePart("papers/one", "given one"), filePart("papers/two", "given two"))
	first.Workspace = folder
	b.run(first)
	req := ask("compare doc:one, doc:two and doc:three")
	req.Chat.Last = true
	b.run(req)
	want := []string{
		"text <document id=\"one\">\nfolder one\n</document>",
		"text <document id=\"two\">\ngiven two\n</document>",
		"text <document id=\"three\">\nstored three\n</document>",
		"text compare doc:one, doc:two and doc:three",
	}
	if diff := cmp.Diff(want, sentText(r)); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	write("one", "changed")
	if _, err := b.DeleteDocuments(ctx, "three"); err != nil {
		t.Fatal(err)
	}
	again := TurnRequest{Chat: store.ChatRef{Last: true, At: -1}}
	b.run(again)
	if diff := cmp.Diff(want, sentText(r)); diff != "" {
		t.Errorf("asked again (-want +got):\n%s", diff)
	}
}

func oneAnswer(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
	yield([]provider.Delta{says("An answer."), stops("stop")}, nil)
}

func TestDocReferencesOfARequest(t *testing.T) {
	t.Parallel()
	b, r := newRogue(t, oneAnswer)
	if _, err := b.AddDocuments(t.Context(), textDoc("a", "A"), store.NewDocument{Name: "i.png", MIME: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*TurnRequest)
		want   []string
	}{
		"from the text":         {func(*TurnRequest) {}, []string{"text <document id=\"a\">\nA\n</document>", "text is doc:a right?"}},
		"as the request has it": {func(r *TurnRequest) { r.Docs = []string{"i.png"} }, []string{"image i.png", "text is doc:a right?"}},
		"none":                  {func(r *TurnRequest) { r.Docs = []string{} }, []string{"text is doc:a right?"}},
		"brought along":         {func(r *TurnRequest) { r.Parts = with(*r, filePart("x/a", "mine")).Parts }, []string{"text <document id=\"a\">\nmine\n</document>", "text is doc:a right?"}},
		"uploaded": {func(r *TurnRequest) { r.Uploads = []Upload{{Name: "a", Data: []byte("up")}} },
			[]string{"text <document id=\"a\">\nup\n</document>", "text is doc:a right?"}},
	} {
		t.Run(name, func(t *testing.T) { // one after another: they share the record of requests
			req := ask("is doc:a right?")
			c.change(&req)
			last[event.Complete](t, b.run(req))
			if diff := cmp.Diff(c.want, sentText(r)); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
		})
	}
}

// A reference that names nothing, or nothing that can be read, keeps the
// question from being asked, and leaves nothing behind.
func TestDocReferencesThatNameNothing(t *testing.T) {
	t.Parallel()
	b, r := newRogue(t, oneAnswer)
	if _, err := b.AddDocuments(t.Context(), textDoc("guide.md", "A")); err != nil {
		t.Fatal(err)
	}
	folder := realPath(t, t.TempDir())
	outside := filepath.Join(realPath(t, t.TempDir()), "secret")
	for path, text := range map[string]string{
		"bin": "a\x00b", "p.pdf": "%PDF-1.7 x", "big": strings.Repeat("x", maxRefText+1), ".git/config": "x", outside: "secret",
	} {
		if !filepath.IsAbs(path) {
			path = filepath.Join(folder, path)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	refs := map[string]string{
		"gudie.md": "doc:guide.md", "bin": "binary", "p.pdf": "PDF", "big": "16 MB", ".git/config": "no document .git/config",
		"../x": "no document ../x", outside: "no document",
	}
	if err := os.Symlink(outside, filepath.Join(folder, "link")); err == nil {
		refs["link"] = "read doc:link"
	}
	for ref, want := range refs {
		t.Run(filepath.Base(ref), func(t *testing.T) {
			t.Parallel()
			req := ask("see doc:" + ref)
			req.Workspace = folder
			_, err := b.Start(t.Context(), req)
			var f *fault.Fault
			if !errors.As(err, &f) || !strings.Contains(f.Msg+strings.Join(fault.Texts(f.Remedies), "\n"), want) {
				t.Errorf("got %+v, want %q in it", f, want)
			}
		})
	}
	t.Cleanup(func() {
		if n := len(r.requests()); n > 0 {
			t.Errorf("the model was asked %d times", n)
		}
	})
	many := ask(strings.Repeat("x ", 1))
	for i := range maxDocRefs + 1 {
		many.Docs = append(many.Docs, strconv.Itoa(i))
	}
	if _, err := b.Start(t.Context(), many); fault.CodeOf(err) != fault.Usage {
		t.Errorf("too many: %v", err)
	}
}

func TestUTF16Documents(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data, want string
		ok         bool
	}{
		"little": {"\xff\xfea\x00\xe9\x00", "aé", true}, "big": {"\xfe\xff\x00a", "a", true}, "odd": {"\xff\xfea", "", false},
		"half a pair": {"\xff\xfe\x3d\xd8", "", false}, "a mark": {"\xef\xbb\xbfa", "a", true}, "Latin-1": {"caf\xe9", "", false}, "empty": {"", "", true},
	} {
		if got, ok := plainText([]byte(c.data)); ok != c.ok || ok && got != c.want {
			t.Errorf("%s: %q, %v", name, got, ok)
		}
	}
}
