package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
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

func newArtifactTest() (*artifacts, *artifactClock) {
	c := &artifactClock{time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)}
	a := newArtifacts(c.now)
	a.at("http://127.0.0.1:40000")
	return a, c
}

// fetch asks the listener of artifacts, as a browser that was sent to address does.
func fetch(a *artifacts, method, address string, header ...string) *http.Response {
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
	address, _ := a.add([]byte("<p>hi"), artifactPolicy)
	want := http.Header{
		"Content-Security-Policy": {"sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; " +
			"img-src data: blob:; font-src data:; connect-src 'none'; frame-src 'none'; form-action 'none'; base-uri 'none'"},
		"X-Content-Type-Options":       {"nosniff"},
		"Referrer-Policy":              {"no-referrer"},
		"Cache-Control":                {"no-store"},
		"X-Robots-Tag":                 {"noindex"},
		"Permissions-Policy":           {artifactPermissions},
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
	address, _ := a.add([]byte("secret"), artifactPolicy)
	id := strings.TrimPrefix(address, "http://127.0.0.1:40000"+artifactPath)
	if len(id) < 26 || address == "http://127.0.0.1:40000"+artifactPath {
		t.Fatalf("the address is %s", address)
	}
	for name, c := range map[string]struct {
		method, url string
		header      []string
	}{
		"the root":                  {"GET", "http://127.0.0.1:40000/", nil},
		"a listing":                 {"GET", "http://127.0.0.1:40000" + artifactPath, nil},
		"the API":                   {"GET", "http://127.0.0.1:40000/api/chats", []string{"Authorization", "Bearer t"}},
		"the API by the path":       {"GET", "http://127.0.0.1:40000/t/token/api/chats", nil},
		"the description":           {"GET", "http://127.0.0.1:40000/openapi.json", nil},
		"the page":                  {"GET", "http://127.0.0.1:40000/index.html", nil},
		"another id":                {"GET", "http://127.0.0.1:40000" + artifactPath + "AAAAAAAAAAAAAAAAAAAAAAAAAA", nil},
		"half an id":                {"GET", address[:len(address)-1], nil},
		"more than an id":           {"GET", address + "/x", nil},
		"lower case":                {"GET", "http://127.0.0.1:40000" + artifactPath + strings.ToLower(id), nil},
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
	none := newArtifacts(time.Now) // where no origin is known, nothing is shown
	none.pages["x"] = &artifact{page: []byte("x"), expires: time.Now().Add(time.Hour)}
	if res := fetch(none, "GET", artifactPath+"x", "Host", ""); res.StatusCode != http.StatusNotFound {
		t.Errorf("without an origin: %d", res.StatusCode)
	}
}

// An address ends, and what was there goes; so does the oldest where there is too
// much.
func TestArtifactsEnd(t *testing.T) {
	t.Parallel()
	a, clock := newArtifactTest()
	first, expires := a.add([]byte("one"), artifactPolicy)
	if !expires.Equal(clock.at.Add(artifactTime)) {
		t.Errorf("it ends at %s", expires)
	}
	clock.at = clock.at.Add(artifactTime - time.Second)
	second, _ := a.add([]byte("two"), artifactPolicy)
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
	a.sweep()
	if len(a.pages)+len(a.order)+a.size != 0 {
		t.Errorf("%d pages, %d bytes are kept", len(a.pages), a.size)
	}
	var addresses []string
	for range maxArtifacts + 3 {
		address, _ := a.add([]byte("x"), artifactPolicy)
		addresses = append(addresses, address)
	}
	if len(a.pages) != maxArtifacts || fetch(a, "GET", addresses[2]).StatusCode != 404 || fetch(a, "GET", addresses[3]).StatusCode != 200 {
		t.Errorf("%d pages are kept", len(a.pages))
	}
	large := make([]byte, maxArtifactBytes/2+1)
	one, _ := a.add(large, artifactPolicy)
	two, _ := a.add(large, artifactPolicy)
	if fetch(a, "GET", one).StatusCode != 404 || fetch(a, "GET", two).StatusCode != 200 || a.size > maxArtifactBytes {
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
		address, _ := a.add(page, artifactPolicy)
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

// What a proxy for MCP Apps says is for one origin, and its policy holds what was
// granted and nothing else.
func TestAppPolicy(t *testing.T) {
	t.Parallel()
	const host = "http://127.0.0.1:8217"
	want := "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; media-src data: blob:; " +
		"connect-src 'none'; frame-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors " + host
	if got := appPolicy(appCSPJSON{}, host); got != want {
		t.Errorf("without a wish\n%s\nwant\n%s", got, want)
	}
	if got := appPolicy(appCSPJSON{}, "http://[::1]:8217"); !strings.HasSuffix(got, "; frame-ancestors http:") {
		t.Errorf("a host by IPv6: %s", got)
	}
	hostile := []string{
		"https://api.example.com", "https://*.example.com:8443", "wss://push.example.com", "cdn.example.com", // the public ones
		"*", "https:", "https://*", "https://*.com;script-src *", "http://example.com", "http://127.0.0.1:8217", "https://127.0.0.1", "https://localhost",
		"https://[::1]", "https://10.0.0.1", "https://169.254.169.254", "https://metadata.internal", "https://printer.local", "https://a.example.com/path",
		"https://user@example.com", "data:", "blob:", "'unsafe-eval'", "'self'", "https://example.com 'unsafe-eval'", "https://example.com\nx", "https://exa mple.com",
		"https://example.com:99999999", "https://example.com:", "javascript:alert(1)", "filesystem:", "https://ex\u0430mple.com", "https://2130706433", "https://0x7f.1", "",
	}
	if got := fmt.Sprint(grantOrigins(hostile, true)); got != "[https://api.example.com https://*.example.com:8443 wss://push.example.com https://cdn.example.com]" {
		t.Errorf("granted to connect to: %s", got)
	}
	if got := fmt.Sprint(grantOrigins(hostile, false)); strings.Contains(got, "wss") {
		t.Errorf("granted to load from: %s", got)
	}
	policy := appPolicy(appCSPJSON{ConnectDomains: []string{"https://api.example.com"}, ResourceDomains: []string{"https://cdn.example.com"}}, host)
	for _, part := range []string{"connect-src https://api.example.com;", "script-src 'unsafe-inline' https://cdn.example.com;", "font-src data: https://cdn.example.com;"} {
		if !strings.Contains(policy, part) {
			t.Errorf("no %s in %s", part, policy)
		}
	}
	page := string(proxyPage(`http://a"</script><script>alert(1)</script>`))
	if strings.Count(page, "<script") != 2 || strings.Contains(page, "alert(1)</script>") {
		t.Errorf("an origin breaks out: %s", page)
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
		policy := appPolicy(appCSPJSON{ConnectDomains: []string{origin}}, "http://h")
		if strings.Count(policy, ";") != 11 || strings.ContainsAny(origin, " ;,'\"\n\r\t") || !strings.HasPrefix(origin, "https://") && !strings.HasPrefix(origin, "wss://") {
			t.Errorf("%q became %q", text, origin)
		}
	})
}

func hasIPv6() bool {
	l, err := net.Listen("tcp", "[::1]:0")
	return err == nil && l.Close() == nil
}

// Strangers' pages have none of the origins that the server goes by or lets in.
func TestArtifactsHaveAnOriginOfTheirOwn(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"127.0.0.1", "localhost", "[::1]"} {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(tcp.Addr().String())
		_, err = Listen(ListenOptions{TCP: tcp, DataDir: t.TempDir(), Artifacts: "127.0.0.1:0", ArtifactsURL: "http://" + name + ":" + port})
		if err == nil || !strings.Contains(err.Error(), "an origin of their own") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, g := range map[string]*gate{
		"trusted": {trust: "https://b.example"}, "let in": {allow: map[string]bool{"https://b.example": true}},
	} {
		if err := (&Listening{artifactOrigin: "https://b.example"}).apart(g); err == nil {
			t.Errorf("%s: it may be the artifacts'", name)
		}
	}
	if err := (&Listening{artifactOrigin: "https://b.example"}).apart(&gate{trust: "https://a.example"}); err != nil {
		t.Error(err)
	}
}

// Where the second listener is, and when there is none.
func TestWhereArtifactsAre(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		o      ListenOptions
		origin string // a beginning; empty is none
		wrong  string // what the error says
	}{
		"beside the first":            {ListenOptions{Address: "127.0.0.1:0"}, "http://127.0.0.1:", ""},
		"by TLS":                      {ListenOptions{Address: "127.0.0.1:0", TLS: true}, "https://127.0.0.1:", ""},
		"where it is told":            {ListenOptions{Address: "127.0.0.1:0", Artifacts: "127.0.0.1:0"}, "http://127.0.0.1:", ""},
		"behind a proxy":              {ListenOptions{Address: "127.0.0.1:0", Behind: "https://a.example", Artifacts: "127.0.0.1:0", ArtifactsURL: "https://b.example"}, "https://b.example", ""},
		"behind one that says less":   {ListenOptions{Address: "127.0.0.1:0", Behind: "https://a.example"}, "", ""},
		"a proxy without its address": {ListenOptions{Address: "127.0.0.1:0", Behind: "https://a.example", Artifacts: "127.0.0.1:0"}, "", "behind a proxy"},
		"the same origin":             {ListenOptions{Address: "127.0.0.1:0", Behind: "https://a.example", ArtifactsURL: "https://a.example/"}, "", "an origin of their own"},
		"no certificate":              {ListenOptions{Address: "127.0.0.1:0", Artifacts: "0.0.0.0:0"}, "", "unencrypted"},
		"no address":                  {ListenOptions{Address: "127.0.0.1:0", Artifacts: "here"}, "", "no address"},
		"this machine by IPv6":        {ListenOptions{Address: "[::1]:0"}, "http://localhost:", ""},
		"by IPv6 behind a port":       {ListenOptions{Address: "127.0.0.1:0", Artifacts: "127.0.0.1:0", ArtifactsURL: "http://[::1]:8001"}, "http://localhost:8001", ""},
		"another's IPv6":              {ListenOptions{Address: "127.0.0.1:0", Artifacts: "127.0.0.1:0", ArtifactsURL: "https://[2001:db8::1]:8001"}, "", "needs a name"},
		"the port that goes unsaid":   {ListenOptions{Address: "127.0.0.1:0", Artifacts: "127.0.0.1:0", ArtifactsURL: "https://B.example:443"}, "https://b.example", ""},
		"the same by its port":        {ListenOptions{Address: "127.0.0.1:0", Behind: "https://a.example", Artifacts: "127.0.0.1:0", ArtifactsURL: "https://a.example:443"}, "", "an origin of their own"},
		"the same, behind by a port":  {ListenOptions{Address: "127.0.0.1:0", Behind: "https://A.example:443", Artifacts: "127.0.0.1:0", ArtifactsURL: "https://a.example"}, "", "an origin of their own"},
		"no origin":                   {ListenOptions{Address: "127.0.0.1:0", Artifacts: "127.0.0.1:0", ArtifactsURL: "https://a.example/path"}, "", "no origin"},
	} {
		if c.o.Address == "[::1]:0" && !hasIPv6() {
			t.Log("this machine has no IPv6")
			continue
		}
		c.o.DataDir = t.TempDir()
		l, err := Listen(c.o)
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if (l.artifactOrigin == "") != (c.origin == "") || !strings.HasPrefix(l.artifactOrigin, c.origin) || (l.Artifacts == nil) != (c.origin == "") {
			t.Errorf("%s: at %q", name, l.artifactOrigin)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}
