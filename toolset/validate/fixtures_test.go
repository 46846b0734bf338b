package validate

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/toolset/bundle"
)

func listed[T any](t *testing.T, kind string) (dir string, cases []T) {
	t.Helper()
	dir = needtest.Shared(t, "security")
	raw, err := os.ReadFile(filepath.Join(dir, kind, "MANIFEST.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &cases); err != nil || len(cases) < 10 {
		t.Fatalf("%d cases of %s: %v", len(cases), kind, err)
	}
	return dir, cases
}

// inOurWords turns a fixture's vocabulary, which is older than document 004's,
// into the document's. What is hostile in it stays byte for byte.
func inOurWords(file string, raw []byte) []byte {
	if strings.Contains(file, "utf16") {
		return raw
	}
	return []byte(strings.NewReplacer(
		"  - name: ", "  - id: ", "    entry: ", "    entrypoint: ", "    parameters: ", "    input_schema: ",
		"\ntimeout_s: ", "\n    timeout: ", "\nx-common: &c {a: 1}", "\n    annotations: &c {read_only: true}",
		"\npermisions: {network: none}", "\npermisions: {network: []}",
		"\nx: \"a\\0b\"", "\n    category: \"a\\0b\"",
		"\nartifacts:\n  - {name: a, file: ../../etc/passwd}", "\n    renderer: {type: html, artifact: ../../etc/passwd}",
		"name: demo\nversion: 1.0.0\n", "manifest_version: \"1\"\nid: demo\nname: demo\nversion: 1.0.0\n",
		"name: demo", "manifest_version: \"1\"\nid: demo\nname: demo",
	).Replace(string(raw)))
}

// A refused ZIP is a report with that one finding, of the class that it is
// listed with; the others are judged, and once their manifest has the words of
// document 004 they are fine.
func TestZIPFixtures(t *testing.T) {
	t.Parallel()
	dir, cases := listed[struct{ File, Threat, Expect, Code string }](t, "zip")
	for _, tt := range cases {
		t.Run(filepath.Base(tt.File), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(dir, filepath.FromSlash(tt.File))
			r, err := Open(t.Context(), path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if tt.Expect == "reject" {
				if len(r.Findings) != 1 || r.Findings[0].Code != bundlePrefix+tt.Code || r.Errors != 1 {
					t.Errorf("%s: %q", tt.Threat, lines(r))
				}
				return
			}
			if slices.ContainsFunc(r.Findings, Finding.FromBundle) {
				t.Errorf("a control is refused: %q", lines(r))
			}
			if r = repacked(t, path, tt.File); r.Counts(false) > 0 {
				t.Errorf("in document 004's words: %q", lines(r))
			}
		})
	}
}

// repacked judges a ZIP whose manifest has been put into our words.
func repacked(t *testing.T, path, file string) *Report {
	t.Helper()
	b, err := bundle.Open(t.Context(), path, bundle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	raw, err := b.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	if err := b.WriteZIP(t.Context(), &packed, map[string][]byte{"toolset.yaml": inOurWords(file, raw)}); err != nil {
		t.Fatal(err)
	}
	b2, err := bundle.OpenZIP(t.Context(), bytes.NewReader(packed.Bytes()), int64(packed.Len()), bundle.Options{})
	r, err := opened(t.Context(), b2, err, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestYAMLFixtures(t *testing.T) {
	t.Parallel()
	dir, cases := listed[struct{ File, Expect, Why string }](t, "yaml")
	for _, tt := range cases {
		t.Run(filepath.Base(tt.File), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(tt.File)))
			if err != nil {
				t.Fatal(err)
			}
			r := judge(t, map[string]string{"toolset.yaml": string(inOurWords(tt.File, raw)), "tools/hello.py": "def run(workspace, **kw):\n    return {}\n"})
			if refused := r.Errors > 0; refused != (tt.Expect == "reject") {
				t.Errorf("want %s (%s): %q", tt.Expect, tt.Why, lines(r))
			}
			if (tt.Expect == "confirm" || tt.Expect == "accept-sanitised" || tt.Expect == "accept-flag") && r.Warnings == 0 {
				t.Errorf("nothing warns of it (%s): %q", tt.Why, lines(r))
			}
			for _, f := range r.Findings {
				if f.File != "toolset.yaml" && f.Code != CodeUnused {
					t.Errorf("another file has a finding: %+v", f)
				}
			}
		})
	}
}

func TestSchemaFixtures(t *testing.T) {
	t.Parallel()
	dir, cases := listed[struct{ File, Expect, Why string }](t, "schema")
	for _, tt := range cases {
		t.Run(filepath.Base(tt.File), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(tt.File)))
			if err != nil {
				t.Fatal(err)
			}
			text := head + "tools: [{id: t, description: d, entrypoint: 'tools.t:run', input_schema: " + strings.TrimSpace(string(raw)) + "}]\n"
			r := judge(t, map[string]string{"toolset.yaml": text, "tools/t.py": "def run(workspace, **kw):\n    return {}\n"})
			if refused := r.Errors > 0; refused != (tt.Expect == "reject") {
				t.Errorf("want %s (%s): %q", tt.Expect, tt.Why, lines(r))
			}
		})
	}
}

// TestHTMLFixture finds each way out of the probe that names an address.
func TestHTMLFixture(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(needtest.Shared(t, "security", "html", "escape-probe.html"))
	if err != nil {
		t.Fatal(err)
	}
	r := judge(t, map[string]string{
		"toolset.yaml": tool("tools.a:run", "", "renderer: {type: html, artifact: artifacts/p.html}"), "tools/a.py": good, "artifacts/p.html": string(raw),
	})
	text := strings.Join(lines(r), "\n")
	for _, part := range []string{
		"http-equiv=refresh", "<base", "<img src> loads https://evil.example/i?leak", "//leak.evil.example", "https://evil.example/c.css",
		"<iframe>", "<form action>", "wss://evil.example/", "https://evil.example/x.png?", "https://evil.example/#nav", "localStorage", "parent.document",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%s is not found:\n%s", part, text)
		}
	}
}

// TestExamplesAreFine holds the project's own toolsets to the rules. Document
// 004's my-toolset starts an MCP server without a version, which is a warning.
func TestExamplesAreFine(t *testing.T) {
	t.Parallel()
	for name, warnings := range map[string]int{"app-builder": 0, "my-toolset": 1} {
		r, err := Open(t.Context(), filepath.Join("..", "..", "testdata", "toolsets", name), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Errors > 0 || r.Warnings != warnings || r.ID != name {
			t.Errorf("%s: %q", name, lines(r))
		}
	}
}

// hostileBundles are bundles that cost much to look through, each of a kind. k is
// how large they are: with 1024 they are as large as is looked through.
func hostileBundles(k int) map[string]map[string]string {
	manifest := tool("tools.a:run", "", "renderer: {type: html, artifact: artifacts/p.html}")
	with := func(name, text string) map[string]string {
		files := map[string]string{"toolset.yaml": manifest, "README.md": "x", "tools/a.py": good, "artifacts/p.html": "<p>"}
		files[name] = text
		return files
	}
	many := with("README.md", "x")
	for i := range 1500 * k / 1024 {
		many["assets/f"+string(rune('a'+i%26))+strings.Repeat("x", i/26)+".txt"] = strings.Repeat("k=sk-", 40)
	}
	return map[string]map[string]string{
		"brackets in Python":      with("tools/a.py", "x = "+strings.Repeat("[", 400*k)),
		"names in Python":         with("tools/a.py", strings.Repeat("a,", 250*k)+"b = 1\n"),
		"imports in Python":       with("tools/a.py", strings.Repeat("import pandas\n", 30*k)+good),
		"imports of the bundle":   with("tools/a.py", strings.Repeat("from .x import y\n", 25*k)+good),
		"f-strings in Python":     with("tools/a.py", "x = "+strings.Repeat(`f"{f'{`, 80*k)),
		"indentation in Python":   with("tools/a.py", strings.Repeat(strings.Repeat(" ", 90)+"#\n", 5*k)),
		"variables in Python":     with("tools/a.py", strings.Repeat("os.environ['AB']\n", 20*k)+good),
		"parameters in Python":    with("tools/a.py", "def run("+strings.Repeat("a=1,", 100*k)+"): pass\n"),
		"much Python":             with("tools/a.py", strings.Repeat("def run(workspace): pass\n", 24<<10)),
		"tags in a page":          with("artifacts/p.html", strings.Repeat("<img src=//a>", 75*k)),
		"links in a page":         with("artifacts/p.html", strings.Repeat("<p onclick=x><a href=//b>", 40*k)),
		"keys in a line":          with("assets/x.txt", strings.Repeat("AKIAEXAMPLENOTREAL00 ", 90*k)),
		"attributes in a page":    with("artifacts/p.html", "<p "+strings.Repeat("a=1 ", 250*k)+">"),
		"styles in a page":        with("artifacts/p.html", "<style>"+strings.Repeat("url(//a)", 120*k)),
		"scripts in a page":       with("artifacts/p.html", "<script>"+strings.Repeat("fetch('//a');", 80*k)),
		"spaces in a script":      with("artifacts/p.html", "<script>fetch("+strings.Repeat(" ", 1000*k)),
		"lines of a page":         with("artifacts/p.html", strings.Repeat("\n", 900*k)+strings.Repeat("<base href=x>", 1*k)),
		"a large page":            with("artifacts/p.html", strings.Repeat("<p>", 400<<10)),
		"marks of keys":           with("assets/x.txt", strings.Repeat("sk-ghp_AKIAeyJ", 140*k)),
		"marks of secrets":        with("assets/x.txt", strings.Repeat("token=secret:key\n", 120*k)),
		"words":                   with("assets/x.txt", strings.Repeat("ab1 cd2 ", 250*k)),
		"letters that grow":       with("assets/x.txt", strings.Repeat("Ⱥ key", 250*k)),
		"large texts":             with("assets/x.txt", strings.Repeat("x ", 1100<<10)),
		"many files":              many,
		"control characters":      with("README.md", strings.Repeat("\x1b]0;x\x07", 10*k)),
		"a page of another kind":  with("artifacts/p.html", strings.Repeat("\x00", 500*k)),
		"comments that never end": with("artifacts/p.html", "<script>"+strings.Repeat("/*", 400*k)),
	}
}

// TestHostileBundles judges them all: each ends, with a bounded report. With
// FETTLE_HOSTILE_DIR they have their full size and are written there as ZIPs, for
// who wants to measure.
func TestHostileBundles(t *testing.T) {
	t.Parallel()
	k := 64
	if os.Getenv("FETTLE_HOSTILE_DIR") != "" {
		k = 1024
	}
	for name, files := range hostileBundles(k) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			packed := zipped(t, files)
			if dir := os.Getenv("FETTLE_HOSTILE_DIR"); dir != "" {
				if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".zip"), packed, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			b, err := bundle.OpenZIP(t.Context(), bytes.NewReader(packed), int64(len(packed)), bundle.Options{})
			r, err := opened(t.Context(), b, err, Options{})
			if err != nil || len(r.Findings) > MaxFindings+1 {
				t.Errorf("%d findings, %v", len(r.Findings), err)
			}
		})
	}
}

// zipped packs files without compressing them.
func zipped(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for path, text := range files {
		f, err := w.CreateHeader(&zip.FileHeader{Name: path, Method: zip.Store})
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// FuzzBundle judges modules, pages and texts that hold anything.
func FuzzBundle(f *testing.F) {
	f.Add(good, "<p>", "x")
	f.Add("def run(workspace, a): from . import b", "<script>fetch('//a')</script><style>@import x", "key: 'sk-1234567890abcdef12345'")
	f.Fuzz(func(t *testing.T, python, html, text string) {
		packed := zipped(t, map[string]string{
			"toolset.yaml": tool("tools.a:run", "", "renderer: {type: html, artifact: artifacts/p.html, data: $return}"),
			"tools/a.py":   python, "artifacts/p.html": html, "README.md": text,
		})
		b, err := bundle.OpenZIP(t.Context(), bytes.NewReader(packed), int64(len(packed)), bundle.Options{})
		r, err := opened(t.Context(), b, err, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Findings {
			if strings.ContainsFunc(f.Message, func(r rune) bool { return r < ' ' || r == 0x7f }) || f.Level == "" || f.Code == "" || f.Line < 0 || f.Line > 0 && f.Column < 1 {
				t.Errorf("%+v", f)
			}
		}
	})
}
