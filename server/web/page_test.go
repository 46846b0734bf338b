//go:build !no_web

package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/andybalholm/brotli"
)

// built is a build of a few files, as Vite names them.
func builtFS() fstest.MapFS {
	long := []byte(strings.Repeat("console.log('hello');\n", 200))
	return fstest.MapFS{
		"index.html":                   {Data: []byte(`<meta name="csp-nonce" content="__FETTLE_NONCE__"><style nonce="__FETTLE_NONCE__"></style>`)},
		"assets/index-DiwrgTda.js":     {Data: long},
		"assets/packed-Bx_9-abc.js.br": {Data: packed(long)},
		"assets/inter-CkhJZR-_.woff2":  {Data: bytes.Repeat([]byte("f"), 4000)},
		"assets/plain.css":             {Data: []byte("a{}")},
		"embed.js":                     {Data: long},
		"favicon.svg":                  {Data: []byte("<svg/>")},
	}
}

func packed(raw []byte) []byte {
	var b bytes.Buffer
	z := brotli.NewWriter(&b)
	_, _ = z.Write(raw) // to memory
	_ = z.Close()
	return b.Bytes()
}

func ask(t *testing.T, serve func(http.ResponseWriter, *http.Request), method string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, "http://127.0.0.1:1/", nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	serve(w, r)
	return w.Result()
}

func body(t *testing.T, res *http.Response) string {
	t.Helper()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// The index has another nonce in each answer, in the page as in its policy, and may
// frame what it is told to and nothing else.
func TestTheIndexHasANonceOfItsOwn(t *testing.T) {
	t.Parallel()
	p, err := fromFS(builtFS())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for range 3 {
		res := ask(t, func(w http.ResponseWriter, r *http.Request) { p.ServeIndex(w, r, []string{"http://127.0.0.1:9"}) }, "GET")
		text := body(t, res)
		nonce := regexp.MustCompile(`content="([A-Z0-9]{26})"`).FindStringSubmatch(text)
		if nonce == nil || seen[nonce[1]] || strings.Contains(text, NonceMark) {
			t.Fatalf("the index is %s", text)
		}
		seen[nonce[1]] = true
		want := "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-" + nonce[1] + "'; img-src 'self' data: blob:; media-src 'self'; font-src 'self'; connect-src 'self'; " +
			"worker-src 'self'; manifest-src 'self'; frame-src http://127.0.0.1:9; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
		if got := res.Header.Get("Content-Security-Policy"); got != want {
			t.Errorf("policy %s\nwant   %s", got, want)
		}
		if res.Header.Get("Cache-Control") != "no-store" || res.Header.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("headers %v", res.Header)
		}
	}
	res := ask(t, func(w http.ResponseWriter, r *http.Request) { p.ServeIndex(w, r, []string{""}) }, "GET")
	if !strings.Contains(res.Header.Get("Content-Security-Policy"), "frame-src 'none';") {
		t.Error("without a second origin something may be framed")
	}
	if res := ask(t, func(w http.ResponseWriter, r *http.Request) { p.ServeIndex(w, r, nil) }, "HEAD"); body(t, res) != "" || res.Header.Get("Content-Length") == "0" {
		t.Error("HEAD has a body, or no length")
	}
}

// Files are sent in the form that a client takes, and kept for as long as their
// names say.
func TestFilesAreSentInTheFormThatAClientTakes(t *testing.T) {
	t.Parallel()
	p, err := fromFS(builtFS())
	if err != nil {
		t.Fatal(err)
	}
	files := builtFS()
	long := files["embed.js"].Data
	files["assets/packed-Bx_9-abc.js"] = files["embed.js"] // what it has to be once unpacked
	for name, c := range map[string]struct {
		file, accept                string
		encoding, kind, cache, vary string
		body                        string // empty is not looked at
	}{
		"no compression wanted":    {"assets/index-DiwrgTda.js", "", "", "text/javascript; charset=utf-8", kept, "Accept-Encoding", ""},
		"gzip is made":             {"assets/index-DiwrgTda.js", "gzip, deflate, br", "gzip", "text/javascript; charset=utf-8", kept, "Accept-Encoding", ""},
		"gzip is refused":          {"assets/index-DiwrgTda.js", "gzip;q=0, identity", "", "text/javascript; charset=utf-8", kept, "Accept-Encoding", ""},
		"what the build made":      {"assets/packed-Bx_9-abc.js", "gzip, br;q=0.5", "br", "text/javascript; charset=utf-8", kept, "Accept-Encoding", ""},
		"packed, and not taken":    {"assets/packed-Bx_9-abc.js", "gzip", "gzip", "text/javascript; charset=utf-8", kept, "Accept-Encoding", ""},
		"packed, as it is":         {"assets/packed-Bx_9-abc.js", "", "", "text/javascript; charset=utf-8", kept, "Accept-Encoding", string(long)},
		"a font is as it is":       {"assets/inter-CkhJZR-_.woff2", "gzip, br", "", "font/woff2", kept, "", ""},
		"a name without a sum":     {"assets/plain.css", "gzip", "", "text/css; charset=utf-8", asked, "", "a{}"},
		"the component is renewed": {"embed.js", "gzip", "gzip", "text/javascript; charset=utf-8", asked, "Accept-Encoding", ""},
		"the icon":                 {"favicon.svg", "br", "", "image/svg+xml", asked, "", "<svg/>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			serve := func(w http.ResponseWriter, r *http.Request) {
				if !p.ServeFile(w, r, c.file) {
					t.Error("there is no such file")
				}
			}
			res := ask(t, serve, "GET", "Accept-Encoding", c.accept)
			h := res.Header
			if h.Get("Content-Encoding") != c.encoding || h.Get("Content-Type") != c.kind || h.Get("Cache-Control") != c.cache || h.Get("Vary") != c.vary {
				t.Errorf("headers %v", h)
			}
			text := body(t, res)
			if c.body != "" && text != c.body {
				t.Errorf("body %q", text)
			}
			if c.encoding == "gzip" && c.body == "" {
				z, err := gzip.NewReader(strings.NewReader(text))
				if err != nil {
					t.Fatal(err)
				}
				if raw, err := io.ReadAll(z); err != nil || !bytes.Equal(raw, files[c.file].Data) {
					t.Errorf("unpacked it is %d bytes, %v", len(raw), err)
				}
			}
			if raw, err := io.ReadAll(brotli.NewReader(strings.NewReader(text))); c.encoding == "br" && (err != nil || !bytes.Equal(raw, files[c.file].Data)) {
				t.Errorf("unpacked it is %d bytes, %v", len(raw), err)
			}
			again := ask(t, serve, "GET", "Accept-Encoding", c.accept, "If-None-Match", `"other", W/`+h.Get("ETag"))
			if again.StatusCode != http.StatusNotModified || body(t, again) != "" {
				t.Errorf("asked again: %d", again.StatusCode)
			}
			if other := ask(t, serve, "GET", "Accept-Encoding", c.accept, "If-None-Match", `"other"`); other.StatusCode != http.StatusOK {
				t.Errorf("asked for another: %d", other.StatusCode)
			}
		})
	}
	for _, name := range []string{"", "index.html", "assets", "assets/", "assets/packed-Bx_9-abc.js.br", "../page.go", "assets/none.js"} {
		if p.Has(name) {
			t.Errorf("there is a file %q", name)
		}
	}
}

// Forms of one file have tags of their own: what is kept of one is none of another.
func TestFormsHaveTagsOfTheirOwn(t *testing.T) {
	t.Parallel()
	p, err := fromFS(builtFS())
	if err != nil {
		t.Fatal(err)
	}
	tags := map[string]bool{}
	for _, accept := range []string{"", "gzip", "br"} {
		res := ask(t, func(w http.ResponseWriter, r *http.Request) { p.ServeFile(w, r, "assets/packed-Bx_9-abc.js") }, "GET", "Accept-Encoding", accept)
		tags[res.Header.Get("ETag")] = true
	}
	if len(tags) != 3 {
		t.Errorf("tags %v", tags)
	}
}

// The page that is in the program is whole: its index has a place for the nonce, runs
// nothing inline, and names no file that isn't there.
func TestTheBuiltPage(t *testing.T) {
	t.Parallel()
	p, err := New()
	if err != nil || !p.Built() {
		t.Fatalf("there is no page: %v", err)
	}
	index := string(p.index)
	if !strings.Contains(index, `<meta name="csp-nonce" content="`+NonceMark+`"`) {
		t.Error("the index has no place for the nonce")
	}
	for _, m := range regexp.MustCompile(`(?s)<script[^>]*>(.*?)</script>`).FindAllStringSubmatch(index, -1) {
		if strings.TrimSpace(m[1]) != "" {
			t.Errorf("the index has an inline script: %.80s", m[1])
		}
	}
	if m := regexp.MustCompile(`\s(on\w+|style)="`).FindString(index); m != "" {
		t.Errorf("the index has the attribute %s, which its policy refuses", m)
	}
	for _, m := range regexp.MustCompile(`(?:src|href)="/([^"]+)"`).FindAllStringSubmatch(index, -1) {
		if !p.Has(m[1]) {
			t.Errorf("the index names %s, which isn't there", m[1])
		}
	}
}

// maxPage bounds what the page adds to the program.
const maxPage = 3 << 20

func TestThePageIsSmall(t *testing.T) {
	t.Parallel()
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	size := len(p.index)
	for _, f := range p.files {
		size += len(f.raw)
		if f.packed != nil {
			size += len(f.packed)
		}
	}
	if size > maxPage {
		t.Errorf("the page has %d KB; %d are allowed", size>>10, maxPage>>10)
	}
}

func FuzzAcceptEncoding(f *testing.F) {
	for _, s := range []string{"", "gzip", "gzip;q=0", "br;q=1.0, gzip;q=0.8, *;q=0.1", ";;;", "gzip; q = 0.5", "gzip;q=x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, accept string) {
		if takes(accept, "gzip") && !strings.Contains(strings.ToLower(accept), "gzip") {
			t.Errorf("%q takes what it doesn't name", accept)
		}
		matches(accept, `"x"`)
	})
}
