package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/remedy"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// names lists the parts' names below their folder.
func names(parts []provider.Part) string {
	var out []string
	for _, p := range parts {
		name := p.Name
		if i := strings.Index(name, "/d/"); i >= 0 {
			name = name[i+3:]
		}
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

func images(t *testing.T) map[string][]byte {
	t.Helper()
	picture := image.NewPaletted(image.Rect(0, 0, 2, 2), color.Palette{color.White, color.Black})
	var p, j, g bytes.Buffer
	if err := errors.Join(png.Encode(&p, picture), jpeg.Encode(&j, picture, nil), gif.Encode(&g, picture, nil)); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		"image/png": p.Bytes(), "image/jpeg": j.Bytes(), "image/gif": g.Bytes(),
		"image/webp": []byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"),
	}
}

func TestFilesBecomeParts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := write(t, filepath.Join(dir, "Notes é.md"), "# hi\r\n")
	bom := write(t, filepath.Join(dir, "bom.txt"), "\xef\xbb\xbftext")
	wide := write(t, filepath.Join(dir, "wide.csv"), "\xff\xfea\x00;\x00\xe9\x00")
	empty := write(t, filepath.Join(dir, "empty"), "")
	got, err := Files(t.Context(), []string{text, wide, empty, bom, text}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	file := func(path, text string) provider.Part {
		return provider.Part{Kind: provider.FilePart, Name: filepath.ToSlash(path), Text: text}
	}
	want := []provider.Part{file(text, "# hi\r\n"), file(wide, "a;é"), file(empty, ""), file(bom, "text"), file(text, "# hi\r\n")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	for mime, data := range images(t) {
		// The name says nothing; the content does.
		path := write(t, filepath.Join(dir, "picture.txt"), string(data))
		got, err := Files(t.Context(), []string{path}, Options{FileBytes: 3})
		want := []provider.Part{{Kind: provider.ImagePart, Name: filepath.ToSlash(path), MIME: mime, Data: data}}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", mime, err, diff)
		}
	}
}

func TestFilesFromStdin(t *testing.T) {
	t.Parallel()
	feed := func(data string) *os.File {
		f, err := os.Open(write(t, filepath.Join(t.TempDir(), "in"), data))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	got, err := Files(t.Context(), []string{"-"}, Options{In: feed("some text")})
	if diff := cmp.Diff([]provider.Part{{Kind: provider.FilePart, Name: "stdin", Text: "some text"}}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	data := images(t)["image/png"]
	got, err = Files(t.Context(), []string{"/dev/stdin"}, Options{In: feed(string(data))})
	if diff := cmp.Diff([]provider.Part{{Kind: provider.ImagePart, Name: "stdin", MIME: "image/png", Data: data}}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	_, err = Files(t.Context(), []string{"-", "-"}, Options{In: feed("x")})
	wantFault(t, err, "standard input can be read once only")
	_, err = Files(t.Context(), []string{"-"}, Options{In: feed("x\x00")})
	wantFault(t, err, "standard input is binary: byte 1 is a NUL")
	_, err = Files(t.Context(), []string{"-"}, Options{In: feed("12345"), StdinBytes: 4, FileBytes: 9})
	wantFault(t, err, "standard input has 5 bytes; the limit is 4 bytes")
	if got, err := Files(t.Context(), []string{"-"}, Options{In: feed("12345"), StdinBytes: 5, FileBytes: 4}); len(got) != 1 || err != nil {
		t.Errorf("the limit of files was used for standard input: %v", err)
	}
	for name, want := range map[string]bool{"-": true, "/dev/stdin": true, "/dev/fd/0": true, "./-": false, "x": false, "": false} {
		if WantsStdin([]string{"a", name}) != want {
			t.Errorf("WantsStdin(%q) = %v", name, !want)
		}
	}
}

func TestFilesThatAreNotRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name, text string) string { return write(t, filepath.Join(dir, name), text) }
	at("notes.md", "x")
	big := at("huge.png", string(images(t)["image/png"]))
	if err := os.Truncate(big, MaxImage+1); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, file, msg, hint string }{
		{"binary", at("x.bin", "abc\x00\x01"), "x.bin is binary: byte 3 is a NUL", "convert it"},
		{"binary after a mark", at("y.bin", "\xef\xbb\xbfab\x00"), "y.bin is binary: byte 5 is a NUL", "convert it"},
		{"Latin-1", at("it's old.txt", "caf\xe9"), "it's old.txt is binary: byte 3 (0xE9) is not UTF-8", `iconv -f latin1 -t utf-8 '`},
		{"half a UTF-16 pair", at("h.txt", "\xff\xfe\x3d\xd8a\x00"), "h.txt is binary: byte 2 is half a UTF-16 pair", ""},
		{"UTF-16 that is cut", at("c.txt", "\xff\xfea\x00b"), "c.txt is UTF-16 text that is cut off, which is not read", ""},
		{"UTF-32", at("32.txt", "\xff\xfe\x00\x00a\x00\x00\x00"), "32.txt is UTF-32 text, which is not read", ""},
		{"a PDF of text alone", at("p.pdf", "%PDF-1.4\nplain"), "p.pdf is a PDF, which is not read", "pdftotext "},
		{"an office document", at("d.docx", "PK\x03\x04\x00"), "d.docx is a ZIP archive or an office document, which is not read", ""},
		{"another image", at("i.heic", "\x00\x00\x00\x18ftypheic\x00"), "i.heic is a HEIC or AVIF image, which is not read", "convert it to PNG"},
		{"a program", at("prog", "\x7fELF\x02\x00"), "prog is a program, which is not read", ""},
		{"too large", at("large.txt", strings.Repeat("x", 101)), "large.txt has 101 bytes; the limit is 100 bytes", "FETTLE_LIMITS_FILE_BYTES=1MiB "},
		{"an image that is too large", big, "huge.png has 20.0 MiB; the limit is 20 MiB for an image", "smaller"},
		{"missing, with a neighbour", filepath.Join(dir, "Notes.md"), "Notes.md doesn't exist; did you mean " + filepath.Join(dir, "notes.md") + "?", "fettle ask -f "},
		{"missing", filepath.Join(dir, "zzzzzz"), "zzzzzz doesn't exist", ""},
		{"missing with its folder", filepath.Join(dir, "no", "x"), "x doesn't exist, and neither does its folder", ""},
		{"a pattern that nobody expanded", filepath.Join(dir, "*.go"), "*.go doesn't exist", "leave the quotes out"},
		{"no name", "", "-f needs the name of a file", ""},
		{"escape codes in a name", filepath.Join(dir, "a\x1b[31m\u202eb"), "a\ufffd[31m\ufffdb doesn't exist", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			parts, err := Files(t.Context(), []string{tt.file}, Options{FileBytes: 100})
			f := wantFault(t, err, tt.msg)
			if parts != nil {
				t.Errorf("parts %v came with an error", parts)
			}
			if !strings.Contains(strings.Join(remedy.Lines(f), "\n"), tt.hint) {
				t.Errorf("hints %q, want %q in them", remedy.Lines(f), tt.hint)
			}
		})
	}
}

func TestAllNamesAreTried(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := write(t, filepath.Join(dir, "good"), "x")
	bin := write(t, filepath.Join(dir, "bin"), "\x00")
	_, err := Files(t.Context(), []string{filepath.Join(dir, "missing-1"), good, bin, filepath.Join(dir, "missing-2")}, Options{})
	f := wantFault(t, err, "missing-1 doesn't exist")
	if len(f.Detail) != 2 || !strings.Contains(f.Detail[0], "bin is binary") || !strings.Contains(f.Detail[1], "missing-2") {
		t.Errorf("detail %q", f.Detail)
	}
}

func TestFolders(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "d")
	for name, text := range map[string]string{
		"b.txt": "b", "a/2": "a2", "a/1": "a1", "a.txt": "a", ".hidden": "h", "ünïcode": "u",
		".git/config": "no", "sub/.git": "no", "sub/x": "x", "bin": "\x00", "p.png": string(images(t)["image/png"]), "p.pdf": "%PDF-1",
		"cut": strings.Repeat("é", sniffed), "late": strings.Repeat("x", sniffed) + "\xff", "utf16": "\xff\xfea\x00", "deep/er/and/deeper": "d", "empty": "",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	n := newNotices()
	parts, err := Files(t.Context(), []string{dir + "/"}, Options{Notice: n.add})
	if err != nil {
		t.Fatal(err)
	}
	if want := ".hidden a/1 a/2 a.txt b.txt cut deep/er/and/deeper empty sub/x utf16 ünïcode"; names(parts) != want {
		t.Errorf("parts %s\nwant  %s", names(parts), want)
	}
	if want := "left out bin (not text), late (not text), p.pdf (not text), p.png (not text)"; len(n.all()) != 1 || !strings.HasSuffix(n.all()[0], want) {
		t.Errorf("notices %q, want %q", n.all(), want)
	}
	for _, p := range parts {
		if p.Kind != provider.FilePart || strings.HasSuffix(p.Name, "utf16") && p.Text != "a" || strings.HasSuffix(p.Name, "cut") && len(p.Text) != 2*sniffed {
			t.Errorf("part %s of kind %s with %d bytes", p.Name, p.Kind, len(p.Text))
		}
	}
	_, err = Files(t.Context(), []string{filepath.Join(dir, ".git")}, Options{})
	if err != nil {
		t.Errorf("a folder that was named is read, .git too: %v", err)
	}
	bare := filepath.Join(t.TempDir(), "bare")
	write(t, filepath.Join(bare, "bin"), "\x00")
	_, err = Files(t.Context(), []string{bare}, Options{})
	wantFault(t, err, "bare has no text files")
}

func TestFolderLimits(t *testing.T) {
	t.Parallel()
	t.Run("bytes", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, filepath.Join(dir, "a"), strings.Repeat("x", 60))
		write(t, filepath.Join(dir, "b"), strings.Repeat("x", 41))
		write(t, filepath.Join(dir, "c"), strings.Repeat("x", 2000))
		write(t, filepath.Join(dir, "d"), "x")
		write(t, filepath.Join(dir, "e"), "\x00"+strings.Repeat("x", 2000))
		_, err := Files(t.Context(), []string{dir}, Options{FileBytes: 100})
		f := wantFault(t, err, "holds more than 100 bytes of text, the limit")
		want := []string{"fits      1 file, 60 bytes", "left out  3 files, 2.0 KiB: c (2.0 KiB), b (41 bytes), d (1 byte)"}
		if diff := cmp.Diff(want, f.Detail); diff != "" {
			t.Errorf("detail (-want +got):\n%s", diff)
		}
		write(t, filepath.Join(dir, "b"), strings.Repeat("x", 40))
		for _, name := range []string{"c", "d"} {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		if parts, err := Files(t.Context(), []string{dir}, Options{FileBytes: 100}); err != nil || len(parts) != 2 {
			t.Errorf("what just fits: %d parts, %v", len(parts), err)
		}
	})
	t.Run("number", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		for i := range MaxFiles {
			write(t, filepath.Join(dir, fmt.Sprintf("%04d", i)), "x")
		}
		if parts, err := Files(t.Context(), []string{dir}, Options{}); err != nil || len(parts) != MaxFiles {
			t.Fatalf("%d parts, %v", len(parts), err)
		}
		write(t, filepath.Join(dir, "more"), "x")
		_, err := Files(t.Context(), []string{dir}, Options{})
		f := wantFault(t, err, "holds more than 1000 text files, the limit of one question")
		if len(f.Detail) != 2 || f.Detail[1] != "left out  1 file, 1 byte: more (1 byte)" {
			t.Errorf("detail %q", f.Detail)
		}
		var many []string
		for range MaxFiles + 1 {
			many = append(many, filepath.Join(dir, "more"))
		}
		_, err = Files(t.Context(), many, Options{})
		wantFault(t, err, "these are more than 1000 files, the limit")
	})
	t.Run("together", func(t *testing.T) {
		t.Parallel()
		file := write(t, filepath.Join(t.TempDir(), "f"), strings.Repeat("x", DefaultBytes))
		_, err := Files(t.Context(), []string{file, file, file, file, file}, Options{})
		wantFault(t, err, "the files hold more than 64 MiB together, the limit")
	})
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Files(ctx, []string{t.TempDir()}, Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}
