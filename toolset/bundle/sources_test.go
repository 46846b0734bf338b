package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/needtest"
)

// writeFolder makes a folder of files.
func writeFolder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(data), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func demoFiles() map[string]string {
	return map[string]string{
		"toolset.yaml": demoManifest, "tools/hello.py": demo().entries[1].data, "tools/deep/er/x.py": "", "assets/é.dat": "\x00\x01",
		"artifacts/a.html": "<p>", "README.md": "# Demo\n",
	}
}

func must(t testing.TB) func(*Bundle, error) *Bundle {
	return func(b *Bundle, err error) *Bundle {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
		return b
	}
}

// tarred packs entries as a tar.gz.
func tarred(t testing.TB, headers []tar.Header, data map[string]string, change func(*bytes.Buffer)) []byte {
	t.Helper()
	var plain, out bytes.Buffer
	tw := tar.NewWriter(&plain)
	for _, h := range headers {
		h.Size = int64(len(data[h.Name]))
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		if err := tw.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(tw, data[h.Name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&plain)
	}
	gz := gzip.NewWriter(&out)
	if _, err := gz.Write(plain.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := gz.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func openTar(t testing.TB, raw []byte) (*Bundle, error) {
	t.Helper()
	p := filepath.Join(t.TempDir(), "x.tgz")
	if err := os.WriteFile(p, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return Open(t.Context(), p, Options{TempDir: t.TempDir()})
}

func TestSameContentHoweverPacked(t *testing.T) {
	t.Parallel()
	files := demoFiles()
	dir := writeFolder(t, files)
	folder := must(t)(Open(t.Context(), dir, Options{}))
	if folder.Source != (Source{FromFolder, dir}) || len(folder.Notes) > 0 {
		t.Errorf("%v with %v", folder.Source, folder.Notes)
	}
	want := []File{{Path: "README.md", Kind: "asset", Size: 7}, {Path: "artifacts/a.html", Kind: "artifact", Size: 3}, {Path: "assets/é.dat", Kind: "asset", Size: 2}}
	for i, f := range want {
		if got := folder.Files[i]; got.Path != f.Path || got.Kind != f.Kind || got.Size != f.Size || len(got.SHA256) != 64 {
			t.Errorf("file %d is %+v, want %+v", i, got, f)
		}
	}
	if f, ok := folder.Find("tools/hello.py"); !ok || f.Kind != "python" {
		t.Errorf("found %+v", f)
	}

	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	var headers, reversed []tar.Header
	for _, name := range names {
		headers = append(headers, tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o4755})
	}
	reversed = append([]tar.Header{{Name: "./", Typeflag: tar.TypeDir}, {Name: "assets/", Typeflag: tar.TypeDir}}, headers...)
	slices.Reverse(reversed[2:])
	for name, raw := range map[string][]byte{
		"tar.gz": tarred(t, headers, files, nil), "in another order": tarred(t, reversed, files, nil),
		"with padding": tarred(t, headers, files, func(b *bytes.Buffer) { b.Write(make([]byte, 20*512)) }),
	} {
		b, err := openTar(t, raw)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if b.Hash != folder.Hash || !strings.Contains(fmt.Sprint(b.Notes), "executable") {
			t.Errorf("%s is another content, or has other notes than %v", name, b.Notes)
		}
		extractAndCompare(t, b)
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	var packed bytes.Buffer
	if err := folder.WriteZIP(t.Context(), &packed, nil); err != nil {
		t.Fatal(err)
	}
	zipped := must(t)(openBytes(t, packed.Bytes()))
	if zipped.Hash != folder.Hash {
		t.Error("the ZIP is another content")
	}
}

// TestStoppedAnywhere stops an extraction after each file: there is no folder,
// and nothing of it.
func TestStoppedAnywhere(t *testing.T) {
	t.Parallel()
	b := must(t)(openBytes(t, demo(manyFiles(20)...).bytes()))
	for n := range len(b.Files) {
		ctx, cancel := context.WithCancel(t.Context())
		parent := t.TempDir()
		err := b.Extract(ctx, filepath.Join(parent, "x"), ExtractOptions{Progress: func(done, _ int64) {
			if int(done) > n {
				cancel()
			}
		}})
		cancel()
		left, _ := os.ReadDir(parent)
		if err != nil && len(left) > 0 || err == nil && (n < len(b.Files)-1 || len(left) != 1) {
			t.Errorf("stopped after %d files: %v, and there is %v", n+1, err, left)
		}
	}
}

func TestOpenByManifest(t *testing.T) {
	t.Parallel()
	dir := writeFolder(t, demoFiles())
	b := must(t)(Open(t.Context(), filepath.Join(dir, "toolset.yaml"), Options{}))
	if b.Source != (Source{FromFolder, dir}) || len(b.Files) != len(demoFiles()) {
		t.Errorf("opened %v with %v", b.Source, b.Files)
	}
}

func TestExtractBelowAFolder(t *testing.T) {
	t.Parallel()
	b := must(t)(OpenFolder(t.Context(), writeFolder(t, map[string]string{"SKILL.md": "---\nname: x\n---\n", "scripts/a.py": "x"}), Options{}))
	dir := filepath.Join(t.TempDir(), "x")
	if err := b.Extract(t.Context(), dir, ExtractOptions{Under: "assets", Add: map[string][]byte{"toolset.yaml": []byte(demoManifest)}}); err != nil {
		t.Fatal(err)
	}
	made := must(t)(OpenFolder(t.Context(), dir, Options{}))
	var paths []string
	for _, f := range made.Files {
		paths = append(paths, f.Path)
	}
	if made.Kind != Toolset || fmt.Sprint(paths) != "[assets/SKILL.md assets/scripts/a.py toolset.yaml]" || len(made.Notes) > 0 {
		t.Errorf("made %s of %v with %v", made.Kind, paths, made.Notes)
	}
	if err := b.Extract(t.Context(), dir+"2", ExtractOptions{Under: "../x"}); CodeOf(err) != Path {
		t.Errorf("extracted outside: %v", err)
	}
}

func TestRefusedTars(t *testing.T) {
	t.Parallel()
	base := []tar.Header{{Name: "toolset.yaml", Typeflag: tar.TypeReg}}
	data := map[string]string{"toolset.yaml": demoManifest, "assets/a": "x", "../x": "x", "/etc/x": "x", "setup.py": "x"}
	with := func(more ...tar.Header) []byte { return tarred(t, append(slices.Clone(base), more...), data, nil) }
	good := with()
	for _, tt := range []struct {
		name string
		raw  []byte
		code Code
	}{
		{"climbs", with(tar.Header{Name: "../x", Typeflag: tar.TypeReg}), Path},
		{"absolute", with(tar.Header{Name: "/etc/x", Typeflag: tar.TypeReg}), Path},
		{"link", with(tar.Header{Name: "assets/l", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}), Type},
		{"hard link", with(tar.Header{Name: "assets/l", Typeflag: tar.TypeLink, Linkname: "toolset.yaml"}), Type},
		{"device", with(tar.Header{Name: "assets/d", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 5}), Type},
		{"pipe", with(tar.Header{Name: "assets/p", Typeflag: tar.TypeFifo}), Type},
		{"twice the same", with(tar.Header{Name: "assets/a", Typeflag: tar.TypeReg}, tar.Header{Name: "assets/a", Typeflag: tar.TypeReg}), Duplicate},
		{"no place in a toolset", with(tar.Header{Name: "setup.py", Typeflag: tar.TypeReg}), TopLevel},
		{"no manifest", tarred(t, []tar.Header{{Name: "assets/a", Typeflag: tar.TypeReg}}, data, nil), Manifest},
		{"something behind the tar", tarred(t, base, data, func(b *bytes.Buffer) { b.WriteString("hidden") }), Format},
		{"something behind the gzip", append(slices.Clone(good), "hidden"...), Format},
		{"two gzips", append(slices.Clone(good), good...), Format},
		{"cut off", good[:len(good)-20], Format},
		{"only a beginning", good[:12], Format},
		{"no tar in it", func() []byte {
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			_, _ = io.WriteString(w, strings.Repeat("no tar ", 500))
			_ = w.Close()
			return b.Bytes()
		}(), Format},
		{"bomb", tarred(t, []tar.Header{{Name: "toolset.yaml", Typeflag: tar.TypeReg}, {Name: "assets/a", Typeflag: tar.TypeReg}},
			map[string]string{"toolset.yaml": demoManifest, "assets/a": strings.Repeat("\x00", 8*mib)}, nil), Bomb},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tmp := t.TempDir()
			p := filepath.Join(t.TempDir(), "x.tgz")
			if err := os.WriteFile(p, tt.raw, 0o600); err != nil {
				t.Fatal(err)
			}
			b, err := Open(t.Context(), p, Options{TempDir: tmp})
			if err == nil {
				b.Close()
			}
			if CodeOf(err) != tt.code {
				t.Errorf("got %q (%v), want %q", CodeOf(err), err, tt.code)
			}
			if left, _ := os.ReadDir(tmp); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	files := demoFiles()
	plain := must(t)(OpenFolder(t.Context(), writeFolder(t, files), Options{}))
	for name, data := range map[string]string{
		".git/config": "x", ".env": "SECRET=1", "tests/test_x.py": "x", "Makefile": "x", "tools/__pycache__/a.pyc": "\x00", "tools/b.pyc": "\x00",
		"assets/.hidden": "x", "docs/a.md": "x", "node_modules/x/index.js": "x", "assets/.DS_Store": "\x00",
	} {
		files[name] = data
	}
	dir := writeFolder(t, files)
	if runtime.GOOS != "windows" {
		if err := os.Symlink("/etc", filepath.Join(dir, "build")); err != nil {
			t.Fatal(err)
		}
	}
	b := must(t)(OpenFolder(t.Context(), dir, Options{}))
	if b.Hash != plain.Hash {
		t.Errorf("what doesn't belong changes the content: %v", b.Files)
	}
	said := fmt.Sprint(b.Notes)
	for _, name := range []string{".git", ".env", "tests", "Makefile", "tools/__pycache__", "tools/b.pyc", "docs", "node_modules"} {
		if !strings.Contains(said, name+": left out") {
			t.Errorf("no note of %s in %s", name, said)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "assets", "link")); err != nil {
		t.Fatal(err)
	}
	if c, err := OpenFolder(t.Context(), dir, Options{}); CodeOf(err) != Type {
		t.Errorf("a link among the assets: %v %v", c, err)
	}
	for _, name := range []string{"nothing", "toolset.yaml/x"} {
		if _, err := Open(t.Context(), filepath.Join(dir, name), Options{}); err == nil {
			t.Errorf("opened %s", name)
		}
	}
}

func TestChangedWhileOpen(t *testing.T) {
	t.Parallel()
	dir := writeFolder(t, demoFiles())
	b := must(t)(OpenFolder(t.Context(), dir, Options{}))
	for name, data := range map[string]string{"longer": "def run(workspace): import os; os.system('x')", "same length": strings.Repeat("x", len(demoFiles()["tools/hello.py"]))} {
		if err := os.WriteFile(filepath.Join(dir, "tools", "hello.py"), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := b.ReadFile("tools/hello.py"); CodeOf(err) != Changed {
			t.Errorf("%s: read: %v", name, err)
		}
		parent := t.TempDir()
		if err := b.Extract(t.Context(), filepath.Join(parent, "x"), ExtractOptions{}); CodeOf(err) != Changed {
			t.Errorf("%s: extracted: %v", name, err)
		}
		if left, _ := os.ReadDir(parent); len(left) > 0 {
			t.Errorf("%s: left behind: %v", name, left)
		}
		if err := b.WriteZIP(t.Context(), io.Discard, nil); CodeOf(err) != Changed {
			t.Errorf("%s: packed: %v", name, err)
		}
	}
}

func TestExtract(t *testing.T) {
	t.Parallel()
	b := must(t)(openBytes(t, demo().bytes()))
	parent := t.TempDir()
	dir := filepath.Join(parent, "demo")
	var heard []int64
	err := b.Extract(t.Context(), dir, ExtractOptions{
		Add: map[string][]byte{"toolset.yaml": []byte("id: x\n"), "assets/deep/new.txt": []byte("new")}, Durable: true,
		Progress: func(done, _ int64) { heard = append(heard, done) },
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"toolset.yaml": "id: x\n", "assets/deep/new.txt": "new", "tools/hello.py": demo().entries[1].data} {
		if got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil || string(got) != want {
			t.Errorf("%s is %q: %v", name, got, err)
		}
	}
	if len(heard) == 0 {
		t.Error("nothing was heard of the progress")
	}
	if err := b.Extract(t.Context(), dir, ExtractOptions{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("extracted over another: %v", err)
	}
	if err := b.Extract(t.Context(), filepath.Join(parent, "no", "demo"), ExtractOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("extracted into nowhere: %v", err)
	}
	if err := b.Extract(t.Context(), filepath.Join(parent, "x"), ExtractOptions{Add: map[string][]byte{"../x": nil}}); CodeOf(err) != Path {
		t.Errorf("added a file outside: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Extract(ctx, filepath.Join(parent, "x"), ExtractOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("extracted without being asked any more: %v", err)
	}
	if left, _ := os.ReadDir(parent); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}

	if err := os.MkdirAll(filepath.Join(parent, stagingPrefix+"old", "tools"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := RemoveLeftovers(parent); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(parent); len(left) != 1 || left[0].Name() != "demo" {
		t.Errorf("after tidying there are %v", left)
	}
}

func TestWriteZIPIsTheSameEveryTime(t *testing.T) {
	t.Parallel()
	files := demoFiles()
	dir := writeFolder(t, files)
	pack := func(b *Bundle, replace map[string][]byte) []byte {
		var out bytes.Buffer
		if err := b.WriteZIP(t.Context(), &out, replace); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	first := pack(must(t)(OpenFolder(t.Context(), dir, Options{})), nil)
	again := must(t)(openBytes(t, first))
	if !bytes.Equal(first, pack(again, nil)) {
		t.Error("packed from a ZIP, the bytes differ")
	}
	other := must(t)(OpenFolder(t.Context(), writeFolder(t, files), Options{}))
	if !bytes.Equal(first, pack(other, nil)) {
		t.Error("packed from another folder, the bytes differ")
	}
	if !bytes.HasPrefix(first[30:], []byte("toolset.yaml")) {
		t.Error("the manifest isn't the first entry")
	}
	changed := must(t)(openBytes(t, pack(again, map[string][]byte{"toolset.yaml": []byte("id: y\n"), "assets/more": []byte("m")})))
	if raw, err := changed.Manifest(); err != nil || string(raw) != "id: y\n" || len(changed.Files) != len(files)+1 {
		t.Errorf("the changed bundle has %v: %v", changed.Files, err)
	}
	for name, replace := range map[string]map[string][]byte{
		"a path outside": {"../x": nil}, "no place": {"setup.py": nil}, "two of one name": {"tools/Hello.py": nil},
	} {
		if err := again.WriteZIP(t.Context(), io.Discard, replace); CodeOf(err) == "" {
			t.Errorf("%s was written: %v", name, err)
		}
	}
	full := errors.New("no space left")
	if err := again.WriteZIP(t.Context(), &failing{after: 200, err: full}, nil); !errors.Is(err, full) {
		t.Errorf("a full disk gives %v", err)
	}
	if err := again.WriteZIP(t.Context(), &failing{after: len(first) - 5, err: full}, nil); !errors.Is(err, full) {
		t.Errorf("a disk that is full at the end gives %v", err)
	}
}

type failing struct {
	after int
	err   error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.after -= len(p); f.after < 0 {
		return 0, f.err
	}
	return len(p), nil
}

// TestOtherPackers opens what the programs pack that people have.
func TestOtherPackers(t *testing.T) {
	t.Parallel()
	files := demoFiles()
	dir := writeFolder(t, files)
	plain := must(t)(OpenFolder(t.Context(), dir, Options{}))
	python := `import sys,zipfile,os
z=zipfile.ZipFile(sys.argv[1],"w",zipfile.ZIP_DEFLATED)
for d,_,fs in os.walk("."):
  for f in fs: z.write(os.path.join(d,f))
z.close()`
	for name, argv := range map[string][]string{
		"zip": {"zip", "-qr", "OUT", "."}, "zip, stored": {"zip", "-q0r", "OUT", "."}, "zip, without folders": {"zip", "-qrD", "OUT", "."},
		"zip, streaming": {"sh", "-c", "zip -qr - . | cat > OUT"}, "tar": {"tar", "-czf", "OUT", "."}, "tar, pax": {"tar", "--format=pax", "-czf", "OUT", "."},
		"tar, old": {"tar", "--format=ustar", "-czf", "OUT", "toolset.yaml", "tools", "assets", "artifacts", "README.md"},
		"python":   {"python3", "-c", python, "OUT"}, "shutil": {"python3", "-c", "import sys,shutil; shutil.make_archive(sys.argv[1][:-4],'zip','.')", "OUT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			needtest.Program(t, argv[0])
			out := filepath.Join(t.TempDir(), "out.zip")
			args := slices.Clone(argv[1:])
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "OUT", out)
			}
			cmd := exec.CommandContext(t.Context(), argv[0], args...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			b, err := Open(t.Context(), out, Options{TempDir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			if b.Hash != plain.Hash {
				t.Errorf("another content: %v", b.Files)
			}
		})
	}
}

// TestUnzipReadsOurs lets the usual program check and list what we write.
func TestUnzipReadsOurs(t *testing.T) {
	t.Parallel()
	needtest.Program(t, "unzip")
	b := must(t)(OpenFolder(t.Context(), writeFolder(t, demoFiles()), Options{}))
	out := filepath.Join(t.TempDir(), "out.zip")
	f, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.WriteZIP(t.Context(), f, nil), f.Close()); err != nil {
		t.Fatal(err)
	}
	text, err := exec.CommandContext(t.Context(), "unzip", "-t", out).CombinedOutput()
	if err != nil || !strings.Contains(string(text), "No errors detected") {
		t.Errorf("%v: %s", err, text)
	}
}

func TestFetch(t *testing.T) {
	t.Parallel()
	zipped := demo().bytes()
	packed := tarred(t, []tar.Header{{Name: "toolset.yaml", Typeflag: tar.TypeReg}}, demoFiles(), nil)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/demo.tgz":
			_, _ = w.Write(packed)
		case "/demo.zip":
			_, _ = w.Write(zipped)
		case "/moved":
			http.Redirect(w, r, "/demo.zip", http.StatusFound)
		case "/page":
			_, _ = io.WriteString(w, "<html>no bundle</html>")
		case "/large":
			w.Header().Set("Content-Length", fmt.Sprint(int64(maxArchive)+1))
		case "/cut":
			w.Header().Set("Content-Length", fmt.Sprint(len(zipped)))
			_, _ = w.Write(zipped[:100])
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	for _, tt := range []struct{ name, path, err string }{
		{"a ZIP", "/demo.zip", ""}, {"a tar.gz", "/demo.tgz", ""}, {"a redirect", "/moved", ""}, {"a page", "/page", "it is no ZIP and no tar.gz"}, {"nothing there", "/none", "404"},
		{"too large", "/large", "are allowed"}, {"cut off", "/cut", "EOF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tmp := t.TempDir()
			address := server.URL + tt.path
			heard := int64(0)
			b, err := Open(t.Context(), address, Options{TempDir: tmp, Client: server.Client(), Progress: func(done, _ int64) { heard = done }})
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want %q", err, tt.err)
				}
			} else if err != nil {
				t.Fatal(err)
			} else {
				if b.Source != (Source{FromURL, address}) || heard == 0 {
					t.Errorf("%v, progress %d", b.Source, heard)
				}
				extractAndCompare(t, b)
				if err := errors.Join(b.Close(), b.Close()); err != nil {
					t.Error(err)
				}
				if _, err := b.ReadFile("toolset.yaml"); !errors.Is(err, fs.ErrClosed) {
					t.Errorf("read from a closed bundle: %v", err)
				}
			}
			if left, _ := os.ReadDir(tmp); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	for name, address := range map[string]string{
		"loopback": "https://127.0.0.1/x.zip", "private name": "https://router.lan/x.zip", "plain http": "http://example.com/x.zip",
		"a file": "file:///etc/passwd", "a password": "https://a:b@example.com/x.zip", "metadata": "https://169.254.169.254/x", "no host": "https:///x",
	} {
		if _, err := Open(t.Context(), address, Options{TempDir: t.TempDir()}); err == nil {
			t.Errorf("%s: fetched", name)
		} else if CodeOf(err) != Address && name != "no host" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOtherKinds(t *testing.T) {
	t.Parallel()
	skill := must(t)(OpenFolder(t.Context(), writeFolder(t, map[string]string{
		"SKILL.md": "---\nname: pdf\ndescription: x\n---\nDo it.\n", "scripts/fill.py": "x", "reference.md": "x", "references/deep/b.md": "x", ".git/x": "x",
	}), Options{}))
	if skill.Kind != Skill || len(skill.Files) != 4 || skill.Kind.ManifestFile() != "SKILL.md" {
		t.Errorf("%s with %v", skill.Kind, skill.Files)
	}
	if raw, err := skill.Manifest(); err != nil || !bytes.HasPrefix(raw, []byte("---")) {
		t.Errorf("the manifest is %q: %v", raw, err)
	}
	if err := skill.WriteZIP(t.Context(), io.Discard, nil); CodeOf(err) == "" {
		t.Errorf("a skill was written as it is: %v", err)
	}
	mcpb := must(t)(openBytes(t, craft{entries: append([]crafted{
		{name: "manifest.json", data: `{"dxt_version": "0.1"}`}, {name: "server/lib/native.node", data: "\x00"}, {name: "icon.png", data: "\x89"},
	}, manyFiles(3000)...)}.bytes()))
	if mcpb.Kind != MCPB || len(mcpb.Files) != 3003 {
		t.Errorf("%s with %d files", mcpb.Kind, len(mcpb.Files))
	}
}
