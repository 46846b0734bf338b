package artifacts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/toolset/render"
)

// artifactClock goes on when it is told to.
type artifactClock struct{ at time.Time }

func (c *artifactClock) now() time.Time { return c.at }

func newArtifactTest() (*Pages, *artifactClock) {
	c := &artifactClock{time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)}
	a := NewPages(c.now)
	a.SetOrigin("http://127.0.0.1:40000")
	return a, c
}

// fetch asks the listener of artifacts, as a browser that was sent to address does.
func fetch(a *Pages, method, address string, header ...string) *http.Response {
	r := httptest.NewRequest(method, address, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	return w.Result()
}

// A stranger's page has just the headers of the recipe, which hold it where it is.
func TestArtifactHeaders(t *testing.T) {
	t.Parallel()
	a, _ := newArtifactTest()
	address, _ := a.Add([]byte("<p>hi"), Policy)
	want := http.Header{
		"Content-Security-Policy": {"sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; " +
			"img-src data: blob:; font-src data:; connect-src 'none'; frame-src 'none'; form-action 'none'; base-uri 'none'"},
		"X-Content-Type-Options":       {"nosniff"},
		"Referrer-Policy":              {"no-referrer"},
		"Cache-Control":                {"no-store"},
		"X-Robots-Tag":                 {"noindex"},
		"Permissions-Policy":           {permissions},
		"Cross-Origin-Resource-Policy": {"cross-origin"},
		"Origin-Agent-Cluster":         {"?1"},
		"Content-Type":                 {"text/html; charset=utf-8"},
	}
	res := fetch(a, "GET", address, "Origin", "https://evil.example", "Cookie", "a=b", "Authorization", "Bearer x")
	if res.StatusCode != http.StatusOK || fmt.Sprint(res.Header) != fmt.Sprint(want) {
		t.Errorf("%d\n%v\nwant\n%v", res.StatusCode, res.Header, want)
	}
}

// The second origin has artifacts at addresses that nobody can guess, and nothing
// else: no listing, no API, no CORS, and no answer to another name.
func TestTheSecondOriginHasNothingElse(t *testing.T) {
	t.Parallel()
	a, _ := newArtifactTest()
	address, _ := a.Add([]byte("secret"), Policy)
	id := strings.TrimPrefix(address, "http://127.0.0.1:40000"+pagePath)
	if len(id) < 26 || address == "http://127.0.0.1:40000"+pagePath {
		t.Fatalf("the address is %s", address)
	}
	for name, c := range map[string]struct {
		method, url string
		header      []string
	}{
		"the root":                  {"GET", "http://127.0.0.1:40000/", nil},
		"a listing":                 {"GET", "http://127.0.0.1:40000" + pagePath, nil},
		"the API":                   {"GET", "http://127.0.0.1:40000/api/chats", []string{"Authorization", "Bearer t"}},
		"the API by the path":       {"GET", "http://127.0.0.1:40000/t/token/api/chats", nil},
		"the description":           {"GET", "http://127.0.0.1:40000/openapi.json", nil},
		"the page":                  {"GET", "http://127.0.0.1:40000/index.html", nil},
		"another id":                {"GET", "http://127.0.0.1:40000" + pagePath + "AAAAAAAAAAAAAAAAAAAAAAAAAA", nil},
		"half an id":                {"GET", address[:len(address)-1], nil},
		"more than an id":           {"GET", address + "/x", nil},
		"lower case":                {"GET", "http://127.0.0.1:40000" + pagePath + strings.ToLower(id), nil},
		"a name made to mean it":    {"GET", address, []string{"Host", "evil.example:40000"}},
		"another name of it":        {"GET", address, []string{"Host", "localhost:40000"}},
		"another port":              {"GET", address, []string{"Host", "127.0.0.1:40001"}},
		"no name":                   {"GET", address, []string{"Host", ""}},
		"a post":                    {"POST", address, nil},
		"a preflight":               {"OPTIONS", address, []string{"Origin", "https://evil.example", "Access-Control-Request-Method", "GET"}},
		"the id as a query":         {"GET", "http://127.0.0.1:40000/?a=" + id, nil},
		"a path that goes up again": {"GET", "http://127.0.0.1:40000/a/../a/" + id, nil},
	} {
		res := fetch(a, c.method, c.url, c.header...)
		var body bytes.Buffer
		_, err := body.ReadFrom(res.Body)
		if err != nil || res.StatusCode != http.StatusNotFound || strings.Contains(body.String(), "secret") {
			t.Errorf("%s: %d %s", name, res.StatusCode, &body)
		}
		if got := res.Header.Get("Content-Security-Policy"); got != "sandbox; default-src 'none'; frame-ancestors 'none'" {
			t.Errorf("%s: policy %q", name, got)
		}
		for header := range res.Header {
			if strings.HasPrefix(header, "Access-Control") || header == "Set-Cookie" {
				t.Errorf("%s: header %s", name, header)
			}
		}
	}
	if res := fetch(a, "HEAD", address); res.StatusCode != http.StatusOK {
		t.Errorf("HEAD: %d", res.StatusCode)
	}
	none := NewPages(time.Now) // where no origin is known, nothing is shown
	none.pages["x"] = &shown{page: []byte("x"), expires: time.Now().Add(time.Hour)}
	if res := fetch(none, "GET", pagePath+"x", "Host", ""); res.StatusCode != http.StatusNotFound {
		t.Errorf("without an origin: %d", res.StatusCode)
	}
}

// An address ends, and what was there goes; so does the oldest where there is too
// much.
func TestArtifactsEnd(t *testing.T) {
	t.Parallel()
	a, clock := newArtifactTest()
	first, expires := a.Add([]byte("one"), Policy)
	if !expires.Equal(clock.at.Add(pageLife)) {
		t.Errorf("it ends at %s", expires)
	}
	clock.at = clock.at.Add(pageLife - time.Second)
	second, _ := a.Add([]byte("two"), Policy)
	for range 2 { // a frame may be loaded again
		if fetch(a, "GET", first).StatusCode != 200 {
			t.Error("it ends before its time")
		}
	}
	clock.at = clock.at.Add(time.Second)
	if fetch(a, "GET", first).StatusCode != 404 || fetch(a, "GET", second).StatusCode != 200 {
		t.Error("at its end it is there, or another is gone")
	}
	clock.at = clock.at.Add(time.Hour)
	a.Sweep()
	if len(a.pages)+len(a.order)+a.size != 0 {
		t.Errorf("%d pages, %d bytes are kept", len(a.pages), a.size)
	}
	var addresses []string
	for range maxPages + 3 {
		address, _ := a.Add([]byte("x"), Policy)
		addresses = append(addresses, address)
	}
	if len(a.pages) != maxPages || fetch(a, "GET", addresses[2]).StatusCode != 404 || fetch(a, "GET", addresses[3]).StatusCode != 200 {
		t.Errorf("%d pages are kept", len(a.pages))
	}
	large := make([]byte, maxBytes/2+1)
	one, _ := a.Add(large, Policy)
	two, _ := a.Add(large, Policy)
	if fetch(a, "GET", one).StatusCode != 404 || fetch(a, "GET", two).StatusCode != 200 || a.size > maxBytes {
		t.Errorf("%d bytes are kept", a.size)
	}
}

// hostileData are values that would break out of a page.
func hostileData(t testing.TB) map[string]json.RawMessage {
	t.Helper()
	raw, err := os.ReadFile(needtest.Shared(t, "security", "html", "tool-data.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			N    string
			Data json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	out := map[string]json.RawMessage{}
	for _, c := range file.Cases {
		out[c.N] = c.Data
	}
	if len(out) < 10 {
		t.Fatalf("only %d cases", len(out))
	}
	return out
}

// What stands in a page's data stays data: in its bytes there is nothing that ends
// the element that it stands in.
func TestHostileDataStaysData(t *testing.T) {
	t.Parallel()
	a, _ := newArtifactTest()
	for name, data := range hostileData(t) {
		page, err := render.Inject([]byte("<!doctype html><html><head></head><body></body></html>"), data)
		if err != nil {
			t.Fatal(err)
		}
		address, _ := a.Add(page, Policy)
		var body bytes.Buffer
		if _, err := body.ReadFrom(fetch(a, "GET", address).Body); err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(body.String(), `id="fettle-tool-data">`)
		inside, _, ok := strings.Cut(rest, `</script>`)
		var got, want any
		if err := json.Unmarshal([]byte(inside), &got); err != nil || json.Unmarshal(data, &want) != nil || !ok {
			t.Errorf("%s: %v in %s", name, err, inside)
		}
		if strings.ContainsAny(inside, "<>&\u2028\u2029") || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: the data is %s", name, inside)
		}
	}
}

func FuzzGrantOrigin(f *testing.F) {
	for _, s := range []string{"https://a.example.com", "wss://*.b.example.com:1", "*", "https://x;y", "https://127.0.0.1", "ｅxample.com", "a.b:c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		origin, ok := grantOrigin(text, true)
		if !ok {
			return
		}
		if strings.ContainsAny(origin, " ;,'\"\n\r\t") || !strings.HasPrefix(origin, "https://") && !strings.HasPrefix(origin, "wss://") {
			t.Errorf("%q became %q", text, origin)
		}
	})
}
