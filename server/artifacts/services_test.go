package artifacts

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// served is a service, as far as the forwarder sees one, with the listener that it is
// reached by.
type served struct {
	*Services
	front *httptest.Server
	up    atomic.Bool
	dials atomic.Int64
	last  chan *http.Request
}

// serveThrough puts a forwarder before a handler.
func serveThrough(t *testing.T, h http.HandlerFunc) *served {
	t.Helper()
	s := &served{last: make(chan *http.Request, 64)}
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.last <- r.Clone(context.Background())
		h(w, r)
	}))
	t.Cleanup(back.Close)
	s.up.Store(true)
	life, end := context.WithCancel(context.Background())
	t.Cleanup(end)
	s.Services = &Services{
		isToken: func(token string) bool { return token == "FETTLE-TOKEN" }, life: life, known: map[string]*forward{},
		alive: func(string) bool { return s.up.Load() },
		dial: func(ctx context.Context, id string, port int) (net.Conn, error) {
			s.dials.Add(1)
			if id != "one" || port != 8000 {
				return nil, fmt.Errorf("dialled %s, %d", id, port)
			}
			var d net.Dialer
			return d.DialContext(ctx, "tcp", back.Listener.Addr().String())
		},
	}
	a := NewPages(time.Now)
	a.services = s.Services
	s.front = httptest.NewServer(a)
	t.Cleanup(s.front.Close)
	a.SetOrigin(s.front.URL)
	s.SetOrigin(s.front.URL)
	return s
}

// ask sends a request to the listener under a name.
func (s *served) ask(t *testing.T, host string, change func(*http.Request)) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.front.URL+"/a/path?q=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	if change != nil {
		change(r)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(raw)
}

const servicePage = "http://127.0.0.1:8217"

func header(name string, values ...string) func(*http.Request) {
	return func(r *http.Request) { r.Header[http.CanonicalHeaderKey(name)] = values }
}

func both(all ...func(*http.Request)) func(*http.Request) {
	return func(r *http.Request) {
		for _, change := range all {
			change(r)
		}
	}
}

func TestAServiceIsReachedByItsNameAlone(t *testing.T) {
	t.Parallel()
	s := serveThrough(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "served ", r.URL) })
	origin := s.Open(Target{ID: "one", Port: 8000}, servicePage)
	host := strings.TrimPrefix(origin, "http://")
	_, port, _ := strings.Cut(host, ":")
	label, _, _ := strings.Cut(host, ".")
	if !strings.HasPrefix(label, "s-") || len(label) < 26 || s.Pattern() != "http://*.localhost:"+port {
		t.Fatalf("its origin is %s, and the pattern %s", origin, s.Pattern())
	}
	if again := s.Open(Target{ID: "one", Port: 8000}, servicePage); again != origin {
		t.Errorf("a second page gets %s, not %s", again, origin)
	}
	if other := s.Open(Target{ID: "one", Port: 8001}, servicePage); other == origin {
		t.Error("another port has the same origin")
	}
	for name, c := range map[string]struct {
		host   string
		change func(*http.Request)
		status int
	}{
		"its name":                     {host, nil, 200},
		"in capitals":                  {strings.ToUpper(host), nil, 200},
		"from its own page":            {host, both(header("Origin", origin), header("Sec-Fetch-Site", "same-origin")), 200},
		"shown by the page":            {host, both(header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "navigate"), header("Sec-Fetch-Dest", "iframe")), 200},
		"from another page":            {host, header("Origin", "http://evil.example"), 403},
		"from fettle's own page":       {host, header("Origin", servicePage), 403},
		"from a page without one":      {host, header("Origin", "null"), 403},
		"with two origins":             {host, header("Origin", origin, "http://evil.example"), 403},
		"as another site's image":      {host, both(header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "no-cors")), 403},
		"as another site's form":       {host, both(header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "navigate"), func(r *http.Request) { r.Method = "POST" }), 403},
		"another label":                {"s-0000000000000000000000000." + strings.SplitN(host, ".", 2)[1], nil, 404},
		"a name below it":              {"x." + host, nil, 404},
		"no label":                     {".localhost:" + port, nil, 404},
		"the label under another name": {label + ".evil.example:" + port, nil, 404},
		"the label at another port":    {label + ".localhost:1", nil, 404},
		"the artifacts' own name":      {"127.0.0.1:" + port, nil, 404},
		"a trace":                      {host, func(r *http.Request) { r.Method = "TRACE" }, 405},
	} {
		res, body := s.ask(t, c.host, c.change)
		if res.StatusCode != c.status || (c.status == 200) != (body == "served /a/path?q=1") {
			t.Errorf("%s: %d, %q, want %d", name, res.StatusCode, body, c.status)
		}
	}
	s.up.Store(false)
	if res, body := s.ask(t, host, nil); res.StatusCode != 404 || !strings.Contains(body, "has ended") {
		t.Errorf("after its end: %d, %q", res.StatusCode, body)
	}
	s.up.Store(true)
	if anew := s.Open(Target{ID: "one", Port: 8000}, servicePage); anew == origin {
		t.Error("a name was used again")
	}
}

func TestWhatAServiceGetsOfARequest(t *testing.T) {
	t.Parallel()
	s := serveThrough(t, func(http.ResponseWriter, *http.Request) {})
	host := strings.TrimPrefix(s.Open(Target{ID: "one", Port: 8000}, servicePage), "http://")
	s.ask(t, host, both(header("Authorization", "Bearer FETTLE-TOKEN"), header("Cookie", "a=b"), header("Connection", "X-Hop"), header("X-Hop", "1"), header("X-Forwarded-For", "10.1.1.1")))
	got := <-s.last
	if got.Host != host || got.Header.Get("Cookie") != "a=b" || got.URL.String() != "/a/path?q=1" {
		t.Errorf("it got %s, %s, %v", got.Host, got.URL, got.Header)
	}
	for _, name := range []string{"Authorization", "X-Hop", "X-Forwarded-For"} {
		if v := got.Header.Get(name); v != "" {
			t.Errorf("it got %s: %s", name, v)
		}
	}
	s.ask(t, host, header("Authorization", "Bearer its-own"))
	if got := <-s.last; got.Header.Get("Authorization") != "Bearer its-own" {
		t.Errorf("its own key became %q", got.Header.Get("Authorization"))
	}
}

// A service decides about no header but those of its content: what a browser does
// with the page is fettle's decision, in a frame and in a tab.
func TestOnlyHeadersOfContentPassFromAService(t *testing.T) {
	t.Parallel()
	content := map[string]string{"Content-Type": "text/html", "Cache-Control": "no-cache", "Etag": `"1"`, "Content-Language": "en"}
	acting := map[string]string{
		"X-Frame-Options": "DENY", "Content-Security-Policy": "sandbox allow-top-navigation; report-uri http://evil.example",
		"Content-Security-Policy-Report-Only": "report-uri http://evil.example", "Alt-Svc": `h2="evil.example:443"`,
		"Report-To": "{}", "Nel": "{}", "Reporting-Endpoints": `a="http://evil.example"`, "Strict-Transport-Security": "max-age=1",
		"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Credentials": "true", "Access-Control-Expose-Headers": "*", "Timing-Allow-Origin": "*",
		"Service-Worker-Allowed": "/", "Clear-Site-Data": `"*"`, "Refresh": "0; url=http://evil.example", "Link": "<http://evil.example>; rel=preload",
		"Permissions-Policy": "camera=*", "Document-Policy": "js-profiling", "Cross-Origin-Opener-Policy": "unsafe-none", "Cross-Origin-Embedder-Policy": "require-corp",
		"Origin-Agent-Cluster": "?0", "Supports-Loading-Mode": "credentialed-prerender", "Speculation-Rules": `"/r.json"`, "Set-Login": "logged-in",
		"Www-Authenticate": "Basic", "Sourcemap": "http://evil.example", "X-Dns-Prefetch-Control": "on", "Accept-Ch": "DPR", "X-Own": "1", "Not-Known-Yet": "1",
	}
	s := serveThrough(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "<http://evil.example/early>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		for _, set := range []map[string]string{content, acting} {
			for name, value := range set {
				w.Header().Set(name, value)
			}
		}
		w.Header().Add("Set-Cookie", "a=b; Domain=localhost; Path=/; HttpOnly")
		w.Header().Add("Set-Cookie", "no cookie at all")
	})
	host := strings.TrimPrefix(s.Open(Target{ID: "one", Port: 8000, Hosts: []string{"cdn.example.org", "10.0.0.1", "x; script-src *"}}, servicePage), "http://")
	early := false
	trace := &httptrace.ClientTrace{Got1xxResponse: func(int, textproto.MIMEHeader) error { early = true; return nil }}
	res, _ := s.ask(t, host, func(r *http.Request) { *r = *r.WithContext(httptrace.WithClientTrace(r.Context(), trace)) })
	if early {
		t.Error("an interim answer came through")
	}
	for name, value := range content {
		if got := res.Header.Get(name); got != value {
			t.Errorf("%s is %q", name, got)
		}
	}
	ours := map[string]string{
		"Content-Security-Policy": "sandbox allow-scripts allow-same-origin allow-forms allow-modals allow-downloads; default-src 'self' https://cdn.example.org data: blob: 'unsafe-inline' 'unsafe-eval'; " +
			"frame-src 'self' data: blob:; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors " + servicePage,
		"Permissions-Policy": permissions, "Origin-Agent-Cluster": "?1", "X-Dns-Prefetch-Control": "off",
	}
	for name := range acting {
		if got := res.Header.Values(name); ours[name] == "" && len(got) > 0 || ours[name] != "" && (len(got) != 1 || got[0] != ours[name]) {
			t.Errorf("%s is %q", name, got)
		}
	}
	if got := fmt.Sprint(res.Header["Set-Cookie"]); got != "[a=b; Path=/; HttpOnly]" {
		t.Errorf("the cookies are %s", got)
	}
}

// A redirection leads to the service itself or nowhere, and no service worker answers
// for it later.
func TestAServiceLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	to := ""
	s := serveThrough(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Location"] = []string{to}
		w.WriteHeader(http.StatusFound)
	})
	host := strings.TrimPrefix(s.Open(Target{ID: "one", Port: 8000}, servicePage), "http://")
	for location, want := range map[string]string{
		"http://127.0.0.1:8000/next?x=1#y": "/next?x=1#y", "/next": "/next", "next?a": "next?a", "http://" + host + "/n": "/n",
		"http://evil.example/": "", "//evil.example/": "", "javascript:alert(1)": "", "data:text/html,x": "",
		"http://127.0.0.1:8217/": "", "http://127.0.0.1:8000//evil.example/": "/evil.example/", `/\evil.example`: "/%5Cevil.example", `\\evil.example`: "%5C%5Cevil.example",
	} {
		to = location
		if res, _ := s.ask(t, host, nil); res.Header.Get("Location") != want {
			t.Errorf("%q leads to %q, want %q", location, res.Header.Get("Location"), want)
		}
		<-s.last
	}
	if res, _ := s.ask(t, host, header("Service-Worker", "script")); res.StatusCode != http.StatusForbidden {
		t.Errorf("a service worker: %d", res.StatusCode)
	}
}

// A tool with live parts talks over a WebSocket, which is a connection of its own from
// then on.
func TestUpgradesPass(t *testing.T) {
	t.Parallel()
	s := serveThrough(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "websocket" {
			http.Error(w, "no upgrade came", http.StatusBadRequest)
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		io.Copy(conn, conn)
	})
	origin := s.Open(Target{ID: "one", Port: 8000}, servicePage)
	conn, err := net.Dial("tcp", s.front.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /live HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", strings.TrimPrefix(origin, "http://"), origin)
	in := bufio.NewReader(conn)
	res, err := http.ReadResponse(in, nil)
	if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%v, %v", res, err)
	}
	fmt.Fprint(conn, "echo\n")
	if got, err := in.ReadString('\n'); err != nil || got != "echo\n" {
		t.Errorf("it echoes %q, %v", got, err)
	}
}

func TestAServiceIsLimited(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	s := serveThrough(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			n, _ := io.Copy(io.Discard, r.Body)
			fmt.Fprint(w, n)
			return
		}
		<-hold
	})
	host := strings.TrimPrefix(s.Open(Target{ID: "one", Port: 8000}, servicePage), "http://")
	f := s.find(&http.Request{Host: host})
	for range maxServiceConns {
		f.room <- struct{}{}
	}
	if res, _ := s.ask(t, host, nil); res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one more than may be: %d", res.StatusCode)
	}
	for range maxServiceConns {
		<-f.room
	}
	close(hold)
	if res, body := s.ask(t, host, func(r *http.Request) { r.Method, r.Body = "POST", io.NopCloser(strings.NewReader("four")) }); res.StatusCode != 200 || body != "4" {
		t.Errorf("a body: %d, %q", res.StatusCode, body)
	}
	large := func(r *http.Request) {
		r.Method, r.Body = "POST", io.NopCloser(io.LimitReader(zeros{}, maxServiceBody+1))
	}
	if res, body := s.ask(t, host, large); res.StatusCode == 200 {
		t.Errorf("a body that is too large: %d, %q", res.StatusCode, body)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Only where a browser finds every name below localhost there are services.
func TestWhereServicesCanBeShown(t *testing.T) {
	t.Parallel()
	for origin, want := range map[string]string{
		"http://127.0.0.1:4000": "http://*.localhost:4000", "http://localhost:4000": "http://*.localhost:4000",
		"https://127.0.0.1:4000": "", "http://10.0.0.1:4000": "", "https://artifacts.example.org": "", "": "",
	} {
		f := &Services{}
		if f.SetOrigin(origin); f.Pattern() != want {
			t.Errorf("%s: %q, want %q", origin, f.Pattern(), want)
		}
	}
}

// FuzzServiceHost holds that no host but a name that was given finds a service.
func FuzzServiceHost(f *testing.F) {
	fw := &Services{known: map[string]*forward{}, alive: func(string) bool { return true }}
	fw.SetOrigin("http://127.0.0.1:4000")
	host := strings.TrimPrefix(fw.Open(Target{ID: "one", Port: 8000}, servicePage), "http://")
	for _, seed := range []string{host, "x." + host, host + ".", ".localhost:4000", "s-.localhost:4000", "127.0.0.1:4000", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := &http.Request{Host: text}
		if found := fw.owns(r) && fw.find(r) != nil; found != strings.EqualFold(text, host) {
			t.Errorf("%q: found %v", text, found)
		}
	})
}
